"""Newton's method on a return map, from many starts at once: a batch of steps per iteration, on all cores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from strut.gait.return_map import ReturnMap, Step

GOAL = 1e-13
"""A residual below this, relative to the state, is a fixed point; integration is no more exact."""
GOOD = 1e-10
"""A residual below this that no longer shrinks is one too: rounding, magnified by an unstable step, is what
is left."""
NEAR = 1e-4
"""Up to a residual of this, relative to the state, steps may be integrated roughly."""
MAP_NOISE = {True: 1e-7, False: 1e-10}
"""Error of an integrated step, rough and exact, relative to 1 + |y|: a residual this small may be nothing but
that."""
RANK_NOISE = {True: 1e-5, False: 1e-9}
"""Singular values of (return map's Jacobian - 1) below this fraction of the largest, of rough and exact
steps, may be zero."""
ROUNDING = 1e-13
"""Singular values below this fraction of the largest are zero, whatever is to be solved for."""
SHORTEST = 2.0**-10
"""Of a Newton step: one that must be shortened more leads nowhere."""


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Where Newton ended, a row per start. `residual`: change of the free states over the step, largest
    component."""

    y: np.ndarray
    residual: np.ndarray
    converged: np.ndarray
    closest: float
    fell: Counter = field(repr=False)


def newton(step: ReturnMap, starts: np.ndarray, iterations: int = 80, rough: bool = False) -> FixedPoint:
    """Damped Newton on y -> step(y) - y from every row of `starts`.

    A trial that falls, or whose residual is not smaller, is halved; steps are never longer than the state
    itself. rough: only near fixed points, in less time.
    """
    goal = NEAR if rough else GOAL
    y = np.array(starts, dtype=float)
    rows, m = y.shape
    first = step.many(y, rough=rough)
    F, J, alive = first.y - y, first.by_y - np.eye(m), first.ok.copy()
    fell: Counter = Counter(str(s) for s in first.status[~first.ok])
    size = np.where(alive, np.linalg.norm(np.nan_to_num(F), axis=1), np.inf)
    closest = float(size.min(initial=np.inf))
    converged = _small(F, y, goal) & alive
    scale, direction = np.ones(rows), np.zeros_like(y)
    fresh = np.ones(rows, dtype=bool)
    for _ in range(iterations):
        busy = np.flatnonzero(alive & ~converged)
        if not len(busy):
            break
        for k in busy[fresh[busy]]:
            direction[k] = newton_direction(J[k], F[k], y[k], rough)
            length, most = float(np.linalg.norm(direction[k])), 0.5 * (0.1 + float(np.linalg.norm(y[k])))
            scale[k] = min(1.0, most / length) if length > 0 else 1.0
        trial = y[busy] + scale[busy, None] * direction[busy]
        done = step.many(trial, rough=rough)
        fell.update(str(s) for s in done.status[~done.ok])
        new = done.y - trial
        new_size = np.where(done.ok, np.linalg.norm(np.nan_to_num(new), axis=1), np.inf)
        better = new_size < (1 - 1e-4 * scale[busy]) * size[busy]
        stalled = ~better & _small(F[busy], y[busy], GOOD)
        converged[busy[stalled]] = True
        fresh[busy] = better
        took = busy[better]
        y[took], F[took], J[took], size[took] = (
            trial[better],
            new[better],
            done.by_y[better] - np.eye(m),
            new_size[better],
        )
        scale[busy[~better]] /= 2
        alive[busy[~better & ~stalled & (scale[busy] < SHORTEST)]] = False
        converged |= _small(F, y, goal) & alive
        closest = min(closest, float(size.min(initial=np.inf)))
    residual = np.where(np.isfinite(size), np.abs(np.nan_to_num(F)).max(axis=1), np.inf)
    return FixedPoint(y, residual, converged, closest, fell)


def newton_from(
    step: ReturnMap, start: np.ndarray, iterations: int = 60
) -> tuple[Step | None, np.ndarray, float, Counter]:
    """`newton` from one start, roughly until it is near: the last step if it converged, where it ended, its
    residual's size, and what ended steps."""
    y, fell, rough = np.array(start, dtype=float), Counter[str](), True
    done = step(y, rough=True)
    if not done.ok:
        return None, y, np.inf, Counter([done.status])
    F = done.y - y
    size = _length(F)
    one = np.eye(len(y))
    for _ in range(iterations):
        weight = 1 + np.abs(y)
        worst = float((np.abs(F) / weight).max())
        if not rough and worst <= GOAL:
            return done, y, size, fell
        if (
            rough and worst <= MAP_NOISE[True]
        ):  # a rough step has nothing more to say: be exact where it stands
            rough, done = False, step(y)
            if not done.ok:
                return None, y, size, Counter([done.status])
            F = done.y - y
            size = _length(F)
            continue
        direction = newton_direction(done.by_y - one, F, y, rough)
        length, most = _length(direction), 0.5 * (0.1 + _length(y))
        scale = min(1.0, most / length) if length > 0 else 1.0
        if rough and worst <= NEAR:
            rough, trial = False, step(y + scale * direction)
            if not trial.ok:
                return None, y, size, Counter([trial.status])
            y = y + scale * direction
            F, done = trial.y - y, trial
            size = _length(F)
            continue
        while True:
            trial = step(y + scale * direction, rough=rough)
            new = trial.y - y - scale * direction
            grown = _length(new) if trial.ok else np.inf
            if not trial.ok:
                fell[trial.status] += 1
            if grown < (1 - 1e-4 * scale) * size:
                break
            if not rough and worst <= GOOD:
                return done, y, size, fell
            scale /= 2
            if scale < SHORTEST:
                return None, y, size, fell
        y, F, size, done = y + scale * direction, new, grown, trial
    return None, y, size, fell


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
    nothing |= singular < ROUNDING * singular[0]
    return Vt.T @ np.where(nothing, 0.0, along / np.where(nothing, 1.0, singular))


def _length(v: np.ndarray) -> float:
    return float(v @ v) ** 0.5


def shoot(step: ReturnMap, orbit: np.ndarray, iterations: int = 40) -> np.ndarray | None:
    """Multiple shooting: states after each of several steps, rows, such that each step leads to the next and
    the last to the first.

    `step` is the map of one step. What an unstable gait magnifies over all its steps is magnified over one
    only; the states need not follow from each other to begin with. None where it does not converge.
    """
    Y = np.array(orbit, dtype=float)
    k, m = Y.shape

    def defects(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        done = step.many(Y)
        F = done.y - np.roll(Y, -1, axis=0)
        return F, done.by_y, float(np.linalg.norm(F)) if done.ok.all() else np.inf

    F, J, size = defects(Y)
    for _ in range(iterations):
        if not np.isfinite(size):
            return None
        if _small(F, Y, GOAL).all():
            return Y
        A = np.zeros((k * m, k * m))
        for i in range(k):
            A[i * m : (i + 1) * m, i * m : (i + 1) * m] += J[i]
            n = (i + 1) % k
            A[i * m : (i + 1) * m, n * m : (n + 1) * m] -= np.eye(m)
        change = np.linalg.lstsq(A, -F.ravel(), rcond=1e-13)[0].reshape(k, m)
        scale = 1.0
        while True:
            trial = defects(Y + scale * change)
            if trial[2] < (1 - 1e-4 * scale) * size:
                break
            if _small(F, Y, GOOD).all():
                return Y
            scale /= 2
            if scale < SHORTEST:
                return None
        Y, (F, J, size) = Y + scale * change, trial
    return None


def _small(F: np.ndarray, y: np.ndarray, goal: float) -> np.ndarray:
    return np.all(np.abs(F) <= goal * (1 + np.abs(y)), axis=1)
