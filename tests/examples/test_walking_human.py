"""The human that walks: how far it comes, and the job in which its goals are changed."""

from pathlib import Path

import numpy as np
import pytest

from strut import evolve
from strut.cli.app import main
from strut.cli.evolve import read_described_job
from strut.errors import ModelError
from tests.examples.gallery import check_printed
from tests.examples.test_examples import load

JOB = Path(__file__).parents[2] / "examples" / "human_job.toml"
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
    assert len(job.problem.space) == 33
    assert [goal.sense for goal in job.problem.staged_goals.goals] == ["minimise"] * 5
    own = job.problem.evaluation.system
    assert next(q.value for q in own.p if q.name == "load") == 20
    known = load("walking_human").walking_human()
    for each in job.problem.space.parameters:  # it begins around the gait of the example
        value = np.asarray(next(q.value for q in known.p if q.name == each.name)).item()
        assert each.first[0] <= value <= each.first[1], each.name


@pytest.mark.slow  # six hundred walks of ten seconds: half a minute on two quiet cores, and compiling for lanes
def test_one_command_finds_the_gait_for_another_goal(tmp_path):
    file = tmp_path / "slow.db"
    text = JOB.read_text(encoding="utf-8").replace("generations = 60", "generations = 12")
    job = tmp_path / "human_job.toml"
    job.write_text(text.replace('"walking_human.py', f'"{JOB.parent}/walking_human.py'), encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["evolve", str(job), "--run-code", "-o", str(file)])
    assert left.value.code == 0
    best = evolve.load_evolution(file).best
    assert best.stage == 5
    assert best.measures["speed"] == pytest.approx(0.9, abs=0.04)
    assert best.measures["assist_time"] == best.measures["airborne_time"] == 0
