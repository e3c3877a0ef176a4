"""Measures of a walk against closed forms: speed, feet on the ground and off it, help, torque and powers."""

import casadi as ca
import numpy as np
import pytest

from strut import Input, Ledger, State, System, evolve, gait, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.system import Discrete, Foot, Param, Walk, time


def measure(measured, **options):
    """What 4 s of a machine measure, by name, in steps of 1 ms unless told otherwise."""
    options = options or {"method": "rk4", "step": 1e-3}
    evaluation = evolve.of_system(measured.system, 4.0, measured.expressions, **options)
    answer = evaluation.evaluate(("x",), np.zeros((1, 1)), np.zeros(1, dtype=np.uint64))
    assert answer.status == ("ok",)
    return dict(zip(evaluation.measures, answer.measures[0], strict=True))


def walking_point():
    """A point that goes 1 + 0.2 cos(2 pi t) fast on two feet that touch in turn, driven by a force."""
    x, force = State("x", 0.0, "m"), Input("force", 0.0, "N")
    speed = 1 + 0.2 * ca.cos(2 * np.pi * time)
    wave = ca.sin(2 * np.pi * time)
    push = 10 * ca.cos(2 * np.pi * time)
    return System(
        "point",
        x=(x,),
        u=(force,),
        flow={"x": speed},
        outputs={
            "speed": speed,
            "push": push,
            "a_gap": -wave - 0.5,
            "b_gap": wave - 0.5,
            "a_normal": ca.SX(1),
            "b_normal": ca.SX(1),
            "helped": time < 0.25,
        },
        ledger=Ledger(supplied={"push": push * speed}),
        walk=Walk(
            feet=(
                Foot(name="a", normal="a_normal", gap="a_gap"),
                Foot(name="b", normal="b_normal", gap="b_gap"),
            )
        ),
    )


def test_measures_of_a_walk_are_their_closed_forms():
    measured = evolve.walk_measures(
        walking_point(),
        4.0,
        feet={"left": ["a"], "right": ["b"]},
        torques=["push"],
        near_speed=1.1,
        assisting="helped",
    )
    values = measure(measured)
    assert values["time"] == 4.0
    # the step that ends where measuring begins counts for a sixth, the weight of its last stage
    assert values["speed"] == pytest.approx(1.0, abs=2e-5)
    assert values["speed_spread"] == pytest.approx(0.2 / np.sqrt(2), rel=1e-3)
    assert values["torque"] == pytest.approx(20 / np.pi, rel=1e-3)
    assert values["power_net"] == pytest.approx(1.0, abs=2e-3)  # mean of 10 cos (1 + 0.2 cos)
    assert values["power_absolute"] == pytest.approx(
        2 * values["power_positive"] - values["power_net"], rel=1e-9
    )
    # each foot is down where its sine is above -1/2: two thirds of the time; both are for a third
    assert values["stance"] == pytest.approx(2 / 3, abs=2e-3)
    assert values["double_support"] == pytest.approx(1 / 3, abs=2e-3)
    assert values["airborne_time"] == 0
    assert values["assist_time"] == 0  # it ends before the second half


@pytest.mark.parametrize("frequency", [0.5, "cadence"])
def test_the_length_of_a_step_is_the_advance_of_a_stride_over_its_feet(frequency):
    """Two feet, a stride of 2 s at 1 m/s in the mean: steps of 1 m."""
    walker = walking_point().replace(p=(*walking_point().p, Param("cadence", 0.5)))
    feet = {"left": ["a"], "right": ["b"]}
    measured = evolve.walk_measures(walker, 4.0, feet=feet, torques=["push"], stride_frequency=frequency)
    values = measure(measured)
    # the step that ends where measuring begins, at 1.2 m/s, counts for a sixth, the weight of its last stage
    assert values["step_length"] == pytest.approx(1.0 + 1.2 * 1e-3 / 6 / 2.0, rel=1e-9)


def test_hops_and_help_are_counted_from_the_second_half_on():
    """Feet that touch where |sin| of their wave is above 1/2: a third of every period both are up. Help in its
    last 0.3 s, and in the first half, which does not count."""
    point = walking_point()
    wave = ca.sin(2 * np.pi * time)
    helped = ca.fmax(time < 0.25, time > 3.7)
    outputs = {**point.outputs, "a_gap": 0.5 - wave, "b_gap": wave + 0.5, "helped": helped}
    measured = evolve.walk_measures(
        point.replace(outputs=outputs),
        4.0,
        feet={"left": ["a"], "right": ["b"]},
        torques=["push"],
        assisting="helped",
    )
    values = measure(measured)
    # every edge is known to a step of 1 ms: of times in the air there are eight in the seconds that count
    assert values["airborne_time"] == pytest.approx(2 / 3, abs=8e-3)
    assert values["double_support"] == 0
    assert values["stance"] == pytest.approx(1 / 3, abs=2e-3)
    assert values["assist_time"] == pytest.approx(0.3, abs=1e-3)


def test_the_length_of_a_step_is_told_by_the_clock():
    """A foot that never lands, and one that lands late, as of a limp, change nothing: the advance is the same."""
    point, lengths = walking_point(), []
    late = ca.sin(2 * np.pi * (time - 0.2)) - 0.5
    for gap in (point.outputs["b_gap"], late, ca.SX(1)):
        limping = point.replace(outputs={**point.outputs, "b_gap": gap})
        feet = {"left": ["a"], "right": ["b"]}
        measured = evolve.walk_measures(limping, 4.0, feet=feet, torques=["push"], stride_frequency=0.5)
        lengths.append(measure(measured)["step_length"])
    assert lengths[0] == lengths[1] == lengths[2]


def test_a_foot_on_rigid_ground_stands_by_its_flag():
    """Its gap is rounding of either sign while it stands; what counts is that it stands."""
    point = walking_point()
    flag = Discrete("a_on", 1.0)
    outputs = {**point.outputs, "a_gap": 1e-16 * ca.sin(40 * np.pi * time), "b_gap": ca.SX(1)}
    feet = (Foot(name="a", stands="a_on", gap="a_gap"), Foot(name="b", gap="b_gap"))
    standing = point.replace(z=(flag,), outputs=outputs, walk=Walk(feet=feet))
    measured = evolve.walk_measures(standing, 4.0, feet={"left": ["a"]}, torques=["push"])
    values = measure(measured)
    assert values["airborne_time"] == 0
    assert values["stance"] == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "step": 1e-3}])
def test_measures_of_a_walk_on_rigid_ground_are_those_of_its_contacts(options):
    """A compass on feet that are free: one of them stands at any time, as the events say."""
    cycle = gait.find(walkers.compass_duindam())
    walker = cycle.system.using(dict(cycle.x0))
    measured = evolve.walk_measures(
        walker, 4.0, feet={"l": ["foot_l"], "r": ["foot_r"]}, torques=["hip_torque"], speed="foot_x_rate"
    )
    evaluation = evolve.of_system(measured.system, 4.0, measured.expressions, **options)
    answer = evaluation.evaluate(("hip",), np.array([[cycle.x0["hip"]]]), np.zeros(1, dtype=np.uint64))
    values = dict(zip(evaluation.measures, answer.measures[0], strict=True))
    assert values["time"] == 4.0
    assert values["airborne_time"] == values["double_support"] == 0
    assert values["stance"] == pytest.approx(0.5, abs=1e-9 if not options else 1e-4)


def test_legs_that_change_places_stand_by_their_part():
    """The leg called stance always stands; the other scuffs in its swing, and does not stand there."""
    cycle = gait.find(walkers.compass(slope=np.radians(3)))
    walker = cycle.system.using(dict(cycle.x0))
    measured = evolve.walk_measures(
        walker, 4.0, feet={"a": ["stance"], "b": ["swing"]}, torques=["hip_torque"], speed="stance_rate"
    )
    evaluation = evolve.of_system(measured.system, 4.0, measured.expressions)
    answer = evaluation.evaluate(("swing",), np.array([[cycle.x0["swing"]]]), np.zeros(1, dtype=np.uint64))
    values = dict(zip(evaluation.measures, answer.measures[0], strict=True))
    assert values["airborne_time"] == values["double_support"] == 0
    assert values["stance"] == pytest.approx(0.5, abs=1e-9)


def test_wrong_names_of_a_walk_are_told():
    feet, torques = {"left": ["a"]}, ["push"]
    with pytest.raises(UnknownNameError, match="stride_frequency is 'cadence', which is no parameter"):
        evolve.walk_measures(walking_point(), 4.0, feet=feet, torques=torques, stride_frequency="cadence")
    with pytest.raises(ValueRangeError, match="stride_frequency"):
        evolve.walk_measures(walking_point(), 4.0, feet=feet, torques=torques, stride_frequency=0.0)
    with pytest.raises(UnknownNameError, match="foot 'left' has the contact 'heel'"):
        evolve.walk_measures(walking_point(), 4.0, feet={"left": ["heel"]}, torques=torques)
    with pytest.raises(UnknownNameError, match="speed is 'base.vx', and 'point' has no 'base.vx'"):
        evolve.walk_measures(walking_point(), 4.0, feet=feet, torques=torques, speed="base.vx")
    with pytest.raises(UnknownNameError, match="assisting is 'assisting', and 'point' has no 'assisting'"):
        evolve.walk_measures(walking_point(), 4.0, feet=feet, torques=torques, assisting="assisting")
    with pytest.raises(UnknownNameError, match="no power of 'pull'"):
        evolve.walk_measures(walking_point(), 4.0, feet=feet, torques=["pull"])
    with pytest.raises(ValueRangeError, match="begin is 5 s"):
        evolve.walk_measures(walking_point(), 4.0, feet=feet, torques=torques, begin=5.0)
    with pytest.raises(ModelError, match="no foot is measured"):
        evolve.walk_measures(walking_point(), 4.0, feet={}, torques=torques)
