"""Which feet of a walker stop dead where they land, as on rigid ground, and which states are positions."""

from __future__ import annotations

import casadi as ca

from strut.checks import checked
from strut.system.quantity import sx, time
from strut.system.system import System
from strut.system.walk import Foot


@checked
def position_places(walker: System) -> list[int]:
    """Return the places among the states of those that are positions: their rates are velocities, which no
    motor, parameter or discrete state changes."""
    fixed = ca.vertcat(time, *[walker.vector(group) for group in "zup"])
    flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
    return [i for i in range(flow.numel()) if not ca.depends_on(flow[i], fixed)]


@checked
def stops_dead(walker: System, foot: Foot) -> bool:
    """Return whether the landing of a foot is an impact: it changes velocities at once, as on rigid ground.
    Motors may be behind springs, so what they accelerate says nothing."""
    x, positions = walker.vector("x"), position_places(walker)
    flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
    reset, names = walker.event(foot.lands).reset, [q.name for q in walker.x for _ in range(q.size)]
    return any(
        name in reset and ca.depends_on(flow[positions], x[i])
        for i, name in enumerate(names)
        if i not in positions
    )


__all__ = ["position_places", "stops_dead"]
