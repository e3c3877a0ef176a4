"""Estimates: a Kalman filter along a gait, through its impacts, joined with the machine and its regulator."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Discrete, Random, Sample, State, System, control, gait, walkers
from strut.control.kalman import kalman_observer
from strut.control.motion_table import motion_table
from strut.control.read_motion import reference_motion
from strut.errors import ModelError, UnknownNameError, ValueRangeError

NOISE = {"stance": 1e-5, "swing": 1e-5}
"""[rad/sqrt(Hz)] of two encoders."""
DISTURBANCE = {"stance_rate": 5e-4, "swing_rate": 5e-4}
"""[rad/s/sqrt(s)], small enough for a linear filter to be right."""


@pytest.fixture(scope="module")
def steep():
    """The compass on 4.5 degrees, whose gait is unstable."""
    return gait.find(walkers.compass(slope=np.deg2rad(4.5)), {"stance": 0.2516, "swing": -0.4087}, starts=0)


@pytest.fixture(scope="module")
def plain(steep):
    return control.lqr(steep, index="time")


@pytest.fixture(scope="module")
def held(steep):
    return control.lqr(steep, index="time", observer=control.Kalman(NOISE, DISTURBANCE))


def sizes(*groups):
    return np.sort(np.abs(np.concatenate(groups)))[::-1]


def test_the_multipliers_are_those_of_the_regulator_and_of_the_estimate(plain, held):
    """The separation principle: exact, as the estimate is reset when the machine is."""
    together = sizes(plain.gait.multipliers, held.estimate.multipliers)
    assert sizes(held.gait.multipliers) == pytest.approx(together, abs=1e-5)
    assert held.method == "LQG along the step, by time"
    assert held.gait.period == pytest.approx(plain.gait.period, abs=1e-7)
    assert held.settings["noise of stance"] == 1e-5
    assert held.settings["disturbance of swing_rate"] == 5e-4


@pytest.mark.slow  # compiles a loop of its own, 6 s
def test_landings_alone_hold_the_compass(steep, plain):
    """No sensor but a switch under the foot: that the guard is zero when it lands, to a
    millimetre."""
    held = control.lqr(steep, index="time", observer=control.Kalman({"heel_strike": 1e-3}, DISTURBANCE))
    together = sizes(plain.gait.multipliers, held.estimate.multipliers)
    assert sizes(held.gait.multipliers) == pytest.approx(together, abs=1e-5)
    assert held.estimate.sensors == ("heel_strike",)
    assert held.stable


def test_the_errors_of_the_estimate_are_as_large_as_the_filter_says(held):
    """Noise on sensors and rates, drawn 500 times a second, over eighty steps."""
    every, size = 2e-3, {**NOISE, **DISTURBANCE}
    held_noise = {n: Discrete(f"{n}_noise", 0.0) for n in size}
    drawn = {n: Random(f"{n}_drawn", law="normal") for n in size}
    setting = {z.name: size[n] * drawn[n].sym / np.sqrt(every) for n, z in held_noise.items()}
    noise = System(
        "noise",
        z=list(held_noise.values()),
        randoms=list(drawn.values()),
        samples=[Sample("draw", every=every, set=setting)],
    )
    noisy = strut.join(
        "noisy",
        held.system,
        noise,
        connect={f"{n}_error": held_noise[n].sym for n in NOISE},
        couplings={n: held_noise[n].sym for n in DISTURBANCE},
    )
    run = strut.simulate(noisy, t=60, x0=dict(held.gait.x0), z0=dict(held.gait.z0), seed=1)
    moments = run.at(np.linspace(5, 60, 20000))
    for name, expected in held.estimate.deviations.items():
        error = moments[name] - moments[f"{name}_estimate"]
        # 80 steps of some ten independent errors each: one over the root of 2 x 800, four times
        assert np.sqrt(np.mean(error**2)) == pytest.approx(expected, rel=0.1)


def test_a_sensor_that_gives_no_number_is_left_out(held):
    """The logarithm of a negative number after half a second: the estimate follows the model, and walks."""
    broken = strut.join("broken", held.system, connect={"swing_error": 1e-6 * ca.log(0.5 - strut.time)})
    run = strut.simulate(broken, t=4, x0=dict(held.gait.x0), z0=dict(held.gait.z0))
    assert run.ok
    assert run.t1 == 4
    assert np.isfinite(run["swing_estimate"]).all()
    assert sum(e.name == "heel_strike" for e in run.events) >= 5


def test_what_no_sensor_sees_is_named(steep):
    """A clockwork beside the compass, which nothing reads: its angle and rate are in no reading."""
    angle, rate = State("wheel", 1.0, "rad"), State("wheel_rate", 0.5, "rad/s")
    wheel = System("wheel", x=[angle, rate], flow={angle: rate.sym, rate: -angle.sym})
    walker = strut.join("compass", steep.system, wheel)
    motion = gait.find(walker, {**steep.x0, "wheel": 0.0, "wheel_rate": 0.0}, starts=0)
    with pytest.raises(
        ModelError, match=r"'compass' is not observable from stance: .* wheel.*Another sensor"
    ):
        control.track(motion, 1.0, index="time", observer=control.Kalman({"stance": 1e-3}, DISTURBANCE))


def test_sensors_and_noise_are_checked(steep):
    with pytest.raises(UnknownNameError, match="'stanse' is no sensor of 'compass'.*stance"):
        control.lqr(steep, observer=control.Kalman({"stanse": 1e-3}, DISTURBANCE))
    with pytest.raises(UnknownNameError, match="a disturbance of 'hip' is given, which is no state or input"):
        control.lqr(steep, observer=control.Kalman(NOISE, {"hip": 1.0}))
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ValueRangeError, match="noise of 'stance' is .*: a positive number is needed"):
            control.Kalman({"stance": wrong}, DISTURBANCE)
    with pytest.raises(ModelError, match="the disturbance of a Kalman filter names nothing"):
        control.Kalman(NOISE, {})


def test_a_component_of_a_vector_sensor_is_that_number(steep):
    """As an IMU gives it: the second number of an output is the rate itself."""
    machine = steep.system
    rates = ca.vertcat(machine["stance_rate"], machine["swing_rate"])
    both = machine.replace(outputs={**machine.outputs, "gyro": rates})
    again = gait.find(both, steep.x0, starts=0)
    table = motion_table(reference_motion(again), None)
    estimates = []
    for name in ("gyro[1]", "swing_rate"):
        observer, quality = kalman_observer(table, control.Kalman({"stance": 1e-3, name: 1e-3}, DISTURBANCE))
        estimates.append(quality)
        assert [q.name for q in observer.errors][1] == {"gyro[1]": "gyro_1_error"}.get(name, f"{name}_error")
    assert np.array_equal(estimates[0].multipliers, estimates[1].multipliers)
    assert estimates[0].sensors == ("stance", "gyro[1]")
    with pytest.raises(UnknownNameError, match=r"'gyro\[2\]' is no sensor"):
        kalman_observer(table, control.Kalman({"gyro[2]": 1e-3}, DISTURBANCE))


def test_it_does_not_know_what_is_wrong(held):
    """Parameters of the machine are not those that the estimate believes."""
    hip_mass = next(float(q.value.item()) for q in held.system.p if q.name == "hip_mass")
    wrong = held.system.using(hip_mass=1.05 * hip_mass)
    assert "hip_mass_believed" in wrong.labels("p")
    run = strut.simulate(wrong, t=2, x0=dict(held.gait.x0), z0=dict(held.gait.z0))
    assert np.abs(run["swing"] - run["swing_estimate"]).max() > 1e-6


@pytest.mark.parametrize(
    "by", [pytest.param("hip_torque", marks=pytest.mark.slow(reason="compiles two loops")), "hip_spring"]
)
def test_a_gait_is_held_from_step_to_step_by_an_estimate(steep, by):
    """An input, and a parameter: what changes is known to the estimate, so that both are apart (separation)."""
    machine = steep.system if by == "hip_torque" else steep.system.using(hip_spring=2.0)
    found = steep if by == "hip_torque" else gait.find(machine, dict(steep.x0), starts=0)
    plain = control.step_lqr(found, by=[by])
    held = control.step_lqr(found, by=[by], observer=control.Kalman(NOISE, DISTURBANCE))
    assert held.stable
    assert held.method == "LQG from step to step"
    assert held.settings["noise of swing"] == 1e-5
    together = sizes(plain.gait.multipliers, held.estimate.multipliers)[:4]
    assert sizes(held.gait.multipliers)[:4] == pytest.approx(together, abs=1e-4)
    assert abs(found.multipliers[0]) > abs(held.gait.multipliers[0])
    # an estimate that is wrong when a run begins becomes right
    begin = {**held.gait.x0, "swing_rate_estimate": held.gait.x0["swing_rate_estimate"] + 0.02}
    run = strut.simulate(held.system, t=12 * held.gait.period, x0=begin, z0=dict(held.gait.z0))
    assert run.ok
    assert abs(run["swing_rate_estimate"][-1] - run["swing_rate"][-1]) < 1e-4


def test_what_changes_from_step_to_step_needs_sensors_that_see(steep):
    with pytest.raises(UnknownNameError, match="'hip' is no sensor of"):
        control.step_lqr(steep, by=["hip_torque"], observer=control.Kalman({"hip": 1e-3}, DISTURBANCE))
