"""Human gaits improved by gradients: derivatives against differences of runs, and how far the first iteration goes."""

import numpy as np
import pytest

from strut import evolve
from strut.studies.human_gradients import (
    FIRST_CHANGE,
    STEP_TIME,
    GaitImprovement,
    _objective_weight,
    _Point,
    improve_gait,
    step_expressions,
)
from strut.studies.known_gaits import known_gait

DIFFERENCE = 1e-5  # of unknowns over their scales, on both sides
AGREEMENT = 1e-4  # relative to the largest: differences are of runs to 1e-10


def test_the_first_iteration_goes_along_what_still_returns():
    """The slope is (5, 3, -4), the first unknown must not change: along the others the largest part is 4."""
    point = _Point(
        1.0, np.array([5.0, 3.0, -2.0]), np.zeros(1), np.array([[1.0, 0.0, 0.0]]), np.zeros(0), np.zeros(0)
    )
    assert _objective_weight(point, np.array([1.0, 1.0, 2.0])) == pytest.approx(FIRST_CHANGE / 4)


@pytest.mark.slow  # variational equations by 55 unknowns are compiled, and walked: three minutes
def test_derivatives_are_those_of_differences_and_torque_becomes_smaller():
    known = known_gait("human-const-first").parameters
    problem = GaitImprovement("const", known)
    point = problem.evaluate(problem.first)
    assert np.abs(point.misses).max() < 1e-9
    evaluation = evolve.of_system(
        problem.walker, STEP_TIME, step_expressions(problem.walker), rtol=1e-11, atol=1e-12, max_steps=10**6
    )
    direction = np.random.default_rng(1).normal(size=len(problem.names)) * problem.scale
    rows = problem.first + DIFFERENCE * np.outer([1, -1], direction)
    measures = evaluation.evaluate(problem.names, rows, np.zeros(2, dtype=np.uint64)).measures
    torques, ends = measures[:, problem.measures.index("torque")], measures[:, : len(problem.states)]
    assert (torques[0] - torques[1]) / (2 * DIFFERENCE) == pytest.approx(
        point.torque_by @ direction, rel=AGREEMENT
    )
    by_differences = (
        problem._exchange @ ((ends[0] - ends[1]) / (2 * DIFFERENCE)) - direction[: len(problem.states)]
    )
    exact = point.misses_by @ direction
    np.testing.assert_allclose(by_differences, exact, rtol=0, atol=AGREEMENT * np.abs(exact).max())
    better = improve_gait("const", known, iterations=4)
    assert better.after < better.before
    assert better.return_error < 1e-9
