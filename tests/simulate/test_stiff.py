"""Stiff systems by implicit methods: compiled, and through SciPy on the virtual machine, with the same events."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Event, State, System, walkers
from strut.codegen.backends import lower_system
from strut.codegen.bandwidth import narrow_order, widths
from strut.errors import MissingExtraError, ModelError
from tests.problems import HIRES_END, HIRES_Y1, ROBERTSON_A, hires, robertson, servo


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_robertson(method):
    tolerances = {"radau": (1e-9, 1e-16), "bdf": (1e-10, 1e-17)}[method]
    run = strut.simulate(robertson(), t=1e11, method=method, rtol=tolerances[0], atol=tolerances[1])
    assert run.status == "done"
    assert run["a"][-1] == pytest.approx(ROBERTSON_A, rel=1e-6)
    assert (run["a"] + run["b"] + run["c"])[-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_stiff_van_der_pol(backend):
    """mu = 1000: 807 s between relaxation jumps; an explicit method would need millions of steps."""
    plain = walkers.van_der_pol(mu=1000, position=2.0)
    system = plain.replace(events=[Event("turn", plain["velocity"])])
    run = strut.simulate(system, t=1000.0, method="radau", rtol=1e-6, atol=1e-8, backend=backend)
    assert run.status == "done"
    assert run.statistics["steps"] < 5000
    assert run.events.times("turn")[0] == pytest.approx(807.1, abs=0.5)
    np.testing.assert_allclose(np.abs(run.events[0].before["position"]), 2.0, atol=1e-3)


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_events_resets_and_ledger_work_as_elsewhere(method):
    run = strut.simulate(walkers.bouncing_ball(restitution=0.9), t=3.0, method=method, rtol=1e-9, atol=1e-11)
    exact = strut.simulate(walkers.bouncing_ball(restitution=0.9), t=3.0)
    np.testing.assert_allclose(run.events.t, exact.events.t, atol=1e-6)
    assert run.ledger.residual < 1e-5


def test_dense_output_of_stiff_steps():
    run = strut.simulate(walkers.pendulum(), t=3.0, method="radau", rtol=1e-8, atol=1e-10)
    exact = strut.simulate(walkers.pendulum(), t=3.0)
    times = np.linspace(0, 3, 100)
    np.testing.assert_allclose(run.at(times)["angle"], exact.at(times)["angle"], atol=1e-5)


def test_without_scipy_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(
        MissingExtraError,
        match=r"method 'radau' needs SciPy, which is not installed: pip install 'strut\[stiff\]'",
    ):
        strut.simulate(robertson(), t=1.0, method="radau", backend="virtual")
    assert strut.simulate(robertson(), t=1.0, method="radau").ok  # compiled, it needs nothing


SCIPY = {"radau": "Radau", "bdf": "BDF"}


@pytest.mark.parametrize("method", ["radau", "bdf"])
@pytest.mark.parametrize("digits", [5, 6, 7, 8, 9])
def test_hires_takes_the_steps_that_scipy_takes(method, digits):
    """Within a few: the error of a step is that of the states alone, and factors are never older than the step."""
    from scipy.integrate import solve_ivp

    system, tolerance = hires(), 10.0**-digits
    run = strut.simulate(system, t=HIRES_END, method=method, rtol=tolerance, atol=tolerance / 100)
    assert run.status == "done"
    assert run["y1"][-1] == pytest.approx(HIRES_Y1, abs=0.1 * tolerance)
    flow = strut.codegen.backends.compile_system(system).caller("flow", [])

    def rate(t, x):
        flow.x[:] = x
        return flow().copy()

    begin = [float(q.value[0]) for q in system.x]
    peer = solve_ivp(rate, (0, HIRES_END), begin, method=SCIPY[method], rtol=tolerance, atol=tolerance / 100)
    assert run.statistics["steps"] <= 1.1 * (len(peer.t) - 1)


@pytest.mark.parametrize("method", ["radau", "bdf"])
@pytest.mark.parametrize("make", [robertson, hires, walkers.pendulum, walkers.bouncing_ball, servo])
def test_compiled_and_virtual_agree(make, method):
    """The same method twice, written independently: the steps differ where rounding decides, the answers by the tolerance."""
    runs = [
        strut.simulate(make(), t=1.0, method=method, rtol=1e-8, atol=1e-10, backend=backend)
        for backend in ("native", "virtual")
    ]
    compiled, virtual = runs
    assert compiled.status == virtual.status == "done"
    assert compiled.events.names == virtual.events.names
    np.testing.assert_allclose(compiled.events.t, virtual.events.t, atol=1e-6)
    np.testing.assert_allclose(compiled.raw.x_end, virtual.raw.x_end, atol=1e-6)
    assert compiled.statistics["steps"] <= 1.3 * virtual.statistics["steps"] + 5


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_a_run_that_is_stopped_goes_on_as_if_it_was_not(method):
    """Stops between steps cost a few steps, not a beginning from order one each."""
    options = {"method": method, "rtol": 1e-7, "atol": 1e-9}
    whole = strut.simulate_batch(hires(), t=100.0, **options)
    pieces = strut.simulate_batch(hires(), t=100.0, at=np.linspace(1, 100, 12), **options)
    np.testing.assert_allclose(pieces.x, whole.x, atol=1e-7)
    assert pieces.steps[0] < 2 * whole.steps[0]


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_stiff_systems_run_in_batches(backend):
    batch = strut.simulate_batch(
        walkers.van_der_pol(position=2.0),
        t=5.0,
        p={"mu": [10.0, 100.0]},
        method="radau",
        rtol=1e-7,
        backend=backend,
    )
    for mu, x in zip((10.0, 100.0), batch.x, strict=True):
        alone = strut.simulate(walkers.van_der_pol(mu=mu, position=2.0), t=5.0, method="dop853")
        np.testing.assert_allclose(x, alone.raw.x_end, atol=1e-5)


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_derivative_that_is_infinite_where_a_run_begins(backend):
    """x' = sqrt(x) + 1 from 0: the Jacobian is infinite there, the solution is not. Exactly, t = 2 (r - log(1 + r)), r = sqrt(x)."""
    x = State("x", 0.0)
    system = System("root", x=[x], flow={x: ca.sqrt(x) + 1})
    run = strut.simulate(system, t=1.0, method="radau", rtol=1e-7, backend=backend)
    r = np.sqrt(run["x"][-1])
    assert run.status == "done"
    assert 2 * (r - np.log(1 + r)) == pytest.approx(1.0, abs=1e-5)


def test_a_system_too_large_is_refused():
    x = State("x", np.zeros(4001))
    with pytest.raises(
        ModelError,
        match=r"'bdf' keeps matrices of 4001 by 4001 for 'large': it takes systems of at most 4000 states",
    ):
        strut.simulate(System("large", x=[x], flow={x: -x}), t=1.0, method="bdf")


def chain(cells):
    """Heat along a line, its cells named in a wild order; the slowest mode decays with a rate known exactly."""
    order = np.random.default_rng(5).permutation(cells)
    mode = np.sin(np.pi * np.arange(1, cells + 1) / (cells + 1))
    u = {k: State(f"u{k}", float(mode[k])) for k in order}
    flow = {
        u[k]: (u[k - 1] if k else 0) - 2 * u[k] + (u[k + 1] if k + 1 < cells else 0) for k in range(cells)
    }
    return System("chain", x=list(u.values()), flow={q: 100 * flow[q] for q in flow})


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_a_chain_in_a_wild_order_is_a_band(method):
    system, cells = chain(30), 30
    pattern = lower_system(system, stiff=True).state_jacobian.sparsity_out(0)
    assert widths(pattern, list(range(cells)))[0] > 10
    assert widths(pattern, narrow_order(pattern)) == (1, 1)
    run = strut.simulate(system, t=2.0, method=method, rtol=1e-8, atol=1e-12)
    decay = np.exp(-400 * np.sin(np.pi / (2 * (cells + 1))) ** 2 * 2.0)
    np.testing.assert_allclose(run.raw.x_end, decay * run.raw.poly[0, 0], rtol=1e-4)


def test_orders_of_other_patterns():
    """Parts that do not hang together, nothing at all, and a full matrix, which stays as it is."""
    assert sorted(narrow_order(ca.Sparsity.diag(4))) == [0, 1, 2, 3]
    assert narrow_order(ca.Sparsity(0, 0)) == []
    assert widths(ca.Sparsity(3, 3), [0, 1, 2]) == (0, 0)
    assert narrow_order(ca.Sparsity.dense(3, 3)) == [0, 1, 2]


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_matrices_that_need_pivots(method):
    """x' = A x with a full matrix whose diagonal is small: exactly, exp(A t) x0."""
    from scipy.linalg import expm

    rng = np.random.default_rng(8)
    A = rng.normal(size=(6, 6))
    A = A - A.T - 1e-3 * np.eye(6)
    A[0] *= 30
    x = State("x", np.ones(6))
    run = strut.simulate(
        System("full", x=[x], flow={x: ca.DM(A) @ x.sym}), t=1.0, method=method, rtol=1e-9, atol=1e-11
    )
    np.testing.assert_allclose(run.raw.x_end, expm(A) @ np.ones(6), rtol=1e-5, atol=1e-5)
