"""The conditions of Karush, Kuhn and Tucker at a point: residuals, multipliers of what is fixed, and what is
violated most."""

from __future__ import annotations

from typing import Protocol

import casadi as ca
import numpy as np

from strut.optimal.nlp.scaled import Scales
from strut.optimal.nlp.sparse import Assembled
from strut.optimal.nlp.unknowns import RowBlock


class ConditionedProgram(Protocol):
    """What the conditions of an optimum are judged of: a mesh, or several as one. unknowns, rows: their
    bounds; the first row is the cost."""

    assembled: Assembled
    unknowns: RowBlock
    rows: RowBlock

    def numbers(self) -> np.ndarray:
        """Return the numbers that the functions take besides unknowns."""
        ...


MIN_VIOLATION = 1e-7
"""Constraints that are violated by less, in the units in which they are solved, are not listed as
violated."""


def fixed_multipliers(
    mesh: ConditionedProgram, v: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray
) -> np.ndarray:
    """Return the multipliers of the unknowns, also of those that are fixed: IPOPT takes these out of the
    problem, and stationarity says what theirs are."""
    fixed = np.array(mesh.unknowns.low) == np.array(mesh.unknowns.high)
    f, numbers = mesh.assembled.functions, mesh.numbers()
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    return np.where(fixed, -gradient - np.array(ca.mtimes(J.T, lam_g)).reshape(-1), lam_x)


def residuals(
    mesh: ConditionedProgram,
    point: tuple[np.ndarray, np.ndarray],
    multipliers: tuple[np.ndarray, np.ndarray],
    scales: Scales,
) -> dict[str, float]:
    """Return how well the conditions of an optimum (Karush-Kuhn-Tucker) hold, in given units and with
    multipliers scaled as IPOPT does. point: unknowns and rows. multipliers: of bounds and rows."""
    f, numbers, (v, g), (lam_x, lam_g) = mesh.assembled.functions, mesh.numbers(), point, multipliers
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    low, high = _bounds(mesh)
    fixed = (low == high)[: len(v)]
    balance = gradient + np.array(ca.mtimes(J.T, lam_g)).reshape(-1) + lam_x
    units = np.concatenate([scales.unknowns, 1 / scales.rows])
    values, prices = np.concatenate([v, g]), np.concatenate(scales.inward(lam_x, lam_g))
    violation = np.maximum(np.maximum(low - values, values - high), 0) / units
    slack = np.where(prices > 0, high - values, values - low) / units
    open_ones = np.isfinite(slack) & (low < high)
    # A value beyond its bound is a violation, and counted there: the solver relaxes bounds a little.
    slack = np.maximum(np.where(open_ones, slack, 0.0), 0.0)
    size = max(1.0, float(np.abs(prices).mean()) / 100) if len(prices) else 1.0
    balance = np.where(fixed, 0.0, balance * scales.unknowns / scales.cost)
    return {
        "stationarity": float(np.abs(balance).max(initial=0.0)) / size,
        "feasibility": float(violation.max(initial=0.0)),
        "complementarity": float(np.abs(prices * slack).max(initial=0.0)) / size,
    }


def point_residuals(
    mesh: ConditionedProgram, v: np.ndarray, multipliers: tuple[np.ndarray, np.ndarray], scales: Scales
) -> dict[str, float]:
    """Return the `residuals` at unknowns, with multipliers of bounds and rows; those of unknowns that are
    fixed follow."""
    lam_x, lam_g = multipliers
    g = np.array(mesh.assembled.functions["nlp"](v, mesh.numbers())[1]).reshape(-1)
    return residuals(mesh, (v, g), (fixed_multipliers(mesh, v, lam_g, lam_x), lam_g), scales)


def worst(
    mesh: ConditionedProgram, v: np.ndarray, g: np.ndarray, scales: Scales, count: int = 3
) -> dict[str, float]:
    """Return the constraints and bounds that are violated most, relative to their scales, by name and in
    their own unit, beyond rounding."""
    names, values, (low, high) = (
        [*mesh.unknowns.names, *mesh.rows.names[1:]],
        np.concatenate([v, g]),
        _bounds(mesh),
    )
    excess = np.maximum(low - values, values - high)
    excess = np.where(np.isnan(excess), np.inf, excess)
    relative = excess / np.concatenate([scales.unknowns, 1 / scales.rows])
    violations: dict[str, float] = {}
    for i in np.argsort(-relative):
        if relative[i] <= MIN_VIOLATION or len(violations) == count:
            break
        violations.setdefault(names[i], float(excess[i]))
    return violations


def _bounds(mesh: ConditionedProgram) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of all unknowns, then of all rows but the cost."""
    low = np.array([*mesh.unknowns.low, *mesh.rows.low[1:]])
    return low, np.array([*mesh.unknowns.high, *mesh.rows.high[1:]])


__all__ = ["ConditionedProgram", "fixed_multipliers", "point_residuals", "residuals", "worst"]
