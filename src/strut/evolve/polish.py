"""`polish`: gradients meet populations: the best of a search goes down to the optimum of its basin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from strut.checks import checked, integer
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.evaluations.function import FunctionEvaluation
from strut.evolve.evaluations.run_gradients import RunGradients
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.goals import precedes
from strut.evolve.individual import Individual
from strut.evolve.problem import SearchProblem
from strut.extras import optional_module
from strut.system import parse_expression

FAILED_VALUE = 1e10
"""[1] How many times worse than the first value a point counts at which a run ends otherwise."""
GRADIENT_TOLERANCE = 1e-9
"""[1] Slope at which polishing ends, of the goal as part of its first size, by parameters as parts of their
ranges."""


@dataclass(frozen=True)
class PolishedIndividual:
    """What polishing made of an individual.

    parameters, measures, value: after it. before: the value from which it began. gain: by how much the value
    is better, in the goal's own unit. iterations, evaluations: steps of the optimiser, and runs with
    derivatives. slope: the largest derivative of the goal by a parameter that is not on a bound, as part of
    its range, where the parameters are. converged: whether the optimiser said so. message: what it said.
    """

    parameters: Mapping[str, float]
    measures: Mapping[str, float]
    value: float
    before: float
    iterations: int
    evaluations: int
    slope: float
    converged: bool
    message: str

    @property
    def gain(self) -> float:
        """How much better it became; 0 where it did not."""
        return abs(self.value - self.before)


class _Gradients(Protocol):
    """What gives measures and their derivatives by what is searched."""

    @property
    def smooth(self) -> tuple[bool, ...]:
        """Which measures have derivatives."""

    def run(self, row: np.ndarray) -> Any:
        """Return measures and derivatives at a point, or None where there are none."""


def check_polishable(problem: SearchProblem) -> None:
    """Raise ModelError where nothing of a problem could be polished."""
    evaluation = problem.evaluation
    if problem.repeats > 1 or problem.confirm:
        raise ModelError(
            f"each individual is evaluated {max(problem.repeats, problem.confirm)} times: a goal with noise "
            "is not polished"
        )
    if problem.staged_goals.front is not None:
        raise ModelError("the goal is a front: to polish, give a problem with one of its goals")
    of_function = isinstance(evaluation, FunctionEvaluation) and evaluation.gradient is not None
    if not of_function and not isinstance(evaluation, SystemEvaluation):
        raise ModelError(
            "the evaluation has no derivatives: polishing needs runs of a system, or a function with its "
            "gradient, of_function(f, gradient=...)"
        )


@checked
def polish(
    problem: SearchProblem, begin: Individual | Mapping[str, float], *, iterations: int = 100
) -> PolishedIndividual:
    """Improve an individual by exact gradients of the goal that it is at (L-BFGS-B within the bounds), and
    return what came of it.

    Derivatives go through the simulation: variational equations along the flow, saltation matrices at events;
    of a function they are those that it gives. For the goal only measures that vary smoothly may be read: of
    states and outputs at the end, `end.time`, integrals, means, largest and least values, not counts. What a
    point is worth is judged by the problem itself: one that fails, or is at an earlier goal, is not taken.
    Where the optimum of the goal is such a one, the best point on the way to it is the answer, and has not
    converged.

    begin: what a search found, or values by name. Needs SciPy (the extra 'stiff').
    """
    integer("iterations", iterations, 1)
    start_values = (
        dict(begin.parameters) if isinstance(begin, Individual) else {k: float(v) for k, v in begin.items()}
    )
    task = _PolishTask(problem, start_values)
    optimise = optional_module("scipy.optimize", "polishing").minimize
    outcome = optimise(
        task.value_and_gradient,
        task.parts_of_range(task.first),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(task.first),
        options={"maxiter": iterations, "ftol": 1e-15, "gtol": GRADIENT_TOLERANCE},
    )
    return task.answer(outcome)


class _PolishTask:
    """Polishing of one individual. row: values of its parameters, in the order of the space."""

    def __init__(self, problem: SearchProblem, given: Mapping[str, float]) -> None:
        self.problem, space = problem, problem.space
        unknown = [name for name in given if name not in space.names]
        if unknown:
            raise UnknownNameError(
                f"'{unknown[0]}' is no parameter of the search: {did_you_mean(unknown[0], space.names)}"
            )
        self.names = tuple(name for name in space.names if name in given)
        places = space.places(self.names, "polishing")
        self.low, self.high, self.places = space.low[places], space.high[places], places
        self.first = np.clip(np.array([given[name] for name in self.names]), self.low, self.high)
        check_polishable(problem)
        self.first_key, _ = self._judge(self.first)
        stage = int(problem.staged_goals.stage(self.first_key))
        if stage < 0:
            raise ModelError("the evaluation of the individual failed: there is nothing to polish")
        self.goal = problem.staged_goals.terms[stage]
        self.sign = 1.0 if self.goal.sense == "minimise" else -1.0
        self.gradients = self._gradients()
        self._goal = self._goal_function()
        self.evaluations = 0
        value, gradient = self._goal_at(self.first) or (np.nan, np.zeros(0))
        if not np.isfinite(value):
            raise ModelError("the goal has no derivatives where polishing would begin")
        self.size = max(abs(value), float(np.abs(gradient).max()), np.finfo(float).tiny)
        self.best_row, self.best_key = self.first, self.first_key
        self.best_value, self.best_gradient = value, gradient

    # ---- the goal and its derivatives ----

    def _gradients(self) -> _Gradients:
        evaluation = self.problem.evaluation
        if isinstance(evaluation, SystemEvaluation):
            return RunGradients(evaluation, self.names, self.first)
        assert isinstance(evaluation, FunctionEvaluation)
        return evaluation.gradients(self.names)

    def _goal_function(self) -> ca.Function:
        """Return the goal with its derivatives by measures and parameters."""
        names = [*self.problem.evaluation.measures, *self.problem.space.names]
        symbols = {name: ca.SX.sym(f"v{k}") for k, name in enumerate(names)}
        value = parse_expression(self.goal.value, symbols, "measure or parameter")
        for name, smooth in zip(self.problem.evaluation.measures, self.gradients.smooth, strict=True):
            if not smooth and ca.depends_on(value, symbols[name]):
                raise ModelError(
                    f"the goal '{self.goal.label}' reads '{name}', which counts events or adds up energies "
                    "and has no derivative: polish a goal of states, outputs, times, integrals or extremes"
                )
        count = len(self.problem.evaluation.measures)
        vector = ca.vertcat(*symbols.values())
        slopes = ca.densify(ca.jacobian(value, vector))
        return ca.Function("goal", [vector], [ca.densify(value), slopes[:, :count], slopes[:, count:]])

    def _goal_at(self, row: np.ndarray) -> tuple[float, np.ndarray] | None:
        """Return the goal, less being better, and its derivatives; None where there are none."""
        self.evaluations += 1
        answer = self.gradients.run(row)
        if answer is None or not np.isfinite(answer.measures).all():
            return None
        full_row = np.zeros(len(self.problem.space))
        full_row[self.places] = row
        value, by_measures, by_parameters = (
            np.array(each) for each in self._goal(np.concatenate([answer.measures, full_row]))
        )
        slopes = by_measures @ answer.by_searched + by_parameters[:, self.places]
        return self.sign * float(value[0, 0]), self.sign * slopes[0]

    # ---- as the optimiser sees it: ranges from 0 to 1, the goal as part of its first size ----

    def parts_of_range(self, row: np.ndarray) -> np.ndarray:
        """Return values as parts of their ranges."""
        return np.asarray((row - self.low) / (self.high - self.low))

    def value_and_gradient(self, scaled: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the goal and its derivatives at a point."""
        answer = self._goal_at(self.low + scaled * (self.high - self.low))
        if answer is None or not np.isfinite(answer[1]).all():
            return FAILED_VALUE, np.zeros(len(scaled))
        value, gradient = answer
        self._note_best(self.low + scaled * (self.high - self.low), value, gradient)
        return value / self.size, gradient * (self.high - self.low) / self.size

    def _judge(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the key and the measures of a point, as the search would have them."""
        full_row = np.full((1, len(self.problem.space)), np.nan)
        full_row[0, self.places] = row
        answers = self.problem.evaluate(full_row, np.zeros((1, self.problem.repeats), dtype=np.uint64))
        keys = self.problem.keys(full_row, answers.measures)
        if answers.status[0] != OK:
            keys[0] = self.problem.staged_goals.failed_key
        return keys[0], answers.measures[0]

    def _note_best(self, row: np.ndarray, value: float, gradient: np.ndarray) -> None:
        """Keep a point that is better than all before it, as the problem judges."""
        if value < self.best_value:
            key, _ = self._judge(row)
            if precedes(key, self.best_key):
                self.best_row, self.best_key = row, key
                self.best_value, self.best_gradient = value, gradient

    def answer(self, outcome: Any) -> PolishedIndividual:
        """Return what came out; where that is at an earlier goal, the best point on the way there."""
        row = np.clip(self.low + outcome.x * (self.high - self.low), self.low, self.high)
        key, measures = self._judge(row)
        goals = self.problem.staged_goals
        gradient = np.asarray(outcome.jac) * self.size
        message = str(outcome.message)
        fell_back = bool(goals.stage(key) < goals.stage(self.first_key))
        if not precedes(key, self.first_key):
            row, key, gradient = self.best_row, self.best_key, self.best_gradient * (self.high - self.low)
            measures = self._judge(row)[1]
            why = "its optimum is at an earlier goal, or fails" if fell_back else message
            better = bool(precedes(key, self.first_key))
            message = f"the best on the way: {why}" if better else f"nothing better was found ({why})"
        free = (row > self.low) & (row < self.high)
        slopes = np.abs(gradient)[free]
        return PolishedIndividual(
            parameters=dict(zip(self.names, row.tolist(), strict=True)),
            measures=dict(zip(self.problem.evaluation.measures, measures.tolist(), strict=True)),
            value=goals.stage_and_value(key)[1],
            before=goals.stage_and_value(self.first_key)[1],
            iterations=int(outcome.nit),
            evaluations=self.evaluations,
            slope=float(slopes.max(initial=0.0)),
            converged=bool(outcome.success) and not fell_back,
            message=message,
        )
