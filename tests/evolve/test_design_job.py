"""Many starts of a design as a job."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from strut import evolve, optimal, walkers
from strut.cli.app import application
from strut.errors import StrutError, UnknownNameError

GOAL = """
speed = 0.8
slope = 0
cost = "squared-torque"
free = { hip_spring = [0, 100] }
"""
JOB = """
evaluate = { design = "compass", goal = "goal.toml" }
parameters = { hip_spring = { low = 5, high = 40 } }
goals = [{ minimise = "cost" }]
search = { kind = "grid", points = 2 }
"""


def run(*arguments):
    return CliRunner().invoke(application(["evolve"]), [str(each) for each in arguments])


@pytest.fixture
def job(tmp_path):
    (tmp_path / "goal.toml").write_text(GOAL)
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


def test_starts_of_a_design_are_individuals_and_agree(job, tmp_path):
    answer = run("evolve", job, "-o", tmp_path / "run.db", "--on", "processes", "--workers", 2, "--json")
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)["result"]
    assert data["evaluations"] == 2
    assert not data["failures"]
    single = optimal.design(walkers.compass(), {"hip_spring": (0, 100)}, speed=0.8, slope=0.0)
    costs = evolve.load_individuals(tmp_path / "run.db")["cost"]
    # a search ends where conditions of an optimum hold to 1e-8 of the scales; its mesh to 1e-5 of the cost
    np.testing.assert_allclose(costs, single.result.cost, rtol=1e-4)
    assert data["best"]["measures"]["free.hip_spring"] == pytest.approx(
        single.result.parameters["hip_spring"], rel=1e-2
    )
    (tmp_path / "goal.toml").write_text(GOAL.replace("0.8", "0.7"))
    refused = run("evolve", job, "-o", tmp_path / "run.db", "--resume")
    assert "is of another job: its problem.evaluation.asked is" in str(refused.exception)


def test_a_start_without_a_design_fails_and_says_why():
    evaluation = evolve.of_design(walkers.compass(), free=(), speed=40.0, budget=3.0)
    problem = evolve.SearchProblem({"hip_spring": (5.0, 40.0)}, evaluation, "cost")
    measured = problem.evaluate(np.array([[5.0]]), np.zeros((1, 1), dtype=np.uint64))
    assert np.isnan(measured.measures).all()
    assert measured.status[0].startswith(("not ok: ", "NoStrideError", "ModelError", "NoGaitError"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (', goal = "goal.toml"', "", "needs goal, what is asked of a step"),
        ('goal = "goal.toml"', 'goal = "none.toml"', "cannot read .*none.toml"),
        ('goal = "goal.toml"', 'goal = "goal.toml", tiem = 3', "has no 'tiem'"),
        ("hip_spring = {", "hip_sprng = {", "no parameter 'hip_sprng': did you mean 'hip_spring'"),
        ('"cost"', '"costs"', "did you mean 'cost'"),
    ],
)
def test_wrong_jobs_of_designs_are_explained(job, tmp_path, old, new, message):
    job.write_text(JOB.replace(old, new))
    answer = run("evolve", job, "-o", tmp_path / "a.db")
    assert isinstance(answer.exception, StrutError), answer.output
    import re

    assert re.search(message, str(answer.exception), re.DOTALL), str(answer.exception)
    assert not (tmp_path / "a.db").exists()


def test_a_free_parameter_that_is_none_is_refused():
    evaluation = evolve.of_design(walkers.compass(), free="hip_sprng", speed=0.8)
    with pytest.raises(UnknownNameError, match="did you mean 'hip_spring'"):
        evolve.SearchProblem({"hip_spring": (5.0, 40.0)}, evaluation, "cost")
