"""Goals: what is better, as expressions of measures and parameters; one, or several in an order.

A list of goals is staged (lexicographic): an individual is at the first goal whose `until` it has not
reached; who is further is better, and who is equally far is compared by that goal alone. Only this order is
used by the searches that say so, never how large a difference is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np

from strut.checks import checked, short_repr
from strut.errors import ModelError
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


def minimise(value: str, until: str = "") -> SearchGoal:
    """Return the goal of making an expression small, until a condition holds."""
    return SearchGoal(value, "minimise", until)


def maximise(value: str, until: str = "") -> SearchGoal:
    """Return the goal of making an expression large, until a condition holds."""
    return SearchGoal(value, "maximise", until)


class StagedGoals:
    """Goals in an order, compiled for whole populations.

    goals: an expression to be made small, a `SearchGoal`, or several in their order. names: what expressions
    may read: measures, then parameters.
    """

    def __init__(self, goals: str | SearchGoal | Sequence[SearchGoal], names: Sequence[str]) -> None:
        self.goals = _goals(goals)
        self.names = tuple(names)
        for k, goal in enumerate(self.goals):
            last = k == len(self.goals) - 1
            if not last and not goal.until:
                raise ModelError(
                    f"goal {k + 1} ({goal.sense} {goal.value}) has no condition at which goal {k + 2} "
                    "counts: give it `until`"
                )
            if last and goal.until:
                raise ModelError(
                    f"the last goal ({goal.sense} {goal.value}) has until = '{goal.until}', and there is "
                    "no goal after it: leave it out, or add a goal"
                )
            if goal.until and not set(goal.until) & set("<>"):
                raise ModelError(
                    f"until of goal {k + 1} is '{goal.until}', which is no condition: write a comparison, "
                    f"such as '{goal.value} < 1'"
                )
        symbols = {name: ca.SX.sym(f"v{k}") for k, name in enumerate(self.names)}
        rows = [parse_expression(goal.value, symbols, "measure or parameter") for goal in self.goals]
        rows += [
            parse_expression(goal.until, symbols, "measure or parameter", conditions=True)
            for goal in self.goals[:-1]
        ]
        self._compiled = ca.Function("goals", [ca.vertcat(*symbols.values())], [ca.vertcat(*rows)])
        self._signs = np.array([1.0 if goal.sense == "minimise" else -1.0 for goal in self.goals])

    def values(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return every goal of every individual as it is written: individuals in rows."""
        return self._evaluate(columns)[:, : len(self.goals)]

    def keys(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return two numbers for each individual: how many goals are still before it, and the first of these,
        with a sign so that less is better. One whose goal is not a number is behind all others."""
        count = len(self.goals)
        table = self._evaluate(columns)
        values, reached = table[:, :count] * self._signs, table[:, count:] > 0.5
        ahead = np.cumprod(np.column_stack([reached, np.zeros(len(table), dtype=bool)]), axis=1)
        stage = ahead.sum(axis=1).astype(int)
        value = values[np.arange(len(table)), stage]
        keys = np.column_stack([count - stage, value]).astype(float)
        keys[np.isnan(value)] = (count + 1, np.inf)
        return keys

    def stage(self, keys: np.ndarray) -> np.ndarray:
        """Return the number of the goal that each individual is at, from 0; -1 of one that failed."""
        return len(self.goals) - np.asarray(keys)[..., 0].astype(int)

    def stage_and_value(self, key: np.ndarray) -> tuple[int, float]:
        """Return the number of the goal of one key, from 1, and its value as it is written; 0 and infinity of
        one that failed."""
        stage = int(self.stage(key))
        return stage + 1, float(key[1] * self._signs[stage] if stage >= 0 else key[1])

    def _evaluate(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        stacked = np.vstack([np.asarray(columns[name], dtype=float) for name in self.names])
        return np.array(self._compiled(stacked)).T


def _goals(goals: Any) -> tuple[SearchGoal, ...]:
    """Return the goals that a user gave, in their order."""
    if isinstance(goals, str):
        return (SearchGoal(goals),)
    if isinstance(goals, SearchGoal):
        return (goals,)
    if isinstance(goals, Sequence) and goals and all(isinstance(goal, SearchGoal) for goal in goals):
        return tuple(goals)
    raise ModelError(
        f"goals is {short_repr(goals)}: give an expression such as 'cost', a SearchGoal, or a list of them"
    )


def precedes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Tell of each pair of keys, in the last axis, whether the first is better than the second
    (lexicographic)."""
    less, same = a[..., 0] < b[..., 0], a[..., 0] == b[..., 0]
    return np.asarray(less | (same & (a[..., 1] < b[..., 1])))


def best_first(keys: np.ndarray) -> np.ndarray:
    """Return the places of keys in lexicographic order, best first; of equal ones the earlier."""
    return np.lexsort((keys[:, 1], keys[:, 0]))
