"""Ground under single feet: what changes its height while they are off the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from strut.gait.gait import Gait
from strut.system import Event, Param, System, sx

GROUND_LEVEL = "ground_level"
"""The parameter [m] that `level_after_leaving` adds."""


def foot_grounds(system: System) -> dict[str, str]:
    """Return the discrete states that are the heights of the ground under feet, by those that say whether
    the foot stands; nothing unless the walk names both for all feet."""
    feet = system.walk.feet if system.walk is not None else ()
    named = {foot.stands: foot.ground for foot in feet if foot.stands and foot.ground}
    return named if len(named) == len(feet) else {}


def change_after_leaving(system: System, height: ca.SX) -> tuple[Event, ...]:
    """Return a walker's events, with the ground under each foot at `height` [m] after an event in which it
    leaves the ground."""
    grounds = foot_grounds(system)
    symbols = {q.name: q.sym for q in system.z}
    return tuple(_with_grounds(event, grounds, symbols, height) for event in system.events)


def _with_grounds(
    event: Event, grounds: Mapping[str, str], symbols: Mapping[str, ca.SX], height: ca.SX
) -> Event:
    """Return an event that changes the ground under the feet that leave in it."""
    reset = dict(event.reset)
    for stands, ground in grounds.items():
        if stands in reset:
            leaves = ca.logic_and(symbols[stands] > 0, sx(reset[stands]) <= 0)
            reset[ground] = ca.if_else(leaves, height, symbols[ground])
    return event if len(reset) == len(event.reset) else replace(event, reset=reset)


def level_after_leaving(gait: Gait) -> tuple[Gait, tuple[str, ...]]:
    """Return a gait of the same machine on ground that is at another level under each foot that has left it:
    at the parameter `GROUND_LEVEL` [m]; and the heights that are at that level from the beginning on, those
    under feet that begin off the ground."""
    level = Param(GROUND_LEVEL, 0.0, "m", description="of the ground under feet that have left it")
    system = gait.system
    leveled = system.replace(p=(*system.p, level), events=change_after_leaving(system, level.sym))
    swinging = tuple(ground for stands, ground in foot_grounds(system).items() if gait.z0[stands] <= 0)
    return replace(gait, system=leveled), swinging


__all__ = ["GROUND_LEVEL", "change_after_leaving", "foot_grounds", "level_after_leaving"]
