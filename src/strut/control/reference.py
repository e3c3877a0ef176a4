"""References: what a servo follows, as expressions of time: moves, sines, splines, tables; or of a phase."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, number_array, positive
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.extras import optional_module
from strut.recording import name_and_unit, read_recording
from strut.system import Expression, Packed, Param, Quantity, known_symbol, sx, time
from strut.units import FACTORS

CLOCK_NAMES = ("t", "time")
"""What the first column of a table may be called."""


@checked
@dataclass(frozen=True, eq=False)
class ReferenceSignal(Packed):
    """A reference over time: `value`, an expression of `strut.time` and of parameters. References are added,
    and multiplied by numbers."""

    value: Expression

    def __post_init__(self) -> None:
        column = sx(self.value)
        if column.numel() != 1:
            raise ModelError(f"a reference is one number over time: this has {column.numel()}")
        _check_constants(column)
        object.__setattr__(self, "value", column)

    @property
    def rate(self) -> ca.SX:
        """How fast the reference changes, per second."""
        return ca.jacobian(self.value, time)

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters that it is made of."""
        owners = [known_symbol(symbol) for symbol in ca.symvar(self.value)]
        return tuple(dict.fromkeys(q for q in owners if isinstance(q, Param)))

    def along(self, phase: Expression) -> ReferenceSignal:
        """The reference with a phase in the place of time, in the unit of its times: of an oscillator's
        state, so that it goes as fast as that one does, `sine(0.3, 1.0).along(phase / (2 * pi))`."""
        return ReferenceSignal(ca.substitute([self.value], [time], [sx(phase)])[0])

    def __add__(self, other: Any) -> ReferenceSignal:
        return ReferenceSignal(
            self.value + (other.value if isinstance(other, ReferenceSignal) else sx(other))
        )

    __radd__ = __add__

    def __mul__(self, gain: Any) -> ReferenceSignal:
        return ReferenceSignal(sx(gain) * self.value)

    __rmul__ = __mul__

    def __neg__(self) -> ReferenceSignal:
        return ReferenceSignal(-self.value)


def _check_constants(value: ca.SX) -> None:
    """Raise ValueRangeError where a number in an expression is not finite."""
    terms = ca.Function("reference", [ca.vertcat(ca.SX(0, 1), *ca.symvar(value))], [value])
    for k in range(terms.n_instructions()):
        if terms.instruction_id(k) == ca.OP_CONST and not math.isfinite(terms.instruction_constant(k)):
            raise ValueRangeError(
                f"a reference has the number {terms.instruction_constant(k)} in it: finite ones are needed"
            )


@checked
def minimum_jerk(
    begin: Expression, end: Expression, duration: Expression, start: Expression = 0.0
) -> ReferenceSignal:
    """A move of least squared jerk (Flash and Hogan) from one value to another: at rest before and after.

    begin, end: [rad, m]. duration, start: of the move [s]. All may be parameters. Its fastest rate is
    15/8 (end - begin) / duration.
    """
    if not isinstance(duration, (Quantity, ca.SX)):
        positive("duration of a move", duration, "s")
    s = ca.fmax(0, ca.fmin(1, (time - sx(start)) / sx(duration)))
    return ReferenceSignal(sx(begin) + (sx(end) - sx(begin)) * s**3 * (10 - 15 * s + 6 * s**2))


@checked
def sine(
    amplitude: Expression, frequency: Expression, offset: Expression = 0.0, phase: Expression = 0.0
) -> ReferenceSignal:
    """A sine over time: offset + amplitude sin(2 pi frequency t + phase). frequency: [Hz]. phase: [rad]."""
    return ReferenceSignal(
        sx(offset) + sx(amplitude) * ca.sin(2 * math.pi * sx(frequency) * time + sx(phase))
    )


@checked
def spline(
    times: Sequence[float] | np.ndarray, values: Sequence[float] | np.ndarray, periodic: bool = False
) -> ReferenceSignal:
    """A cubic spline through values at times [s].

    A plain one begins and ends at rest, and holds its first and last value before and after. A periodic one
    repeats, for ever: its first and last value must be the same.
    """
    t = number_array("the times of a spline", times, axes=(1,))
    v = number_array("the values of a spline", values, axes=(1,))
    if len(t) != len(v) or len(t) < 2:
        raise ValueRangeError(
            f"a spline has {len(t)} times and {len(v)} values: it needs one value for each of two or more "
            f"times"
        )
    if not np.isfinite(t).all() or not np.isfinite(v).all():
        raise ValueRangeError("the times and values of a spline must be finite")
    falls = np.flatnonzero(np.diff(t) <= 0)
    if len(falls):
        k = int(falls[0])
        raise ValueRangeError(
            f"the times of a spline must rise: after {t[k]:g} s comes {t[k + 1]:g} s (number {k + 2})"
        )
    if periodic and v[0] != v[-1]:
        raise ValueRangeError(
            f"a periodic spline begins with {v[0]:g} and ends with {v[-1]:g}: both must be the same"
        )
    return ReferenceSignal(_spline_expression(t, v, periodic))


def _spline_expression(t: np.ndarray, v: np.ndarray, periodic: bool) -> ca.SX:
    """The spline, piece by piece: coefficients are looked up by time."""
    interpolate = optional_module("scipy.interpolate", "a spline as a reference")
    curve = interpolate.CubicSpline(t, v, bc_type="periodic" if periodic else "clamped")
    first, last = float(t[0]), float(t[-1])
    if periodic:
        clock = time - (last - first) * ca.floor((time - first) / (last - first))
    else:
        clock = ca.fmax(first, ca.fmin(last, time))
    breaks = [float(b) for b in t[1:-1]]

    def look_up(column: np.ndarray) -> ca.SX:
        entries = [float(c) for c in column]
        return ca.pw_const(clock, ca.DM(breaks), ca.DM(entries)) if breaks else ca.SX(entries[0])

    c3, c2, c1, c0 = (look_up(curve.c[k]) for k in range(4))
    d = clock - look_up(curve.x[:-1])
    return c0 + d * (c1 + d * (c2 + d * c3))


@checked
def table(file: str | Path, periodic: bool = False) -> dict[str, ReferenceSignal]:
    """The columns of a CSV file, each a spline over its first column, by name: what `servo` follows.

    file: its first line has names of columns, with units in brackets: 'time,knee [deg],hip [deg]'. The first
        is the time [s]; others come in SI units.
    """
    label, clock, columns = read_recording(file)
    name, unit = name_and_unit(file, label)
    if name not in CLOCK_NAMES:
        raise UnknownNameError(
            f"{file}: its first column is '{label}': it must be the time; "
            f"{did_you_mean(name, list(CLOCK_NAMES))}"
        )
    if (unit or "s") not in FACTORS["s"]:
        raise ValueRangeError(
            f"{file}: its first column is in '{unit}': allowed are {', '.join(FACTORS['s'])}"
        )
    times = clock * FACTORS["s"][unit or "s"]
    references = {}
    for column in columns:
        try:
            references[column.name] = spline(times, column.values, periodic)
        except ValueRangeError as error:
            raise ValueRangeError(f"{file}, column '{column.label}': {error}") from None
    return references


__all__ = ["ReferenceSignal", "minimum_jerk", "sine", "spline", "table"]
