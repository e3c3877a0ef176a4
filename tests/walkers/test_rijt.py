"""Van de Rijt's humanoid: coordinates, posture, momentum, pushes at the centre of mass."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

import strut
from strut import mechanism, walkers
from strut.errors import UnknownNameError, ValueRangeError
from strut.mechanism import Mechanism, Tree, joints, observe
from strut.walkers.rijt import DRIVEN_JOINTS, FEET, JOINT_LIMITS, HumanoidBody, rijt, rijt_mechanism

BODY = HumanoidBody()


def test_it_stands_where_its_body_says() -> None:
    """Both feet on the ground, spread apart, the centre of mass in the middle and as high as asked; the
    chain of
    the thesis: the chest is q3 + q4 + q5, and the links point along (-sin, cos)."""
    body = HumanoidBody(com_height=0.88, spread=0.3, chest=-0.1)
    machine = rijt(body)
    run = strut.simulate(machine, t=0.0)
    assert run["foot_r_x"][0] == pytest.approx(-0.15, abs=1e-12)
    assert run["foot_l_x"][0] == pytest.approx(0.15, abs=1e-12)
    assert abs(run["foot_r_gap"][0]) < 1e-12
    assert abs(run["foot_l_gap"][0]) < 1e-12
    assert run["com_x"][0] == pytest.approx(0, abs=1e-10)
    assert run["com_z"][0] == pytest.approx(0.88, abs=1e-10)
    q = body.posture()
    assert q["shank_r"] + q["knee_r"] + q["hip_r"] == pytest.approx(-0.1)
    # the head by hand: from the right foot up the chain
    x, z, angle = -0.15, 0.0, 0.0
    for name, length in (("shank_r", 0.51), ("knee_r", 0.432), ("hip_r", 0.57)):
        angle += q[name]
        x, z = x - length * math.sin(angle), z + length * math.cos(angle)
    assert run["head_x"][0] == pytest.approx(x, abs=1e-12)
    assert run["head_z"][0] == pytest.approx(z, abs=1e-12)
    for name, (low, high) in JOINT_LIMITS.items():
        assert math.radians(low) < q[name] < math.radians(high)


def test_momentum_changes_as_forces_from_outside_say() -> None:
    """A q'' + A' q' is the sum of all wrenches about the centre of mass, for any forces: the best test of
    masses, Jacobians and their rates at once (to 1e-10)."""
    tree = Tree(rijt_mechanism())
    mass, com = observe.mass(tree), observe.com(tree)
    A = observe.momentum_matrix(tree)
    forces = {name: ca.SX.sym(name, 3) for name in FEET}
    push, torque = ca.SX.sym("push", 3), ca.SX.sym("torque", 4)
    tau = ca.vertcat(ca.SX.zeros(3), torque) + observe.com_jacobian(tree).T @ push
    wrench = ca.vertcat(0, 0, 0, push) - ca.vertcat(0, 0, 0, 0, 0, mass * tree.mechanism.gravity)
    for name, force in forces.items():
        tau = tau + observe.world_jacobian(tree, name)[3:, :].T @ force
        wrench = wrench + ca.vertcat(ca.cross(observe.position(tree, name) - com, force), force)
    acceleration = ca.solve(tree.mass_matrix, tau - tree.bias)
    rate = A @ acceleration + observe.jacobian_rate(tree, A)
    given = [tree.q, tree.v, push, torque, *forces.values()]
    parameters = [q.sym for q in tree.mechanism.params.values()]
    values = [ca.DM(q.value) for q in tree.mechanism.params.values()]
    miss = ca.Function("miss", given, ca.substitute([rate - wrench], parameters, values))
    random = np.random.default_rng(4)
    for _ in range(20):
        numbers = [random.normal(size=s.numel()) * (100 if s.numel() in (3, 4) else 1) for s in given]
        for force in (numbers[2], *numbers[4:]):
            force[1] = 0  # in the plane
        assert np.abs(np.array(miss(*numbers))).max() < 1e-10 * 1000  # of forces of hundreds of newtons


def test_it_stands_still_on_static_torques() -> None:
    """Held by the torques of statics, tau = G - J' rho with the load shared, it does not move for a moment,
    and the ground carries its weight."""
    machine = rijt()
    tree = Tree(rijt_mechanism())
    J = ca.vertcat(*[observe.world_jacobian(tree, name)[[3, 5], :] for name in FEET])
    parameters = [q.sym for q in tree.mechanism.params.values()]
    values = [ca.DM(q.value) for q in tree.mechanism.params.values()]
    terms = ca.substitute([tree.bias, J], parameters, values)
    q = np.array(list(BODY.posture().values()))
    bias, jacobian = (np.array(e) for e in ca.Function("terms", [tree.q, tree.v], terms)(q, np.zeros(7)))
    rho = np.linalg.lstsq(jacobian.T[:3], bias[:3, 0], rcond=None)[0]
    torque = (bias[:, 0] - jacobian.T @ rho)[3:]
    weight = BODY.mass * 9.81
    assert rho[1] + rho[3] == pytest.approx(weight, rel=1e-9)
    held = strut.simulate(
        machine, t=0.05, u={f"{n}_torque": float(x) for n, x in zip(DRIVEN_JOINTS, torque, strict=True)}
    )
    assert abs(held["com_z"][-1] - BODY.com_height) < 1e-6
    assert held["foot_r_normal"][-1] + held["foot_l_normal"][-1] == pytest.approx(weight, rel=1e-4)


def test_without_control_it_falls() -> None:
    run = strut.simulate(rijt(), t=3.0)
    assert run.status == "fall"
    assert run.t[-1] < 1.0


def test_a_push_at_the_centre_of_mass_moves_it_as_newton_says() -> None:
    """In the air, away from the ground: the centre of mass moves by force over mass, and turns nothing."""
    body = BODY
    machine = rijt(body).using(base_z=3.0)
    run = strut.simulate(machine, t=0.3, u=strut.push("com", t=(0.1, 0.2), force=(70.0, 0.0)))
    lifted = float(run["com_x"][-1])
    # v = F / m * 0.1 s from 0.2 s on: half of it on the way, then 0.1 s at full speed (steps of 1 ms)
    a = 70.0 / body.mass
    assert lifted == pytest.approx(a * 0.1**2 / 2 + a * 0.1 * 0.1, rel=2e-2)


def test_com_is_a_place_to_push_and_other_names_are_not() -> None:
    m = Mechanism("sledge", planar=True)
    m.joint("slide", m.world, m.body("block", 2.0, (0, 0, 0.1), 1.0), joints.prismatic("x"))
    with pytest.raises(UnknownNameError, match="no frame or body 'middle' to push.*com"):
        m.push("middle")
    m.push("com")
    run = strut.simulate(mechanism.system(m), t=1, u={"com_push_x": 4.0}, rtol=1e-12, atol=1e-12)
    assert run["slide"][-1] == pytest.approx(1.0, rel=1e-9)  # F t^2 / 2 m


def test_impossible_bodies_are_refused() -> None:
    with pytest.raises(ValueRangeError, match=r"cannot stand with com_height 1.2 m.*lower com_height"):
        rijt(HumanoidBody(com_height=1.2))
    with pytest.raises(ValueRangeError, match="thigh_mass of the humanoid is -1"):
        HumanoidBody(thigh_mass=-1.0)
    with pytest.raises(ValueRangeError, match="joint_damping of the humanoid is -1"):
        HumanoidBody(joint_damping=-1.0)


def test_the_catalogue_has_it() -> None:
    assert walkers.CATALOGUE["rijt"] is rijt
