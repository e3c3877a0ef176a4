"""Machines in graphs: a joint or a point of a mechanism, and inputs of any system, are ports."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import joints, mechanism, network, ports
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


CART = """
node "cart" {
    m = 2
    k = 8
    f = 0 | in
    x = 0.3
    v = 0
    x' = "v"
    v' = "(f - k * x) / m"
}
"""

BRAKED = """
[[element]]
name = "net"
kind = "machine"
model = "cart.cdn"
ports = { push = { input = "cart.f", flow = "cart.v" } }
[[element]]
name = "speed"
kind = "1"
[[element]]
name = "brake"
kind = "R"
domain = "translation"
resistance = 0.6
[[element]]
name = "load"
kind = "I"
domain = "translation"
inertia = 1.0
[[bond]]
from = "speed"
to = ["net.push", "brake", "load"]
"""


def braked_cart(net):
    g = ports.BondGraph("braked")
    g.machine("net", net.system(), {"push": ("cart.f", "cart.v")})
    g.one("speed")
    g.resistor("brake", 0.6, domain="translation")
    g.inertia("load", 1.0, domain="translation")
    g.bond("speed", "net.push", "brake", "load")
    return g


def test_a_network_in_its_own_language_is_joined_by_a_port(tmp_path):
    """In Python and as text: a cart of 2 kg on 8 N/m with 1 kg more and a brake, solved by hand."""
    (tmp_path / "cart.cdn").write_text(CART)
    (tmp_path / "braked.toml").write_text(BRAKED)
    roots = np.roots([3.0, 0.6, 8.0])
    by_hand = (np.linalg.solve([[1, 1], roots], [0.3, 0]) @ np.exp(2.0 * roots)).real
    for g in (braked_cart(network.load(tmp_path / "cart.cdn")), ports.load(tmp_path / "braked.toml")):
        s = ports.system(g)
        assert s.output_units["net.effort"] == "N"  # the neighbours tell the domain
        run = strut.simulate(s, 2.0)
        assert run.at(2.0)["cart.x"] == pytest.approx(by_hand, rel=SAME)
        assert run.ledger.residual < BALANCE * run.ledger.turnover
        # what the network, which keeps no account, gives is what it no longer stores
        gave = run.ledger.supplied["net.push"][-1]
        end = run.at(2.0)
        assert gave == pytest.approx(4 * 0.3**2 - 4 * end["cart.x"] ** 2 - end["cart.v"] ** 2, rel=SAME)


@pytest.mark.parametrize(
    ("ports_line", "says"),
    [
        ('{ push = "cart.f" }', r"braked.toml, line 2: .*books no power of input 'cart.f'"),
        ('{ push = { input = "cart.f" } }', "'flow' is missing"),
        ('{ push = { input = "cart.g", flow = "cart.v" } }', "is input 'cart.g', which 'cart' has not"),
        ('{ push = { input = "cart.f", flow = "cart.w" } }', "has no 'cart.w': did you mean"),
        ('{ push = { input = "cart.f", flow = "cart.v", sign = 1 } }', "'sign' is unknown here"),
        ("{ push = 3 }", "push is 3: a text in quotes is needed"),
    ],
)
def test_ports_of_a_network_that_are_wrong_are_said(tmp_path, ports_line, says):
    (tmp_path / "cart.cdn").write_text(CART)
    line = next(line for line in BRAKED.splitlines() if line.startswith("ports"))
    (tmp_path / "braked.toml").write_text(BRAKED.replace(line, f"ports = {ports_line}"))
    with pytest.raises(ModelError, match=says):
        ports.load(tmp_path / "braked.toml")


def test_a_machine_of_the_library_of_bodies_is_joined_by_its_torque():
    """A pendulum of the network's library with a torque as input, damped by a graph: the mechanism's own."""
    net = network.loads(
        """
include "physics/physics.cdn"
node "system" : physics.system {
    node "p" : physics.joints.revoluteY {
        m = 1.5
        com = "[0; 0; -0.4]"
        I = "Inertia.Box(m, 0.1, 0.2, 0.3)"
        q = 0.5
        torque = 0 | in
        τ = "torque"
    }
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""
    )
    s = net.system()
    (torque,) = [q.name for q in s.u if q.name.endswith("torque")]
    g = ports.BondGraph("damped")
    g.machine("net", s, {"hip": (torque, "system.p.dq")})
    g.one("joint")
    g.resistor("damper", 0.3, domain="rotation")
    g.bond("joint", "net.hip", "damper")
    m = strut.Mechanism("pendulum", planar=True)
    body = m.body("bob", mass=1.5, com=(0, 0, -0.4), inertia=1.5 * (0.1**2 + 0.3**2) / 12)
    m.joint("hip", m.world, body, joints.revolute("y"), initial=0.5, damping=0.3)
    ours = strut.simulate(ports.system(g), 1.0, rtol=1e-10, atol=1e-12)
    theirs = strut.simulate(mechanism.system(m), 1.0, rtol=1e-10, atol=1e-12)
    assert ours.at(1.0)["system.p.q"] == pytest.approx(theirs.at(1.0)["hip"], rel=1e-6)


def test_a_machine_whose_flow_depends_on_its_effort_is_in_a_loop():
    """A massless point that creeps, x' = f / 2 - x, beside a resistor, fed with a steady flow."""
    x, f = strut.State("x", 0.3, "m"), strut.Input("f", 0.0, "N")
    creep = strut.System("creep", x=(x,), flow={x: f / 2 - x}, u=(f,))
    g = ports.BondGraph("fed")
    g.flow_source("feed", 1.0, domain="translation")
    g.zero("force")
    g.resistor("slip", 1.0, domain="translation")
    g.machine("point", creep, {"end": ("f", f / 2 - x)})
    g.bond("feed", "force")
    g.bond("force", "slip", "point.end")
    s = ports.system(g)
    rate = s.function("flow", [s.flow["x"], s.outputs["slip.effort"]])
    force = (1 + 0.3) / 1.5  # 1 = e / 1 + e / 2 - x
    assert [float(e) for e in rate(0, [0.3], [], [], [])] == pytest.approx(
        [force / 2 - 0.3, force], rel=1e-12
    )


def test_two_machines_joined_rigidly_are_refused():
    s = mechanism.system(pendulum())
    g = ports.BondGraph("pair")
    for side in ("left", "right"):
        g.machine(side, strut.add_prefix(s, side), {"hip": f"{side}.hip_torque"})
    g.one("joint")
    g.resistor("bearing", 1.0, domain="rotation")
    g.bond("joint", "left.hip", "right.hip", "bearing")
    with pytest.raises(ModelError, match="conflict at bond joint -> right.hip: machine 'right'"):
        ports.system(g)
