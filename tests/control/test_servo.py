"""Servos and references: closed forms, samples and encoders against a second implementation, and mistakes."""

import math

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, Param, State, System, actuator, control, joints, mechanism, walkers
from strut.errors import ModelError, StorageError, UnknownNameError, ValueRangeError

EXACT = {"rtol": 1e-11, "atol": 1e-12}
INERTIA, KP, KD = 2.0, 50.0, 6.0


def flywheel():
    m = Mechanism("flywheel", planar=True, g=0.0)
    m.joint("axle", m.world, m.body("wheel", mass=1.0, inertia=INERTIA), joints.revolute("y"))
    return mechanism.system(m)


def evaluate(reference, t):
    f = ca.Function("f", [strut.time], [reference.value, reference.rate])
    return (
        np.array(f(t)).reshape(2, -1) if np.isscalar(t) else np.array([np.array(f(x)).ravel() for x in t]).T
    )


def test_a_move_of_least_jerk():
    value, rate = evaluate(control.minimum_jerk(1.0, 3.0, 2.0, start=0.5), np.array([0, 0.5, 1.5, 2.5, 4.0]))
    np.testing.assert_allclose(value, [1, 1, 2, 3, 3], atol=1e-14)
    np.testing.assert_allclose(rate, [0, 0, 15 / 8 * 2 / 2, 0, 0], atol=1e-14)


def test_splines_agree_with_scipy():
    from scipy.interpolate import CubicSpline

    random = np.random.default_rng(3)
    t, v = np.cumsum(random.uniform(0.1, 1.0, 9)), random.standard_normal(9)
    s = np.linspace(t[0], t[-1], 57)[1:-1]
    plain = CubicSpline(t, v, bc_type="clamped")
    np.testing.assert_allclose(evaluate(control.spline(t, v), s), [plain(s), plain(s, 1)], atol=1e-12)
    np.testing.assert_allclose(
        evaluate(control.spline(t, v), np.array([t[-1] + 3.0])), [[v[-1]], [0]], atol=1e-12
    )
    v[-1] = v[0]
    wave, period = CubicSpline(t, v, bc_type="periodic"), t[-1] - t[0]
    for shift in (-2, 0, 3):
        ours = evaluate(control.spline(t, v, periodic=True), s + shift * period)
        np.testing.assert_allclose(ours, [wave(s), wave(s, 1)], atol=1e-11)


def test_a_pd_servo_is_a_spring_and_a_damper():
    """u = kp (r - q) - kd q' on an inertia: a damped oscillation, known in closed form."""
    served = control.servo(flywheel(), {"axle": 1.0}, kp=KP, kd=KD)
    run = strut.simulate(served, t=3, **EXACT)
    t = np.linspace(0, 3, 31)
    decay = KD / 2 / INERTIA
    omega = math.sqrt(KP / INERTIA - decay**2)
    expected = 1 - np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(run.at(t)["axle"], expected, atol=1e-9)
    assert run.ledger.residual < 1e-9
    assert not served.u
    spring = strut.simulate(actuator.parallel(flywheel(), stiffness=KP, damping=KD, rest=1.0), t=3, **EXACT)
    assert run["axle"][-1] == pytest.approx(spring["axle"][-1], abs=1e-10)


def test_an_integral_takes_the_error_away_and_does_not_wind_up():
    pendulum = walkers.pendulum()
    pd = strut.simulate(control.servo(pendulum, {"drive": 0.5}, kp=KP, kd=10.0), t=20)
    assert pd["drive_error"][-1] == pytest.approx(9.81 * math.sin(pd["angle"][-1]) / KP, rel=1e-6)
    pid = strut.simulate(control.servo(pendulum, {"drive": 0.5}, kp=KP, kd=10.0, ki=30.0), t=40)
    assert abs(pid["drive_error"][-1]) < 1e-5
    # as much torque as gravity asks for is not there: the integral waits, and is small when the reference comes down
    asked = control.minimum_jerk(1.5, 0.3, 1.0, start=10.0)
    weak = {"kp": KP, "kd": 10.0, "ki": 30.0, "limit": 6.0}
    run = strut.simulate(control.servo(pendulum, {"drive": asked}, **weak), t=40)
    assert abs(run["drive_error"][-1]) < 1e-3
    assert np.abs(run["drive_integral"]).max() < 1.0
    assert 0.1 < run.time_at_limits["drive_servo_at_limit"] < 0.5  # until the reference comes down, of 40 s


def replay(every, resolution, kp, kd, end):
    """The same sampled loop on an inertia, by hand: between samples the torque is constant."""
    q, w, seen = 0.0, 0.0, 0.0
    for _ in range(round(end / every)):
        now = resolution * math.floor(q / resolution + 0.5)
        torque = kp * (1.0 - now) - kd * (now - seen) / every
        seen, a = now, torque / INERTIA
        q, w = q + w * every + a * every**2 / 2, w + a * every
    return q


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_sampled_servo_with_an_encoder_is_what_a_computer_does(backend):
    every, resolution = 0.01, 2 * math.pi / 4096
    served = control.servo(flywheel(), {"axle": 1.0}, kp=KP, kd=KD, every=every, resolution=resolution)
    run = strut.simulate(served, t=1.0, backend=backend, **EXACT)
    assert run["axle"][-1] == pytest.approx(replay(every, resolution, KP, KD, 1.0), abs=1e-9)
    steps = run.at(np.linspace(0, 0.99, 100))["axle_command"]
    assert steps[0] == KP  # from the first instant on
    assert run.ledger.residual < 1e-9


def test_a_delay_makes_a_servo_swing():
    """An inertia under kp alone, read late by d, grows as the root of I s^2 + kp exp(-s d) says."""
    late = 0.02
    run = strut.simulate(control.servo(flywheel(), {"axle": 0.1}, kp=KP, delay=late), t=8, **EXACT)
    root = 1j * math.sqrt(KP / INERTIA)
    for _ in range(20):
        late_gain = KP * np.exp(-root * late)
        root -= (INERTIA * root**2 + late_gain) / (2 * INERTIA * root - late * late_gain)
    period = 2 * math.pi / root.imag
    now = run.at(np.array([2.0, 2.0 + 3 * period]))["axle"] - 0.1
    assert now[1] / now[0] == pytest.approx(math.exp(3 * period * root.real), rel=1e-8)


def test_a_servo_of_a_motor_by_voltage_on_either_side():
    """At rest the motor carries the load by u = load / V_T; the link hangs behind by load / K_s. Without damping of the
    link these gains on the link side are not stable (Routh-Hurwitz): the spring lies between motor and reading."""
    motor = actuator.MOTORS["rbe1211-csd17"]
    light = walkers.pendulum(length=0.3)
    driven = actuator.dc_motors(light, motor, spring=415, spring_damping=0.8, link_damping=8.0)
    angles = {"drive": (driven["angle"], driven["rate"])}
    for side, named in (("link", angles), ("motor", None)):
        run = strut.simulate(
            control.servo(driven, {"drive": 0.6}, kp=200, kd=10, side=side, angles=named), t=20
        )
        angle = run["angle"][-1] if side == "link" else run["drive_motor"][-1]
        load = 9.81 * 0.3 * math.sin(run["angle"][-1])
        assert 0.6 - angle == pytest.approx(load / motor.voltage_gain / 200, rel=1e-6)
        stretch = run["drive_motor"][-1] - run["angle"][-1]
        assert stretch == pytest.approx(load / motor.series_stiffness(415), rel=1e-6)


def test_a_reference_along_the_phase_of_an_oscillator():
    phase, speed = State("phase", 0.0, "rad"), Param("speed", 3.0, "rad/s")
    clock = System("clock", x=[phase], p=[speed], flow={phase: speed.sym + 0.3 * ca.sin(phase.sym)})
    both = strut.join("both", flywheel(), clock)
    follow = control.sine(0.2, 1.0).along(phase / (2 * math.pi))
    run = strut.simulate(control.servo(both, {"axle": follow}, kp=2000, kd=200), t=4)
    t = np.linspace(0, 4, 41)
    np.testing.assert_allclose(run.at(t)["axle_reference"], 0.2 * np.sin(run.at(t)["phase"]), atol=1e-12)
    assert np.abs(run.at(t)["axle_error"]).max() < 0.08


def test_a_table_of_angles(tmp_path):
    file = tmp_path / "moves.csv"
    file.write_text("time [ms],axle [deg]\n0,0\n500,30\n1000,90\n")
    (reference,) = control.table(file).values()
    value, _ = evaluate(reference, np.array([0.0, 0.5, 1.0, 2.0]))
    np.testing.assert_allclose(value, np.radians([0, 30, 90, 90]), atol=1e-13)
    served = control.servo(flywheel(), control.table(file), kp=500, kd=50)
    assert strut.simulate(served, t=4)["axle"][-1] == pytest.approx(math.pi / 2, abs=1e-3)
    for text, sentence in (
        ("time,axle\n0,0\n1,\n2,3\n", "line 3, column 'axle': '' is no finite number"),
        ("time,axle\n0,0\n2,1\n1,3\n", "column 'axle': the times of a spline must rise: after 2 s comes 1 s"),
        ("axle,time\n0,0\n1,1\n", "its first column is 'axle': it must be the time"),
        ("time [h],axle\n0,0\n1,1\n", "its first column is in 'h'"),
    ):
        file.write_text(text)
        with pytest.raises((ValueRangeError, UnknownNameError), match=sentence):
            control.table(file)
    with pytest.raises(StorageError, match="cannot read the recording"):
        control.table(tmp_path / "nothing.csv")


def test_mistakes_are_explained():
    wheel = flywheel()
    with pytest.raises(ValueRangeError, match=r"must rise: after 1 s comes 0.5 s \(number 3\)"):
        control.spline([0, 1, 0.5], [0, 1, 2])
    with pytest.raises(ValueRangeError, match="begins with 0 and ends with 2"):
        control.spline([0, 1, 2], [0, 1, 2], periodic=True)
    with pytest.raises(ValueRangeError, match="2 times and 3 values"):
        control.spline([0, 1], [0, 1, 2])
    with pytest.raises(ValueRangeError, match="duration of a move is 0"):
        control.minimum_jerk(0, 1, 0)
    with pytest.raises(UnknownNameError, match="no input 'axel', nor one of a drive"):
        control.servo(wheel, {"axel": 0.0}, kp=1.0)
    with pytest.raises(ValueRangeError, match="side of a servo is 'joint': allowed are 'link' and 'motor'"):
        control.servo(wheel, {"axle": 0.0}, kp=1.0, side="joint")
    with pytest.raises(ModelError, match="reads 'axle_motor' and 'axle_motor_rate', which are no states"):
        control.servo(wheel, {"axle": 0.0}, kp=1.0, side="motor")
    with pytest.raises(ValueRangeError, match="would jump at every tick"):
        control.servo(wheel, {"axle": 0.0}, kp=1.0, resolution=1e-3)
    with pytest.raises(ValueRangeError, match="every of a servo is 0"):
        control.servo(wheel, {"axle": 0.0}, kp=1.0, every=0)
    with pytest.raises(UnknownNameError, match="kp has no entry for 'axle'"):
        control.servo(wheel, {"axle": 0.0}, kp={"knee": 1.0})
    with pytest.raises(ModelError, match="gives the angle of 'hip' a new value"):
        control.servo(walkers.compass(), {"hip": 0.3}, kp=1.0, ki=1.0)
    with pytest.raises(ValueRangeError, match="kp of 'axle' is -1: a servo with a negative gain drives away"):
        control.servo(wheel, {"axle": 0.0}, kp=-1.0)
    with pytest.raises(ModelError, match="no servo is asked for"):
        control.servo(wheel, {}, kp=1.0)


@pytest.mark.parametrize("reference", [float("nan"), float("inf")])
def test_a_reference_that_is_no_number_is_refused(reference):
    with pytest.raises(ValueRangeError, match=f"has the number {reference} in it: finite ones are needed"):
        control.minimum_jerk(reference, 1.0, duration=1.0)
    with pytest.raises(ValueRangeError, match="finite ones are needed"):
        control.sine(reference, 1.0)
