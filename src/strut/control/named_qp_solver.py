"""`NamedQpSolver`: quadratic programs with goals of several levels and rows of several ranks, by any solver
of plain ones. What `strut_qp.c` does around daqp, once more in NumPy: scaling, levels, relaxation, checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strut.codegen import QpReport, QpShape, QpStatus
from strut.control.qp_solvers import Answer, ScaledProgram, solver_by_name

MAX_RESIDUAL = 1e-8
"""[1] Largest relative residual of a solution that is taken, as in `strut_qp.c`."""
MIN_DIAGONAL = 1e-12
"""[1] Least diagonal entry of the Hessian by which is scaled, relative to the largest."""
LEVEL_DAMPING = 1e-9
"""[1] Tikhonov's, of all but the last level, relative to the scaled Hessian."""
MISS_WEIGHT = 1e8
"""[1] Weight of squared misses of relaxed rows beside squared unknowns."""
MISS_MARGIN = 1e-7
"""[1] By which misses are held wider than they are, relative to 1 + their row's size: what interior-point
methods need to have an inside."""
NO_BOUND = 1e29
"""Bounds from here on are none, in their unit."""


@dataclass(frozen=True, eq=False)
class _GivenProgram:
    """A program as given: see `strut_qp.h`. Matrices row by row."""

    H: np.ndarray
    g: np.ndarray
    T: np.ndarray
    target: np.ndarray
    w: np.ndarray
    A: np.ndarray
    low: np.ndarray
    up: np.ndarray

    @property
    def is_numbers(self) -> bool:
        """Whether everything is numbers, and no weight negative."""
        finite = all(
            np.isfinite(each).all() for each in (self.H, self.g, self.T, self.target, self.w, self.A)
        )
        return bool(finite and not np.isnan([self.low, self.up]).any() and (self.w >= 0).all())

    @property
    def rows(self) -> np.ndarray:
        """The matrix of bounds and rows."""
        return np.vstack([np.eye(len(self.g)), self.A])

    def misses(self, y: np.ndarray) -> np.ndarray:
        """By how much each bound and row is missed: positive above its upper side, negative below."""
        value = self.rows @ y
        return np.asarray(np.maximum(value - self.up, 0) + np.minimum(value - self.low, 0))


@dataclass(frozen=True, eq=False)
class _SmallerProgram:
    """A program in scaled unknowns, without those that have no choice. kept_rows: which bounds and rows are
    left. multiplier_scale: what multipliers of these are to be multiplied with."""

    program: ScaledProgram
    kept_rows: np.ndarray
    multiplier_scale: np.ndarray

    @classmethod
    def of(cls, program: ScaledProgram, y: np.ndarray, scale: np.ndarray) -> _SmallerProgram:
        """Scale a program. y: of unknowns that are taken out, else 0. scale: of the others, else 0."""
        free = scale > 0
        d = scale[free]
        A = program.A[:, free] * d
        norms = np.sqrt((A**2).sum(axis=1))
        kept_rows = np.concatenate([free, norms > 0])
        reach = np.concatenate([d, norms[norms > 0]])
        moved = np.concatenate([np.zeros(len(d)), (program.A @ y)[norms > 0]])
        gradient = (program.q + program.P @ y)[free] * d
        size = abs(gradient).max(initial=0) or 1.0
        smaller = ScaledProgram(
            program.P[np.ix_(free, free)] * d[:, None] * d / size,
            gradient / size,
            A[norms > 0] / norms[norms > 0, None],
            (program.low[kept_rows] - moved) / reach,
            (program.up[kept_rows] - moved) / reach,
        )
        return cls(smaller, kept_rows, size / reach)


class NamedQpSolver:
    """A solver of quadratic programs of one shape, by name. `solve` as of `strut.codegen.QpSolver`."""

    def __init__(self, shape: QpShape, name: str) -> None:
        self.shape, self.name = shape, name
        self._answer = solver_by_name(name)
        self.levels, self.ranks = np.array(shape.levels, int), np.array(shape.ranks, int)

    def solve(self, *data: Any) -> tuple[np.ndarray, QpReport]:
        """Solve one program from H, g, T, target, w, A, low and up, matrices row by row. Return the unknowns
        and the report."""
        n, goals, rows = self.shape.n, self.shape.goals, self.shape.rows
        shapes = ((n, n), (n,), (goals, n), (goals,), (goals,), (rows, n), (n + rows,), (n + rows,))
        q = _GivenProgram(*(np.asarray(each, float).reshape(s) for each, s in zip(data, shapes, strict=True)))
        q = replace(q, H=np.triu(q.H) + np.triu(q.H, 1).T)
        report = QpReport(missed_row=-1)
        if not q.is_numbers:
            report.status = QpStatus.BAD_DATA
            return np.zeros(n), report
        y = self._solve_levels(q, report)
        if y is not None:
            report.status = QpStatus.SOLVED
            return y, report
        for relax in range(max(self.ranks, default=0), 0, -1):
            wide_program = self._least_misses(q, relax, report)
            y = None if wide_program is None else self._solve_levels(wide_program, report)
            if y is not None:
                report.status, report.relaxed = QpStatus.RELAXED, relax
                misses = np.where(self.ranks >= relax, abs(q.misses(y)), 0)
                report.relaxation = misses.max(initial=0)
                report.missed_row = int(np.where(self.ranks == relax, misses, 0).argmax())
                return y, report
        report.status = QpStatus.FAILED
        return np.zeros(n), report

    def _solve_levels(self, q: _GivenProgram, report: QpReport) -> np.ndarray | None:
        """Solve all levels, one after the other; each holds what those before it met."""
        n, top, y = self.shape.n, max(self.shape.levels, default=1), None
        diagonal = np.diag(q.H) + (q.w[:, None] * q.T**2).sum(axis=0)
        scale = 1 / np.sqrt(np.maximum(diagonal, MIN_DIAGONAL * (diagonal.max(initial=0) or 1)))
        for level in range(1, top + 1):
            own = self.levels == level
            T, w, target = q.T[own], q.w[own], q.target[own]
            last = level == top
            P = T.T @ (w[:, None] * T) + (q.H if last else np.diag(LEVEL_DAMPING / scale**2))
            gradient = -T.T @ (w * target) + (q.g if last else 0)
            before = (self.levels < level) & (q.w > 0)
            met = q.T[before] @ (np.zeros(n) if y is None else y)
            program = ScaledProgram(
                P,
                gradient,
                np.vstack([q.A, q.T[before]]),
                np.concatenate([q.low, met]),
                np.concatenate([q.up, met]),
            )
            y = self._minimise(program, scale, report)
            if y is None:
                return None
        return y

    def _minimise(self, program: ScaledProgram, scale: np.ndarray, report: QpReport) -> np.ndarray | None:
        """Return the minimiser of a program without levels; nothing where the solver finds none that passes
        the check. scale: of the unknowns. Unknowns that bounds leave no choice are taken out."""
        n = len(program.q)
        low = np.where(program.low > -NO_BOUND, program.low, -np.inf)
        up = np.where(program.up < NO_BOUND, program.up, np.inf)
        free = low[:n] < up[:n]
        fixed, d = np.where(free, 0.0, low[:n]), np.where(free, scale, 0.0)
        if (low > up).any():
            return None
        smaller = _SmallerProgram.of(replace(program, low=low, up=up), fixed, d)
        answer = self._answer(smaller.program) if free.any() else (np.zeros(0), np.zeros(0))
        if answer is None or not all(np.isfinite(each).all() for each in answer):
            return None
        solutions = []
        for z, multipliers in (answer, _polish(smaller.program, *answer)):
            y, lam = fixed.copy(), np.zeros(len(low))
            y[free] = np.clip(z * scale[free], low[:n][free], up[:n][free])
            lam[smaller.kept_rows] = multipliers * smaller.multiplier_scale
            solutions.append((_residuals(program, y, lam, d), y))
        residuals, y = min(solutions, key=lambda each: max(each[0]))
        report.stationarity, report.feasibility, report.complementarity = residuals
        return y if max(residuals) <= MAX_RESIDUAL else None

    def _least_misses(self, q: _GivenProgram, relax: int, report: QpReport) -> _GivenProgram | None:
        """Return the program whose bounds and rows of ranks from `relax` on are widened by the least misses
        (sum of squares, each over its row's norm), rank by rank; nothing where the others contradict one
        another."""
        n, rows = self.shape.n, q.rows
        norms = np.maximum(np.sqrt((rows**2).sum(axis=1)), 1e-300)
        low, up = (
            np.where(self.ranks < relax, side, none) for side, none in ((q.low, -np.inf), (q.up, np.inf))
        )
        for rank in range(relax, max(self.ranks) + 1):
            own = np.flatnonzero((self.ranks == rank) & ((q.low > -NO_BOUND) | (q.up < NO_BOUND)))
            # each relaxed row has an unknown of its own: how far it is missed, over its norm
            count = len(own)
            wide = np.zeros((len(rows) - n + count, n + count))
            wide[: len(rows) - n, :n] = q.A
            wide[len(rows) - n :, :n] = rows[own]
            wide[len(rows) - n :, n:] = -np.diag(norms[own])
            none = np.full(count, np.inf)
            program = ScaledProgram(
                np.diag(np.concatenate([np.ones(n), np.full(count, MISS_WEIGHT)])),
                np.zeros(n + count),
                wide,
                np.concatenate([low[:n], -none, low[n:], q.low[own]]),
                np.concatenate([up[:n], none, up[n:], q.up[own]]),
            )
            y = self._minimise(
                program, np.concatenate([np.ones(n), np.full(count, MISS_WEIGHT**-0.5)]), report
            )
            if y is None:
                return None
            misses = q.misses(y[:n])
            mine = self.ranks == rank
            margin = MISS_MARGIN * (1 + abs(misses))
            low = np.where(mine, q.low + np.where(misses < 0, misses - margin * (1 + abs(q.low)), 0), low)
            up = np.where(mine, q.up + np.where(misses > 0, misses + margin * (1 + abs(q.up)), 0), up)
        return replace(q, low=low, up=up)


def _polish(program: ScaledProgram, y: np.ndarray, lam: np.ndarray) -> Answer:
    """Return the answer that an answer comes near to: rows whose multiplier is larger than their slack are
    taken for equations, and these are solved together with stationarity, as OSQP polishes its own."""
    n = len(y)
    rows = np.vstack([np.eye(n), program.A])
    value = rows @ y
    at_up = (lam > program.up - value) | (program.low == program.up)
    at_low = (-lam > value - program.low) & ~at_up
    active = at_up | at_low
    K = rows[active]
    matrix = np.block([[program.P, K.T], [K, np.zeros((len(K), len(K)))]])
    side = np.where(at_up, program.up, program.low)[active]
    solution = np.linalg.lstsq(matrix, np.concatenate([-program.q, side]), rcond=None)[0]
    multipliers = np.zeros(len(lam))
    multipliers[active] = solution[n:]
    return solution[:n], multipliers


def _residuals(
    program: ScaledProgram, y: np.ndarray, lam: np.ndarray, scale: np.ndarray
) -> tuple[float, float, float]:
    """Stationarity, feasibility and complementarity (conditions of Karush, Kuhn and Tucker), relative, as
    `strut_qp.h` says. scale: of the unknowns, 0 where they are fixed."""
    n = len(y)
    parts = np.column_stack([program.q, program.P * y, np.diag(lam[:n]), (program.A * lam[n:, None]).T])
    terms = max(float((abs(parts).max(axis=1) * scale).max(initial=0)), 1e-300)
    stationarity = float((abs(parts.sum(axis=1)) * scale).max(initial=0)) / terms
    rows = np.vstack([np.eye(n), program.A])
    value, reach = rows @ y, abs(rows * y).max(axis=1)
    low, up = (
        np.where(abs(side) < NO_BOUND, side, s * np.inf) for side, s in ((program.low, -1), (program.up, 1))
    )
    sides = [np.where(np.isfinite(side), abs(side), 0) for side in (low, up)]
    size = 1 + np.maximum(reach, np.maximum(*sides))
    feasibility = float((np.maximum(low - value, value - up) / size).max(initial=0))
    push = abs(lam) * abs(rows * scale).max(axis=1) / terms
    slack = np.where(lam > 0, up - value, value - low) / size
    open_rows = up > low
    complementarity = float(np.minimum(push, abs(slack))[open_rows].max(initial=0))
    return stationarity, max(feasibility, 0.0), complementarity


__all__ = ["NamedQpSolver"]
