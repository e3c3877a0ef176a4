"""Human gaits improved by exact gradients: where a swarm ended, sequential quadratic programming begins.

One step is shot from the states with which it begins, which are unknowns beside the parameters of the
impedances; it must end, left and right exchanged, where it began. Derivatives of everything by all unknowns
come from the variational equations of that step, with saltation matrices where the flow jumps. The goals
are those of the search, as constraints: speed, steadiness, a trunk that is not assisted. Torque is made
small.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut import evolve
from strut.errors import NoGaitError
from strut.evolve.evaluations.run_gradients import RunGradients
from strut.extras import optional_module
from strut.gait.exchange import mirror
from strut.studies.human_gait import (
    FREQUENCY,
    JOINTS,
    SPEED_MATCH,
    SPREAD,
    TARGET_SPEED,
    TORQUES,
)
from strut.studies.human_stability import gait_machine, settled_gait, walk_until_settled
from strut.system import System, parameters
from strut.walkers.assistance import ASSIST_ANGLE

STEP_TIME = 0.5 / FREQUENCY
"""[s] Of a step."""
KEPT_STATES = ("x", "phase")
"""States with which every step begins alike."""
RATE_SCALE = 5.0
"""[1/s] Size of rates, against which they are scaled; angles and heights are of the size of 1."""
PITCH_MARGIN = 0.99
"""[1] Of the angle of assistance, that the trunk may lean."""
SPEED_MARGIN = 0.001
"""[1] By which the speed is larger than the least that is asked."""
MAX_RETURN_ERROR = 1e-9
"""By how much a step may miss where it began, in the unit of each state, so that it counts as a gait."""
NEAR_GAIT, NEAR_MARGIN = 0.05, 0.01
"""Miss of a step, in the unit of each state, and part by which a goal is missed, of points on the way from
which gaits are looked for at the end."""
KEPT_MARGIN = 1e-3
"""[1] Part by which a gait may miss a goal so that it counts as kept; the speed has a margin as large."""
MAX_CORRECTIONS, MAX_ATTEMPTS = 8, 5
"""Iterations of Newton's method that make a step return exactly, and points from which it begins, at most."""
FAILED_TORQUE = 1e4
"""[N m] That a step counts which ends early."""
TORQUE_TOLERANCE = 1e-3
"""[N m] Change of the torque at which the optimiser ends."""
FIRST_CHANGE = 0.02
"""[1] Largest change of an unknown, as part of its scale, in the first iteration: the optimiser knows no
curvature yet."""


@dataclass(frozen=True)
class ImprovedGait:
    """What gradients made of a gait. parameters: of its impedances. state: with which its step begins, by
    name. before, after: torques [N m]. return_error: the largest miss of the step. iterations, steps: of the
    optimiser, and steps that were walked with derivatives. message: why it ended."""

    parameters: Mapping[str, float]
    state: Mapping[str, float]
    before: float
    after: float
    return_error: float
    iterations: int
    steps: int
    message: str


class _OutOfTimeError(Exception):
    """The time that was given is over."""


@dataclass
class _Point:
    """Values and derivatives at a point."""

    torque: float
    torque_by: np.ndarray
    misses: np.ndarray
    misses_by: np.ndarray
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
    """The search for a better gait of one mode near a given one. mode: 'const', or 'ppoly', along which
    nothing jumps with the phase. begin: its parameters."""

    def __init__(self, mode: str, begin: Mapping[str, float]) -> None:
        bare = gait_machine(mode)
        bounds = {q.name: q.bounds for q in bare.p if q.name.partition("_")[0] in JOINTS}
        self.parameters = tuple(name for name in begin if name in bounds)
        walker = bare.using({name: begin[name] for name in self.parameters})
        walk = walk_until_settled(walker)
        if walk.status != "done":
            raise NoGaitError(
                f"the gait to begin with ends early ({walk.status}): there is nothing to improve"
            )
        gait = settled_gait(walker, walk)
        if gait.steps != 1:
            raise NoGaitError(
                f"the gait to begin with repeats after {gait.steps} steps: one of one step is improved"
            )
        torque = sum((ca.fabs(walker[name]) for name in TORQUES), ca.SX(0))
        measured = walker.replace(outputs={**walker.outputs, "sum_of_torques": torque})
        self.walker = measured.using({name: float(value) for name, value in gait.x0.items()})
        self.states = tuple(name for name in self.walker.labels("x") if name not in KEPT_STATES)
        self.names = (*self.states, *self.parameters)
        state_scales = [RATE_SCALE if name.endswith("_rate") else 1.0 for name in self.states]
        spans = [bounds[name][1] - bounds[name][0] for name in self.parameters]
        self.scale = np.array([*state_scales, *spans])
        self.low = np.array([-np.inf] * len(self.states) + [bounds[name][0] for name in self.parameters])
        self.high = np.array([np.inf] * len(self.states) + [bounds[name][1] for name in self.parameters])
        values = dict(zip(self.walker.labels("x"), gait.vector, strict=True)) | dict(begin)
        self.first = np.array([values[name] for name in self.names])
        evaluation = evolve.of_system(self.walker, STEP_TIME, step_expressions(self.walker))
        self.measures = evaluation.measures
        self.gradients = RunGradients(evaluation, self.names, self.first)
        self._exchange = self._exchange_matrix()

    def _exchange_matrix(self) -> np.ndarray:
        """Return the matrix that exchanges left and right of the states that a step begins with."""
        labels = self.walker.labels("x")
        size, z, p = len(labels), np.zeros(self.walker.size("z")), parameters(self.walker)
        origin = mirror(self.walker, np.zeros(size), z, p)[0]
        matrix = np.array([mirror(self.walker, row, z, p)[0] - origin for row in np.eye(size)]).T
        own = [labels.index(name) for name in self.states]
        return np.asarray(matrix[np.ix_(own, own)])

    def evaluate(self, row: np.ndarray) -> _Point | None:
        """Walk a step with derivatives; None where it ends early."""
        answer = self.gradients.run(row)
        if answer is None or not np.isfinite(answer.by_searched).all():
            return None
        value = dict(zip(self.measures, answer.measures, strict=True))
        by = dict(zip(self.measures, answer.by_searched, strict=True))
        count = len(self.states)
        ends = np.array([value[f"end_{name}"] for name in self.states])
        ends_by = np.array([by[f"end_{name}"] for name in self.states])
        begins_by = np.eye(count, len(self.names))
        most = PITCH_MARGIN * ASSIST_ANGLE
        margins = [
            value["speed"] / (SPEED_MATCH * TARGET_SPEED) - 1 - SPEED_MARGIN,
            1 - value["speed_variance"] / SPREAD**2,
            1 - value["most_pitch"] / most,
            1 + value["least_pitch"] / most,
        ]
        margins_by = [
            by["speed"] / (SPEED_MATCH * TARGET_SPEED),
            -by["speed_variance"] / SPREAD**2,
            -by["most_pitch"] / most,
            by["least_pitch"] / most,
        ]
        return _Point(
            torque=float(value["torque"]),
            torque_by=by["torque"],
            misses=self._exchange @ ends - row[:count],
            misses_by=self._exchange @ ends_by - begins_by,
            margins=np.array(margins),
            margins_by=np.array(margins_by),
        )


@dataclass
class _Record:
    """What was seen on the way: the last point, those that nearly return and keep all goals, with their
    torques, and how many there were."""

    problem: GaitImprovement
    deadline: float
    tell: Callable[[str], None]
    last_row: np.ndarray = field(default_factory=lambda: np.empty(0))
    last: _Point | None = None
    near_gaits: list[tuple[float, np.ndarray]] = field(default_factory=list)
    steps: int = 0

    def at(self, scaled: np.ndarray) -> _Point:
        """Return the point at unknowns over their scales; one that counts as bad where a step ends early."""
        row = np.clip(scaled * self.problem.scale, self.problem.low, self.problem.high)
        if self.last is not None and np.array_equal(row, self.last_row):
            return self.last
        if clock.monotonic() > self.deadline:
            raise _OutOfTimeError
        point = self.problem.evaluate(row)
        self.steps += 1
        if point is None:
            assert self.last is not None
            point = _Point(
                FAILED_TORQUE,
                0 * self.last.torque_by,
                1 + self.last.misses,
                self.last.misses_by,
                self.last.margins - 1,
                self.last.margins_by,
            )
        error = float(np.abs(point.misses).max())
        if error < NEAR_GAIT and point.margins.min() > -NEAR_MARGIN:
            self.near_gaits.append((point.torque, row))
        self.tell(
            f"step {self.steps}: torque {point.torque:.2f} N m, it misses its beginning by {error:.1e}, "
            f"least margin {point.margins.min():.4f}"
        )
        self.last_row, self.last = row, point
        return point


def improve_gait(
    mode: str,
    begin: Mapping[str, float],
    *,
    iterations: int = 100,
    minutes: float = 10.0,
    tell: Callable[[str], None] = lambda _: None,
) -> ImprovedGait:
    """Make the torque of a gait small by gradients, its goals kept (SLSQP, sequential quadratic programming).

    mode, begin: as of `GaitImprovement`. iterations, minutes: at most. tell: is told of every step. Raises
    `NoGaitError` where there is no gait of one step to begin with."""
    problem = GaitImprovement(mode, begin)
    record = _Record(problem, clock.monotonic() + 60 * minutes, tell)
    first = record.at(problem.first / problem.scale)
    scale = problem.scale
    margins = {
        "type": "ineq",
        "fun": lambda x: record.at(x).margins,
        "jac": lambda x: record.at(x).margins_by * scale,
    }
    returns = {
        "type": "eq",
        "fun": lambda x: record.at(x).misses,
        "jac": lambda x: record.at(x).misses_by * scale,
    }
    weight = _objective_weight(first, scale)
    count, message = 0, "the time is over"
    try:
        outcome = optional_module("scipy.optimize", "gradients").minimize(
            lambda x: weight * record.at(x).torque,
            problem.first / scale,
            jac=lambda x: weight * record.at(x).torque_by * scale,
            bounds=list(zip(problem.low / scale, problem.high / scale, strict=True)),
            constraints=[returns, margins],
            method="SLSQP",
            options={"maxiter": iterations, "ftol": TORQUE_TOLERANCE * weight},
        )
        count, message = int(outcome.nit), str(outcome.message)
    except _OutOfTimeError:
        pass
    row, after, error = problem.first, first.torque, float(np.abs(first.misses).max())
    for _, begin_row in sorted(record.near_gaits, key=lambda each: each[0])[:MAX_ATTEMPTS]:
        gait = _return_exactly(problem, begin_row)
        if gait is not None:
            row, point = gait
            after, error = point.torque, float(np.abs(point.misses).max())
            break
    found = dict(zip(problem.names, row, strict=True))
    return ImprovedGait(
        parameters={name: float(found[name]) for name in problem.parameters},
        state={name: float(found[name]) for name in problem.states},
        before=first.torque,
        after=after,
        return_error=error,
        iterations=count,
        steps=record.steps,
        message=message,
    )


def _return_exactly(problem: GaitImprovement, row: np.ndarray) -> tuple[np.ndarray, _Point] | None:
    """Return the gait of these parameters next to a point, by Newton's method on its states; None where there
    is none that keeps all goals."""
    count = len(problem.states)
    for _ in range(MAX_CORRECTIONS):
        point = problem.evaluate(row)
        if point is None:
            return None
        if np.abs(point.misses).max() < MAX_RETURN_ERROR:
            return (row, point) if point.margins.min() > -KEPT_MARGIN else None
        change = np.linalg.solve(point.misses_by[:, :count], point.misses)
        row = np.concatenate([row[:count] - change, row[count:]])
    return None


def _objective_weight(first: _Point, scale: np.ndarray) -> float:
    """Return by what the torque is multiplied so that the first iteration, which takes the curvature for 1,
    changes no unknown by more than `FIRST_CHANGE`: it goes down the slope along which steps still return."""
    rows = first.misses_by * scale
    slope = first.torque_by * scale
    along = slope - np.linalg.pinv(rows) @ (rows @ slope)
    return float(FIRST_CHANGE / np.abs(along).max())


__all__ = ["GaitImprovement", "ImprovedGait", "improve_gait"]
