"""Reduced dynamics and what goes through joints."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import mechanism
from strut.errors import ModelError, UnknownNameError
from strut.mechanism import Mechanism, constraints, joints, system
from tests.mechanism.test_mechanism import closed_chain


def loop():
    m = closed_chain()
    m.constrain(constraints.hinge("loop", "tip", "anchor"))
    return m


@pytest.mark.parametrize("kept", [True, ["q1"], ["q2"], ["q3"]])
def test_reduced_and_full_dynamics_move_alike(kept):
    """One velocity is left of three; motion, forces and closure are those of the full equations."""
    full, small = (strut.simulate(system(loop(), reduced=r), t=3.0) for r in (False, kept))
    assert len(small.end["x0"]) == 4
    t = np.linspace(0, 3, 31)
    for name in ("q1", "q2", "q3", "q1_rate", "q2_rate", "q3_rate", "loop_x", "loop_z"):
        np.testing.assert_allclose(small.at(t)[name], full.at(t)[name], atol=1e-7, err_msg=name)
    assert small["closure_error"].max() < 1e-9
    assert small.ledger.residual < 1e-8


def test_reduced_velocities_follow_a_prescribed_motion():
    def driven():
        m = loop()
        start = -0.2 * np.pi
        m.constrain(constraints.prescribed("drive", "q1", start + 0.3 * ca.sin(2 * strut.time)))
        return m

    full, small = (strut.simulate(system(driven(), reduced=r), t=2.0) for r in (False, True))
    assert len(small.end["x0"]) == 3  # no velocity is free
    np.testing.assert_allclose(small["q1"], -0.2 * np.pi + 0.3 * np.sin(2 * small.t), atol=1e-8)
    assert small["drive_torque"][-1] == pytest.approx(full["drive_torque"][-1], abs=1e-5)
    assert small.ledger.residual < 1e-7


def four_bar():
    """Three rods of one metre on a base of one metre: it can fold flat, and there it may branch."""
    m = Mechanism("four_bar", planar=True)
    parent = m.world
    for k, q in enumerate((0.0, -np.pi / 2, -np.pi / 2)):
        rod = m.body(f"rod{k + 1}", 1.0, (0, 0, 0.5), 1 / 12)
        m.joint(
            f"q{k + 1}",
            parent,
            rod,
            joints.revolute(),
            at=(0, 0, 0 if k == 0 else 1),
            initial=q,
            actuated=False,
            rate=[1.0, -1.0, 1.0][k],
        )
        parent = rod
    m.frame("tip", parent, (0, 0, 1))
    m.frame("foot", m.world, (-1, 0, 0))
    m.constrain(constraints.point("loop", "tip", "foot"))
    return m


def test_a_run_ends_where_the_chosen_velocities_no_longer_say_how_it_moves():
    run = strut.simulate(system(four_bar(), reduced=["q1"]), t=10.0)
    assert run.status == "dependence_lost"
    assert abs(run["q1"][-1]) == pytest.approx(np.pi / 2, abs=0.05)  # flat


def test_choices_that_cannot_be_made_are_explained():
    with pytest.raises(
        ModelError, match=r"cannot be reduced with 'q1', 'q2' kept: 2 constraints leave 1 free"
    ):
        system(loop(), reduced=["q1", "q2"])
    with pytest.raises(ModelError, match="no joint 'q9' to keep"):
        system(loop(), reduced=["q9"])
    with pytest.raises(UnknownNameError, match="no joint 'q9'"):
        system(loop(), reactions=["q9"])


def test_the_pin_of_a_pendulum_carries_weight_and_centripetal_force():
    m = Mechanism("pendulum", planar=True)
    m.joint(
        "pin",
        m.world,
        m.body("bob", 2.0, (0, 0, -0.7)),
        joints.revolute(),
        initial=0.9,
        rate=0.4,
        actuated=False,
    )
    run = strut.simulate(system(m, reactions=True), t=2.0)
    angle, rate = run["pin"], run["pin_rate"]
    pull = 2.0 * (9.81 * np.cos(angle) + 0.7 * rate**2)  # a massless rod pulls along itself
    np.testing.assert_allclose(run["pin_reaction_x"], pull * np.sin(angle), atol=1e-9)
    np.testing.assert_allclose(run["pin_reaction_z"], pull * np.cos(angle), atol=1e-9)
    np.testing.assert_allclose(run["pin_reaction_my"], 0.0, atol=1e-12)


def test_forces_inside_a_loop_do_not_depend_on_where_it_is_cut():
    """The loop's own force, and the reaction in the joint that takes its place when another joint is cut."""
    reference = strut.simulate(system(loop(), reactions=True), t=1.0)
    m = Mechanism("loop")
    inertia = np.diag([1.0 / 12 * (0.05**2 + 1), 1.0 / 12 * (0.05**2 + 1), 1.0 / 12 * 2 * 0.05**2])
    q1, q2, q3 = -0.2 * np.pi, 0.7 * np.pi, 0.3 * np.pi
    rods = [m.body(f"rod{k}", 1.0, (0, 0, -0.5 if k < 3 else 0.5), inertia) for k in (1, 2, 3)]
    m.joint("q1", m.world, rods[0], joints.revolute("y"), initial=q1, actuated=False)
    m.joint("q2", rods[0], rods[1], joints.revolute("y"), at=(0, 0, -1), initial=q2, actuated=False)
    m.joint(
        "far", m.world, rods[2], joints.revolute("y"), at=(-1, 0, 0), initial=q1 + q2 + q3, actuated=False
    )
    m.frame("end", rods[1], (0, 0, -1))
    m.frame("top", rods[2], (0, 0, 1))
    m.constrain(constraints.hinge("q3", "top", "end"))
    other = strut.simulate(system(m, reactions=True), t=1.0)
    for ours, theirs in (
        ("q1_reaction", "q1_reaction"),
        ("far_reaction", "loop"),
        ("q3", "q3_reaction"),
        ("q2_reaction", "q2_reaction"),
    ):
        for axis in "xz":
            assert other[f"{ours}_{axis}"][-1] == pytest.approx(
                reference[f"{theirs}_{axis}"][-1], abs=1e-7
            ), (ours, axis)


def test_the_first_joint_carries_everything():
    """A chain in space: force and moment at the root are the rate of momentum less the weight."""
    m = Mechanism("arm")
    parent = m.world
    for k, axis in enumerate("xyz"):
        link = m.body(f"link{k}", 1.0 + k, (0.1, 0.05 * k, -0.2), (0.02, 0.03, 0.01))
        m.joint(
            f"j{k}",
            parent,
            link,
            joints.revolute(axis),
            at=(0, 0, -0.4 if k else 0),
            initial=0.3 + 0.2 * k,
            rate=1.0 - 0.3 * k,
        )
        parent = link
    run = strut.simulate(system(m, reactions=["j0"]), t=1.0, rtol=1e-12, atol=1e-13)
    t, h = 0.5, 1e-3
    speed = [(np.array([run.at(t + s * h)[f"com_{a}"] for a in "xyz"])) for s in (-1, 0, 1)]
    acceleration = (speed[0] - 2 * speed[1] + speed[2]) / h**2
    force = np.array([run.at(t)[f"j0_reaction_{a}"] for a in "xyz"])
    np.testing.assert_allclose(force, 6.0 * (acceleration + np.array([0, 0, 9.81])), atol=2e-3)


def test_loops_close_for_other_parameters_and_angles():
    """A run that would begin torn says so; `closed_state` gives one that does not."""
    m = closed_chain()
    reach = strut.Param("reach", 1.0, "m", bounds=(0.2, 2))
    m.frames.pop("anchor")
    m.frame("anchor", m.world, (-reach.sym, 0, 0))
    m.constrain(constraints.point("loop", "tip", "anchor"))
    machine = system(m)
    torn = strut.simulate(machine, t=1.0, p={"reach": 1.2})
    assert torn.status == "loop_open"
    assert torn.t1 == 0
    assert strut.simulate(machine, t=1.0, x0={"q1": -0.3}).status == "loop_open"
    x0 = mechanism.closed_state(m, {"q1": -0.3}, {"reach": 1.2})
    assert x0["q1"] == -0.3
    run = strut.simulate(machine, t=1.0, x0=x0, p={"reach": 1.2})
    assert run.status == "done"
    assert run["closure_error"].max() < 1e-9
    with pytest.raises(UnknownNameError, match="no state 'q9'"):
        mechanism.closed_state(m, {"q9": 0})


def test_quaternions_begin_at_unit_length():
    m = Mechanism("ball")
    arm = m.body("arm", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.joint("ball", m.world, arm, joints.spherical(), initial=(0.3, 0.2, 0.1, 0.9))
    m.frame("tip", arm, (0, 0, -1))
    m.frame("rail", m.world, (0.6, 0, -0.8))
    m.constrain(constraints.point("hold", "tip", "rail"))
    run = strut.simulate(system(m), t=0.0)
    assert np.linalg.norm([run[f"ball.q{a}"][0] for a in "xyzw"]) == pytest.approx(1, abs=1e-12)


def test_an_open_tree_has_nothing_to_reduce():
    m = Mechanism("arm", planar=True)
    m.joint("shoulder", m.world, m.body("upper", 1.0, inertia=0.1), joints.revolute("y"))
    with pytest.raises(ModelError, match="reduced names sholder, but 'arm' has no constraints"):
        system(m, reduced=["sholder"])
    assert [s.name for s in system(m, reduced=True).x] == ["shoulder", "shoulder_rate"]
