"""Walking: ten seconds of the compass gait, and ten thousand of its walkers on as many slopes, twenty steps
each.

SciPy has the compass's own equations of motion and its impact written out, restarted at every heel strike; it
walks only a few of the walkers, and what it would need for all is extrapolated from these and says so.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bench.peers import Mode, rising, scipy, scipy_hybrid
from bench.timing import Contender, Effort, Row, Section, measure
from strut import simulate, simulate_batch, walkers

WALKERS, SAMPLE, STEPS = 10_000, 20, 20
M, MH, A, B, G = 5.0, 10.0, 0.5, 0.5, 9.81  # the defaults of walkers.compass
L = A + B
START = (0.218668802939, -0.323388558059, -1.092383589884, -0.377373948907)  # stance, swing and their rates
TOLERANCE = 1e-8


def flow(t: float, x: np.ndarray) -> tuple[float, float, float, float]:
    """Goswami's equations, solved by hand."""
    s, n, ws, wn = x
    m11, m22 = (MH + M) * L * L + M * A * A, M * B * B
    m12 = -M * L * B * math.cos(s - n)
    c = M * L * B * math.sin(s - n)
    f1 = c * wn * wn + ((MH + M) * L + M * A) * G * math.sin(s)
    f2 = -c * ws * ws - M * B * G * math.sin(n)
    d = m11 * m22 - m12 * m12
    return ws, wn, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d


def struck(x: np.ndarray) -> np.ndarray:
    """Angular momentum about the new foot, and of the new swing leg about the hip, is kept; the legs change
    names."""
    s, n, ws, wn = x
    c = math.cos(s - n)
    before = np.array([[(MH * L * L + 2 * M * A * L) * c - M * A * B, -M * A * B], [-M * A * B, 0.0]])
    after = np.array(
        [
            [(MH + M) * L * L + M * A * A - M * L * B * c, M * B * B - M * L * B * c],
            [-M * L * B * c, M * B * B],
        ]
    )
    new = np.linalg.solve(after, before @ [ws, wn])
    return np.array([n, s, new[0], new[1]])


def scipy_walk(slope: float) -> float:
    """When the last of the steps ended."""
    strike = rising(lambda t, x: -(x[0] + x[1] + 2 * slope) if x[1] > x[0] and x[0] + slope < -0.03 else -1.0)
    mode: Mode = (flow, (strike,))
    steps = 0

    def leap(which: int, t: float, x: np.ndarray) -> tuple[np.ndarray, Mode] | None:
        nonlocal steps
        steps += 1
        return None if steps == STEPS else (struck(x), mode)

    return scipy_hybrid(mode, START, 60.0, leap, tolerance=TOLERANCE)[0]


def run(effort: Effort) -> list[Section]:
    walker = walkers.compass()
    slopes = np.radians(np.linspace(2.6, 4.2, WALKERS))
    chosen = np.linspace(0, WALKERS - 1, SAMPLE).astype(int)
    # as long as twenty steps take on average: 20 x 0.73 s
    exact = simulate_batch(walker, 14.7, p={"slope": slopes[chosen]}, rtol=1e-12, atol=1e-13)["struck_at"]

    def ours(which: np.ndarray, **options: float) -> np.ndarray:
        return simulate_batch(walker, 14.7, p={"slope": slopes[which]}, **options)["struck_at"]

    everyone = np.arange(WALKERS)
    loose = {"rtol": TOLERANCE, "atol": TOLERANCE}
    many = measure(
        [
            Contender(
                "strut, 10,000 walkers",
                "dop853, tol 1e-8",
                lambda: ours(everyone, **loose),
                _error(ours(chosen, **loose), exact),
            ),
            Contender(
                "strut, 10,000 walkers",
                "dop853, default 1e-10",
                lambda: ours(everyone),
                _error(ours(chosen), exact),
            ),
        ],
        effort,
    )
    peers = measure([_scipy_few(slopes[chosen], exact)], effort)
    alone = measure(
        [
            Contender(
                "strut",
                "dop853, default 1e-10, a Trajectory with its ledger",
                lambda: simulate(walker, t=10.0),
            ),
            Contender("strut", "dop853, tol 1e-8", lambda: simulate(walker, t=10.0, **loose)),
            _scipy_one(),
        ],
        effort,
    )
    return [
        Section("compass, 10 s of walking, called from Python", "-", alone, "needed: below 2 ms"),
        Section(
            f"compass, {WALKERS} walkers, {STEPS} steps each",
            "time of the last strike [s], on 20 walkers",
            (*many, extrapolate(peers[0])),
            "needed: 100 times faster than solve_ivp",
        ),
    ]


def _error(ends: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(ends - exact).max())


def _scipy_one() -> Contender:
    if scipy is None:
        return Contender("SciPy DOP853, restarted")
    slope = math.radians(3)
    strike = rising(lambda t, x: -(x[0] + x[1] + 2 * slope) if x[1] > x[0] and x[0] + slope < -0.03 else -1.0)
    mode: Mode = (flow, (strike,))
    return Contender(
        "SciPy DOP853, restarted",
        f"tol {TOLERANCE:.0e}",
        lambda: scipy_hybrid(mode, START, 10.0, lambda k, t, x: (struck(x), mode), tolerance=TOLERANCE),
    )


def _scipy_few(slopes: np.ndarray, exact: np.ndarray) -> Contender:
    if scipy is None:
        return Contender("SciPy DOP853, restarted")
    ends = np.array([scipy_walk(slope) for slope in slopes.tolist()])
    worst = float(
        np.abs(ends - exact)[np.abs(ends - exact) < 0.5].max()
    )  # some make 20 steps a little after 14.7 s
    return Contender(
        "SciPy DOP853, restarted",
        f"tol {TOLERANCE:.0e}",
        lambda: [scipy_walk(slope) for slope in slopes.tolist()],
        worst,
    )


def extrapolate(few: Row) -> Row:
    if not few.times:
        return few
    scale = WALKERS / SAMPLE
    note = f"EXTRAPOLATED: {SAMPLE} walkers x {scale:g}"
    return replace(few, times=tuple(t * scale for t in few.times), kind="extrapolated", note=note)
