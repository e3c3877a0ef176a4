"""Gaits: the fixed point of the compass with its multipliers, from a poor guess; a slope sweep with bifurcations; a basin.

The usual way is solve_ivp for a step, fsolve for the fixed point (which differentiates by differences), and central differences for the
Jacobian. It has the compass's own equations written out, as in `walking`.
"""

from __future__ import annotations

import math

import numpy as np

from bench.peers import optional, rising, scipy
from bench.timing import Contender, Effort, Row, Section, measure
from bench.walking import flow, struck
from strut import walkers
from strut.gait import Gait, basin, find, follow

optimize = optional("scipy.optimize")
SLOPE = math.radians(3)
GUESS = {"stance": 0.25, "swing": -0.3, "stance_rate": -1.2, "swing_rate": -0.3}
EXACT = (-0.199726126830 + 0.544476062095j, 0.131572624077)  # strut's at tolerances of 1e-12 and 1e-13, which agree so far
POINTS, CELLS = 500, 200


def scipy_step(x: np.ndarray, tolerance: float) -> np.ndarray:
    strike = rising(lambda t, x: -(x[0] + x[1] + 2 * SLOPE) if x[1] > x[0] and x[0] + SLOPE < -0.03 else -1.0)
    piece = scipy.solve_ivp(flow, (0.0, 5.0), x, method="DOP853", events=strike, rtol=tolerance, atol=tolerance)  # type: ignore[union-attr]
    if piece.status != 1:
        return np.full(4, 10.0)
    return struck(piece.y_events[0][-1])


def scipy_gait(tolerance: float, difference: float = 1e-5) -> np.ndarray:
    """Multipliers of the gait."""
    x = optimize.fsolve(lambda y: scipy_step(y, tolerance) - y, list(GUESS.values()), xtol=1e-12)  # type: ignore[union-attr]
    columns = [(scipy_step(x + e, tolerance) - scipy_step(x - e, tolerance)) / (2 * difference) for e in difference * np.eye(4)]
    return np.linalg.eigvals(np.array(columns).T)


def error(multipliers: np.ndarray) -> float:
    """Of the worst known multiplier."""
    return float(max(np.abs(multipliers - m).min() for m in EXACT))


def run(effort: Effort) -> list[Section]:
    walker = walkers.compass()
    gait: Gait = find(walker, GUESS)
    rows = [Contender("strut", "find: Newton, exact derivatives, replayed", lambda: find(walker, GUESS), error(gait.multipliers))]
    for tolerance in (1e-8, 1e-10, 1e-12):
        rows.append(_peer(tolerance))
    alone = measure(rows, effort)
    sweep = measure(
        [
            Contender(
                "strut", f"{POINTS} points, 3 to 5 degrees", lambda: follow(walker, "slope", math.radians(5), start=gait, points=POINTS)
            )
        ],
        effort,
    )
    return [
        Section("compass, fixed point with multipliers", "worst multiplier", alone, "needed: below 20 ms, 50 times faster"),
        Section("compass, slope sweep with bifurcations", "-", sweep, "needed: below 20 s"),
        Section(f"compass, basin of {CELLS} x {CELLS}", "-", _once(gait), "needed: below 60 s"),
    ]


def _peer(tolerance: float) -> Contender:
    name = "SciPy solve_ivp + fsolve + differences"
    if scipy is None or optimize is None:
        return Contender(name)
    return Contender(name, f"DOP853, tol {tolerance:.0e}", lambda: scipy_gait(tolerance), error(scipy_gait(tolerance)))


def _once(gait: Gait) -> tuple[Row, ...]:
    """Long enough that one run says it."""
    import time

    began = time.perf_counter()
    found = basin(gait, cells=CELLS)
    return (Row("strut", f"{found.walks.sum()} of {found.walks.size} cells walk", None, (time.perf_counter() - began,)),)
