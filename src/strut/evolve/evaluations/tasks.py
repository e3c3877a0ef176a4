"""Several tasks as one evaluation: every individual is evaluated in each of them, and goals are of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.encoded import EncodedEvaluation, evaluate_together
from strut.evolve.evaluations.evaluation import MAX_STATUS_CHARACTERS, OK, Evaluated, Evaluation
from strut.evolve.space import ParameterSpace
from strut.system import check_name

MIN_TASKS = 2
"""Tasks that are several."""


@checked
@dataclass(frozen=True, eq=False)
class TaskEvaluation:
    """Evaluates individuals in several tasks: one machine, designed for all of them.

    tasks: by name, what evaluates each. A parameter TASK.NAME is of one task alone, as a controller's is that
    knows what is asked of it; a parameter without a task is of all, as a machine's dimensions are. Measures
    are TASK.NAME; `least`, `largest` and `total` write expressions of them for goals: the worst of all
    tasks, or their sum. An individual that fails in one task fails.
    """

    tasks: Mapping[str, Evaluation]

    def __post_init__(self) -> None:
        if len(self.tasks) < MIN_TASKS:
            raise ModelError(f"there are {len(self.tasks)} tasks: give two or more, by name")
        for name, task in self.tasks.items():
            check_name(name, "task")
            scenarios = getattr(task, "scenarios", None)
            if scenarios is not None and scenarios.count > 1:
                raise ModelError(
                    f"task '{name}' has {scenarios.count} scenarios: give a task one, and each of the others "
                    "a task of its own"
                )

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures, task by task."""
        return tuple(f"{name}.{measure}" for name, task in self.tasks.items() for measure in task.measures)

    @property
    def divisible(self) -> bool:
        """Whether a population may be evaluated in parts: where each task's may."""
        return all(task.divisible for task in self.tasks.values())

    def settings(self) -> dict[str, Any]:
        """Return the settings of every task."""
        return {
            "kind": "tasks",
            "tasks": {name: task.settings() for name, task in self.tasks.items()},
            "measures": list(self.measures),
        }

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where a task cannot set what is searched of it."""
        for name in space.names:
            task, dot, rest = name.partition(".")
            if dot and task in self.tasks and rest in space.names:
                raise ModelError(
                    f"'{rest}' is searched for all tasks, and '{name}' for one of them: leave one out"
                )
        for task, evaluation in self.tasks.items():
            own = self._own_names(task, space.names)
            evaluation.check(
                ParameterSpace(
                    tuple(replace(space.parameters[space.place[name]], name=own[name]) for name in own)
                )
            )

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Evaluate the population in every task; tasks of one encoded system are one batch."""
        parts = []
        for task, evaluation in self.tasks.items():
            own = self._own_names(task, names)
            columns = [k for k, name in enumerate(names) if name in own]
            parts.append((evaluation, tuple(own.values()), x[:, columns]))
        encoded = [(e, own, rows) for e, own, rows in parts if isinstance(e, EncodedEvaluation)]
        first = encoded[0][0] if encoded else None
        if (
            first is not None
            and len(encoded) == len(parts)
            and all(e.inner is first.inner and e.labels == first.labels for e, _, _ in encoded)
        ):
            answers = evaluate_together(encoded, seeds if len(seeds) == 1 else np.tile(seeds, len(parts)))
        else:
            answers = [evaluation.evaluate(own, rows, seeds) for evaluation, own, rows in parts]
        status = []
        for row in zip(*[answer.status for answer in answers], strict=True):
            wrong = [f"{task}: {each}" for task, each in zip(self.tasks, row, strict=True) if each != OK]
            status.append(wrong[0][:MAX_STATUS_CHARACTERS] if wrong else OK)
        measures = np.hstack([answer.measures for answer in answers])
        measures[[each != OK for each in status]] = np.nan
        return Evaluated(measures, tuple(status))

    def least(self, measure: str) -> str:
        """Return the expression of the least value of a measure over all tasks."""
        return reduce("min({}, {})".format, self._each(measure))

    def largest(self, measure: str) -> str:
        """Return the expression of the largest value of a measure over all tasks."""
        return reduce("max({}, {})".format, self._each(measure))

    def total(self, measure: str) -> str:
        """Return the expression of the sum of a measure over all tasks."""
        return f"({' + '.join(self._each(measure))})"

    def _each(self, measure: str) -> list[str]:
        """The names of a measure in all tasks."""
        for name, task in self.tasks.items():
            if measure not in task.measures:
                raise UnknownNameError(
                    f"task '{name}' does not measure '{measure}': {did_you_mean(measure, task.measures)}"
                )
        return [f"{name}.{measure}" for name in self.tasks]

    def _own_names(self, task: str, names: tuple[str, ...]) -> dict[str, str]:
        """By name in the search, the names of a task's parameters in its evaluation."""
        own = {}
        for name in names:
            prefix, dot, rest = name.partition(".")
            if dot and prefix in self.tasks:
                if prefix == task:
                    own[name] = rest
            else:
                own[name] = name
        return own


__all__ = ["TaskEvaluation"]
