"""Requirements on the feet of a step: forces while a foot stands, and how the other one swings."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.problem import Problem
from strut.optimal.walk.read_walk import required_swing_foot
from strut.optimal.walk.travel import distance_travelled, last_section, phase_ends
from strut.system import sx, time

EVENT_MARGIN = 1e-3
"""By how much a guard must stay away from zero in the middle of a phase in which its event must not come, in
the unit of the guard."""

LANDING = "the foot comes down"
"""The name of the requirement that a foot does not only graze the ground."""


def require_force(
    problem: Problem, name: str, force: ca.SX, least: ca.SX | None = None, per_limit: ca.SX | None = None
) -> Problem:
    """Require that a force [N] is at least `least` (by default 0), in the phases in which there is one: a
    foot that swings has none. per_limit: its derivative by a limit that stands in it, if one does."""
    for phase in problem.phases:
        discrete = [q for q in problem.system.z if q.name in phase.z]
        values = [ca.DM(phase.z[q.name]) for q in discrete]
        in_phase = ca.substitute([force], [q.sym for q in discrete], values)[0]
        if not in_phase.is_zero():
            excess = force if least is None else force - least
            problem = problem.require(name, excess, low=0.0, phase=phase.name, unit="N", per_limit=per_limit)
    return problem


def require_above_ground(problem: Problem, section: str, clearance: float | None) -> Problem:
    """Require that a swing foot that lands wherever it touches the ground stays above it until it lands, by
    `clearance` [m] in mid-phase, less towards its ends."""
    walk = problem.system.walk
    foot = None if walk is None else walk.foot_of(section)
    if foot is None or not foot.gap:
        return problem
    for phase in problem.phases:
        if phase.until == foot.lands and not np.any(phase.z.get(foot.stands, 0.0)):
            problem = problem.require(
                "the swing foot is above the ground",
                foot.gap,
                low=0.0,
                phase=phase.name,
                margin=max(clearance or 0.0, EVENT_MARGIN),
                unit="m",
            )
    return problem


def require_hold(problem: Problem, section: str, margin: float) -> Problem:
    """Require that the foot that stands while the other swings is not let go before that one lands: no event
    that would set it free comes. A foot that pushes may be let go all the same, where it would rise without
    the ground (Duindam's rule of `contact.rigid`).

    margin: by how much guards stay negative, in their unit.
    """
    system = problem.system
    walk = system.walk
    swing = None if walk is None else walk.foot_of(section)
    if walk is None or swing is None:
        return problem
    landings = {foot.lands for foot in walk.feet}
    for foot in (f for f in walk.feet if f.name == swing.opposite and f.stands):
        leaving = [e for e in system.events if foot.stands in e.reset and e.name not in landings]
        for phase in problem.phases:
            if not np.any(phase.z.get(foot.stands, 0.0)):
                continue
            discrete = [q for q in system.z if q.name in phase.z]
            values = [ca.DM(phase.z[q.name]) for q in discrete]
            for event in leaving:
                guard = ca.substitute([sx(event.guard)], [q.sym for q in discrete], values)[0]
                if ca.depends_on(guard, system.vector("u")):
                    problem = problem.require(f"no {event.name}", guard, high=-margin, phase=phase.name)
    return problem


def require_swing(problem: Problem, clearance: float | None) -> Problem:
    """Require that the swing foot passes the other once, and is above the ground from where it comes out of
    it.

    clearance: its height [m] where it passes; it is then above the ground from the beginning. None: not
        asked.
    """
    section = last_section(phase_ends(problem))
    foot = required_swing_foot(problem.system, section)
    passes, height = foot.passes, foot.gap
    ahead = sx(problem.system.event(passes).guard)
    always_above = clearance is not None or all(phase.until != foot.clears for phase in problem.phases)
    passed, above = False, always_above
    for phase in problem.phases:
        in_phase: dict[str, Any] = {"phase": phase.name, "margin": EVENT_MARGIN}
        if clearance is not None or (passed and above):
            problem = problem.require(
                "the swing foot is above the ground", height, low=0.0, unit="m", **in_phase
            )
        if passed:
            problem = problem.require("the swing foot stays in front", ahead, low=0.0, **in_phase)
        elif phase.until == passes:
            passed = True
            problem = problem.require(
                "the swing foot stays behind until it passes", ahead, high=0.0, **in_phase
            )
            if clearance is not None:
                problem = problem.require(
                    "clearance", height, low=clearance, at="end", phase=phase.name, unit="m"
                )
        above = above or phase.until == foot.clears
        if phase.until == section:
            # The next step begins: the other foot swings.
            passed, above = False, always_above
        elif phase.until is not None and phase.until != passes:
            guard = sx(problem.system.event(phase.until).guard)
            problem = problem.require(f"{phase.until} comes once", guard, high=0.0, **in_phase)
    return problem


def require_landings(problem: Problem, margin: float) -> Problem:
    """Require that a foot that lands comes down, at least at this part of the walking speed so far. A foot
    that only grazes the ground lands or not by the last digit, and its landing magnifies any error without
    bound."""
    system, walk, ends = problem.system, problem.system.walk, phase_ends(problem)
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
    for k, phase in enumerate(problem.phases):
        foot = None if walk is None or phase.until is None else walk.foot_of(phase.until)
        if foot is None or not foot.gap or not margin > 0:
            continue
        height = sx(system[foot.gap])
        sinks = -ca.jtimes(height, system.vector("x"), flow) - ca.jtimes(height, time, ca.SX(1))
        pace = distance_travelled(system, ends[: k + 1]) / time
        problem = problem.require(LANDING, sinks - margin * pace, low=0.0, at="end", phase=phase.name)
    return problem


__all__ = ["require_above_ground", "require_force", "require_hold", "require_landings", "require_swing"]
