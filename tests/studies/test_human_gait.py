"""The study of human gaits: goals in their order, a solution known from elsewhere, the card's own text, tables and
curves of searches, and what the command refuses."""

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import Param, State, System, control, evolve
from strut.cli.app import main
from strut.errors import StorageError
from strut.evolve.goals import StagedGoals
from strut.studies import gait_verification
from strut.studies.gait_verification import VERIFICATION_FILE, WAYS, Verified, candidates_of, verify_bests
from strut.studies.human_gait import (
    GOAL_NAMES,
    JOINTS,
    human_goals,
    human_measures,
    human_problems,
    human_walker,
)
from strut.studies.human_pictures import choose_bests, impedance_plots, stage_plots, stride_plots
from strut.studies.human_table import human_rows
from strut.studies.normal_gait import likeness, normal_angles
from tests.simulate.fake_card import fake_driver, fake_driver_file

__all__ = ["fake_driver", "fake_driver_file"]

# a gait that another program found, with the same body and controller, and what that program measured of it over 10 s
# in double precision; between the two lie the order of operations, and references held over a step there
KNOWN_GAIT = {
    "hip": (
        (0.3184033477370842, 0.7409082587912973, 0.9480010464220665, 0.8434610679033449, 0.9202338795855914),
        (0.6304599007992729, 0.20466520943378197, -0.12055334487155236, -0.2942666256583435),
        (4546.1414228060885, 24.563079016138666),
    ),
    "knee": (
        (0.36525027138643984, 0.813676793604517, 0.4680242747960095, 0.7814720589089772, 0.10364890068362352),
        (0.14690472724343134, -0.07725619584233044, 0.010406824056171668, 1.203527087168255),
        (1259.7995729888264, 59.09214459347312),
    ),
    "ankle": (
        (0.247645431560104, 0.6419668156460676, 0.4517804584634838, 0.1011732277488763, 0.7705480767157072),
        (-0.19840553831134275, 0.11320682580612361, -0.3517803567623432, -0.0324276965240003),
        (3073.07862158423, 26.747641223306843),
    ),
}
KNOWN_MEASURES = {"torque": 153.15, "power_absolute": 269.2, "stance": 0.5947, "double_support": 0.1935}
AGREEMENT = 0.02  # relative: what the other program's float tables and held references make of it


def known_parameters():
    values = {}
    for joint, (shares, angles, (stiffness, damping)) in KNOWN_GAIT.items():
        values |= {f"{joint}_reference_share_{k}": v for k, v in enumerate(shares)}
        values |= {f"{joint}_reference_{k + 1}": v for k, v in enumerate(angles)}
        values |= {f"{joint}_stiffness": stiffness, f"{joint}_damping": damping}
    return values


def test_goals_are_reached_in_their_order():
    names = ("time", "speed", "speed_spread", "assist_time", "airborne_time", "torque")
    goals = StagedGoals(human_goals(), names)
    good = {
        "time": 10.0,
        "speed": 1.25,
        "speed_spread": 0.05,
        "assist_time": 0,
        "airborne_time": 0,
        "torque": 99.0,
    }
    worse = [
        {"time": 9.0},
        {"speed": 1.2},
        {"speed": 1.4},  # too fast is no better than too slow
        {"speed_spread": 0.2},
        {"assist_time": 0.1},
        {"airborne_time": 0.1},
        {},
    ]
    rows = [{**good, **each} for each in worse]
    keys = goals.keys({name: np.array([row[name] for row in rows]) for name in names})
    assert goals.stage(keys).tolist() == [0, 1, 1, 2, 3, 4, 5]
    assert len(GOAL_NAMES) == len(goals.goals)
    assert goals.stage_and_value(keys[-1]) == (6, 99.0)


@pytest.mark.slow  # 10 s of walking, compiled for lanes: a quarter of a minute on the processor
def test_a_gait_known_from_elsewhere_walks_as_it_did_there():
    problem = human_problems(("const",), lanes="auto")["const"]
    values = known_parameters()
    x = np.array([[values[name] for name in problem.space.names]])
    answer = problem.evaluate(x, np.zeros((1, 1), dtype=np.uint64))
    measures = dict(zip(problem.evaluation.measures, answer.measures[0], strict=True))
    assert measures["time"] == 10.0
    assert measures["assist_time"] == measures["airborne_time"] == 0
    assert measures["speed"] == pytest.approx(1.238, rel=0.005)
    assert measures["speed_spread"] == pytest.approx(0.0646, rel=0.05)
    for name, value in KNOWN_MEASURES.items():
        assert measures[name] == pytest.approx(value, rel=AGREEMENT), name


@pytest.mark.slow  # the machine's kernel compiled for the processor: half a minute
def test_the_card_s_text_walks_as_the_processor_does(fake_driver):
    """In double precision, 0.5 s, one of which falls: states to 1e-9, and the same endings."""
    tables = control.phase_tables(JOINTS, "ppoly")
    random = np.random.default_rng(1)
    x = np.array([[random.uniform(*q.bounds) for q in tables.parameters] for _ in range(6)])
    system = human_measures(human_walker("table"), 10.0).system
    asked = {"p": dict(zip(tables.labels, tables.rows(x).T, strict=True)), "method": "rk4", "step": 2.5e-4}
    here = strut.simulate_batch(system, 0.5, **asked)
    there = strut.simulate_batch(system, 0.5, device="cuda", **asked)
    assert there.device == "a card that is none"
    assert here.status.tolist() == there.status.tolist()
    assert "fall" in here.status
    np.testing.assert_allclose(there.x, here.x, rtol=1e-9, atol=1e-9)


def made_up_evolution(mode, torques, stages=None):
    """What three generations of some runs left, the last with these torques."""
    parameters = {q.name: float(np.mean(q.bounds)) for q in control.phase_tables(JOINTS, mode).parameters}
    stages = stages or [6] * len(torques)
    bests = tuple(
        evolve.Individual(run, 2, 0, parameters, {"torque": torque}, stage, torque)
        for run, (torque, stage) in enumerate(zip(torques, stages, strict=True))
    )
    runs, numbers = np.repeat(np.arange(len(torques)), 3), np.tile(np.arange(3), len(torques))
    stage = np.ravel([[1, 4, last] for last in stages])
    value = np.ravel([[9.0, 0.5, torque] for torque in torques])
    history = {"run": runs, "generation": numbers, "best_stage": stage, "best_value": value}
    best = min(bests, key=lambda each: (-each.stage, each.value))
    return evolve.Evolution(best, bests, True, 360, {}, 6, (), history=history, seconds=60.0)


def made_up_verified(mode, run, torque, stage, tried=1):
    measures = {
        "torque": torque,
        "speed": 1.24,
        "speed_spread": 0.06,
        "stance": 0.6,
        "double_support": 0.2,
        "power_absolute": 250.0,
    }
    best = evolve.Individual(run, 2, 0, {}, measures, stage, torque)
    return Verified(mode, best, dict.fromkeys(WAYS, measures), dict.fromkeys(WAYS, stage), 6, tried)


def test_the_table_has_published_beside_ours():
    evolutions = {
        "const": made_up_evolution("const", [200.0, 240.0]),
        "step": made_up_evolution("step", [150.0, 0.3], [6, 4]),
        "ppoly": made_up_evolution("ppoly", [220.0, 180.0]),
    }
    verified = {
        ("const", 0): made_up_verified("const", 0, 201.0, 5),
        ("const", 1): made_up_verified("const", 1, 241.0, 6, tried=3),
    }
    nested = {("step", 0): made_up_verified("step", 0, 150.0, 6)}
    table = human_rows(Path("here"), [evolutions], verified, evolutions, nested)
    rows = {row.quantity: row for row in table}
    assert (rows["mass [kg]"].published, rows["mass [kg]"].ours) == ("70", "70")
    height = rows["height of the centre of mass, upright [m]"]
    assert height.published == "1.10 (from table 5.4)"
    assert height.ours == "1.035"  # tests/walkers has it by hand
    assert rows["const: torque, mean (deviation)"].published == "232.3 (44.3)"
    assert rows["const: torque, mean (deviation)"].ours == "220.0 (28.3)"
    assert rows["step: runs that reach the last goal"].ours == "1 of 2"
    assert rows["step: parameters"].ours == "45"
    assert rows["order of mean torques"].ours == "step < ppoly < const"
    assert "const 241.0" in rows["order of mean torques"].remark  # of those that hold
    # of the published deviations, by hand: sqrt((44.3^2 + 56.1^2) / 10) = 22.6 and sqrt((56.1^2 + 53.3^2) / 10) = 24.5
    errors = rows["order of mean torques, by their errors"].published
    assert errors == "const - ppoly = 16.0 +- 22.6; ppoly - step = 25.4 +- 24.5"
    # (2.8 sqrt(44.3^2 + 56.1^2) / 16)^2 and (2.8 sqrt(56.1^2 + 53.3^2) / 25.4)^2, by hand, rounded up
    assert "157 and 73 runs of each mode" in rows["order of mean torques, by their errors"].remark
    saved = rows["ppoly: torque saved against const, run by run, from the same gaits [%]"]
    assert saved.ours == "-10, 25"
    assert rows["step: torque saved against const, run by run, from the same gaits [%]"].ours == "25"
    assert rows["const: first generation with goals 1 to 5 reached"].ours == "2, 2, 2, 3, 3"
    assert rows["const: run again, 30 s of steps of 0.1 ms"].ours == "1 of 2 keep all goals, 2 do not fall"
    assert rows["const: keep all goals in all ways"].ours == "1 of 2"
    assert "of 0 the best of the run does" in rows["const: keep all goals in all ways"].remark
    assert rows["const: stance of these"].ours == "60.0 to 60.0 %, mean 60.0"
    assert rows["step, from the same gaits: keep all goals in all ways"].ours == "1 of 1"
    assert "const, from the same gaits: keep all goals in all ways" not in rows
    # of the one at the last goal, whose search had measured what it is run again with
    assert rows["const: run again, located contacts, controlled steps"].remark.endswith(
        "from the search's it differs by 0.00 % in the median, 0.00 % at most"
    )
    assert "torque 241.0 N m" in rows["const: best of these, over 30 s"].ours
    step = rows["const: step of that best"]  # 1.3 / 1.8 and 1.24 / 1.8
    assert (step.published, step.ours) == ("0.722 m (stride 1.444 m)", "0.689 m (stride 1.378 m)")
    took = rows["evaluations, and how long they took"].ours
    assert took == "1080, in 3.0 min; then 1080 from 3 starts each, in 3.0 min"
    assert choose_bests(evolutions, verified)["const"].run == 1  # it keeps all goals
    assert choose_bests(evolutions, verified)["step"].run == 0
    titles = [plot.title for plot in stage_plots([evolutions] * 3)]
    assert titles[::2] == [f"part {k}: goals over time" for k in (1, 2, 3)]
    goals, torques = stage_plots([evolutions])
    assert goals.curves["step"] == [1.0, 4.0, 5.0]
    assert torques.curves["const"][-1] == 220.0
    assert np.isnan(torques.curves["const"][0])


def test_impedances_are_drawn_as_they_act():
    plots = {plot.title: plot for plot in impedance_plots({"step": made_up_evolution("step", [1.0]).best})}
    assert set(plots["hip stiffness"].curves["step"]) == {6000.0}
    assert stride_plots({}) is not None


def test_normal_gait_is_behind_angles_and_like_itself():
    """Peaks of the table where anatomy has them: swing's knee near 60 deg at 70 to 75 % of the stride."""
    percent = np.linspace(0, 100, 201)
    knee, deviation = normal_angles("knee", percent)
    assert 55 < knee.max() < 65
    assert 70 <= percent[np.argmax(knee)] <= 75
    assert -25 < normal_angles("ankle", percent)[0].min() < -15
    assert (deviation > 3).all()
    assert likeness("knee", knee) == pytest.approx(1.0)
    assert likeness("hip", -normal_angles("hip", percent)[0]) == pytest.approx(-1.0)
    angles = next(plot for plot in stride_plots({}) if plot.title == "knee angle")
    assert angles.band is not None
    assert "Schwartz" in angles.remark


def test_answers_are_kept_and_a_damaged_file_is_told(tmp_path):
    (tmp_path / VERIFICATION_FILE).write_text("{")
    best = made_up_evolution("const", [1.0]).best
    with pytest.raises(StorageError, match="is damaged"):
        verify_bests(tmp_path, {"const": {0: [best]}}, {}, lambda _: None)


def test_the_next_of_a_run_counts_where_its_best_breaks_a_goal(tmp_path, monkeypatch):
    """A best whose long run is assisted, one beside it that is left out, one further that holds."""
    best = made_up_evolution("const", [100.0]).best
    others = [
        replace(best, generation=k, value=v, parameters={**best.parameters, "hip_stiffness": v})
        for k, v in enumerate((100.1, 103.0, 110.0))
    ]
    asked = []

    def run_all_ways(todo, ways):
        asked.append([each.value for _, each in todo])
        entries = {}
        for mode, each in todo:
            stages = {"fine": 6, "long": 4 if each.value < 102 else 6}
            measures = {way: {"torque": each.value} for way in stages}
            entries[gait_verification._label(mode, each)] = {
                "measures": measures,
                "stages": stages,
                "goals": 6,
            }
        return entries

    monkeypatch.setattr(gait_verification, "run_all_ways", run_all_ways)
    candidates = {"const": {0: [best, *others[1:]]}}
    verified = verify_bests(tmp_path, candidates, {}, lambda _: None)["const", 0]
    assert (verified.individual.value, verified.tried, verified.holds) == (103.0, 2, True)
    assert asked == [[100.0], [103.0]]
    verify_bests(tmp_path, candidates, {}, lambda _: None)
    assert len(asked) == 2  # the rest is in the file
    none = verify_bests(tmp_path, {"const": {0: [best]}}, {}, lambda _: None)["const", 0]
    assert (none.kept_stage, none.holds, none.tried) == (4, False, 1)


def test_candidates_are_some_distance_apart(tmp_path):
    """Of a file of three generations at the last goal, two of which are the same within half a percent."""
    x = State("x", 0.0)
    a = Param("a", 0.0, bounds=(0.0, 1e3))
    inner = evolve.of_system(
        System("one", x=(x,), p=(a,), flow={"x": a.sym}), 1.0, {"torque": "x"}, method="rk4", step=0.5
    )
    problem = evolve.SearchProblem({"a": (0.0, 1e3)}, evolve.EncodedEvaluation(inner, Same()), "torque")
    method = evolve.Swarm(2)
    first = {"const": np.array([[[300.0], [310.0]]])}
    found = evolve.search_side_by_side({"const": problem}, method, 4, folder=tmp_path, first=first)
    group = candidates_of(tmp_path / "const.db", found["const"])[0]
    values = [each.value for each in group]
    assert values[0] == found["const"].best.value
    assert all(later > 1.005 * earlier for earlier, later in pairwise(values))
    assert group[-1].parameters == {"a": pytest.approx(group[-1].value)}


@dataclass(frozen=True)
class Same:
    """Writes what it reads."""

    names: tuple = ("a",)
    labels: tuple = ("a",)
    digest: str = "same"

    def rows(self, x):
        return x


def test_the_command_refuses_what_a_study_does_not_do(capsys, tmp_path):
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "garcia-simplest", "--runs", "3"])
    assert left.value.code == 2
    assert "does not search" in capsys.readouterr().err
    (tmp_path / "const.db").write_text("")
    with pytest.raises(SystemExit):
        main(["reproduce", "kieboom-human", "-o", str(tmp_path)])
    assert "no step.db" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["reproduce", "kieboom-human", "--list", "--json"])
    assert "kieboom-human" in {
        each["name"] for each in json.loads(capsys.readouterr().out)["result"]["studies"]
    }
