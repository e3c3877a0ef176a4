"""Ground under single feet: what changes its height while they are off the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca

from strut.gait.gait import Gait
from strut.system import Event, Foot, Param, System, sx

GROUND_LEVEL = "ground_level"
"""The parameter [m] that `level_after_leaving` adds."""


def feet_on_own_ground(system: System) -> tuple[Foot, ...]:
    """Return the feet of a walker whose walk names the height of the ground under each of them, and whether
    it stands; nothing unless it does for all."""
    feet = system.walk.feet if system.walk is not None else ()
    return feet if all(foot.stands and foot.ground for foot in feet) else ()


def change_after_leaving(system: System, height: ca.SX) -> tuple[Event, ...]:
    """Return a walker's events, with the ground under each foot at `height` [m] after an event in which it
    leaves the ground, with all contacts of its body. Should the ground then be higher, the foot lands on it
    after it was above it."""
    feet, symbols = feet_on_own_ground(system), {q.name: q.sym for q in system.z}
    return tuple(_with_grounds(event, feet, symbols, height) for event in system.events)


def _feet_by_ground(feet: Sequence[Foot]) -> dict[str, list[Foot]]:
    """Return feet by the height of the ground under them, which contacts of one body share."""
    groups: dict[str, list[Foot]] = {}
    for foot in feet:
        groups.setdefault(foot.ground, []).append(foot)
    return groups


def _with_grounds(event: Event, feet: Sequence[Foot], symbols: Mapping[str, ca.SX], height: ca.SX) -> Event:
    """Return an event that changes the ground under what leaves in it: a foot with all its contacts, of which
    one stood before, and none does after."""
    reset = dict(event.reset)
    for ground, contacts in _feet_by_ground(feet).items():
        if not any(foot.stands in event.reset for foot in contacts):
            continue
        before = [symbols[foot.stands] for foot in contacts]
        after = [sx(event.reset.get(foot.stands, symbols[foot.stands])) for foot in contacts]
        leaves = ca.logic_and(reduce(ca.fmax, before) > 0, reduce(ca.fmax, after) <= 0)
        reset[ground] = ca.if_else(leaves, height, symbols[ground])
        rises = ca.logic_and(leaves, height > symbols[ground])
        for foot in contacts:
            if foot.armed:
                reset[foot.armed] = ca.if_else(rises, 0, sx(reset.get(foot.armed, symbols[foot.armed])))
    return replace(event, reset=reset) if reset.keys() != event.reset.keys() else event


def level_after_leaving(gait: Gait) -> tuple[Gait, tuple[Foot, ...]]:
    """Return a gait of the same machine on ground that is at another level under each foot that has left it:
    at the parameter `GROUND_LEVEL` [m]; and the feet that begin off the ground, under which it is to be at
    that level from the beginning on."""
    level = Param(GROUND_LEVEL, 0.0, "m", description="of the ground under feet that have left it")
    system = gait.system
    leveled = system.replace(p=(*system.p, level), events=change_after_leaving(system, level.sym))
    groups = _feet_by_ground(feet_on_own_ground(system)).values()
    off_ground = [own for own in groups if all(gait.z0[foot.stands] <= 0 for foot in own)]
    swinging = tuple(foot for own in off_ground for foot in own)
    return replace(gait, system=leveled), swinging


__all__ = ["GROUND_LEVEL", "change_after_leaving", "feet_on_own_ground", "level_after_leaving"]
