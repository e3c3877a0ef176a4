"""Every method has the order it claims: measured as the slope of log error against log step or log tolerance."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.codegen import INTEGRATORS, StepKind, names_of_kind
from tests.problems import PLEIADES_X1, driven, oscillator, pleiades

ORDERS = {name: INTEGRATORS[name].order for name in names_of_kind(StepKind.FIXED)}
SLOPE_TOLERANCE = 0.2  # the slope is fitted over finite steps, where the next term of the error still shows
BACKENDS = ("native", "virtual")
TABLEAUX = {name: INTEGRATORS[name].tableau for name in ORDERS if INTEGRATORS[name].tableau is not None}


def reference(system, t):
    return strut.simulate(system, t=t, rtol=1e-13, atol=1e-14)


def slope(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ORDERS)
def test_fixed_step_methods_have_their_order(method, backend):
    system, exact = driven(), reference(driven(), 2.0).raw.x_end[:3]
    steps = 2.0 / np.array([20, 40, 80, 160]) if method != "euler" else 2.0 / np.array([200, 400, 800, 1600])
    errors = [
        np.abs(
            strut.simulate(system, t=2.0, method=method, step=h, backend=backend).raw.x_end[:3] - exact
        ).max()
        for h in steps
    ]
    assert slope(steps, errors) == pytest.approx(ORDERS[method], abs=SLOPE_TOLERANCE)


@pytest.mark.parametrize(("method", "order"), [("dopri5", 5), ("dop853", 8)])
def test_embedded_methods_have_their_order_with_fixed_steps(method, order):
    """Held at constant steps by max_step, with the error test switched off by loose tolerances."""
    system, exact = driven(), reference(driven(), 2.0).raw.x_end[:3]
    steps = 2.0 / (np.array([24, 32, 48, 64]) if order == 5 else np.array([3, 4, 5, 6]))
    errors = [
        np.abs(
            strut.simulate(system, t=2.0, method=method, step=h, max_step=h, rtol=1e3, atol=1e3).raw.x_end[:3]
            - exact
        ).max()
        for h in steps
    ]
    assert slope(steps, errors) == pytest.approx(order, abs=SLOPE_TOLERANCE)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_error_follows_the_tolerance(method):
    exact = reference(oscillator(), 10.0).raw.x_end[:2]
    tolerances = np.array([1e-4, 1e-6, 1e-8, 1e-10])
    errors = [
        np.abs(
            strut.simulate(oscillator(), t=10.0, method=method, rtol=tol, atol=tol).raw.x_end[:2] - exact
        ).max()
        for tol in tolerances
    ]
    assert slope(tolerances, errors) == pytest.approx(1.0, abs=0.15)
    assert all(error < 50 * tol for error, tol in zip(errors, tolerances, strict=True))


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_error_of_stiff_methods_follows_the_tolerance(method):
    """Their step control is SciPy's; over four decades the error goes with the tolerance, to a power near one."""
    exact = reference(oscillator(), 5.0).raw.x_end[:2]
    tolerances = np.array([1e-4, 1e-5, 1e-6, 1e-7, 1e-8])
    errors = [
        np.abs(
            strut.simulate(oscillator(), t=5.0, method=method, rtol=tol, atol=tol, ledger=False).raw.x_end[:2]
            - exact
        ).max()
        for tol in tolerances
    ]
    assert 0.7 < slope(tolerances, errors) < 1.3


DENSE = {"euler": 2, "leapfrog": 3, "rk4": 4, "predictor-corrector": 4, "dopri5": 5, "dop853": 8}


@pytest.mark.parametrize("method", DENSE)
def test_dense_output_has_the_right_order(method):
    """The local error of one step's interpolant, at its middle, falls with the power order + 1 of the interpolant
    (cubic Hermite: 4; but for Euler and leap-frog the ends themselves are only so good)."""
    system = oscillator()
    steps = np.array([0.4, 0.3, 0.2, 0.15]) if method == "dop853" else np.array([0.2, 0.1, 0.05, 0.025])
    errors = []
    for h in steps:
        run = strut.simulate(system, t=h, method=method, step=h, max_step=h, rtol=1e3, atol=1e3, ledger=False)
        at = run.at(h * np.array([0.31, 0.5, 0.77]))
        errors.append(np.abs(at["x"] - np.cos(at.t)).max() + np.abs(at["v"] + np.sin(at.t)).max())
    assert slope(steps, errors) == pytest.approx(DENSE[method], abs=0.4)


@pytest.mark.parametrize("method", [*ORDERS, "dopri5", "dop853"])
def test_dense_output_meets_the_steps(method):
    """Continuous from step to step, and equal to the state at the ends."""
    run = strut.simulate(driven(), t=3.0, method=method, step=0.05)
    ends = run.raw.poly.sum(axis=1)
    np.testing.assert_allclose(ends[:-1], run.raw.poly[1:, 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.at(run.t)["x"], run["x"], atol=1e-13)


@pytest.mark.filterwarnings("ignore::strut.simulate.simulate.LedgerWarning")  # a coarse step, on purpose
def test_leapfrog_is_symplectic():
    """The energy of a pendulum oscillates but does not drift over 1000 periods; Runge-Kutta of higher order drifts."""
    swing = strut.walkers.pendulum(angle=1.0)
    run = strut.simulate(swing, t=2000.0, method="leapfrog", step=0.05, max_step=0.05)
    energy = run.ledger.energy
    tenth = len(energy) // 10
    assert len(run.raw.t) == 40000  # fixed steps are counted: no sliver at the end
    assert np.ptp(energy) < 0.02 * energy[0]
    assert abs(energy[-tenth:].mean() - energy[:tenth].mean()) < 1e-4 * energy[0]


def test_leapfrog_refuses_a_system_without_positions():
    x = strut.State("x", 1.0)
    with pytest.raises(strut.StrutError, match="needs positions whose rate is another state"):
        strut.simulate(strut.System("decay", x=[x], flow={x: -x}), t=1.0, method="leapfrog", step=0.1)


@pytest.mark.parametrize(("method", "tolerance"), [("dop853", 1e-13), ("dopri5", 1e-13)])
def test_pleiades(method, tolerance):
    run = strut.simulate(pleiades(), t=3.0, method=method, rtol=tolerance, atol=tolerance)
    assert run["x1"][-1] == pytest.approx(PLEIADES_X1, rel=1e-8)


@pytest.mark.parametrize("name", [name for name, method in INTEGRATORS.items() if method.tableau])
def test_every_tableau_satisfies_its_order_conditions(name):
    """Row sums, and the quadrature conditions sum b c^(k-1) = 1/k up to the order."""
    m = INTEGRATORS[name].tableau
    for c, row in zip((*m.c[1:], *m.extra_c), (*m.a, *m.extra_a), strict=True):
        assert sum(row) == pytest.approx(c, abs=1e-14)
    for k in range(1, m.order + 1):
        assert np.dot(m.b, np.array(m.c) ** (k - 1)) / m.divisor == pytest.approx(1 / k, abs=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", TABLEAUX)
def test_integrals_beside_the_motion_never_fall_where_nothing_negative_is_added(method, backend):
    """Of a power that jumps from step to step, as a state and in the ledger: with weights of which some are
    negative the integral would fall wherever the jump is at their stage."""
    x, work = strut.State("x", 1.0), strut.State("work", 0.0)
    power = ca.if_else(ca.sin(50 * strut.time) > 0, 1.0, 0.0)
    pulsing = strut.System(
        "pulsing",
        x=[x, work],
        flow={x: -x, work: power},
        ledger=strut.Ledger(supplied={"motor": power}, dissipated={"damper": power}),
    )
    run = strut.simulate(pulsing, t=2.0, method=method, step=0.02, backend=backend)
    for integral in (run["work"], run.ledger.dissipated["damper"]):
        assert np.diff(integral).min() >= 0
        assert integral[-1] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("tableau", TABLEAUX.values(), ids=TABLEAUX)
def test_weights_of_integrals_are_positive_and_of_the_order_of_the_method(tableau):
    weights = np.array(tableau.quadrature or tableau.b)
    weights = weights / weights.sum()
    assert weights.min() >= 0
    for power in range(tableau.order):
        assert weights @ np.array(tableau.c) ** power == pytest.approx(1 / (power + 1), abs=1e-13)
