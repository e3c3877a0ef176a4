"""COMAN's studies that search, in a short form: what is read of a trial, and the search with a model in the
place of the robot. The whole ones are slow."""

import json
from dataclasses import replace

import numpy as np
import pytest

from strut import evolve
from strut.control import WalkMotion, WalkPattern
from strut.studies import STUDIES, dallali_ground, dallali_walk
from strut.studies import dallali_walk_trials as trials
from strut.studies.study import ColourMap, Plot, Row, SearchOrder, SearchOutcome
from strut.studies.trial_search import search_trials, trial_study, trials_row
from tests.studies.test_studies import main_exits

STEP_TIME = 0.6


def synthetic_trial(landings=12, fall_at=None):
    """Readings of a walk whose feet land in turn, 8 cm apart, until it falls."""
    pattern = WalkPattern(
        step_length=0.08,
        step_time=STEP_TIME,
        double_support=0.2,
        com_height=0.48,
        sway=0.07,
        clearance=0.03,
        steps=trials.STEPS,
        spread=0.0726,
    )
    t = np.arange(0.0, pattern.duration + 1, trials.READ_EVERY)
    feet, down = pattern.feet(t), pattern.feet_down(t)
    readings = {"com_z": np.full(len(t), 0.48)}
    for k, side in enumerate("rl"):
        for name in trials.FEET[side]:
            readings[name] = np.where(down[:, k] | (t > pattern.swings[landings - 1].end + 0.01), 28.0, 0.0)
        readings[f"{side}_sole0_x"], readings[f"{side}_sole0_y"] = feet[:, k, 0], feet[:, k, 1]
    if fall_at is not None:
        for column in readings.values():
            column[t > fall_at] = np.nan
    nothing = np.zeros((2, 3))
    motion = WalkMotion(
        pattern,
        np.array([0.0, pattern.duration]),
        coordinates={},
        joints=(),
        feet=nothing,
        com=nothing,
        zmp=nothing,
        zmp_reference=nothing,
    )
    return readings, motion


def test_a_foot_that_bounces_does_not_step():
    air, ground = [0.0], [50.0]
    force = np.array(ground * 5 + air * 30 + ground * 2 + air * 3 + ground * 10 + air * 5 + ground)
    assert trials.landing_moments(force) == [35, 55]


def test_a_walk_is_read_from_forces_and_places():
    read = trials.read_trial(*synthetic_trial(), fell=False)
    assert read["steps"] == trials.STEPS
    assert read["complete"] == 1
    # the last foot comes beside the other: eleven steps of 8 cm
    assert read["distance"] == pytest.approx(11 * 0.08)
    assert read["aside"] == pytest.approx(0.0)
    assert read["advance"] == pytest.approx(11 * 0.08 / (12 * STEP_TIME))


def test_one_that_falls_or_makes_too_few_steps_is_not_complete():
    fallen = trials.read_trial(*synthetic_trial(fall_at=5.0), fell=True)
    assert (fallen["complete"], fallen["advance"]) == (0, 0)
    assert fallen["steps"] == 6  # at 1.6, 2.2, ... 4.6 s
    assert fallen["upright"] == pytest.approx(5.0 / (2 + 12.2 * STEP_TIME), abs=0.01)
    # one that lies down and ends in no event has fallen, too
    readings, motion = synthetic_trial()
    readings["com_z"][700:] = 0.3
    assert trials.read_trial(readings, motion, fell=False)["complete"] == 0
    short = trials.read_trial(*synthetic_trial(landings=8), fell=False)
    assert (short["steps"], short["complete"]) == (8, 0)


def test_feet_that_rattle_in_turn_do_not_walk():
    readings, motion = synthetic_trial()
    n = len(readings["com_z"])
    for side, shift in (("r", 0), ("l", 10)):
        loaded = ((np.arange(n) + shift) // 10) % 2 == 0
        for name in trials.FEET[side]:
            readings[name] = np.where(loaded, 28.0, 0.0)
    # each foot is down for a tenth of a second and up for another; half a step lasts three of these
    assert trials.read_trial(readings, motion, fell=False)["steps"] <= n * trials.READ_EVERY / 0.3 + 1


def fake_forces(stiffness, damping):
    """A foot force that knows its ground: forces of a mass on a spring and a damper that settle."""
    t = np.arange(0.0, 0.25, 0.002)
    w = np.sqrt(10 * stiffness / 28.36)[:, None]
    decay = (10 * damping / 28.36 / 2)[:, None]
    force = 140 * (1 - np.exp(-decay * t) * np.cos(w * t))
    return np.stack([force, force], axis=1)


def keep_quiet(line):
    """Nobody listens."""


def test_a_search_recovers_the_ground(monkeypatch, tmp_path):
    monkeypatch.setattr(dallali_ground, "foot_forces", fake_forces)
    dallali_ground.measured_forces.cache_clear()
    try:
        findings = dallali_ground.carry_out(SearchOrder(tmp_path, seed=1), keep_quiet)
    finally:
        dallali_ground.measured_forces.cache_clear()
    rows = {row.quantity: row for row in findings.rows}
    assert (rows["trials"].ours, rows["trials"].remark) == ("100", "")
    # within the noise of the last trials, 1 % of the range, and of the readings, whose cost is flat there
    assert float(rows["stiffness of one point [N/m]"].ours) == pytest.approx(203600, rel=0.1)
    assert float(rows["damping of one point [N s/m]"].ours) == pytest.approx(1006, rel=0.2)
    assert float(rows["RMS error of vertical forces [N]"].ours) < 1.1 * dallali_ground.FORCE_NOISE
    cost = np.array(findings.maps[0].values)
    row, column = np.unravel_index(cost.argmin(), cost.shape)
    # the least of the map is at the planted ground, as far as its grid tells
    assert findings.maps[0].x[column] == pytest.approx(203600, abs=4.5e5 / 14)
    assert findings.maps[0].y[row] == pytest.approx(1006, abs=2400 / 12)


def test_a_search_without_any_walk_says_so(monkeypatch, tmp_path):
    def all_fall(**columns):
        count = len(columns["step_time"])
        return {name: np.full(count, 3.0 if name == "steps" else 0.0) for name in trials.MEASURES}

    monkeypatch.setattr(dallali_walk, "measure_trials", all_fall)
    rows = dallali_walk.carry_out(SearchOrder(tmp_path, trials=20), keep_quiet).rows
    assert [(row.quantity, row.ours, row.remark) for row in rows][1] == (
        "walks of 10 steps among them",
        "none",
        "most steps: 3",
    )


def test_ranges_are_what_a_pattern_takes_and_a_player_can_hold():
    slowest = {name: high for name, (_, high, _) in trials.RANGES.items()}
    quickest = {name: low for name, (low, _, _) in trials.RANGES.items()}
    for parameters in (slowest, quickest):
        pattern = WalkPattern(**parameters, steps=trials.STEPS, spread=trials.HALF_HIP_DISTANCE)
        every = pattern.step_time / trials.KNOTS_PER_STEP
        assert np.ceil(pattern.duration / every) + 1 <= trials.KNOTS


def bowl(order, tell):
    """Searches for the bottom of a bowl."""
    problem = evolve.SearchProblem(
        {"x": (-1, 1), "y": (-1, 1)}, evolve.of_function(lambda x, y: x**2 + y**2), "value"
    )
    evolution = search_trials(problem, evolve.ParticleFilter(5, first=5), order, tell, trials=20)
    colours = ColourMap(
        "the bowl", "x", "y", "depth", (0.0, 1.0), (0.0, 1.0), ((0, 1), (1, 2)), {"best": ([0.0], [0.0])}
    )
    plot = Plot("progress", "generation", "best", (1.0, 2.0), {"search": (1.0, 0.5)})
    rows = [trials_row(evolution, "20"), Row("least", "0", f"{evolution.best.value:.6f}")]
    return SearchOutcome(rows, [plot], maps=[colours])


@pytest.fixture
def bowl_study(monkeypatch):
    study = trial_study("bowl", "a bowl", "nobody", bowl)
    monkeypatch.setitem(STUDIES, "bowl", study)
    return study


def test_a_study_that_counts_trials_is_a_job(tmp_path, bowl_study, capsys):
    folder = tmp_path / "bowl"
    command = ["reproduce", "bowl", "-o", str(folder), "--trials", "15", "--seed", "2"]
    main_exits(command, 0)
    whole = evolve.load_individuals(folder / "trials.db")
    assert len(whole["x"]) == 15
    text = (folder / "index.html").read_text()
    assert "the bowl" in text
    assert "progress" in text
    assert "the same command goes on" in " ".join(capsys.readouterr().err.split())
    # the same command again finds nothing to do, --no-search tells the same
    for more in ([], ["--no-search"]):
        main_exits([*command, *more, "--json"], 0)
        assert json.loads(capsys.readouterr().out)["result"]["rows"][0]["ours"] == "15"
    # another seed is another job, and is not written over this one
    main_exits([*command[:-1], "3"], 2)
    assert "trials.db" in capsys.readouterr().err
    assert bowl_study.rows()[0].ours == "20"


def test_the_page_is_there_before_rows_that_take_long(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "slow"
    pages = []

    def compute_rows():
        pages.append((folder / "index.html").read_text())
        return [Row("multipliers", "", "0.75")]

    def slow_bowl(order, tell):
        return replace(bowl(order, tell), later_rows=compute_rows)

    monkeypatch.setitem(STUDIES, "slow", trial_study("slow", "a bowl", "nobody", slow_bowl))
    main_exits(["reproduce", "slow", "-o", str(folder), "--json"], 0)
    assert "least" in pages[0]
    assert "multipliers" not in pages[0]
    assert "multipliers" in (folder / "index.html").read_text()
    assert json.loads(capsys.readouterr().out)["result"]["rows"][-1]["ours"] == "0.75"


def test_one_that_is_stopped_says_so_and_goes_on_to_the_same_end(tmp_path, bowl_study):
    order = SearchOrder(tmp_path / "whole", seed=4)
    bowl(order, keep_quiet)

    def interrupt(line):
        if line.startswith("10 of"):
            raise KeyboardInterrupt

    half = SearchOrder(tmp_path / "half", seed=4)
    assert bowl(half, interrupt).rows[0].remark == "stopped before all were done; the same command goes on"
    assert bowl(half, keep_quiet).rows == bowl(order, keep_quiet).rows
    both = [evolve.load_individuals(each.folder / "trials.db")["x"] for each in (half, order)]
    assert np.array_equal(*both)
    # a limit of time ends it after the first generation
    short = SearchOrder(tmp_path / "short", seed=4, minutes=1e-9)
    assert bowl(short, keep_quiet).rows[0].ours == "5"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["garcia-simplest", "--trials", "3"], "'garcia-simplest' does not search"),
        (["garcia-simplest", "-o", "garcia.db"], "ends with .html"),
        (["bowl", "--runs", "2"], "'bowl' has no --runs: it takes --trials, --seed, --minutes"),
        (["bowl", "--device", "cuda"], "'bowl' has no --device"),
        (["bowl", "--only", "7-13"], "'bowl' has no --only"),
        (["kieboom-exoskeleton", "--keep", "pins"], "say with --only of which"),
        (["kieboom-exoskeleton", "--only", "7-13", "--keep", "j9"], "'j9' of 7-13 cannot be kept"),
        (["garcia-simplest", "--only", "2"], "'garcia-simplest' does not search"),
        (["kieboom-human", "--trials", "2"], "'kieboom-human' has no --trials: it takes --runs"),
        (["bowl", "--trials", "0"], "--trials"),
        (["bowl", "--seed", "-1"], "seed"),
        (["bowl", "--no-search", "-o", "nowhere"], "search first, or name the folder"),
    ],
)
def test_what_a_search_cannot_do_is_refused(arguments, sentence, bowl_study, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    main_exits(["reproduce", *arguments], 2)
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow  # a hundred runs of COMAN's legs, and 195 for the map: a minute of processor
@pytest.mark.timeout(900)
def test_the_planted_ground_is_recovered_from_forces():
    rows = {row.quantity: row.ours for row in STUDIES["dallali-ground"].rows()}
    assert rows["trials"] == "100"
    assert float(rows["stiffness of one point [N/m]"]) == pytest.approx(203600, rel=0.03)
    assert float(rows["damping of one point [N s/m]"]) == pytest.approx(1006, rel=0.15)
    # forces of the planted ground with their noise of 2 N
    assert float(rows["RMS error of vertical forces [N]"]) < 2.1


@pytest.mark.slow  # 300 walks of 15 driven joints: three minutes of processor
@pytest.mark.timeout(1800)
def test_coman_walks():
    rows = {row.quantity: row.ours for row in STUDIES["dallali-walk"].rows()}
    assert int(rows["trials"]) == 300
    assert int(rows["steps of the best"]) >= 10
    assert float(rows["its speed [m/s]"]) > 0.15
    assert float(rows["largest tilt of the waist [rad]"]) < 0.3
