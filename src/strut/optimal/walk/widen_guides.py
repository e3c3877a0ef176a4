"""`widen_guides`: defaults that only guide a search must not decide its answer.

Step length, duration and torque are by default held within factors of a reference, so that a first search
keeps near to it. Where such a bound is active in the solution, all of them are widened, and the problem is
solved again from there, until none is active. With a given speed length and duration are bound to each other,
so one that is widened alone would only hide behind the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from strut.optimal.solver.result import Solution
from strut.optimal.walk.active_limits import find_active_limits
from strut.optimal.walk.goal_field import GoalField, GoalValue
from strut.optimal.walk.step_limits import StepLimits

WIDENING_FACTOR = 2.0
"""By this factor guides are widened in a round."""
MAX_ROUNDS = 4
"""Rounds at most: guides are then 16 times as wide. What is still active is named, not followed further: a
cost of work alone has no optimum, it asks for ever shorter steps."""

Attempt = tuple[StepLimits, Solution]
"""Limits, and what was found within them."""


def widen_guides(
    limits: StepLimits, first: Solution, solve_again: Callable[[StepLimits, Solution], Solution]
) -> list[Attempt]:
    """Return what was found as guides were widened, the first solution first; it alone where no guide is
    active in it.

    solve_again: of wider limits and the last solution, solves from there. A round that fails, or is not
    cheaper, is the end and left out.
    """
    attempts = [(limits, first)]
    for _ in range(MAX_ROUNDS):
        limits, best = attempts[-1]
        if not active_guides(best, limits):
            break
        wider = limits.with_defaults(**wider_guides(limits))
        again = solve_again(wider, best)
        if not again.ok or not again.cost < best.cost:
            break
        attempts.append((wider, again))
    return attempts


def active_guides(solution: Solution, limits: StepLimits) -> list[str]:
    """Return the defaults that should only guide, and decide a solution."""
    return [
        each.field
        for each in find_active_limits(solution, limits)
        if each.source == "default" and each.field and limits.fields[each.field].guide
    ]


def wider_guides(limits: StepLimits) -> dict[str, GoalValue]:
    """Return the defaults that guide, by name, wider by `WIDENING_FACTOR`."""
    return {
        name: _widen(value, limits.fields[name])
        for name, value in limits.defaults.items()
        if limits.fields[name].guide
    }


def _widen(value: GoalValue, field: GoalField) -> GoalValue:
    if isinstance(value, Mapping):
        return {name: WIDENING_FACTOR * number for name, number in value.items()}
    if not isinstance(value, tuple):
        return WIDENING_FACTOR * value
    low, high = field.widest if isinstance(field.widest, tuple) else (0.0, math.inf)
    return max(value[0] / WIDENING_FACTOR, low), min(value[1] * WIDENING_FACTOR, high)


__all__ = ["widen_guides"]
