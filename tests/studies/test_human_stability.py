"""Gaits of the human: multipliers against central differences of another machine, pushes, laws, and tables."""

import json
from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from strut import State, System, walkers
from strut.errors import NoGaitError, StorageError
from strut.gait import find
from strut.simulate import simulate
from strut.studies.gait_verification import Verified, at_last_goal
from strut.studies.human_beyond import force_peaks, push_rows, stability_rows, unjudged_rows
from strut.studies.human_gait import FREQUENCY, human_walker, table_values
from strut.studies.human_pushes import PushLimits
from strut.studies.human_stability import (
    NEAR_RETURN,
    STABILITY_FILE,
    GaitStability,
    deviation_growth,
    gait_machine,
    judge_bests,
    nearby_multipliers,
    reset_gait,
    returns_after_one,
    settled_gait,
    steps_until_repeat,
    walk_until_settled,
)
from tests.studies.half_periods import check_half_period
from tests.studies.test_human_gait import known_parameters, made_up_evolution

AGREEMENT = 2e-6  # relative: half of it was measured; contacts inside of steps limit differences


@pytest.mark.slow  # 39 s of walking at 0.1 ms, and variational equations compiled: half a minute
def test_multipliers_are_those_of_differences_of_located_runs():
    """The known gait, whose phase is a state and whose contact is in the flow, against the machine that time
    drives and whose contacts are located: the same fixed point, and the same derivative."""
    values = table_values("const", known_parameters())
    machine = gait_machine().using(values)
    gait = settled_gait(machine, walk_until_settled(machine))
    assert gait.steps == 1
    assert abs(gait.multipliers[0]) == pytest.approx(0.939, abs=0.002)
    other = human_walker("table", events=True).using(values)
    check_half_period(gait, other, period=1 / FREQUENCY, return_error=1e-10, agreement=AGREEMENT)


def turning_arm(steps, rate):
    """Something that turns once in so many steps, beside a deviation that grows at a rate [1/s]."""
    turn = 2 * np.pi * 2 * FREQUENCY / steps
    c, s, small = State("c", 1.0), State("s", 0.0), State("small", 0.0)
    return System(
        "arm",
        x=(State("x", 0.0), State("phase", 0.0), c, s, small),
        flow={
            "x": ca.SX(1),
            "phase": ca.SX(FREQUENCY),
            "c": -turn * s.sym,
            "s": turn * c.sym,
            "small": rate * small.sym,
        },
    )


@pytest.mark.parametrize(("steps", "repeats"), [(1, 1), (3, 3), (np.pi / 2, 0)])
def test_a_walk_repeats_after_so_many_steps(steps, repeats):
    arm = turning_arm(steps, 0.0)
    walk = simulate(arm, 10 / FREQUENCY, method="rk4", step=1e-3)
    assert steps_until_repeat(arm, walk) == repeats


@pytest.mark.parametrize("rate", [0.8, -0.5])
def test_a_deviation_grows_by_its_exponent(rate):
    """What grows at a rate grows by exp(rate x step); beside it what turns stays as large: the larger counts."""
    arm = turning_arm(2, rate)
    walk = simulate(arm, 1 / FREQUENCY, method="rk4", step=1e-3)
    assert deviation_growth(arm, walk) == pytest.approx(np.exp(max(rate, 0) * 0.5 / FREQUENCY), rel=2e-3)


def test_multipliers_of_what_nearly_returns_are_those_of_the_gait():
    """A gait that does return exactly: the compass, by `gait.find`."""
    compass = walkers.compass()
    gait = find(compass)
    near = {name: value + 1e-4 for name, value in gait.x0.items()}
    multipliers, change = nearby_multipliers(
        compass, np.array([near[name] for name in compass.labels("x")]), 1
    )
    assert change < NEAR_RETURN
    np.testing.assert_allclose(np.abs(multipliers[:2]), np.abs(gait.multipliers[:2]), rtol=1e-3)
    assert nearby_multipliers(compass, np.full(compass.size("x"), 0.7), 1) is None


def test_a_gait_of_two_steps_may_be_one_of_one():
    compass = walkers.compass()
    gait = find(compass)
    assert returns_after_one(compass, gait.vector)
    steep = walkers.compass(slope=np.radians(4.6))  # beyond the first doubling, at 4.37 degrees
    limping = find(steep, steps=2)
    assert not returns_after_one(steep, limping.vector)


def test_peaks_of_a_force():
    t = np.linspace(0, 1, 200)
    assert force_peaks(np.sin(np.pi * t)) == pytest.approx([1.0], abs=1e-3)
    double = 1.1 * np.sin(np.pi * t) + 0.3 * np.sin(3 * np.pi * t)
    assert len(force_peaks(double)) == 2
    ripple = np.sin(np.pi * t) + 0.02 * np.sin(60 * np.pi * t)
    assert len(force_peaks(ripple)) == 1
    assert force_peaks(np.zeros(5)) == []


def test_tables_of_what_the_thesis_does_not_say():
    judged = {
        ("step", 0): GaitStability(1, 0.05, 0.75, 0.75, 0.5),
        ("step", 1): GaitStability(2, 0.1, 0.5, 1.2, np.nan),
        ("step", 2): GaitStability(0, 0.1, np.nan, np.nan, np.nan, why="no gait", growth=1.2),
    }
    assert judged["step", 1].uses_assistance
    assert judged["step", 1].per_step == pytest.approx(np.sqrt(0.5))
    first, wandering, second = stability_rows(judged)
    assert "median 1.200" in wandering.ours
    assert wandering.remark.startswith("1 of 1 grow")
    assert first.ours.startswith("2 of 3 come to a gait; 1 of these use no assistance, 1 of which are stable")
    assert first.remark == "of 1 with assistance 1 have a gait without it, 0 of them stable"
    assert "median 0.750" in second.ours
    assert "median 0.500" in second.remark
    lost = {("step", 0): GaitStability(1, 0.05, 0.75, 0.75, np.nan, why_no_reset="no gait: 0.1 away")}
    assert stability_rows(lost)[-1].remark.endswith("set the phase right: not known of 1: no gait: 0.1 away")
    (row,) = push_rows({"step": PushLimits((1.4, 2.8), (42.0, 5.6))})
    assert row.ours == "1.4 and 2.8 N s"
    assert "42.0 and 5.6 N s" in row.remark


def test_a_foot_that_does_not_land_sets_no_phase_right(monkeypatch):
    """And the reason is kept in place of the multiplier."""
    hovering = SimpleNamespace(
        t1=1.0, at=lambda t: {"left_toe_gap": np.full(len(t), 0.1), "phase": np.zeros(len(t))}
    )
    monkeypatch.setattr("strut.studies.human_stability.simulate", lambda *_, **options: hovering)
    machine, gait = SimpleNamespace(labels=lambda kind: ()), SimpleNamespace(vector=np.zeros(1))
    with pytest.raises(NoGaitError, match="^the left foot does not land within a period$"):
        reset_gait(machine, gait, {"left": ("left_toe",)})


def test_stability_is_asked_of_bests_that_hold_or_are_at_the_last_goal():
    """A search of two generations has none, and no multipliers are looked for in its page; how many are left out
    is a row."""
    verified = {}
    for run, (stage, kept) in enumerate([(6, 6), (6, 5), (5, 6), (5, 5), (2, 2)]):
        best = made_up_evolution("const", [1.0] * 5).best_of_run[run]
        best = replace(best, stage=stage)
        verified["const", run] = Verified("const", best, {}, {"fine": kept}, 6)
    assert list(at_last_goal(verified)) == [("const", 0), ("const", 1), ("const", 2)]
    (row,) = unjudged_rows(verified)
    assert (row.quantity, row.ours) == ("const: bests of which stability is not asked", "2 of 5")
    assert not unjudged_rows({("const", 0): verified["const", 0]})


def test_answers_are_read_again_and_a_damaged_file_is_told(tmp_path, monkeypatch):
    best = made_up_evolution("const", [1.0]).best
    answer = GaitStability(1, 0.05, 0.75, 0.75, 0.5, growth=1.0)  # nan equals nothing
    monkeypatch.setattr("strut.studies.human_stability.judge_stability", lambda mode, each, body: answer)
    assert judge_bests(tmp_path, {("const", 0): best}, lambda _: None) == {("const", 0): answer}
    assert len(json.loads((tmp_path / STABILITY_FILE).read_text())) == 1
    monkeypatch.setattr("strut.studies.human_stability.judge_stability", None)
    assert judge_bests(tmp_path, {("const", 0): best}, lambda _: None) == {("const", 0): answer}
    (tmp_path / STABILITY_FILE).write_text("{")
    with pytest.raises(StorageError, match="is damaged"):
        judge_bests(tmp_path, {("const", 0): best}, lambda _: None)
