"""`trade_off`: designs over a speed, a parameter or the weight of a cost, each begun from its neighbour, in
parallel, and kept."""

from __future__ import annotations

import math
import os
import tempfile
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.walk.costs import COST_PART, CostChoice, add_weight_parameters, cost_units
from strut.optimal.walk.design import COST_RESOLUTION, Design
from strut.optimal.walk.step_goal import SWEPT_UNITS
from strut.optimal.walk.sweep_file import SweepFile, SweepPoint
from strut.optimal.walk.sweep_run import Progress, SweepRun, SweepTask, missing_point
from strut.simulate import SavedResult
from strut.system import System
from strut.tabular import Tabular

NUMBER_RESOLUTION = 1e-6
"""Numbers of a sweep below this part of the largest of their kind are what solver and integrator leave: they
are shown as 0."""
NO_RESULT = "–"
"""Stands in a table for a number of a point that failed."""
NUMBER_UNITS = {
    "speed": "m/s",
    "step length": "m",
    "step time": "s",
    "lost in impacts": "J",
    "work of the motors": "J",
}
"""Units of what a point keeps, besides parameters."""


@dataclass(frozen=True, eq=False)
class TradeOff(SavedResult, Tabular):
    """Designs over a value.

    name, unit: of what was varied. points: in the order of their values. wall: how long it took [s].
    file: where the points are kept. units: of the numbers of points, by name. task: solves a point once
        more. interrupted: whether Ctrl-C ended it before all points were solved.
    """

    name: str
    unit: str
    points: tuple[SweepPoint, ...]
    wall: float
    file: Path | None
    units: Mapping[str, str] = field(repr=False, default_factory=dict)
    task: SweepTask | None = field(repr=False, default=None)
    interrupted: bool = False

    @property
    def _task(self) -> SweepTask:
        """What solves its points; raises ValueRangeError where there is none."""
        if self.task is None:
            raise ValueRangeError("this trade-off has lost its problem: sweep again to get whole designs")
        return self.task

    @property
    def system(self) -> System:
        """The walker that was varied."""
        return self._task.walker

    @property
    def ok(self) -> bool:
        """Whether every point is a design that is believed."""
        return all(point.ok for point in self.points)

    @property
    def values(self) -> np.ndarray:
        """The values of what was varied, in order."""
        return np.array([point.value for point in self.points])

    def __getitem__(self, quantity: str) -> np.ndarray:
        """Return a number of every point, by name; nan where there is none."""
        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        if quantity not in names:
            raise UnknownNameError(f"the sweep has no '{quantity}': {did_you_mean(quantity, list(names))}")
        return np.array([point.numbers.get(quantity, math.nan) for point in self.points])

    @property
    def cost_parts(self) -> dict[str, str]:
        """The names of the numbers that are one of several costs, by the name of the cost."""
        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        return {name.removeprefix(COST_PART): name for name in names if name.startswith(COST_PART)}

    def design(self, value: float) -> Design:
        """Return the whole design nearest to a value, solved once more from where it was found."""
        point = min(self.points, key=lambda each: abs(each.value - value))
        return self._task.solve(point.value, point.plan)

    def rows(self, rounded: bool = True) -> tuple[list[str], list[list[object]]]:
        """Return a table: its head, and a row for each point. rounded: what is nothing beside the other rows
        of its column is 0. Numbers of a point that failed are no results, and left out: `NO_RESULT`, or nan
        where nothing is rounded."""
        names = [
            n
            for n in dict.fromkeys(name for point in self.points for name in point.numbers)
            if n != self.name
        ]
        head = [
            _with_unit(self.name, self.unit),
            "ok",
            "stable",
            *[_with_unit(n, self.units.get(n, "")) for n in names],
        ]
        columns = [_without_rounding(self[n]) if rounded and n != "defect" else self[n] for n in names]
        stable = {True: "yes", False: "no", None: "no gait"}
        body: list[list[object]] = [
            [
                p.value,
                "yes" if p.ok else "no",
                stable[p.stable] if p.ok else NO_RESULT,
                *[float(column[k]) if p.ok else NO_RESULT if rounded else math.nan for column in columns],
            ]
            for k, p in enumerate(self.points)
        ]
        return head, body

    def columns(self) -> dict[str, object]:
        """Return of every point the value, whether it is ok and stable, its numbers by name, the names of
        the limits that decide it, and its status; units are in `units`."""
        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        return {
            self.name: self.values,
            "ok": [p.ok for p in self.points],
            "stable": [p.stable for p in self.points],
            **{name: self[name] for name in names if name != self.name},
            "active limits": ["; ".join(each.name for each in p.active_limits) for p in self.points],
            "status": [p.status for p in self.points],
        }

    def data(self) -> dict[str, Any]:
        """Return what `strut design --sweep --json` prints."""
        points = [
            {"value": p.value, "ok": p.ok, "stable": p.stable, "status": p.status, **p.numbers}
            | {"active_limits": [each.data() for each in p.active_limits]}
            for p in self.points
        ]
        return {
            "name": self.name,
            "unit": self.unit,
            "points": points,
            "wall": self.wall,
            "interrupted": self.interrupted,
        }

    def __repr__(self) -> str:
        good = sum(point.ok for point in self.points)
        return f"<TradeOff over {self.name}: {good} of {len(self.points)} points ok, {self.wall:.3g} s>"


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _without_rounding(column: np.ndarray) -> np.ndarray:
    """Return a column with 0 for what is `NUMBER_RESOLUTION` of its largest value, or less."""
    largest = float(np.max(np.abs(column[np.isfinite(column)]), initial=0.0))
    return np.where(np.abs(column) <= max(NUMBER_RESOLUTION * largest, COST_RESOLUTION), 0.0, column)


@checked
def trade_off(
    walker: System,
    name: str,
    values: Sequence[float],
    free: Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: CostChoice = "squared-torque",
    *,
    file: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> TradeOff:
    """Design a walker for every value of something, and return the designs as a `TradeOff`.

    name: a requirement on a step ('speed', 'slope', ...: see `StepGoal` and `design`), a parameter of the
        walker, or the weight of a cost: with cost={"squared-torque": 1, "energy": 1} it has parameters
        weight_squared_torque and weight_energy.
    values: in any order. The one in the middle is solved first, or the one nearest to that of a design that
        is given as `guess`; the others from their neighbours, in chains on `workers` processes (as many as
        there are cores unless given; where processes cannot fork, one after another). A point that fails is
        tried again from the other side.
    file: SQLite, where every point is kept as soon as it is found. A sweep that is asked for again with the
        same file goes on.
    progress: is told how many points of how many there are. free, cost, options
        (also `require` and `within`): as for `design`; a file knows them by their content.

    Ctrl-C returns what there is: points that were not solved have the status 'interrupted'.
    """
    began = clock.perf_counter()
    walker = add_weight_parameters(walker, cost)
    units = {q.name: q.unit for q in walker.p}
    if name not in SWEPT_UNITS and name not in units:
        raise UnknownNameError(
            f"there is nothing called '{name}' to sweep: {did_you_mean(name, [*SWEPT_UNITS, *units])}"
        )
    if options.get("price_torque"):
        raise ModelError(
            "price_torque=True cannot be asked of a sweep: the price may differ from one point to the next, "
            "and so would what their costs mean; give the cost a little squared torque by hand"
        )
    if name in free:
        raise ValueRangeError(f"'{name}' is swept and free: leave it out of what is free")
    if name in options:
        raise ValueRangeError(f"'{name}' is swept and given as {options[name]!r}: leave one out")
    ordered = sorted({float(v) for v in values})
    if not ordered or not np.isfinite(ordered).all():
        raise ValueRangeError(f"a sweep over '{name}' needs finite values: it was given {list(values)}")
    task = SweepTask(walker, name, free, cost, options)
    with tempfile.TemporaryDirectory(prefix="strut-") as scratch:
        path = Path(file) if file is not None else Path(scratch) / "sweep.sqlite"
        run = SweepRun(
            task=task,
            file=SweepFile(path, task.description()),
            values=ordered,
            workers=workers or os.cpu_count() or 1,
            progress=progress,
        )
        points, interrupted = run.solve_all_or_interrupted()
    return TradeOff(
        name=name,
        unit=SWEPT_UNITS.get(name, units.get(name, "")),
        points=tuple(points.get(v) or missing_point(v) for v in ordered),
        interrupted=interrupted,
        wall=clock.perf_counter() - began,
        file=Path(file) if file is not None else None,
        units={**NUMBER_UNITS, **units, **cost_units(cost)},
        task=task,
    )


__all__ = ["TradeOff", "trade_off"]
