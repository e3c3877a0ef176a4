"""A graph of each domain against equations derived by hand, and one across a mechanism's joint."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import joints, mechanism, ports

ROUNDING = 1e-12
"""[1] Of some dozen operations in double precision."""
BALANCE = 1e-9
"""[1] Residual of a run's ledger, relative to the energy that moved."""


def rates(system, values, u=()):
    """The rates of states by name, in numbers."""
    f = system.function("flow", [ca.vertcat(*[system.flow[q.name] for q in system.x])])
    x = np.concatenate([np.ravel(values[q.name]) for q in system.x])
    flat = np.array(f(0.0, x, [], u, [])).reshape(-1)
    ends = np.cumsum([q.size for q in system.x])[:-1]
    return dict(zip([q.name for q in system.x], np.split(flat, ends), strict=True))


def check_rates(system, values, by_hand, u=()):
    ours = rates(system, values, u)
    assert set(ours) == set(by_hand)
    for name, rate in by_hand.items():
        assert ours[name] == pytest.approx(np.ravel(rate), rel=ROUNDING), name
    assert ports.power_residual(system) < BALANCE


def test_a_coil_on_an_iron_core_with_a_gap():
    """Magnetic: the mmf N i is the sum over iron, gap and eddy currents; N times the rate of flux is induced."""
    turns, copper, iron, gap, eddy = 200.0, 3.0, 2e-6, 5e-7, 40.0
    g = ports.BondGraph("core")
    g.effort_source("supply", strut.Input("voltage", 10.0, "V"), domain="electrical")
    g.one("current")
    g.resistor("copper", copper, domain="electrical")
    g.gyrator("coil", turns, domains=("electrical", "magnetic"))
    g.one("flux_rate")
    g.compliance("iron", capacity=iron, domain="magnetic")
    g.compliance("gap", capacity=gap, domain="magnetic")
    g.resistor("eddy", eddy, domain="magnetic")
    g.bond("supply", "current")
    g.bond("current", "copper", "coil")
    g.bond("coil", "flux_rate")
    g.bond("flux_rate", "iron", "gap", "eddy")
    at = {"iron.q": 1e-4, "gap.q": 3e-5}
    rate = (turns * 10 / copper - at["iron.q"] / iron - at["gap.q"] / gap) / (turns**2 / copper + eddy)
    s = ports.system(g)
    check_rates(s, at, {"iron.q": rate, "gap.q": rate}, [10.0])
    assert s.output_units["gap.effort"] == "A"


def test_two_tanks_and_a_pipe():
    """Hydraulic: the water in the pipe is pushed by the difference of pressures, less friction."""
    g = ports.BondGraph("tanks")
    g.flow_source("pump", strut.Input("inflow", 1e-4, "m^3/s"), domain="hydraulic")
    g.zero("high")
    g.zero("low")
    g.one("pipe")
    g.compliance("first", capacity=1e-5, domain="hydraulic")
    g.compliance("second", capacity=2e-5, domain="hydraulic")
    g.inertia("water", 4e5, domain="hydraulic")
    g.resistor("wall", 1e6, domain="hydraulic")
    g.resistor("outlet", conductance=3e-8, domain="hydraulic")
    g.bond("pump", "high")
    g.bond("high", "first", "pipe")
    g.bond("pipe", "water", "wall", "low")
    g.bond("low", "second", "outlet")
    at = {"first.q": 2e-3, "second.q": 1e-3, "water.p": 30.0}
    high, low, flow = 2e-3 / 1e-5, 1e-3 / 2e-5, 30 / 4e5
    by_hand = {"first.q": 1e-4 - flow, "second.q": flow - 3e-8 * low, "water.p": high - low - 1e6 * flow}
    check_rates(ports.system(g), at, by_hand, [1e-4])


def test_a_wrench_on_a_body_with_a_spring_seen_from_elsewhere():
    """Spatial: six components a bond, matrices between them."""
    random = np.random.default_rng(1)
    root, X = random.normal(size=(6, 6)), random.normal(size=(6, 6))
    M, K, D = root @ root.T + np.eye(6), np.diag(random.uniform(1, 5, 6)), np.diag(random.uniform(0.1, 1, 6))
    g = ports.BondGraph("body")
    g.effort_source("wrench", strut.Input("w", np.zeros(6)), domain="spatial")
    g.one("twist")
    g.inertia("body", ca.DM(M), domain="spatial")
    g.resistor("air", ca.DM(D), domain="spatial")
    g.transformer("adjoint", ca.DM(X), domains=("spatial", "spatial"))
    g.compliance("spring", stiffness=ca.DM(K), domain="spatial")
    g.bond("wrench", "twist")
    g.bond("twist", "body", "air", "adjoint")
    g.bond("adjoint", "spring")
    p, q, w = random.normal(size=(3, 6))
    twist = np.linalg.solve(M, p)
    by_hand = {"body.p": w - D @ twist - X.T @ K @ q, "spring.q": X @ twist}
    check_rates(ports.system(g), {"body.p": p, "spring.q": q}, by_hand, w)


def test_two_masses_at_a_lever_of_a_joint():
    """The first mass moves with the joint (derivative causality), the second hangs on a spring."""
    m = strut.Mechanism("leg", planar=True)
    body = m.body("shank", mass=1.5, com=(0, 0, -0.4), inertia=0.02)
    m.joint("hip", m.world, body, joints.revolute("y"), initial=0.5)
    g = ports.BondGraph("lever")
    g.machine("leg", mechanism.system(m), {"hip": "hip_torque"})
    g.one("turn")
    g.transformer("rod", 0.25, domains=("rotation", "translation"))
    g.one("near")
    g.inertia("near_mass", 2.0, domain="translation")
    g.zero("pull")
    g.compliance("spring", stiffness=90.0, domain="translation")
    g.inertia("far_mass", 3.0, domain="translation")
    g.bond("turn", "leg.hip", "rod")
    g.bond("rod", "near")
    g.bond("near", "near_mass", "pull")
    g.bond("pull", "spring", "far_mass")
    s = ports.system(g)
    f = s.function("flow", [ca.vertcat(*[s.flow[q.name] for q in s.x])])
    at = {"hip": 0.3, "hip_rate": 0.7, "spring.q": 0.02, "far_mass.p": 0.6}
    pull, gravity = 90 * 0.02, 9.81
    turning = (-1.5 * gravity * 0.4 * np.sin(0.3) - 0.25 * pull) / (0.02 + 1.5 * 0.4**2 + 0.25**2 * 2)
    by_hand = {"hip": 0.7, "hip_rate": turning, "spring.q": 0.25 * 0.7 - 0.6 / 3, "far_mass.p": pull}
    ours = np.array(f(0, [at[q.name] for q in s.x], [], [], [gravity])).reshape(-1)
    assert [q.name for q in s.p] == ["g"]
    assert ours == pytest.approx([by_hand[q.name] for q in s.x], rel=ROUNDING)
    run = strut.simulate(s, 2.0)
    assert run.ledger.residual < BALANCE * run.ledger.turnover
