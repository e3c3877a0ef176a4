"""RABBIT on a floating base: a design from an even stride, the machine that begins with its plan, and the same optimum from other guesses."""

import contextlib
import io
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.rabbit_step import opti_rabbit
from examples.rabbit import KNEE_LIMITS, drive_curves, drive_figure, driven_walker, main, robot, walker

from strut import optimal, report, simulate
from strut.cli.model import find_model
from strut.errors import ModelError, UnknownNameError
from strut.gait.section import default_section
from strut.optimal.walk.check_walker import check_symmetry
from strut.optimal.walk.kinematic_stride import kinematic_stride
from strut.optimal.walk.sweep_file import SweepPoint
from tests.examples.gallery import check_printed

EXAMPLE = Path(__file__).parents[2] / "examples" / "rabbit.toml"
SAME_OPTIMUM = 1e-6  # relative: defects of 1e-7 on the same meshes


@pytest.fixture(scope="module")
def design():
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        found = main()
    check_printed("rabbit.py", said.getvalue())
    assert "largest multiplier" in said.getvalue()
    return found


def test_it_weighs_what_the_book_says():
    assert sum(float(body.mass) for body in robot().bodies.values()) == pytest.approx(12 + 2 * (6.8 + 3.2))


def test_the_design_is_a_gait_within_the_limits_of_its_knees(design):
    assert design.ok, design.wrong
    assert design.gait is not None, design.replay.no_gait
    assert design.speed == pytest.approx(0.6, abs=1e-6)
    for knee in ("knee_l", "knee_r"):
        angle = design.replay.run[knee]
        assert angle.min() > KNEE_LIMITS[0] - 1e-3
        assert angle.max() < KNEE_LIMITS[1] + 1e-3


def test_the_machine_takes_its_first_steps_on_either_foot(design):
    run = simulate(design.machine, t=2.5 * design.gait.period, rtol=1e-11, atol=1e-12)
    landings = [e.name for e in run.events if e.name.endswith("_touchdown")]
    assert landings[:2] == ["foot_l_touchdown", "foot_r_touchdown"]


def design_from_a_random_guess(system, seed, spread=0.1):
    """The design begun from the usual stride, every value shaken by this part of 1 + the largest."""
    stride = kinematic_stride(system, default_section(system), speed=0.6)
    random = np.random.default_rng(seed)
    shaken = {
        name: values + spread * (1 + np.abs(values).max()) * random.standard_normal(len(values))
        for name, values in stride.guess.items()
    }
    return optimal.design(system, speed=0.6, guess={**shaken, "duration": stride.period})


def test_other_guesses_lead_to_the_same_optimum(design):
    system = walker()
    for seed in (1, 2):
        again = design_from_a_random_guess(system, seed)
        assert again.ok, again.wrong
        assert again.result.cost == pytest.approx(design.result.cost, rel=SAME_OPTIMUM)


@pytest.mark.slow  # ten designs
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("spread", "agreeing"), [(0.1, 10), (0.2, 10), (0.3, 8)])
def test_ten_random_guesses_lead_to_the_same_optimum(design, spread, agreeing):
    """As many as the gallery says; what others lead to is never cheaper."""
    system, cost = walker(), design.result.cost
    others = [design_from_a_random_guess(system, seed, spread) for seed in range(10)]
    costs = np.array([each.result.cost for each in others if each.ok])
    assert np.sum(np.abs(costs / cost - 1) <= SAME_OPTIMUM) >= agreeing
    assert costs.min() >= cost * (1 - SAME_OPTIMUM)


@pytest.mark.slow  # a search that tries all its ways: twenty seconds on the processor
@pytest.mark.timeout(600)
def test_a_speed_that_cannot_be_is_soon_explained():
    failed = optimal.design(find_model(str(EXAMPLE)), speed=50.0)
    assert not failed.result.success
    again = replace(failed, result=replace(failed.result))  # for which nothing is known yet
    before = time.process_time()
    (sentence,) = again.wrong
    assert time.process_time() - before < 10.0
    assert re.search(r"'speed' is missed by [\d.]+ m/s \(it must be 50 m/s\)", sentence), sentence


def test_another_transcription_of_other_equations_has_the_same_optimum(design):
    """Lagrange's equations in absolute angles, an impact of their own, Radau collocation by inverse dynamics."""
    assert opti_rabbit(intervals=30, degree=4)(0.0) == pytest.approx(design.result.cost, rel=SAME_OPTIMUM)


def test_a_fast_plan_does_not_let_its_foot_go_early():
    """At 0.9 m/s a plan that only asks for a push is let go 10 ms before it lands: free, the foot would rise."""
    fast = optimal.design(walker(), speed=0.9)
    assert fast.ok, fast.wrong
    assert [e.name for e in fast.replay.run.events if e.name.startswith("foot")] == ["foot_l_touchdown"]


# ---- drives ----


@pytest.mark.parametrize(
    ("kind", "springs"),
    [("rigid", set()), ("series", {"hip_series_spring"}), ("parallel", {"hip_spring", "hip_rest"})],
)
def test_a_driven_robot_is_alike_on_both_sides(kind, springs):
    system, free = driven_walker(kind)
    assert set(free) == {"shank"} | springs
    check_symmetry(system.using({name: 0.5 * sum(ends) for name, ends in free.items()}))


@pytest.mark.slow  # eight designs with free shanks: forty seconds on the processor
def test_rigid_drives_cost_more_and_more_over_speed(tmp_path):
    curve = drive_curves(kinds=("rigid",), folder=tmp_path)["rigid"]
    assert curve.ok
    costs = np.array([point.numbers["cost"] for point in curve.points])
    assert costs[[0, 3, 6]] == pytest.approx([0.1214, 0.9576, 3.1293], rel=2e-3)
    assert (np.diff(costs) > 0).all()
    assert (np.diff(costs, 2) > 0).all()  # no jump from one kind of gait to another


@pytest.mark.slow  # seven designs with free springs and shanks: forty seconds on the processor
def test_springs_beside_the_motors_save_torque_smoothly_over_speed(tmp_path):
    curve = drive_curves(kinds=("parallel",), folder=tmp_path)["parallel"]
    assert curve.ok
    costs = np.array([point.numbers["cost"] for point in curve.points])
    assert costs[[0, 3, 6]] == pytest.approx([0.0790, 0.1429, 0.2207], rel=2e-3)
    steps = np.diff(costs)
    assert (steps > 0).all()
    assert np.abs(np.diff(steps)).max() < 0.3 * steps.min()  # no jump from one kind of gait to another


@pytest.mark.slow  # eight designs with free springs and shanks: forty seconds on the processor
def test_springs_in_series_save_torque_up_to_the_fastest(tmp_path):
    """Begun in the middle of the curve they led to optima that cost up to half as much again, of which the fastest
    slipped."""
    curve = drive_curves(kinds=("series",), folder=tmp_path)["series"]
    assert curve.ok
    costs = np.array([point.numbers["cost"] for point in curve.points])
    assert costs[[0, 3, 6]] == pytest.approx([0.1101, 0.5839, 1.4132], rel=2e-3)
    assert (np.diff(costs, 2) > 0).all()


def test_points_that_failed_are_not_drawn():
    points = tuple(
        SweepPoint(value=speed, ok=speed != 0.8, status="solved", numbers={"cost": speed**2})
        for speed in (0.5, 0.8, 1.1)
    )
    curve = optimal.TradeOff("speed", "m/s", points, wall=1.0, file=None)
    line = drive_figure({"rigid": curve}).by_name["rigid"]
    assert line.x.tolist() == [0.5, 1.1]
    assert line.y.tolist() == pytest.approx([0.25, 1.21])


def test_trade_offs_of_different_things_are_no_figure():
    points = (SweepPoint(value=0.5, ok=True, status="solved", numbers={"cost": 1.0}),)
    speed, slope = (
        optimal.TradeOff(n, u, points, wall=1.0, file=None) for n, u in (("speed", "m/s"), ("slope", "rad"))
    )
    with pytest.raises(ModelError, match="vary one thing: these vary 'speed', 'slope'"):
        report.sweeps_figure({"a": speed, "b": slope})
    with pytest.raises(UnknownNameError, match="no point has the number 'costs': .*cost"):
        report.sweeps_figure({"a": speed}, "costs")
