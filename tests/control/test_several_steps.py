"""Gaits and designs that repeat after several steps, held from moment to moment."""

import math

import numpy as np
import pytest

from strut import control, gait, optimal, walkers
from strut.errors import ModelError

SPEED = 0.8
TABLE_ACCURACY = 1e-6
"""Of states: the motion that is followed is a table of polynomials of degree five."""


@pytest.fixture(scope="module")
def limp():
    """Two steps of a compass on level ground, the first 8 cm shorter than usual."""
    walker = walkers.compass()
    one = optimal.design(walker, slope=0.0, speed=SPEED)
    shorter = optimal.StepRequirement(
        "short first step", walker["foothold_x"], -1.0, one.step_length - 0.08, "end"
    )
    return optimal.design(
        walker, slope=0.0, speed=SPEED, steps=2, phases=["heel_strike"], guess=one, require=[shorter]
    )


@pytest.fixture(scope="module")
def doubled():
    """A gait of two steps of the passive compass, down a slope on which that of one step is unstable."""
    walker = walkers.compass(slope=math.radians(4.6))
    branch = gait.follow(walkers.compass(), "slope", to=math.radians(4.7))
    return branch.bifurcations[0].doubled(to=math.radians(4.7), points=20).gait(math.radians(4.6)), walker


def central_differences(held):
    """The derivative of the return map, by differences of steps in the simulator."""
    step, y, h = held.gait.map(), held.gait.y0, 1e-6
    return np.column_stack([(step(y + h * e).y - step(y - h * e).y) / (2 * h) for e in np.eye(len(y))])


def test_a_limp_is_held(limp):
    assert limp.ok, limp.wrong
    assert limp.gait.steps == 2
    assert abs(limp.gait.multipliers[0]) > 10  # in open loop
    held = control.lqr(limp, index="time")
    assert held.gait.steps == 2
    assert held.stable
    assert abs(held.gait.multipliers[0]) < 0.95
    for name in ("stance", "swing", "stance_rate", "swing_rate"):
        assert held.gait.x0[name] == pytest.approx(limp.gait.x0[name], abs=TABLE_ACCURACY)
    modulus = np.sort(abs(np.linalg.eigvals(central_differences(held))))[::-1]
    assert modulus[:2] == pytest.approx(abs(held.gait.multipliers[:2]), abs=1e-4)


def test_one_step_held_twice_has_the_squares_of_its_multipliers():
    """The same step, once as a gait of one step and once as one of two."""
    one = optimal.design(walkers.compass(), slope=0.0, speed=SPEED)
    two = optimal.design(walkers.compass(), slope=0.0, speed=SPEED, steps=2)
    once, twice = (np.abs(control.lqr(each).gait.multipliers[:2]) for each in (one, two))
    assert twice == pytest.approx(once**2, rel=3e-3, abs=1e-6)  # the designs agree to 1e-4


def test_the_doubled_gait_of_a_compass_is_held(doubled):
    passive, _ = doubled
    assert passive.steps == 2
    held = control.lqr(passive, index="time")
    assert abs(held.gait.multipliers[0]) < abs(passive.multipliers[0])
    assert held.stable
    assert held.gait.period == pytest.approx(passive.period, abs=1e-9)
    tracked = control.track(passive, stiffness=0.0, damping=0.0)  # nothing is added: the gait as it is
    assert abs(tracked.gait.multipliers[0]) == pytest.approx(abs(passive.multipliers[0]), rel=1e-6)


def test_what_holds_one_step_only_says_so(doubled):
    passive, _ = doubled
    with pytest.raises(
        ModelError, match="repeats after 2 steps: from step to step, what is held repeats after one"
    ):
        control.step_lqr(passive, by=["hip_torque"])
