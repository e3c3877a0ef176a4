"""Searches that begin from a solution: warm, and never worse than it."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from strut import optimal, walkers
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.solver import solve as solver
from strut.optimal.walk import design_search, sharpen
from strut.system import Param, State, System


def double_well():
    """Cost of a free parameter with a narrow optimum at its bound, 0.100, and a wide, worse one inside, 0.254."""
    x, p = State("x", 0.0), Param("p", 0.5, bounds=(0.0, 1.0))
    rolls = System("rolls", x=(x,), p=(p,), flow={"x": 1.0 + 0 * p.sym})
    cost = 0.254 + 0.1 * (p.sym - 0.6) ** 2 - 0.19 * ca.exp(-p.sym / 0.003)
    return optimal.Problem(rolls).phase("roll", duration=(1, 1)).free("p").minimise(cost)


def level_step():
    """A step of the compass on level ground, found; and its problem."""
    compass = walkers.compass()
    return optimal.design(compass, cost="squared-torque", slope=0.0, speed=0.5)


@pytest.fixture(scope="module")
def level():
    return level_step()


def test_a_search_does_not_leave_a_solution_for_a_worse_one():
    problem = double_well()
    best = problem.solve({"p": 0.0}, intervals=2, options={"mu_init": 1e-8, "bound_push": 1e-9})
    assert best.cost == pytest.approx(0.1, abs=1e-6)
    cold = problem.solve(optimal.Guess(best.guess().phases, best.parameters), intervals=2)
    assert cold.cost == pytest.approx(0.254, abs=1e-3)  # the barrier pushes it out of the narrow optimum
    again = problem.solve(best, intervals=2)
    assert again.success
    assert again.cost <= best.cost + 1e-9


def test_a_guess_that_no_search_improves_is_kept(monkeypatch):
    problem = double_well()
    best = problem.solve({"p": 0.0}, intervals=2, options={"mu_init": 1e-8, "bound_push": 1e-9})
    real = solver.solve_mesh

    def forgetful(mesh, begin, settings, multipliers=None, scales=None):
        return real(mesh, 0.7 + 0 * begin, settings)

    monkeypatch.setattr(solver, "solve_mesh", forgetful)
    again = problem.solve(best, intervals=2)
    assert again.cost == pytest.approx(best.cost, abs=1e-9)
    assert again.status == "kept: no better motion was found"


def test_multipliers_hold_the_conditions_of_an_optimum_on_the_same_mesh(level):
    again = level.result.problem.solve(level, control="cubic", intervals=10, accuracy=1e-7)
    assert again.iterations <= 3
    assert again.cost == pytest.approx(level.result.cost, rel=1e-9)
    assert again.ok


@pytest.mark.parametrize("method", ["radau", "gauss", "shooting"])
def test_interpolated_multipliers_save_iterations_on_a_finer_mesh(level, method):
    problem = level.result.problem
    how = {"method": method, "accuracy": None, "control": "linear"}
    coarse = problem.solve(level, intervals=10, **how)
    warm = problem.solve(coarse, intervals=20, **how)
    motion = optimal.Guess(coarse.guess().phases, coarse.parameters)
    cold = problem.solve(motion, intervals=20, **how)
    assert warm.success
    assert cold.success
    assert warm.cost == pytest.approx(cold.cost, rel=1e-8)
    assert warm.iterations <= 0.8 * cold.iterations


def test_interpolated_multipliers_are_near_those_of_the_finer_mesh(level):
    problem = level.result.problem
    how = {"accuracy": None, "control": "cubic"}
    coarse, fine = (problem.solve(level, intervals=n, **how) for n in (20, 40))
    mesh = Transcribed(problem, fine.how)
    guessed = coarse.optimum.multipliers(mesh)[1]
    exact = fine.optimum.multipliers(mesh)[1]
    assert np.abs(guessed - exact).max() < 0.1 * np.abs(exact).max()


def test_a_finer_mesh_that_fails_does_not_replace_what_there_was(level, monkeypatch):
    problem, real = level.result.problem, solver.solve_mesh

    def coarse_only(mesh, begin, settings, multipliers=None, scales=None):
        found = real(mesh, begin, settings, multipliers, scales)
        return found if len(found.phases[0].t) == 6 else replace(found, success=False)

    monkeypatch.setattr(solver, "solve_mesh", coarse_only)
    found = problem.solve(optimal.Guess(level.guess().phases), intervals=5)
    assert found.success
    assert len(found.phases[0].t) == 6
    assert not found.ok  # its defects say so


def test_a_sharper_plan_that_costs_more_is_refused(level, monkeypatch):
    real = sharpen.solve
    monkeypatch.setattr(type(level), "drifts", property(lambda self: True))
    monkeypatch.setattr(
        sharpen, "solve", lambda *a, **k: replace(real(*a, **k), cost=level.result.cost + 0.2)
    )
    task = design_search.DesignTask(
        level.system,
        (),
        "squared-torque",
        None,
        {"control": "cubic", "accuracy": sharpen.MAX_DEFECT},
        design_search.SearchWatch(),
    )
    assert sharpen.sharpen(level, task).result.cost == level.result.cost


def test_a_design_from_a_design_is_not_worse():
    compass = walkers.compass()
    first = optimal.design(compass, cost="positive-work", slope=0.0, speed=0.5)
    again = optimal.design(compass, cost="positive-work", slope=0.0, speed=0.5, guess=first)
    assert first.ok
    assert again.ok
    assert again.result.cost <= first.result.cost * (1 + 1e-6)
