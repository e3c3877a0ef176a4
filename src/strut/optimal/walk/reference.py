"""`ReferenceStep`: the motion that a search for a design begins from, and that says what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strut.errors import NoGaitError, NoStrideError
from strut.gait import Gait, find, find_all
from strut.gait.section import default_section
from strut.gait.transport import has_slope, on_slope
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.watch import BUSY_CLOCK
from strut.optimal.walk.check_clearance import check_clearance, check_stiff_legs
from strut.optimal.walk.check_creep import check_creep
from strut.optimal.walk.check_walker import check_walker
from strut.optimal.walk.compliant_stride import compliant_stride
from strut.optimal.walk.contact_phases import contact_phases, has_soles, step_section
from strut.optimal.walk.costs import without_weights
from strut.optimal.walk.design import Design
from strut.optimal.walk.even_stride import EvenStride, even_stride
from strut.optimal.walk.flight_stride import flight_stride
from strut.optimal.walk.goal_field import as_bounds
from strut.optimal.walk.hold_feet import check_friction, hold_feet
from strut.optimal.walk.kinematic_stride import kinematic_stride
from strut.optimal.walk.read_walk import gives_way, slope_of, stands_in_turn
from strut.optimal.walk.soft_ground import SoftGround, soft_ground
from strut.optimal.walk.sole_stride import sole_stride
from strut.optimal.walk.stairs import has_stairs, level_ground
from strut.optimal.walk.step_goal import StepGoal
from strut.simulate import simulate
from strut.system import System, parameters

FALLBACK_SLOPES = (0.05, 0.03, 0.07, 0.015)
"""Downhill slopes [rad] on which a passive gait is looked for where there is none on the walker's own."""
PASSIVE_STARTS = (10, 50)
"""Random starts of the search for a passive gait: so many, and so many more where these find none."""
PASSIVE_TIME = 5.0
"""[s] A search for a passive gait that has worked for so long does not go on to another slope: a machine of
many joints that has none on its own slope hardly has one on the next."""
MAX_FALLING_STATES = 16
"""A machine of more states has its passive gait looked for only where it does not fall at once: derivatives
of its step take longer to compile than all the rest of a design."""
TRIAL_TIME = 3.0
"""[s] A machine that has not ended two steps in it falls."""


@dataclass(frozen=True, eq=False)
class ReferenceStep:
    """What a search begins from.

    section: the event that ends a step.
    guess: the motion to begin from, as `solve` takes it; None where there is nothing to begin from.
    gait: a gait with the phases that are planned; it says which events come and what is usual.
    passive: the gait that the search begins from, itself or by way of a guess that began from it: one without
        motors that was looked for, or that was given; None where there is none.
    stride: an even step, where there is no gait. ground: what it begins on, where that is to be stiffened.
    """

    section: str
    guess: Any
    gait: Gait | None = None
    passive: Gait | None = None
    stride: EvenStride | None = None
    ground: SoftGround | None = None

    @property
    def period(self) -> float | None:
        """The usual duration of a step [s], if it is known."""
        usual = self.gait or self.stride
        return None if usual is None else usual.period

    @property
    def step_length(self) -> float | None:
        """The usual length of a step [m], if it is known."""
        usual = self.gait or self.stride
        return None if usual is None else usual.step_length

    def guess_for(self, phases: int, several: Guess | None = None) -> Any:
        """Return what to begin a problem of so many phases from: the guess, if it has as many; else several
        steps, where these are given, the gait, or an even stride."""
        if several is not None:
            same = isinstance(self.guess, Guess) and len(self.guess.phases) == phases
            return self.guess if same else several
        if self.guess is not None and (not isinstance(self.guess, Guess) or len(self.guess.phases) == phases):
            return self.guess
        if self.stride is not None:
            return self.stride.guess_for(phases)
        return self.gait


def find_reference(
    walker: System,
    section: str | None,
    guess: Any,
    like: Gait | None,
    goal: StepGoal,
    *,
    phases: Sequence[str] = (),
) -> ReferenceStep:
    """Return what a search begins from: the guess that was given, else the gait `like` it, else a passive
    gait that is looked for; and an even stride where no gait is known. phases: the events that end the phases
    of the step, where they are given."""
    where = section or (phases[-1] if phases else step_section(walker, default_section(walker)))
    if not has_stairs(walker):  # there clearance is refused for another reason
        check_clearance(walker, where, goal.clearance)
    check_friction(walker, goal.friction)
    passive = like if guess is None else None
    if passive is None and guess is None:
        check_walker(walker, where, alike=not goal.steps or goal.steps % 2 == 1)
        check_creep(walker, where)
        check_stiff_legs(walker, where)
    if passive is None and guess is None and not (stands_in_turn(walker, where) or flies(walker, goal)):
        passive = find_passive_gait(walker, where)
    start: Any = passive if guess is None else guess
    gait = passive = like or passive or gait_of(start)
    if gait is not None and has_stairs(walker) and not has_stairs(gait.system):
        own = dict(zip(gait.system.labels("p"), parameters(gait.system), strict=True))
        same = {name: value for name, value in own.items() if name in walker.labels("p")}
        gait = find(level_ground(walker).using(same), gait.x0, gait.section)  # the same, with a level
    ground = soft_ground(walker, where) if start is None and gait is None else None
    stride = None if gait is not None else find_stride(walker, where, goal, phases, must=guess is None)
    if ground is not None and stride is not None:
        softest = ground.system(walker, ground.softness)
        soft_stride = find_stride(softest, where, goal, phases, must=True)
        stride = stride if soft_stride is None else replace(stride, guess=soft_stride.guess)
    return ReferenceStep(
        section=where,
        guess=start.guess() if hasattr(start, "guess") else start,
        gait=gait,
        passive=passive,
        stride=stride,
        ground=ground,
    )


def find_stride(
    walker: System, section: str, goal: StepGoal, phases: Sequence[str] = (), must: bool = False
) -> EvenStride | None:
    """Return an even stride: of a walker that stands on its feet in turn by inverse kinematics, with a time
    in the air where one is asked or the machine runs; of another between the posture that it begins in and
    the next. phases: the events that end its phases, of feet of several points. must: raise `NoStrideError`
    where the feet of one that always stands in turn, or flies, have none; else None is returned."""
    walker = hold_feet(walker)
    if flies(walker, goal):
        try:
            return flight_stride(walker, section, goal)
        except NoStrideError:
            if must:
                raise
            return None
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    if foot is None or not foot.opposite:
        return even_stride(walker, section)
    asked = goal.asked_values()
    middles = {
        name: float(np.mean(as_bounds(asked[name]))) for name in ("step_length", "speed") if name in asked
    }
    try:
        if has_soles(walker):
            return sole_stride(walker, contact_phases(walker, section, phases), **middles)
        make = compliant_stride if gives_way(walker, section) else kinematic_stride
        return make(walker, section, **middles)
    except NoStrideError:
        if must and stands_in_turn(walker, section):
            raise
        return None if stands_in_turn(walker, section) else even_stride(walker, section)


def flies(walker: System, goal: StepGoal) -> bool:
    """Return whether a step has a time in the air: it is asked for, or the machine runs, and motors turn
    it."""
    runs = walker.walk is not None and walker.walk.flight
    return goal.flight is not None or (runs and bool(walker.u))


def gait_of(guess: Any) -> Gait | None:
    """Return the gait in a guess: itself, or that from which a design began; None otherwise."""
    return guess if isinstance(guess, Gait) else guess.passive if isinstance(guess, Design) else None


def find_passive_gait(walker: System, section: str) -> Gait | None:
    """Return a gait without motors, on the walker's own slope or on one of `FALLBACK_SLOPES`; None if there
    is none. Where the ground does not go down nothing gives what landings take: only the gait of a walker
    that loses nothing, from the state it begins in, is looked for there. A machine of more than
    `MAX_FALLING_STATES` states that falls in its second step has none."""
    walker, began = level_ground(without_weights(walker)), BUSY_CLOCK.now()
    for slope in (None, *FALLBACK_SLOPES):
        if slope is not None and (not has_slope(walker) or BUSY_CLOCK.now() - began > PASSIVE_TIME):
            break
        candidate = walker if slope is None else on_slope(walker, slope)
        if len(candidate.labels("x")) > MAX_FALLING_STATES and not keeps_walking(candidate, section):
            continue
        downhill = not has_slope(walker) or slope_of(candidate) > 0
        try:
            return find(candidate, section=section, starts=0)
        except NoGaitError:
            if not downhill:
                continue
        for seed, starts in enumerate(PASSIVE_STARTS):
            with suppress(NoGaitError):
                gaits = find_all(candidate, section, starts=starts, seed=seed)
                return min(gaits, key=lambda gait: gait.kind == "unstable")
    return None


def keeps_walking(walker: System, section: str) -> bool:
    """Return whether a walker comes to the end of a second step by itself, from the state it begins in."""
    run = simulate(walker, TRIAL_TIME, ledger=False)
    return sum(event.name == section for event in run.events) > 1


__all__ = ["ReferenceStep", "find_passive_gait", "find_reference", "gait_of"]
