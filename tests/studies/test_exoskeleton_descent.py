"""Descent by gradients of a population: on a walk in closed form, and of an exoskeleton that was found."""

from types import SimpleNamespace

import numpy as np
import pytest

from strut import evolve
from strut.errors import ModelError
from strut.studies import exoskeleton_descent
from strut.studies.exoskeleton_descent import (
    DescentPath,
    DesignDescent,
    KeptGoal,
    descend_design,
    kept_goals,
)
from strut.studies.exoskeleton_found import check_screening, run_again
from strut.studies.exoskeleton_search import exoskeleton_goals, exoskeleton_problem
from strut.studies.known_exoskeletons import known_exoskeletons

DURATION = 10.0
"""[s]"""
PARAMETERS = [evolve.SearchParameter(name, -1.0, 3.0) for name in ("a", "b", "c_on")]


class ClosedForm:
    """A walk in closed form: power is least at a = b = 0, speed grows with a + b, and with too large an a it
    falls. c_on would help, but is a phase of a step, which is held."""

    measures = ("time", "speed", "assist_time", "power_absolute")

    def evaluate(self, names, x, seeds):
        a, b, c = x.T
        power = 100.0 + 10 * a**2 + 20 * np.abs(b) + 50 * (1 - c)
        time = np.where(a < 1.8, DURATION, 4.0)
        return SimpleNamespace(measures=np.column_stack([time, 1.0 + 0.3 * (a + b), np.zeros(len(x)), power]))


def descent(begin):
    goals = [KeptGoal("speed", 1.3, -1.0)]
    return DesignDescent(ClosedForm(), PARAMETERS, np.array(begin), duration=DURATION, goals=goals)


def test_the_optimum_is_where_the_goal_is_just_kept():
    """By hand: speed 1.3 (and its margin) asks for a + b = 1.022; all of it by a, whose marginal power is
    below 20 up to a = 1."""
    own = descent([1.5, 1.5, 0.0])
    path = own.follow_gradients(200, lambda text: None)
    before, after = path.measures[0], path.measures[-1]
    assert len(path.rows) > 5
    assert before["power_absolute"] == pytest.approx(100 + 22.5 + 30 + 50)
    assert after["speed"] == pytest.approx(1.3 * 1.005, abs=1e-4)
    assert after["power_absolute"] == pytest.approx(100 + 10 + 20 * 0.02167 + 50, abs=0.05)
    assert path.rows[-1][2] == 0.0


def test_a_goal_that_is_missed_comes_first():
    path = descent([0.0, 0.0, 0.0]).follow_gradients(200, lambda text: None)
    before, after = path.measures[0], path.measures[-1]
    assert before["speed"] < 1.3 <= after["speed"]
    assert after["power_absolute"] > before["power_absolute"]


def test_what_falls_is_told():
    with pytest.raises(ModelError, match="does not walk to the end"):
        descent([2.5, 0.0, 0.0]).follow_gradients(3, lambda text: None)


def test_steps_that_do_not_hold_are_left_out():
    """Of a way the last step counts that stays at the goal in every way in which it is run again."""
    path = DescentPath([np.zeros(1)] * 5, [{}] * 5)
    stages = {"fine": [5, 5, 5, 5, 4], "long": [5, 5, 5, 4, 5]}
    told = []
    step = exoskeleton_descent._last_step_that_holds(
        path, 5, lambda k, way: {"stage": stages[way][k]}, told.append
    )
    assert step == 2
    assert told == ["step 4 does not hold in fine steps", "step 3 does not hold in fine steps"]
    assert exoskeleton_descent._last_step_that_holds(path, 6, lambda k, way: {"stage": 5}, told.append) == 0


def test_limits_are_goals_of_the_search():
    """They come before power, and with them forces and peaks are measured."""
    limits = {"peak_power": 600.0, "peak_interaction": 3000.0}
    texts = [goal.until for goal in exoskeleton_goals(limits=limits)]
    assert texts[4:] == ["peak_power <= 600.0", "peak_interaction <= 3000.0", ""]
    assert [goal.measure for goal in kept_goals(DURATION, limits)][-2:] == ["peak_power", "peak_interaction"]
    slow, fast = (goal.limit for goal in kept_goals(DURATION, speed=1.4)[:2])
    assert (slow, fast) == pytest.approx((0.95 * 1.4, 1.4 / 0.95))
    problem = exoskeleton_problem(["7-13"], limits=limits)
    assert {"peak_power", "peak_interaction", "spring_return"} <= set(problem.evaluation.measures)
    assert "peak_power" not in exoskeleton_problem(["7-13"]).evaluation.measures


@pytest.mark.timeout(3000)
@pytest.mark.slow  # hundreds of walks of 10 s
def test_an_exoskeleton_is_refined():
    """Less power after two steps, and its goals are kept in fine steps, too."""
    design = known_exoskeletons()["7-13"]
    refined = descend_design(design, iterations=2)
    print(refined.before, refined.after, refined.message)
    assert refined.before["power_absolute"] == pytest.approx(372.7, abs=1.0)
    assert refined.after["power_absolute"] < 320.0
    assert check_screening(refined.design)
    assert refined.after["regularity"] >= 0.1
    fine = run_again(refined.design, "fine")
    assert fine["stage"] == 5.0
    assert fine["power_absolute"] == pytest.approx(refined.after["power_absolute"], rel=0.01)
