"""Stiff systems through SciPy, on the same functions, with the same events."""

import numpy as np
import pytest

import strut
from strut import Event, walkers
from strut.errors import MissingExtraError
from tests.problems import ROBERTSON_A, robertson


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
    with pytest.raises(MissingExtraError, match=r"method 'radau' needs SciPy, which is not installed: pip install 'strut\[stiff\]'"):
        strut.simulate(robertson(), t=1.0, method="radau")
