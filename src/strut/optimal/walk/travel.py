"""How many steps a motion has, and how far it comes: of one step, and of several that follow one another."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.errors import ModelError
from strut.gait.section import section_of
from strut.gait.transport import distance, footholds, forward_states, ground_stretch, signed_distance
from strut.optimal.problem import Problem
from strut.system import System, start

Ends = Sequence[str | None]
"""The events that end the phases of a motion, in order; None where a phase ends by time."""


def phase_ends(problem: Problem) -> tuple[str | None, ...]:
    """Return the events that end the phases of a problem."""
    return tuple(phase.until for phase in problem.phases)


def last_section(ends: Ends) -> str:
    """Return the event that ends the last step of a motion: the last event at all."""
    section = next((event for event in reversed(ends) if event is not None), None)
    if section is None:
        raise ModelError("no event ends a phase of this motion: it has no step; say until=... of one")
    return section


def landings_in_turn(system: System, section: str) -> tuple[str, ...]:
    """Return the events that end a step: the section, and the landing of the opposite foot where the walk
    names one."""
    walk = system.walk
    foot = None if walk is None else walk.foot_of(section)
    others = [] if walk is None or foot is None else [f for f in walk.feet if f.name == foot.opposite]
    return (section, *[f.lands for f in others if f.lands])


def count_steps(system: System, ends: Ends) -> int:
    """Return how many steps a motion has."""
    landings = landings_in_turn(system, last_section(ends))
    return sum(event in landings for event in ends)


def distance_travelled(system: System, ends: Ends) -> ca.SX:
    """How far a motion comes along the ground [m], all its steps together, as an expression of the state at
    its end, before the event that ends it, if one does."""
    section = last_section(ends)
    if ends[-1] is not None and count_steps(system, ends) <= 1:
        return distance(system, section)
    shape, begin = section_of(system, section), start(system)
    forward = forward_states(system, shape)
    feet = [] if forward else footholds(system, section)
    if not forward and not feet:
        raise ModelError(
            f"how far '{system.name}' comes in several steps is unknown: say in its walk which states say "
            f"where it is, walk=Walk(progress=(...,), ...)"
        )
    places = system.vector("x")[forward] if forward else system.vector("z")[feet]
    reached = places if ends[-1] is None else system.after(ends[-1], places)
    moved = reached - (begin.x[forward] if forward else begin.z[feet])
    moved = moved * ground_stretch(system, shape, forward) if forward else moved
    return signed_distance(moved)


__all__ = ["count_steps", "distance_travelled", "landings_in_turn", "last_section", "phase_ends"]
