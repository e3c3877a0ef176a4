"""`track`: recorded angles that a step should follow, as a cost.

The recording is stretched to the duration of the step, which the search finds: a parameter,
`tracked_step_time`, is free and required to be that duration, so that the cost is an integral like others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.problem import Problem
from strut.optimal.totals import Integral
from strut.optimal.walk.own_cost import check_weight
from strut.recording import RecordedColumn, name_and_unit, read_recording
from strut.system import Param, System, time
from strut.units import FACTORS

STEP_TIME = "tracked_step_time"
"""The parameter that is the duration of the step [s] to which recordings are stretched."""
MAX_STEP_TIME = 1e3
"""The longest step [s] to which a recording is stretched; the shortest is its inverse."""
MAX_PIECES = 40
"""Cubic pieces of the curve that stands for a recorded column. One with more rows is fitted by so many, in
the least squares; with fewer, the curve goes through every row."""
END_SLACK = 1e-6
"""By how much the first and the last fraction of a step may differ from 0 and 1."""
CLOCKS = {"t": ("s", False), "time": ("s", False), "fraction": ("", True), "percent": ("%", True)}
"""What the first column may be called: its unit, and whether it is a fraction of the step."""


@checked
@dataclass(frozen=True, eq=False)
class Track:
    """A recording that a step should follow; made by `optimal.track`.

    file: where it came from. fractions: of the step, 0 to 1, one for each row. columns: what was recorded.
    weight: by which the cost is multiplied. name: of the cost.
    """

    file: str
    fractions: np.ndarray = field(repr=False)
    columns: tuple[RecordedColumn, ...]
    weight: float = 1.0
    name: str = "track"

    def __post_init__(self) -> None:
        check_weight(self.name, self.weight)
        if not self.columns or not all(isinstance(each, RecordedColumn) for each in self.columns):
            raise ValueRangeError(f"the recording {self.file} has no columns: read it with optimal.track")
        rows = {np.shape(self.fractions), *[np.shape(each.values) for each in self.columns]}
        if len(rows) > 1 or np.ndim(self.fractions) != 1:
            raise ValueRangeError(f"the columns of {self.file} have other numbers of rows: {sorted(rows)}")

    @property
    def unit(self) -> str:
        """Of the cost, before its weight; empty where columns have several."""
        units = {each.unit for each in self.columns}
        return f"({units.pop()})^2 s" if len(units) == 1 and units != {""} else ""

    @property
    def meaning(self) -> str:
        """What is meant by it, in words."""
        labels = ", ".join(each.name for each in self.columns)
        return f"integral of the squared differences from {labels} in {self.file}, stretched to the step"

    @property
    def deviation(self) -> dict[str, float]:
        """How far the curves that are followed are from the rows of the file at most, by name, in SI."""
        s = self.fractions
        gaps = {each.name: _curve(s, each.values)(s) - each.values for each in self.columns}
        return {name: float(np.abs(gap).max()) for name, gap in gaps.items()}

    def terms(self, system: System) -> tuple[ca.SX, tuple[Integral, ...]]:
        """Return the integral of the squared differences."""
        fraction, rate = time / system[STEP_TIME], ca.SX(0)
        powers: dict[float, ca.SX] = {}
        for each in self.columns:
            expression = _expression(system, each, self.file)
            rate += (expression - _symbolic(_curve(self.fractions, each.values), fraction, powers)) ** 2
        total = Integral(re.sub(r"\W", "_", f"{self.name}_difference"), rate)
        return total.sym, (total,)

    def parameters(self) -> tuple[Param, ...]:
        """Return the parameter that a system needs for it."""
        return (Param(STEP_TIME, 1.0, "s", description="of the step to which recordings are stretched"),)

    def check(self, system: System) -> None:
        """Raise what is wrong with it for a system, before anything is searched for."""
        for each in self.columns:
            _expression(system, each, self.file)

    def with_name(self, name: str) -> Track:
        """Return the same recording under another name."""
        return replace(self, name=name)

    def identity(self, system: System) -> dict[str, Any]:
        """Return what makes this cost this one: plain data that is equal in every process."""
        numbers = np.column_stack([self.fractions, *[each.values for each in self.columns]])
        return {
            "name": self.name,
            "weight": self.weight,
            "columns": [[each.name, each.unit] for each in self.columns],
            "key": hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:16],
        }


def stretch_recordings(problem: Problem) -> Problem:
    """Return the problem of a step to whose duration recordings are stretched; the same one where nothing is
    recorded."""
    if not any(q.name == STEP_TIME for q in problem.system.p):
        return problem
    problem = problem.free(**{STEP_TIME: (1 / MAX_STEP_TIME, MAX_STEP_TIME)})
    return problem.require(
        "the recording lasts as long as the step", time - problem.system[STEP_TIME], equal=0.0, at="end"
    )


@checked
def track(file: str | Path, weight: float = 1.0, name: str = "track") -> Track:
    """Return a recording that a step should follow, as a cost: the integral over the step of the squared
    differences, in SI units, stretched to its duration.

    file: CSV. Its first line has the names of the columns. The first column is `time` (or `t`, [s]; the first
        row is the beginning of the step, the last its end) or `fraction` of the step (0 to 1; or `percent`).
        Further columns are states or outputs, by name; degrees are said by a unit, `hip [deg]`, or by
        `hip_deg`.
    weight: by which it counts. name: of the cost in tables.

    Of more than 41 rows, the curve that is followed has 40 cubic pieces and fits them in the least squares;
    `deviation` says how far it is from them.
    """
    check_weight(name, weight)
    label, clock, columns = read_recording(file)
    return Track(str(file), _fractions(file, label, clock), columns, float(weight), name)


# ---- the file ----


def _fractions(file: str | Path, label: str, clock: np.ndarray) -> np.ndarray:
    """Return the first column as fractions of the step, 0 to 1."""
    name, unit = name_and_unit(file, label)
    if name not in CLOCKS:
        raise UnknownNameError(
            f"{file}: its first column is '{label}': it must be the time [s] or the fraction of the step; "
            f"{did_you_mean(name, list(CLOCKS))}"
        )
    usual, is_fraction = CLOCKS[name]
    factors = FACTORS["" if is_fraction else "s"]
    if (unit or usual) not in factors:
        raise ValueRangeError(
            f"{file}: its first column is in '{unit}': allowed are {', '.join(u or '1' for u in factors)}"
        )
    clock = clock * factors[unit or usual]
    if not np.all(np.diff(clock) > 0):
        line = int(np.flatnonzero(np.diff(clock) <= 0)[0]) + 2
        raise ValueRangeError(f"{file}: '{label}' does not grow after row {line - 1}: {clock[line - 1]:g}")
    if not is_fraction:
        fractions: np.ndarray = (clock - clock[0]) / (clock[-1] - clock[0])
        return fractions
    if abs(clock[0]) > END_SLACK or abs(clock[-1] - 1) > END_SLACK:
        raise ValueRangeError(
            f"{file}: the fractions of the step go from {clock[0]:g} to {clock[-1]:g}: they must go from 0 "
            "to 1, over one whole step"
        )
    return np.clip(clock, 0.0, 1.0)


def _expression(system: System, column: RecordedColumn, file: str) -> ca.SX:
    """Return what of a system was recorded in a column, once it is sure that the unit fits."""
    units: Mapping[str, str] = {q.name: q.unit for q in (*system.x, *system.u)} | dict.fromkeys(
        system.outputs, ""
    )
    units = {**units, **system.output_units}
    components = {
        label: column[k]
        for group in "xu"
        for k, label in enumerate(system.labels(group))
        for column in [system.vector(group)]
    }
    names = [*components, *[name for name in system.outputs if name not in components]]
    if column.name not in names:
        raise UnknownNameError(
            f"{file}: column '{column.label}' is no state, output or input of '{system.name}': "
            f"{did_you_mean(column.name, names)}"
        )
    expression = components[column.name] if column.name in components else system[column.name]
    unit = units.get(column.name.partition("[")[0], "")
    if expression.numel() != 1:
        raise ValueRangeError(
            f"{file}: column '{column.label}' is a vector of {expression.numel()} numbers in "
            f"'{system.name}': track an output of one"
        )
    if column.unit and unit and column.unit != unit:
        raise ValueRangeError(
            f"{file}: column '{column.label}' is in {column.unit}, but '{column.name}' is in {unit}"
        )
    return expression


# ---- the curve ----


def _curve(s: np.ndarray, values: np.ndarray) -> Any:
    """Return the cubic spline that stands for a column: through its rows, or, of many, in the least squares
    with `MAX_PIECES` pieces."""
    from scipy.interpolate import CubicSpline, PPoly, make_lsq_spline

    if len(s) <= MAX_PIECES + 1:
        return CubicSpline(s, values)
    inner = np.quantile(s, np.linspace(0, 1, MAX_PIECES + 1)[1:-1])
    fit = make_lsq_spline(s, values, np.concatenate([np.zeros(4), inner, np.ones(4)]), k=3)
    # Without the repeated knots at the ends, whose pieces are empty.
    whole = PPoly.from_spline(fit)
    return PPoly(whole.c[:, 3:-3], whole.x[3:-3])


def _symbolic(curve: Any, s: ca.SX, powers: dict[float, ca.SX]) -> ca.SX:
    """Return a cubic spline as an expression, by truncated powers: the first piece, and at every knot the
    jump of the third derivative. powers: those of other columns, which have the same knots."""
    c3, c2, c1, c0 = (float(c) for c in curve.c[:, 0])
    first = s - float(curve.x[0])
    value = c0 + first * (c1 + first * (c2 + first * c3))
    for knot, jump in zip(curve.x[1:-1], np.diff(curve.c[0]), strict=True):
        at = float(knot)
        if at not in powers:
            powers[at] = ca.fmax(s - at, 0) ** 3
        value += float(jump) * powers[at]
    return value


__all__ = ["STEP_TIME", "Track", "stretch_recordings", "track"]
