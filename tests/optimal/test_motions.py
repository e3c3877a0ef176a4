"""Motions beyond one step: running, two steps that may differ, and stairs. Each is replayed in the simulator."""

import numpy as np
import pytest

from strut import mechanism, optimal, simulate, walkers
from strut.errors import ModelError, ValueRangeError
from strut.optimal.walk.stairs import climbing_doubt, on_stairs
from tests.optimal.floating import on_rigid_ground, telescopic

SPEED = 0.5  # m/s
RISE = 0.05  # m
CLOSED = 1e-6  # relative: energies of a replayed step


# ---- running: the spring-loaded inverted pendulum ----


@pytest.fixture(scope="module")
def runner():
    return optimal.design(walkers.slip(), free={"attack": (0.9, 1.5)}, speed=5.5, duration=0.3)


def test_a_spring_mass_runner_runs_as_fast_as_asked(runner):
    assert runner.ok, runner.wrong
    assert runner.speed == pytest.approx(5.5, abs=1e-6)
    assert [m.until for m in runner.result.phases] == ["touchdown", "takeoff"]
    assert runner.replay.repeats
    # Nothing drives it and nothing is lost: measured by the kinetic energy that the spring takes and gives.
    assert runner.replay.balance.relative < CLOSED
    assert runner.replay.balance.largest_energy == runner.replay.balance.exchanged > 1.0


def test_its_flight_is_ballistic_and_ends_where_the_leg_touches(runner):
    flight = runner.result.phases[0]
    drop = flight.x[-1] - flight.x[0]
    names, T = runner.system.labels("x"), flight.duration
    at = {name: k for k, name in enumerate(names)}
    assert drop[at["vy"]] == pytest.approx(-9.81 * T, abs=1e-8)
    assert drop[at["vx"]] == pytest.approx(0.0, abs=1e-9)
    assert drop[at["y"]] == pytest.approx(flight.x[0, at["vy"]] * T - 9.81 * T**2 / 2, abs=1e-8)
    assert flight.x[-1, at["y"]] == pytest.approx(np.sin(runner.parameters["attack"]), abs=1e-8)


def test_it_takes_off_where_the_force_of_the_leg_vanishes(runner):
    run = runner.replay.run
    takeoff = next(e for e in run.events if e.name == "takeoff")
    p = dict(zip(run.names.p, run.p, strict=True))
    leg = np.hypot(takeoff.before["x"] - takeoff.before["foot"], takeoff.before["y"])
    assert p["stiffness"] * (p["length"] - leg) == pytest.approx(0.0, abs=1e-5)  # N, of 20 kN/m
    middle = run.events.times("touchdown")[0] + 0.5 * runner.result.phases[1].duration
    assert run.at(middle)["force"] > p["mass"] * 9.81


# ---- two steps that may differ ----


@pytest.fixture(scope="module")
def one_step():
    return optimal.design(walkers.compass(), slope=0.0, speed=SPEED)


def test_two_steps_of_a_symmetric_optimum_are_that_step_twice(one_step):
    two = optimal.design(walkers.compass(), slope=0.0, speed=SPEED, steps=2)
    assert two.ok, two.wrong
    assert two.steps == 2
    assert two.result.cost == pytest.approx(one_step.result.cost, rel=1e-6)
    assert two.step_length == pytest.approx(one_step.step_length, rel=1e-5)
    assert two.step_time == pytest.approx(one_step.step_time, rel=1e-5)
    assert two.result.duration == pytest.approx(2 * one_step.result.duration, rel=1e-5)
    assert two.replay.repeats
    assert {name: value for name, value, _ in two.rows()}["steps"] == 2
    assert two.data()["steps"] == 2
    assert two.gait.steps == 2  # with multipliers, of a plan whose clock runs through both steps
    assert two.gait.period == pytest.approx(2 * one_step.gait.period, rel=1e-5)
    assert abs(two.gait.multipliers[0]) > 1


def test_a_requirement_on_one_of_them_makes_them_differ(one_step):
    """The first landing is 8 cm short of the usual: the second step makes up for it, and both cost more."""
    walker = walkers.compass()
    short = one_step.step_length - 0.08
    limp = optimal.design(
        walker,
        slope=0.0,
        speed=SPEED,
        steps=2,
        phases=["heel_strike"],
        cost="squared-torque",
        guess=one_step,
        require=[optimal.StepRequirement("short first step", walker["foothold_x"], -1.0, short, "end")],
    )
    assert limp.ok, limp.wrong
    lengths = [e.after["step_length"] for e in limp.replay.run.events if e.name == "heel_strike"]
    assert lengths[0] == pytest.approx(short, abs=1e-5)
    assert lengths[1] > lengths[0] + 0.01
    assert limp.result.cost > one_step.result.cost * (1 + 1e-4)


def test_how_many_steps_is_a_whole_number():
    for wrong in (0, 1.5, -2):
        with pytest.raises(ValueRangeError, match=rf"steps is {wrong}: a whole number of steps is needed"):
            optimal.design(walkers.compass(), steps=wrong)


# ---- stairs ----


@pytest.fixture(scope="module")
def upstairs():
    return optimal.design(walkers.compass_driven(), slope=0.0, stair=RISE, speed=SPEED)


@pytest.mark.parametrize("rise", [RISE, -0.02])
def test_a_step_on_stairs_lifts_the_walker_by_a_tread(rise, upstairs):
    design = upstairs
    if rise < 0:
        design = optimal.design(walkers.compass_driven(), slope=0.0, stair=rise, speed=SPEED)
    assert design.ok, design.wrong
    strike = design.replay.run.events[-1]
    assert strike.name == "heel_strike"
    assert strike.after["foothold_z"] == pytest.approx(rise, abs=1e-7)
    assert strike.after["stair_level"] == pytest.approx(rise)
    weight = 7.0 * 9.8  # N
    assert design.replay.balance.fallen == pytest.approx(-weight * rise, abs=1e-5)
    assert design.replay.balance.relative < CLOSED
    run_length = strike.after["foothold_x"]
    assert design.step_length == pytest.approx(np.hypot(run_length, rise), abs=1e-6)


def test_the_machine_goes_on_climbing(upstairs):
    """A second step begins where the first one ended, a tread higher: the plan repeats there."""
    assert upstairs.replay.repeats or upstairs.gait is not None
    run = simulate(upstairs.machine, t=2.05 * upstairs.result.duration, rtol=1e-11, atol=1e-12)
    levels = [e.after["stair_level"] for e in run.events if e.name == "heel_strike"]
    assert levels == pytest.approx([RISE, 2 * RISE])


def test_stairs_of_no_height_are_level_ground(one_step):
    level = on_stairs(walkers.compass(), 0.0)
    again = optimal.design(level, slope=0.0, speed=SPEED, guess=one_step)
    assert again.result.cost == pytest.approx(one_step.result.cost, rel=1e-6)


def test_a_kneed_robot_climbs_stairs():
    design = optimal.design(walkers.rabbit(), stair=RISE, speed=SPEED)
    assert design.ok, design.wrong
    assert design.replay.balance.fallen == pytest.approx(-32 * 9.81 * RISE, rel=1e-6)
    # In front of the other foot it is above the tread that it steps on.
    motion = design.result.phases[-1]
    gap = design.system.function("gap", [design.system["clearance"]], clock=False)
    heights = [float(gap(x, motion.z, np.zeros(4), design.result.p)) for x in motion.x]
    assert min(heights) > -1e-6
    for knee in ("stance_knee", "swing_knee"):
        assert design.replay.run[knee].min() > 0.02 - 1e-3


@pytest.mark.parametrize("rise", [0.02, -0.02])
def test_a_walker_with_one_hip_motor_takes_stairs_on_its_slope(rise):
    """Knees that lock, and a motor in the hip alone: it goes down by 5 % of a step, and treads are up or down on that."""
    design = optimal.design(walkers.kneed(), stair=rise)
    assert design.ok, design.wrong
    assert [m.until for m in design.result.phases] == ["passes", "knee_strike", "heel_strike"]
    strike = design.replay.run.events[-1]
    assert strike.after["stair_level"] == pytest.approx(rise)
    # With the slope it has come down; over that the tread has lifted it.
    slope_falls = np.tan(0.0504) * strike.after["foothold_x"]
    assert strike.after["foothold_z"] + slope_falls == pytest.approx(rise, abs=1e-7)
    weight, repeats = 1.6 * 9.81, 1e-6  # N, and m to which an unstable step ends as high as it began
    fallen = design.replay.balance.fallen
    assert fallen == pytest.approx(-weight * strike.after["foothold_z"], abs=weight * repeats)


@pytest.mark.parametrize(
    ("walker", "rise", "doubted"),
    [
        (walkers.kneed, 0.05, True),
        (walkers.compass, 0.05, True),
        (walkers.kneed, -0.05, False),  # downstairs
        (walkers.compass_driven, 0.05, False),  # its ankle pushes off
        (walkers.rabbit, 0.05, False),  # and so do knees
    ],
)
def test_one_motor_between_the_legs_does_not_push_off(walker, rise, doubted):
    said = climbing_doubt(on_stairs(walker(), rise))
    assert bool(said) == doubted
    if doubted:
        assert "has one motor, between its legs, and cannot push off the ground" in said
        assert "as rabbit, or in its ankle, as compass-driven, climbs 0.05 m" in said


@pytest.mark.slow  # half a minute: one step, and then two
def test_two_steps_of_unequal_legs_differ():
    m = telescopic(masses=(2.0, 2.5))
    walker = on_rigid_ground(m, symmetry=mechanism.symmetry(m, inertias=False))
    design = optimal.design(walker, speed=SPEED, steps=2)
    assert design.ok, design.wrong
    assert [phase.until for phase in design.result.phases] == ["foot_l_touchdown", "foot_r_touchdown"]
    light, heavy = (phase.duration for phase in design.result.phases)
    assert abs(light - heavy) > 1e-3  # s: the legs swing for other times
    assert design.speed == pytest.approx(SPEED, abs=1e-6)
    assert design.replay.balance.relative < CLOSED


def test_what_is_refused_on_stairs():
    with pytest.raises(
        ModelError,
        match=r"the base of 'telescopic' floats, .*strut design rabbit --stair 0.1.*contact\.stepping",
    ):
        optimal.design(on_rigid_ground(telescopic()), speed=SPEED, stair=0.1)
    with pytest.raises(ModelError, match="a clearance of 0.01 m is asked on stairs"):
        optimal.design(walkers.compass_driven(), slope=0.0, stair=0.1, speed=SPEED, clearance=0.01)
