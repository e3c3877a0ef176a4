"""Stability in the loop: what the solver believes of multipliers is what the simulator finds."""

import math
import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.errors import ModelError
from strut.optimal.solver.guess import make_guess
from strut.optimal.walk import stability
from strut.optimal.walk.stability import add_variations, lift_guess, value_at_end


@pytest.fixture(scope="module")
def walker():
    return walkers.compass(slope=0.0)


@pytest.fixture(scope="module")
def fast(walker):
    """A spring and torques of least effort; disturbances grow."""
    return optimal.design(walker, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.6)


@pytest.mark.parametrize("seed", range(5))
def test_growth_bounds_the_spectral_radius(seed):
    random = np.random.default_rng(seed)
    A = random.standard_normal((4, 4)) * 10.0 ** random.uniform(-3, 3)
    radius = np.abs(np.linalg.eigvals(A)).max()
    found = float(ca.evalf(optimal.growth(ca.SX(ca.DM(A)))))
    assert radius <= found < 1.15 * radius
    assert found == pytest.approx(
        np.linalg.norm(np.linalg.matrix_power(A / radius, 64)) ** (1 / 64) * radius, rel=1e-6
    )


def test_the_derivative_is_that_of_the_return_map():
    """Along the passive gait, the expression at the end of the step has the gait's multipliers."""
    walker = walkers.compass()
    passive = gait.find(walker)
    effort = optimal.Integral("effort", walker["hip_torque"] ** 2)
    problem = (
        optimal.Problem(walker)
        .phase("step", until="heel_strike", duration=(0.5, 1))
        .periodic()
        .minimise(effort)
    )
    varied = add_variations(walker, "heel_strike")
    whole = replace(problem, system=varied.system).require(
        "growth", optimal.growth(varied.derivative), high=1e6, at="end"
    )
    found = whole.solve(
        lift_guess(whole, make_guess(problem, passive)),
        intervals=20,
        control="constant",
        accuracy=None,
        backend="virtual",
    )
    assert found.success
    derivative = value_at_end(found, varied.derivative)
    known = np.sort(np.abs(passive.multipliers))
    assert np.allclose(np.sort(np.abs(np.linalg.eigvals(derivative))), known, atol=1e-6)


def test_growth_is_minimised_within_a_budget(fast, monkeypatch):
    """Stability as the objective: one percent more torque may be spent."""
    monkeypatch.setattr(stability, "BOUND_RESOLUTION", 0.04)  # rough, for the sake of time
    price = fast.result.problem.objective
    budget = replace(
        fast.result,
        accuracy=None,
        problem=fast.result.problem.require("budget", price, high=1.01 * fast.result.cost, at="end"),
    )
    found = optimal.stabilise(budget, None)
    assert found.success
    assert found.cost <= 1.01 * fast.result.cost * (1 + 1e-6)
    again = optimal.replay(found)
    assert again.ok
    assert abs(again.gait.multipliers[0]) < 0.93


def test_a_bound_on_multipliers_is_kept_in_the_simulator(walker, fast):
    assert abs(fast.gait.multipliers[0]) > 1.0
    kept = optimal.stabilise(fast.result, 0.95)
    assert kept.ok, (kept.status, kept.worst)
    again = optimal.replay(kept)
    assert again.ok
    assert 0.85 < abs(again.gait.multipliers[0]) <= 0.95 + 1e-6  # the bound is on a norm a little above
    assert again.gait.stable
    assert fast.result.cost < kept.cost < 1.01 * fast.result.cost  # and costs little
    assert again.balance.relative < 1e-6
    assert kept.parameters["hip_spring"] > fast.parameters["hip_spring"]


def test_from_far_away(walker):
    """Without a spring disturbances grow by 1.83 in a step; three steps of continuation lead to 0.6."""
    far = optimal.design(walker, cost="squared-torque", speed=0.5)
    assert abs(far.gait.multipliers[0]) == pytest.approx(1.826, abs=1e-3)
    stages = []
    kept = optimal.stabilise(far.result, 0.6, budget=math.inf, progress=stages.append)
    assert kept.ok, (kept.status, kept.worst)
    assert abs(optimal.replay(kept).gait.multipliers[0]) <= 0.6 + 1e-6
    assert far.result.cost < kept.cost < 1.05 * far.result.cost
    assert sum(stage.name == "towards a stable gait" for stage in stages) < 10
    out_of_time = optimal.stabilise(replace(far.result, accuracy=None), 0.6, budget=0.0)
    assert re.search(r"bounded by 1\.8\d+ of their size per step, not by 0\.6", out_of_time.status)
    assert not out_of_time.ok
    assert out_of_time.cost == pytest.approx(far.result.cost, rel=1e-4)


def test_design_asks_for_it(walker, fast):
    found = optimal.design(
        walker, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.6, stability=0.98, guess=fast
    )
    assert found.ok
    assert found.gait.stable
    assert found.speed == pytest.approx(0.6, abs=1e-7)
    already = optimal.design(
        walker, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.6, stability=1.5, guess=fast
    )
    assert already.result.cost == pytest.approx(fast.result.cost, rel=1e-6)


def test_only_what_repeats(walker):
    once = (
        optimal.Problem(walker)
        .phase("step", until="heel_strike", duration=(0.3, 1))
        .solve(iterations=1, accuracy=None)
    )
    with pytest.raises(ModelError, match="one phase that an event ends and that repeats"):
        optimal.stabilise(once, 0.9)
