"""`start` and `stop`: from standing into a gait in a few steps, and from a gait to standing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strut.checks import checked, integer, number_array, positive, seed_number
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait import Gait
from strut.gait.exchange import mirrored_states
from strut.gait.section import section_of
from strut.interrupts import reveal_interrupts
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import INTERRUPTED, Solution
from strut.optimal.solver.solve import solve
from strut.optimal.solver.starts import Starts
from strut.optimal.solver.watch import BUDGET, SearchWatch
from strut.optimal.walk.compare_starts import compare_starts
from strut.optimal.walk.costs import CostChoice, add_weight_parameters, cost_of_transport
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_search import DESIGN_OPTIONS, FOOT_MARGIN, design
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.end_state import IN_GAIT
from strut.optimal.walk.goal_field import goal_fields, take_goal
from strut.optimal.walk.own_limits import StepRequirement, read_own_limits
from strut.optimal.walk.read_walk import gives_way, swing_foot
from strut.optimal.walk.reference import ReferenceStep
from strut.optimal.walk.several_steps import StepSequence, repeat_step
from strut.optimal.walk.sharpen import MAX_DEFECT, sharpen
from strut.optimal.walk.standing import SystemPoint, gait_states, require_standing
from strut.optimal.walk.step_goal import StepGoal
from strut.optimal.walk.step_limits import StepLimits
from strut.optimal.walk.step_problem import StepPlan, problem_of
from strut.optimal.walk.widen_guides import stronger_limits
from strut.system import System, parameters, position_places

FIRST_PACE = 0.5
"""[1] How fast the first step of a start is in the guess, and the last of a stop, over that of the gait."""
DURATION_FACTORS = (0.25, 2.0)
"""[1] By default the mean duration of a step, over that of the gait: standing costs little, and a start that
may take any time begins with waiting."""
ASKED = ("speed", "step_length", "duration", "torque", "friction", "clearance")
"""What of a `StepGoal` can be asked of such motions: means over their steps."""

POSTURE_ROOM = 0.5
"""[rad, m] By how much coordinates of a machine that stands may be outside of those of its gait."""
STEP_INTERVALS, PHASE_INTERVALS = 20, 10
"""Intervals of a phase to begin with, where a step has one phase, and where it has several."""
OF_A_GAIT = ("free", "section", "phases", "guess", "like", "price_torque")
"""What is asked of the search for a gait alone."""
OPTIONS = [n for n in DESIGN_OPTIONS if n not in OF_A_GAIT and (n in ASKED or n not in goal_fields(StepGoal))]
"""What `start` and `stop` take besides the gait."""


@dataclass(frozen=True, eq=False)
class TransitionTask:
    """A motion between standing and a gait.

    kind: 'start' or 'stop'. walk: the gait. steps: how many. posture: where it stands, by name; empty where
    that is to be found. limits: what is asked of the motion.
    """

    kind: str
    walk: Design
    steps: int
    posture: Mapping[str, float]
    limits: StepLimits

    @property
    def result(self) -> Solution:
        """The step of the gait."""
        return self.walk.result

    def sequence(self, walker: System) -> StepSequence:
        """Return the gait as the steps of this motion, to begin from: slower where it stands. The last phase
        of a stop ends by time."""
        count = self.steps + (self.kind == "stop")
        paces = np.ones(count)
        if self.kind == "start":
            paces = np.linspace(FIRST_PACE, 1.0, count + 1)[:-1] if count > 1 else np.array([FIRST_PACE])
        else:
            paces[-1] = FIRST_PACE
        step = split_at_swing(self.walk)
        sequence = repeat_step(self.result, paces.tolist(), walker=walker, cuts=step)
        if self.kind == "start":
            return sequence
        phases = len(sequence.events) // count * self.steps + 1
        branch = sequence.branch
        return replace(
            sequence,
            steps=self.steps,
            events=(*sequence.events[: phases - 1], None),
            guess=Guess(sequence.guess.phases[:phases]),
            branch=None if branch is None else replace(branch, discrete=branch.discrete[:phases]),
        )

    def problem(self, walker: System, sequence: StepSequence, limits: StepLimits) -> Problem:
        """Return the problem of this motion; nothing is minimised yet."""
        plan = StepPlan(
            events=sequence.events,
            gait=self.walk.passive,
            branch=sequence.branch,
            foot_margin=FOOT_MARGIN,
            periodic=False,
        )
        problem = problem_of(walker, plan, limits, list(limits.fields))
        labels, phases = walker.labels("x"), self.result.phases
        values = dict(zip(self.result.system.labels("p"), self.result.p, strict=True))
        own = dict(zip(walker.labels("p"), parameters(walker), strict=True))
        p = np.array([values.get(name, own[name]) for name in walker.labels("p")])
        begin = SystemPoint(phases[0].x[0], phases[0].z, p)
        is_held = not self.posture
        near = self.near_postures(walker)
        if self.kind == "stop":
            problem = problem.begin(dict(zip(labels, begin.x.tolist(), strict=True)))
            last = sequence.branch
            flags = {} if last is None else last.discrete[-1]
            places = walker.slices("z")
            z = np.concatenate([flags.get(q.name, begin.z[places[q.name]]) for q in walker.z] or [begin.z])
            problem = require_standing(problem, "end", replace(begin, z=z), held=is_held)
            return problem.end({**near, **self.posture})
        travelled = section_of(walker, self.walk.section).cyclic
        problem = problem.begin({labels[i]: float(begin.x[i]) for i in travelled})
        problem = require_standing(problem, "begin", begin, held=is_held)
        problem = problem.begin({**near, **self.posture})
        mirrored = bool(self.result.problem.repeats) and self.steps % 2 == 1
        reached = mirrored_states(walker) if mirrored else walker.vector("x")
        units = [q.unit for q in walker.x for _ in range(q.size)]
        for i in gait_states(walker, self.walk.section, begin):
            problem = problem.require(
                f"{labels[i]} {IN_GAIT}", reached[i], equal=float(begin.x[i]), at="after", unit=units[i]
            )
        return problem

    def near_postures(self, walker: System) -> dict[str, tuple[float, float]]:
        """Return bounds of the coordinates of a machine that stands, by name: those of the gait, and
        `POSTURE_ROOM` more. Without them a torso may hang down, which is balance, too."""
        labels, x = walker.labels("x"), np.concatenate([m.x for m in self.result.phases])
        travelled = section_of(walker, self.walk.section).cyclic
        places = [i for i in position_places(walker) if i not in travelled]
        low, high = x.min(axis=0) - POSTURE_ROOM, x.max(axis=0) + POSTURE_ROOM
        return {labels[i]: (float(low[i]), float(high[i])) for i in places}


@checked
@take_goal(StepGoal, after="cost", names=ASKED)
def start(
    walk: Design | Gait,
    steps: int = 2,
    cost: CostChoice = "squared-torque",
    *,
    posture: Mapping[str, float] | None = None,
    require: Sequence[StepRequirement | tuple[Any, ...]] = (),
    within: Mapping[str, Any] | None = None,
    **options: Any,
) -> Design:
    """Find how a walker gets from standing into a gait.

    It stands still, both feet on the ground, held by its inputs; how it stands is found, too. After so many
    steps it is in the state in which a step of the gait begins, and `walk.machine` can go on from there. No
    coordinate is more than 0.5 rad or m outside of those of the gait where it stands.

    walk: the gait, as a design or, of a machine with motors, as a gait; the machine is that of the design.
    steps: how many. cost: as for `design`, over the whole motion.
    posture: where it stands instead, by name of a state, at rest though nothing need hold it; what is not
        named is found.
    require, within: requirements of your own, as for `design`; so are further options (control, intervals,
        starts, spread, seed, budget, progress, ...).

    What is asked of the motion, means over its steps:
    {goal}
    Torque and friction are limited as in the design unless asked; the mean duration of a step is 1/4 to
    2 times that of the gait.
    """
    return find_transition("start", walk, cost, Standing(steps, posture or {}, require, within), options)


@checked
@take_goal(StepGoal, after="cost", names=ASKED)
def stop(
    walk: Design | Gait,
    steps: int = 2,
    cost: CostChoice = "squared-torque",
    *,
    posture: Mapping[str, float] | None = None,
    require: Sequence[StepRequirement | tuple[Any, ...]] = (),
    within: Mapping[str, Any] | None = None,
    **options: Any,
) -> Design:
    """Find how a walker gets from a gait to standing.

    It begins where a step of the gait does, takes so many steps, and then comes to rest on the last foot, the
    other one on the ground beside or behind it, held by its inputs.

    posture: how it comes to rest instead, by name of a state, though nothing need hold it there. Everything
    else is as for `start`.

    What is asked of the motion, means over its steps:
    {goal}
    """
    return find_transition("stop", walk, cost, Standing(steps, posture or {}, require, within), options)


@dataclass(frozen=True, eq=False)
class Standing:
    """What is asked of a start or a stop by its own arguments: see `start`."""

    steps: int
    posture: Mapping[str, float]
    require: Sequence[StepRequirement | tuple[Any, ...]]
    within: Mapping[str, Any] | None


def find_transition(
    kind: str, walk: Design | Gait, cost: CostChoice, asked: Standing, options: dict[str, Any]
) -> Design:
    """Return the motion between standing and a gait; see `start` and `stop`. kind: which of these."""
    steps = integer("steps", asked.steps, 1)
    for name in options:
        if name not in OPTIONS:
            raise UnknownNameError(
                f"'{name}' is nothing that a {kind} can be asked: {did_you_mean(name, OPTIONS)}"
            )
    goal = StepGoal(**{name: options.pop(name) for name in ASKED if name in options})
    starts = Starts(
        integer("starts", options.pop("starts", 1), 1),
        positive("spread", options.pop("spread", 0.05)),
        seed_number(options.pop("seed", 0)),
    )
    watch = SearchWatch(options.pop("budget", BUDGET), options.pop("progress", None))
    of = check_gait(kind, walk)
    walker = add_weight_parameters(of.system, cost)
    own = read_own_limits(walker, asked.require, asked.within)
    task = TransitionTask(
        kind=kind,
        walk=of,
        steps=steps,
        posture=check_posture(walker, asked.posture),
        limits=replace(transition_limits(of, goal, kind, steps), own=own),
    )
    sequence = task.sequence(walker)
    walker = walker if sequence.branch is None else sequence.branch.system
    priced = cost_of_transport(walker, cost, sequence.events)
    intervals = PHASE_INTERVALS if len(sequence.events) > 2 * steps else STEP_INTERVALS
    settings = {
        "control": "cubic",
        "intervals": intervals,
        "accuracy": MAX_DEFECT,
        "cost_accuracy": None,
        **options,
    }

    def attempt(limits: StepLimits) -> Design:
        problem = task.problem(walker, sequence, limits).minimise(priced.expression)
        return Design(solve(problem, sequence.guess, watch=watch, **settings), priced, of.passive, limits)

    try:
        with reveal_interrupts():
            watch.tell(f"{kind} in {steps} step{'s' if steps > 1 else ''}")
            best = attempt(task.limits)
            for stronger in stronger_limits(task.limits):
                if best.result.success or not watch.may_go_on:
                    break
                watch.tell("with larger torques")
                best = attempt(stronger)
            watch.best = best.result
            reference = ReferenceStep(of.section, sequence.guess)
            best = sharpen(best, DesignTask(walker, (), cost, reference, settings, watch))
    except KeyboardInterrupt:
        if watch.best is None:
            raise
        return Design(replace(watch.best, status=INTERRUPTED), priced, of.passive, task.limits)
    return compare_starts(best, sequence.guess, starts, settings, watch)


def check_gait(kind: str, walk: Design | Gait) -> Design:
    """Return the gait as a design that is ok; `ModelError` where it is none, where nothing drives it, or on
    ground that gives way."""
    system = walk.system
    if not system.u:
        raise ModelError(
            f"nothing drives '{system.name}': it cannot {kind} by itself; let its joints be actuated"
        )
    of = walk if isinstance(walk, Design) else design(system, speed=walk.speed, guess=walk)
    if not of.ok:
        raise ModelError(
            f"the gait of '{system.name}' is not ok, so it cannot be where a {kind} leads to or from: "
            f"{'; '.join(of.wrong)}"
        )
    if of.result.problem.repeats is None:
        raise ModelError(f"the motion of '{system.name}' does not repeat: give a design of a gait")
    if gives_way(system, of.section):
        raise ModelError(
            f"the ground of '{system.name}' gives way: a {kind} is of walkers on rigid ground, "
            f"contact.rigid(...) or contact.stepping(...)"
        )
    if of.steps > 1:
        raise ModelError(
            f"the gait of '{system.name}' repeats after {of.steps} steps: give a design of one step"
        )
    return of


def check_posture(walker: System, posture: Mapping[str, float]) -> dict[str, float]:
    """Return where a machine stands, by name of a state; `UnknownNameError` for others."""
    labels = walker.labels("x")
    for name in posture:
        if name not in labels:
            raise UnknownNameError(
                f"posture names '{name}', which is no state of '{walker.name}': "
                f"{did_you_mean(name, list(labels))}"
            )
    return {name: float(number_array(f"posture of '{name}'", v).reshape(())) for name, v in posture.items()}


def transition_limits(of: Design, goal: StepGoal, kind: str, steps: int) -> StepLimits:
    """Return what such a motion keeps: what is asked, torque, friction and clearance as in the gait, and
    the default duration."""
    asked = goal.asked_values()
    defaults = {name: of.limits[name] for name in ("torque", "friction", "clearance")}
    usual = of.step_time * (steps + (kind == "stop")) / steps
    defaults["duration"] = (DURATION_FACTORS[0] * usual, DURATION_FACTORS[1] * usual)
    return StepLimits(goal, {n: v for n, v in defaults.items() if v is not None and n not in asked})


def split_at_swing(walk: Design) -> dict[str, float]:
    """Return when, in a step of a gait, its swing foot passes the other and comes out of the ground: events
    with their times [s], of those that end no phase yet. Empty for feet that land wherever they touch."""
    foot = swing_foot(walk.system, walk.section)
    ends = {m.until for m in walk.result.phases}
    names = () if foot is None else (foot.passes, foot.clears)
    hits = [(e.name, e.t) for e in walk.replay.run.events if e.name in names and e.name not in ends]
    return {name: t for name, t in hits if 0 < t < walk.result.duration}


__all__ = ["start", "stop"]
