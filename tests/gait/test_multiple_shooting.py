"""The gait next to a motion, found piece by piece: the same as in one go, and one that no run in one go finds."""

import math

import numpy as np
import pytest

from strut import gait, walkers
from strut.gait.multiple_shooting import Shot, gait_through
from strut.gait.return_map import ReturnMap
from strut.system import Event, State, System, Walk


def moments_of(run, system, times):
    there = run.at(times)
    x, z = (np.array([there[n] for n in system.labels(g)]).reshape(-1, len(times)).T for g in "xz")
    return [Shot(t, *each) for t, *each in zip(times, x, z, strict=True)]


def test_the_gait_of_a_compass_is_the_same_as_in_one_go():
    walker = walkers.compass()
    known = gait.find(walker)
    step = ReturnMap(walker, known.section, x0=known.vector, z0=np.array(list(known.z0.values())))
    begin = Shot(0.0, step.start.x, step.start.z)
    later = moments_of(known.trajectory, walker, np.array([0.2, 0.4, 0.6]))
    random = np.random.default_rng(1)
    shaken = [begin, *[Shot(m.t, m.x + 1e-4 * random.standard_normal(4), m.z) for m in later]]
    found, why = gait_through(step, shaken, known.period)
    assert not why
    assert found.vector == pytest.approx(known.vector, abs=1e-9)
    assert found.period == pytest.approx(known.period, abs=1e-9)
    assert found.step_length == pytest.approx(known.step_length, abs=1e-9)
    assert np.abs(found.multipliers) == pytest.approx(np.abs(known.multipliers), abs=1e-6)


def explosive(rate):
    """x' = rate (x - wave), 1 s long: x grows by exp(rate) from everywhere but one place, from which it comes
    back. Its multiplier is exp(rate)."""
    x, clock = State("x", 0.3), State("clock", 0.0, "s")
    wave = 1 + 0.5 * (1 - (2 * clock.sym - 1) ** 2)
    return System(
        "explosive",
        x=(x, clock),
        flow={x: rate * (x.sym - wave), clock: 1.0},
        events=(Event("again", guard=clock.sym - 1, reset={"clock": 0.0}),),
        walk=Walk(section="again"),
    )


def test_a_gait_that_magnifies_by_1e13():
    """The closed form: x = wave + a + b s, with s = 2 clock - 1, solves x' = rate (x - wave) up to what
    repeats; a run in one go of the best number loses every digit."""
    rate = 30.0
    system = explosive(rate)
    # wave = 1.5 - s^2 / 2, s' = 2: a particular solution is 1.5 - s^2/2 + c1 s + c0.
    c1 = -2 / rate
    c0 = 2 * c1 / rate
    exact = 1.5 - 0.5 - c1 + c0  # where s = -1; at s = 1 it is 1 + c1 + c0, so an exponential part adds
    growth = math.exp(rate)
    begin = exact + (2 * c1) / (1 - growth)
    step = ReturnMap(system, "again")
    times = np.linspace(0, 1, 13)[:-1]
    s = 2 * times - 1
    guess = 1.5 - s**2 / 2
    moments = [Shot(t, np.array([x, t]), np.empty(0)) for t, x in zip(times, guess, strict=True)]
    found, why = gait_through(step, moments, 1.0)
    assert not why
    assert found.x0["x"] == pytest.approx(begin, rel=1e-9)
    assert found.period == pytest.approx(1.0, rel=1e-12)
    assert abs(found.multipliers[0]) == pytest.approx(growth, rel=1e-6)


def test_a_motion_that_does_not_end_says_which_piece():
    step = ReturnMap(explosive(1.0), "again")
    begin = Shot(0.0, np.array([1.0, 0.0]), np.empty(0))
    beyond = Shot(1.5, np.array([1.0, 0.5]), np.empty(0))
    assert gait_through(step, [begin, beyond], 2.0) == (None, "piece 1 of 2 does not end as planned")
