"""Sensors against what a run itself did, closed forms of a pendulum, and statics; watchers against closed forms."""

import math

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Discrete, Input, Mechanism, Sample, System, actuator, contact, joints, mechanism
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import sensors, watchers
from strut.mechanism.watchers import Hull
from tests.contact.machines import weight

EXACT = {"rtol": 1e-12, "atol": 1e-13}


def arm(g=9.81):
    m = Mechanism("arm", g=g)
    at, where = m.world, (0.1, 0.2, 0.3)
    for name, axis in (("yaw", "z"), ("pitch", "y"), ("roll", "x")):
        link = m.body(f"{name}_link", mass=1.0, com=(0.1, 0, -0.2), inertia=(0.02, 0.03, 0.04))
        m.joint(name, at, link, joints.revolute(axis), at=where, initial=0.4, rate=0.7)
        at, where = link, (0.1, 0.05, -0.4)
    m.frame("tool", at, (0.1, 0.2, -0.3))
    m.frame("elbow", m.bodies["pitch_link"], (0.0, 0.1, 0.0))
    return m


@pytest.mark.parametrize("base", ["world", "elbow"])
def test_readings_are_rates_of_one_another(base):
    """Velocity is the rate of the position, spin that of the rotation, accelerations theirs, and J v all of them."""
    m = arm()
    anchor = sensors.Anchor("tool", of=mechanism.sensors.QUANTITIES, relative_to=base, name="s")
    run = strut.simulate(mechanism.sense(mechanism.system(m), m, [anchor]), t=0.5, **EXACT)
    h, t = 1e-4, 0.3

    def read(name, at, size=3):
        return np.array([run.at(at)[f"s_{name}[{k}]"] for k in range(size)])

    def rate(name, size=3):
        return (read(name, t + h, size) - read(name, t - h, size)) / 2 / h

    # central differences of smooth motions: the error is of order h^2
    np.testing.assert_allclose(read("velocity", t), rate("position"), atol=1e-6)
    np.testing.assert_allclose(read("acceleration", t), rate("velocity"), atol=1e-5)
    np.testing.assert_allclose(read("angular_acceleration", t), rate("spin"), atol=1e-5)
    R = read("rotation", t, 9).reshape(3, 3).T
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    turning = rate("rotation", 9).reshape(3, 3).T @ R.T
    spin = read("spin", t)
    np.testing.assert_allclose([turning[2, 1], turning[0, 2], turning[1, 0]], spin, atol=1e-6)
    J = read("jacobian", t, 18).reshape(3, 6).T
    v = [run.at(t)[f"{name}_rate"] for name in ("yaw", "pitch", "roll")]
    np.testing.assert_allclose(J @ v, [*spin, *read("velocity", t)], atol=1e-11)


def test_an_inertial_unit_on_a_pendulum():
    """At the end of a rod the accelerometer reads only the pull of the rod: w^2 l + g cos, and nothing across, for a
    point mass falls freely along the circle."""
    m = Mechanism("pendulum", planar=True)
    rod = m.body("rod", mass=1.0, com=(0, 0, -0.8))
    m.joint("pivot", m.world, rod, joints.revolute("y"), initial=0.9)
    m.frame("bob", rod, (0, 0, -0.8))
    run = strut.simulate(mechanism.sense(mechanism.system(m), m, [sensors.Imu("bob")]), t=1.0, **EXACT)
    now = run.at(0.7)
    pull = now["pivot_rate"] ** 2 * 0.8 + 9.81 * math.cos(now["pivot"])
    read = [now[f"bob_accelerometer[{k}]"] for k in range(3)]
    np.testing.assert_allclose(read, [0, 0, pull], atol=1e-9)
    assert now["bob_gyro[1]"] == pytest.approx(now["pivot_rate"], abs=1e-12)


def box():
    m = Mechanism("box")
    body = m.body("box", mass=3.0, com=(0.03, -0.02, 0), inertia=(0.05, 0.05, 0.05))
    m.joint("base", m.world, body, joints.free(), initial=(0, 0, 0.1, 0, 0, 0, 1), actuated=False)
    m.frame("sole", body, (0, 0, -0.1))
    corners = [m.frame(f"c{k}", body, (x, y, -0.1)).name for k, (x, y) in
               enumerate([(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)])]  # fmt: skip
    return m, corners


def test_force_under_a_foot_and_its_centre():
    """A box at rest: its weight, below its centre of mass."""
    m, corners = box()
    law = contact.linear(2e4, 300.0)
    soft = contact.compliant(m, corners, law=law, friction=contact.viscous(100.0))
    sensing = [sensors.FootForce("sole", corners), sensors.ZeroMomentPoint()]
    run = strut.simulate(mechanism.sense(soft, m, sensing), t=4)
    end = run.at(4.0)
    assert end["sole_force[2]"] == pytest.approx(3 * 9.81, abs=1e-5)
    assert (end["zmp_x"], end["zmp_y"]) == pytest.approx((end["com_x"], end["com_y"]), abs=1e-6)
    # the box leans on soft ground: by degrees, so that its own axes are nearly the world's
    assert (end["sole_pressure_x"], end["sole_pressure_y"]) == pytest.approx((0.03, -0.02), abs=1e-3)
    # what the ground gives goes through the centre of mass, which lies at (0.03, -0.02, 0.1) from the sole
    force, moment = ([end[f"sole_{what}[{k}]"] for k in range(3)] for what in ("force", "moment"))
    np.testing.assert_allclose(moment, np.cross([0.03, -0.02, 0.1], force), atol=1e-5)
    assert moment[:2] == pytest.approx([-0.02 * 3 * 9.81, -0.03 * 3 * 9.81], rel=0.1)  # as it leans
    with pytest.raises(UnknownNameError, match="has no contact 'heel'"):
        mechanism.sense(soft, m, [sensors.FootForce("sole", ["heel"])])


def test_the_moment_under_a_foot_is_what_turns_it():
    """A box that lands spinning: I dw/dt = M + (sole - com) x F (Euler's equation of a round inertia), friction's
    moment about the vertical included."""
    m, corners = box()
    soft = contact.compliant(m, corners, law=contact.linear(2e4, 300.0), friction=contact.viscous(100.0))
    reads = [
        sensors.FootForce("sole", corners),
        sensors.Anchor("sole", of=["angular_acceleration", "rotation"]),
    ]
    landing = mechanism.sense(soft, m, reads).using({"base.z": 0.11, "base.wz": 3.0})
    run = strut.simulate(landing, t=0.2, **EXACT)
    largest = np.zeros(3)
    for t in np.linspace(0.05, 0.2, 16):
        now = run.at(t)
        force, moment, turning = (
            np.array([now[f"sole_{what}[{k}]"] for k in range(3)])
            for what in ("force", "moment", "angular_acceleration")
        )
        R = np.array([now[f"sole_rotation[{k}]"] for k in range(9)]).reshape(3, 3).T
        expected = 0.05 * R.T @ turning + np.cross([0.03, -0.02, 0.1], force)
        np.testing.assert_allclose(moment, expected, atol=1e-9)
        largest = np.maximum(largest, np.abs(moment))
    assert (largest > 0.1).all()


def test_encoders_and_motors_are_read_and_a_law_may_use_them():
    """A law reads the encoder each millisecond and asks for a voltage: the joint, which falls without it, is held to
    half a step of the encoder and what the weight needs."""
    m = arm()
    driven = actuator.dc_motors(mechanism.system(m), "rbe1211-csd17")
    seen = mechanism.sense(
        driven, m, [sensors.Encoder("pitch", 0.01), sensors.Encoder("pitch", 0.01, motor=True)]
    )
    run = strut.simulate(seen, t=0.2)
    t = np.linspace(0, 0.2, 21)
    steps = run.at(t)["pitch_encoder"] / 0.01
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert np.abs(run.at(t)["pitch_encoder"] - run.at(t)["pitch"]).max() <= 0.005 + 1e-12
    assert "pitch_motor_encoder" in run.names.outputs
    gain, reading, command = 100.0, Input("reading"), Discrete("command", 0.0, "V")
    tick = Sample("tick", every=1e-3, set={command: -gain * reading.sym})
    law = System("law", u=[reading], z=[command], samples=[tick], outputs={"asked": command})
    held = strut.join("held", seen, law, connect={"reading": "pitch_encoder", "pitch_voltage": "asked"})
    assert "pitch_voltage" not in held.labels("u")
    runs = {machine: strut.simulate(machine, t=1.5, rtol=1e-8, atol=1e-10) for machine in (seen, held)}
    weight = 3 * 9.81 * 0.8  # [N m] at most, of three links of 1 kg
    assert (
        abs(runs[held]["pitch"][-1]) < 0.005 + weight / gain / actuator.MOTORS["rbe1211-csd17"].voltage_gain
    )
    assert abs(runs[seen]["pitch"][-1]) > 0.3
    for t in (0.1005, 0.2005, 0.3005):  # between ticks
        before = runs[held].at(t - 0.0005)
        assert runs[held].at(t)["asked"] == pytest.approx(-gain * before["pitch_encoder"], abs=1e-9)


def test_mistakes_of_sensors_are_explained():
    m = arm()
    system = mechanism.system(m)
    for sensor, sentence in (
        (sensors.Imu("hand"), "has no frame or body 'hand'"),
        (sensors.Anchor("tool", relative_to="moon"), "has no frame or body 'moon'"),
        (sensors.Encoder("knee", 0.1), "the encoder reads 'knee', which is no state"),
    ):
        with pytest.raises(UnknownNameError, match=sentence):
            mechanism.sense(system, m, [sensor])
    with pytest.raises(UnknownNameError, match="an anchor has no 'speed' to read"):
        sensors.Anchor("tool", of=["speed"])
    with pytest.raises(ModelError, match="touches nothing"):
        mechanism.sense(system, m, [sensors.ZeroMomentPoint()])
    with pytest.raises(ModelError, match="are called 'tool_gyro'"):
        mechanism.sense(system, m, [sensors.Imu("tool"), sensors.Imu("tool")])
    with pytest.raises(ModelError, match=r"has no state 'base.x' of mechanism 'box'"):
        mechanism.sense(system, box()[0], [sensors.Imu("sole")])


def test_a_fall_ends_a_run_where_it_should():
    m, _ = box()
    fall = watchers.FallBelow("sole", -1.0)
    run = strut.simulate(mechanism.watch(mechanism.system(m), m, [fall]), t=5)
    assert run.status == "sole_low"
    assert run.t1 == pytest.approx(math.sqrt(2 / 9.81), rel=1e-9)
    assert run.ended_in_failure
    assert "sole came down to -1 m" in run.ending_meaning
    recorded = watchers.FallBelow("sole", -1.0, ends=False)
    on = strut.simulate(mechanism.watch(mechanism.system(m), m, [recorded]), t=1)
    assert on.ok
    assert on.events.names == ("sole_low",)


def scissors():
    """Two rods on one base that turn towards each other, at equal and opposite rates."""
    m = Mechanism("scissors", g=0.0)
    base = m.body("base", mass=1.0, inertia=1.0)
    m.joint("mount", m.world, base, joints.fixed())
    for name, y, rate in (("one", 0.5, -0.3), ("two", -0.5, 0.3)):
        rod = m.body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        m.joint(f"{name}_joint", base, rod, joints.revolute("z"), at=(0, y, 0), rate=rate, limits=(-1.0, 1.0))
    return m


def test_self_collision_is_where_capsules_meet():
    m = scissors()
    hulls = [Hull("base", 0.2), *[Hull(name, 0.05, end=(1.0, 0, 0)) for name in ("one", "two")]]
    guard = watchers.SelfCollision(hulls)
    assert [(a.body, b.body) for a, b in guard.pairs(m)] == [("one", "two")]  # what joints connect is excused
    run = strut.simulate(mechanism.watch(mechanism.system(m), m, [guard]), t=10, **EXACT)
    # the ends are 1 - 2 sin(angle) apart across the rods' middle line
    assert run.status == "self_collision"
    assert 1 - 2 * math.sin(0.3 * run.t1) == pytest.approx(0.1, abs=1e-9)
    assert guard.pair_of(m, run["collision_pair"][-1]) == ("one", "two")
    assert run.ending_meaning == "it struck itself: one and two"


def test_capsules_that_are_parallel_have_a_distance_with_a_rate():
    """Both rods along x: any of their points may be the nearest, and nothing is 0/0."""
    m = scissors()
    hulls = [Hull(name, 0.05, (0.1 * k, 0, 0), (1.0, 0, 0)) for k, name in enumerate(("one", "two"))]
    watched = mechanism.watch(mechanism.system(m), m, [watchers.SelfCollision(hulls)])
    guard, x = watched.event("self_collision").guard, watched.vector("x")
    flow = ca.vertcat(*[watched.flow[q.name] for q in watched.x])
    f = ca.Function("f", [x, watched.vector("p")], [guard, ca.jtimes(guard, x, flow)])
    begin = strut.system.start(watched)
    value, rate = (float(each) for each in f(begin.x, begin.p))
    assert value == pytest.approx(0.1 - 1.0)
    assert math.isfinite(rate)


def test_ranges_and_limits():
    m = scissors()
    run = strut.simulate(mechanism.watch(mechanism.system(m), m, [watchers.JointRange()]), t=10)
    assert run.status in ("one_joint_out_of_range", "two_joint_out_of_range")
    assert run.t1 == pytest.approx(1 / 0.3, rel=1e-6)
    box_m, corners = box()
    soft = contact.compliant(box_m, corners, law=contact.linear(2e4, 300.0)).using({"base.z": 0.6})
    forced = mechanism.sense(soft, box_m, [sensors.FootForce("sole", corners)])
    run = strut.simulate(mechanism.watch(forced, box_m, [watchers.OutputLimit("sole_force", 100.0)]), t=2)
    assert run.status == "sole_force_limit"
    assert run.t1 == pytest.approx(math.sqrt(2 * 0.5 / 9.81), rel=1e-9)
    system = mechanism.system(m)
    for watcher, error, sentence in (
        (watchers.JointRange({"knee": (0, 1)}), UnknownNameError, "'knee' is watched, and is no joint"),
        (watchers.JointRange({"one_joint": (1, 0)}), ValueRangeError, "the lower end comes first"),
        (watchers.SelfCollision([Hull("hand", 0.1)]), UnknownNameError, "a capsule is about 'hand'"),
        (watchers.SelfCollision([Hull("one", 0.1)]), ModelError, "no pair to watch"),
        (watchers.OutputLimit("com_x", -1.0), ValueRangeError, "the limit of 'com_x' is -1"),
    ):
        with pytest.raises(error, match=sentence):
            mechanism.watch(system, m, [watcher])
    with pytest.raises(ValueRangeError, match="the radius about 'one' is 0"):
        Hull("one", 0.0)
    with pytest.raises(ModelError, match="no joint of 'arm' has limits to watch"):
        mechanism.watch(mechanism.system(arm()), arm(), [watchers.JointRange()])


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_watcher_that_only_records_goes_on_where_a_machine_begins_on_a_limit(backend):
    """At rest, exactly on the end of its range, and it falls beyond: recorded once, and the run goes on."""
    m = Mechanism("arm", planar=True)
    link = m.body("link", 1.0, com=(0.1, 0, 0), inertia=0.01)
    m.joint("joint", m.world, link, joints.revolute("y"))
    watcher = watchers.JointRange({"joint": (-5.0, 0.0)}, ends=False)
    run = strut.simulate(mechanism.watch(mechanism.system(m), m, [watcher]), t=0.3, backend=backend)
    assert (run.status, list(run.events.names)) == ("done", ["joint_out_of_range"])
    assert run.events.times("joint_out_of_range")[0] == 0.0
    assert run["joint"][-1] > 0.1


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_what_comes_to_rest_on_a_limit_is_recorded_once(backend):
    """A weight that has landed trembles about the height that is watched, by rounding, for ever."""
    m = weight(height=0.3)
    watcher = watchers.FallBelow("foot", 0.0, ends=False)
    run = strut.simulate(mechanism.watch(contact.rigid(m, ["foot"]), m, [watcher]), t=5, backend=backend)
    assert run.status == "done"
    assert run.events.counts() == {"foot_touchdown": 1, "foot_low": 1}


def test_what_leaves_a_limit_is_recorded_again():
    """A pendulum without friction passes the middle once in a period, in each direction."""
    m = Mechanism("arm", planar=True)
    link = m.body("link", 1.0, com=(0, 0, -0.5), inertia=0.01)
    m.joint("joint", m.world, link, joints.revolute("y"), initial=0.3)
    watcher = watchers.JointRange({"joint": (0.0, 5.0)}, ends=False)
    run = strut.simulate(mechanism.watch(mechanism.system(m), m, [watcher]), t=10)
    passes = run.events.times("joint_out_of_range")
    assert len(passes) > 5
    assert np.diff(passes) == pytest.approx(np.diff(passes)[0], rel=1e-6)


def test_a_height_that_is_no_number_is_refused():
    with pytest.raises(ValueRangeError, match="the height to which 'hand' may come down is nan"):
        watchers.FallBelow("hand", float("nan"))
