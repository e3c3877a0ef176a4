"""`design`: a walker and how it walks, searched for at once, and verified."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import NoGaitError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait, find
from strut.gait.section import default_section
from strut.gait.transport import distance, has_slope, on_slope
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import Solution
from strut.optimal.solver.solve import OPTIONS, solve
from strut.optimal.walk.costs import Cost, cost_of_transport, weighed
from strut.optimal.walk.design import Design
from strut.optimal.walk.even_stride import Stride, striding
from strut.optimal.walk.frozen_branch import branch
from strut.optimal.walk.stability import stabilise
from strut.optimal.walk.step_problem import (
    FIRM,
    FRICTION,
    clears,
    near,
    says_friction,
    sequence,
    strength,
    swing_foot,
    walking,
)
from strut.system import System, time

SLOPES = (0.05, 0.03, 0.07, 0.015)
"""Downhill slopes [rad] on which a passive gait is looked for, to begin from, where the walker's own has
none."""
ACCURACY = 1e-7
"""Defects are this small: the energy balance of a step, whose errors an unstable gait magnifies, is then
closed to 1e-6."""
SHARPER, SHARPEST = (1e-9, 1e-11), 1e-11
"""Accuracies that are tried where a replay drifts away from its plan, and the solver's tolerance then."""
WILD = 1e3
"""The second is for gaits that magnify a disturbance by so much."""
STEPS_OF_SPEED = 4
"""In so many stages the speed is brought to what is wanted, where the direct way fails."""


@checked
def design(
    walker: System,
    free: str | Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: str | Mapping[str, float] = "squared-torque",
    *,
    speed: float | tuple[float, float] | None = None,
    slope: float | None = None,
    step_length: float | tuple[float, float] | None = None,
    duration: float | tuple[float, float] | None = None,
    torque: float | None = None,
    friction: float | None = None,
    clearance: float | None = None,
    stability: float | None = None,
    section: str | None = None,
    phases: Sequence[str] = (),
    guess: Any = None,
    like: Gait | None = None,
    control: str = "cubic",
    intervals: int = 10,
    **options: Any,
) -> Design:
    """Find how a walker should walk, and be built.

    free: names of parameters, or names with bounds. cost: see `strut.gait.COST_MEANINGS`; of several, names
        with their weights. Costs of work alone ask for ever larger torques for ever shorter times: a little
        of squared torque beside them keeps the search well.
    speed [m/s], step_length [m], duration of a step [s]: numbers, or bounds (low, high). Where none of them
    is given, the speed is that
        of the passive gait; length and duration are within a factor of four of its.
    slope: of the ground [rad], positive downhill.
    torque: of every input, at most [N m]; by default, of inputs without bounds of their own, weight by step
        length of the passive gait. What only counts work would else take any torque for a short time.
    friction: coefficient that the feet must not exceed; by default 1, where the walker says what it needs.
        math.inf: no limit.
    clearance: height of the swing foot where it passes the other [m]; it then stays above the ground all
        along. By default 0 where it does so in the gait to begin from; stiff legs scuff, and the ground is
        not asked.
    stability: every multiplier of the walker that follows its plan is at most this; below 1 it is stable by
        itself.
    section: the event that ends a step. phases: the events that end its phases, in order, the section last;
        by default those of the gait to begin from. guess: to begin from; else a passive gait is looked for.
        like: a gait with the same phases, where the guess is none; it, too, says what is usual.
    control, intervals, and further options: see `Problem.solve`.
    """
    walker = weighed(walker, cost)
    free = [free] if isinstance(free, str) else free
    for name in options:
        if name not in _OPTIONS:
            raise UnknownNameError(
                f"'{name}' is nothing that a design can be asked: {did_you_mean(name, _OPTIONS)}"
            )
    if slope is not None:
        walker = on_slope(walker, slope)
    if stability is not None and not stability > 0:
        raise ValueRangeError(f"stability is {stability}: multipliers have a size, it must be positive")
    if clearance is not None and not clearance >= 0:
        raise ValueRangeError(f"clearance is {clearance}: a height above the ground must not be negative")
    where = section or default_section(walker)
    begun = (like or passive(walker, where)) if guess is None else None
    guess = begun if guess is None else guess
    like = like or begun or like_of(guess)
    usual = like or striding(walker, where)
    if clearance is None and like is not None and clears(like):
        clearance = 0.0
    guess = guess.guess() if hasattr(guess, "guess") else guess
    if (
        speed is None
        and step_length is None
        and duration is None
        and like is not None
        and like.speed > 0
        and walker.u
    ):
        speed = like.speed
    pace = near(speed, "speed", None)
    limits = (
        near(duration, "duration", None if usual is None else usual.period),
        near(step_length, "step_length", None if usual is None else usual.step_length),
        strength(walker, torque, None if usual is None else usual.step_length),
        _rough(walker, friction),
    )
    settings = {"control": control, "intervals": intervals, "accuracy": ACCURACY, **options}

    def attempt(events: tuple[str, ...], clearance: float | None = clearance) -> Design:
        way = branch(walker, like, events) if like is not None else None
        planned = walker if way is None else way.system
        price = cost_of_transport(planned, cost, events)
        base = walking(planned, events, *limits, clearance, FIRM, like, way)
        base = base.free(**free) if isinstance(free, Mapping) else base.free(*free)
        fits = guess is not None and (not isinstance(guess, Guess) or len(guess.phases) == len(events))
        even = {**usual.guess, "duration": usual.period / len(events)} if isinstance(usual, Stride) else like
        result = _reached(
            base.minimise(price.expression), planned, where, pace, guess if fits else even, settings
        )
        if stability is not None and result.success:
            result = stabilise(result, stability)
        made = Design(result, price, begun, stability, limits[3])
        for accuracy in (
            SHARPER if stability is None and made.result.ok and settings["accuracy"] == ACCURACY else ()
        ):
            if not made.drifts or (
                accuracy < SHARPER[0] and made.gait is not None and abs(made.gait.multipliers[0]) < WILD
            ):
                break
            sharp = solve(
                result.problem, made.result, **settings | {"accuracy": accuracy, "tolerance": SHARPEST}
            )
            other = Design(replace(sharp, accuracy=ACCURACY), price, begun, stability, limits[3])
            made = other if other.ok else made
        return made

    if phases:
        return attempt(tuple(phases))
    simple = sequence(walker, where, like, clearance is not None)
    careful = (
        sequence(walker, where, like, True)
        if stability is None and swing_foot(walker, where) is not None
        else simple
    )
    if isinstance(guess, Guess) and len(guess.phases) == len(careful) != len(simple):
        return attempt(careful)
    made = attempt(simple)
    if careful != simple and made.result.ok and not made.replay.ok:
        again = attempt(careful, 0.0 if clearance is None and like is None else clearance)
        return again if again.ok else made
    return made


def like_of(guess: Any) -> Gait | None:
    """The gait in a guess, if there is one."""
    return guess if isinstance(guess, Gait) else guess.begun if isinstance(guess, Design) else None


def _rough(walker: System, friction: float | None) -> float | None:
    """The coefficient of friction that is kept, if any."""
    if friction is None:
        return FRICTION if says_friction(walker) else None
    if not friction > 0:
        raise ValueRangeError(f"friction is {friction}: the coefficient must be positive")
    return friction if math.isfinite(friction) else None


def passive(walker: System, section: str) -> Gait | None:
    """A gait without motors, on this slope or on another: to begin from."""
    for slope in (None, *SLOPES):
        if slope is not None and not has_slope(walker):
            break
        try:
            return find(walker if slope is None else on_slope(walker, slope), section=section, starts=60)
        except NoGaitError:
            continue
    return None


def _reached(
    base: Problem,
    walker: System,
    section: str,
    speed: tuple[float, float] | None,
    guess: Any,
    options: dict[str, Any],
) -> Solution:
    """The result at the speed that is wanted: directly, or in stages from the speed that the guess leads
    to."""
    if speed is None:
        return solve(base, guess, **options)
    pace = distance(walker, section) / time
    low, high = speed
    result = solve(base.require("speed", pace, low, high, at="end"), guess, **options)
    if result.ok:
        return result
    coarse = {**options, "accuracy": None}
    first = solve(base, guess, **coarse)
    if not first.success:
        return result
    now = Design(first, Cost("", ca.SX(0), ())).speed
    for stage in np.linspace(now, min(max(now, low), high), STEPS_OF_SPEED + 1)[1:-1]:
        staged = solve(base.require("speed", pace, equal=float(stage), at="end"), first, **coarse)
        if not staged.success:
            break
        first = staged
    last = solve(base.require("speed", pace, low, high, at="end"), first, **options)
    return last if last.ok or not result.success else result


_OPTIONS = sorted(
    {*inspect.signature(design).parameters, *OPTIONS, *[f.name for f in fields(Transcription)]} - {"walker"}
)

__all__ = ["design", "passive"]
