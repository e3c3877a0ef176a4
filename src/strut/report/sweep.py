"""A trade-off as a `Result`: what was found over what was varied, and two costs against each other where both
were weighed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.optimal.walk.active_limits import SIDE_WORDS
from strut.report.walks import sweep_walks, with_squares
from strut.view.figures.figure import NEUTRAL, PALETTE, Figure, Line, Points
from strut.view.figures.gait_plots import trade_off
from strut.view.figures.swept_axis import swept_axis
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

if TYPE_CHECKING:
    from strut.optimal import TradeOff

FAILED_NOTE = "Crosses at the lower edge mark where no design is trusted: the table says why."
"""Stands below figures of a sweep in which a point failed."""
MULTIPLIER_NAME = "largest multiplier"
"""The number of a point that decides about stability."""
NUMBERS_WITHOUT_FIGURE = ("defect",)
"""Numbers of a point that have no figure."""


@checked
def sweep_result(sweep: TradeOff, asked: str = "", title: str = "", unit: str = "") -> Result:
    """Turn what `optimal.trade_off` found into a `Result`: figures over what was varied, and a table.

    asked: the command that was given. title: the heading, if not that of what was varied. unit: in
    which that is shown, "deg"; its own unless given.
    """
    axis = swept_axis(sweep.name, sweep.unit, unit)
    head, rows = axis.table(*sweep.rows())
    good = sum(point.ok for point in sweep.points)
    stable = sum(point.stable is True for point in sweep.points)
    verdict = (
        f": {good} of {len(sweep.points)} designs are trusted, each replayed in the simulator; "
        f"{stable} of {len(sweep.points)} gaits are "
    )
    verdict += "stable."
    walks = sweep_walks(sweep, axis)
    titles, numbers = [title for title, _ in walks.values()], list(walks)
    by_file = {
        name: axis.figure(
            with_squares(figure, sweep.values[numbers], _heights(sweep, figure)[numbers], titles)
        )
        for name, figure in figures(sweep).items()
    }
    chapters = [
        Chapter(
            f"Over {sweep.name}",
            figures=by_file,
            note="" if sweep.ok else FAILED_NOTE,
            beside=len(by_file) > 1,
            films=dict(walks.values()),
            one_film=True,
        )
    ]
    if len(sweep.cost_parts) == 2:
        trusted = np.array([point.ok for point in sweep.points])
        a, b = (sweep[name][trusted] for name in sweep.cost_parts.values())
        labels = [axis.label(v) for v in sweep.values[trusted]]
        first, second = sweep.cost_parts
        front = trade_off(a, b, first, second, labels)
        x, y = (sweep[name][numbers] for name in sweep.cost_parts.values())
        front = with_squares(front, x, y, titles)
        chapters.insert(0, Chapter("Trade-off", "One cost against the other.", [], {"trade_off": front}))
    remarks = [
        (float(axis.in_unit(point.value)), axis.sentence(point.status))
        for point in sweep.points
        if not point.ok or ";" in point.status
    ]
    status_table = [Rows((head[0], "what is to be said of it"), remarks)] if remarks else []
    limits = [
        (
            float(axis.in_unit(point.value)),
            *(each.name, SIDE_WORDS[each.side], each.value, each.unit, each.source, each.slope),
        )
        for point in sweep.points
        for each in point.active_limits
    ]
    limit_head = (head[0], "limit", "", "value", "unit", "because", "cost grows, per unit up")
    limit_table = [Rows(limit_head, limits, "What decides them")] if limits else []
    chapters.append(Chapter("All of them", "", [Rows(head, rows), *status_table, *limit_table]))
    facts = {
        "points": str(len(sweep.points)),
        "trusted": str(good),
        "stable": str(stable),
        "wall time": f"{sweep.wall:.3g} s",
    }
    word = "Found" if sweep.ok else "In part"
    return Result(
        title or f"Designs over {sweep.name}",
        word,
        verdict,
        sweep.ok,
        "",
        asked,
        facts,
        chapters,
        data=sweep.data(),
    )


def figures(sweep: TradeOff) -> dict[str, Figure]:
    """Return a figure of every number that varies over the sweep, by the name of its file."""
    x, by_file = sweep.values, {}
    costs = {name: cost for cost, name in sweep.cost_parts.items()}
    label = f"{sweep.name} [{sweep.unit}]" if sweep.unit else sweep.name
    trusted = np.array([point.ok for point in sweep.points])
    names = [
        name
        for name in dict.fromkeys(n for p in sweep.points for n in p.numbers)
        if name not in NUMBERS_WITHOUT_FIGURE and name != sweep.name
    ]
    for name in names:
        y = sweep[name]
        if not np.isfinite(y[trusted]).any() or np.ptp(y[trusted & np.isfinite(y)]) <= 1e-9 * (
            1 + np.abs(y[trusted]).max()
        ):
            continue
        unit = sweep.units.get(name, "")
        traces: list[Line | Points] = [
            Line(name, x, np.where(trusted, y, np.nan), PALETTE[0]),  # broken where a point failed
            Points(name, x[trusted], y[trusted], PALETTE[0]),
        ]
        if not trusted.all():
            edge = np.full((~trusted).sum(), np.nanmin(y[trusted]))
            traces.append(Points("failed", x[~trusted], edge, NEUTRAL, "cross"))
        if name == MULTIPLIER_NAME:
            traces += _stability_limit(sweep, x, y, trusted)
        by_file[costs.get(name, name).replace(" ", "_")] = Figure(
            tuple(traces), label, f"{name} [{unit}]" if unit else name, legend=name == MULTIPLIER_NAME
        )
    return by_file


def _heights(sweep: TradeOff, figure: Figure) -> np.ndarray:
    """The number of every point that a figure of a sweep shows."""
    line = next(trace for trace in figure.traces if isinstance(trace, Line))
    return sweep[line.name]


@checked
def sweeps_figure(sweeps: Mapping[str, TradeOff], number: str = "cost") -> Figure:
    """Return one number of several trade-offs over what was varied, by their names: a line and points for
    each, broken where no design is trusted.

    number: its name among those of the points. Raises `ModelError` where the trade-offs vary different
    things, or have no such number.
    """
    swept = dict.fromkeys((sweep.name, sweep.unit) for sweep in sweeps.values())
    if len(swept) != 1:
        names = ", ".join(f"'{name}'" for name, _ in swept) or "nothing"
        raise ModelError(f"the trade-offs of one figure vary one thing: these vary {names}")
    (name, unit), traces = next(iter(swept)), list[Line | Points]()
    numbers = dict.fromkeys(n for s in sweeps.values() for point in s.points for n in point.numbers)
    if number not in numbers:
        raise UnknownNameError(f"no point has the number '{number}': {did_you_mean(number, list(numbers))}")
    for (label, sweep), color in zip(sweeps.items(), itertools.cycle(PALETTE), strict=False):
        trusted = np.array([point.ok for point in sweep.points], dtype=bool)
        y = np.where(trusted, sweep[number], np.nan)
        traces += [
            Line(label, sweep.values, y, color),
            Points(label, sweep.values[trusted], y[trusted], color),
        ]
    of_number = next((s.units[number] for s in sweeps.values() if s.units.get(number)), "")
    return Figure(
        tuple(traces),
        f"{name} [{unit}]" if unit else name,
        f"{number} [{of_number}]" if of_number else number,
        legend=True,
    )


def _stability_limit(
    sweep: TradeOff, x: np.ndarray, y: np.ndarray, trusted: np.ndarray
) -> list[Line | Points]:
    """A line at 1, above which gaits are unstable, and those that are, marked."""
    unstable = trusted & np.array([point.stable is False for point in sweep.points])
    limit: list[Line | Points] = [
        Line("1: above it unstable", np.array([x.min(), x.max()]), np.ones(2), NEUTRAL, "dash", 1.2)
    ]
    return limit + (
        [Points("unstable", x[unstable], y[unstable], PALETTE[1], "diamond")] if unstable.any() else []
    )
