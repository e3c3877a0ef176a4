"""The Pleiades: seven stars in a plane, 28 states, with close encounters (Hairer, Norsett, Wanner, I, section
II.10)."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from bench.peers import scipy
from bench.timing import Effort, Section, loosest, measure
from strut import State, System, simulate

T = 3.0
X0 = (
    (3, 3, -1, -3, 2, -2, 2),
    (3, -3, 2, 0, 0, -4, 4),
    (0, 0, 0, 0, 0, 1.75, -1.5),
    (0, 0, 0, -1.25, 1, 0, 0),
)
"""Positions x and y, velocities along x and y, of the stars with masses 1 to 7."""
EXACT = 0.3706139143970502
"""x of the first star at t = 3, from the test set for initial value problems (Mazzia and Magherini)."""
TARGET = 1e-9
MASSES = np.arange(1.0, 8.0)


def pleiades() -> System:
    """Newton's attraction with G = 1. Energy is not accounted: this is a benchmark of arithmetic."""
    x, y, vx, vy = (State(name, values) for name, values in zip(("x", "y", "vx", "vy"), X0, strict=True))
    pull_x, pull_y = [ca.SX(0)] * 7, [ca.SX(0)] * 7
    for i in range(7):
        for j in range(i):
            dx, dy = x[j] - x[i], y[j] - y[i]
            square = dx**2 + dy**2
            weight = 1 / (square * ca.sqrt(square))
            for k, other, sign in ((i, j, 1), (j, i, -1)):
                pull_x[k] += sign * MASSES[other] * weight * dx
                pull_y[k] += sign * MASSES[other] * weight * dy
    return System(
        "pleiades",
        x=(x, y, vx, vy),
        flow={x: vx, y: vy, vx: ca.vertcat(*pull_x), vy: ca.vertcat(*pull_y)},
        description="seven stars in a plane",
    )


def rate(t: float, state: np.ndarray) -> np.ndarray:
    """For SciPy, all pairs at once in NumPy."""
    x, y = state[:7], state[7:14]
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    square = dx * dx + dy * dy
    np.fill_diagonal(square, 1.0)
    weight = MASSES / (square * np.sqrt(square))
    return np.concatenate([state[14:], (weight * dx).sum(axis=1), (weight * dy).sum(axis=1)])


def error_of(end: Any) -> float:
    return abs(float(end[0]) - EXACT)


def run(effort: Effort) -> list[Section]:
    system, start = pleiades(), np.concatenate([np.asarray(part, dtype=float) for part in X0])
    contenders = []
    for method in ("dop853", "dopri5"):
        contenders.append(
            loosest(
                f"strut {method}",
                lambda tol, method=method: simulate(system, T, method=method, rtol=tol, atol=tol).raw.x_end,  # type: ignore[misc]
                error_of,
                TARGET,
            )
        )
    for method in ("DOP853", "RK45", "LSODA"):
        solve = (
            None
            if scipy is None
            else lambda tol, method=method: scipy.solve_ivp(
                rate, (0.0, T), start, method=method, rtol=tol, atol=tol
            ).y[:, -1]
        )
        contenders.append(loosest(f"SciPy {method}, NumPy rate", solve, error_of, TARGET))
    return [
        Section(
            f"Pleiades, t = 3, to an error of {TARGET:.0e}",
            "x of the first star",
            measure(contenders, effort),
        )
    ]
