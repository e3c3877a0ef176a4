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
from strut.system import Event, Input, System, start, sx, time

ANGLE_TOLERANCE = 1e-9
"""[rad] Angles that differ by less in every state that is tried are the same."""
SAMPLE_COUNT = 4
"""The number of states in which angles are compared."""
SAMPLE_SPREAD = 0.2
"""[rad, m] The standard deviation of these states from the one a run begins in."""
MAX_NEWTON_STEPS = 30
"""Newton steps that move such a state to where a guard is zero."""

Places = list[tuple[int, float]]
"""For every drive, which one's angle it has after a jump, and with which sign."""


def after_event(system: System, drives: Sequence[Drive], event: Event) -> Places:
    """Where the motors are after an event. It happens where its guard is zero, so that is where angles are
    compared."""
    return _places(system, drives, event.reset, sx(event.guard), f"'{event.name}'")


def after_mirroring(system: System, drives: Sequence[Drive]) -> Places:
    """Where the motors are when left and right are exchanged."""
    return _places(system, drives, system.symmetry, None, "the exchange of left and right")


def motor_images(system: System, drives: Sequence[Drive], motors: Sequence[Input]) -> dict[str, ca.SX]:
    """What the motors' inputs are, by name, when left and right are exchanged. Where the symmetry of the
    system has no images of the drives' own inputs, those of their motors have none either."""
    if not any(d.input.name in system.symmetry for d in drives):
        return {}
    places = after_mirroring(system, drives)
    return {
        q.name: sign * motors[j].sym
        for i, (q, (j, sign)) in enumerate(zip(motors, places, strict=True))
        if (i, 1.0) != (j, sign)
    }


@dataclass(frozen=True)
class Sides:
    """Drives that take each other's place in some jump: both sides of one joint, which share their constants.

    members: which drives. signs: by which their angles agree with the first one's. turns: an angle takes the
    place of its own negative, so that only zero is the same on both sides.
    """

    members: tuple[int, ...]
    signs: tuple[float, ...]
    turns: bool


def sides_of_joints(system: System, drives: Sequence[Drive]) -> list[Sides]:
    """Group the drives of a system by joint: the connected components of who takes whose place in a jump."""
    where, sign, joints = jumps(system, drives), dict[int, float](), []
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
        joints.append(Sides(tuple(members), tuple(sign[i] for i in members), turns))
    return joints


def jumps(system: System, drives: Sequence[Drive]) -> list[Places]:
    """Where the motors are after every event, and after left and right are exchanged."""
    exchanges = [after_event(system, drives, event) for event in system.events]
    return [*exchanges, after_mirroring(system, drives)] if system.symmetry else exchanges


def _places(
    system: System, drives: Sequence[Drive], new: Mapping[str, Any], guard: ca.SX | None, where: str
) -> Places:
    """Compare the angles of all drives before and after new values of states; raises ModelError where one is
    lost."""
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
    states_tried = _sample_states(system)
    for attempt in range(1 if guard is None else 2):
        if attempt and guard is not None:
            states_tried = [_move_onto_guard(system, guard, state) for state in states_tried]
        pairs = [[np.array(e).reshape(-1) for e in f(0, *state)] for state in states_tried]
        old, now = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
        matches = {i: _match(old, now[:, i]) for i in moved}
        if all(matches.values()):
            for i, match in matches.items():
                assert match is not None
                places[i] = match
            return places
    lost = next(drives[i].name for i in moved if matches[i] is None)
    names = ", ".join(d.name for d in drives)
    raise ModelError(
        f"after {where} of '{system.name}' the angle of drive '{lost}' is that of none of {names}: where its "
        f"motor and spring are then is "
        "unknown; name only drives that both sides have"
    )


def _match(old: np.ndarray, now: np.ndarray) -> tuple[int, float] | None:
    """Which old angle, and with which sign, a new one is in all states; None if it is none of them."""
    for j in range(old.shape[1]):
        for sign in (1.0, -1.0):
            if np.abs(now - sign * old[:, j]).max() < ANGLE_TOLERANCE:
                return j, sign
    return None


def _sample_states(system: System) -> list[tuple[np.ndarray, ...]]:
    """Random states about the one a run begins in, with its discrete states, inputs and parameters."""
    random, begin = np.random.default_rng(0), start(system)
    return [
        (begin.x + SAMPLE_SPREAD * random.standard_normal(len(begin.x)), begin.z, begin.u, begin.p)
        for _ in range(SAMPLE_COUNT)
    ]


def _move_onto_guard(system: System, guard: ca.SX, state: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The state moved to where the guard is zero, by Newton's method along the gradient."""
    groups = system.vectors()
    f = ca.Function("guard", [time, *groups], [guard, ca.densify(ca.jacobian(guard, groups[0]))])
    x, *rest = state
    for _ in range(MAX_NEWTON_STEPS):
        value, slope = (np.array(e).reshape(-1) for e in f(0, x, *rest))
        if abs(value[0]) < ANGLE_TOLERANCE**2 or not slope @ slope > 0:
            break
        x = x - slope * value[0] / (slope @ slope)
    return (x, *rest)


__all__ = [
    "Places",
    "Sides",
    "after_event",
    "after_mirroring",
    "jumps",
    "motor_images",
    "sides_of_joints",
]
