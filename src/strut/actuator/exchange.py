"""Which drive is where after a jump: walkers that change legs call the same motor by another name after every
step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.actuator.drives import Drive
from strut.errors import ModelError
from strut.system import Event, System, start, sx, time

SAME = 1e-9
"""Angles [rad] that agree so far, wherever one looks, are the same."""
LOOKS = 4
"""In so many states, this far apart:"""
APART = 0.2
NEWTON = 30
"""Iterations towards the guard's zero."""

Places = list[tuple[int, float]]
"""For every drive, which one's angle it has after a jump, and with which sign."""


def after_event(system: System, drives: Sequence[Drive], event: Event) -> Places:
    """Where the motors are after an event. It happens where its guard is zero, so that is where angles are
    compared."""
    return _places(system, drives, event.reset, sx(event.guard), f"'{event.name}'")


def mirrored(system: System, drives: Sequence[Drive]) -> Places:
    """Where the motors are when left and right are exchanged."""
    return _places(system, drives, system.symmetry, None, "the exchange of left and right")


@dataclass(frozen=True)
class Sides:
    """Drives that take each other's place in some jump: both sides of one joint, which share their constants.

    members: which drives. signs: by which their angles agree with the first one's. turns: an angle takes the
    place of its own negative, so that only zero is the same on both sides.
    """

    members: tuple[int, ...]
    signs: tuple[float, ...]
    turns: bool


def alike(system: System, drives: Sequence[Drive]) -> list[Sides]:
    """All drives of a system, by joint."""
    where, sign, found = jumps(system, drives), dict[int, float](), []
    for first in range(len(drives)):
        if first in sign:
            continue
        sign[first], members, turns = 1.0, [first], False
        for i in members:  # grows while it is gone through
            for places in where:
                for a, b, s in [(k, j, s) for k, (j, s) in enumerate(places) if i in (k, j)]:
                    other = b if a == i else a
                    if other not in sign:
                        sign[other] = s * sign[i]
                        members.append(other)
                    turns = turns or sign[other] != s * sign[i]
        members.sort()
        found.append(Sides(tuple(members), tuple(sign[i] for i in members), turns))
    return found


def jumps(system: System, drives: Sequence[Drive]) -> list[Places]:
    """Of all events, and of the exchange of left and right."""
    found = [after_event(system, drives, event) for event in system.events]
    return [*found, mirrored(system, drives)] if system.symmetry else found


def _places(
    system: System, drives: Sequence[Drive], new: Mapping[str, Any], guard: ca.SX | None, where: str
) -> Places:
    states = [q for q in (*system.x, *system.z) if q.name in new]
    changed = ca.vertcat(*[q.sym for q in states], ca.SX(0, 1))
    moved = [i for i, d in enumerate(drives) if ca.depends_on(d.angle, changed)]
    places: Places = [(i, 1.0) for i in range(len(drives))]
    if not moved:
        return places
    before = ca.vertcat(*[d.angle for d in drives])
    after = ca.substitute([before], [q.sym for q in states], [sx(new[q.name]) for q in states])[0]
    groups = system.vectors()
    f = ca.Function("angles", [time, *groups], [before, after])
    looks = _looks(system)
    for attempt in range(1 if guard is None else 2):
        if attempt and guard is not None:
            looks = [_onto(system, guard, state) for state in looks]
        pairs = [[np.array(e).reshape(-1) for e in f(0, *state)] for state in looks]
        old, now = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
        found = {i: _match(old, now[:, i]) for i in moved}
        if all(found.values()):
            for i, match in found.items():
                assert match is not None
                places[i] = match
            return places
    lost = next(drives[i].name for i in moved if found[i] is None)
    known = ", ".join(d.name for d in drives)
    raise ModelError(
        f"after {where} of '{system.name}' the angle of drive '{lost}' is that of none of {known}: where its "
        f"motor and spring are then is "
        "unknown; name only drives that both sides have"
    )


def _match(old: np.ndarray, now: np.ndarray) -> tuple[int, float] | None:
    for j in range(old.shape[1]):
        for sign in (1.0, -1.0):
            if np.abs(now - sign * old[:, j]).max() < SAME:
                return j, sign
    return None


def _looks(system: System) -> list[tuple[np.ndarray, ...]]:
    """Some states, none of them special."""
    random, begin = np.random.default_rng(0), start(system)
    return [
        (begin.x + APART * random.standard_normal(len(begin.x)), begin.z, begin.u, begin.p)
        for _ in range(LOOKS)
    ]


def _onto(system: System, guard: ca.SX, state: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """A state near this one in which the guard is zero."""
    groups = system.vectors()
    f = ca.Function("guard", [time, *groups], [guard, ca.densify(ca.jacobian(guard, groups[0]))])
    x, *rest = state
    for _ in range(NEWTON):
        value, slope = (np.array(e).reshape(-1) for e in f(0, x, *rest))
        if abs(value[0]) < SAME**2 or not slope @ slope > 0:
            break
        x = x - slope * value[0] / (slope @ slope)
    return (x, *rest)


__all__ = ["Places", "Sides", "after_event", "alike", "jumps", "mirrored"]
