"""`compliant_stride`: a step to begin a search from, of a walker on ground that gives way.

The postures are those of an even stride (`kinematic_stride`), moved by inverse kinematics so that the stance
foot stays at its place, as deep in the ground as it would be at rest. The phases are a `ContactSequence`.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.transport import weight_of
from strut.optimal.walk.contact_sequence import contact_sequence, lift_places
from strut.optimal.walk.even_stride import EvenStride
from strut.optimal.walk.kinematic_stride import (
    LIFT_PER_HEIGHT,
    Kinematics,
    nearest_posture,
)
from strut.system import Foot, System, sx

MAX_DEPTH = 0.2
"""[1] The largest depth at rest over the height of the centre of mass: softer ground carries no walker."""
DEPTH_HALVINGS = 60
"""Bisections in which the depth at rest is found."""


def compliant_stride(
    walker: System, section: str, step_length: float | None = None, speed: float | None = None
) -> EvenStride:
    """An even step of a walker on ground that gives way, that ends with the event `section`, of the length
    [m] that is asked, or that goes with a speed [m/s]. Raises `NoStrideError` where no such posture exists,
    `ModelError` where the ground does not carry it, or where its feet do more than land, go slack and
    leave."""
    kinematics = Kinematics(walker, section)
    stance, swing = kinematics.stance, kinematics.swing
    assert stance is not None
    assert swing is not None
    postures, length, period = kinematics.even_postures(step_length, speed)
    touching = kinematics.states_with(postures[:1], np.zeros_like(postures[:1]))[0]
    depth = depth_at_rest(kinematics, stance, touching)
    standing = touching.copy()
    standing[lift_places(walker)] -= depth
    sequence = contact_sequence(walker, stance, swing, touching)
    positions = kinematics.states_through(postures, period)[:, kinematics.positions]
    positions = _stand_still(kinematics, positions, depth, sum(sequence.shares[:-1]))
    rates = np.gradient(positions, period / (len(positions) - 1), axis=0)
    states = kinematics.states_with(positions, rates)
    return EvenStride(
        period=period,
        step_length=length,
        guess=kinematics.guess_of(states),
        branch=sequence.branch(walker, standing),
        events=sequence.events,
        shares=sequence.shares,
    )


def depth_at_rest(kinematics: Kinematics, stance: Foot, touching: np.ndarray) -> float:
    """How deep [m] a foot is in the ground that carries the whole weight at rest, by bisection; raises
    `ModelError` where the ground is too soft for that. touching: a state at rest in which the foot touches
    the ground."""
    walker, begin = kinematics.walker, kinematics.begin
    lift = lift_places(walker)
    normal = walker.function("normal", [sx(walker[stance.normal])], clock=False)
    weight = weight_of(walker)
    low, high = 0.0, MAX_DEPTH * kinematics.height()

    def force(depth: float) -> float:
        lowered = touching.copy()
        lowered[lift] -= depth
        return float(normal(lowered, kinematics.z, begin.u, begin.p))

    if not lift or force(high) < weight:
        raise ModelError(
            f"the ground does not carry '{walker.name}': {high:.3g} m deep, foot '{stance.name}' is pushed "
            f"by {force(high):.4g} N, and it weighs {weight:.4g} N. Make the ground stiffer"
        )
    for _ in range(DEPTH_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if force(middle) < weight else (low, middle)
    return high


def _stand_still(kinematics: Kinematics, positions: np.ndarray, depth: float, both: float) -> np.ndarray:
    """Positions, as rows, with the stance foot at its place, and heights of both feet as in a step: the
    stance foot sinks to its depth at rest in the part of the step in which both are on the ground, while the
    swing foot comes out of it. Where a posture does not exist it is left as it is."""
    walker, stance, swing = kinematics.walker, kinematics.stance, kinematics.swing
    assert stance is not None
    assert swing is not None
    q = ca.SX.sym("q", positions.shape[1])
    place, stance_gap, swing_gap = kinematics.expressions_at(
        [sx(stance.at)[0], walker[stance.gap], walker[swing.gap]], q
    )
    begin = float(ca.Function("place", [q], [place])(positions[0]))
    lift, moved = LIFT_PER_HEIGHT * kinematics.height(), positions.copy()
    for row, s in zip(moved, np.linspace(0, 1, len(positions)), strict=True):
        sunk = min(s / both, 1.0)
        height = -depth * (1 - sunk) + lift * 4 * s * (1 - s) * sunk
        rows = [place - begin, stance_gap + depth * sunk, swing_gap - height]
        posture = nearest_posture(q, rows, row.copy(), kinematics.bounds(1))
        if posture is not None:
            row[:] = posture
    return moved


__all__ = ["compliant_stride"]
