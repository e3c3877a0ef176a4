"""Runs over what was varied as a `Result`: the brute-force bifurcation diagram of a walker, how each run
ended, and the walk behind a point that is clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.report.walks import SHOWN_WALKS, TitledRun, spread_indices, with_squares
from strut.simulate import simulate
from strut.view.figures.figure import NEUTRAL, PALETTE, Figure, Line, Points
from strut.view.figures.swept_axis import SweptAxis, swept_axis
from strut.view.pages.headline import cost_of_transport, step_length
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result
from strut.view.units import title_with_unit

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

SETTLED_SHARE = 0.5
"""[1] Share of the steps of a run, its last ones, that a bifurcation diagram shows: what comes before is how
it got there."""
FILMED_STEPS = 6
"""Last steps of a walk that its film shows."""
MAX_FIGURES = 4
"""Figures of how other systems than walkers ended."""
DIAGRAM_NOTE = (
    "Each point is a step of the last half of a run: one height where it repeats itself, two where it takes "
    "two steps to, many where it never does (brute-force bifurcation diagram). All runs begin alike. Crosses "
    "at the lower edge: the run ended before its time."
)
"""What a brute-force bifurcation diagram says."""


@checked
def runs_result(
    runs: Sequence[Trajectory],
    name: str,
    values: Sequence[float],
    *,
    asked: str = "",
    title: str = "",
    printed: Sequence[str] = (),
    unit: str = "",
) -> Result:
    """Turn one run for each value of something into a `Result`: of walkers the steps of each run over the
    value (brute-force bifurcation diagram), of others what their states came to; a table of how each ended,
    and films of some.

    name, values: what was varied, and its value in each run. asked: the command that was given. title: the
    heading. printed: states and outputs whose last values are told besides. unit: in which the values are
    shown, "deg"; their own unless given. Raises ModelError where runs and
    values are not equally many, or none; UnknownNameError for something that the runs do not have.
    """
    if not len(runs) or len(runs) != len(values):
        raise ModelError(
            f"there are {len(runs)} runs and {len(values)} values of '{name}': each run needs its value"
        )
    machine = runs[0]
    axis = swept_axis(name, machine.names.units.get(name, ""), unit, of=machine)
    at = axis.in_unit(values)
    ends = [end_cells(run, name, value, printed) for run, value in zip(runs, values, strict=True)]
    head, rows = axis.table(list(ends[0]), [list(each.values()) for each in ends])
    good = sum(run.ok for run in runs)
    walks = _films(runs, values, axis) if machine.names.step_events else {}
    figures = _step_figures(runs, name, at, walks, axis.title) if machine.names.step_events else {}
    chapters = []
    if figures:
        chapters.append(
            Chapter(
                f"Steps over {name}",
                "",
                [],
                figures,
                DIAGRAM_NOTE,
                beside=True,
                films=dict(walks.values()),
                one_film=True,
            )
        )
    else:
        end_figures = _end_figures(runs, name, at, printed, axis.title)
        chapters += (
            [Chapter(f"At the end, over {name}", "", [], end_figures, beside=True)] if end_figures else []
        )
    table = Rows(head, [tuple("" if cell is None else cell for cell in row) for row in rows])
    chapters.append(Chapter("All of them", "", [table]))
    return Result(
        title=title or f"{machine.system_name}: runs over {name}",
        good="Done" if good == len(runs) else "In part",
        verdict=f": {good} of {len(runs)} runs went on to their end.",
        well=good == len(runs),
        asked=asked,
        headline={"runs": str(len(runs)), "to the end": str(good)},
        chapters=chapters,
        data={
            "name": name,
            "values": list(map(float, values)),
            "columns": {h: [row[k] for row in rows] for k, h in enumerate(head)},
        },
    )


def end_cells(run: Trajectory, name: str, value: float, printed: Sequence[str] = ()) -> dict[str, Any]:
    """Return how a run ended, by heads of columns: what was varied, status and time; of a walk its steps, and
    speed and cost of transport of its last whole step; and the last values of what is `printed`."""
    steps = _step_times(run)
    cells: dict[str, Any] = {
        title_with_unit(run, name, run.names.units.get(name, "")): float(value),
        "status": run.status,
        title_with_unit(run, "end", "s"): float(run.t1),
    }
    if run.names.step_events:
        length = step_length(run) if len(steps) > 1 else None
        duration = steps[-1] - steps[-2] if len(steps) > 1 else 0.0
        cells["steps"] = len(steps)
        speed = None if length is None or duration <= 0 else length / duration
        cells[title_with_unit(run, "speed", "m/s")] = speed
        cells["cost of transport"] = cost_of_transport(run, length)
    for label in printed:
        if label not in run.keys():  # noqa: SIM118 a run is no mapping
            raise UnknownNameError(f"there is no '{label}': {did_you_mean(label, list(run.keys()))}")
        unit = run.names.units.get(label.split("[")[0], "")
        cells[title_with_unit(run, label, unit)] = float(run[label][-1])
    return cells


def _step_times(run: Trajectory) -> np.ndarray:
    """When steps end [s]."""
    return np.array([event.t for event in run.events if event.name in run.names.step_events])


def settled_steps(values: np.ndarray) -> np.ndarray:
    """The last of the values that steps of a run have."""
    return values[int(np.ceil((1 - SETTLED_SHARE) * len(values))) :]


def _step_figures(
    runs: Sequence[Trajectory], name: str, at: np.ndarray, walks: Mapping[int, TitledRun], across: str
) -> dict[str, Figure]:
    """Step times, and the first state after each step, of all runs over what was varied."""
    machine = runs[0]
    state = next((n for n in machine.names.x if n not in machine.names.internal), "")
    columns = {"step_time": [settled_steps(np.diff(_step_times(run))) for run in runs]}
    titles = {"step_time": title_with_unit(machine, "step time", "s")}
    if state:
        after = [
            np.array([e.after[state] for e in run.events if e.name in run.names.step_events]) for run in runs
        ]
        columns[state] = [settled_steps(each) for each in after]
        unit = machine.names.units.get(state, "")
        titles[state] = title_with_unit(machine, f"{state} after a step", unit)
    figures: dict[str, Figure] = {}
    for key, heights in columns.items():
        settled_heights = [each if run.ok else each[:0] for run, each in zip(runs, heights, strict=True)]
        y = np.concatenate(settled_heights)
        if not len(y):
            continue
        x = np.repeat(at, [len(each) for each in settled_heights])
        traces: list[Line | Points] = [Points("a step", x, y, PALETTE[0], size=5)]
        early = np.array([not run.ok for run in runs])
        if early.any():
            traces.append(
                Points("ended early", at[early], np.full(early.sum(), y.min()), PALETTE[1], "cross", 7)
            )
        figure = Figure(tuple(traces), across, titles[key], height=380)
        seen = [k for k in walks if len(settled_heights[k])]
        last = np.array([settled_heights[k][-1] for k in seen])
        figures[f"over_{name}_{key}"] = with_squares(figure, at[seen], last, [walks[k][0] for k in seen])
    return figures


def _films(runs: Sequence[Trajectory], values: Sequence[float], axis: SweptAxis) -> dict[int, TitledRun]:
    """Titles and last steps of some runs, by their numbers; nothing of a machine that has nothing to show."""
    walks: dict[int, TitledRun] = {}
    if runs[0].system is None or not runs[0].system.scene.parts:
        return walks
    for k in spread_indices(len(runs), SHOWN_WALKS):
        word = "" if runs[k].ok else f", {runs[k].status}"
        walks[k] = (axis.label(values[k]) + word, _last_steps(runs[k]))
    return walks


def _last_steps(run: Trajectory) -> Trajectory:
    """The last steps of a walk, run once more from where they began: a film of all would be long."""
    steps = [event for event in run.events if event.name in run.names.step_events]
    if len(steps) <= FILMED_STEPS or run.system is None:
        return run
    begin = steps[-FILMED_STEPS - 1]
    x0, z0 = (
        np.array([begin.after[label] for label in names], dtype=float) for names in (run.names.x, run.names.z)
    )
    options = {word: run.provenance["options"][word] for word in ("method", "step", "rtol", "atol")}
    return simulate(run.system, t=(begin.t, run.t1), x0=x0, z0=z0, p=run.p, ledger=False, **options)


def _end_figures(
    runs: Sequence[Trajectory], name: str, at: np.ndarray, printed: Sequence[str], across: str
) -> dict[str, Figure]:
    """Last values of what is printed, or of the first states, over what was varied."""
    machine = runs[0]
    labels = list(printed) or [n for n in machine.names.x if n not in machine.names.internal]
    figures: dict[str, Figure] = {}
    for label in labels[:MAX_FIGURES]:
        y = np.array([float(run[label][-1]) for run in runs])
        unit = machine.names.units.get(label.split("[")[0], "")
        early = np.array([not run.ok for run in runs])
        traces: list[Line | Points] = [
            Line(label, at, y, PALETTE[0]),
            Points(label, at, y, PALETTE[0]),
        ]
        if early.any():
            traces.append(Points("ended early", at[early], y[early], NEUTRAL, "cross", 7))
        y_title = title_with_unit(machine, f"{label} at the end", unit)
        figures[f"end_{label}"] = Figure(tuple(traces), across, y_title, legend=bool(early.any()))
    return figures


__all__ = ["end_cells", "runs_result"]
