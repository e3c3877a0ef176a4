"""Goals: what is better, as expressions of measures and parameters; one, or several in an order.

A list of goals is staged (lexicographic): an individual is at the first goal whose `until` it has not
reached; who is further is better, and who is equally far is compared by that goal alone. Only this order is
used by the searches that say so, never how large a difference is. The last may be a front: several goals at
once, of which none is above another (Pareto). Conditions before it then are constraints: who does not keep
them is behind all who do (constrained domination, Deb).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np

from strut.checks import checked, finite, short_repr
from strut.errors import ModelError
from strut.evolve.fronts import MAX_FRONT_GOALS
from strut.system import parse_expression

Sense = Literal["minimise", "maximise"]
"""Whether less or more of a goal is better."""


@checked
@dataclass(frozen=True)
class SearchGoal:
    """What is to become small or large.

    value: an expression of measures and parameters, as text: "speed - 0.1 * torque". until: a condition at
    which the next goal counts, "speed > 1.2"; the last goal has none.
    """

    value: str
    sense: Sense = "minimise"
    until: str = ""

    @property
    def label(self) -> str:
        """What is sought, as people read it."""
        return f"{self.sense} {self.value}"


@checked
def minimise(value: str, until: str = "") -> SearchGoal:
    """Return the goal of making an expression small, until a condition holds."""
    return SearchGoal(value, "minimise", until)


@checked
def maximise(value: str, until: str = "") -> SearchGoal:
    """Return the goal of making an expression large, until a condition holds."""
    return SearchGoal(value, "maximise", until)


@checked
@dataclass(frozen=True)
class SearchFront:
    """Several goals at once: what is sought are individuals of which none is better than another in all.

    goals: two or three, without `until`. reference: for each goal a value that is worse than all that count,
    up to which the hypervolume of a front is measured; unless given the worst of each in the first generation
    that has individuals at the front.
    """

    goals: tuple[SearchGoal, ...]
    reference: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.goals) <= MAX_FRONT_GOALS:
            raise ModelError(
                f"a front has {len(self.goals)} goals: 2 to {MAX_FRONT_GOALS} are allowed; put others into "
                "conditions before it, or into a sum"
            )
        for goal in self.goals:
            if goal.until:
                raise ModelError(
                    f"the goal '{goal.value}' of a front has until = '{goal.until}': goals of a front count "
                    "at once; make it a goal before the front"
                )
        if self.reference is not None and len(self.reference) != len(self.goals):
            raise ModelError(
                f"reference has {len(self.reference)} values for a front of {len(self.goals)} goals: give "
                "one for each"
            )
        for value in self.reference or ():
            finite("a value of reference", value)

    until = ""

    @property
    def label(self) -> str:
        """What is sought, as people read it."""
        return "front: " + ", ".join(goal.label for goal in self.goals)


@checked
def front(*goals: SearchGoal, reference: Sequence[float] | None = None) -> SearchFront:
    """Return the aim of a front of several goals: see `SearchFront`."""
    return SearchFront(goals, None if reference is None else tuple(reference))


Stage = SearchGoal | SearchFront
"""What an individual can be at."""


def stage_of(settings: Mapping[str, Any]) -> Stage:
    """Return the goal or front that a store describes."""
    if "goals" not in settings:
        return SearchGoal(**settings)
    reference = settings["reference"]
    return SearchFront(
        tuple(SearchGoal(**each) for each in settings["goals"]),
        None if reference is None else tuple(reference),
    )


class StagedGoals:
    """Goals in an order, compiled for whole populations.

    goals: an expression to be made small, a `SearchGoal`, several in their order, or a `SearchFront`, alone
    or as the last of them. names: what expressions may read: measures, then parameters.
    """

    def __init__(self, goals: str | Stage | Sequence[Stage], names: Sequence[str]) -> None:
        self.goals = _goals(goals)
        self.names = tuple(names)
        _check_order(self.goals)
        last = self.goals[-1]
        self.front = last if isinstance(last, SearchFront) else None
        single = [goal for goal in self.goals if isinstance(goal, SearchGoal)]
        # every goal that has a value: those of a front stand last
        self.terms = (*single, *(self.front.goals if self.front else ()))
        symbols = {name: ca.SX.sym(f"v{k}") for k, name in enumerate(self.names)}
        rows = [parse_expression(goal.value, symbols, "measure or parameter") for goal in self.terms]
        rows += [
            parse_expression(goal.until, symbols, "measure or parameter", conditions=True)
            for goal in self.goals[:-1]
        ]
        self._compiled = ca.Function("goals", [ca.vertcat(*symbols.values())], [ca.vertcat(*rows)])
        self._signs = np.array([1.0 if goal.sense == "minimise" else -1.0 for goal in self.terms])

    @property
    def key_width(self) -> int:
        """How many numbers compare an individual: how many goals are before it, and its values."""
        return 1 + (len(self.front.goals) if self.front else 1)

    @property
    def failed_key(self) -> np.ndarray:
        """The key of an individual whose evaluation failed, behind all others."""
        return np.array([len(self.goals) + 1, *[np.inf] * (self.key_width - 1)])

    def keys(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return for each individual how many goals are still before it, and the first of these, with a sign
        so that less is better; at a front the values of all its goals. One whose goal is not a number is
        behind all others."""
        count, width = len(self.goals), self.key_width - 1
        table = self._evaluate(columns)
        values, reached = table[:, : len(self.terms)] * self._signs, table[:, len(self.terms) :] > 0.5
        ahead = np.cumprod(np.column_stack([reached, np.zeros(len(table), dtype=bool)]), axis=1)
        stage = ahead.sum(axis=1).astype(int)
        own = np.zeros((len(table), width))
        own[:, 0] = values[np.arange(len(table)), stage]
        at_last = stage == count - 1
        own[at_last] = values[at_last, count - 1 :]
        keys = np.column_stack([count - stage, own]).astype(float)
        keys[np.isnan(own).any(axis=1)] = self.failed_key
        return keys

    @property
    def front_labels(self) -> tuple[str, ...]:
        """What the goals of the front say; nothing without one."""
        return tuple(goal.label for goal in self.front.goals) if self.front else ()

    def at_front(self, keys: np.ndarray) -> np.ndarray:
        """Tell which keys are at the front."""
        return np.asarray((keys[:, 0] == 1) & (self.front is not None))

    def front_values(self, values: np.ndarray) -> np.ndarray:
        """Return values of a front's goals as they are written, from those that are less where they are
        better; or the other way round."""
        return np.asarray(values * self._signs[len(self.goals) - 1 :])

    def stage(self, keys: np.ndarray) -> np.ndarray:
        """Return the number of the goal that each individual is at, from 0; -1 of one that failed."""
        return len(self.goals) - np.asarray(keys)[..., 0].astype(int)

    def stage_and_value(self, key: np.ndarray) -> tuple[int, float]:
        """Return the number of the goal of one key, from 1, and its value as it is written; 0 and infinity of
        one that failed. At a front there is no one value: nan."""
        stage = int(self.stage(key))
        if self.front is not None and stage == len(self.goals) - 1:
            return stage + 1, math.nan
        return stage + 1, float(key[1] * self._signs[stage] if stage >= 0 else key[1])

    def _evaluate(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        stacked = np.vstack([np.asarray(columns[name], dtype=float) for name in self.names])
        return np.array(self._compiled(stacked)).T


def _check_order(goals: tuple[Stage, ...]) -> None:
    """Raise ModelError where a goal has no condition for the next, or the last has one."""
    for k, goal in enumerate(goals):
        last = k == len(goals) - 1
        if not last and isinstance(goal, SearchFront):
            raise ModelError(f"goal {k + 1} is a front, and goal {k + 2} comes after it: a front stands last")
        if not last and not goal.until:
            raise ModelError(
                f"goal {k + 1} ({goal.label}) has no condition at which goal {k + 2} counts: give it "
                "`until`, or put goals that count at once into a front"
            )
        if last and goal.until:
            raise ModelError(
                f"the last goal ({goal.label}) has until = '{goal.until}', and there is no goal after it: "
                "leave it out, or add a goal"
            )
        if isinstance(goal, SearchGoal) and goal.until and not set(goal.until) & set("<>"):
            raise ModelError(
                f"until of goal {k + 1} is '{goal.until}', which is no condition: write a comparison, "
                f"such as '{goal.value} < 1'"
            )


def _goals(goals: Any) -> tuple[Stage, ...]:
    """Return the goals that a user gave, in their order."""
    if isinstance(goals, str):
        return (SearchGoal(goals),)
    if isinstance(goals, (SearchGoal, SearchFront)):
        return (goals,)
    if isinstance(goals, Sequence) and goals and all(isinstance(goal, Stage) for goal in goals):
        return tuple(goals)
    raise ModelError(
        f"goals is {short_repr(goals)}: give an expression such as 'cost', a SearchGoal, a front, or a list "
        "of them"
    )


def precedes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Tell of each pair of keys, in the last axis, whether the first is better than the second
    (lexicographic)."""
    less, same = a[..., 0] < b[..., 0], a[..., 0] == b[..., 0]
    return np.asarray(less | (same & (a[..., 1] < b[..., 1])))


def best_first(keys: np.ndarray) -> np.ndarray:
    """Return the places of keys in lexicographic order, best first; of equal ones the earlier."""
    return np.lexsort((keys[:, 1], keys[:, 0]))
