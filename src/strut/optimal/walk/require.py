"""Requirements on the feet of a step: forces while a foot stands, and how the other one swings."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from strut.gait.transport import weight_of
from strut.optimal.problem import Phase, Problem
from strut.optimal.totals import Integral
from strut.optimal.walk.guard_words import name_of_rest, unit_of_rest
from strut.optimal.walk.read_walk import gravity_of, required_swing_foot
from strut.optimal.walk.travel import distance_travelled, last_section, phase_ends
from strut.system import Event, Foot, sx, time

EVENT_MARGIN = 1e-3
"""By how much a guard must stay away from zero in the middle of a phase in which its event must not come, in
the unit of the guard."""

FLIGHT_HEIGHT = 5e-3
"""Height of a foot that was let go in the middle of its flight [m], at least, where no clearance is asked:
one that skims the ground lands at once in a simulator."""
MIN_STANCE_TIME = 0.05
"""The least time on the ground between two flights [s]: a leg that strikes the ground is no run."""

LANDING_SHARES, MIN_PHASE_SHARE = (0.02, 0.25), 0.1
"""[1] Parts of a step: until the rest of a foot has landed, as a toe after its heel, at least and at most;
and that every other phase of contact lasts at least."""

LANDING = "the foot comes down"
"""The name of the requirement that a foot does not only graze the ground."""


def require_force(
    problem: Problem,
    name: str,
    force: ca.SX,
    least: ca.SX | None = None,
    *,
    at_liftoff: ca.SX | None = None,
    without: Collection[str] = (),
    per_limit: ca.SX | None = None,
) -> Problem:
    """Require that a force [N] is at least `least` (by default 0), in the phases in which there is one: a
    foot that swings has none. at_liftoff: what it is at least in a phase that ends with a foot let go, by
    default 0: it pushes ever less. without: phases in which it is not required. per_limit: its derivative by
    a limit that stands in it, if one does."""
    walk = problem.system.walk
    lifts = {foot.lifts for foot in (() if walk is None else walk.feet) if foot.lifts}
    for phase in (p for p in problem.phases if p.name not in without):
        discrete = [q for q in problem.system.z if q.name in phase.z]
        values = [ca.DM(phase.z[q.name]) for q in discrete]
        in_phase = ca.substitute([force], [q.sym for q in discrete], values)[0]
        if not in_phase.is_zero():
            bound = at_liftoff if phase.until in lifts else least
            excess = force if bound is None else force - bound
            problem = problem.require(name, excess, low=0.0, phase=phase.name, unit="N", per_limit=per_limit)
    return problem


def flight_phases(problem: Problem) -> list[str]:
    """Return the names of the phases in which no foot is on the ground, of feet whose walk says so."""
    walk = problem.system.walk
    flags = [foot.stands for foot in (() if walk is None else walk.feet) if foot.stands]
    if not flags or problem.branch is None:
        return []
    return [p.name for p in problem.phases if not any(np.any(p.z.get(flag, 1.0)) for flag in flags)]


def require_run(problem: Problem, clearance: float | None, margin: float) -> Problem:
    """Require of a motion with flights what `require_contact` does, and that a stance lasts a while."""
    problem = require_contact(problem, clearance, margin)
    stances = [p for p in problem.phases if p.name not in flight_phases(problem)]
    for phase in stances:
        lasts = time_in_phase(phase.name).sym
        problem = problem.require("time on the ground", lasts, low=MIN_STANCE_TIME, at="end", unit="s")
    return problem


def require_contact(problem: Problem, clearance: float | None, margin: float) -> Problem:
    """Require that feet in the air stay above the ground, by `clearance` [m] in the middle of a phase, and
    that one on the ground is let go only where its phase ends with that.

    margin: by how much guards that would let a foot go stay negative, in their unit [m/s^2]; forces are
        divided by the mass.
    """
    system, before = problem.system, problem.phases[-1]
    assert system.walk is not None
    landings = {foot.lands for foot in system.walk.feet}
    for phase in problem.phases:
        for foot in (f for f in system.walk.feet if f.stands and f.gap):
            if not np.any(phase.z.get(foot.stands, 0.0)):
                # One that was let go rises from zero without speed: there the limit would be met twice.
                low, above = 0.0, max(clearance or 0.0, EVENT_MARGIN)
                if before.until == foot.lifts and not before.by_inputs:
                    low, above = -EVENT_MARGIN, max(above, FLIGHT_HEIGHT)
                name = f"{foot.name} is above the ground"
                problem = problem.require(name, foot.gap, low=low, phase=phase.name, margin=above, unit="m")
                if _stood_before(problem, phase, foot):
                    # A landing has let it go, from where it stood, perhaps without speed: a limit that
                    # grows with time would ask for speed at once, and for torques without bound.
                    lifts = replace(problem.requirements[-1], begins_at_zero=True, begins_at_rest=True)
                    problem = replace(problem, requirements=(*problem.requirements[:-1], lifts))
                continue
            leaving = [
                _event_in(problem, phase, e)
                for e in system.events
                if foot.stands in e.reset and e.name not in landings
            ]
            for event, guard in _guards_in(problem, phase, leaving):
                # Where another point of its body stands, a point would part just where it would pull.
                shares = event.name == foot.lifts and bool(_standing_beside(problem, phase, foot))
                name, unit = name_of_rest(problem, event), unit_of_rest(problem, phase, event)
                if event.name != phase.until or phase.by_inputs:
                    if not shares:
                        problem = problem.require(
                            name, -guard, low=margin, phase=phase.name, safety=margin, unit=unit
                        )
                    if event.name == phase.until:  # the inputs of the next phase let it go
                        later = phase_after(problem, phase).name
                        problem = problem.require(
                            f"what lifts '{foot.name}' off the ground",
                            guard,
                            low=margin,
                            at="begin",
                            phase=later,
                            unit=unit,
                        )
                    continue
                per_mass = gravity_of(system) / weight_of(system)  # as an acceleration, as other guards are
                # At the end, where it comes, its own equation has it zero, and no bound stands there; a force
                # that only vanishes with it would meet a limit of zero twice.
                edge = margin if shares else 0.0
                if shares:
                    guard = -sx(system[foot.normal]) * per_mass
                elif unit == "N":
                    guard = guard * per_mass
                by: dict[str, Any] = {"phase": phase.name, "unit": "m/s^2" if unit else ""}
                name = f"{name} until it lifts"
                problem = problem.require(name, -guard, low=-edge, margin=2 * margin, **by)
                problem = problem.require(name, -guard, low=margin, at="begin", **by)
        before = phase
    return problem


def phase_after(problem: Problem, phase: Phase) -> Phase:
    """Return the phase after another one; after the last, the first."""
    return problem.phases[(problem.phases.index(phase) + 1) % len(problem.phases)]


def _event_in(problem: Problem, phase: Phase, event: Event) -> Event:
    """Return an event as it is in a phase: on the branch of the plan in the one that it ends; in any other,
    where other feet stand than in that one, as the walker itself has it."""
    if problem.branch is None or event.name == phase.until:
        return event
    return problem.branch.actual.event(event.name)


def _stood_before(problem: Problem, phase: Phase, foot: Foot) -> bool:
    """Return whether a foot stood in the phase before this one; at the beginning of a motion that repeats
    with left and right exchanged, whether the opposite foot stands in its last phase."""
    at = problem.phases.index(phase)
    flag = foot.stands
    if at == 0 and problem.repeats is None:
        return False
    if at == 0 and problem.repeats and problem.system.walk is not None:
        opposite = [f.stands for f in problem.system.walk.feet if f.name == foot.opposite]
        flag = opposite[0] if opposite else flag
    return bool(np.any(problem.phases[at - 1].z.get(flag, 0.0)))


def _standing_beside(problem: Problem, phase: Phase, foot: Foot) -> list[Foot]:
    """Return the other points of the body of a foot that stand in a phase."""
    feet = () if problem.system.walk is None else problem.system.walk.feet
    return [
        f
        for f in feet
        if f.body and f.body == foot.body and f is not foot and np.any(phase.z.get(f.stands, 0.0))
    ]


def require_phase_times(problem: Problem) -> Problem:
    """Require that contact phases do not shrink to nothing, as they would where the least torque is asked of
    a foot that is cheapest on its heel: a landing within a step comes in its first part, and every phase that
    begins with one, or follows, lasts a while."""
    walk = problem.system.walk
    for phase in problem.phases:
        lands = walk is not None and phase.until is not None and walk.foot_of(phase.until) is not None
        low, high = (MIN_PHASE_SHARE, math.inf)
        if lands and phase is not problem.phases[-1]:
            low, high = LANDING_SHARES
        share, name = (
            time_in_phase(phase.name).sym / time,
            f"the phase until {phase.until}, as a part of the step,",
        )
        problem = problem.require(name, share, low=low, high=high, at="end")
    return problem


@cache
def time_in_phase(phase: str) -> Integral:
    """Return the duration of a phase [s] as a number of the motion; one symbol for each name."""
    return Integral("time_" + "".join(c if c.isalnum() else "_" for c in phase), 1.0, phase=phase)


def _guards_in(problem: Problem, phase: Phase, events: list[Event]) -> list[tuple[Event, ca.SX]]:
    """Return those of the events whose guards motors change, with the guards as they are in a phase."""
    discrete = [q for q in problem.system.z if q.name in phase.z]
    values = [ca.DM(phase.z[q.name]) for q in discrete]
    guards = [(e, ca.substitute([sx(e.guard)], [q.sym for q in discrete], values)[0]) for e in events]
    return [(e, guard) for e, guard in guards if ca.depends_on(guard, problem.system.vector("u"))]


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
            for event, guard in _guards_in(problem, phase, leaving):
                problem = problem.require(
                    name_of_rest(problem, event),
                    -guard,
                    low=margin,
                    phase=phase.name,
                    safety=margin,
                    unit=unit_of_rest(problem, phase, event),
                )
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
    passed, above, begins = False, always_above, True
    for phase in problem.phases:
        in_phase: dict[str, Any] = {"phase": phase.name, "margin": EVENT_MARGIN}
        if clearance is not None or (passed and above):
            problem = problem.require(
                "the swing foot is above the ground", height, low=0.0, unit="m", **in_phase
            )
            if begins and problem.repeats is not None:  # where it stood before the other landed
                lifts = replace(problem.requirements[-1], begins_at_zero=True)
                problem = replace(problem, requirements=(*problem.requirements[:-1], lifts))
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
        begins = phase.until == section
        above = above or phase.until == foot.clears
        if phase.until == section:
            # The next step begins: the other foot swings.
            passed, above = False, always_above
        elif phase.until is not None and phase.until != passes:
            guard = sx(problem.system.event(phase.until).guard)
            event = problem.system.event(phase.until)
            problem = problem.require(name_of_rest(problem, event), -guard, low=0.0, **in_phase)
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
        problem = problem.require(
            LANDING, sinks - margin * pace, low=0.0, at="end", phase=phase.name, unit="m/s"
        )
    return problem


__all__ = [
    "flight_phases",
    "require_above_ground",
    "require_contact",
    "require_force",
    "require_hold",
    "require_landings",
    "require_phase_times",
    "require_run",
    "require_swing",
    "time_in_phase",
]
