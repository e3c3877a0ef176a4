"""Motors of the catalogue, one after another, in a compass of one's own: what each draws, and which is the best."""

from dataclasses import replace

import numpy as np
import pytest

from strut import actuator, optimal, walkers
from strut.cli.saved_results import load_saved
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from tests.optimal.test_robust_design import pushed_walker

TASK = {"speed": 0.5, "step_length": 0.35}


def with_motor(motor, gear_ratio=100.0):
    return actuator.dc_motors(
        pushed_walker(), replace(motor, gear_ratio=gear_ratio), spring=300.0, spring_damping=1.0, smooth=True
    )


def test_a_machine_that_cannot_is_named_and_others_go_on():
    """A compass with ideal torques draws no electrical power; with a motor it walks."""
    machines = {"ideal": pushed_walker(), "maxon": with_motor(actuator.MOTORS["maxon-re40-gp42c"])}
    choice = optimal.design_each(machines, cost="electrical", **TASK)
    assert choice.best == "maxon"
    assert not choice.ok
    assert "draws no electrical power" in choice.failures["ideal"]
    columns = choice.columns()
    assert columns["machine"] == ["maxon", "ideal"]
    assert columns["ok"] == [True, False]
    assert columns["cost"][0] == choice.designs["maxon"].result.cost
    assert np.isnan(columns["cost"][1])
    assert repr(choice) == "<DesignsByName: 1 of 2 machines ok>"


def test_designs_by_name_come_back_from_a_file(tmp_path):
    machines = {"light": walkers.compass(hip_mass=8.0), "heavy": walkers.compass(hip_mass=12.0)}
    choice = optimal.design_each(machines, cost="squared-torque", slope=0.0, speed=0.5)
    choice = replace(choice, failures={"other": "it has no motor"})
    back = optimal.load(choice.save(tmp_path / "machines.h5"))
    assert isinstance(back, optimal.DesignsByName)
    columns = choice.columns()
    assert {name: values[:2] for name, values in back.columns().items()} == {
        name: values[:2] for name, values in columns.items()
    }
    assert back.failures == choice.failures
    assert back.best == choice.best
    assert load_saved(tmp_path / "machines.h5").data["best"] == choice.best
    assert back.designs["heavy"].mass == pytest.approx(back.designs["light"].mass + 4.0)
    with pytest.raises(ValueRangeError, match="no machine has a design, so there is none to save"):
        optimal.DesignsByName({}, choice.failures).save(tmp_path / "none.h5")


def test_a_task_that_is_wrong_for_all_is_raised():
    with pytest.raises(ModelError, match="draws no electrical power"):
        optimal.design_each({"ideal": pushed_walker()}, cost="electrical", **TASK)
    with pytest.raises(UnknownNameError, match="'sped' is nothing that a design can be asked"):
        optimal.design_each({"ideal": pushed_walker()}, cost="squared-torque", sped=1.0)
    with pytest.raises(ValueRangeError, match="no machine to design: give some, by name"):
        optimal.design_each({})
    with pytest.raises(ValueRangeError, match="so none is best: ideal: it has no motor"):
        _ = optimal.DesignsByName({}, {"ideal": "it has no motor"}).best


@pytest.mark.slow  # two motors, each with a gear to be found, and once more without: a minute
def test_the_gear_that_suits_each_motor_makes_it_cheaper():
    machines = {name: with_motor(motor) for name, motor in actuator.MOTORS.items()}
    as_sold = optimal.design_each(machines, **TASK)
    geared = optimal.design_each(machines, {"hip_gear_ratio": (10, 300)}, **TASK)
    assert as_sold.ok
    assert geared.ok
    for name in machines:
        assert geared.designs[name].result.cost < as_sold.designs[name].result.cost
    costs = {name: each.result.cost for name, each in geared.designs.items()}
    assert costs[geared.best] == min(costs.values())
    assert geared.columns()["hip_gear_ratio"] == [
        d.parameters["hip_gear_ratio"] for d in geared.designs.values()
    ]
