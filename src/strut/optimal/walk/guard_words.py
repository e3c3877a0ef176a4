"""What is left before an event, by a name that a reader understands, and in its unit."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.optimal.problem import Phase, Problem
from strut.system import Event, Foot, start, sx

PULL_POINTS = 3
"""Random states at which a guard and a force are compared."""
SAME_FORCE = 1e-9
"""By how much they may differ to be the same, relative to 1 + their size."""


def name_of_rest(problem: Problem, event: Event) -> str:
    """Return what is left before an event comes, minus its guard: what presses a foot to the ground before
    the event that lets it go."""
    walk = problem.system.walk
    for foot in () if walk is None else walk.feet:
        if foot.lifts == event.name:
            return f"what presses '{foot.name}' to the ground"
    return f"what is left before '{event.name}'"


def unit_of_rest(problem: Problem, phase: Phase, event: Event) -> str:
    """Return the unit of what is left before an event that lets a foot go in a phase: of a force [N], or of
    the acceleration that it comes to [m/s^2]; empty of other events, whose guards have any."""
    walk = problem.system.walk
    feet = [foot for foot in (() if walk is None else walk.feet) if foot.lifts == event.name]
    if not feet:
        return ""
    return "N" if is_force(problem, phase, feet[0]) else "m/s^2"


def is_pull(problem: Problem, phase: Phase, foot: Foot) -> bool:
    """Return whether a phase ends where the ground would begin to pull a foot."""
    return phase.until == foot.lifts and is_force(problem, phase, foot)


def is_force(problem: Problem, phase: Phase, foot: Foot) -> bool:
    """Return whether the guard of the event that lets a foot go is its normal force with the other sign, in
    a phase (`contact.rigid`, release='force')."""
    system = problem.system
    if not foot.normal:
        return False
    discrete = [q for q in system.z if q.name in phase.z]
    values = [ca.DM(phase.z[q.name]) for q in discrete]
    both = [sx(system.event(foot.lifts).guard), sx(system[foot.normal])]
    guard, normal = ca.substitute(both, [q.sym for q in discrete], values)
    f = system.function("sum", [guard + normal, normal], clock=False)
    begin, random = start(system), np.random.default_rng(4)
    for _ in range(PULL_POINTS):
        x = begin.x + random.uniform(-0.2, 0.2, len(begin.x))
        off, size = f(x, begin.z, random.uniform(-1, 1, len(begin.u)), begin.p)
        if not abs(float(off)) <= SAME_FORCE * (1 + abs(float(size))):
            return False
    return True


__all__ = ["is_pull", "name_of_rest", "unit_of_rest"]
