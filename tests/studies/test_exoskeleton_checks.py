"""What is run again and screened again lowers the goal that tables tell of a best, and counts of runs with it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from strut import linkage, walkers
from strut.errors import StorageError
from strut.studies import exoskeleton_checks, exoskeleton_found
from strut.studies.exoskeleton_checks import (
    CHECKS_FILE,
    check_designs,
    check_rows,
    checked_design,
    checked_rival,
    checked_stage,
    count_rows,
    is_stable_gait,
)
from strut.studies.exoskeleton_gait import RIGID_FRICTION
from strut.studies.exoskeleton_own_walk import (
    SOUND_WALK,
    STRIDE_SAMPLES,
    screen_postures,
    screen_walk,
    walk_miss,
)
from strut.studies.exoskeleton_rival import RIVAL, rival_evaluation
from strut.studies.exoskeleton_table import LAST_GOAL, design_rows, verdict_row
from strut.studies.known_exoskeletons import known_rival, refined_exoskeletons, refined_rival

SOUND = {"ok": 1.0, "strength": 0.6, "regularity": 0.5, "farthest": 0.2, "beyond": 0.3}
FINE = {"stage": 5.0, "time": 10.0, "power_absolute": 241.0, "assist_time": 0.4}
HOLDING = {"screened": {"ok": 1.0}, "walked": SOUND, "fine": FINE, "long": {**FINE, "time": 30.0}}
"""What is answered of a design that keeps everything."""
UNSOUND = {**SOUND, "ok": 0.0, "strength": 0.0}


def rival_search(best):
    """As a search would be that found it."""
    return SimpleNamespace(best=best, stages=3)


@pytest.mark.parametrize(
    ("answers", "stage"),
    [
        ({}, 5),
        (HOLDING, 5),
        ({"fine": {"stage": 7.0}}, 5),
        ({"fine": {**FINE, "stage": 4.0}}, 4),
        ({"long": {**FINE, "stage": 3.0, "time": 12.0}}, 3),
        ({"screened": {"ok": 0.0}}, 1),
        ({"walked": UNSOUND}, 1),
        ({"walked": {"ok": 0.0, "time": 3.2}}, 3),
        ({"walked": SOUND_WALK}, 5),
        ({"rigid": {**FINE, "stage": 3.0}}, 5),  # compared are walks on soft ground
        ({"screened": {"ok": 0.0}, "long": {"stage": 3.0}}, 1),
    ],
)
def test_the_lowest_goal_counts(answers, stage):
    assert checked_stage(5, HOLDING | answers if answers else {}) == stage
    assert checked_stage(5, answers) == stage
    assert checked_stage(2, answers) == min(2, stage)


def test_peaks_in_fine_steps_count():
    answers = {**HOLDING, "fine": {**FINE, "peak_power": 700.0}}
    assert checked_stage(5, answers, {"peak_power": 700.0}) == 5
    assert checked_stage(5, answers, {"peak_power": 600.0}) == 4
    assert checked_stage(3, answers, {"peak_power": 600.0}) == 3


@pytest.mark.parametrize(
    "failed",
    [
        {"screened": {"ok": 0.0}},
        {"walked": UNSOUND},
        {"long": {**FINE, "stage": 3.0}},
        {"screened": {"ok": 0.0}, "long": {**FINE, "stage": 3.0}},
    ],
)
def test_who_fails_a_check_is_better_than_nobody(failed):
    """Less power than the rival's counts of designs alone that keep everything; of the rival, too."""
    design = refined_exoskeletons()["7-13"]
    rival = checked_rival(rival_search(known_rival()), {"fine": {**FINE, "power_absolute": 299.0}})
    assert rival.stage == LAST_GOAL
    holds = checked_design(design, HOLDING)
    assert (holds.stage, holds.measures["power_absolute"]) == (LAST_GOAL, 241.0)
    assert verdict_row([holds], rival).ours == "yes"
    fails = checked_design(design, HOLDING | failed)
    row = verdict_row([fails], rival)
    assert (row.ours, row.remark) == ("no", "no exoskeleton is at the last goal, the rival is")
    falls = {"fine": FINE, "long": {**FINE, "stage": 3.0, "time": 20.0}}
    fallen_rival = checked_rival(rival_search(known_rival()), falls)
    assert verdict_row([holds], fallen_rival).ours == "not decided"
    # one that has no rows of its own decides, too, where those before it fail
    rows = {row.quantity: row for row in design_rows([fails, fails, fails, holds], rival)}
    assert rows["is an exoskeleton better than the anthropomorphic one?"].ours == "yes"
    assert "best 3: added mass [kg]" in rows
    assert "best 4: added mass [kg]" not in rows


def test_runs_are_counted_twice():
    """As the search has them, and those that hold; who was not asked everything does not count as one."""
    designs = [replace(refined_exoskeletons()[name], run=k) for k, name in enumerate(("7-13", "3-12"), 1)]
    assert all(is_stable_gait(design.worn_design()) for design in designs)
    first, second = (design.title for design in designs)
    partly = {way: answer for way, answer in HOLDING.items() if way != "walked"}

    def counts(*answers):
        checks = dict(zip((first, second), answers, strict=True))
        return [row.ours for row in count_rows(designs, checks)]

    assert counts(HOLDING, HOLDING) == ["2 of 2"] * 4
    assert counts(HOLDING, HOLDING | {"walked": UNSOUND}) == ["2 of 2", "2 of 2", "1 of 2", "1 of 2"]
    assert counts(HOLDING | {"long": {"stage": 2.0}}, partly) == ["2 of 2", "2 of 2", "0 of 2", "0 of 2"]
    heavy_power = {**FINE, "power_absolute": 1500.0}
    assert counts(HOLDING, HOLDING | {"fine": heavy_power}) == ["2 of 2", "2 of 2", "2 of 2", "1 of 2"]
    assert [row.ours for row in count_rows(designs, {})] == ["2 of 2", "2 of 2"]
    peaks = {first: HOLDING | {"fine": {**FINE, "peak_power": 9.0}}}
    for limit, count in ((9.0, "1 of 1"), (8.0, "0 of 1")):
        assert count_rows(designs[:1], peaks, {"peak_power": limit})[-1].ours == count


def test_old_answers_are_gone_on_with(tmp_path, monkeypatch):
    """A file without what is asked today is filled up; what it has is not asked again, but for walks on ground
    that held without limit; and what a best of an earlier generation did is not told of this one."""
    design = refined_exoskeletons()["7-13"]
    title, asked = design.title, []
    generation = f"{title}, generation {design.individual.generation}"
    rival = rival_search(refined_rival())
    of_rival = f"{RIVAL}, generation {rival.best.generation} of run {rival.best.run + 1}"
    broke_off = {"stage": 2.0}
    old = {
        generation: {"screened": {"ok": 0.0}, "fine": {**FINE, "power_absolute": 296.0}, "rigid": broke_off},
        f"{title}, generation 0": {"screened": {"ok": 1.0}, "long": FINE},
        of_rival: {"fine": FINE, "long": FINE},
    }
    (tmp_path / CHECKS_FILE).write_text(json.dumps(old), encoding="utf-8")

    def answer(word, value):
        def ask(_, way="walked"):
            asked.append((word, way))
            return value

        return ask

    monkeypatch.setattr(exoskeleton_checks, "run_again", answer("linkage", {**FINE, "stage": 4.0}))
    monkeypatch.setattr(exoskeleton_checks, "screen_walk", answer("linkage", SOUND))
    monkeypatch.setattr(exoskeleton_checks, "rival_run_again", answer("rival", FINE))
    told = []
    for _ in range(2):
        checks = check_designs(tmp_path, [design], rival, shown=1, tell=told.append)
    assert asked == [("linkage", "walked"), ("linkage", "long"), ("linkage", "rigid"), ("rival", "rigid")]
    assert told[0] == f"{generation} is run again: walked"
    assert checks[title]["long"]["stage"] == 4.0
    assert checks[title]["fine"]["power_absolute"] == 296.0
    assert checks[title]["rigid"]["stage"] == 4.0
    assert set(checks) == {title, RIVAL}
    rows = {row.quantity: row for row in check_rows([title, RIVAL], checks)}
    again = rows[f"{title} run again"]
    assert again.ours == "fine: power, 10.0 s; long: speed, 10.0 s; rigid: speed, 10.0 s"
    assert again.remark.split("; ") == [
        "fails the finer screening",
        "rigid ground has friction 0.8, as soft ground has",
    ]
    short = {title: {"fine": FINE, "rigid": {**FINE, "stage": 3.0, "time": 3.67}}}
    (row,) = check_rows([title], short)
    assert row.ours == "fine: power, 10.0 s; rigid: time, 3.7 s"
    assert row.remark.endswith("or in too many steps of feet that chatter")
    (walked,) = [row for name, row in rows.items() if "along its own walk" in name]
    assert walked.ours == "0.60, 0.50"
    assert walked.remark.startswith("up to 0.20 rad from the stride, 30 % of the time beyond the 0.1 rad")
    # on the page of a search that is not the best one rigid ground is left out
    asked.clear()
    (tmp_path / CHECKS_FILE).unlink()
    check_designs(tmp_path, [design], None, shown=0, tell=told.append)
    assert [way for _, way in asked] == ["walked", "fine", "long"]
    (tmp_path / CHECKS_FILE).write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match=r"checks.json is damaged"):
        check_designs(tmp_path, [design], None, shown=0, tell=told.append)


def test_rigid_ground_has_the_friction_of_soft_ground(monkeypatch):
    """Feet of what is run again on rigid ground may slide, of the rival, too."""
    design = refined_exoskeletons()["7-13"]
    values = {q.name: float(q.value[0]) for q in design.machine("soft").p}
    assert values["friction"] == RIGID_FRICTION
    asked = []

    def build(*_, ground, friction, **__):
        asked.append((ground, friction))
        raise LookupError

    monkeypatch.setattr(exoskeleton_found, "exoskeleton_walker", build)
    monkeypatch.setattr(walkers, "anthropomorphic_exoskeleton", build)
    for ground in ("rigid", "soft"):
        for machine in (design.machine, lambda ground: rival_evaluation(1.0, ground=ground)):
            with pytest.raises(LookupError):
                machine(ground)
    assert asked == [("rigid", RIGID_FRICTION)] * 2 + [("soft", None)] * 2


def test_postures_far_from_the_stride_are_screened():
    """Along the stride a design of the package passes and is nowhere far; a walk that overstretches a knee
    comes near the dead point that it has there, though no posture of the stride does."""
    design = refined_exoskeletons()["7-13"]
    stride = linkage.stride_postures(STRIDE_SAMPLES)
    along = screen_postures(design, [stride, stride])
    assert along["ok"] == 1.0
    assert along["farthest"] == 0.0
    assert along["beyond"] == 0.0
    assert min(along["strength"], along["regularity"]) > 0.1
    away = stride.copy()
    away[:100, 1] = np.linspace(stride[0, 1], -0.35, 100)  # the knee of one leg
    away[100:, 1] = stride[100:, 1]
    beyond = screen_postures(design, [stride, away])
    assert beyond["ok"] == 0.0
    assert min(beyond["strength"], beyond["regularity"]) < 0.1
    assert beyond["farthest"] > 0.3
    assert 0.0 < beyond["beyond"] < 0.2
    assert walk_miss(beyond) == "comes near a singularity along its own walk"
    assert walk_miss({"ok": 0.0, "time": 3.24}) == "falls after 3.2 s in steps of 0.25 ms"
    assert walk_miss(along) == walk_miss({}) == walk_miss(SOUND_WALK) == ""


@pytest.mark.timeout(3000)
@pytest.mark.slow  # machines of two topologies are compiled
@pytest.mark.parametrize(
    ("name", "strength", "regularity", "farthest"), [("7-13", 0.62, 0.48, 0.20), ("6-14", 0.22, 0.61, 0.40)]
)
def test_own_walks_of_the_package_are_sound(name, strength, regularity, farthest):
    """They leave what is screened before they walk, by more than 0.1 rad, and come to no dead point there."""
    walked = screen_walk(refined_exoskeletons()[name])
    assert walked["ok"] == 1.0
    assert walked["strength"] == pytest.approx(strength, abs=0.02)
    assert walked["regularity"] == pytest.approx(regularity, abs=0.02)
    assert walked["farthest"] == pytest.approx(farthest, abs=0.03)
    assert walked["beyond"] > 0.2
