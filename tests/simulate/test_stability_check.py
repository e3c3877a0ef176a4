"""A method of fixed step that is not stable on a run says so."""

import warnings

import casadi as ca
import numpy as np
import pytest

import strut
from strut import State, System
from strut.codegen import INTEGRATORS
from strut.simulate.stability_check import StabilityWarning, amplification

STEP = 1e-3
"""[s]"""
EDGE = 64.6
"""[1] Where the interval of real stability of ten stages ends: 2/3 (s^2 - 1) (1 - 2/15 2/13)."""


def saturated(rate):
    """A rate that falls off where it is far from its zero: what an unstable method makes of it stays bounded."""
    x = State("x", 1.0)
    return System("saturated", x=[x], flow={x: -rate * ca.tanh(x - 0.1)})


def test_the_stability_function_is_that_of_the_method():
    tableau = INTEGRATORS["rkc"].tableau
    real = -np.linspace(1e-3, EDGE, 2000)
    assert np.max(np.abs(amplification(tableau, real.astype(complex)))) <= 1 + 1e-12
    assert np.abs(amplification(tableau, np.array([-1.02 * EDGE + 0j])))[0] > 1
    rk4 = amplification(INTEGRATORS["rk4"].tableau, np.array([0.3 + 0.4j]))[0]
    z = 0.3 + 0.4j
    assert abs(rk4 - (1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24)) < 1e-15


def test_the_fastest_modes_are_magnified_and_no_error():
    """Of wild states, as a search has many: z is so large that 1 is lost beside it, or overflows."""
    for method in ("rkc", "rk4"):
        far = amplification(INTEGRATORS[method].tableau, -(10.0 ** np.arange(12, 300, 8)) + 0j)
        assert np.all(np.abs(far) > 1e12)


def test_a_stable_run_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = strut.simulate(saturated(0.4 * EDGE / STEP), t=0.3, method="rkc", step=STEP)
    assert abs(run["x"][-1] - 0.1) < 1e-9


def test_an_unstable_run_names_the_mode_and_the_step():
    x = State("x", 1e-6)
    growing = System("growing", x=[x], flow={x: -1.05 * EDGE / STEP * ca.sin(x)})
    with pytest.warns(
        StabilityWarning,
        match=r"'rkc' is not stable on 'growing' at steps of 0.001 s.* rate -6.78e\+04 1/s.*give step=0.00084 or less",
    ):
        strut.simulate(growing, t=0.02, method="rkc", step=STEP)


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_limit_cycle_of_the_method_is_told(backend):
    """Stable where it is at rest, and nowhere unstable to small deviations; but it does not get there."""
    with pytest.warns(
        StabilityWarning,
        match=r"'rkc' does not follow 'saturated' .* in \d+% of them the error of 'x' is larger",
    ):
        run = strut.simulate(saturated(6e4), t=0.3, method="rkc", step=STEP, backend=backend)
    assert abs(run["x"][-1] - 0.1) > 0.5


def test_a_batch_says_so_too():
    x = State("x", 1e-6)
    growing = System("growing", x=[x], flow={x: -1.5 * EDGE / STEP * ca.sin(x)})
    with pytest.warns(StabilityWarning, match="'rkc' is not stable on 'growing'"):
        strut.simulate_batch(growing, t=0.02, method="rkc", step=STEP, x0={"x": np.array([0.0, 1e-6])})


def test_a_batch_that_is_not_asked_says_nothing():
    x = State("x", 1e-6)
    growing = System("growing", x=[x], flow={x: -1.5 * EDGE / STEP * ca.sin(x)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begins = {"x": np.array([0.0, 1e-6])}
        strut.simulate_batch(growing, t=0.02, method="rkc", step=STEP, x0=begins, check_steps=False)
