"""What a step is asked where nothing else was said: around what is usual for the walker.

The `default` of each field of `StepGoal`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strut.gait.transport import weight_of
from strut.optimal.walk.contact_phases import has_soles
from strut.optimal.walk.goal_field import GoalValue, UsualStep
from strut.optimal.walk.hold_feet import friction_limit
from strut.optimal.walk.read_walk import clears_ground, feet_with_forces, lands_softly, says_friction
from strut.optimal.walk.stairs import has_stairs
from strut.system import System

MIN_STEP_TIME, MAX_STEP_TIME = 0.05, 10.0
"""Bounds of the duration of a step [s], where nothing is known of it."""
MIN_STEP_LENGTH = 1e-3
"""The least length of a step [m], where nothing is known of it."""
REFERENCE_FACTOR = 4.0
"""By default, duration and length of a step are within this factor of those of the reference."""
SOLE_FACTOR = 1.5
"""And the length of a step of feet with heel and toe: far from the stride that a search begins with, its
contact phases are those of another motion. Where this decides, it is widened from a step that was found."""
TORQUE_FACTOR = 1.0
"""By default, torques are at most this many times weight by step length of the reference."""
ANY_FLIGHT = (0.05, MAX_STEP_TIME)
"""Bounds of the time in the air [s] of a step of a machine that runs or hops, where none is asked."""
USUAL_FLIGHT = (0.3, 0.36)
"""[1] The part of a step that a run is in the air, to begin a search with: nearly given, since flights of
quite other lengths are optima of their own; it is then widened like every guide."""
DEFAULT_FRICTION = 1.0
"""By default, the coefficient of friction that feet must not exceed."""


def default_speed(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return the speed of the reference gait [m/s], where nothing is asked that would set one."""
    if "step_length" in asked or "duration" in asked or usual.gait is None or not walker.u:
        return None
    return usual.gait.speed if usual.gait.speed > 0 else None


def around(usual: float | None, factor: float | None = None) -> GoalValue | None:
    """Return bounds within a factor, by default `REFERENCE_FACTOR`, of what is usual."""
    factor = REFERENCE_FACTOR if factor is None else factor
    return None if usual is None or not usual > 0 else (usual / factor, usual * factor)


def default_length(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return bounds of the length of a step [m] around what is usual."""
    near = usual.gait is None and has_soles(walker) and "duration" not in asked
    return around(usual.step_length, SOLE_FACTOR if near else None)


def default_torque(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return weight by usual step length [N m], for inputs that are torques without bounds of their own."""
    if usual.step_length is None or not usual.step_length > 0:
        return None
    unlimited = [q for q in walker.u if q.size == 1 and q.unit == "N m" and not np.isfinite(q.range).any()]
    return {q.name: TORQUE_FACTOR * weight_of(walker) * usual.step_length for q in unlimited} or None


def default_friction(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return the friction of the walker's own ground; `DEFAULT_FRICTION` where that has no limit and the
    walker says what it needs; None on ground that gives way, whose law limits the force already."""
    own = friction_limit(walker)
    if own is not None:
        return own
    rigid = [foot for foot in feet_with_forces(walker) if not lands_softly(walker, foot)]
    return DEFAULT_FRICTION if rigid and says_friction(walker) else None


def default_clearance(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return 0 [m] where the swing foot of the reference gait stays above the ground."""
    clears = usual.gait is not None and not has_stairs(walker) and clears_ground(usual.gait)
    return 0.0 if clears else None


def default_flight(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return bounds of the time in the air [s] of a machine that runs or hops: the usual part of a step."""
    if walker.walk is None or not walker.walk.flight or not walker.u:
        return None
    if usual.period is None:
        return ANY_FLIGHT
    low, high = (max(part * usual.period, ANY_FLIGHT[0]) for part in USUAL_FLIGHT)
    return low, high
