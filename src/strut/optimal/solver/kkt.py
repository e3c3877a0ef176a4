"""The conditions of Karush, Kuhn and Tucker at a point: residuals, multipliers of what is fixed, and what is
violated most."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.optimal.nlp.nlp import Transcribed

MIN_VIOLATION = 1e-7
"""Constraints that are violated by less, in their own unit, are not listed as violated."""


def fixed_multipliers(mesh: Transcribed, v: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray) -> np.ndarray:
    """Return the multipliers of the unknowns, also of those that are fixed: IPOPT takes these out of the
    problem, and stationarity says what theirs are."""
    fixed = np.array(mesh.unknowns.low) == np.array(mesh.unknowns.high)
    f, numbers = mesh.assembled.functions, mesh.numbers()
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    return np.where(fixed, -gradient - np.array(ca.mtimes(J.T, lam_g)).reshape(-1), lam_x)


def residuals(
    mesh: Transcribed, v: np.ndarray, g: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray
) -> dict[str, float]:
    """Return how well the conditions of an optimum (Karush-Kuhn-Tucker) hold, multipliers scaled as IPOPT
    does."""
    f, numbers = mesh.assembled.functions, mesh.numbers()
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    fixed = np.array(mesh.unknowns.low) == np.array(mesh.unknowns.high)
    balance = gradient + np.array(ca.mtimes(J.T, lam_g)).reshape(-1) + lam_x
    low, high = (
        np.array([*mesh.unknowns.low, *mesh.rows.low[1:]]),
        np.array([*mesh.unknowns.high, *mesh.rows.high[1:]]),
    )
    values, multipliers = np.concatenate([v, g]), np.concatenate([lam_x, lam_g])
    violation = np.maximum(np.maximum(low - values, values - high), 0)
    slack = np.where(multipliers > 0, high - values, values - low)
    open_ones = np.isfinite(slack) & (low < high)
    slack = np.where(open_ones, slack, 0.0)
    size = max(1.0, float(np.abs(multipliers).mean()) / 100) if len(multipliers) else 1.0
    return {
        "stationarity": float(np.abs(np.where(fixed, 0.0, balance)).max(initial=0.0)) / size,
        "feasibility": float(violation.max(initial=0.0)),
        "complementarity": float(np.abs(multipliers * slack).max(initial=0.0)) / size,
    }


def worst(mesh: Transcribed, v: np.ndarray, g: np.ndarray, count: int = 3) -> dict[str, float]:
    """Return the constraints and bounds that are violated most, by name, beyond rounding."""
    low, high = (
        np.array([*mesh.unknowns.low, *mesh.rows.low[1:]]),
        np.array([*mesh.unknowns.high, *mesh.rows.high[1:]]),
    )
    names = [*mesh.unknowns.names, *mesh.rows.names[1:]]
    values = np.concatenate([v, g])
    violation = np.maximum(low - values, values - high)
    violation = np.where(np.isnan(violation), np.inf, violation)
    violations: dict[str, float] = {}
    for i in np.argsort(-violation):
        if violation[i] <= MIN_VIOLATION or len(violations) == count:
            break
        violations.setdefault(names[i], float(violation[i]))
    return violations


__all__ = ["fixed_multipliers", "residuals", "worst"]
