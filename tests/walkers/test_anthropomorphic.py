"""The exoskeleton that is built like legs: masses, motion as of one rigid leg with its bars, and what cuffs
push."""

import casadi as ca
import numpy as np
import pytest

from strut import joints, mechanism, walkers
from strut.errors import ModelError
from strut.studies.exoskeleton_gait import machine_values
from strut.studies.exoskeleton_rival import RIVAL_MOTORS, rival_mass, rival_tables, rival_walker
from strut.system import start, sx
from strut.walkers.human import body_size, build_human

BARS = {"hip": ("thigh", 0.245 * 1.8), "knee": ("shank", 0.246 * 1.8)}


def outputs_of(system, names, values):
    """Outputs of a system, at a state and inputs by name."""
    own = start(system)
    f = system.function("outputs", [ca.vertcat(*[sx(system.outputs[name]) for name in names])])
    x, u = (np.array([values.get(label, 0.0) for label in system.labels(group)]) for group in ("x", "u"))
    return np.array(f(0.0, x, np.zeros(len(own.z)), u, own.p)).reshape(-1)


def rates_of(system, names, values):
    """The flow of some states, at a state and inputs by name; the feet are off the ground."""
    own = start(system)
    f = system.function("rates", [ca.vertcat(*[sx(system.flow[name]) for name in names])])
    x, u = (np.array([values.get(label, 0.0) for label in system.labels(group)]) for group in ("x", "u"))
    return np.array(f(0.0, x, np.zeros(len(own.z)), u, own.p)).reshape(-1)


def welded():
    """The human whose thighs and shanks have the bars as parts of themselves."""
    m = build_human(body_size(), 0.0)
    for side in ("_r", "_l"):
        for segment, length in BARS.values():
            bar, motor, cuff = 0.7 * length, 2.0, 0.5
            total = bar + motor + cuff
            centre = (bar * length / 2 + cuff * 0.6 * length) / total
            inertia = (
                bar * length**2 / 12
                + bar * (length / 2 - centre) ** 2
                + motor * (0.05**2 / 2 + centre**2)
                + cuff * (0.05**2 / 2 + (0.6 * length - centre) ** 2)
            )
            part = m.body(f"{segment}_part{side}", total, (0, 0, -centre), inertia)
            m.joint(f"{segment}_weld{side}", m.bodies[f"{segment}{side}"], part, joints.fixed())
    return mechanism.system(m)


def test_it_moves_as_legs_of_which_the_bars_are_parts():
    """Cuffs are rigid: accelerations are those of a human whose segments are heavier, driven at hip and
    knee."""
    rng = np.random.default_rng(3)
    own = ["x", "z", "pitch", *[f"{j}_{s}" for s in "rl" for j in ("hip", "knee", "ankle", "toe")]]
    state = {name: 0.3 * rng.standard_normal() for name in (*own, *[f"{name}_rate" for name in own])}
    state["z"] = 5.0
    pushes = {f"{j}_{s}": 20 * rng.standard_normal() for s in "rl" for j in ("hip", "knee")}
    bars = {f"bar_{joint}{end}": state[f"{joint}{end}"] for joint in pushes for end in ("", "_rate")}
    motors = {f"bar_{joint}_motor_torque": push for joint, push in pushes.items()}
    names = [f"{name}_rate" for name in own]
    worn = rates_of(walkers.anthropomorphic_exoskeleton(), names, {**state, **bars, **motors})
    torques = {f"{joint}_torque": push for joint, push in pushes.items()}
    heavy = rates_of(welded(), names, {**state, **torques})
    np.testing.assert_allclose(worn, heavy, rtol=1e-9, atol=1e-9)
    # on soft ground, where bars are parts of the legs from the first
    soft = rates_of(walkers.anthropomorphic_exoskeleton(ground="soft"), names, {**state, **motors})
    np.testing.assert_allclose(soft, heavy, rtol=1e-9, atol=1e-9)


def test_cuffs_push_alike_where_bars_are_parts_of_legs():
    """On soft ground the balance of each bar tells what slots of rigid ground tell, with feet in the air."""
    rng = np.random.default_rng(5)
    own = ["x", "z", "pitch", *[f"{j}_{s}" for s in "rl" for j in ("hip", "knee", "ankle", "toe")]]
    state = {name: 0.3 * rng.standard_normal() for name in (*own, *[f"{name}_rate" for name in own])}
    state["z"] = 5.0
    torques = {f"{j}_{s}": 20 * rng.standard_normal() for s in "rl" for j in ("hip", "knee")}
    bars = {f"bar_{joint}{end}": state[f"{joint}{end}"] for joint in torques for end in ("", "_rate")}
    motors = {f"bar_{joint}_motor_torque": torque for joint, torque in torques.items()}
    names = [name for outputs in walkers.anthropomorphic_attachments().values() for name in outputs]
    rigid, soft = (walkers.anthropomorphic_exoskeleton(ground=ground) for ground in ("rigid", "soft"))
    expected = outputs_of(rigid, names, {**state, **bars, **motors})
    np.testing.assert_allclose(outputs_of(soft, names, {**state, **motors}), expected, rtol=1e-9, atol=1e-7)
    assert np.abs(expected).min() > 0.1  # [N]
    assert [soft.output_units[name] for name in names] == ["N"] * len(names)


def test_wrong_ground():
    with pytest.raises(ModelError, match="ground is 'sand': .*soft"):
        walkers.anthropomorphic_exoskeleton(ground="sand")
    with pytest.raises(ModelError, match="friction is of rigid ground"):
        walkers.anthropomorphic_exoskeleton(ground="soft", friction=0.5)


def test_masses():
    """Actuators 2 kg, cuffs as passive joints 0.5 kg, bars 0.7 kg/m: 11.24 kg on both legs."""
    machine = walkers.anthropomorphic_exoskeleton()
    assert rival_mass() == pytest.approx(4 * 2 + 4 * 0.5 + 0.7 * 2 * 0.491 * 1.8)
    bare, worn = build_human(body_size(), 0.0), machine
    assert worn.walk is not None
    values = {q.name: float(q.value[0]) for q in machine.p}
    assert values["bar_hip_mass"] == 2.0
    assert values["thigh_cuff_mass"] == 0.5
    assert values["bar_density"] == 0.7
    assert {q.name for q in machine.u} == {
        f"{motor}_{side}_motor_torque" for motor in RIVAL_MOTORS for side in "rl"
    } | {"ankle_r_torque", "ankle_l_torque"}
    assert len(machine.x) == 2 * (len(bare.connections) + 4)
    for outputs in walkers.anthropomorphic_attachments().values():
        assert set(outputs) <= set(machine.outputs)


def test_parameters_of_control():
    tables = rival_tables()
    assert len(tables.parameters) == 3 * 19 + 2
    values = machine_values(tables, {q.name: float(q.value[0]) for q in tables.parameters})
    machine = rival_walker().using(values)
    assert {"bar_hip_r_motor_torque", "phase"} <= set(machine.outputs)
