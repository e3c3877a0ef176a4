"""`design`: search for a walker and how it walks at once, and verify what was found.

The stages, each a function: `find_reference` (what to begin from), `attempt` (a step with given phases), in
it `reach_in_stages` (where one search does not lead there), `widen_guides` (where a default would decide the
answer) and `sharpen` (where the simulator drifts away from the plan), and `search_phases` (once
more, with a phase of its own for every part of the swing, where the simulator tells another story). A cost of
work alone that does not soon lead to an optimum is reached by `search_priced`, from least squared torque over
ever less of it beside the work. `turn_back` also tries the described pose, where joints are turned
far from it. Where all fails, `explain_failure` says what must give way.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from strut.checks import checked, integer, positive, seed_number
from strut.errors import UnknownNameError, did_you_mean
from strut.gait import Gait
from strut.interrupts import reveal_interrupts
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import INTERRUPTED, Solution
from strut.optimal.solver.solve import OPTIONS, solve
from strut.optimal.solver.starts import Starts
from strut.optimal.solver.watch import BUDGET, SearchWatch
from strut.optimal.walk.compare_starts import compare_starts
from strut.optimal.walk.continuation import continue_to_goal, continue_to_speed
from strut.optimal.walk.costs import CostChoice, add_weight_parameters, cost_of_transport
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.frozen_branch import freeze_branch
from strut.optimal.walk.goal_field import goal_fields, take_goal
from strut.optimal.walk.guided_search import GuidedSearch
from strut.optimal.walk.own_limits import StepRequirement, read_own_limits
from strut.optimal.walk.priced_search import search_priced
from strut.optimal.walk.read_walk import clears_ground, swing_foot
from strut.optimal.walk.reference import find_reference
from strut.optimal.walk.several_steps import StepSequence, repeat_step
from strut.optimal.walk.sharpen import MAX_DEFECT, sharpen
from strut.optimal.walk.soft_ground import stiffen_ground
from strut.optimal.walk.split_step import split_step
from strut.optimal.walk.stairs import has_stairs
from strut.optimal.walk.step_goal import StepGoal
from strut.optimal.walk.step_limits import StepLimits, adapt_walker, complete_limits
from strut.optimal.walk.step_problem import StepPlan, phase_events, problem_of
from strut.optimal.walk.torque_price import PRICED_WITH, can_be_priced
from strut.optimal.walk.track import stretch_recordings
from strut.optimal.walk.turn_back import turn_back
from strut.optimal.walk.widen_guides import stronger_limits, widen_guides
from strut.system import System, hold_disturbances

FOOT_MARGIN = 0.01
"""Feet push by at least this part of the weight, and keep away from the edge of the friction cone by this
part: between the points of the mesh, too, they then stay on the ground and do not slip. A foot lands at
least at this part of the walking speed: it does not only graze the ground."""

NEAR_GUESS: dict[str, Any] = {"mu_init": 1e-6, "bound_push": 1e-8, "bound_frac": 1e-8}
"""Options of IPOPT for a search that begins from steps which are each an optimum: a small barrier, and limits
that the guess lies on are not left, so that the search stays near."""


@checked
@take_goal(StepGoal, after="cost")
def design(  # noqa: PLR0913 -- options of a public function
    walker: System,
    free: str | Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: CostChoice = "squared-torque",
    *,
    require: Sequence[StepRequirement | tuple[Any, ...]] = (),
    within: Mapping[str, Any] | None = None,
    section: str | None = None,
    phases: Sequence[str] = (),
    guess: Any = None,
    like: Gait | None = None,
    control: str = "cubic",
    intervals: int = 10,
    price_torque: bool = True,
    starts: int = 1,
    spread: float = 0.05,
    seed: int = 0,
    **options: Any,
) -> Design:
    """Find how a walker should walk, and be built.

    free: names of parameters, or names with bounds. cost: see `strut.gait.COST_MEANINGS`; of several, names
        with their weights. Costs of work alone ask for ever larger torques for ever shorter times: a little
        of squared torque beside them keeps the search well. One of your own is an expression, an
        `optimal.Integral` or an `optimal.OwnCost`; `optimal.track(file)` follows recorded angles; in a dict
        they stand under names of their own: {"squared-torque": 1, "sway": optimal.OwnCost(e, weight=2)}.
    require: requirements of your own, each an `optimal.StepRequirement` or a tuple (name, expression, low,
        high, at, phase). within: bounds (low, high) of states and inputs all along, by name.

    What is asked of a step:
    {goal}
    How it is searched for:
    section: the event that ends a step. phases: the events that end its phases, in order, the section last;
        by default those of the gait to begin from. guess: to begin from; else a passive gait is looked for.
        like: a gait with the same phases, where the guess is none; it, too, says what is usual.
    price_torque: whether a little squared torque may be put beside a cost of work alone where no optimum of
        it is found; it is then one of `active_limits`, and `cost` has both.
    starts: of the search. Others than the first, moved by `spread` (relative, a standard deviation) with the
        random numbers of `seed`, run on all cores on the problem and the mesh that the first one ended with,
        for at most 150 iterations; the best that is ok is returned, and `result.agreement_text` says how many
        agree. One unless asked; `strut design` asks for 3.
    control, intervals, and further options (budget, progress, ...): see `Problem.solve`. What inputs
        of so many pieces cost more than any others would is estimated (`cost_error` of the result); give
        cost_accuracy to have intervals split until it is small.

    Ctrl-C returns the best so far, with the status 'interrupted'; where there is nothing yet,
    `KeyboardInterrupt` is raised.
    """
    asked = {name: options.pop(name) for name in goal_fields(StepGoal) if name in options}
    for name in options:
        if name not in DESIGN_OPTIONS:
            raise UnknownNameError(
                f"'{name}' is nothing that a design can be asked: {did_you_mean(name, DESIGN_OPTIONS)}"
            )
    integer("starts", starts, 1)
    seed_number(seed)
    positive("spread", spread)
    goal = StepGoal(**asked)
    own = read_own_limits(walker, require, within)
    watch = SearchWatch(options.pop("budget", BUDGET), options.pop("progress", None))
    ready = hold_disturbances(adapt_walker(add_weight_parameters(walker, cost), goal))
    watch.tell("looking for a gait to begin from")
    task = DesignTask(
        walker=ready,
        free=[free] if isinstance(free, str) else free,
        cost=cost,
        reference=find_reference(ready, section, guess, like, goal, phases=phases),
        settings={
            "control": control,
            "intervals": intervals,
            "accuracy": MAX_DEFECT,
            "cost_accuracy": None,
            **options,
        },
        watch=watch,
        own=own,
        guides=guess.limits.guides if isinstance(guess, Design) else {},
    )
    is_priced = price_torque and can_be_priced(ready, cost)

    def find_step(near: DesignTask) -> Design:
        return search(near, goal, tuple(phases))

    def find(near: DesignTask) -> Design:
        return search_priced(near, find_step) if is_priced else find_step(near)

    first = find(task)
    if guess is None:
        smooth = PRICED_WITH[str(cost)] if is_priced else cost
        first = turn_back(
            first,
            task,
            begin=lambda near: find_step(near.to_begin_from(smooth, near.watch)),
            find=find,
        )
    count = len(first.result.problem.phases)
    begin = task.reference.guess_for(count) if first.steps == 1 else None
    best = compare_starts(first, begin, Starts(starts, spread, seed), task.settings, watch)
    return explain_failure(best, watch)


def explain_failure(best: Design, watch: SearchWatch) -> Design:
    """Return a design; of a search that failed, what must give way is looked for now, as a stage that is
    told, and not when somebody first asks what is wrong."""
    if best.result.success or best.result.is_interrupted:
        return best
    try:
        with reveal_interrupts():
            watch.tell("what must give way")
            _ = best.result.unmet
    except KeyboardInterrupt:
        return replace(best, result=replace(best.result, status=INTERRUPTED))
    return best


def search(task: DesignTask, goal: StepGoal, phases: tuple[str, ...] = ()) -> Design:
    """Return the design of a task for a goal; its phases end with the events given, or with those of the
    reference."""
    limits = replace(complete_limits(goal, task.walker, task.reference), own=task.own)
    limits = limits.with_defaults(**task.guides)
    first = attempt(task, limits, phases) if phases else search_phases(task, limits)
    return first if goal.steps is None or goal.steps == 1 else search_steps(task, first, goal.steps)


def search_steps(task: DesignTask, first: Design, count: int) -> Design:
    """Return the design of a motion that repeats after so many steps, beginning from the design of one."""
    if first.result.is_interrupted:
        return first
    task.watch.tell(f"{count} steps, which may differ")
    sequence = repeat_step(first.result, [1.0] * count)
    near = replace(
        task, settings={**task.settings, "options": {**NEAR_GUESS, **task.settings.get("options", {})}}
    )
    return attempt(near, first.limits, sequence.events, sequence)


def search_phases(task: DesignTask, limits: StepLimits) -> Design:
    """Return the design with as few phases as the reference has; or, where the simulator tells another story
    than such a plan, with a phase for every part of the swing, if that helps."""
    walker, reference = task.walker, task.reference
    gait, section = reference.gait, reference.section
    simple = phase_events(walker, section, gait, limits["clearance"] is not None)
    if reference.stride is not None and reference.stride.events:
        simple = reference.stride.events
    careful = simple
    if not limits.improves and swing_foot(walker, section) is not None:
        careful = phase_events(walker, section, gait, swings=True)
    if has_stairs(walker) and (gait is None or clears_ground(gait)):
        return attempt(task, limits, careful)  # legs that bend: the way of the foot to the next tread
    if isinstance(reference.guess, Guess) and len(reference.guess.phases) == len(careful) != len(simple):
        return attempt(task, limits, careful)  # the guess is of such a plan: begin there
    first = attempt(task, limits, simple)
    if careful == simple or task.is_beginning:
        return first
    if not first.result.ok or first.replay.ok or not task.watch.may_go_on:
        return first
    if limits["clearance"] is None and gait is None:
        limits = limits.with_defaults(clearance=0.0)
    task.watch.tell("with a phase for every part of the swing")
    parts = split_step(first.result, careful)
    near = task if parts is None else replace(task, reference=replace(reference, guess=parts))
    again = attempt(near, limits, careful)
    if again.result.is_interrupted:  # what there was before is whole
        return replace(first, result=replace(first.result, status=INTERRUPTED))
    return again if again.ok else first


def attempt(
    task: DesignTask,
    limits: StepLimits,
    events: tuple[str | None, ...],
    sequence: StepSequence | None = None,
) -> Design:
    """Return the design of a step whose phases end with `events`, good or not; or of the several steps of a
    sequence."""
    reference = task.reference
    branch = None if reference.stride is None else reference.stride.branch_of(len(events))
    branch = None if branch is None else branch.of_system(task.walker)
    if sequence is not None:
        branch = sequence.branch
    elif reference.gait is not None:
        branch = freeze_branch(task.walker, reference.gait, [str(event) for event in events])
    walker = task.walker if branch is None else branch.system
    cost = cost_of_transport(walker, task.cost, events)
    plan = StepPlan(
        events=events,
        gait=reference.gait,
        branch=branch,
        foot_margin=FOOT_MARGIN,
        mirrored=sequence is None or sequence.steps % 2 == 1,
    )

    def problem_within(limits: StepLimits) -> Problem:
        # The speed is required last, by the stage that knows other ways to it.
        problem = problem_of(walker, plan, limits, [name for name in limits.fields if name != "speed"])
        problem = problem.free(**task.free) if isinstance(task.free, Mapping) else problem.free(*task.free)
        return stretch_recordings(problem).minimise(cost.expression)

    def verifiable(limits: StepLimits, solution: Solution) -> Design:
        return Design(limits.improve(solution, watch), cost, reference.passive, limits)

    watch = task.watch
    watch.best = None
    try:
        with reveal_interrupts():
            guess = reference.guess_for(len(events), None if sequence is None else sequence.guess)
            if reference.ground is not None and sequence is None:
                guess = begin_on_soft_ground(limits.require(problem_within(limits), "speed"), guess, task)
            guided = GuidedSearch(task, problem_within, verifiable)
            direct = guided.begin(limits, guess)
            # A default that only guides must not make a step impossible: stages would only lead up to it.
            strongest = [*stronger_limits(limits)][-1:]
            if strongest and task.in_stages and not direct.success and watch.may_go_on:
                watch.tell("with larger torques")
                limits = strongest[0]
                direct = guided.begin(limits, guess)
            first = verifiable(limits, reach_in_stages(problem_within(limits), limits, guess, task, direct))
            watch.best = first.result
            if task.is_beginning:
                return first
            best = widen_guides(first, guided.within_wider, guided.refine, guided.has_time)
            watch.best = best.result
            return sharpen(best, task)
    except KeyboardInterrupt:
        if watch.best is None:
            raise
        return Design(replace(watch.best, status=INTERRUPTED), cost, reference.passive, limits)


def begin_on_soft_ground(problem: Problem, guess: Any, task: DesignTask) -> Any:
    """Return what to begin from on the ground that is wanted: the solution on the stiffest ground that was
    reached in stages; the guess itself where there is none."""
    ground, watch = task.reference.ground, task.watch
    assert ground is not None
    coarse = {**task.settings, "accuracy": None, "cost_accuracy": None}

    def solve_stage(stage: Problem, begin: object, **limits: Any) -> Solution | None:
        return solve(stage, begin, **coarse | limits, watch=watch.aside()) if watch.may_go_on else None

    watch.tell("stiffening the ground", f"from {ground.stiffness_text(ground.softness)}")
    stiffest, softness = stiffen_ground(problem, ground, guess, solve_stage)
    if softness < 1:
        watch.tell("the ground was not stiffened further", f"than {ground.stiffness_text(softness)}")
    return guess if stiffest is None else stiffest


def reach_in_stages(
    problem: Problem, limits: StepLimits, guess: Any, task: DesignTask, direct: Solution
) -> Solution:
    """Return the solution at the speed that is wanted: that of a direct search, if it is ok; else by
    continuation: from the slope and the speed of the reference gait, or from the speed that the guess leads
    to."""
    speed, settings, watch = limits["speed"], task.settings, task.watch
    gait = task.reference.gait
    fast_problem = problem if speed is None else limits.require(problem, "speed")
    if direct.ok or not watch.may_go_on or not task.in_stages or (speed is None and gait is None):
        return direct
    # On a mesh that stays as it is.
    coarse = {**settings, "accuracy": None, "cost_accuracy": None}

    def solve_stage(nearer: Problem, begin: object, **limits: Any) -> Solution | None:
        return solve(nearer, begin, **coarse | limits, watch=watch.aside()) if watch.may_go_on else None

    start = None
    if gait is not None:
        watch.tell("towards slope and speed in stages")
        start = continue_to_goal(problem, gait, speed, solve_stage)
    if start is None and speed is not None:
        watch.tell("towards the speed in stages")
        start = continue_to_speed(problem, guess, speed, solve_stage)
    if start is None:
        return direct
    last = solve(fast_problem, start, watch=watch.aside() if direct.success else watch, **settings)
    return last if last.ok or not direct.success else direct


DESIGN_OPTIONS = sorted(
    {*inspect.signature(design).parameters, *OPTIONS, *[f.name for f in fields(Transcription)]} - {"walker"}
)
"""What `design` takes besides the walker."""

__all__ = ["DesignTask", "design", "search"]
