"""Stability in the loop: what the solver believes of multipliers is what the simulator finds."""

import math
import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.errors import ModelError
from strut.optimal.nlp import phase_ends
from strut.optimal.solver.guess import make_guess
from strut.optimal.walk import stability
from strut.optimal.walk.varied_motion import add_variations, lift_guess, value_at_end


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


def solve_varied(problem, passive, **options):
    """Solve a problem with its variations from a gait; return the motion, and the derivative of its return
    map."""
    varied = add_variations(problem)
    whole = varied.problem.require("growth", optimal.growth(varied.derivative), high=1e6, at="end")
    settings = {"intervals": 20, "control": "constant", "accuracy": None, "backend": "virtual", **options}
    found = whole.solve(lift_guess(whole, make_guess(problem, passive)), **settings)
    return found, value_at_end(found, varied.derivative)


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
    found, derivative = solve_varied(problem, passive)
    assert found.success
    known = np.sort(np.abs(passive.multipliers))
    assert np.allclose(np.sort(np.abs(np.linalg.eigvals(derivative))), known, atol=1e-6)


def test_footholds_vary_between_phases():
    """A runner on a spring: touchdown sets a foothold, which varies, and shears disturbances; central
    differences of the simulator's return map know nothing of variations."""
    runner = walkers.slip()
    passive = gait.find(runner)
    problem = (
        optimal.Problem(runner)
        .phase("flight", until="touchdown", duration=(0.02, 1))
        .phase("stance", until="takeoff", duration=(0.02, 1))
        .begin(vx=passive.x0["vx"], vy=passive.x0["vy"])  # one of its family of gaits
        .periodic()
    )
    found, derivative = solve_varied(problem, passive, options={"mu_init": 1e-8})
    assert found.success
    step, y = gait.ReturnMap(runner), passive.vector[1:]
    size = 1e-5
    columns = []
    for k in range(3):
        ends = [step(y + side * size * np.eye(3)[k]).y for side in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * size))
    assert np.allclose(derivative, np.column_stack(columns), atol=1e-4)
    known = np.sort(np.abs(passive.multipliers))
    assert np.allclose(np.sort(np.abs(np.linalg.eigvals(derivative))), known, atol=1e-5)


@pytest.mark.timeout(900)  # 16 s of processor; on a machine with much other work they became minutes
def test_a_walker_with_knees_is_made_stable():
    """Three phases: the swing foot passes, the knee strikes, the heel strikes."""
    kneed, stages = walkers.kneed(), []
    free = optimal.design(kneed, speed=0.8)
    assert abs(free.gait.multipliers[0]) == pytest.approx(0.5001, abs=1e-4)  # its plan waits for events
    kept = optimal.design(
        kneed, speed=0.8, guess=free, stability=0.45, budget=math.inf, progress=stages.append
    )
    assert [phase.until for phase in kept.result.problem.phases] == ["passes", "knee_strike", "heel_strike"]
    assert kept.ok, kept.wrong
    assert 0.4 < abs(kept.gait.multipliers[0]) <= 0.45 + 1e-6
    assert free.result.cost < kept.result.cost < 1.1 * free.result.cost
    assert "towards a stable gait" in [stage.name for stage in stages]  # a design tells what it waits for


def interrupt_at(name):
    """Return what raises the interrupt of Ctrl-C where a stage of this name begins."""

    def progress(stage):
        if stage.name == name:
            raise KeyboardInterrupt

    return progress


def test_the_least_bound_ends_with_the_budget_and_with_ctrl_c(fast):
    plain = replace(fast.result, accuracy=None)
    out_of_time = optimal.stabilise(plain, None, budget=0.0)
    assert out_of_time.success
    assert out_of_time.cost == pytest.approx(plain.cost, rel=1e-6)  # it did not go anywhere
    for stage in ("with its variations", "towards a stable gait"):
        stopped = optimal.stabilise(plain, None, progress=interrupt_at(stage))
        assert stopped.is_interrupted
        assert stopped.cost == pytest.approx(plain.cost, rel=1e-6)
        assert stopped.problem.system is plain.problem.system


def test_what_is_not_solved_with_its_variations_says_so(fast):
    """One iteration is not enough; the motion that was given is returned, and is not ok."""
    failed = optimal.stabilise(fast.result, 0.9, tolerance=1e-16, iterations=1)
    assert not failed.ok
    assert failed.status == "how disturbances of the motion grow was not found: too many iterations"
    assert failed.cost == fast.result.cost


def test_growth_is_minimised_within_a_budget(fast, monkeypatch):
    """Stability as the objective: one percent more torque may be spent."""
    monkeypatch.setattr(stability, "BOUND_RESOLUTION", 0.04)  # rough, for the sake of time
    price = fast.result.problem.objective
    budget = replace(
        fast.result,
        accuracy=None,
        problem=fast.result.problem.require("budget", price, high=1.01 * fast.result.cost, at="end"),
    )
    found = optimal.stabilise(budget, None, budget=math.inf)
    assert found.success
    assert found.cost <= 1.01 * fast.result.cost * (1 + 1e-6)
    again = optimal.replay(found)
    assert again.ok
    assert abs(again.gait.multipliers[0]) < 0.93


def test_a_bound_on_multipliers_is_kept_in_the_simulator(walker, fast):
    assert abs(fast.gait.multipliers[0]) > 1.0
    kept = optimal.stabilise(fast.result, 0.95, budget=math.inf)
    assert kept.ok, (kept.status, kept.worst)
    again = optimal.replay(kept)
    assert again.ok
    assert 0.85 < abs(again.gait.multipliers[0]) <= 0.95 + 1e-6  # the bound is on a norm a little above
    assert again.gait.stable
    assert fast.result.cost < kept.cost < 1.01 * fast.result.cost  # and costs little
    assert again.balance.relative < 1e-6
    assert kept.parameters["hip_spring"] > fast.parameters["hip_spring"]


def test_from_far_away(walker, monkeypatch):
    """Without a spring disturbances grow by 1.83 in a step; three steps of continuation lead to 0.6."""
    far = optimal.design(walker, cost="squared-torque", speed=0.5)
    assert abs(far.gait.multipliers[0]) == pytest.approx(1.826, abs=1e-3)
    stages, made = [], []
    make = phase_ends.make_stage
    monkeypatch.setattr(phase_ends, "make_stage", lambda name, *a: made.append(name) or make(name, *a))
    kept = optimal.stabilise(far.result, 0.6, budget=math.inf, progress=stages.append)
    assert kept.ok, (kept.status, kept.worst)
    assert abs(optimal.replay(kept).gait.multipliers[0]) <= 0.6 + 1e-6
    assert far.result.cost < kept.cost < 1.05 * far.result.cost
    assert sum(stage.name == "towards a stable gait" for stage in stages) < 10
    # Without the bound, and with it: derivatives of the growth are made once for all bounds and meshes.
    assert made.count("end_0") == 2
    out_of_time = optimal.stabilise(replace(far.result, accuracy=None), 0.6, budget=0.0)
    assert re.search(r"bounded by 1\.8\d+ of their size per step, not by 0\.6", out_of_time.status)
    assert not out_of_time.ok
    assert out_of_time.cost == pytest.approx(far.result.cost, rel=1e-4)


def test_design_asks_for_it(walker, fast):
    asked = {"free": {"hip_spring": (0, 100)}, "cost": "squared-torque", "speed": 0.6, "budget": math.inf}
    found = optimal.design(walker, **asked, stability=0.98, guess=fast)
    assert found.ok
    assert found.gait.stable
    assert found.speed == pytest.approx(0.6, abs=1e-7)
    already = optimal.design(walker, **asked, stability=1.5, guess=fast)
    assert already.result.cost == pytest.approx(fast.result.cost, rel=1e-6)


def test_only_what_repeats(walker):
    once = (
        optimal.Problem(walker)
        .phase("step", until="heel_strike", duration=(0.3, 1))
        .solve(iterations=1, accuracy=None)
    )
    with pytest.raises(ModelError, match="only a motion that repeats and that an event ends"):
        optimal.stabilise(once, 0.9)


def test_only_one_step(walker):
    twice = (
        optimal.Problem(walker)
        .phase("first", until="heel_strike", duration=(0.3, 1))
        .phase("second", until="heel_strike", duration=(0.3, 1))
        .periodic()
        .solve(iterations=1, accuracy=None)
    )
    with pytest.raises(ModelError, match="'heel_strike' ends several steps .* leave out steps"):
        optimal.stabilise(twice, 0.9)
