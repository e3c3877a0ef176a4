"""Predictor of warm searches: an optimum moved by its sensitivities to where the problem has changed to."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scaled import Scales
from strut.optimal.solver.kkt_step import KktChange, KktStep, distance_to_bound

MAX_NEWTON_STEPS = 6
"""Steps at most: the prediction, and its corrections."""
MIN_CONTRACTION = 0.5
"""A step that is not smaller than this part of the last one is not taken: Deuflhard's natural monotonicity
test."""
SMALL_STEP = 1e-10
"""Steps below this, relative to scale and size of an unknown, need no further one."""


def predict_optimum(
    mesh: Transcribed, v: np.ndarray, multipliers: tuple[np.ndarray, np.ndarray], scales: Scales
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]] | None:
    """Return unknowns and multipliers (of bounds and rows) nearer to the optimum of a mesh, by steps of
    Newton's method with the active limits held; None where these do not lead there.

    v, multipliers: the optimum of a neighbouring problem on the same mesh. scales: the units in which steps
    are measured. To first order in what differs,
    the first step leads where the sensitivities say that the optimum goes, whatever differs: parameters,
    bounds or cost. Others correct it as long as they shrink.
    """
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    (bounds, rows), size, sizes = multipliers, np.inf, 0
    try:
        for _ in range(MAX_NEWTON_STEPS):
            here = KktStep(mesh=mesh, unknowns=v, bounds=bounds, rows=rows, scales=scales)
            change = _newton_step(here)
            relative = np.abs(change.unknowns) / (scales.unknowns + np.abs(v))
            last, size = size, float(relative.max(initial=0.0))
            if not size <= MIN_CONTRACTION * last:
                break
            v = np.clip(v + change.unknowns, low, high)
            bounds, rows, sizes = bounds + change.bounds, rows + change.rows, sizes + 1
            if size <= SMALL_STEP:
                break
    except ModelError:
        return None
    return (v, (bounds, rows)) if sizes > 1 or size <= SMALL_STEP else None


def _newton_step(there: KktStep) -> KktChange:
    """Return the step of Newton's method from a point."""
    mesh, v, functions = there.mesh, there.unknowns, there.mesh.assembled.functions
    slope = np.array(functions["grad_f"](v, mesh.numbers())[1]).reshape(-1)
    J = functions["jac_g"](v, mesh.numbers())[1]
    row_bounds = np.array(mesh.rows.low[1:]), np.array(mesh.rows.high[1:])
    own_bounds = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    return there.solve(
        gradient=slope + np.array(ca.mtimes(J.T, there.rows)).reshape(-1) + there.bounds,
        row_shift=_finite(distance_to_bound(there.row_values, row_bounds, there.rows)),
        bound_shift=_finite(distance_to_bound(v, own_bounds, there.bounds)),
    )


def _finite(distances: np.ndarray) -> np.ndarray:
    """Return distances, zero of what has no bound."""
    return np.where(np.isfinite(distances), distances, 0.0)


__all__ = ["predict_optimum"]
