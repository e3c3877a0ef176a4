"""The doubling of the simplest walker, by equations written down anew, SciPy's integrator and differences."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

from strut.gait import follow
from strut.walkers import simplest


def step(state, slope):
    """Garcia's equations (1998): stance angle and rate after one step."""
    theta, rate = state

    def flow(t, y):
        a, w, f, v = y
        return [w, math.sin(a - slope), v, math.sin(a - slope) + math.sin(f) * (w * w - math.cos(a - slope))]

    def strike(t, y):
        return y[2] - 2 * y[0] if y[0] < -0.03 else -1.0  # the legs pass each other earlier

    strike.terminal, strike.direction = True, 1
    begin = [theta, rate, 2 * theta, rate * (1 - math.cos(2 * theta))]
    run = solve_ivp(flow, (0, 8), begin, method="DOP853", rtol=1e-12, atol=1e-13, events=strike)
    a, w = run.y_events[0][0][:2]
    return np.array([-a, math.cos(2 * a) * w])


def gait(slope):
    return fsolve(
        lambda y: step(y, slope) - y, [0.96 * slope ** (1 / 3), -0.94 * slope ** (1 / 3)], xtol=1e-13
    )


def lowest(slope, h=1e-5):
    y = gait(slope)
    J = np.array([(step(y + e, slope) - step(y - e, slope)) / (2 * h) for e in h * np.eye(2)]).T
    return np.linalg.eigvals(J).real.min()


def test_the_gait_doubles_where_the_branch_says():
    found = follow(simplest(), "slope", to=0.017, points=20).bifurcations[0].at
    assert found == pytest.approx(brentq(lambda s: lowest(s) + 1, 0.0145, 0.0155, xtol=1e-9), abs=1e-7)
