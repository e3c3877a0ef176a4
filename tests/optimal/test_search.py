"""Gait search among polynomials, after Duindam."""

import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.errors import ModelError
from strut.studies.duindam_gait_search import FIRST_GUESS
from strut.studies.duindam_springs import SpringWalk


@pytest.fixture(scope="module")
def walk():
    return SpringWalk()


def test_finds_the_passive_gait(walk):
    passive = gait.find(walk.walker)
    found = optimal.gait_search(walk.problem(None), FIRST_GUESS, degree=12, nodes=24, rule="gauss")
    assert found.success
    assert found.cost < 1e-5
    assert found.duration == pytest.approx(passive.period, abs=1e-4)
    assert np.abs(found.motion(0, np.zeros(1))[0][0] - passive.vector).max() < 1e-3


def test_sums_over_few_points_hide_torque_and_gauss_does_not(walk):
    problem = walk.problem(1.0)
    few = optimal.gait_search(problem, FIRST_GUESS, degree=10, nodes=20)
    sound = optimal.gait_search(problem, FIRST_GUESS, degree=(6, 10), nodes=20, rule="gauss")
    exact = problem.solve(sound, accuracy=1e-7)
    assert exact.ok
    assert few.cost < 0.6 * exact.cost  # the sum
    assert few.accurate_totals["effort"] > 2 * exact.cost  # the truth
    assert sound.accurate_totals["effort"] == pytest.approx(sound.cost, rel=1e-3)
    assert exact.cost <= sound.cost < 1.01 * exact.cost  # polynomials are motions among others
    assert exact.cost == pytest.approx(0.268, abs=1e-3)


def test_says_what_it_cannot_do(walk):
    with pytest.raises(ModelError, match="has 1 inputs for 2 positions"):
        optimal.gait_search(optimal.step_problem(walkers.compass(), ["heel_strike"]))
    power = optimal.Integral("power", walk.walker["hip_torque"], split="absolute")
    with pytest.raises(ModelError, match="'power' is split by sign"):
        optimal.gait_search(optimal.step_problem(walk.walker, ["heel_strike"]).minimise(power))
    with pytest.raises(ModelError, match="rule 'simpson' is unknown"):
        optimal.gait_search(walk.problem(None), rule="simpson")
