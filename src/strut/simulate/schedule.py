"""`Schedule`: an input over time, and `push`, a force from outside for a while."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.checks import checked, number_array
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import System

AXES = ("x", "y", "z")
"""Of the world, in the names of pushes."""


@checked
@dataclass(frozen=True, eq=False)
class Schedule:
    """An input over time: from times t[k] [s] on it is values[k], held until the next; before the first it is
    what the system begins with. A run changes it exactly at these times.

    values: a number for each time; of an input that is a vector, a row. planar: whether it is part of a force
        along x and z alone, as `push` makes of two numbers; refused where that frame is pushed in space.
    """

    t: Any
    values: Any
    planar: bool = False

    def __post_init__(self) -> None:
        t = number_array("the times of a schedule", self.t).reshape(-1)
        values = number_array("the values of a schedule", self.values)
        if len(t) != len(np.atleast_1d(values)) or not len(t):
            raise ValueRangeError(
                f"a schedule has {len(t)} times and {len(np.atleast_1d(values))} values: it needs one value "
                f"for each of one or more times"
            )
        if not np.isfinite(t).all() or not np.all(np.diff(t) > 0):
            raise ValueRangeError(f"the times of a schedule are {t.tolist()}: they must be finite and rise")
        if not np.isfinite(values).all():
            raise ValueRangeError("the values of a schedule must be finite")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "values", np.atleast_1d(values))


@checked
def push(frame: str, t: tuple[float, float], force: Sequence[float]) -> dict[str, Schedule]:
    """Return a force [N] at a frame from one time [s] to another, along the world's axes, for
    `simulate(..., u=...)`; the mechanism says `m.push(frame)`.

    force: x, y and z, or in a plane x and z; two numbers are refused by machines in space. Several pushes at
    other frames are joined with |; of several at one frame, make a `Schedule` by hand.
    """
    begin, end = (float(each) for each in t)
    if not (math.isfinite(begin) and begin < end < math.inf):
        raise ValueRangeError(
            f"the push at '{frame}' goes from {begin:g} to {end:g} s: it must end after it begins"
        )
    numbers = number_array(f"the force at '{frame}'", force).reshape(-1)
    if len(numbers) not in (2, 3):
        raise ValueRangeError(
            f"the force at '{frame}' has {len(numbers)} numbers: give x, y and z, or in a plane x and z [N]"
        )
    axes = AXES if len(numbers) == 3 else ("x", "z")
    given_forces = dict(zip(axes, numbers.tolist(), strict=True))
    return {
        f"{frame}_push_{axis}": Schedule([begin, end], [value, 0.0], planar=len(numbers) == 2)
        for axis, value in given_forces.items()
        if value
    }


def refuse_schedules(u: Any, where: str) -> None:
    """Raise ModelError where an input is a schedule and nothing can follow it. where: what was called."""
    for name, value in u.items() if isinstance(u, Mapping) else ():
        if isinstance(value, Schedule):
            raise ModelError(
                f"'{name}' has a schedule, and {where} holds its inputs: give numbers, or use simulate for "
                f"each run"
            )


@dataclass(frozen=True, eq=False)
class InputChanges:
    """What schedules make of the inputs of a run: `u` when it begins, and changes at `times` [s] after that,
    each the entries of u and their new values."""

    u: Mapping[str, Any] | Any
    times: tuple[float, ...] = ()
    changes: tuple[tuple[tuple[slice, np.ndarray], ...], ...] = ()
    names: frozenset[str] = frozenset()


def input_changes(system: System, u: Any, begin: float) -> InputChanges:
    """Return the inputs of a run that begins at a time [s], given as numbers and schedules by name. Raises
    UnknownNameError or ModelError for a schedule of what is no input, or with values that do not fit."""
    if not isinstance(u, Mapping):
        return InputChanges(u)
    schedules = {str(name): value for name, value in u.items() if isinstance(value, Schedule)}
    if not schedules:
        return InputChanges(u)
    numbers = {name: value for name, value in u.items() if name not in schedules}
    slices, quantities = system.slices("u"), {label: q for q in system.u for label in (q.name, *q.labels)}
    by_time: dict[float, list[tuple[slice, np.ndarray]]] = {}
    for name, schedule in schedules.items():
        if name not in slices:
            hint = "; a mechanism has pushes where m.push(frame) says so" if "_push_" in name else ""
            raise UnknownNameError(
                f"there is a schedule for '{name}', which is no input of '{system.name}': "
                f"{did_you_mean(name, list(slices))}{hint}"
            )
        across = f"{name[:-1]}y"
        if schedule.planar and across in slices:
            raise ModelError(
                f"the push '{name[: -len('_push_x')]}' has two numbers, x and z of a plane, and "
                f"'{system.name}' moves in space (it has '{across}'): give x, y and z"
            )
        place = slices[name]
        width = place.stop - place.start
        try:
            rows = np.broadcast_to(schedule.values.reshape(len(schedule.t), -1), (len(schedule.t), width))
        except ValueError as error:
            raise ModelError(
                f"the schedule of '{name}' has values of shape {schedule.values.shape}: {width} number(s) "
                f"are needed for each time"
            ) from error
        quantities[name].check(rows)
        for t, row in zip(schedule.t.tolist(), rows, strict=True):
            if t <= begin:
                numbers[name] = row
            else:
                by_time.setdefault(t, []).append((place, row))
    times = tuple(sorted(by_time))
    return InputChanges(numbers, times, tuple(tuple(by_time[t]) for t in times), frozenset(schedules))


__all__ = ["InputChanges", "Schedule", "input_changes", "push"]
