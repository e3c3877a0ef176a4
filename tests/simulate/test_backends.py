"""Compiled and virtual: the same cases, the same answers, step by step."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Event, Param, Random, Sample, State, System, walkers
from tests.problems import counter, driven, oscillator, servo

ROUNDING = 1e-9  # the two differ by rounding, which the tolerances of step control may amplify


def noisy():
    x, kick, n = State("x", 0.0), Discrete("kick", 0.0), Discrete("n", 0)
    gauss, flat = Random("gauss", law="normal"), Random("flat")
    return System(
        "noisy",
        x=[x],
        z=[kick, n],
        randoms=[gauss, flat],
        flow={x: kick - x},
        samples=[Sample("noise", every=0.1, set={kick: gauss})],
        events=[Event("reset", x - 0.3, reset={x: flat * 0.2, n: n + 1})],
    )


def echo():
    x, k = State("x", 1.0), Param("k", 1.2)
    past = Delay("past", signal=x, by=0.7, before=1.0 + strut.time)
    return System("echo", x=[x], p=[k], delays=[past], flow={x: -k * past}, outputs={"past_now": past})


CASES = [
    (oscillator, 3.0, {}),
    (driven, 3.0, {}),
    (counter, 8.0, {}),
    (servo, 1.0, {}),
    (noisy, 3.0, {}),
    (echo, 2.0, {}),
    (walkers.pendulum, 2.0, {"p": {"damping": 0.3}, "u": {"torque": 1.0}}),
    (walkers.bouncing_ball, 2.0, {}),
    (walkers.slip, 1.0, {}),
    (walkers.rimless_wheel, 3.0, {}),
    (walkers.van_der_pol, 2.0, {}),
]
METHODS = [
    ("dop853", {}),
    ("dopri5", {"rtol": 1e-8}),
    ("rk4", {"step": 0.01}),
    ("euler", {"step": 0.01}),
    ("predictor-corrector", {"step": 0.01}),
    ("rkc", {"step": 0.01}),
]


@pytest.mark.filterwarnings("ignore::strut.simulate.simulate.LedgerWarning")  # Euler is coarse
@pytest.mark.parametrize(("method", "options"), METHODS, ids=[m for m, _ in METHODS])
@pytest.mark.parametrize(("make", "t", "arguments"), CASES, ids=[c[0].__name__ for c in CASES])
def test_both_backends_agree(make, t, arguments, method, options):
    system = make()
    runs = [
        strut.simulate(system, t=t, method=method, backend=backend, seed=3, **arguments, **options)
        for backend in ("native", "virtual")
    ]
    native, virtual = runs
    assert native.status == virtual.status
    assert native.events.names == virtual.events.names
    np.testing.assert_allclose(native.events.t, virtual.events.t, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(native.raw.x_end, virtual.raw.x_end, rtol=1e-7, atol=ROUNDING)
    np.testing.assert_allclose(native.raw.z_end, virtual.raw.z_end, rtol=1e-7, atol=ROUNDING)
    np.testing.assert_allclose(
        native.raw.loss.sum(axis=0), virtual.raw.loss.sum(axis=0), rtol=1e-7, atol=ROUNDING
    )
    times = np.linspace(0, t, 23)
    for name in (*native.names.x, *native.names.outputs):
        np.testing.assert_allclose(
            native.at(times)[name], virtual.at(times)[name], rtol=1e-6, atol=1e-7, err_msg=name
        )
    if not system.delays:  # the kinks of a delay equation make step sizes depend on rounding
        assert native.statistics["steps"] == pytest.approx(virtual.statistics["steps"], abs=2)


def test_batches_agree():
    stiffness = np.linspace(10e3, 30e3, 7)
    runs = [
        strut.simulate_batch(
            walkers.slip(),
            t=1.0,
            p={"stiffness": stiffness},
            outputs=["leg"],
            at=[0.2, 0.5],
            ledger=True,
            backend=backend,
        )
        for backend in ("native", "virtual")
    ]
    native, virtual = runs
    np.testing.assert_allclose(native.x, virtual.x, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(native["leg"], virtual["leg"], rtol=1e-8)
    assert list(native.status) == list(virtual.status)
    for name in native.counts:
        np.testing.assert_array_equal(native.counts[name], virtual.counts[name])


def test_random_streams_are_the_same_numbers():
    """The C generator and the Python one, through a system that keeps what it draws."""
    x, a, b = State("x", 0.0), Discrete("a"), Discrete("b")
    g, u = Random("g", law="normal"), Random("u")
    system = System(
        "dice",
        x=[x],
        z=[a, b],
        randoms=[g, u],
        flow={x: 0},
        samples=[Sample("throw", every=1.0, set={a: g, b: u})],
    )
    for seed in (0, 1, 2**63):
        native, virtual = (
            strut.simulate(system, t=50.0, seed=seed, backend=backend) for backend in ("native", "virtual")
        )
        np.testing.assert_allclose(native["a"], virtual["a"], rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(native["b"], virtual["b"])


def test_delayed_output_is_what_was():
    run = strut.simulate(echo(), t=3.0)
    late = run.at(np.linspace(0.8, 3.0, 50))
    np.testing.assert_allclose(late["past_now"], run.at(late.t - 0.7)["x"], rtol=1e-9)


def test_if_else_survives_both():
    x = State("x", -1.0)
    system = System("kink", x=[x], flow={x: ca.if_else(x < 0, 1.0, 2.0)})
    for backend in ("native", "virtual"):
        run = strut.simulate(system, t=2.0, backend=backend, rtol=1e-10)
        assert run["x"][-1] == pytest.approx(2.0, abs=1e-7)


def test_chebyshev_steps_are_stable_where_much_is_damped():
    """x' = -rate x: 65 / step is the fastest rate that ten stages take, 2.8 / step that of rk4."""
    x = strut.State("x", 1.0)
    fast = strut.System("fast", x=[x], flow={x: -6000.0 * x.sym})
    assert abs(strut.simulate(fast, t=1, method="rkc", step=0.01)["x"][-1]) < 1e-3
    wild = strut.simulate(fast, t=1, method="rk4", step=0.01)
    assert not wild.ok or abs(wild["x"][-1]) > 1e3
