"""Van de Rijt's thesis: both scenarios succeed with both parameter sets, and what it says of limits and sweeps."""

from __future__ import annotations

import pytest

from strut.studies import STUDIES
from strut.studies.rijt_scenarios import FINAL, PARAMETER_SETS, bisect, measure
from strut.studies.rijt_tables import PUBLISHED

KKT = 1e-8
"""Largest residual of a quadratic program, relative."""

LONG_SWINGS = {
    "step_time": 0.1923,
    "swing_height": 0.0304,
    "shortest": 0.607,
    "longest": 0.806,
    "touch_gap": 1e-3,
    "chest_stiffness": 100.0,
    "spin_gain": 3.0,
    "momentum_limit": 430.0,
    "unload": 0.5,
    "spread": 0.123,
    "com_height": 0.9,
}
"""Other choices of what is not printed, with long swings that land hard: programs are harder to solve with them."""

HOLDS = (
    "torque_limit: push fails below 200 N m",
    "torque_limit: feet are followed little better above 220 N m",
    "force_limit: push fails below 750 N",
    "force_limit: walking gains nothing above 750 N",
    "force_weight: no effect below 1e-1",
    "force_weight: unstable above 1e-1",
    "acceleration_weight: no effect up to 10",
    "momentum_weight: poor feet above 1000",
    "feet_weight: too weak at 1000",
    "feet_weight: larger: feet better",
    "feet_weight: larger: chest worse",
    "feet_weight: an equation instead is unstable",
    "chest_weight: larger: chest better",
    "com_stiffness: larger: CoM nearer when walking",
    "feet_stiffness: larger: feet better, mostly at low values",
    "feet_stiffness: larger: CoM error up when walking",
    "feet_stiffness: larger: less squared torque",
)
"""Statements of the thesis on its sweeps that hold here; the study says of each other one with what it does."""


@pytest.mark.parametrize("scenario", ["walking", "push"])
def test_both_sets_succeed_and_the_final_one_follows_its_feet_better(scenario: str) -> None:
    """At 0.5 m/s for 10 s, and after 140 N s; mean torques within 20 % of those printed,
    half the weight on each foot, the torque limit reached, and feet followed better by a quarter or more."""
    runs = {name: measure(scenario, values) for name, values in PARAMETER_SETS.items()}
    for name, run in runs.items():
        assert run.ok, run.why_failed
        assert run.run.kkt < KKT
        assert set(run.run.counts)
        assert run.run.counts["failed"] == run.run.counts["relaxed"] == 0
        printed = float(PUBLISHED[name][scenario]["joint torque [N m]"][0])
        assert run.variables["joint torque [N m]"][0] == pytest.approx(printed, rel=0.2)
        assert run.variables["joint torque [N m]"][1] == pytest.approx(220.0)
        assert run.variables["ground force [N]"][0] == pytest.approx(70.12 * 9.81 / 2, rel=0.05)
        assert run.variables["feet error [m]"][0] < 5e-3
    feet = {name: run.variables["feet error [m]"][0] for name, run in runs.items()}
    assert feet["final"] < 0.75 * feet["baseline"]


def test_walking_is_near_what_is_printed() -> None:
    """Within a factor of two and a half: the error of the centre of mass, 1 to 3 cm, that of the feet, and the peak of
    the ground's forces, which landings do not make."""
    for name, values in PARAMETER_SETS.items():
        walk, printed = measure("walking", values), PUBLISHED[name]["walking"]
        for variable, k in (("CoM error [m]", 0), ("feet error [m]", 0), ("ground force [N]", 1)):
            ratio = walk.variables[variable][k] / float(printed[variable][k])
            assert 1 / 2.5 < ratio < 2.5, (name, variable)
        assert 0.3 < walk.single_support < 0.4
        asked = walk.variables["force of the program [N]"][1]
        assert asked < 1.05 * 1000  # its components are at most 1000 N


def test_forces_of_the_program_after_a_push_have_the_peaks_that_are_printed() -> None:
    for name, values in PARAMETER_SETS.items():
        push = measure("push", values).variables
        assert push["force of the program [N]"][1] == pytest.approx(
            float(PUBLISHED[name]["push"]["ground force [N]"][1]), rel=0.06
        )
        assert push["ground force [N]"][1] > 5000  # landings, over a millisecond


@pytest.mark.parametrize("choice", ["touch_gap", "spread", "shortest"])
def test_choices_that_are_not_printed_decide_the_error_of_the_centre_of_mass(choice: str) -> None:
    ours = measure("walking", {}).variables["CoM error [m]"][0]
    other = measure("walking", {choice: LONG_SWINGS[choice]}).variables["CoM error [m]"][0]
    assert other > 1.3 * ours


def test_a_push_that_is_too_large_and_motors_that_are_too_weak_are_told() -> None:
    shoved = measure("push", FINAL, force=900.0)
    assert not shoved.ok
    assert shoved.why_failed
    assert not measure("push", {**FINAL, "torque_limit": 150.0}).ok


def test_programs_without_a_solution_are_relaxed_and_told_from_unsolved_ones() -> None:
    """A heavy weight of momentum throws the machine up; in the air its knee shall brake harder than it can."""
    thrown = measure("push", {**LONG_SWINGS, "momentum_weight": 1000.0}, duration=1.5)
    assert set(thrown.failures) >= {"relaxed"}
    assert "unsolved" not in thrown.failures
    assert "samples relaxed" in thrown.why_failed
    assert thrown.run.counts["relaxed"] > 0
    assert thrown.run.counts["failed"] == 0
    assert thrown.run.kkt < KKT


def test_a_light_chest_leaves_no_program_unsolved() -> None:
    """After the push joints shall brake by 400 rad/s^2 more than they can, and the points that miss least are few."""
    pushed = measure("push", {**LONG_SWINGS, "chest_weight": 1e3}, duration=2.5)
    assert pushed.run.counts["failed"] == 0
    assert pushed.run.counts["relaxed"] > 0
    assert "unsolved" not in pushed.failures


def test_a_heavy_chest_leaves_no_program_unsolved() -> None:
    """At 2.05 s rows differ in columns of small scale only: with daqp's own least pivot they look dependent."""
    walk = measure("walking", {**LONG_SWINGS, "chest_weight": 1e6}, duration=2.2)
    assert walk.run.ok, walk.run.faults
    assert walk.run.counts["retried"] > 0
    assert walk.run.kkt < KKT


def test_bisection_finds_the_edge() -> None:
    assert bisect(lambda v: v < 0.7, 0.0, 1.0, 1e-3) == pytest.approx(0.7, abs=1e-3)
    assert bisect(lambda v: v > 0.7, 1.0, 0.0, 1e-3) == pytest.approx(0.7, abs=1e-3)


def test_choices_of_ours_stand_in_the_rows() -> None:
    rows = STUDIES["rijt-baseline"].rows()
    assert {"walking: outcome", "push: outcome", "choices 1", "choices 2"} <= {row.quantity for row in rows}
    assert all(row.remark.startswith("ours") for row in rows if row.quantity.startswith("choices"))


@pytest.mark.timeout(1200)  # more than the five minutes of all tests, on a busy machine
@pytest.mark.slow  # two minutes or three: some thousand runs
def test_sweeps_and_limits() -> None:
    """Speeds rise with the torque limit, 140 N s is near the largest push, 200 N m near the smallest limit; what
    the thesis says of its sweeps holds in 17 of 22 statements, and in the others by another reading that is named."""
    limits = {row.quantity: float(row.ours) for row in STUDIES["rijt-limits"].rows() if row.published != "-"}
    assert 0.5 < limits["largest speed at 220 N m [m/s]"] < limits["largest speed at 300 N m [m/s]"]
    assert limits["largest speed at 300 N m [m/s]"] > 1.0
    for name in PARAMETER_SETS:
        assert 140 <= limits[f"largest push, {name} [N s]"] < 170
    weakest = "smallest torque limit, push, {} [N m]"  # his torque study is of the baseline
    assert 190 < limits[weakest.format("baseline")] <= 220
    statements = [row for row in STUDIES["rijt-sweeps"].rows() if row.published == "yes"]
    verdicts = {row.quantity: row.ours for row in statements}
    others = [row for row in statements if row.ours == "no"]
    assert all(row.remark.startswith("not printed, and it depends on it: it holds ") for row in others)
    for statement in HOLDS:
        assert verdicts[statement] == "yes", statement
    assert sum(verdict == "yes" for verdict in verdicts.values()) >= 17
