"""Derivatives along a record: those of the variational equations, on a machine that lands."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import contact, evolve, joints, walkers
from strut.errors import ModelError, ShapeError, UnknownNameError
from strut.evolve.evaluations.run_gradients import RunGradients
from strut.system import Param, sx

DURATION, BEGIN = 0.6, 0.1
NAMES = ("load", "spring")
STOP = 0.45
"""[rad] Of the knee, from which on something counts."""


@pytest.fixture(scope="module")
def hopper():
    """A body that falls, with a pendulum on it and a springy leg under it, which lands after 0.2 s."""
    load, spring = Param("load", 1.0, "kg"), Param("spring", 40.0, "N m/rad")
    m = strut.Mechanism("hopper", planar=True)
    body = m.body("body", 5.0, inertia=0.1)
    m.joint("base", m.world, body, joints.planar(), initial=(0, 0.4, 0.2), rate=(0.3, 0, 1.0))
    swing = m.body("swing", load.sym, (0, 0, -0.2), 0.02)
    m.joint("pivot", body, swing, joints.revolute("y"), at=(0.1, 0, 0.1), initial=0.4, rate=2.0)
    shin = m.body("shin", 1.0, (0, 0, -0.1), 0.01)
    m.joint("knee", body, shin, joints.revolute("y"), initial=0.1, spring=spring, rest=0.5, damping=0.3)
    m.frame("toe", shin, (0, 0, -0.3))
    machine = contact.rigid(m, ["toe"])
    power = 10 * machine["knee_rate"] * (machine["knee"] - 0.3)
    return machine.replace(outputs={**machine.outputs, "size": ca.fabs(power), "square": power**2})


def gradients(hopper):
    return evolve.RecordedGradients(
        hopper,
        {"size": hopper["size"], "square": hopper["square"], "beyond": sx(hopper["knee"] > STOP)},
        NAMES,
        begin=BEGIN,
        switches=[hopper["knee_rate"], hopper["knee"] - 0.3, hopper["knee"] - STOP],
    )


def test_they_are_those_of_the_variational_equations(hopper):
    """Integrals, one with kinks, and the state at the end, over a landing; by rates that an equation says,
    and by rates that are said themselves."""
    expressions = {
        "size": f"integral_after(size, {BEGIN})",
        "square": f"integral_after(square, {BEGIN})",
        "knee": "knee",
    }
    evaluation = evolve.of_system(hopper, DURATION, expressions, rtol=1e-10, atol=1e-12)
    exact = RunGradients(evaluation, NAMES, np.array([1.0, 40.0])).run(np.array([1.0, 40.0]))
    run = strut.simulate(hopper, DURATION, rtol=1e-8, atol=1e-10)
    assert [event.name for event in run.events] == ["toe_touchdown"]
    assert hopper.implied is not None
    for machine in (hopper, hopper.replace(implied=None)):
        found = gradients(machine).along(run, np.eye(2))
        rows = [found.slopes["size"], found.slopes["square"], found.state[run.names.x.index("knee")]]
        np.testing.assert_allclose(rows, exact.by_searched, rtol=2e-5)
        assert found.values["size"] == pytest.approx(exact.measures[0], rel=1e-6)
    assert gradients(hopper).integrals(run) == pytest.approx(dict(found.values))


def test_a_time_beyond_a_limit_has_derivatives(hopper):
    """How long the knee is beyond its stop changes with when it comes there: central differences."""
    own = gradients(hopper)
    run = strut.simulate(hopper, DURATION, rtol=1e-10, atol=1e-12)
    found = own.along(run, np.eye(2)).slopes["beyond"]
    for k, (name, value, step) in enumerate((("load", 1.0, 1e-4), ("spring", 40.0, 1e-3))):
        times = [
            own.integrals(
                strut.simulate(hopper.using({name: value + sign * step}), DURATION, rtol=1e-10, atol=1e-12)
            )["beyond"]
            for sign in (1, -1)
        ]
        assert found[k] == pytest.approx((times[0] - times[1]) / (2 * step), rel=1e-3)
        assert abs(found[k]) > 1e-5


def test_how_the_beginning_varies(hopper):
    """Directions may be sums of parameters, and the initial state may vary along them."""
    own, run = gradients(hopper), strut.simulate(hopper, DURATION, rtol=1e-8, atol=1e-10)
    apart = own.along(run, np.eye(2))
    initial = np.zeros((len(run.names.x), 1))
    initial[run.names.x.index("pivot")] = 1.0
    both = own.along(run, np.array([[2.0], [-3.0]]), initial)
    alone = own.along(run, np.zeros((2, 1)), initial)
    summed = apart.state @ np.array([[2.0], [-3.0]]) + alone.state
    np.testing.assert_allclose(both.state, summed, rtol=1e-8, atol=1e-9)


def test_what_has_no_derivatives_along_a_record(hopper):
    with pytest.raises(UnknownNameError, match="'hopper' has no parameter 'mass'"):
        evolve.RecordedGradients(hopper, {}, ["mass"])
    run = strut.simulate(hopper, DURATION)
    with pytest.raises(ShapeError, match=r"directions have the shape \(3, 1\): 2 parameters x directions"):
        gradients(hopper).along(run, np.zeros((3, 1)))
    clocked = evolve.remember_peaks(hopper, {"top": hopper["knee"]}, every=0.01)
    with pytest.raises(ModelError, match="'hopper' has samples"):
        evolve.RecordedGradients(clocked, {}, NAMES)
    runner = walkers.slip()
    with pytest.raises(ModelError, match="events of 'slip' set '.*' to what varies with the state"):
        evolve.RecordedGradients(runner, {}, ["stiffness"])
