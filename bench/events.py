"""Events: the rimless wheel, and a ball that never stops bouncing, against solve_ivp restarted at every
event.

Both have closed forms, so the error is that of the last event's time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bench.peers import Mode, rising, scipy, scipy_hybrid
from bench.timing import Contender, Effort, Section, loosest, measure
from strut import System, simulate, walkers

T, TOLERANCE, G = 20.0, 1e-9, 9.81  # [s], -, [m/s^2]
SPOKES, SLOPE = 8, 0.08  # -, [rad]
ROUNDING = (
    1e-11  # [s] errors below this are rounding of twenty-odd events, and no ground to prefer one over another
)
HALF = math.pi / SPOKES
KEPT = math.cos(2 * HALF)


def wheel_exact() -> tuple[float, int]:
    """Time of the last impact and number of impacts. A step takes the integral of 1/rate over the angle; the
    rate follows from the energy, and the integrand is smooth since the wheel never stops."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    angles = SLOPE + HALF * nodes
    t, count, rate = 0.0, 0, 1.0
    while True:
        square = rate**2 + 2 * G * (math.cos(SLOPE - HALF) - np.cos(angles))
        t_next = t + HALF * float(weights @ square**-0.5)
        if t_next > T:
            return t, count
        t, count = t_next, count + 1
        rate = KEPT * math.sqrt(rate**2 + 2 * G * (math.cos(SLOPE - HALF) - math.cos(SLOPE + HALF)))


def wheel_scipy() -> tuple[float, int]:
    forward = rising(lambda t, x: x[0] - SLOPE - HALF)
    backward = rising(lambda t, x: SLOPE - HALF - x[0])
    mode: Mode = (lambda t, x: (x[1], G * math.sin(x[0])), (forward, backward))

    def leap(which: int, t: float, x: np.ndarray) -> tuple[np.ndarray, Mode]:
        return np.array([x[0] - (1 - 2 * which) * 2 * HALF, KEPT * x[1]]), mode

    return scipy_hybrid(mode, (SLOPE - HALF, 1.0), T, leap, tolerance=TOLERANCE)


def ball_exact() -> tuple[float, int]:
    """A fall from 1 m takes sqrt(2/g), and every bounce after it twice that."""
    fall = math.sqrt(2 / G)
    count = int((T / fall - 1) // 2) + 1
    return (2 * count - 1) * fall, count


def ball_scipy() -> tuple[float, int]:
    mode: Mode = (lambda t, x: (x[1], -G), (rising(lambda t, x: -x[0]),))

    def leap(which: int, t: float, x: np.ndarray) -> tuple[np.ndarray, Mode]:
        return np.array([x[0], -x[1]]), mode

    return scipy_hybrid(mode, (1.0, 0.0), T, leap, tolerance=TOLERANCE)


def _strut(system: System, tolerance: float) -> tuple[float, int]:
    events = simulate(system, T, rtol=tolerance, atol=tolerance).events
    return float(events.t[-1]), len(events)


def compare_ways(
    title: str,
    system: System,
    theirs: Callable[[], tuple[float, int]],
    exact: tuple[float, int],
    effort: Effort,
) -> Section:
    """Both at the same tolerance; and, as the same tolerance does not buy the same accuracy, strut where it
    is as good as SciPy."""

    def contender(name: str, call: Callable[[], tuple[float, int]]) -> Contender:
        last, count = call()
        return Contender(
            name, f"tol {TOLERANCE:.1e}", call, abs(last - exact[0]), f"{count} of {exact[1]} events"
        )

    contenders = [contender("strut dop853", lambda: _strut(system, TOLERANCE))]
    if scipy is None:
        contenders.append(Contender("SciPy DOP853, restarted"))
    else:
        peer = contender("SciPy DOP853, restarted", theirs)
        assert peer.error is not None
        equal = loosest(
            "strut dop853, as good as SciPy",
            lambda tolerance: _strut(system, tolerance),
            lambda end: abs(end[0] - exact[0]),
            max(peer.error, ROUNDING),
        )
        contenders += [equal, peer]
    return Section(f"{title}, 20 s", "time of the last event [s]", measure(contenders, effort))


def run(effort: Effort) -> list[Section]:
    wheel, ball = (
        walkers.rimless_wheel(spokes=SPOKES, slope=SLOPE, g=G),
        walkers.bouncing_ball(restitution=1.0, g=G),
    )
    return [
        compare_ways("rimless wheel", wheel, wheel_scipy, wheel_exact(), effort),
        compare_ways("bouncing ball, restitution 1", ball, ball_scipy, ball_exact(), effort),
    ]
