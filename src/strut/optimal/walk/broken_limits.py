"""What the simulator shows of a plan: the limits of a step that its replay does not keep, in sentences."""

from __future__ import annotations

import math

from strut.optimal.walk.goal_field import GoalValue, as_number
from strut.optimal.walk.read_walk import landing_foot, swing_foot
from strut.optimal.walk.replay import Replay

FRICTION_SLACK = 1e-3
"""Relative slack on the coefficient of friction when a replay is judged: between the points of the mesh it
may be exceeded a little."""
CLEARANCE_SLACK = 1e-5
"""Slack on heights of feet [m] when a replay is judged: they begin and end at zero, and a replay ends a
little elsewhere than its plan."""
SWING_SLACK = 1e-3
"""Relative slack on the height of a swing when a replay is judged: limits hold to a thousandth between the
points of a mesh."""
MULTIPLIER_SLACK = 1e-6
"""Relative slack on the bound of multipliers when a replay is judged."""


def broken_friction(replay: Replay, value: GoalValue) -> tuple[str, ...]:
    """Say which feet need more friction in the replay than is allowed."""
    largest = as_number(value)
    return tuple(
        f"the friction that foot '{load.foot}' needs is {load.friction_needed:.4g}, more than {largest:g}"
        for load in replay.foot_loads
        if load.friction_needed > largest * (1 + FRICTION_SLACK)
    )


def broken_clearance(replay: Replay, value: GoalValue) -> tuple[str, ...]:
    """Say where the swing foot of the replay is in the ground, or lower than it should be where it passes the
    other foot."""
    section = replay.result.phases[-1].until
    foot = None if section is None else swing_foot(replay.machine, section)
    if foot is None:
        return _low_swings(replay, as_number(value))
    lowest, passing = replay.clearances(foot)
    broken = []
    if lowest < -CLEARANCE_SLACK:
        broken.append(f"foot '{foot.name}' swings through the ground, {-lowest:.3g} m deep")
    if passing < as_number(value) - CLEARANCE_SLACK:
        broken.append(
            f"foot '{foot.name}' passes the other at a height of {passing:.4g} m, less than {value:g} m"
        )
    return tuple(broken)


def _low_swings(replay: Replay, clearance: float) -> tuple[str, ...]:
    """Say which feet that land wherever they touch swing lower than a parabola of that height [m]."""
    broken = []
    for motion in replay.result.phases:
        foot = None if motion.until is None else landing_foot(replay.machine, motion.until)
        if foot is None:
            continue
        part, heights = replay.swing_heights(foot, motion)
        missing = (4 * clearance * part * (1 - part) - heights).max(initial=-math.inf)
        if missing > max(CLEARANCE_SLACK, SWING_SLACK * clearance):
            broken.append(
                f"foot '{foot.name}' swings {missing:.3g} m lower than a parabola of {clearance:g} m over "
                f"its swing"
            )
    return tuple(broken)


def broken_stability(replay: Replay, value: GoalValue) -> tuple[str, ...]:
    """Say by which multiplier the gait of the replay grows disturbances more than is allowed."""
    bound = as_number(value)
    largest = math.nan if replay.gait is None else float(abs(replay.gait.multipliers[0]))
    if largest <= bound * (1 + MULTIPLIER_SLACK):
        return ()
    return (f"the largest multiplier is {largest:.6g}, more than {bound:g}",)


__all__ = ["broken_clearance", "broken_friction", "broken_stability"]
