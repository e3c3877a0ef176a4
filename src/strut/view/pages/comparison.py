"""`comparison`: several runs, gaits or designs on one page: numbers and films side by side, curves over each
other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strut.checks import checked
from strut.errors import ModelError
from strut.view.figures.curves import curves
from strut.view.figures.figure import Figure, Line, distinct_colors
from strut.view.figures.plots import curve_line, unit_of
from strut.view.figures.stride_plots import stride_angles
from strut.view.pages.headline import headline
from strut.view.pages.motion import films_beside
from strut.view.pages.report import Report
from strut.view.pages.result import Result
from strut.view.units import title_with_unit

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

MAX_FIGURES = 12
"""Figures of states that lie over each other; of more states the first ones."""

MAX_PARAMETERS = 30
"""Parameters that differ and are shown; of more, as tables of a plan have them, the first ones."""


@checked
def comparison(entries: Mapping[str, Result | Trajectory], title: str = "", asked: str = "") -> Report:
    """Return a page that compares runs and results by name, to be saved.

    entries: at least two, by what they are to be called. title: the heading, their names unless given. asked:
    the command that was given.
    """
    if len(entries) < 2:
        raise ModelError(f"a comparison needs two or more runs or results: there is {len(entries)}")
    runs = {name: _run(each) for name, each in entries.items()}
    moving = {name: run for name, run in runs.items() if run is not None}
    report = Report(title or " and ".join(entries), asked=asked)
    if asked:
        report.note(f"Asked: {asked}")
    report.section("Numbers")
    head, rows = numbers_side_by_side(entries)
    if rows:
        report.table(head, rows, numbers=tuple(range(1, len(head))))
    else:
        report.note("None of them has walked two steps, or says numbers of its own.")
    head, rows = differing_parameters(moving)
    if rows:
        report.subheading("Parameters that differ")
        report.table(head, rows[:MAX_PARAMETERS], numbers=tuple(range(1, len(head))))
        if len(rows) > MAX_PARAMETERS:
            report.note(f"and {len(rows) - MAX_PARAMETERS} more parameters, not shown")
    films_beside(moving, report, heading="In motion")
    strides = {name: panels[0] for name, run in moving.items() if (panels := stride_angles(run))}
    colors = dict(zip(entries, distinct_colors(len(entries)), strict=True))
    if len(strides) > 1:
        report.section("Stride")
        report.figures(_strides_over_each_other(strides, colors))
        report.note("The last stride of each, of the leg that stands first.")
    report.section("States")
    figures, alone, more = states_over_each_other(moving, colors)
    report.figures(*figures, beside=True)
    if alone:
        report.note(f"Not in all of them: {', '.join(alone)}.")
    if more:
        report.note(f"and {more} more states, not drawn")
    return report


def _run(entry: Result | Trajectory) -> Trajectory | None:
    return entry.run if isinstance(entry, Result) else entry


def numbers_side_by_side(entries: Mapping[str, Result | Trajectory]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table: what is known of each, what all have first."""
    facts_by_name = {
        name: {**each.headline, **each.facts} if isinstance(each, Result) else headline(each)
        for name, each in entries.items()
    }
    labels = dict.fromkeys(label for facts in facts_by_name.values() for label in facts)
    order = sorted(labels, key=lambda label: sum(label not in facts for facts in facts_by_name.values()))
    rows = [[label, *(str(facts.get(label, "")) for facts in facts_by_name.values())] for label in order]
    return ["", *entries], rows


def differing_parameters(runs: Mapping[str, Trajectory]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table: the parameters that all runs have and whose values are not the same in
    all."""
    values = {name: dict(zip(run.names.p, run.p.tolist(), strict=True)) for name, run in runs.items()}
    rows = []
    for label in next(iter(values.values()), {}):
        row = [own[label] for own in values.values() if label in own]
        first = next(iter(runs.values()))
        if len(row) == len(values) and len(set(row)) > 1 and label not in first.names.internal:
            rows.append([title_with_unit(first, label, unit_of(first, label)), *(f"{v:.6g}" for v in row)])
    return ["", *runs], rows


def states_over_each_other(
    runs: Mapping[str, Trajectory], colors: Mapping[str, str]
) -> tuple[list[Figure], list[str], int]:
    """Return a figure of every state that all runs have, with a curve for each; the names of states that only
    some have; and how many are not drawn."""
    names = {name: [n for n in run.names.x if n not in run.names.internal] for name, run in runs.items()}
    every = list(dict.fromkeys(n for own in names.values() for n in own))
    shared = [n for n in every if all(n in own for own in names.values())]
    figures = []
    for label in shared[:MAX_FIGURES]:
        lines = []
        for name, run in runs.items():
            t, values = curves(run, [label])[label]
            lines.append(curve_line(name, t, values, colors[name]))
        first = next(iter(runs.values()))
        y = title_with_unit(first, label, unit_of(first, label))
        figures.append(
            Figure(tuple(lines), title_with_unit(first, "time", "s"), y, over_time=True, height=250)
        )
    return figures, [n for n in every if n not in shared], max(0, len(shared) - MAX_FIGURES)


def _strides_over_each_other(strides: Mapping[str, Figure], colors: Mapping[str, str]) -> Figure:
    """One figure of the first leg's angles of several walks over a stride."""
    lines = tuple(
        Line(f"{name}: {line.name}", line.x, line.y, colors[name], line.dash)
        for name, figure in strides.items()
        for line in figure.traces
        if isinstance(line, Line) and "second leg" not in line.name
    )
    first = next(iter(strides.values()))
    return Figure(lines, first.x, first.y, span=first.span, height=320)


__all__ = ["comparison", "differing_parameters", "numbers_side_by_side", "states_over_each_other"]
