"""A plan of inputs goes on with the events that end its phases, not by time alone."""

import numpy as np
import pytest

from strut import optimal, simulate, walkers
from strut.gait.exchange import opposite_events
from strut.gait.return_map import ReturnMap
from strut.optimal.walk.with_plan import held_pieces
from tests.optimal.floating import on_rigid_ground, telescopic


@pytest.fixture(scope="module")
def kneed():
    """Three phases: the foot passes, which changes no motion, the knee strikes, the heel strikes."""
    return optimal.design(walkers.kneed(), speed=0.8)


def test_a_plan_waits_for_events_that_change_the_motion(kneed):
    holds = held_pieces(kneed.result)
    assert list(holds) == ["knee_strike"]
    pieces = [len(m.w) for m in kneed.result.phases]
    assert holds["knee_strike"] == [pieces[0] + pieces[1] - 1]


@pytest.mark.parametrize("push", [-0.02, 0.02])
def test_inputs_jump_with_the_event_however_early_or_late_it_comes(kneed, push):
    """The knee of a disturbed walker strikes at another time than planned: the plan goes on from there as it
    would have at its own time."""
    begin = dict(kneed.gait.x0)
    rate = next(name for name in begin if name.endswith("shank_rate"))
    run = simulate(kneed.machine, t=1.5 * kneed.step_time, x0={**begin, rate: begin[rate] + push})
    strike = next(event for event in run.events if event.name == "knee_strike")
    planned = float(kneed.result.phases[1].t[-1])
    assert abs(strike.t - planned) > 1e-5
    assert strike.before["plan_clock"] == pytest.approx(strike.t, abs=1e-9)
    assert strike.after["plan_clock"] == pytest.approx(planned, abs=1e-12)
    assert strike.after["piece_begin"] == pytest.approx(planned, abs=1e-12)
    first = kneed.result.phases[2].w[0]
    names = [name for name in strike.after if name.startswith("plan_now")]
    assert np.array([strike.after[name] for name in names]) == pytest.approx(first.reshape(-1))


def test_multipliers_are_derivatives_of_the_map_with_a_plan_that_waits(kneed):
    """By central differences of the return map, in every direction."""
    step = ReturnMap(kneed.machine, kneed.section)
    y = step.free(np.array([kneed.gait.x0[name] for name in kneed.machine.labels("x")]))
    whole, size = step(y), 1e-6
    for k, direction in enumerate(np.eye(len(y))):
        slope = (step(y + size * direction).y - step(y - size * direction).y) / (2 * size)
        assert slope == pytest.approx(whole.by_y[:, k], abs=1e-4)


def test_events_of_the_other_side_are_known_by_feet_or_by_name():
    walker = on_rigid_ground(telescopic(), ("foot_l", "foot_r"))
    assert opposite_events(walker, "foot_l_release") == ("foot_r_release",)
    assert opposite_events(walkers.dribbel(), "knee_l_lock") == ("knee_r_lock",)
    assert opposite_events(walkers.compass(), "heel_strike") == ()
