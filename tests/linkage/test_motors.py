"""Motors in all joints of a linkage, and reactions where links hang on a body that stands on the ground."""

import numpy as np
import pytest

import strut
from strut import contact, joints, linkage, mechanism
from strut.actuator import drives
from strut.errors import ModelError, UnknownNameError
from tests.linkage.test_geometry import KNEE

FOUR_BAR = linkage.Topology(KNEE, ("a", "b"), (("thigh", "a"), ("shank", "b"), ("a", "b")))
DESIGN = np.array([0.5, 0.5, 0.15, 0.6])  # pins at z = 0.7, 0.3, and in front


def four_bar():
    return linkage.linkage_mechanism(FOUR_BAR, DESIGN, masses={"shank": 4.0})


def four_bar_by_hand(**spring):
    """The same four-bar, hung up the other way: b hangs on a, and its pin at the shank closes the loop."""
    m, given = strut.Mechanism("by_hand", planar=True), four_bar()
    pins = {"j1": np.array([0, 0, 0.7]), "j2": np.array([0, 0, 0.3]), "j3": np.array([0.15, 0, 0.6])}
    new = {}
    for name, moved in (("shank", 0), ("a", 0), ("b", pins["j2"] - pins["j3"])):
        body = given.bodies[name]
        com = given.values(body.com).reshape(-1) + moved  # b's frame is now at j3
        new[name] = m.body(
            name, given.values(body.mass).item(), com, given.values(body.about_com[1, 1]).item()
        )
    m.joint("knee", m.world, new["shank"], joints.revolute("y"), at=(0, 0, 0.5))
    m.joint("j1", m.world, new["a"], joints.revolute("y"), at=pins["j1"])
    m.joint("j3", new["a"], new["b"], joints.revolute("y"), at=pins["j3"] - pins["j1"], **spring)
    m.frame("on_shank", new["shank"], pins["j2"] - (0, 0, 0.5))
    m.frame("on_b", new["b"], pins["j2"] - pins["j3"])
    m.constrain(strut.constraints.point("j2", "on_shank", "on_b"))
    return mechanism.system(m, project=0.01)


def test_a_motor_in_a_joint_that_closes_a_loop():
    """It moves the machine as the same torque does where that joint carries a link."""
    assert list(linkage.spanning_tree(FOUR_BAR).closing) == ["j3"]
    angles = linkage.joint_angles(FOUR_BAR)
    assert angles["j3"] == {"j1": -1.0, "knee": 1.0, "j2": 1.0}  # of b less that of a
    machine = linkage.add_joint_motors(mechanism.system(four_bar(), project=0.01), angles)
    drive = next(d for d in drives(machine) if d.name == "j3_motor")
    assert drive.power == "j3_motor_torque"
    run = strut.simulate(machine.using(j3_motor_torque=4.0), 0.4)
    other = strut.simulate(four_bar_by_hand().using(j3_torque=4.0), 0.4)
    passive = strut.simulate(machine, 0.4)
    # a knee that is straight cannot be pushed from there, so this is little
    assert abs(run["knee"][-1] - passive["knee"][-1]) > 0.01
    assert run["knee"][-1] == pytest.approx(other["knee"][-1], abs=1e-7)
    assert run.ledger.residual < 1e-6


def test_wrong_motors():
    machine = mechanism.system(four_bar())
    with pytest.raises(
        UnknownNameError, match="motor 'm' turns 'hip', but 'linkage' has no input 'hip_torque'"
    ):
        linkage.add_joint_motors(machine, {"m": {"hip": 1.0}})
    with pytest.raises(ModelError, match="motor 'm' turns nothing"):
        linkage.add_joint_motors(machine, {"m": {}})


def hopping_body():
    """A body that falls, with a pendulum on it and a leg under it."""
    m = strut.Mechanism("hopper", planar=True)
    body = m.body("body", 5.0, inertia=0.1)
    m.joint("base", m.world, body, joints.planar(), initial=(0, 1, 0.2), rate=(0.3, 0, 1.0))
    swing = m.body("swing", 1.0, (0, 0, -0.2), 0.02)
    m.joint("pivot", body, swing, joints.revolute("y"), at=(0.1, 0, 0.1), initial=0.4, rate=2.0)
    shin = m.body("shin", 1.0, (0, 0, -0.1), 0.01)
    m.joint("knee", body, shin, joints.revolute("y"), initial=0.1)
    m.frame("toe", shin, (0, 0, -0.3))
    return m


def test_reactions_on_rigid_ground_are_those_of_flight_while_it_flies():
    m = hopping_body()
    flying = strut.simulate(mechanism.system(m, reactions=["pivot"]), 0.1)
    over_ground = strut.simulate(contact.rigid(m, ["toe"], reactions=["pivot"]), 0.1)
    for axis in ("x", "z", "my"):
        name = f"pivot_reaction_{axis}"
        assert over_ground[name][-1] == pytest.approx(flying[name][-1], rel=1e-6, abs=1e-8)
    assert abs(flying["pivot_reaction_x"]).max() > 0.5
    with pytest.raises(ModelError, match="'shin', which stands on the ground, hangs on it"):
        contact.rigid(m, ["toe"], reactions=["knee"])


def test_reactions_on_soft_ground_are_what_changes_momentum():
    """In flight as without ground; through a landing the impulse of the force, and of gravity, is the change
    of momentum of what hangs on the joint."""
    m = hopping_body()
    m.frame("bob", m.bodies["swing"], (0, 0, -0.2))
    law = contact.hunt_crossley(1e5, 0.5, 1.5)
    machine = contact.compliant(m, ["toe"], law=law, reactions=["pivot"], events=False)
    flying = strut.simulate(mechanism.system(m, reactions=["pivot"]), 0.1)
    run = strut.simulate(machine, 0.6, rtol=1e-9, atol=1e-10)
    assert run["toe_normal"].max() > 50.0  # it has landed
    for axis in ("x", "z", "my"):
        name = f"pivot_reaction_{axis}"
        assert run.at(0.1)[name] == pytest.approx(flying[name][-1], rel=1e-5, abs=1e-7)
    times = np.linspace(0.1, 0.5, 40001)
    force = run.at(times)["pivot_reaction_z"]
    impulse = np.sum((force[1:] + force[:-1]) / 2) * (times[1] - times[0])
    step = 1e-5
    begin, end = ((run.at(t + step)["bob_z"] - run.at(t - step)["bob_z"]) / (2 * step) for t in (0.1, 0.5))
    assert impulse - 1.0 * 9.81 * 0.4 == pytest.approx(1.0 * (end - begin), abs=1e-3)
    with pytest.raises(ModelError, match="'shin', which stands on the ground, hangs on it"):
        contact.compliant(m, ["toe"], law=law, reactions=["knee"])
