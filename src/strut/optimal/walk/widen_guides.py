"""`widen_guides`: defaults that only guide a search must not decide its answer.

Step length, duration and torque are by default held within factors of a reference, so that a first search
keeps near to it. Where such a bound is active in the solution, all of them are widened, and the problem is
solved again from there, until none is active. With a given speed length and duration are bound to each other,
so one that is widened alone would only hide behind the next. What guides allow is asked on a coarse mesh:
only what is found within the last ones is made accurate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from strut.optimal.solver.result import Solution
from strut.optimal.walk.active_limits import find_active_limits
from strut.optimal.walk.design import Design
from strut.optimal.walk.goal_field import GoalField, GoalValue
from strut.optimal.walk.step_limits import StepLimits

WIDENING_FACTOR = 2.0
"""By this factor guides are widened in a round."""
MAX_ROUNDS = 10
"""Rounds at most: guides are then 1000 times as wide. What is still active is named, not followed further."""
MIN_SAVING = 1e-3
"""[1] The part of the cost that a round saves at least: after one that saves less guides are not widened
further, and what is still active is named. A cost of work alone has no optimum, it asks for ever shorter
steps; the time of the search ends that."""

STRONGER_FACTORS = (4.0, 16.0)
"""By these factors default torques are larger where no step is found within them."""

SolveWithin = Callable[[StepLimits, Solution], Design | None]
"""Solves within limits from a solution; None where that fails, or the time is over."""


class Refine(Protocol):
    """Makes a design accurate. is_last: whether no other follows, which has time left for it."""

    def __call__(self, coarse: Design, *, is_last: bool) -> Design:
        """Return the same design, accurate."""


def widen_guides(
    first: Design, solve_again: SolveWithin, refine: Refine, has_time: Callable[[], bool]
) -> Design:
    """Return the design within the widest guides that were found with which it is ok; where none is, or there
    is no time to try them all, the first one.

    solve_again: of wider limits and the last solution, solves from there; None where that fails. A round that
    fails, or is hardly cheaper, is the last. refine: the same design, made accurate. has_time: whether there
    is time to make another one accurate, before the first.
    """
    # To make one accurate, and to ask whether it is ok, takes most of the time.
    for k, coarse in enumerate(reversed(wider_designs(first, solve_again))):
        if k > 0 and not has_time():
            break
        wider = refine(coarse, is_last=False)
        if wider.ok and k == 0:
            return wider
        if wider.ok:
            accurate = refine(first, is_last=True)
            return min((one for one in (wider, accurate) if one.ok), key=lambda one: one.result.cost)
    return refine(first, is_last=True)


def wider_designs(first: Design, solve_again: SolveWithin) -> list[Design]:
    """Return the designs within ever wider guides, each begun from the last, until none of them decides."""
    last, wider_ones = first, list[Design]()
    for _ in range(MAX_ROUNDS):
        if not last.result.ok or not decided_by_guides(last.result, last.limits):
            break
        wider = last.limits.with_defaults(**wider_guides(last.limits))
        again = solve_again(wider, last.result)
        if again is None or not again.result.cost < last.result.cost:
            break
        saving = last.result.cost - again.result.cost
        last = again
        wider_ones.append(last)
        if saving < MIN_SAVING * last.result.cost_size:
            break
    return wider_ones


def decided_by_guides(solution: Solution, limits: StepLimits) -> bool:
    """Return whether a default that only guides decides a solution."""
    active = find_active_limits(solution, limits)
    return any(each.decides and limits.is_guide(each.field) for each in active)


def stronger_limits(limits: StepLimits) -> Iterator[StepLimits]:
    """Yield the same limits with ever larger torques, where a default holds them: one that only guides must
    not make a step impossible. How long steps are and take stays: within wide bounds a search that has not
    yet found a step loses its way."""
    torque = limits["torque"]
    if not limits.is_guide("torque") or not isinstance(torque, Mapping):
        return
    for factor in STRONGER_FACTORS:
        yield limits.with_defaults(torque={name: factor * number for name, number in torque.items()})


def wider_guides(limits: StepLimits) -> dict[str, GoalValue]:
    """Return the defaults that guide, by name, wider by `WIDENING_FACTOR`."""
    return {name: _widen(value, limits.fields[name]) for name, value in limits.guides.items()}


def _widen(value: GoalValue, field: GoalField) -> GoalValue:
    if isinstance(value, Mapping):
        return {name: WIDENING_FACTOR * number for name, number in value.items()}
    if not isinstance(value, tuple):
        return WIDENING_FACTOR * value
    low, high = field.widest if isinstance(field.widest, tuple) else (0.0, math.inf)
    return max(value[0] / WIDENING_FACTOR, low), min(value[1] * WIDENING_FACTOR, high)


__all__ = ["decided_by_guides", "stronger_limits", "widen_guides"]
