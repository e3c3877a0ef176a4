"""Gaits: the fixed point of the compass with its multipliers, from a poor guess; a slope sweep with
bifurcations; a basin.

The usual way is solve_ivp for a step, fsolve for the fixed point (which differentiates by differences), and
central differences for the
Jacobian: with the matrices of the equations of motion in NumPy, as one writes them down, and once more with
everything solved by hand for plain numbers, as in `walking`, which hardly anyone does. Of its tolerances
those are shown around the one that reaches 1e-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.peers import optional, rising, scipy
from bench.timing import Contender, Effort, Row, Section, measure
from bench.walking import MH, A, B, G, L, M, flow, struck
from strut import walkers
from strut.gait import Gait, basin, find, follow

optimize = optional("scipy.optimize")
SLOPE = math.radians(3)
GUESS = {"stance": 0.25, "swing": -0.3, "stance_rate": -1.2, "swing_rate": -0.3}
EXACT = (
    -0.199726126830 + 0.544476062095j,
    0.131572624077,
)  # strut's at tolerances of 1e-12 and 1e-13, which agree so far
POINTS, CELLS = 500, 200
Rates = Callable[[float, np.ndarray], Any]


def matrices(t: float, x: np.ndarray) -> np.ndarray:
    """Goswami's equations as they are printed: M a + C v + g = 0."""
    s, n = x[:2]
    coupling = M * L * B
    mass = np.array(
        [[(MH + M) * L**2 + M * A**2, -coupling * np.cos(s - n)], [-coupling * np.cos(s - n), M * B**2]]
    )
    coriolis = np.array([[0.0, -coupling * np.sin(s - n) * x[3]], [coupling * np.sin(s - n) * x[2], 0.0]])
    gravity = np.array([-((MH + M) * L + M * A) * G * np.sin(s), M * B * G * np.sin(n)])
    return np.concatenate([x[2:], np.linalg.solve(mass, -coriolis @ x[2:] - gravity)])


def scipy_step(x: np.ndarray, tolerance: float, rates: Rates = flow) -> np.ndarray:
    strike = rising(lambda t, x: -(x[0] + x[1] + 2 * SLOPE) if x[1] > x[0] and x[0] + SLOPE < -0.03 else -1.0)
    piece = scipy.solve_ivp(
        rates, (0.0, 5.0), x, method="DOP853", events=strike, rtol=tolerance, atol=tolerance
    )  # type: ignore[union-attr]
    if piece.status != 1:
        return np.full(4, 10.0)
    return struck(piece.y_events[0][-1])


def scipy_gait(tolerance: float, rates: Rates = flow, difference: float = 1e-6) -> np.ndarray:
    """Multipliers of the gait; at 1e-6 the differences are most accurate."""
    x = optimize.fsolve(lambda y: scipy_step(y, tolerance, rates) - y, list(GUESS.values()), xtol=1e-12)  # type: ignore[union-attr]
    moved = [[scipy_step(x + sign * e, tolerance, rates) for sign in (1, -1)] for e in difference * np.eye(4)]
    columns = [(up - down) / (2 * difference) for up, down in moved]
    return np.linalg.eigvals(np.array(columns).T)


def error(multipliers: np.ndarray) -> float:
    """Of the worst known multiplier."""
    return float(max(np.abs(multipliers - m).min() for m in EXACT))


def run(effort: Effort) -> list[Section]:
    walker = walkers.compass()
    gait: Gait = find(walker, GUESS)
    rows = [
        Contender(
            "strut",
            "find: Newton, exact derivatives, replayed",
            lambda: find(walker, GUESS),
            error(gait.multipliers),
        )
    ]
    rows += [_peer(tolerance, matrices, "NumPy") for tolerance in (1e-9, 1e-10, 1e-12)]
    rows += [_peer(tolerance, flow, "by hand") for tolerance in (1e-9, 1e-10, 1e-12)]
    alone = measure(rows, effort)
    sweep = measure(
        [
            Contender(
                "strut",
                f"{POINTS} points, 3 to 5 degrees",
                lambda: follow(walker, "slope", math.radians(5), start=gait, points=POINTS),
            )
        ],
        effort,
    )
    return [
        Section(
            "compass, fixed point with multipliers",
            "worst multiplier",
            alone,
            "needed: below 20 ms, 50 times faster",
        ),
        Section("compass, slope sweep with bifurcations", "-", sweep, "needed: below 20 s"),
        Section(f"compass, basin of {CELLS} x {CELLS}", "-", _once(gait), "needed: below 60 s"),
    ]


def _peer(tolerance: float, rates: Rates, written: str) -> Contender:
    name = f"SciPy solve_ivp + fsolve + differences, {written}"
    if scipy is None or optimize is None:
        return Contender(name)
    return Contender(
        name,
        f"DOP853, tol {tolerance:.0e}",
        lambda: scipy_gait(tolerance, rates),
        error(scipy_gait(tolerance, rates)),
    )


def _once(gait: Gait) -> tuple[Row, ...]:
    """Long enough that one run says it."""
    import time

    began = time.perf_counter()
    cells_reached = basin(gait, cells=CELLS)
    return (
        Row(
            "strut",
            f"{cells_reached.walks.sum()} of {cells_reached.walks.size} cells walk",
            None,
            (time.perf_counter() - began,),
        ),
    )
