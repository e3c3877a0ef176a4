"""`SearchProblem`: parameters, an evaluation, and goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from strut.checks import checked, integer, require_attributes
from strut.errors import ModelError
from strut.evolve.evaluations.evaluation import OK, Evaluated, Evaluation
from strut.evolve.goals import Stage, StagedGoals, best_first
from strut.evolve.space import ParameterSpace, space_of

EVALUATION_ATTRIBUTES = ("measures", "settings", "check", "evaluate")
"""What an evaluation must have; see `Evaluation`."""


@checked
@dataclass(frozen=True)
class SearchProblem:
    """What is searched for: parameters, what evaluates them, and goals.

    parameters: by name (low, high), or a list of `SearchParameter`. evaluation: `of_system`, `of_function`
    or `of_program`. goals: an expression of measures and parameters to be made small, a `SearchGoal`,
    several in their order, or a `front` of several at once, alone or as the last of them. repeats: how
    often each individual is evaluated, with other seeds, where evaluations are noisy; `combine` says what
    counts: the 'mean' of its measures, or those of its 'worst' repeat. confirm: how
    often the ten best of each run are evaluated again at its end, with other seeds; the best by these counts,
    not the luckiest. 0 for not.
    """

    parameters: Any
    evaluation: Evaluation
    goals: str | Stage | Sequence[Stage]
    repeats: int = 1
    combine: Literal["mean", "worst"] = "mean"
    confirm: int = 0

    def __post_init__(self) -> None:
        integer("repeats", self.repeats, 1)
        integer("confirm", self.confirm, 0)
        if self.combine not in ("mean", "worst"):
            raise ModelError(f"combine is '{self.combine}': 'mean' or 'worst' is allowed")
        require_attributes(
            "evaluation", self.evaluation, EVALUATION_ATTRIBUTES, "of_system, of_function or of_program"
        )
        twice = set(self.space.names) & set(self.evaluation.measures)
        if twice:
            raise ModelError(
                f"'{min(twice)}' is a parameter and a measure: goals could not tell them apart; rename one"
            )
        self.evaluation.check(self.space)
        scenarios = getattr(self.evaluation, "scenarios", None)
        for name in ("repeats", "confirm"):
            if scenarios is not None and getattr(self, name) % scenarios.count:
                raise ModelError(
                    f"{name} is {getattr(self, name)}, and the evaluation has {scenarios.count} scenarios: "
                    f"give {name}={scenarios.count}, or a multiple, so that each is run in all of them"
                )
        if self.staged_goals.front is not None and self.combine == "worst" and self.repeats > 1:
            raise ModelError(
                "combine is 'worst', and of several goals at once no repeat is the worst: combine = 'mean' "
                "is allowed with a front"
            )
        if self.staged_goals.front is not None and self.confirm:
            raise ModelError(
                f"confirm is {self.confirm}, and a front has no one best to be confirmed: take more repeats"
            )

    @cached_property
    def space(self) -> ParameterSpace:
        """The parameters, in order."""
        return space_of(self.parameters)

    @cached_property
    def staged_goals(self) -> StagedGoals:
        """The goals, compiled."""
        return StagedGoals(self.goals, [*self.evaluation.measures, *self.space.names])

    def settings(self) -> dict[str, Any]:
        """Return the problem as a store keeps it."""
        return {
            "parameters": [asdict(each) for each in self.space.parameters],
            "evaluation": self.evaluation.settings(),
            "goals": [asdict(goal) for goal in self.staged_goals.goals],
            "repeats": self.repeats,
            "combine": self.combine,
            # files of searches that ask for none have no word of it
            **({"confirm": self.confirm} if self.confirm else {}),
        }

    def evaluate(self, x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Return the measures of individuals, rows of x. seeds: a row each, a column for every repeat."""
        names, repeats = self.space.names, self.repeats
        answers = self.evaluation.evaluate(names, np.repeat(x, repeats, axis=0), seeds.reshape(-1))
        return self.combine_repeats(x, answers)

    def combine_repeats(self, x: np.ndarray, answers: Evaluated) -> Evaluated:
        """Return what counts of the repeats of individuals, rows of x, from the measures of all repeats."""
        repeats = self.repeats
        if repeats == 1:
            return answers
        count, width = len(x), len(self.evaluation.measures)
        measures = answers.measures.reshape(count, repeats, width)
        status = tuple(
            next((each for each in answers.status[k * repeats : (k + 1) * repeats] if each != OK), OK)
            for k in range(count)
        )
        if self.combine == "mean":
            return Evaluated(measures.mean(axis=1), status)
        keys = self.keys(np.repeat(x, repeats, axis=0), answers.measures).reshape(count, repeats, -1)
        worst = np.array([best_first(each)[-1] for each in keys], dtype=int)
        return Evaluated(measures[np.arange(count), worst], status)

    def keys(self, x: np.ndarray, measures: np.ndarray) -> np.ndarray:
        """Return the keys by which individuals are compared: as of `StagedGoals.keys`. Parameters that an
        individual does not have count as 0 in goals."""
        columns = dict(zip(self.evaluation.measures, measures.T, strict=True))
        columns |= dict(zip(self.space.names, np.nan_to_num(x).T, strict=True))
        keys = self.staged_goals.keys(columns)
        keys[np.isnan(measures).any(axis=1)] = self.staged_goals.failed_key
        return keys
