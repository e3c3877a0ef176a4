"""Graphs become systems: hand-derived equations, derivative causality, algebraic loops, ledgers."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import ports
from strut.errors import AlgebraicLoopError, ModelError
from tests.ports.graphs import BRIDGE, bridge, gears, motor

ROUNDING = 1e-12
"""[1] Of some dozen operations in double precision."""
BALANCE = 1e-9
"""[1] Residual of a run's ledger, relative to the largest energy that was moved."""


def flow_at(system, x, u=()):
    f = system.function("flow", [ca.vertcat(*[system.flow[q.name] for q in system.x])])
    return np.array(f(0.0, x, [], u, [float(q.value[0]) for q in system.p])).reshape(-1)


def outputs_at(system, names, x, u=()):
    f = system.function("outputs", [ca.vertcat(*[system.outputs[n] for n in names])])
    return np.array(f(0.0, x, [], u, [float(q.value[0]) for q in system.p])).reshape(-1)


def relative_residual(run):
    return abs(run.ledger.residual) / run.ledger.turnover


def test_two_inertias_through_a_gear_are_one_in_derivative_causality():
    g = gears()
    assert ports.causality(g).dependent == (("wheel", ""),)
    assert "bonds; dependent wheel" in repr(ports.causality(g))
    s = ports.system(g)
    assert [q.name for q in s.x] == ["rotor.p"]
    J1, J2, n, d, torque, p = 2.0, 3.0, 0.25, 0.1, 0.7, 1.3
    w = p / J1
    acceleration = (torque - d * w) / (J1 + n**2 * J2)  # by hand: the wheel counts n^2 times
    assert flow_at(s, [p], [torque])[0] == pytest.approx(J1 * acceleration, rel=ROUNDING)
    assert outputs_at(s, ["wheel.p", "wheel.effort"], [p], [torque]) == pytest.approx(
        [J2 * n * w, J2 * n * acceleration], rel=ROUNDING
    )
    run = strut.simulate(s, 5.0)
    assert relative_residual(run) < BALANCE
    assert run.ledger.stored["wheel"][-1] > 0.1


def test_the_bridge_is_an_algebraic_loop_and_equals_nodal_analysis():
    g = bridge()
    solved = ports.solve_graph(g)
    assert len(solved.solution.loops) == 1
    assert {"r5", "r1"} <= set(solved.solution.loops[0].elements)
    s = ports.system(g)
    r1, r2, r3, r4, r5 = BRIDGE.values()
    nodes = np.array([[1 / r1 + 1 / r3 + 1 / r5, -1 / r5], [-1 / r5, 1 / r2 + 1 / r4 + 1 / r5]])
    left, right = np.linalg.solve(nodes, [10 / r1, 10 / r2])
    names = ["r1.flow", "r2.flow", "r3.flow", "r4.flow", "r5.flow", "r5.effort"]
    by_hand = [(10 - left) / r1, (10 - right) / r2, left / r3, right / r4, (left - right) / r5, left - right]
    assert outputs_at(s, names, [], [10.0]) == pytest.approx(by_hand, rel=ROUNDING)


def test_a_motor_has_the_equations_of_the_book():
    s = ports.system(motor())
    L, R, k, J, d = 0.5e-3, 0.3, 0.05, 0.01, 1e-3
    flux, p, voltage = 0.004, 0.2, 7.0
    i, w = flux / L, p / J
    by_hand = {"winding.p": voltage - R * i - k * w, "rotor.p": k * i - d * w}
    x = [{"winding.p": flux, "rotor.p": p}[q.name] for q in s.x]
    assert flow_at(s, x, [voltage]) == pytest.approx([by_hand[q.name] for q in s.x], rel=ROUNDING)
    assert s.ledger.electrical == ("supply",)
    assert s.output_units["motor.out.effort"] == "N m"
    assert relative_residual(strut.simulate(s, 0.5)) < BALANCE


def test_sub_graphs_have_states_of_their_own_and_share_parameters():
    g = ports.BondGraph("two")
    part = motor()
    g.include("left", part)
    g.include("right", part)
    g.resistor("belt", 0.2, domain="rotation")
    g.zero("slip")
    g.bond("left.shaft", "slip")
    g.bond("slip", "belt", "right.shaft")
    s = ports.system(g)
    assert sorted(q.name for q in s.x) == [
        "left.rotor.p",
        "left.winding.p",
        "right.rotor.p",
        "right.winding.p",
    ]
    assert [q.name for q in s.u] == ["voltage"]
    assert relative_residual(strut.simulate(s.using({"left.rotor.p": 0.4}), 0.5)) < BALANCE


def test_a_modulated_transformer_is_a_pendulum():
    """A weight on a crank: the ratio is l sin of the angle, a state of the graph itself."""
    g = ports.BondGraph("pendulum")
    m, length, gravity = 2.0, 0.7, 9.81
    g.one("swing")
    g.inertia("body", m * length**2, domain="rotation")
    angle = g.compliance("angle", energy=lambda q: 0 * q, domain="rotation", initial=0.4)
    g.transformer("crank", length * ca.sin(angle.state), domains=("rotation", "translation"))
    g.effort_source("weight", m * gravity, domain="translation")
    g.one("fall")
    g.bond("swing", "body", "angle", "crank")
    g.bond("crank", "fall")
    g.bond("weight", "fall")
    s = ports.system(g)
    x = [{"body.p": 0.3, "angle.q": 0.8}[q.name] for q in s.x]
    by_hand = {"body.p": m * gravity * length * np.sin(0.8), "angle.q": 0.3 / (m * length**2)}
    assert np.abs(flow_at(s, x)) == pytest.approx([by_hand[q.name] for q in s.x], rel=ROUNDING)


def test_vector_bonds_and_a_matrix_ratio():
    """Two masses in a plane seen by one spring along a direction: a 1 x 2 transformer."""
    g = ports.BondGraph("plane")
    M = ca.DM([[2.0, 0.0], [0.0, 3.0]])
    g.one("v")
    g.inertia("mass", M, domain="translation", size=2, initial=[1.0, 2.0])
    g.transformer("along", ca.DM([[0.6, 0.8]]), domains=("translation", "translation"))
    g.one("stretch")
    g.compliance("spring", stiffness=50.0, domain="translation", initial=0.1)
    g.bond("v", "mass", "along")
    g.bond("along", "stretch")
    g.bond("stretch", "spring")
    s = ports.system(g)
    assert flow_at(s, [1.0, 2.0, 0.1]) == pytest.approx(
        [-0.6 * 5, -0.8 * 5, 0.6 * 0.5 + 0.8 * 2 / 3], rel=ROUNDING
    )
    assert relative_residual(strut.simulate(s, 3.0)) < BALANCE


def test_a_heater_loses_nothing_and_makes_entropy():
    """A mass braked by a heater: what it loses warms a body; the whole energy stays."""
    g = ports.BondGraph("brake")
    capacity, room = 50.0, 300.0
    g.one("v")
    g.inertia("mass", 10.0, domain="translation", initial=100.0)
    g.heater("brake", 5.0, domain="translation")
    g.zero("warm")
    g.compliance("block", energy=lambda S: capacity * room * ca.exp(S / capacity), domain="thermal")
    g.bond("v", "mass", "brake")
    g.bond("brake", "warm")
    g.bond("warm", "block")
    s = ports.system(g)
    assert not s.ledger.dissipated
    run = strut.simulate(s, 30.0)
    assert relative_residual(run) < BALANCE
    end = run.at(30.0)
    assert end["mass.p"] == pytest.approx(0.0, abs=1e-4)
    warmer = 500.0 / capacity  # 10 kg at 10 m/s
    assert end["block.effort"] == pytest.approx(room + warmer, rel=1e-8)


def test_a_storage_with_two_ports_is_a_solenoid():
    """Energy lambda^2 / 2 L(x): its force is that of the book, -(dL/dx) i^2 / 2 on the plunger."""
    g = ports.BondGraph("solenoid")
    L0, a = 0.1, 0.02

    def energy(flux, x):
        return flux**2 * (1 + x / a) / (2 * L0)

    g.effort_source("supply", strut.Input("voltage", 6.0, "V"), domain="electrical")
    g.one("current")
    g.resistor("copper", 8.0, domain="electrical")
    g.storage(
        "coil", {"winding": ("I", "electrical"), "core": ("C", "translation")}, energy, initial={"core": 0.01}
    )
    g.one("speed")
    g.inertia("plunger", 0.2, domain="translation")
    g.resistor("oil", 30.0, domain="translation")
    g.bond("supply", "current")
    g.bond("current", "copper", "coil.winding")
    g.bond("speed", "plunger", "oil", "coil.core")
    s = ports.system(g)
    flux, x = 0.03, 0.008
    values = {"coil.winding.p": flux, "coil.core.q": x, "plunger.p": 0.0}
    i = flux * (1 + x / a) / L0
    dL = -L0 / a / (1 + x / a) ** 2
    assert outputs_at(
        s, ["coil.core.effort", "coil.winding.flow"], [values[q.name] for q in s.x], [6.0]
    ) == pytest.approx([-dL * i**2 / 2, i], rel=ROUNDING)
    assert relative_residual(strut.simulate(s, 0.02)) < BALANCE


def test_an_inertia_driven_by_a_function_of_time_takes_the_effort_of_its_rate():
    g = ports.BondGraph("shaker")
    g.flow_source("table", ca.sin(3 * strut.time), domain="translation")
    g.one("v")
    g.inertia("load", 2.0, domain="translation")
    g.resistor("air", 0.5, domain="translation")
    g.bond("table", "v")
    g.bond("v", "load", "air")
    s = ports.system(g)
    f = s.function("force", [s.outputs["table.effort"]])
    assert float(f(0.4, [], [], [], [])) == pytest.approx(6 * np.cos(1.2) + 0.5 * np.sin(1.2), rel=ROUNDING)


def test_an_inertia_driven_by_an_input_is_refused_with_the_reason():
    g = ports.BondGraph("shaker")
    g.flow_source("table", strut.Input("speed", 0.0, "m/s"), domain="translation")
    g.one("v")
    g.inertia("load", 2.0, domain="translation")
    g.bond("table", "v")
    g.bond("v", "load")
    with pytest.raises(
        ModelError,
        match="inertia 'load' .* derivative causality, its flow is forced on it by input 'speed', whose rate nobody knows",
    ):
        ports.system(g)


def test_a_loop_that_is_not_linear_is_refused_and_drawn():
    g = ports.BondGraph("diode")
    g.effort_source("supply", 1.0, domain="electrical")
    g.one("i")
    g.zero("node")
    g.resistor("cube", effort=lambda f: f**3, domain="electrical")
    g.resistor("load", 1.0, domain="electrical")
    g.resistor("clip", flow=lambda e: ca.tanh(e), domain="electrical")
    g.bond("supply", "i")
    g.bond("i", "cube", "node")
    g.bond("node", "load", "clip")
    with pytest.raises(
        AlgebraicLoopError,
        match=r"not linear: flow of load <- effort of node <- .*effort of cube.* <- flow of load. Put a small inertia",
    ):
        ports.system(g)


def test_a_loop_without_a_unique_solution_is_refused():
    """Two gears of different ratios between the same shafts, which both turn freely."""
    g = ports.BondGraph("locked")
    g.one("a")
    g.one("b")
    g.resistor("ra", 1.0, domain="rotation")
    g.resistor("rb", 1.0, domain="rotation")
    for name in ("g1", "g2"):
        g.transformer(name, 2.0, domains=("rotation", "rotation"))
        g.bond("a", name)
        g.bond(name, "b")
    g.bond("a", "ra")
    g.bond("b", "rb")
    with pytest.raises(ModelError, match="locked"):
        ports.system(g)
