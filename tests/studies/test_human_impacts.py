"""What would make the ground's force smooth: how smooth it is, and what is changed in each search."""

import casadi as ca
import numpy as np
import pytest

from strut import State, System, evolve, simulate
from strut.evolve.goals import StagedGoals
from strut.studies.human_beyond import force_peaks
from strut.studies.human_gait import FEET, human_walker
from strut.studies.human_impacts import (
    FORCE_LAG,
    SMOOTH_VARIATION,
    VARIATIONS,
    WEIGHT,
    impact_goals,
    impact_measures,
    impact_problems,
    with_force_lags,
)
from strut.studies.kieboom_landings import StrideForce, landing_row
from strut.system import time


def pushed_plate():
    """Two feet, of which one is pushed by 1 - cos, up to two weights, once a second."""
    outputs = {f"{point}_normal": ca.SX(0) for foot in FEET.values() for point in foot}
    outputs["heel_r_normal"] = WEIGHT * (1 - ca.cos(2 * np.pi * time)) / 2
    outputs["ball_r_normal"] = outputs["heel_r_normal"]
    return System("plate", x=(State("y", 0.0),), flow={"y": ca.SX(0)}, outputs=outputs)


def test_variation_is_the_sum_of_rises_and_falls():
    """Two weights up and two down in each second; what the lag takes from a slow curve is its square."""
    plate = with_force_lags(pushed_plate())
    run = simulate(plate, 3.0, rtol=1e-9, atol=1e-9)
    times = np.linspace(1, 3, 20001)
    rate = run.at(times)["variation_rate"]
    total = np.sum((rate[1:] + rate[:-1]) / 2 * np.diff(times))
    assert total == pytest.approx(8.0, rel=2 * (2 * np.pi * FORCE_LAG) ** 2)
    beyond = run.at(1.5)["overload"]
    assert beyond == pytest.approx(0.8)


def test_measures_count_steps():
    expressions = impact_measures(with_force_lags(human_walker("table")), 10.0).expressions
    assert expressions["variation"] == "integral_after(variation_rate, 5.0) / 9.0"  # 0.9 Hz, two feet


def test_smooth_forces_come_before_the_last_goal():
    names = (
        "time",
        "speed",
        "speed_spread",
        "assist_time",
        "airborne_time",
        "variation",
        "torque",
        "power_absolute",
    )
    row = {"time": 10.0, "speed": 1.3, "speed_spread": 0.0, "assist_time": 0.0, "airborne_time": 0.0}
    row |= {"torque": 200.0, "power_absolute": 300.0}
    rough = {name: np.array([{**row, "variation": 2 * SMOOTH_VARIATION}[name]]) for name in names}
    smooth = {name: np.array([{**row, "variation": SMOOTH_VARIATION / 2}[name]]) for name in names}
    for name, stages in (("torque", (5, 5)), ("smooth", (5, 6)), ("smooth_joints", (5, 6))):
        goals = StagedGoals(impact_goals(VARIATIONS[name]), names)
        assert tuple(int(goals.stage(goals.keys(each))[0]) for each in (rough, smooth)) == stages
    power = StagedGoals(impact_goals(VARIATIONS["power"]), names)
    assert power.stage_and_value(power.keys(smooth)[0]) == (6, 300.0)


def test_variations_change_what_they_say():
    problems = impact_problems(("const",), method="rk4", step=1e-3)
    assert set(problems) == {f"{name}_const" for name in VARIATIONS}

    def bound(name, joint="ankle"):
        return next(q.high for q in problems[name].space.parameters if q.name == f"{joint}_stiffness")

    assert bound("ankle_const") == bound("smooth_ankle_const") == 400.0
    assert bound("torque_const") == bound("ankle_const", "hip") == 12000.0
    assert [bound("smooth_joints_const", joint) for joint in ("hip", "knee", "ankle")] == [
        1500.0,
        400.0,
        400.0,
    ]
    ground = {
        name: each.evaluation.scenarios.values["ground_stiffness"][0] for name, each in problems.items()
    }
    assert ground["pad_const"] == ground["smooth_pad_const"] == ground["smooth_all_const"] == 3e4
    assert ground["torque_const"] == ground["smooth_const"] == 2e5


def test_a_row_counts_peaks():
    """Two peaks of 1.1 weights with a valley of 0.7, as a stance of six tenths of a stride has them."""
    t = np.linspace(0, 1, 667)
    force = np.concatenate([1.13 * np.sin(np.pi * t) + 0.43 * np.sin(3 * np.pi * t), np.zeros(444)])
    peaks = force_peaks(force)
    landing = StrideForce(force, peaks, float(np.abs(np.diff(force)).sum()), "heel")
    best = evolve.Individual(
        0, 0, 0, {}, {"torque": 200.0, "power_absolute": 300.0, "speed": 1.25, "stance": 0.6}, 7, 200.0
    )
    evolution = evolve.Evolution(best, (best,), True, 1, {}, 7, (), history={}, seconds=1.0)
    row = landing_row("smooth_pad", "const", evolution, landing)
    assert len(peaks) == 2
    assert row.ours.startswith(f"2 of {peaks[0]:.2f}, {peaks[1]:.2f} weights")
    assert row.ours.endswith("heel first")
    assert "1 of 1 runs at the last goal" in row.remark
    assert landing_row("smooth_pad", "const", evolution, None).ours == "no stride"
