"""Results of a machine that is described in another order of its states: compared by name."""

import warnings

import numpy as np
import pytest

import strut
from strut import Param, State, System, gait, walkers
from strut.errors import ModelError
from strut.system import Ledger, order_like


def spring(*, turned, name="x"):
    """A mass on a spring, its states, parameters and outputs in one of two orders."""
    x, v = State(name, 1.0, "m"), State("v", 0.5, "m/s")
    k, m = Param("k", 4.0, "N/m"), Param("m", 2.0, "kg")
    system = System(
        "spring",
        x=(x, v),
        p=(k, m),
        flow={x: v, v: -k / m * x},
        outputs={"force": -k * x, "speed": v},
        ledger=Ledger(stored={"elastic": k * x**2 / 2, "kinetic": m * v**2 / 2}),
    )
    other = {
        "x": ["v", name],
        "p": ["m", "k"],
        "outputs": ["speed", "force"],
        "stored": ["kinetic", "elastic"],
    }
    return order_like(system, other) if turned else system


def test_a_run_loads_with_its_machine_in_another_order(tmp_path):
    run = strut.simulate(spring(turned=False), t=3.0, p={"k": 5.0})
    file = run.save(tmp_path / "run.h5")
    said = (
        "the file has the same as the system 'spring' given in another order, and keeps it: states x, v "
        r"\(not v, x\); parameters k, m \(not m, k\); outputs force, speed \(not speed, force\); values by name"
    )
    with pytest.warns(UserWarning, match=said):
        again = strut.Trajectory.load(file, spring(turned=True))
    assert again.system.labels("x") == again.names.x == ("x", "v")
    times = np.linspace(0, 3, 7)
    for name in ("x", "v", "force", "speed"):
        np.testing.assert_allclose(again.at(times)[name], run.at(times)[name], rtol=1e-12, atol=1e-12)
    mine, yours = run.ledger_at(times), again.ledger_at(times)
    for name in ("elastic", "kinetic"):
        np.testing.assert_allclose(yours.stored[name], mine.stored[name], rtol=1e-12)
    on = strut.simulate(again.system, t=(3.0, 4.0), **again.end)  # vectors are in the order of its system
    assert on["x"][-1] == pytest.approx(strut.simulate(spring(turned=False), t=4.0, p={"k": 5.0})["x"][-1])


def test_a_run_of_other_names_says_which(tmp_path):
    file = strut.simulate(spring(turned=False), t=1.0).save(tmp_path / "run.h5")
    with pytest.raises(
        ModelError, match="with other names .* states x of the file alone; states y of the system"
    ):
        strut.Trajectory.load(file, spring(turned=False, name="y"))


def test_the_same_order_says_nothing(tmp_path):
    file = strut.simulate(spring(turned=False), t=1.0).save(tmp_path / "run.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strut.Trajectory.load(file, spring(turned=False))


def test_a_gait_loads_with_its_walker_in_another_order(tmp_path):
    walker = walkers.simplest()
    found = gait.find(walker)
    file = found.save(tmp_path / "gait.h5")
    turned = order_like(walker, {"x": walker.labels("x")[::-1]})
    with pytest.warns(UserWarning, match="keeps it: states"):
        again = gait.load(file, turned)
    assert again.system.labels("x") == walker.labels("x")
    assert again.x0 == found.x0
    np.testing.assert_allclose(again.multipliers, found.multipliers)
