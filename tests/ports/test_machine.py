"""Machines in graphs: a joint or a point of a mechanism, and inputs of any system, are ports."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import joints, mechanism, ports
from strut.errors import ModelError

BALANCE = 1e-9
"""[1] Residual of a run's ledger, relative to the energy that moved."""
SAME = 1e-8
"""[1] Of two runs of the same machine, described in two ways, at the tolerance of the integrator."""


def pendulum(armature=None, damping=None, spring=None):
    m = strut.Mechanism("pendulum", planar=True)
    body = m.body("bob", mass=1.5, com=(0, 0, -0.4), inertia=0.02)
    m.joint(
        "hip",
        m.world,
        body,
        joints.revolute("y"),
        initial=0.5,
        armature=armature,
        damping=damping,
        spring=spring,
    )
    m.frame("tip", body, (0, 0, -0.8))
    return m


def gearbox(ratio, inertia, damping):
    """A rotor behind a rigid gear at the hip: its momentum follows from the joint's rate."""
    g = ports.BondGraph("geared")
    g.machine("leg", mechanism.system(pendulum()), {"hip": "hip_torque"})
    g.one("joint")
    g.transformer("gear", ratio, domains=("rotation", "rotation"))
    g.one("fast")
    g.inertia("rotor", inertia, domain="rotation")
    g.resistor("bearing", damping, domain="rotation")
    g.bond("joint", "leg.hip", "gear")
    g.bond("gear", "fast")
    g.bond("fast", "rotor", "bearing")
    return g


def test_a_rotor_behind_a_rigid_gear_is_the_armature_of_the_joint():
    """Derivative causality across a mechanism, against the mechanism's own way to say it."""
    n, J, d = 20.0, 1e-4, 2e-5
    g = gearbox(n, J, d)
    assert ports.causality(g).dependent == (("rotor", ""),)
    ours = strut.simulate(ports.system(g), 2.0)
    theirs = strut.simulate(mechanism.system(pendulum(n**2 * J, n**2 * d)), 2.0)
    t = np.linspace(0, 2, 50)
    assert ours.at(t)["hip"] == pytest.approx(theirs.at(t)["hip"], rel=SAME, abs=SAME)
    assert ours.ledger.residual < BALANCE * ours.ledger.turnover
    assert "hip_torque" not in ours.ledger.supplied
    assert ours.at(t)["rotor.flow"] == pytest.approx(n * ours.at(t)["hip_rate"], rel=1e-9, abs=1e-9)


def test_a_spring_at_a_joint_is_the_spring_of_the_joint():
    g = ports.BondGraph("sprung")
    g.machine("leg", mechanism.system(pendulum()), {"hip": "hip_torque"})
    g.one("joint")
    g.compliance("spring", stiffness=7.0, domain="rotation", initial=0.5)
    g.bond("joint", "leg.hip", "spring")
    ours = strut.simulate(ports.system(g), 3.0)
    theirs = strut.simulate(mechanism.system(pendulum(spring=7.0)), 3.0)
    assert ours.at(3.0)["hip"] == pytest.approx(theirs.at(3.0)["hip"], rel=SAME)
    assert ours.at(3.0)["spring.q"] == pytest.approx(ours.at(3.0)["hip"], rel=SAME)


def test_a_point_of_a_body_has_ports_along_the_axes():
    """A damper along x at the tip, against the torque that it makes about the hip."""
    m = pendulum()
    m.push("tip")
    g = ports.BondGraph("dragged")
    g.machine("leg", mechanism.system(m), {"x": "tip_push_x", "z": "tip_push_z"})
    for axis in "xz":
        g.resistor(f"water_{axis}", 0.8, domain="translation")
        g.one(f"v_{axis}")
        g.bond(f"v_{axis}", f"leg.{axis}", f"water_{axis}")
    s = ports.system(g)
    run = strut.simulate(s, 2.0)
    assert run.ledger.residual < BALANCE * run.ledger.turnover
    theirs = strut.simulate(mechanism.system(pendulum(damping=0.8 * 0.8**2)), 2.0)
    assert run.at(2.0)["hip"] == pytest.approx(theirs.at(2.0)["hip"], rel=SAME)


def test_a_point_whose_power_is_shared_asks_for_all_its_ports():
    m = pendulum()
    m.push("tip")
    g = ports.BondGraph("dragged")
    g.machine("leg", mechanism.system(m), {"x": "tip_push_x"})
    g.resistor("water", 0.8, domain="translation")
    g.one("v")
    g.bond("v", "leg.x", "water")
    with pytest.raises(
        ModelError,
        match="power 'tip_push' of machine 'leg' is that of several inputs: make all of them ports",
    ):
        ports.system(g)


def test_an_impact_that_a_rigid_rotor_must_feel_is_refused():
    s = mechanism.system(pendulum())
    bounce = strut.Event("bounce", guard=-s["hip"], reset={"hip_rate": -0.5 * s["hip_rate"]})
    g = gearbox(20.0, 1e-4, 1e-5)
    g.elements.pop("leg")
    g.machine("leg", s.replace(events=(bounce,)), {"hip": "hip_torque"})
    with pytest.raises(
        ModelError, match="event 'bounce' of machine 'leg' resets what 'rotor' is tied to rigidly"
    ):
        ports.system(g)


def test_events_of_a_machine_stay_where_the_graph_is_elastic():
    s = mechanism.system(pendulum())
    bounce = strut.Event("bounce", guard=-s["hip"], reset={"hip_rate": -0.5 * s["hip_rate"]})
    g = ports.BondGraph("sprung")
    g.machine("leg", s.replace(events=(bounce,)), {"hip": "hip_torque"})
    g.one("joint")
    g.compliance("spring", stiffness=7.0, domain="rotation", initial=0.5)
    g.bond("joint", "leg.hip", "spring")
    run = strut.simulate(ports.system(g), 1.0)
    assert len(run.events) >= 1
    assert run.ledger.residual < BALANCE * run.ledger.turnover


def own_oscillator():
    """A system of one's own without any ledger: a network's node, say."""
    x, v, f = strut.State("x", 0.3, "m"), strut.State("v", 0.0, "m/s"), strut.Input("f", 0.0, "N")
    return strut.System("node", x=(x, v), flow={x: v, v: -4 * x + f / 2}, u=(f,))


def test_an_input_whose_power_nobody_books_asks_for_its_flow():
    g = ports.BondGraph("node")
    with pytest.raises(
        ModelError,
        match=r"port 'f' of machine 'node': the ledger of 'node' books no power of input 'f', so the flow .*: say it, \('f', FLOW\)",
    ):
        g.machine("node", own_oscillator(), {"f": "f"})
    g.machine("node", own_oscillator(), {"f": ("f", "v")})
    g.one("j")
    g.resistor("damper", 0.6, domain="translation")
    g.inertia("load", 1.0, domain="translation")
    g.bond("j", "node.f", "damper", "load")
    s = ports.system(g)
    f = s.function("flow", [s.flow["v"], s.outputs["load.effort"]])
    x, v = 0.3, 0.7
    a = (-4 * x * 2 - 0.6 * v) / (2 + 1)  # a mass of 2 kg on 8 N/m, with 1 kg more and a damper
    at = [{"x": x, "v": v}[q.name] for q in s.x]
    assert np.array(ca.vertcat(*f(0, at, [], [], []))).reshape(-1) == pytest.approx([a, a], rel=1e-12)


def test_what_is_no_input_is_named():
    with pytest.raises(
        ModelError,
        match="port 'hip' of machine 'leg' is input 'hip_tork', which 'pendulum' has not: did you mean 'hip_torque'",
    ):
        ports.BondGraph("g").machine("leg", mechanism.system(pendulum()), {"hip": "hip_tork"})
    with pytest.raises(ModelError, match="machine 'leg' has no ports"):
        ports.BondGraph("g").machine("leg", mechanism.system(pendulum()), {})
