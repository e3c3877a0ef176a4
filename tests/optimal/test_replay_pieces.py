"""Plans that magnify errors, verified interval by interval; and landings that do not graze."""

from dataclasses import replace

import numpy as np
import pytest

from strut import optimal, walkers
from strut.optimal.walk.replay import MAX_IMBALANCE
from strut.optimal.walk.require import LANDING


@pytest.fixture(scope="module")
def fast():
    """On level ground at 0.8 m/s one hip motor has to do everything: the cheapest way is to set down the foot
    as softly as is allowed, and a soft landing magnifies errors."""
    return optimal.design(walkers.compass(), cost="squared-torque", slope=0.0, speed=0.8)


def test_a_soft_landing_is_found_by_the_simulator(fast):
    assert fast.ok, fast.wrong
    assert fast.gait is not None
    assert fast.replay.balance.relative < MAX_IMBALANCE
    assert LANDING in [r.name for r in fast.result.problem.requirements]


def test_the_foot_comes_down_at_a_hundredth_of_the_walking_speed(fast):
    last = fast.replay.machine.walk.feet[-1]
    hit = next(e for e in fast.replay.run.events if e.name == "heel_strike")
    t = hit.t - np.array([3e-5, 2e-5, 1e-5])
    falls = -np.diff(fast.replay.run.at(t)[last.gap]) / 1e-5
    assert 2.5 * falls[1] - 1.5 * falls[0] == pytest.approx(0.008, rel=0.02)


def test_intervals_join_where_the_whole_drifts(fast):
    """The energies of a run in one go do not balance, those interval by interval do."""
    replayed = fast.replay
    assert replayed.pieces.agrees(replayed.planned_events)
    assert replayed.pieces.gap < 1e-5
    assert len(replayed.runs) == sum(len(m.t) - 1 for m in fast.result.phases)
    assert replayed._balance_of((replayed.run,)).relative > 5 * replayed.balance.relative


def test_a_plan_that_was_changed_does_not_join(fast):
    first, *others = fast.result.phases
    w = first.w.copy()
    w[len(w) // 2] += 5.0
    wrong = optimal.replay(replace(fast.result, phases=(replace(first, w=w), *others)))
    assert not wrong.pieces.agrees(wrong.planned_events)
    assert not wrong.ok
    assert wrong.agreement_text.startswith("differs: ")


def test_what_drifts_says_so(fast):
    drifted = replace(fast.replay, late=5e-3)
    assert drifted.ok
    assert not drifted.stays
    assert drifted.agreement_text.startswith(
        "agrees interval by interval; in one go it drifts away: heel_strike"
    )


@pytest.mark.parametrize("cost", ["energy", "positive-work", "squared-torque-per-metre", "none"])
def test_the_compass_walks_fast_on_level_ground_for_every_kind_of_cost(cost):
    found = optimal.design(walkers.compass(), cost=cost, slope=0.0, speed=0.8)
    assert found.ok, found.wrong
    assert found.speed == pytest.approx(0.8, rel=1e-6)
