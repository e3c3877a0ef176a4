"""`require_crossings`: events that end phases come about at a rate of their own, and are not only touched."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.gait import Gait
from strut.optimal.problem import Problem
from strut.optimal.walk.frozen_branch import gait_parameters
from strut.system import System, sx, time

MIN_CROSSING_RATE = 0.05
"""[1] The part of the rate at which a guard crosses zero in the reference gait that a plan has at least."""


def require_crossings(problem: Problem, gait: Gait) -> Problem:
    """Require that the guard of every event that ends a phase within the motion crosses zero at least at
    `MIN_CROSSING_RATE` of the rate that it has in a gait. A knee that comes to rest just where it locks locks
    or not by the last digit (a grazing event), and the time of its lock magnifies any error without bound.
    Events of guards that inputs change at once are left out, and so are those that the gait does not have.
    The landings of feet have a requirement of their own."""
    system, walk = problem.system, problem.system.walk
    feet = [foot.lands for foot in (() if walk is None else walk.feet)]
    for phase in problem.phases:
        name = phase.until
        if name is None or name in feet or name not in gait.trajectory.events.names:
            continue
        rate = guard_rate(system, name)
        if ca.depends_on(rate, system.vector("u")):
            continue
        least = MIN_CROSSING_RATE * rate_in_gait(system, rate, name, gait)
        if least > 0:
            problem = problem.require(
                f"{name} comes at a rate", rate - least, low=0.0, at="end", phase=phase.name
            )
    return problem


def guard_rate(system: System, name: str) -> ca.SX:
    """Return the derivative of an event's guard with respect to time, along the flow."""
    guard, flow = sx(system.event(name).guard), ca.vertcat(*[system.flow[q.name] for q in system.x])
    return ca.jtimes(guard, system.vector("x"), flow) + ca.jtimes(guard, time, ca.SX(1))


def rate_in_gait(system: System, rate: ca.SX, name: str, gait: Gait) -> float:
    """Return what a rate is in a gait just before an event comes for the first time."""
    hit = next(event for event in gait.trajectory.events if event.name == name)
    x, z = (np.array([hit.before[label] for label in system.labels(group)]) for group in "xz")
    f = system.function("rate", [rate])
    return float(f(hit.t, x, z, np.zeros(system.size("u")), gait_parameters(system, gait)))


__all__ = ["require_crossings"]
