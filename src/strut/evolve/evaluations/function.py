"""Evaluation by a Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.checks import checked, short_repr
from strut.errors import ArgumentError, ModelError
from strut.evolve.evaluations.evaluation import OK, Evaluated, GradientRun, check_measures
from strut.evolve.space import ParameterSpace


@checked
@dataclass(frozen=True)
class FunctionEvaluation:
    """Evaluates individuals by a Python function.

    function: takes parameters by name, and returns a number, or numbers by name. measures: names of what it
    returns. vectorised: it takes arrays, an individual each, and returns arrays. seeded: it takes `seed`,
    too, a whole number of its own for each evaluation (vectorised: an array). gradient: takes parameters by
    name, and returns derivatives: by name of the parameter, or where there are several measures by name of
    the measure and then of the parameter; see `polish`.
    """

    function: Callable[..., Any]
    measures: tuple[str, ...] = ("value",)
    vectorised: bool = False
    seeded: bool = False
    gradient: Callable[..., Any] | None = None

    @property
    def divisible(self) -> bool:
        """A vectorised function takes its population at once."""
        return not self.vectorised

    def settings(self) -> dict[str, Any]:
        """Return the function's name and what it measures."""
        name = f"{self.function.__module__}.{getattr(self.function, '__qualname__', 'function')}"
        return {"kind": "function", "function": name, "measures": list(self.measures)}

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where the function does not take one of these parameters."""
        try:
            arguments = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # a builtin tells nothing
            return
        if any(each.kind is each.VAR_KEYWORD for each in arguments):
            return
        accepted = [
            each.name for each in arguments if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        ]
        for name in (*space.names, *(("seed",) if self.seeded else ())):
            if name not in accepted:
                what = ", ".join(accepted) or "nothing"
                raise ArgumentError(
                    f"{self.function.__name__} takes no '{name}' (it takes {what}): parameters are given "
                    "by name"
                )

    def gradients(self, names: tuple[str, ...]) -> FunctionGradients:
        """Return measures with their derivatives by parameters."""
        return FunctionGradients(self, names)

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Return what the function returns; one that raises an error fails for that individual alone."""
        if self.vectorised:
            return self._evaluate_at_once(names, x, seeds)
        rows, status = np.full((len(x), len(self.measures)), np.nan), [OK] * len(x)
        for k, (row, seed) in enumerate(zip(x.tolist(), seeds.tolist(), strict=True)):
            arguments = {name: value for name, value in zip(names, row, strict=True) if not np.isnan(value)}
            try:
                answer = self.function(**arguments, **({"seed": seed} if self.seeded else {}))
            except Exception as error:
                status[k] = f"{type(error).__name__}: {error}"
            else:
                rows[k], status[k] = self._row(answer)
        return check_measures(rows, status, self.measures)

    def _row(self, answer: Any) -> tuple[Any, str]:
        """Return measures that a call returned, or why they are none."""
        if not isinstance(answer, Mapping):
            answer = {self.measures[0]: answer} if len(self.measures) == 1 else {}
        missing = [name for name in self.measures if name not in answer]
        if missing:
            return np.nan, f"the function returned no '{missing[0]}'"
        try:
            return [float(answer[name]) for name in self.measures], OK
        except (TypeError, ValueError):
            wrong = {name: answer[name] for name in self.measures}
            return np.nan, f"the function returned {short_repr(wrong)}, not numbers"

    def _evaluate_at_once(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Return what a vectorised function returns, called once with all individuals."""
        columns = {name: x[:, k] for k, name in enumerate(names)}
        answer = self.function(**columns, **({"seed": seeds} if self.seeded else {}))
        if not isinstance(answer, Mapping) and len(self.measures) == 1:
            answer = {self.measures[0]: answer}
        missing = [name for name in self.measures if name not in answer]
        if missing:
            raise ModelError(
                f"the vectorised function returned no '{missing[0]}': return a dictionary with "
                f"{list(self.measures)}"
            )
        try:
            shaped = [np.broadcast_to(np.asarray(answer[name], float), len(x)) for name in self.measures]
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the vectorised function returned arrays of other lengths than {len(x)} individuals: one "
                f"number is needed for each"
            ) from error
        return check_measures(np.column_stack(shaped), [OK] * len(x), self.measures)


@dataclass(frozen=True)
class FunctionGradients:
    """Measures of a function and their derivatives by what is searched."""

    evaluation: FunctionEvaluation
    names: tuple[str, ...]

    @property
    def smooth(self) -> tuple[bool, ...]:
        """Which measures have derivatives: those of a function all."""
        return (True,) * len(self.evaluation.measures)

    def run(self, row: np.ndarray) -> GradientRun | None:
        """Return measures and derivatives at a point, or None where the function fails there."""
        answers = self.evaluation.evaluate(self.names, row[None], np.zeros(1, dtype=np.uint64))
        if answers.status[0] != OK:
            return None
        assert self.evaluation.gradient is not None
        slopes = self.evaluation.gradient(**dict(zip(self.names, row.tolist(), strict=True)))
        measures = self.evaluation.measures
        by_measure = slopes if set(measures) <= set(slopes) else {measures[0]: slopes}
        try:
            table = [[float(by_measure[measure][name]) for name in self.names] for measure in measures]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"the gradient returned {short_repr(slopes)}: give for each measure ({', '.join(measures)}) "
                f"its derivatives by {', '.join(self.names)}"
            ) from error
        return GradientRun(answers.measures[0], np.array(table))


@checked
def of_function(
    function: Callable[..., Any],
    measures: Sequence[str] = ("value",),
    *,
    vectorised: bool = False,
    seeded: bool = False,
    gradient: Callable[..., Any] | None = None,
) -> FunctionEvaluation:
    """Return the evaluation by a Python function: see `FunctionEvaluation`."""
    return FunctionEvaluation(function, tuple(measures), vectorised, seeded, gradient)
