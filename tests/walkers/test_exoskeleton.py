"""A human in an exoskeleton: sizes, parameters, and ten seconds on its feet with closed loops."""

import numpy as np
import pytest

import strut
from strut import linkage, walkers
from strut.errors import ModelError
from strut.studies.exoskeleton_gait import (
    active_signals,
    exoskeleton_tables,
    exoskeleton_walker,
    passive_signals,
    stride_references,
)

PAIR = ("j1", "j3")


def topology():
    """A four-bar at the hip, and a chain of two links from the trunk to the shank."""
    return linkage.topologies(linkage.human_leg(), 4, 6)[1]


def test_it_is_the_human_and_its_linkages():
    machine = walkers.exoskeleton(topology(), actuators=PAIR)
    assert len(machine.x) == 2 * 19  # 11 of the human, four of each leg's linkage
    motors = {q.name for q in machine.u}
    assert motors == {f"{j}_{s}_motor_torque" for j in topology().joints for s in "rl"} | {
        "ankle_r_torque",
        "ankle_l_torque",
    }
    assert {"j1_r_reaction_x", "j5_pin_l_z"} <= set(machine.outputs)
    values = {q.name: float(q.value[0]) for q in machine.p}
    assert [values[f"j{k}_mass"] for k in range(1, 7)] == [2.0, 0.5, 2.0, 0.5, 0.5, 0.5]


def test_nineteen_parameters_per_active_joint():
    """Table 5.2: 11 of the reference, 4 of stiffness, 4 of damping."""
    counts = {what: len(signal.parameters) for what, signal in active_signals("j1").items()}
    assert counts == {"reference": 11, "stiffness": 4, "damping": 4}
    assert sum(len(signal.parameters) for signal in passive_signals("j2").values()) == 3
    tables = exoskeleton_tables(topology(), PAIR)
    assert len(tables.parameters) == 3 * 19 + 4 * 3  # two actuators and the ankle; four passive joints
    with pytest.raises(ModelError, match="actuators j1, j6 do not drive the linkage: j1-j3, j1-j4"):
        exoskeleton_tables(topology(), ("j1", "j6"))


def test_wrong_exoskeletons():
    arm = linkage.Limb(("chest", "arm"), {"shoulder": ("chest", "arm")})
    with pytest.raises(ModelError, match="the topology is of another limb"):
        walkers.exoskeleton(linkage.topologies(arm, 2, 3)[0])
    with pytest.raises(ModelError, match="actuators has 'j9': the linkage has j1, j2"):
        walkers.exoskeleton(topology(), actuators=("j9",))
    stretched = linkage.sketch_values(topology())
    stretched[0, -1], stretched[0, -3] = 0.1, 1.3
    names = [each.name for each in linkage.pin_parameters(topology())]
    stretched[0, names.index("j6_x")], stretched[0, names.index("j6_z")] = 0.0, 0.98
    with pytest.raises(ModelError, match="the linkage does not assemble with hip and knee at"):
        walkers.exoskeleton(topology(), stretched)


@pytest.mark.slow  # 19 coordinates on rigid ground are compiled, a minute and more, and run for 10 s
def test_ten_seconds_on_its_feet():
    """Driven along a stride, with the trunk assisted, it walks 9.9 m; loops stay closed, and books close."""
    design = linkage.sketch_values(topology())
    machine = exoskeleton_walker(topology(), design, PAIR)
    tables = exoskeleton_tables(topology(), PAIR)
    motion = linkage.follow_postures(topology(), design, linkage.stride_postures(60))
    numbers = {q.name: float(q.value[0]) for q in tables.parameters}
    references = stride_references(motion)
    for joint in PAIR:
        numbers |= references[joint]
        for k in (1, 2):
            numbers |= {f"{joint}_stiffness_{k}": 4000.0, f"{joint}_damping_{k}": 50.0}
    for joint in topology().joints:
        if joint not in PAIR:
            numbers[f"{joint}_damping"] = 0.2
    for k in (1, 2):
        numbers |= {f"ankle_stiffness_{k}": 200.0, f"ankle_damping_{k}": 15.0}
    row = tables.rows(np.array([[numbers[name] for name in tables.names]]))[0]
    values: dict[str, list[float]] = {}
    for label, value in zip(tables.labels, row, strict=True):
        values.setdefault(label.partition("[")[0], []).append(float(value))
    run = strut.simulate(machine.using(values), 10.0)
    assert run.status == "done"
    assert np.abs(run["closure_error"]).max() < 1e-8
    for side in "rl":  # and as the frames of the pins themselves say
        for axis in "xz":
            assert np.abs(run[f"j5_on_a_{side}_{axis}"] - run[f"j5_on_d_{side}_{axis}"]).max() < 1e-8
    assert run.ledger.residual < 1e-6
    assert run["x"][-1] == pytest.approx(9.87, abs=0.3)  # [m]
    lifts = [name for name in run.events.names if name.endswith("_release")]
    assert any(name.startswith("heel_r") for name in lifts)
    assert any(name.startswith("heel_l") for name in lifts)
    assert np.abs(run["j1_r_reaction_z"]).max() > 50.0
