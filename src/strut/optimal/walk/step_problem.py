"""`step_problem`: one step of a walker as an optimal control problem.

Phases end as those of a gait did, feet push and do not slip, the swing foot clears the ground, nothing
happens that would end a run, and the limits of a `StepGoal` are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait import Gait
from strut.gait.transport import weight
from strut.optimal.problem import Problem
from strut.optimal.walk.contact_phases import has_soles, standing_feet
from strut.optimal.walk.contact_sequence import require_sequence
from strut.optimal.walk.frozen_branch import FrozenBranch, freeze_event, gait_parameters
from strut.optimal.walk.goal_field import as_number, goal_fields, take_goal
from strut.optimal.walk.guard_words import is_pull, name_of_rest
from strut.optimal.walk.hold_feet import landing_cones
from strut.optimal.walk.read_walk import (
    feet_with_forces,
    gives_way,
    gravity_of,
    landing_foot,
    required_swing_foot,
    sample_times,
    stands_in_turn,
    swing_foot,
)
from strut.optimal.walk.require import (
    flight_phases,
    phase_after,
    require_above_ground,
    require_contact,
    require_force,
    require_hold,
    require_landings,
    require_phase_times,
    require_run,
    require_swing,
)
from strut.optimal.walk.require_crossings import require_crossings
from strut.optimal.walk.step_goal import StepGoal
from strut.optimal.walk.step_limits import StepLimits, adapt_walker
from strut.optimal.walk.travel import landings_in_turn, last_section
from strut.system import Event, System, sx

SAME_VALUES = 1e-9
"""Guards and forces along a gait that differ by no more, relative to 1 + their largest value, are the
same."""
BRANCH_MARGIN = 1e-5
"""By how much sides of a comparison in a reset stay apart, in their own unit (m/s of a foot that would lift):
a plan goes to the edge of its branch, where rounding would decide in a replay which one is taken. Plans and
replays agree to 1e-6 there, with joints that turn at some ten rad/s."""
OF_A_PROBLEM = [name for name, each in goal_fields(StepGoal).items() if each.on_problem is not None]
"""Fields of a `StepGoal` that a problem can require; the others change the walker or need a solution."""


@dataclass(frozen=True, eq=False)
class StepPlan:
    """How a step goes, before anything is asked of it.

    events: those that end its phases, the section last. gait: one with the same phases; what ends a run, and
    stays away in it, is kept away. branch: the branch that its resets take. foot_margin: the part of the
    weight by which feet push at least, the part of the friction cone that is kept free, and the part of the
    walking speed at which a foot lands at least. periodic: whether the motion repeats. mirrored: whether left
    and right are exchanged when it does, where the walker has a symmetry.
    """

    events: tuple[str | None, ...]
    gait: Gait | None = None
    branch: FrozenBranch | None = None
    foot_margin: float = 0.0
    periodic: bool = True
    mirrored: bool = True


@checked
@take_goal(StepGoal, after="events", names=OF_A_PROBLEM)
def step_problem(
    walker: System,
    events: Sequence[str],
    *,
    foot_margin: float = 0.0,
    like: Gait | None = None,
    branch: FrozenBranch | None = None,
    periodic: bool = True,
    **goal: Any,
) -> Problem:
    """Return the problem of one step of a walker that repeats; nothing is minimised yet.

    Its phases are ended by `events`; feet push and do not pull, the old foot lifts, limits are kept. Or, not
    `periodic`, any number of steps: from standing, to a stop, over something; `speed`, `duration` and
    `step_length` are then means.

    {goal}
    foot_margin: by which part of the weight feet push at least, by which part of the friction cone they stay
        away from its edge, and at which part of the walking speed the last of them comes down at least.
    like: a gait; what would end a run, and did not in it, does not. branch: the branch that its events take.
    Nothing has a default but duration (0.05 s to 10 s) and step_length (at least 1 mm).
    """
    for name in goal:
        if name not in OF_A_PROBLEM:
            raise UnknownNameError(
                f"'{name}' is nothing that a step problem can require: {did_you_mean(name, OF_A_PROBLEM)}"
            )
    step_goal = StepGoal(**goal)
    plan = StepPlan(
        events=tuple(events), gait=like, branch=branch, foot_margin=foot_margin, periodic=periodic
    )
    return problem_of(adapt_walker(walker, step_goal), plan, StepLimits(step_goal), OF_A_PROBLEM)


def problem_of(walker: System, plan: StepPlan, limits: StepLimits, required: Sequence[str]) -> Problem:
    """Return the problem of a step that goes as planned and keeps the limits named in `required`."""
    if not plan.events:
        raise ModelError(
            f"no event ends a step of '{walker.name}': give events=['...'], of "
            f"{', '.join(e.name for e in walker.events)}"
        )
    section = last_section(plan.events)
    problem = add_phases(Problem(walker), plan)
    problem = problem.periodic(None if plan.mirrored else False) if plan.periodic else problem
    # What any step must do, whatever is asked of it.
    least = plan.foot_margin * weight(walker) if plan.foot_margin else ca.SX(0)
    soft, soles = gives_way(walker, section), plan.branch is not None and has_soles(walker)
    for foot in () if soft else feet_with_forces(walker):
        without = [
            p.name
            for p in problem.phases
            if not p.by_inputs and (is_pull(problem, p, foot) or (soles and p.until == foot.lifts))
        ]
        problem = require_force(problem, f"{foot.name} pushes", walker[foot.normal], least, without=without)
    swings = swing_foot(walker, section)
    clearance = limits["clearance"]
    height = None if clearance is None else as_number(clearance)
    if flight_phases(problem):
        problem = require_run(problem, height, plan.foot_margin * gravity_of(walker))
    elif soles:
        problem = require_contact(problem, height, plan.foot_margin * gravity_of(walker))
        problem = require_phase_times(problem)
    elif swings is not None and swings.passes in plan.events and clearance is None:
        problem = require_swing(problem, None)
    elif soft and plan.branch is not None:
        problem = require_sequence(problem, height or 0.0)
    elif stands_in_turn(walker, section) and clearance is None:
        for landing in landings_in_turn(walker, section):
            problem = require_above_ground(problem, landing, height)
    for landing in () if soles or flight_phases(problem) else landings_in_turn(walker, section):
        problem = require_hold(problem, landing, plan.foot_margin * gravity_of(walker))
    problem = require_liftoff(problem, section)
    problem = require_landings(problem, plan.foot_margin)
    if plan.gait is not None:
        problem = keep_terminal_events_away(problem, plan.gait)
        problem = require_crossings(problem, plan.gait) if plan.foot_margin else problem
    # What was asked, or is a default.
    for name in required:
        problem = limits.require(problem, name, plan.foot_margin)
    return limits.own.on_problem(problem)


def add_phases(problem: Problem, plan: StepPlan) -> Problem:
    """Return the problem with one phase for each event, on the branch of the plan if it has one. A point of a
    sole is let go by inputs that jump: a force that vanishes at one instant costs nothing before, and a plan
    would let it vanish ever faster."""
    walker = problem.system
    soles = plan.branch is not None and has_soles(walker) and not gives_way(walker, last_section(plan.events))
    let_go = {foot.lifts for foot in standing_feet(walker)} if soles else set()
    for k, event in enumerate(plan.events):
        name = "standing" if event is None else "step" if len(plan.events) == 1 else f"until {event}"
        name = name if event not in plan.events[:k] else f"{event} {k}"
        discrete = None if plan.branch is None else plan.branch.discrete[k]
        problem = problem.phase(name, until=event, z=discrete, by_inputs=event in let_go)
    return problem if plan.branch is None else require_branch(problem, plan.branch)


def require_branch(problem: Problem, branch: FrozenBranch) -> Problem:
    """Return the problem on a frozen branch, with a requirement for every condition under which its resets do
    what they did."""
    problem = replace(problem, branch=branch)
    for phase in problem.phases:
        conditions = branch.conditions.get(phase.until or "", ())
        # The last of them, where friction has a limit, are those of the impulse.
        first_cone = len(conditions) - len(landing_cones(branch.actual, phase.until or ""))
        for k, condition in enumerate(conditions):
            name, least = f"what keeps the impact of '{phase.until}' of its kind ({k + 1})", BRANCH_MARGIN
            if k >= first_cone:  # which has a margin of its own
                least = 0.0
                name = f"what keeps the impact of '{phase.until}' from slipping ({k - first_cone + 1})"
            at, where = ("begin", phase_after(problem, phase)) if phase.by_inputs else ("end", phase)
            problem = problem.require(name, condition, low=least, at=at, phase=where.name)
    return problem


def require_liftoff(problem: Problem, section: str) -> Problem:
    """Require that a foot whose walk says how fast it lifts does lift when the other lands."""
    walk, reset = problem.system.walk, problem.system.event(section).reset
    leaving = [foot for foot in (() if walk is None else walk.feet) if foot.leaves in reset]
    for phase in problem.phases:
        for foot in leaving if phase.until == section else ():
            problem = problem.require(
                f"{foot.name} lifts", foot.leaves, low=0.0, at="after", phase=phase.name, unit="m/s"
            )
    return problem


def keep_terminal_events_away(problem: Problem, gait: Gait) -> Problem:
    """Add the path constraint guard <= 0 for every terminal event that a gait stays clear of."""
    walker, run, t = problem.system, gait.trajectory, sample_times(gait)
    moments, still = run.at(t), [np.zeros(walker.size("u")), gait_parameters(walker, gait)]
    x, z = (np.array([moments[label] for label in walker.labels(g)]).reshape(-1, len(t)) for g in "xz")

    def along(expression: ca.SX) -> np.ndarray:
        f = walker.function("along", [expression])
        return np.array(
            f(t[None], x, z, *[np.repeat(part[:, None], len(t), axis=1) for part in still])
        ).ravel()

    # A guard that is a foot's pull, or equals one before it, is required already.
    required = [along(-walker[foot.normal]) for foot in feet_with_forces(walker)]
    for event in (e for e in walker.events if e.terminal):
        values = along(sx(event.guard))
        if values.max() > 0 or any(
            np.abs(values - other).max() <= SAME_VALUES * (1 + np.abs(other).max()) for other in required
        ):
            continue
        nearest = int(values.argmax())
        point = (t[nearest], x[:, nearest], z[:, nearest], *still)
        smooth = sx(freeze_event(walker, event, point)[0].guard)
        if ca.depends_on(smooth, walker.vector("x")) and not _changing_flags(walker, event, smooth):
            required.append(values)
            problem = problem.require(name_of_rest(problem, event), -smooth, low=0.0)
    return problem


def _changing_flags(walker: System, event: Event, smooth: ca.SX) -> list[str]:
    """Return the discrete states on which a guard depends but not its smooth part: they change within a
    phase."""
    guard = sx(event.guard)
    return [q.name for q in walker.z if ca.depends_on(guard, q.sym) and not ca.depends_on(smooth, q.sym)]


def phase_events(walker: System, section: str, gait: Gait | None, swings: bool = False) -> tuple[str, ...]:
    """Return the events that end the phases of a step, in order.

    They are those of a gait that set states, or discrete states that the flow depends on; and, where
    something is asked of its swing, those in which the foot passes the other and comes out of the ground.
    """
    flow = ca.vertcat(*walker.flow.values())
    matters = {q.name for q in walker.x} | {q.name for q in walker.z if ca.depends_on(flow, q.sym)}
    names = [] if gait is None else list(gait.trajectory.events.names)
    needs_phases = swings and landing_foot(walker, section) is None
    foot = required_swing_foot(walker, section) if needs_phases else None
    of_swing = () if foot is None else (foot.passes, foot.clears)
    events = [e for e in names if e in of_swing or matters & set(walker.event(e).reset)]
    return tuple(events) if events and events[-1] == section else (*of_swing[:1], section)


__all__ = ["StepPlan", "phase_events", "problem_of", "step_problem"]
