"""Saurel's actuators: the compass driven in three ways, on the paper's slope and in published steps."""

import pytest

from strut.actuator import KINDS
from strut.studies import STUDIES
from strut.studies.saurel_actuators import CASES, ZERO_BELOW, rows_of, settings, together
from strut.studies.saurel_drives import STEP_LENGTHS, TORQUE, WORK, problem, walk


@pytest.fixture(scope="module")
def solved():
    return {(cost, drive): walk("M_A", drive, cost, starts=3) for cost in (TORQUE, WORK) for drive in KINDS}


def test_the_tables_are_those_of_the_thesis():
    assert len(CASES) == 12
    for model in ("M_A", "M_E"):
        for cost in (WORK, TORQUE):
            rigid, series, parallel = (c.published[0] for c in CASES if (c.model, c.cost) == (model, cost))
            assert max(series, parallel) < rigid
    assert sum(c.published[1] == STEP_LENGTHS[0] for c in CASES) == 6


@pytest.mark.parametrize("drive", KINDS)
@pytest.mark.parametrize("cost", [TORQUE, WORK])
def test_the_compass_is_verified(solved, cost, drive):
    found = solved[cost, drive]
    assert found.ok
    assert max(found.result.kkt.values()) <= 1e-6
    assert found.result.defect <= 1e-6
    assert found.design.replay.balance.relative <= 1e-5
    assert found.design.replay.run.ledger.relative <= 1e-9
    assert STEP_LENGTHS[0] - 1e-6 <= found.design.step_length <= STEP_LENGTHS[1] + 1e-6
    assert found.result.parameters["slope"] == 0.05


def test_springs_in_series_cost_less_and_others_not_more(solved):
    for cost in (TORQUE, WORK):
        values = {drive: solved[cost, drive].value for drive in KINDS}
        assert values["series"] < 0.5 * values["rigid"]
        assert values["parallel"] == pytest.approx(
            values["rigid"], rel=1e-3
        )  # the best spring beside the motor is none
        assert solved[cost, "parallel"].springs["hip_spring"] < ZERO_BELOW
    assert solved[TORQUE, "rigid"].value == pytest.approx(1445.3, rel=1e-3)
    assert solved[TORQUE, "series"].turns > 5  # the fast oscillations that the thesis reports


def test_in_a_published_step_a_spring_beside_the_motor_does_it_alone():
    """0.650 m in 0.733 s, on the slope that suits it: published 0.0006, and with a spring nothing at all."""
    case = next(c for c in CASES if (c.model, c.cost, c.drive) == ("M_A", TORQUE, "parallel"))
    length, duration = case.published[1:]
    there = {"slope": (0.0, 0.35), "step_length": (length, length), "duration": (duration, duration)}
    sprung, rigid = (walk("M_A", drive, TORQUE, there, starts=3) for drive in ("parallel", "rigid"))
    assert sprung.ok
    assert sprung.value < 1e-6
    assert sprung.springs["hip_spring"] == pytest.approx(10.40, rel=1e-3)
    assert rigid.value > 1.0
    told = rows_of(case, sprung, sprung)
    assert "walks so by itself" in told[-1].remark
    assert told[0].published == "0.00060"


def test_steps_longer_than_legs_allow_are_told():
    case = next(c for c in CASES if (c.model, c.cost, c.drive) == ("M_A", TORQUE, "series"))
    length, duration = case.published[1:]
    there = {"slope": (0.0, 0.35), "step_length": (length, length), "duration": (duration, duration)}
    none = walk("M_A", "rigid", TORQUE, there, starts=1)
    assert not none.result.success
    row = rows_of(case, none, none)[-1]
    assert row.ours == "no such step"
    assert "steps up to 0.895 m" in row.remark


def test_rows_say_what_is_ours(solved):
    assert any("thesis does not say" in row.remark for row in settings())
    told = {row.quantity: row for row in together("M_A", solved)}
    assert told["M_A: squared torque, series over rigid"].remark.startswith("springs cost less")
    assert told["M_A: work, parallel over rigid"].remark.startswith("a spring beside a motor")
    free = next(row for quantity, row in told.items() if "free slope" in quantity)
    assert all(float(number) < 1e-6 for number in free.ours.split(","))


def test_it_is_listed():
    assert "saurel-actuators" in STUDIES


def test_the_whole_body_has_one_spring_for_both_sides():
    asked = problem("M_E", "series", TORQUE)
    assert set(asked.parameters) == {"hip_series_spring", "shoulder_series_spring", "slope"}
    assert asked.resumes["stance_hip_motor_torque"] == ("swing_hip_motor_torque", 1.0)
    assert {
        n: b for n, b in problem("M_E", "rigid", TORQUE).parameters.items() if n != "slope"
    } == dict.fromkeys(("hip_spring", "hip_rest", "shoulder_spring", "shoulder_rest"), (0.0, 0.0))


@pytest.mark.slow  # compiles a walker of 14 or 22 states for minutes
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("drive", KINDS)
def test_the_whole_body(drive):
    found = walk("M_E", drive, TORQUE, starts=4)
    assert found.ok
    if drive == "rigid":
        assert found.value == pytest.approx(196.39, rel=1e-3)
    else:
        assert found.value < 0.3 * 196.39
