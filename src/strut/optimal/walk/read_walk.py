"""What `System.walk` says that a step problem needs: feet with forces, the foot that swings, gravity."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait import Gait
from strut.system import Foot, System, position_places, stops_dead, sx

EARTH_GRAVITY = 9.81
"""Gravitational acceleration [m/s^2] of a walker whose weight depends on no parameter of that unit."""
GAIT_SAMPLES = 200
"""Moments of a gait, its ends included, at which something is read along it."""


def feet_with_forces(walker: System) -> list[Foot]:
    """Return the feet of a walker that say how the ground pushes them."""
    return [] if walker.walk is None else [foot for foot in walker.walk.feet if foot.normal]


def feet_by_body(walker: System) -> dict[str, list[Foot]]:
    """Return the feet that say how the ground pushes them: those of one body together, by its name, others
    each by its own."""
    feet = feet_with_forces(walker)
    bodies = [foot.body for foot in feet]
    groups: dict[str, list[Foot]] = {}
    for foot in feet:
        groups.setdefault(foot.body if foot.body and bodies.count(foot.body) > 1 else foot.name, []).append(
            foot
        )
    return groups


def says_friction(walker: System) -> bool:
    """Return whether some foot says how much friction it needs."""
    return any(foot.friction for foot in feet_with_forces(walker))


def swing_foot(walker: System, section: str) -> Foot | None:
    """Return the foot that lands in `section`, if its walk says when it passes the other and how high it is;
    None otherwise."""
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    return foot if foot is not None and foot.passes and foot.gap else None


def required_swing_foot(walker: System, section: str) -> Foot:
    """Return the swing foot of a walker that is asked to clear the ground; `ModelError` if it has none."""
    foot = swing_foot(walker, section)
    if foot is None:
        raise ModelError(
            f"clearance is asked, but '{walker.name}' has no foot that lands in '{section}' of which its "
            f"walk says how high it is, and when it passes the other or that it is opposite to it: "
            "Foot(lands=..., gap=..., passes=...) or Foot(lands=..., gap=..., opposite=...)"
        )
    return foot


def landing_foot(walker: System, section: str) -> Foot | None:
    """Return the foot that lands in `section` wherever it touches the ground, if its walk says how high it
    is; None for others, as those that pass through it until they are in front."""
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    return foot if foot is not None and foot.gap and foot.stands and not foot.passes else None


def stands_in_turn(walker: System, section: str) -> bool:
    """Return whether a driven walker stands on one foot and then on the opposite one, each of which lands
    wherever it touches the ground. Such walkers seldom walk by themselves: an even stride is the better
    beginning."""
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    return bool(walker.u) and foot is not None and bool(foot.opposite) and not foot.passes


def gives_way(walker: System, section: str) -> bool:
    """Return whether the foot that lands in `section` lands on ground that gives way, without an impact."""
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    return foot is not None and lands_softly(walker, foot)


def lands_softly(walker: System, foot: Foot) -> bool:
    """Return whether a foot of a walker that stands on its feet in turn lands without an impact: its ground
    gives way."""
    return bool(foot.lands and foot.lifts and foot.stands and foot.opposite) and not stops_dead(walker, foot)


def flow_flags(walker: System) -> set[str]:
    """Return the discrete states that the flow depends on."""
    flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
    return {q.name for q in walker.z if ca.depends_on(flow, q.sym)}


def changes_motion(walker: System, event: str) -> bool:
    """Return whether an event changes more than flags of guards: a state, or what the flow depends on. A plan
    of inputs waits for such an event where it ends a phase."""
    moving = {q.name for q in walker.x} | flow_flags(walker)
    return not moving.isdisjoint(walker.event(event).reset)


def velocity_states(walker: System) -> list[int]:
    """Return the places among the states of those that are velocities: all that are no positions."""
    positions = position_places(walker)
    return [i for i in range(walker.size("x")) if i not in positions]


def sample_times(gait: Gait) -> np.ndarray:
    """Return moments [s] strictly inside one period of a gait."""
    return gait.period * np.linspace(0, 1, GAIT_SAMPLES)[1:-1]


def clears_ground(gait: Gait) -> bool:
    """Return whether the swing foot of a gait stays above the ground all along."""
    foot = swing_foot(gait.system, gait.section)
    return foot is not None and bool(gait.trajectory.at(sample_times(gait))[foot.gap].min() >= 0)


def gravity_of(walker: System) -> float:
    """Return the gravitational acceleration [m/s^2]: the parameter of that unit on which the weight of the
    walk depends, `EARTH_GRAVITY` where there is none."""
    if walker.walk is None or walker.walk.weight is None:
        return EARTH_GRAVITY
    weight = sx(walker.walk.weight)
    accelerations = [q for q in walker.p if q.unit == "m/s^2" and ca.depends_on(weight, q.sym)]
    return float(np.ravel(accelerations[0].value)[0]) if accelerations else EARTH_GRAVITY


def slope_of(walker: System, p: np.ndarray | None = None) -> float:
    """Return the slope of the ground [rad] of a walker that has one; p: other parameters."""
    assert walker.walk is not None
    values = (
        np.concatenate([np.reshape(np.asarray(q.value, dtype=float), -1) for q in walker.p])
        if p is None
        else p
    )
    return float(values[walker.labels("p").index(walker.walk.slope)])


__all__ = [
    "changes_motion",
    "clears_ground",
    "feet_by_body",
    "feet_with_forces",
    "flow_flags",
    "gives_way",
    "gravity_of",
    "landing_foot",
    "lands_softly",
    "position_places",
    "says_friction",
    "slope_of",
    "stands_in_turn",
    "stops_dead",
    "swing_foot",
    "velocity_states",
]
