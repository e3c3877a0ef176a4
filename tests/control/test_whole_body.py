"""Whole-body control: the model it knows, a biped that stands and is pushed, and what goes wrong."""

import math
import re

import casadi as ca
import numpy as np
import pytest

import strut
from strut import control
from strut.codegen import REPORT_FIELDS, QpStatus
from strut.control import BodyModel, PointContact

from .bipeds import biped, first, on_ground, standing

MAX_KKT = 1e-8
ROUNDING = 1e-10
PUSH = strut.push("torso", (0.3, 0.4), (150.0, 0.0))


@pytest.fixture(scope="module")
def stand():
    m = biped()
    body = BodyModel(m)
    machine, controller = on_ground(m), standing(m, body)
    return body, machine, controller, controller.run(machine, t=1.0, u=PUSH)


def test_momentum_changes_by_what_acts_from_outside(stand):
    """A a + A' v is the wrench of all external forces about the centre of mass, for any accelerations that
    solve the dynamics (van de Rijt, section 2.5)."""
    body = stand[0]
    forces = {side: ca.SX.sym(f"f_{side}", 2) for side in "rl"}
    torque = ca.SX.sym("torque", 4)
    push, wrench = ca.SX.zeros(7), ca.SX.zeros(3)
    for side, force in forces.items():
        J, _ = body.jacobian(f"foot_{side}")
        push = push + J[[3, 5], :].T @ force
        arm = body.position(f"foot_{side}") - body.com
        wrench = wrench + ca.vertcat(arm[2] * force[0] - arm[0] * force[1], force)
    push[3:] = push[3:] + torque
    a = ca.solve(body.M, push - body.h)
    A, bias = body.momentum_matrix
    rate = (A @ a + bias)[[1, 3, 5]]
    weight = ca.vertcat(0, 0, -body.mass * body.mechanism.gravity)
    rng = np.random.default_rng(0)
    for _ in range(20):
        acting = [rng.normal(size=4) * 50, *(rng.normal(size=(2, 2)) * 300)]
        gap = ca.substitute([rate - wrench - weight], [torque, *forces.values()], [ca.DM(v) for v in acting])[
            0
        ]
        assert abs(body.at(gap, rng.normal(size=7), 2 * rng.normal(size=7))).max() < ROUNDING * 300


def test_it_stands_through_a_push_and_every_program_is_solved(stand):
    _, _, _, run = stand
    assert run.ok, run.faults
    assert run.counts["solved"] == 1000
    assert run.kkt < MAX_KKT
    assert abs(run["com_error"]).max() < 0.03
    assert abs(run["com_error"][-1]).max() < 0.01


def test_cones_and_limits_hold_at_every_sample(stand):
    _, _, _, run = stand
    for side in "rl":
        along, normal = run[f"foot_{side}_force"].T
        assert normal.min() >= -1e-9
        assert np.all(abs(along) <= 0.6 * normal + 1e-9 * 1000)
        assert abs(run[f"foot_{side}_force"]).max() <= 1000.0
        for joint in ("hip", "knee"):
            assert abs(run[f"{joint}_{side}_torque"]).max() <= 200.0


def test_standing_torques_are_those_of_statics(stand):
    """At rest, M a + h = S tau + J' f with a = 0 determines what the joints carry of the forces."""
    body, machine, controller, _ = stand
    run = controller.run(machine, t=4.0)
    q = np.array([run.trajectory[name][-1] for name in [s.name for s in body.positions]])
    J = [body.jacobian(f"foot_{side}")[0][[3, 5], :] for side in "rl"]
    h, J_r, J_l = (body.at(each, q, np.zeros(7)) for each in (body.h, *J))
    torque = h - J_r.T @ run["foot_r_force"][-1] - J_l.T @ run["foot_l_force"][-1]
    names = ["hip_r_torque", "hip_l_torque", "knee_r_torque", "knee_l_torque"]
    assert [run[name][-1] for name in names] == pytest.approx(torque[3:], abs=1e-8)
    assert torque[:3] == pytest.approx([0, 0, 0], abs=1e-8)


def test_compiled_and_python_loops_agree(stand):
    _, machine, controller, run = stand
    python = controller.run(machine, t=0.02, backend="virtual")
    native = controller.run(machine, t=0.02)
    names = [n for n in run.labels if n.endswith("torque")]
    for name in names:
        assert python[name] == pytest.approx(native[name], rel=1e-6, abs=1e-6)


def test_slack_form_gives_the_same_torques(stand):
    body, machine, controller, _ = stand
    slack = standing(body.mechanism, body, slack=True)
    ours, theirs = (c.run(machine, t=0.05, u=None) for c in (controller, slack))
    assert theirs.ok
    assert ours["acceleration"][0] == pytest.approx(theirs["acceleration"][0], abs=1e-8)


def test_a_hard_task_that_is_impossible_is_relaxed_and_counted(stand):
    body, machine, _, _ = stand
    tasks = [
        control.OrientationTask(frame="torso", target=0.0, name="up", hard=True),
        control.OrientationTask(frame="torso", target=1.0, name="down", hard=True),
    ]
    run = standing(body.mechanism, body, tasks=tasks).run(machine, t=0.01)
    assert run.counts["relaxed"] == 10
    assert not run.ok
    assert "10 of 10 samples: relaxed" in run.faults
    assert set(run["relaxed"]) == {3.0}
    assert set(run.missed_rows) <= {"up", "down"}
    assert sum(run.missed_rows.values()) == 10
    assert re.search(r"relaxed: .*\((up|down) in \d+", run.faults)


def test_contacts_that_do_not_touch_carry_nothing(stand):
    body, _, _, _ = stand
    lifted = control.whole_body(
        body,
        every=1e-3,
        tasks=[control.PostureTask()],
        contacts=[PointContact(frame="foot_r"), PointContact(frame="foot_l")],
    )
    loop = lifted.loop(strut.mechanism.system(body.mechanism), x0={"base.z": 2.0}, samples=1)
    run = strut.simulate(
        strut.mechanism.system(body.mechanism), t=1e-3, x0={"base.z": 2.0}, control=loop.hold
    )
    assert run.ok
    row = loop.record[0]
    labels = ("t", *loop.controller.labels["command"])
    assert loop.state.counts[QpStatus.SOLVED] == 1
    assert len(labels) == 5
    forces = [k for k, label in enumerate(lifted.labels["unknowns"]) if "force" in label]
    begin = 1 + len(REPORT_FIELDS) + 4
    assert row[[begin + k for k in forces]] == pytest.approx(0.0)


def test_a_sensor_that_is_no_number_holds_and_then_damps(stand):
    body, _, controller, _ = stand
    loop = controller.loop(on_ground(body.mechanism), samples=50)
    import ctypes

    good = np.array([*first(body), *np.zeros(7)])
    bad = good.copy()
    bad[8] = np.nan
    at, sample = ctypes.addressof(loop.state), controller.native.sample
    from strut.codegen import address

    assert sample(at, 0.0, address(good)) == QpStatus.SOLVED
    held = loop.u.copy()
    for _ in range(controller.patience):
        assert sample(at, 0.0, address(bad)) == QpStatus.BAD_SENSOR
        assert loop.u == pytest.approx(held)
    sample(at, 0.0, address(bad))
    assert np.all(loop.u == 0.0)  # the damping of resting joints; what is no number is 0
    assert sample(at, 0.0, address(good)) == QpStatus.SOLVED
    assert loop.u == pytest.approx(held)
    assert loop.state.counts[QpStatus.BAD_SENSOR] == controller.patience + 1


def test_many_loops_on_many_cores_are_those_of_one(stand):
    """Parameters of the controller vary; nothing is compiled again."""
    body, machine, _, _ = stand
    stiffness, limit = strut.Param("com_stiffness", 60.0), strut.Param("torque_limit", 200.0)
    x, _, z = body.at(body.com)
    tasks = [
        control.CentreOfMassTask(target=[x, z], stiffness=stiffness),
        control.OrientationTask(frame="torso", target=0.05),
    ]
    controller = standing(body.mechanism, body, tasks=tasks, torque_limit=limit)
    values = [{"com_stiffness": k, "torque_limit": 150.0} for k in (40.0, 60.0, 80.0)]
    runs = controller.run_each(machine, 0.3, values, threads=2, u=PUSH)
    assert all(run.ok for run in runs)
    alone = controller.using(values[1]).run(machine, t=0.3, u=PUSH)
    assert np.array_equal(runs[1].samples, alone.samples)
    assert abs(runs[0]["com_error"] - runs[2]["com_error"]).max() > 1e-5
    with pytest.raises(strut.errors.UnknownNameError, match="has no parameter 'stiffness'"):
        controller.using(stiffness=1.0)


def test_tasks_that_ask_for_the_same_twice_do_no_harm(stand):
    """Rank-deficient: one orientation as two tasks, both hard, and nothing else to choose by than the cost."""
    body, machine, _, _ = stand
    twice = [
        control.OrientationTask(frame="torso", target=0.05, name=name, hard=True) for name in ("one", "two")
    ]
    run = standing(body.mechanism, body, tasks=[*twice, control.PostureTask(weight=0.0)]).run(machine, t=0.01)
    assert run.ok, run.faults
    assert run.kkt < MAX_KKT


def test_ranked_tasks_keep_the_first_and_serve_the_second_as_well_as_they_can(stand):
    """The torso's angle first; a hip that would turn it second, though its weight is larger."""
    body, machine, _, _ = stand
    tasks = [
        control.OrientationTask(frame="torso", target=0.05, weight=1.0, level=1),
        control.PostureTask(target={"knee_r": 2.0, "knee_l": 2.0, "hip_r": -2.0}, weight=1e3, level=2),
    ]
    run = standing(body.mechanism, body, tasks=tasks).run(machine, t=0.005)
    assert run.counts["failed"] == run.counts["relaxed"] == 0
    angle = run["torso_turn_error"][0]
    row = body.jacobian("torso")
    turn = row[0][1, :] @ run["acceleration"][0] + row[1][1]
    names = [s.name for s in body.sensors]
    at = [run.trajectory[name][0] for name in names]
    reached = float(body.at(turn, at[:7], at[7:]))
    assert reached == pytest.approx(100.0 * angle, rel=1e-5)  # as if the second were not there
    assert run.kkt < MAX_KKT


def test_a_manipulator_on_a_fixed_base_follows_a_circle():
    """Three joints in a plane; the tip tracks a circle with errors of the sampling alone."""
    from strut.mechanism import Mechanism, joints, system

    m = Mechanism("arm", planar=True)
    parent = m.world
    for k, angle in enumerate((0.6, 0.8, 0.6)):
        link = m.body(f"link{k}", mass=2.0, com=(0, 0, -0.2), inertia=0.03)
        where = (0, 0, 0) if k == 0 else (0, 0, -0.4)
        m.joint(f"joint{k}", parent, link, joints.revolute("y"), at=where, initial=angle)
        parent = link
    m.frame("tip", parent, (0, 0, -0.4))
    body = BodyModel(m)
    x, _, z = body.at(body.position("tip"))
    t = strut.time
    circle = [x + 0.1 * (1 - ca.cos(2 * t)), z + 0.1 * ca.sin(2 * t) - 0.2 * t * ca.exp(-4 * t)]
    tasks = [
        control.FrameTask(frame="tip", target=circle, stiffness=400.0, weight=100.0),
        control.PostureTask(stiffness=1.0, weight=1e-3),
    ]
    controller = control.whole_body(body, every=1e-3, tasks=tasks)
    run = controller.run(system(m), t=3.0)
    assert run.ok, run.faults
    assert abs(run["tip_place_error"]).max() < 2e-3
    assert run.kkt < MAX_KKT


def chain(joint, count):
    """Links of 2 kg, one on another, at rest."""
    from strut.mechanism import Mechanism, joints

    m = Mechanism("chain", planar=True)
    parent = m.world
    for k in range(count):
        link = m.body(f"link{k}", mass=2.0, com=(0, 0, -0.2), inertia=0.03)
        at = (0, 0, -0.4 if k else 0)
        m.joint(f"joint{k}", parent, link, getattr(joints, joint)("y" if joint == "revolute" else "x"), at=at)
        parent = link
    return m


@pytest.mark.parametrize(("joint", "limit"), [("prismatic", 50.0), ("revolute", 50.0), ("revolute", 200.0)])
def test_joints_stop_at_the_ends_of_their_ranges(joint, limit):
    """Two joints that are asked to go half as far again as they may: they are driven with the whole acceleration
    that is allowed, brake with it, and come to rest at the ends, to rounding."""
    from strut.mechanism import system

    m = chain(joint, 2)
    tasks = [
        control.JointTask(joint="joint0", target=1.5, stiffness=400.0),
        control.JointTask(joint="joint1", target=-1.5, stiffness=400.0),
    ]
    controller = control.whole_body(
        BodyModel(m),
        every=1e-3,
        tasks=tasks,
        acceleration_limit=limit,
        ranges={"joint0": (-1.0, 1.0), "joint1": (-1.0, 1.0)},
    )
    run = controller.run(system(m), t=1.0)
    assert run.ok, run.faults
    for name, sign in (("joint0", 1.0), ("joint1", -1.0)):
        at = sign * run.trajectory[name]
        assert at.max() <= 1.0 + 1e-14
        assert at[-1] == pytest.approx(1.0, abs=1e-12)
    assert run["acceleration"].max() == limit
    assert run["acceleration"].min() == -limit
    with pytest.raises(strut.errors.ModelError, match="braking is 'hard': give one of sampled, on-off"):
        control.whole_body(BodyModel(m), every=1e-3, tasks=tasks, braking="hard")


def test_a_motor_that_cannot_brake_as_hard_as_was_said_is_told():
    """The range has no solution then: it is missed as little as the torque allows, and counted."""
    from strut.mechanism import system

    m = chain("prismatic", 1)  # 2 kg: 5 m/s^2 with 10 N, a fifth of what is said
    task = control.JointTask(joint="joint0", target=1.5, stiffness=400.0)
    body, ranges = BodyModel(m), {"joint0": (-1.0, 1.0)}
    controller = control.whole_body(
        body, every=1e-3, tasks=[task], acceleration_limit=25.0, torque_limit=10.0, ranges=ranges
    )
    run = controller.run(system(m), t=1.0)
    assert not run.ok
    assert run.counts["failed"] == 0
    assert run.counts["relaxed"] > 0
    assert "samples: relaxed" in run.faults
    braking = run["relaxed"] == 1
    assert np.all(run["joint0_force"][braking] == pytest.approx(-10.0))
    assert run.trajectory["joint0"].max() > 1.0


def test_a_joint_task_is_a_spring_and_a_damper_of_its_own():
    """With one joint asked and the other one free of cost, its error decays as that of a critically damped
    oscillator does: e (1 + w t) exp(-w t)."""
    from strut.mechanism import system

    m, w = chain("revolute", 2), 10.0
    task = control.JointTask(joint="joint0", target=0.5, stiffness=w**2)
    controller = control.whole_body(BodyModel(m), every=1e-3, tasks=[task], acceleration_weight=1e-9)
    run = controller.run(system(m), t=0.5)
    assert run.ok, run.faults
    decay = 0.5 * (1 + w * run.t) * np.exp(-w * run.t)
    assert run["joint0_error"] == pytest.approx(decay, abs=2e-3)  # of samples that are held: w h / 2 of 0.5
    assert run.kkt < MAX_KKT
    with pytest.raises(strut.errors.UnknownNameError, match="joint9"):
        control.whole_body(BodyModel(m), every=1e-3, tasks=[control.JointTask(joint="joint9", target=0.0)])


def test_motors_behind_springs_give_the_torques_that_were_asked(stand):
    body, machine, controller, stiff = stand
    from strut import actuator

    names, stiffness, inertia = ("hip_r", "hip_l", "knee_r", "knee_l"), 2000.0, 0.1
    elastic = actuator.series(machine, stiffness=stiffness, inertia=inertia, damping=0.5)
    drive = control.MotorSpring(stiffness=stiffness, inertia=inertia, limit=math.inf)
    softly = control.through_springs(controller, dict.fromkeys(names, drive))
    begin = dict(zip([s.name for s in body.positions], first(body), strict=True))
    x0 = {f"{n}_motor": begin[n] + stiff[f"{n}_torque"][0] / stiffness for n in names}
    run = softly.run(elastic, t=1.0, x0=x0, u=PUSH)
    assert run.ok, run.faults
    assert abs(run["com_error"]).max() < 0.03
    given = run.trajectory.at(run.t[-100:])
    for n in names:  # 0.6 s after the push, within what the spring's damper adds
        assert given[f"{n}_torque"] == pytest.approx(run[f"{n}_asked"][-100:], abs=1.0)
    with pytest.raises(strut.errors.UnknownNameError, match="asks for no torque of 'ankle'"):
        control.through_springs(controller, {"ankle": drive})


@pytest.mark.slow  # COMAN's controller and machine are compiled: a minute
def test_coman_stands_squats_and_takes_a_push_in_space():
    """29 velocities, 24 components of force: every program is solved, and a push of 4 N s forward and 2 sideways
    while it squats is survived."""
    from bench.whole_body import STEP, coman

    controller, machine, x0, _ = coman(depth=0.03)
    push = strut.push("waist", (2.5, 2.6), (40.0, 20.0, 0.0))
    run = controller.run(machine, 4.0, x0=x0, u=push, ledger=False, method="euler", step=STEP)
    assert run.ok, run.faults
    assert run.counts["solved"] == 4000
    assert run.kkt < MAX_KKT
    assert abs(run["com_error"]).max() < 0.02
    assert abs(run["com_error"][-1]).max() < 0.002
    torques = np.stack([run[name] for name in controller.command])
    assert abs(torques).max() <= 60.0
    for label in controller.labels["unknowns"]:
        if label.endswith("_force[2]"):
            x, y, z = (run[f"{label[:-3]}[{k}]"] for k in range(3))
            assert z.min() >= -1e-9
            assert np.all(np.hypot(x, y) <= 0.5 * z + 1e-7)


def test_a_motor_at_its_set_point_gives_the_torque_alone():
    """At the angle that stretches the spring by torque over stiffness, turning with the joint, the motor's torque
    is what the spring carries: what was asked, and the damping of the link; and the voltage compensates back-EMF."""
    from strut import actuator

    motor = actuator.MOTORS["rbe1211-csd17"]
    drive = control.MotorSpring.of_motor(motor, 415.0, link_damping=8.0)
    stiffness = motor.series_stiffness(415.0)
    torque, angle, rate = 20.0, 0.3, 0.5
    carried = torque + 8.0 * rate
    at = [ca.SX(v) for v in (torque, angle, rate, angle + carried / stiffness, rate)]
    volts = float(drive.command(at[0], (at[1], at[2]), (at[3], at[4])))
    assert volts == pytest.approx((carried + motor.damping * rate) / motor.voltage_gain)
    assert drive.input_name == "voltage"


@pytest.mark.slow  # COMAN's controller and its machine with 23 motors are compiled: minutes
def test_coman_stands_and_squats_through_its_springs():
    """The same controller commands the voltages of motors behind springs of 415 N m/rad, on soft ground."""
    from bench.whole_body import STEP, coman

    from strut import actuator, walkers
    from strut.walkers import coman_robot as robot

    controller, stiff, x0, _ = coman(depth=0.02)
    motor = actuator.MOTORS[robot.MOTOR]
    arm_spring = 1 / (1 / robot.ARM_STIFFNESS - 1 / motor.gear_stiffness)

    def drive(name):
        is_arm = "shoulder" in name or "elbow" in name
        spring = robot.LEG_SPRING if name.endswith(robot.SPRUNG) else np.inf
        spring = arm_spring if name.endswith(robot.SPRUNG_ARMS) else spring
        damping = robot.ARM_LINK_DAMPING if is_arm else robot.LEG_LINK_DAMPING
        return control.MotorSpring.of_motor(motor, spring, link_damping=damping)

    drives = {
        name.removesuffix("_torque"): drive(name.removesuffix("_torque")) for name in controller.command
    }
    elastic = control.through_springs(controller, drives)
    at_rest = controller.run(stiff, 2 * STEP, x0=x0, ledger=False, method="euler", step=STEP)
    stretched = {
        f"{name}_motor": x0.get(name, 0.0) + at_rest[f"{name}_torque"][0] / float(each.stiffness)
        for name, each in drives.items()
    }
    machine = walkers.coman(kp=0, events=False)
    run = elastic.run(machine, 2.0, x0={**x0, **stretched}, ledger=False, method="rkc", step=STEP)
    assert run.ok, run.faults
    assert run.kkt < MAX_KKT
    assert abs(run["com_error"]).max() < 0.01  # the ground gives way by 3 mm
