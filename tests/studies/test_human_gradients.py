"""Human gaits improved by gradients: derivatives against differences of other gaits, and what counts without one."""

import numpy as np
import pytest

from strut.errors import ModelError, UnknownNameError
from strut.studies.gait_verification import Verified
from strut.studies.human_gradients import (
    FAILED_TORQUE,
    GOAL_MARGINS,
    KEPT_MARGIN,
    MAX_MULTIPLIER,
    MAX_RETURN_ERROR,
    GaitImprovement,
    GaitPoint,
    ImprovedGait,
    _without_gait,
    corrected_values,
    improve_gait,
)
from strut.studies.kieboom_gaits import as_individual
from strut.studies.kieboom_gradients import as_known, improvement_rows
from strut.studies.known_gaits import known_gait

DIFFERENCE = 1e-5  # of parameters as parts of their ranges, on both sides
AGREEMENT = 2e-3  # relative: gaits return to 1e-7, which differences divide by 2e-5


def test_without_a_gait_much_torque_counts_and_goals_are_missed():
    one = np.ones(2)
    point = GaitPoint(one, one, one, np.eye(2), np.eye(2), 0.8, 150.0, one, np.array([0.2, 0.1]), np.eye(2))
    bad = _without_gait(point)
    assert bad.torque == FAILED_TORQUE
    assert not bad.torque_by.any()
    assert (bad.margins < 0).all()
    assert point.torque == 150.0


def test_missed_goals_are_corrected_the_shortest_way():
    """Of two goals the first is missed by 0.01; it grows with (3, 4) per range, so that parts of ranges change along
    (0.6, 0.8)."""
    low, high = np.array([0.0, 0.0]), np.array([1.0, 10.0])
    values, margins = np.array([0.5, 5.0]), np.array([-0.01, 0.2])
    slopes = np.array([[3.0, 0.4], [1.0, 1.0]])
    point = GaitPoint(values, values, values, np.eye(2), np.eye(2), 0.8, 1.0, values, margins, slopes)
    parts = (corrected_values(point, low, high) - values) / (high - low)
    aim = 0.01 + KEPT_MARGIN / 5
    np.testing.assert_allclose(parts, aim / 5 * np.array([0.6, 0.8]), rtol=1e-12)


def test_what_is_no_gait_of_the_study_is_refused():
    """Before anything is walked: stiffness in steps, a body of one's own, and half a controller."""
    known = known_gait("human-const").parameters
    with pytest.raises(ModelError, match="mode of a gait to improve is 'step'"):
        improve_gait("step", known_gait("human-step").parameters)
    with pytest.raises(UnknownNameError, match="the gait to begin with has 'load', which is no parameter"):
        improve_gait("const", {**known, "load": 20.0})
    with pytest.raises(ModelError, match="has no 'hip_stiffness': give all 33 parameters"):
        improve_gait("const", {name: known[name] for name in known if name != "hip_stiffness"})


@pytest.mark.timeout(1800)
@pytest.mark.slow  # variational equations by 54 unknowns are compiled, and walked: three minutes
def test_derivatives_of_a_gait_are_those_of_differences_and_its_torque_becomes_smaller():
    known = known_gait("human-const-first").parameters
    problem = GaitImprovement("const", known)
    count = len(problem.states)
    states, values = problem.first[:count], problem.first[count:]
    point = problem.evaluate(values, states)
    assert np.abs(point.misses).max() < MAX_RETURN_ERROR
    assert point.multiplier == pytest.approx(0.939, abs=0.002)  # as `gait.find` says of it
    direction = np.random.default_rng(1).normal(size=len(values)) * (problem.high - problem.low)
    gaits = []
    for sign in (1, -1):
        moved = values + sign * DIFFERENCE * direction
        guess = states + point.states_by @ (moved - values)
        gaits.append(problem.evaluate(moved, problem.find_states(moved, guess, point.inverse)))
    by_differences = (gaits[0].torque - gaits[1].torque) / (2 * DIFFERENCE)
    assert by_differences == pytest.approx(point.torque_by @ direction, rel=AGREEMENT)
    margins = (gaits[0].margins - gaits[1].margins) / (2 * DIFFERENCE)
    exact = point.margins_by @ direction
    np.testing.assert_allclose(margins, exact, rtol=0, atol=AGREEMENT * np.abs(exact).max())
    better = improve_gait("const", known, iterations=4)
    assert better.after < better.before - 1.0
    assert better.return_error < MAX_RETURN_ERROR
    assert better.multiplier < MAX_MULTIPLIER
    assert set(better.margins) == set(GOAL_MARGINS)
    assert min(better.margins.values()) > -KEPT_MARGIN


def test_the_table_of_an_improved_gait():
    parameters = known_gait("human-const-gradients").parameters
    margins = dict.fromkeys(GOAL_MARGINS, 0.25)
    better = ImprovedGait(
        parameters=parameters,
        state={},
        before=143.8,
        after=126.8,
        multiplier=0.96,
        margins=margins,
        return_error=3e-9,
        iterations=11,
        gaits=12,
        message="it ended",
    )
    gait = as_known(better)
    long = {"torque": 126.9, "speed": 1.236, "speed_spread": 0.09, "stance": 0.58}
    stages = dict.fromkeys(("fine", "long", "located"), 6)
    verified = Verified("const", as_individual(gait), {"long": long}, stages, 6)
    rows = {row.quantity: row for row in improvement_rows(better, verified)}
    assert rows["torque of the gait to begin with [N m]"].published == "161.6, the best of const"
    assert rows["torque after gradients [N m]"].ours == "126.8"
    assert "12 gaits with derivatives" in rows["torque after gradients [N m]"].remark
    assert rows["largest multiplier over a step"].ours == "0.960"
    assert rows["walked for 30 s"].ours.startswith("126.9 N m at 1.236 m/s")
    assert rows["walked for 30 s"].remark.startswith("all goals are kept")
    fallen = improvement_rows(better, Verified("const", as_individual(gait), {}, {"long": 1}, 6))
    assert fallen[-1].ours == "falls"
    assert fallen[-1].remark.startswith("a goal is missed")
