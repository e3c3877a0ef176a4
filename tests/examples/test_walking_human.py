"""The human that walks: how far it comes, and the jobs in which its goals are changed."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from strut import evolve, simulate
from strut.cli.app import main
from strut.cli.evolve import read_described_job
from strut.errors import ModelError
from strut.gait import muscle_metabolic_power, work_metabolic_power
from tests.examples.gallery import check_printed
from tests.examples.test_examples import load

JOB = Path(__file__).parents[2] / "examples" / "human_job.toml"
MUSCLES_JOB = JOB.with_name("human_muscles_job.toml")
ROUNDING = 0.02  # relative: compilers round otherwise, and steps differ a little from each other


def test_the_human_walks(capsys):
    run = load("walking_human").main()
    assert run.status == "done"
    assert (run.at(10.0)["x"] - run.at(5.0)["x"]) / 5 == pytest.approx(1.235, rel=ROUNDING)
    check_printed("walking_human.py", capsys.readouterr().out, rel=ROUNDING)


def test_the_job_is_the_human_with_other_goals():
    with pytest.raises(ModelError, match="is Python, which would be run: add --run-code"):
        read_described_job(JOB, run_code=False, roots=())
    job = read_described_job(JOB, run_code=True, roots=())
    assert len(job.problem.space) == 34
    goals = job.problem.staged_goals.goals
    assert [goal.sense for goal in goals] == ["minimise"] * 6
    assert not any("0.9" in goal.value + goal.until for goal in goals)  # the speed is said once, as a measure
    assert goals[2].until == "spread < 0.1"  # [m/s] as steady as in the thesis
    own = job.problem.evaluation.system
    assert next(q.value for q in own.p if q.name == "load") == 20
    known = load("walking_human").walking_human()
    for each in job.problem.space.parameters:  # it begins around the gait of the example
        value = np.asarray(next(q.value for q in (*known.p, *known.x) if q.name == each.name)).item()
        assert each.first[0] <= value <= each.first[1], each.name


@pytest.mark.slow  # measures compiled for lanes: half a minute
def test_muscles_are_a_goal_and_are_measured_as_the_formula_says():
    """Of the gait that the search begins around: the goal's measure, from a run whose powers are computed apart."""
    job = read_described_job(MUSCLES_JOB, run_code=True, roots=())
    assert job.problem.staged_goals.goals[-1].value == "muscle_cost"
    known = load("walking_human").walking_human()
    names = job.problem.space.names
    for each in job.problem.space.parameters:
        value = np.asarray(next(q.value for q in known.p if q.name == each.name)).item()
        assert each.first[0] <= value <= each.first[1], each.name
    x = [np.asarray(next(q.value for q in known.p if q.name == name)).item() for name in names]
    answer = job.problem.evaluate(np.array([x]), np.zeros((1, 1), dtype=np.uint64))
    measures = dict(zip(job.problem.evaluation.measures, answer.measures[0], strict=True))
    run = simulate(known, 10.0, method="rk4", step=1.5e-4, ledger=False)
    moments = run.at(np.linspace(5, 10, 50001))
    torque, rate = ca.SX.sym("torque"), ca.SX.sym("rate")
    powers = ca.Function(
        "powers",
        [torque, rate],
        [muscle_metabolic_power(torque, rate, 20.0), work_metabolic_power(torque * rate)],
    )
    totals = np.zeros(2)
    for joint in ("hip", "knee", "ankle"):
        for side in "rl":
            parts = powers(moments[f"{joint}_{side}_torque"][None], moments[f"{joint}_{side}_rate"][None])
            totals += [float(np.mean(np.array(part))) for part in parts]
    costs = totals / 70 / (moments["x"][-1] - moments["x"][0]) * 5
    assert measures["muscle_cost"] == pytest.approx(costs[0], rel=ROUNDING)
    assert measures["work_cost"] == pytest.approx(costs[1], rel=ROUNDING)


@pytest.mark.slow  # nine hundred walks of ten seconds: half a minute on two quiet cores
def test_a_goal_of_muscles_saves_what_muscles_need(tmp_path):
    """In fifteen generations a twentieth less than the first that comes so far, with all goals before it kept."""
    text = MUSCLES_JOB.read_text(encoding="utf-8").replace("generations = 60", "generations = 15")
    job, file = tmp_path / "job.toml", tmp_path / "least.db"
    job.write_text(text.replace('"walking_human.py', f'"{JOB.parent}/walking_human.py'), encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["evolve", str(job), "--run-code", "-o", str(file)])
    assert left.value.code == 0
    evolution = evolve.load_evolution(file)
    history = evolution.history
    first = history["best_value"][history["best_stage"] == 5][0]
    assert evolution.best.stage == 5
    assert evolution.best.value < 0.95 * first
    assert evolution.best.measures["assist_time"] == evolution.best.measures["airborne_time"] == 0


def search_variation(folder, **changes):
    """What the job finds with other text in its file: by what is changed, the old and the new one."""
    text = JOB.read_text(encoding="utf-8").replace('"walking_human.py', f'"{JOB.parent}/walking_human.py')
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    job, file = folder / "human_job.toml", folder / "variation.db"
    job.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["evolve", str(job), "--run-code", "-o", str(file)])
    assert left.value.code == 0
    return evolve.load_evolution(file)


@pytest.mark.slow  # six hundred walks of ten seconds: half a minute on two quiet cores, and compiling for lanes
def test_one_command_finds_the_gait_for_another_goal(tmp_path):
    best = search_variation(tmp_path, length=("generations = 60", "generations = 12")).best
    assert best.stage == 6
    assert best.measures["speed"] == pytest.approx(0.9, abs=0.04)
    assert best.measures["spread"] < 0.1
    assert best.measures["assist_time"] == best.measures["airborne_time"] == 0


@pytest.mark.timeout(1800)
@pytest.mark.slow  # seven thousand walks of ten seconds: a minute and a half on two quiet cores
def test_the_job_finds_a_gait_on_the_moon(tmp_path):
    """As the head of the file says to, where another speed is one number."""
    best = search_variation(
        tmp_path,
        gravity=("set = { load = 20 }", "set = { g = 1.62 }"),
        goal=('asked_speed = "0.9"', 'asked_speed = "0.6"'),
        length=("generations = 60", "generations = 120"),
    ).best
    assert best.stage == 6
    assert best.measures["speed"] == pytest.approx(0.6, abs=0.04)
    assert best.measures["spread"] < 0.1
    assert best.measures["assist_time"] == best.measures["airborne_time"] == 0
