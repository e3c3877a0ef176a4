"""The phases of a step: events come at a rate, plans are cut where events come in them, and designs that begin
from designs keep what these began from."""

from dataclasses import replace

import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.optimal.walk import design_search
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.require_crossings import MIN_CROSSING_RATE, guard_rate, rate_in_gait
from strut.optimal.walk.split_step import split_step
from strut.optimal.walk.step_goal import StepGoal
from strut.optimal.walk.step_limits import StepLimits
from strut.optimal.walk.step_problem import StepPlan, problem_of

FOOT_MARGIN = 0.01


@pytest.fixture(scope="module")
def step():
    """A step of the compass on the flat, planned as one phase."""
    return optimal.design(walkers.compass(), speed=0.5, slope=0.0, backend="virtual")


def test_a_knee_locks_at_a_rate_and_is_not_only_touched():
    """Of a knee that comes to rest where it locks, the moment of the lock is no smooth function of anything: the
    design of dribbel at 0.8 m/s on the flat ended there. The knee closes as fast as the two links of the leg turn
    against each other."""
    kneed = walkers.kneed()
    passive = gait.find(kneed)
    rate = guard_rate(kneed, "knee_strike")
    hit = next(e for e in passive.trajectory.events if e.name == "knee_strike")
    closing = abs(hit.before["shank_rate"] - hit.before["swing_rate"])
    assert rate_in_gait(kneed, rate, "knee_strike", passive) == pytest.approx(closing)
    plan = StepPlan(events=("knee_strike", "heel_strike"), gait=passive, foot_margin=FOOT_MARGIN)
    named = {r.name: r for r in problem_of(kneed, plan, StepLimits(), []).requirements}
    less = kneed.function("less", [rate - named["knee_strike comes at a rate"].expression])
    anywhere = (
        0.0,
        np.ones(6),
        np.zeros(kneed.size("z")),
        np.zeros(kneed.size("u")),
        np.ones(kneed.size("p")),
    )
    assert float(less(*anywhere)) == pytest.approx(MIN_CROSSING_RATE * closing)
    bare = problem_of(kneed, replace(plan, foot_margin=0.0), StepLimits(), [])
    assert not [r.name for r in bare.requirements if "at a rate" in r.name]


def test_a_step_is_cut_where_an_event_comes_in_it(step):
    """The swing foot passes where both legs coincide; the two parts together are the step."""
    cut = split_step(step.result, ["passes", "heel_strike"])
    first, second = cut.phases
    assert first.duration + second.duration == pytest.approx(step.step_time)
    ends, begins = np.ones(1), np.zeros(1)
    assert np.allclose(first.x(ends), second.x(begins))
    assert np.allclose(first.x(begins)[0], step.result.phases[0].x[0])
    assert np.allclose(second.x(ends)[0], step.result.phases[0].x[-1])
    stance, swing = first.x(ends)[0][:2]
    assert 0 < swing - stance < 0.03  # by the margin with which it passes, and one moment
    assert split_step(step.result, ["passes"]) is None
    assert split_step(step.result, ["fall", "heel_strike"]) is None


def test_a_design_that_begins_from_a_design_knows_the_gait_of_that_one(step):
    """Else a third design had no gait to read phases from, and planned kneed walkers as one phase."""
    again = optimal.design(walkers.compass(), speed=0.5, slope=0.0, guess=step, backend="virtual")
    assert again.passive is step.passive
    assert again.passive is not None


def test_a_search_begins_within_the_guides_in_which_a_step_was_found(step, monkeypatch):
    """Where no step is found within a default torque it is sixteen times as large: with a price on torque the
    search began within the first one again, and found nothing."""
    seen = []
    monkeypatch.setattr(design_search, "search_phases", lambda task, limits: seen.append(limits) or step)
    torque = {"hip_torque": 1e4}
    task = DesignTask(
        walker=walkers.compass(),
        free=(),
        cost="positive-work",
        reference=design_search.find_reference(walkers.compass(), None, None, None, StepGoal()),
        settings={},
        watch=design_search.SearchWatch(),
        guides=step.limits.guides | {"torque": torque},
    )
    assert design_search.search(task, StepGoal(speed=0.5)) is step
    assert seen[0]["torque"] == torque
    assert set(step.limits.guides) == {"step_length", "duration", "torque"}


@pytest.mark.slow  # half a minute: two searches, and four prices on torque
def test_dribbel_walks_fast_on_the_flat_for_work():
    design = optimal.design(walkers.dribbel(), cost="positive-work", speed=0.8, slope=0.0)
    assert design.ok, design.wrong
