"""Newton's method on a return map: damped, from many starts at once. One start is a batch of one, and a gait
of several steps by multiple shooting a fixed point of another map."""

from __future__ import annotations

import time as clock
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from strut.gait.deadline import Deadline
from strut.gait.return_map import ReturnMap

MAX_RESIDUAL = 1e-13
"""Largest residual of a fixed point, relative to 1 + |y|; integration is no more exact."""
MAX_STALLED_RESIDUAL = 1e-10
"""Largest residual, relative to 1 + |y|, of a fixed point at which the residual no longer shrinks: rounding,
magnified by an unstable step, is what is left."""
ROUNDING = 1e-14
"""What is not known of a state, relative to 1 + |y|. A step magnifies it by the 2-norm of its Jacobian: a
residual of that size is as small as one can be, at a fixed point where it no longer shrinks."""
MAX_MAGNIFIED_RESIDUAL = 1e-6
"""But a larger one, relative to 1 + |y|, is none: Jacobians grow without bound where a foot grazes."""
MAX_ROUGH_RESIDUAL = 1e-4
"""Residual, relative to 1 + |y|, down to which steps are integrated roughly."""
MAP_NOISE = {True: 1e-7, False: 1e-10}
"""Error of an integrated step, rough and exact, relative to 1 + |y|: a residual this small may be nothing but
that."""
RANK_NOISE = {True: 1e-5, False: 1e-9}
"""Singular values of (return map's Jacobian - 1) below this fraction of the largest, of rough and exact
steps, may be zero."""
MIN_SINGULAR_RATIO = 1e-13
"""Singular values below this fraction of the largest are zero, whatever is to be solved for."""
MIN_STEP_SCALE = 2.0**-10
"""Smallest fraction of a Newton step that is tried: one that must be shortened more leads nowhere."""
ARMIJO_SLOPE = 1e-4
"""Fraction of the decrease that the linear model promises which a shortened step must reach (Armijo's
condition)."""
MAX_EVALUATIONS = 80
"""Steps evaluated from each of many starts."""
MAX_EVALUATIONS_OF_ONE = 200
"""Steps evaluated from a single start."""
PORTION_TIME = 1.0
"""How long the rows that are evaluated together should take [s]: so often a search looks at the clock."""
FIRST_PORTION, MIN_PORTION, MAX_PORTION = 64, 16, 4096
"""How many rows are evaluated together at first, at least and at most."""


class Evaluations(Protocol):
    """What Newton's method needs of evaluations of a map, a row each: where it leads, its derivative, whether
    there was a result, and what ended it."""

    @property
    def y(self) -> np.ndarray:
        """The states to which the map leads."""

    @property
    def by_y(self) -> np.ndarray:
        """The derivatives of `y`, a matrix for each."""

    @property
    def ok(self) -> np.ndarray:
        """Whether there was a result."""

    @property
    def status(self) -> np.ndarray:
        """What ended each, in a word."""


class Map(Protocol):
    """A map whose fixed points are sought: a `ReturnMap`, or an `OrbitMap`."""

    def many(self, y: np.ndarray, *, rough: bool = False) -> Evaluations:
        """Evaluate the map at rows of `y`, exactly or roughly."""


@dataclass(frozen=True, eq=False)
class FixedPoints:
    """Where Newton ended, a row per start.

    y: the free states. ahead: where the next Newton step would lead from there; `y` itself where the residual
        is no more than the error of integration. converged: whether `y` is a fixed point, as exactly as was
        asked. ended: whether there was time to go on until it is, or leads nowhere.
    residual: the change of the state over a step from `y`, 2-norm; inf where there was none. closest: the
        smallest of them. fell: how often each reason ended a step.
    """

    y: np.ndarray
    ahead: np.ndarray
    converged: np.ndarray
    ended: np.ndarray = field(repr=False)
    residual: np.ndarray = field(repr=False)
    closest: float
    fell: Counter[str] = field(repr=False)


class Portions:
    """How many rows are evaluated together: as many as take about `PORTION_TIME`, so that a search of many
    slow steps can end in between."""

    def __init__(self) -> None:
        self.size = FIRST_PORTION

    @contextmanager
    def time(self, rows: int) -> Iterator[None]:
        """Learn from how long the block takes to evaluate so many rows."""
        began = clock.perf_counter()
        yield
        seconds = max(clock.perf_counter() - began, 1e-6)
        self.size = int(np.clip(rows * PORTION_TIME / seconds, MIN_PORTION, MAX_PORTION))


def newton(
    step: Map,
    starts: np.ndarray,
    *,
    evaluations: int = MAX_EVALUATIONS,
    rough: bool = False,
    progress: Callable[[float], None] | None = None,
    deadline: Deadline | None = None,
) -> FixedPoints:
    """Damped Newton on y -> step(y) - y from every row of `starts`, the first rows first.

    A trial that falls, or whose residual is not smaller (Armijo's condition), is halved; steps are never
    longer than half of the state. evaluations: of the step, at most, from each start. rough: integrate
    roughly, and end near fixed points (`MAX_ROUGH_RESIDUAL`). progress: called with the part of the starts
    that has ended [1]. deadline: where they have not all ended by then, the others stay where they are; so
    they do where Ctrl-C ends the search that the deadline is of.
    """
    goal = MAX_ROUGH_RESIDUAL if rough else MAX_RESIDUAL
    y = np.array(starts, dtype=float)
    rows, m = y.shape
    F, J = np.zeros_like(y), np.zeros((rows, m, m))
    size, direction, scale = np.full(rows, np.inf), np.zeros_like(y), np.ones(rows)
    alive, fresh, converged = np.ones(rows, bool), np.ones(rows, bool), np.zeros(rows, bool)
    used = np.zeros(rows, int)  # the first evaluation is where it begins
    fell: Counter[str] = Counter()
    portions = Portions()
    while deadline is None or not deadline.is_over:
        busy = np.flatnonzero(alive & ~converged & (used <= evaluations))
        if not len(busy):
            break
        if progress is not None:
            progress(1.0 - len(busy) / rows)
        busy = busy[: portions.size]
        # rows that moved have a new direction; the others try a part of their last one
        for k in busy[fresh[busy] & (used[busy] > 0)]:
            direction[k], scale[k] = limited_direction(J[k], F[k], y[k], rough)
        trial_y = y[busy] + scale[busy, None] * direction[busy]
        try:
            with portions.time(len(busy)):
                trial = step.many(trial_y, rough=rough)
        except KeyboardInterrupt:
            if deadline is None:
                raise
            deadline.interrupt()  # what there is so far is not lost
            break
        first = used[busy] == 0
        used[busy] += 1
        fell.update(str(s) for s in trial.status[~trial.ok])
        trial_F = trial.y - trial_y
        trial_size = np.where(trial.ok, np.linalg.norm(np.nan_to_num(trial_F), axis=1), np.inf)
        better = trial_size < (1 - ARMIJO_SLOPE * scale[busy]) * size[busy]
        stalled = ~better & ~first & _small(F[busy], y[busy], _least_residual(J[busy], rough)[:, None])
        converged[busy[stalled]] = True
        fresh[busy] = better
        moved = busy[better]
        y[moved], F[moved], J[moved], size[moved] = (
            trial_y[better],
            trial_F[better],
            trial.by_y[better] - np.eye(m),
            trial_size[better],
        )
        scale[busy[~better]] /= 2
        alive[busy[~better & ~stalled & (first | (scale[busy] < MIN_STEP_SCALE))]] = False
        converged[moved] = _small(F[moved], y[moved], goal)
    ahead = y.copy()
    for k in np.flatnonzero(converged & ~_small(F, y, MAP_NOISE[rough])):
        change, part = limited_direction(J[k], F[k], y[k], rough)
        ahead[k] = y[k] + part * change
    return FixedPoints(
        y=y,
        ahead=ahead,
        converged=converged,
        ended=~(alive & ~converged & (used <= evaluations)),
        residual=size,
        closest=float(size.min(initial=np.inf)),
        fell=fell,
    )


def fixed_points(
    step: Map,
    starts: np.ndarray,
    evaluations: int = MAX_EVALUATIONS,
    *,
    deadline: Deadline | None = None,
) -> FixedPoints:
    """Fixed points of a map from every row of `starts`: `newton` with rough steps until it is near, in at
    most so many `evaluations`, then with exact ones.

    The exact ones begin where the next rough Newton step would lead. It saves an evaluation, and loses a
    start that falls there.
    """
    near = newton(step, starts, evaluations=evaluations, rough=True, deadline=deadline)
    rows = np.flatnonzero(near.converged)
    if not len(rows):
        return near
    exact = newton(step, near.ahead[rows], deadline=deadline)
    y, ahead, converged, residual = (
        part.copy() for part in (near.y, near.ahead, near.converged, near.residual)
    )
    y[rows], ahead[rows], converged[rows] = exact.y, exact.ahead, exact.converged
    residual[rows] = exact.residual
    return FixedPoints(
        y=y,
        ahead=ahead,
        converged=converged,
        ended=near.ended,
        residual=residual,
        closest=min(near.closest, exact.closest),
        fell=near.fell + exact.fell,
    )


def limited_direction(A: np.ndarray, F: np.ndarray, y: np.ndarray, rough: bool) -> tuple[np.ndarray, float]:
    """`newton_direction`, and the part of it that is no longer than half of the state (0.05 at least)."""
    direction = newton_direction(A, F, y, rough)
    length, longest = _length(direction), 0.5 * (0.1 + _length(y))
    return direction, min(1.0, longest / length) if length > 0 else 1.0


def newton_direction(A: np.ndarray, F: np.ndarray, y: np.ndarray, rough: bool) -> np.ndarray:
    """Newton's step: the shortest least-squares solution of A x = -F, by a truncated singular value
    decomposition.

    A direction in which A may be singular (`RANK_NOISE`) and F no more than the error of integration
    (`MAP_NOISE`) is left alone: a machine that conserves energy has one, along its family of gaits, and the
    quotient of two errors would lead anywhere along it.
    """
    U, singular, Vt = np.linalg.svd(A)
    along = -(U.T @ F)
    noise = MAP_NOISE[rough] * (1 + np.abs(y).max(initial=0.0))
    nothing = (singular < RANK_NOISE[rough] * singular[0]) & (np.abs(along) <= noise)
    nothing |= singular < MIN_SINGULAR_RATIO * singular[0]
    direction: np.ndarray = Vt.T @ np.where(nothing, 0.0, along / np.where(nothing, 1.0, singular))
    return direction


@dataclass(frozen=True, eq=False)
class OrbitSteps:
    """Evaluations of an `OrbitMap`; see `Evaluations`."""

    y: np.ndarray
    by_y: np.ndarray
    ok: np.ndarray
    status: np.ndarray


@dataclass(frozen=True, eq=False)
class OrbitMap:
    """From the states after each of `count` steps, one after the other in a row, to where one step from the
    state before leads: a gait of several steps is a fixed point (multiple shooting)."""

    step: ReturnMap
    count: int

    def many(self, y: np.ndarray, *, rough: bool = False) -> OrbitSteps:
        """Evaluate the map at rows of `y`; see `ReturnMap.many`."""
        rows, k = len(y), self.count
        m = y.shape[1] // k
        steps = self.step.many(y.reshape(rows * k, m), rough=rough)
        by_y = np.zeros((rows, k, m, k, m))
        for i in range(k):
            by_y[:, (i + 1) % k, :, i, :] = steps.by_y.reshape(rows, k, m, m)[:, i]
        ok, status = steps.ok.reshape(rows, k), steps.status.reshape(rows, k)
        worst = np.argmin(ok, axis=1)
        return OrbitSteps(
            y=np.roll(steps.y.reshape(rows, k, m), 1, axis=1).reshape(rows, k * m),
            by_y=by_y.reshape(rows, k * m, k * m),
            ok=np.asarray(ok.all(axis=1)),
            status=status[np.arange(rows), worst],
        )


def shoot(step: ReturnMap, orbit: np.ndarray) -> np.ndarray | None:
    """Multiple shooting: states after each of several steps, rows, such that each step leads to the next and
    the last to the first.

    `step` is the map of one step. What an unstable gait magnifies over all its steps is magnified over one
    only; the states need not follow from each other to begin with. None where it does not converge.
    """
    orbit = np.asarray(orbit, dtype=float)
    points = newton(OrbitMap(step, len(orbit)), orbit.reshape(1, -1), evaluations=MAX_EVALUATIONS_OF_ONE)
    return points.y.reshape(orbit.shape) if points.converged[0] else None


def _length(v: np.ndarray) -> float:
    return float(np.sqrt(v @ v))


def _least_residual(J: np.ndarray, rough: bool) -> np.ndarray:
    """Return for Jacobians, of rough or exact steps, how small a residual can be expected to become, relative
    to 1 + |y|."""
    if rough:
        return np.full(len(J), MAX_STALLED_RESIDUAL)
    magnified = ROUNDING * np.linalg.norm(J, 2, axis=(1, 2))
    least: np.ndarray = np.clip(magnified, MAX_STALLED_RESIDUAL, MAX_MAGNIFIED_RESIDUAL)
    return least


def _small(F: np.ndarray, y: np.ndarray, goal: float | np.ndarray) -> np.ndarray:
    """In which rows is the residual below `goal`, relative to 1 + |y|?"""
    small: np.ndarray = np.all(np.abs(F) <= goal * (1 + np.abs(y)), axis=1)
    return small


__all__ = ["FixedPoints", "Portions", "fixed_points", "newton", "shoot"]
