"""Human gaits improved by exact gradients: where a swarm ended, sequential quadratic programming begins.

Every point that it looks at is a gait: the states with which a step begins are those with which it ends, left
and right exchanged, found by chords from the gait before. Derivatives of a step by its states and by the
parameters of the impedances come from its variational equations, with saltation matrices where the flow
jumps; the implicit function theorem makes derivatives of the gait by the parameters of them. The goals are
those of the search, as constraints: speed, steadiness, a trunk that is not assisted. Torque is made small,
and gaits whose largest multiplier is too large do not count: without that, gradients lead to gaits which
nobody walks for long.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut import evolve
from strut.errors import ModelError, NoGaitError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.evaluations.run_gradients import GRADIENT_TOLERANCES, RunGradients
from strut.extras import optional_module
from strut.gait.exchange import mirror
from strut.studies.human_gait import JOINTS, SPEED_MATCH, SPREAD, TARGET_SPEED, TORQUES
from strut.studies.human_stability import STEP_TIME, gait_machine, settled_gait, walk_until_settled
from strut.studies.study import SECONDS_PER_MINUTE
from strut.system import System, parameters
from strut.walkers.assistance import ASSIST_ANGLE

IMPROVED_MODES = ("const", "ppoly")
"""Modes whose impedances do not jump with the phase."""
KEPT_STATES = ("x", "phase")
"""States with which every step begins alike."""
GOAL_MARGINS = ("speed", "spread of speed", "trunk forwards", "trunk backwards")
"""What goals must keep, each with a margin that is positive where it is kept."""
PITCH_MARGIN = 0.99
"""[1] How far the trunk may lean, as a part of the angle at which it is assisted."""
SPEED_MARGIN = 0.001
"""[1] Part by which the speed is larger than the least that is asked."""
KEPT_MARGIN = 0.5 * SPEED_MARGIN
"""[1] Part by which a gait may miss a goal with its margin so that it counts as kept."""
NEAR_MARGIN = 0.02
"""[1] Part by which a gait misses a goal, at most, that is moved back to where it keeps it, at the end."""
MAX_CORRECTIONS = 4
"""Steps by which a gait that misses a goal by little is moved back, at most."""
MAX_RETURN_ERROR = 1e-7
"""By how much a step may miss where it began, in the unit of each state, so that it counts as a gait."""
MAX_MULTIPLIER = 0.97
"""[1] Modulus of the largest multiplier, over a step, of a gait that counts."""
MAX_CHORDS = 25
"""Iterations of the chord method (Newton's with a derivative of another point) that find a gait, at most."""
MAX_MISS = 30.0
"""Miss of a step, in the unit of each state, at which chords are given up: rates of toes are as large."""
FAILED_TORQUE = 1e4
"""[N m] That parameters count for which no gait is found."""
TORQUE_TOLERANCE = 1e-3
"""[N m] Change of the torque at which the optimiser ends."""
FIRST_CHANGE = 0.01
"""[1] Largest change of a parameter, as part of its range, in the first iteration: the optimiser knows no
curvature yet."""
MAX_STEPS = 10**6
"""Steps of the integrator in a step of the gait, at most."""


@dataclass(frozen=True)
class ImprovedGait:
    """What gradients made of a gait. parameters: of its impedances. state: with which its step begins, by
    name. before, after: torques [N m]. multiplier: the modulus of its largest [1]. margins: of its goals [1],
    positive where they are kept. return_error: the largest miss of the step. iterations, gaits: of the
    optimiser, and those that were walked with derivatives. message: why it ended."""

    parameters: Mapping[str, float]
    state: Mapping[str, float]
    before: float
    after: float
    multiplier: float
    margins: Mapping[str, float]
    return_error: float
    iterations: int
    gaits: int
    message: str


class _OutOfTimeError(Exception):
    """The time that was given is over."""


@dataclass(frozen=True)
class GaitPoint:
    """A gait, or nearly one, with derivatives by parameters. values: of these. states: with which its step
    begins. misses: how far it ends from there. inverse: of their derivative by states. multiplier: the
    modulus of the largest [1]. torque: mean of the sum of the sizes of all torques [N m]. margins: of goals
    [1], positive where they are kept. states_by, torque_by, margins_by: derivatives of the gait by the
    parameters, its states following them by the implicit function theorem."""

    values: np.ndarray
    states: np.ndarray
    misses: np.ndarray
    inverse: np.ndarray
    states_by: np.ndarray
    multiplier: float
    torque: float
    torque_by: np.ndarray
    margins: np.ndarray
    margins_by: np.ndarray


def step_expressions(walker: System) -> dict[str, str]:
    """Return what is measured over a step: states at its end, torque, and what must be kept."""
    ends = {f"end_{name}": name for name in walker.labels("x") if name not in KEPT_STATES}
    fast = f"(speed - {TARGET_SPEED!r})"
    return {
        **ends,
        "torque": "mean(sum_of_torques)",
        "speed": f"{TARGET_SPEED!r} + mean({fast})",
        "speed_variance": f"mean({fast}**2) - mean({fast})**2",
        "most_pitch": "largest(pitch)",
        "least_pitch": "least(pitch)",
    }


class GaitImprovement:
    """Gaits of one mode near a given one. mode: 'const' or 'ppoly', whose impedances do not jump with the
    phase. begin: all parameters of the gait by name; it must be of one step. Raises `NoGaitError` where there
    is none, and `ModelError` for another mode or other parameters."""

    def __init__(self, mode: str, begin: Mapping[str, float]) -> None:
        if mode not in IMPROVED_MODES:
            raise ModelError(
                f"the mode of a gait to improve is '{mode}': {did_you_mean(mode, IMPROVED_MODES)}; where "
                "stiffness steps with the phase, derivatives do not know when"
            )
        bare = gait_machine(mode)
        bounds = {q.name: q.bounds for q in bare.p if q.name.partition("_")[0] in JOINTS}
        _check_parameters(begin, list(bounds))
        self.parameters = tuple(name for name in begin if name in bounds)
        walker = bare.using({name: begin[name] for name in self.parameters})
        walk = walk_until_settled(walker)
        if walk.status != "done":
            raise NoGaitError(f"the gait to begin with ends early ({walk.status}): nothing can be improved")
        gait = settled_gait(walker, walk)
        if gait.steps != 1:
            raise NoGaitError(
                f"the gait to begin with repeats after {gait.steps} steps: those of one are improved"
            )
        torque = sum((ca.fabs(walker[name]) for name in TORQUES), ca.SX(0))
        measured = walker.replace(outputs={**walker.outputs, "sum_of_torques": torque})
        self.walker = measured.using({name: float(value) for name, value in gait.x0.items()})
        self.states = tuple(name for name in self.walker.labels("x") if name not in KEPT_STATES)
        self.names = (*self.states, *self.parameters)
        self.low, self.high = np.array([bounds[name] for name in self.parameters]).T
        first_values = dict(zip(self.walker.labels("x"), gait.vector, strict=True)) | dict(begin)
        self.first = np.array([first_values[name] for name in self.names])
        self.evaluation = evolve.of_system(
            self.walker,
            STEP_TIME,
            step_expressions(self.walker),
            max_steps=MAX_STEPS,
            rtol=GRADIENT_TOLERANCES["rtol"],
            atol=GRADIENT_TOLERANCES["atol"],
        )
        self.gradients = RunGradients(self.evaluation, self.names, self.first)
        self.exchange = self._exchange_matrix()

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what is measured over a step; states at its end come first."""
        return self.evaluation.measures

    def _exchange_matrix(self) -> np.ndarray:
        """Return the matrix that exchanges left and right of the states that a step begins with."""
        labels = self.walker.labels("x")
        size, z, p = len(labels), np.zeros(self.walker.size("z")), parameters(self.walker)
        origin = mirror(self.walker, np.zeros(size), z, p)[0]
        matrix = np.array([mirror(self.walker, row, z, p)[0] - origin for row in np.eye(size)]).T
        own = [labels.index(name) for name in self.states]
        return np.asarray(matrix[np.ix_(own, own)])

    def find_states(self, values: np.ndarray, states: np.ndarray, inverse: np.ndarray) -> np.ndarray | None:
        """Return the states with which a step of a gait with these parameters begins, near others, by chords;
        None where they lead to none. inverse: of the derivative of misses by states, somewhere near."""
        for _ in range(MAX_CHORDS):
            row = np.concatenate([states, values])[None]
            answer = self.evaluation.evaluate(self.names, row, np.zeros(1, dtype=np.uint64))
            if answer.status[0] != OK:
                return None
            misses = self.exchange @ answer.measures[0, : len(states)] - states
            size = np.abs(misses).max()
            if size < MAX_RETURN_ERROR / 2:
                return states
            if not size < MAX_MISS:  # nor where it is no number
                return None
            states = states - inverse @ misses
        return None

    def evaluate(self, values: np.ndarray, states: np.ndarray) -> GaitPoint | None:
        """Walk a step with derivatives; None where it ends early."""
        answer = self.gradients.run(np.concatenate([states, values]))
        if answer is None or not np.isfinite(answer.by_searched).all():
            return None
        count = len(states)
        value = dict(zip(self.measures, answer.measures, strict=True))
        misses_by = self.exchange @ answer.by_searched[:count] - np.eye(count, len(self.names))
        inverse = np.linalg.inv(misses_by[:, :count])
        states_by = -inverse @ misses_by[:, count:]
        # of the gait, whose states follow the parameters
        by_values = answer.by_searched[:, count:] + answer.by_searched[:, :count] @ states_by
        by = dict(zip(self.measures, by_values, strict=True))
        most, least_speed = PITCH_MARGIN * ASSIST_ANGLE, SPEED_MATCH * TARGET_SPEED
        margins = (  # as `GOAL_MARGINS` names them
            (value["speed"] / least_speed - 1 - SPEED_MARGIN, by["speed"] / least_speed),
            (1 - value["speed_variance"] / SPREAD**2, -by["speed_variance"] / SPREAD**2),
            (1 - value["most_pitch"] / most, -by["most_pitch"] / most),
            (1 + value["least_pitch"] / most, by["least_pitch"] / most),
        )
        return GaitPoint(
            values=values,
            states=states,
            misses=self.exchange @ answer.measures[:count] - states,
            inverse=inverse,
            states_by=states_by,
            multiplier=float(np.abs(np.linalg.eigvals(misses_by[:, :count] + np.eye(count))).max()),
            torque=float(value["torque"]),
            torque_by=by["torque"],
            margins=np.array([each for each, _ in margins]),
            margins_by=np.array([each for _, each in margins]),
        )


def _check_parameters(begin: Mapping[str, float], names: list[str]) -> None:
    """Raise an error where a gait to begin with is not the parameters of its mode, each of them: the body is
    that of the study, and what is left out would be a default's."""
    for name in begin:
        if name not in names:
            raise UnknownNameError(
                f"the gait to begin with has '{name}', which is no parameter of its controller (body and "
                f"ground are those of the study): {did_you_mean(name, names)}"
            )
    missing = [name for name in names if name not in begin]
    if missing:
        raise ModelError(
            f"the gait to begin with has no '{missing[0]}': give all {len(names)} parameters of its mode"
        )


@dataclass
class _SearchRecord:
    """What was seen on the way. deadline: `time.monotonic()` at which the search ends [s]. last_values: the
    parameters that were asked for at last; last: what came of them. near: the last gait, from which chords
    begin. best: the gait of least torque that keeps all goals; lowest: the one of least torque that misses
    them by little. gaits: how many were walked with derivatives."""

    problem: GaitImprovement
    deadline: float
    tell: Callable[[str], None]
    near: GaitPoint
    best: GaitPoint
    lowest: GaitPoint
    last: GaitPoint
    last_values: np.ndarray = field(default_factory=lambda: np.empty(0))
    gaits: int = 1

    def at(self, parts: np.ndarray) -> GaitPoint:
        """Return the gait at parameters as parts of their ranges; where there is none, a point that counts as
        bad."""
        problem = self.problem
        values = np.clip(problem.low + parts * (problem.high - problem.low), problem.low, problem.high)
        if np.array_equal(values, self.last_values):
            return self.last
        if clock.monotonic() > self.deadline:
            raise _OutOfTimeError
        self.last_values, self.last = values, self._gait_at(values) or _without_gait(self.near)
        return self.last

    def _gait_at(self, values: np.ndarray) -> GaitPoint | None:
        """The gait with these parameters, if there is one near the last."""
        near = self.near
        for states in (near.states + near.states_by @ (values - near.values), near.states):
            gait_states = self.problem.find_states(values, states, near.inverse)
            point = None if gait_states is None else self.problem.evaluate(values, gait_states)
            if point is None or np.abs(point.misses).max() > MAX_RETURN_ERROR:
                continue
            if point.multiplier > MAX_MULTIPLIER:
                self.tell(f"a gait of {point.torque:.2f} N m with a multiplier of {point.multiplier:.3f}")
                return None
            self.near, self.gaits = point, self.gaits + 1
            if point.torque < self.best.torque and point.margins.min() > -KEPT_MARGIN:
                self.best = point
            if point.torque < self.lowest.torque and point.margins.min() > -NEAR_MARGIN:
                self.lowest = point
            self.tell(
                f"gait {self.gaits}: torque {point.torque:.2f} N m, least margin {point.margins.min():.4f}, "
                f"multiplier {point.multiplier:.3f}, best {self.best.torque:.2f} N m"
            )
            return point
        self.tell("no gait there")
        return None

    def correct_lowest(self) -> None:
        """Move the lowest gait to where it keeps all goals, by the shortest way (Gauss-Newton's), so that it
        may be the best."""
        point = self.lowest
        for _ in range(MAX_CORRECTIONS):
            if point.torque >= self.best.torque:
                return
            self.near = point
            gait = self._gait_at(corrected_values(point, self.problem.low, self.problem.high))
            if gait is None:
                return
            point = gait


def _without_gait(near: GaitPoint) -> GaitPoint:
    """What counts where there is no gait: much torque, and goals that are missed."""
    return GaitPoint(
        **{
            **near.__dict__,
            "torque": FAILED_TORQUE,
            "torque_by": 0 * near.torque_by,
            "margins": near.margins - 1,
        }
    )


def corrected_values(point: GaitPoint, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return parameters near those of a gait at which the goals that it misses are kept, as far as slopes
    tell; within bounds."""
    span = high - low
    missed = point.margins < 0
    slopes = point.margins_by[missed] * span
    parts = np.linalg.pinv(slopes) @ (KEPT_MARGIN / 5 - point.margins[missed])
    return np.asarray(np.clip(point.values + parts * span, low, high))


def improve_gait(
    mode: str,
    begin: Mapping[str, float],
    *,
    iterations: int = 100,
    minutes: float = 10.0,
    tell: Callable[[str], None] = lambda _: None,
) -> ImprovedGait:
    """Make the torque of a gait small by gradients, its goals kept (SLSQP, sequential quadratic programming).
    Gaits whose largest multiplier is above `MAX_MULTIPLIER` are refused; there is no slope of it, so that the
    search ends where it meets them.

    mode, begin: as of `GaitImprovement`. iterations, minutes: at most. tell: is told of every gait. Needs
    SciPy (the extra 'stiff'). Raises `NoGaitError` where there is no gait of one step to begin with."""
    optimise = optional_module("scipy.optimize", "gradients").minimize
    problem = GaitImprovement(mode, begin)
    count = len(problem.states)
    first = problem.evaluate(problem.first[count:], problem.first[:count])
    if first is None or first.multiplier > MAX_MULTIPLIER:
        raise NoGaitError(
            "the gait to begin with is not stable, or its step ends early: nothing can be improved"
        )
    span = problem.high - problem.low
    record = _SearchRecord(
        problem,
        clock.monotonic() + SECONDS_PER_MINUTE * minutes,
        tell,
        first,
        first,
        first,
        first,
        first.values,
    )
    weight = FIRST_CHANGE / float(np.abs(first.torque_by * span).max())
    goals = {
        "type": "ineq",
        "fun": lambda parts: record.at(parts).margins,
        "jac": lambda parts: record.at(parts).margins_by * span,
    }
    iteration_count, message = 0, "the time is over"
    try:
        outcome = optimise(
            lambda parts: weight * record.at(parts).torque,
            (first.values - problem.low) / span,
            jac=lambda parts: weight * record.at(parts).torque_by * span,
            bounds=[(0.0, 1.0)] * len(span),
            constraints=[goals],
            method="SLSQP",
            options={"maxiter": iterations, "ftol": TORQUE_TOLERANCE * weight},
        )
        iteration_count, message = int(outcome.nit), str(outcome.message)
    except _OutOfTimeError:
        pass
    record.correct_lowest()
    best = record.best
    return ImprovedGait(
        parameters=dict(zip(problem.parameters, best.values.tolist(), strict=True)),
        state=dict(zip(problem.states, best.states.tolist(), strict=True)),
        before=first.torque,
        after=best.torque,
        multiplier=best.multiplier,
        margins=dict(zip(GOAL_MARGINS, best.margins.tolist(), strict=True)),
        return_error=float(np.abs(best.misses).max()),
        iterations=iteration_count,
        gaits=record.gaits,
        message=message,
    )


__all__ = ["GaitImprovement", "ImprovedGait", "improve_gait"]
