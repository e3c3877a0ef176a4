"""`KktStep`: a step of Newton's method on the conditions of Karush, Kuhn and Tucker, active limits held.

At an optimum it says how unknowns and multipliers move where the problem changes a little: the sensitivities
of a nonlinear program (Fiacco). Complementarity is linearised as an interior-point method does, so that every
limit is held as far as it is active, and none has to be sorted into active and inactive.
"""

from __future__ import annotations

from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scaled import Scales

LINEAR_SOLVER = "ldl"
"""CasADi's sparse LDL factorisation, with the ordering of approximate minimum degree."""
REGULARISATIONS = (1e-8, 1e-6, 1e-10)
"""What is added to the diagonal, and taken out again by iterative refinement; tried in this order. Where
limits say the same twice, as a path constraint does at an event, their multipliers are then shared, and the
motion is what it is."""
REFINEMENTS = 20
"""Steps of iterative refinement at most; with the first regularisation 3 to 8 are usual."""
MIN_DISTANCE = 1e-12
"""Distances from a bound count as at least this, in its own unit."""
MAX_LINEAR_RESIDUAL = 1e-8
"""Where a linear system is solved less well than to this part of its right side, it is singular."""
LINEAR_TOLERANCE = 1e-11
"""A linear system is solved where it holds to this part of its right side."""


@dataclass(frozen=True, eq=False)
class KktChange:
    """By how much unknowns, multipliers of their bounds, and multipliers of rows move."""

    unknowns: np.ndarray
    bounds: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class KktStep:
    """The linearised conditions of an optimum at a point of a mesh.

    unknowns: where. bounds, rows: multipliers there, as CasADi has them: positive where the upper bound
    presses. scales: the units in which the linear system is regularised, and judged.
    """

    mesh: Transcribed
    unknowns: np.ndarray
    bounds: np.ndarray
    rows: np.ndarray
    scales: Scales

    @cached_property
    def _free(self) -> np.ndarray:
        """Indices of the unknowns that are not fixed."""
        return np.flatnonzero(np.less(self.mesh.unknowns.low, self.mesh.unknowns.high))

    @cached_property
    def _fixed(self) -> np.ndarray:
        """Indices of the unknowns that are fixed."""
        return np.setdiff1d(np.arange(len(self.unknowns)), self._free)

    @cached_property
    def _curvature(self) -> ca.DM:
        """The Hessian of the Lagrangian."""
        H = self.mesh.assembled.functions["hess_lag"](self.unknowns, self.mesh.numbers(), 1.0, self.rows)
        return ca.triu2symm(H)

    @cached_property
    def _jacobian(self) -> ca.DM:
        """Of the rows."""
        J: ca.DM = self.mesh.assembled.functions["jac_g"](self.unknowns, self.mesh.numbers())[1]
        return J

    @cached_property
    def row_values(self) -> np.ndarray:
        """The rows at the point."""
        values = self.mesh.assembled.functions["nlp"](self.unknowns, self.mesh.numbers())[1]
        return np.array(values).reshape(-1)

    @cached_property
    def _bound_stiffness(self) -> np.ndarray:
        """Multiplier over distance, of the bounds of every unknown: infinite where one is active."""
        low, high = np.array(self.mesh.unknowns.low), np.array(self.mesh.unknowns.high)
        distance = np.abs(distance_to_bound(self.unknowns, (low, high), self.bounds))
        stiffness = np.abs(self.bounds) / np.maximum(distance, MIN_DISTANCE)
        return np.where(low < high, stiffness, 0.0)

    @cached_property
    def _row_softness(self) -> np.ndarray:
        """Distance over multiplier of every row: zero of equations and active limits, infinite of others."""
        low, high = np.array(self.mesh.rows.low[1:]), np.array(self.mesh.rows.high[1:])
        distance = np.maximum(
            np.abs(distance_to_bound(self.row_values, (low, high), self.rows)), MIN_DISTANCE
        )
        with np.errstate(divide="ignore", over="ignore"):  # of a tiny multiplier it is infinite, too
            return np.where(low < high, distance / np.abs(self.rows), 0.0)

    @cached_property
    def _row_scale(self) -> np.ndarray:
        """By what rows and columns of multipliers are multiplied, so that inactive ones only say that their
        multiplier stays."""
        scale: np.ndarray = 1.0 / np.sqrt(np.maximum(1.0, self._row_softness))
        return scale

    @cached_property
    def _matrix(self) -> ca.DM:
        """The symmetric matrix of the linear system for free unknowns and rows."""
        free, scale = self._free.tolist(), self._row_scale
        softness = np.where(np.isinf(self._row_softness), 1.0, np.minimum(self._row_softness, 1.0))
        H = self._curvature[free, free] + ca.diag(ca.DM(self._bound_stiffness[free]))
        J = ca.mtimes(ca.diag(ca.DM(scale)), self._jacobian[:, free])
        return ca.blockcat(H, J.T, J, ca.diag(ca.DM(-softness)))

    def solve(self, gradient: np.ndarray, row_shift: np.ndarray, bound_shift: np.ndarray) -> KktChange:
        """Return how the optimum moves.

        gradient: by which the gradient of the Lagrangian grows, of every unknown. row_shift: by which bounds
        of rows, less what the rows grow by themselves, move up. bound_shift: by which bounds of unknowns do.
        Raises `ModelError` where that does not say how: several motions are as good.
        """
        free, fixed = self._free, self._fixed
        change = np.zeros(len(self.unknowns))
        change[fixed] = bound_shift[fixed]
        along = np.array(ca.mtimes(self._curvature, change)).reshape(-1)
        moved_rows = np.array(ca.mtimes(self._jacobian, change)).reshape(-1)
        upper = -gradient - along + self._bound_stiffness * bound_shift
        step = self._solve_linear(np.concatenate([upper[free], self._row_scale * (row_shift - moved_rows)]))
        change[free] = step[: len(free)]
        rows = self._row_scale * step[len(free) :]
        bounds = self._bound_stiffness * (change - bound_shift)
        if len(fixed):  # stationarity says what the multipliers of fixed unknowns are
            balance = np.array(ca.mtimes(self._curvature, change) + ca.mtimes(self._jacobian.T, rows))
            bounds[fixed] = -(gradient + balance.reshape(-1))[fixed]
        return KktChange(change, bounds, rows)

    def check_determined(self) -> None:
        """Raise `ModelError` where several motions are as good: the curvature of the Lagrangian along the
        active limits is then singular, and a gradient of random numbers leads to no step."""
        random = np.random.default_rng(0).standard_normal(len(self._free)) / self._units[: len(self._free)]
        self._solve_linear(np.concatenate([random, np.zeros(len(self.rows))]))

    @cached_property
    def _units(self) -> np.ndarray:
        """By what rows and columns of the linear system are multiplied, so that unknowns and multipliers are
        those of the scaled problem."""
        cost = np.sqrt(self.scales.cost)
        return np.concatenate([self.scales.unknowns[self._free] / cost, self.scales.rows * cost])

    def _solve_linear(self, right: np.ndarray) -> np.ndarray:
        """Return the solution of the linear system: of a regularised one, by iterative refinement, the best
        of its steps."""
        count, units = len(self._free), self._units
        signs = np.concatenate([np.ones(count), -np.ones(len(right) - count)])
        scaled = self._matrix
        if (units != 1).any():
            scaled = ca.mtimes(ca.mtimes(ca.diag(ca.DM(units)), self._matrix), ca.diag(ca.DM(units)))
        right = units * right
        size = np.abs(right).max(initial=0.0)
        for regularisation in REGULARISATIONS:
            regular = scaled + ca.diag(ca.DM(regularisation * signs))
            solver = ca.Linsol("kkt", LINEAR_SOLVER, regular.sparsity())
            step, best, residual, least = np.zeros(len(right)), np.zeros(len(right)), right, np.inf
            for _ in range(REFINEMENTS):
                with redirect_stderr(StringIO()):  # CasADi warns of zero pivots; the residual shows them
                    step = step + np.array(solver.solve(regular, residual)).reshape(-1)
                residual = right - np.array(ca.mtimes(scaled, step)).reshape(-1)
                now = float(np.abs(residual).max(initial=0.0))
                if not now < least:
                    break
                best, least = step, now
                if now <= LINEAR_TOLERANCE * size:
                    break
            if least <= MAX_LINEAR_RESIDUAL * size:
                return np.asarray(units * best)
        raise ModelError(
            f"how the optimum of '{self.mesh.system.name}' moves is not determined: several motions are as "
            f"good; free less, or add a little of a cost such as squared torque"
        )


def distance_to_bound(
    values: np.ndarray, bounds: tuple[np.ndarray, np.ndarray], multipliers: np.ndarray
) -> np.ndarray:
    """Return how far values are from the bound on whose side their multiplier is, counted upwards; where
    that is infinite, from the other one."""
    low, high = bounds
    upper = (multipliers > 0) & np.isfinite(high) | ~np.isfinite(low)
    distances: np.ndarray = np.where(upper, high - values, low - values)
    return distances


__all__ = ["KktChange", "KktStep", "distance_to_bound"]
