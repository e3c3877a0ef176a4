"""Jobs whose machine is a network: its variables are the parameters and the goals."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from strut import evolve, walkers
from strut.cli.app import application
from strut.cli.model import find_model
from strut.errors import ModelError, StrutError
from strut.evolve.job_file import read_job

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "network_job.toml"


def run(*arguments):
    return CliRunner().invoke(application(["evolve", "jobs"]), [str(each) for each in arguments])


def test_the_example_network_job_finds_a_front(tmp_path):
    path = tmp_path / "net.db"
    answer = run("evolve", EXAMPLE, "-o", path, "--json")
    assert answer.exit_code == 0, answer.output
    evolution = evolve.load_evolution(path)
    assert evolution.finished
    assert not evolution.failures
    assert len(evolution.front) >= 5
    assert all(each.measures["steps"] == 24 for each in evolution.front.individuals)
    assert set(evolution.best.parameters) == {"slip.aoa", "slip.k"}


def test_the_network_does_what_the_ready_made_runner_does():
    """The same machine, described twice: as many steps, as far."""
    job = read_job(EXAMPLE, lambda text: find_model(str(EXAMPLES / text)))
    names, row = ("slip.aoa", "slip.k"), np.array([[np.pi / 2 - 1.19, 20000.0], [0.3, 3e4]])
    seeds = np.zeros(2, dtype=np.uint64)
    ours = evolve.of_system(walkers.slip(), 30.0, {"steps": "count.touchdown"}, rtol=1e-6)
    attack = np.column_stack([np.pi / 2 - row[:, 0], row[:, 1]])
    expected = ours.evaluate(("attack", "stiffness"), attack, seeds).measures[:, 0]
    steps = job.problem.evaluation.evaluate(names, row, seeds).measures[:, 0]
    np.testing.assert_array_equal(steps, np.minimum(expected, 24))


def test_neurons_are_tuned_to_swing_by_one():
    """Two neurons that inhibit each other; goals are of their output after it has settled."""
    network = find_model(str(EXAMPLES / "network" / "13_matsuoka.cdn"))
    swing = "(largest_after(m.x, 6) - least_after(m.x, 6)) / 2"
    problem = evolve.SearchProblem(
        {"m.a": (1.5, 4.0), "m.c": (0.5, 5.0)},
        evolve.of_system(network, 10.0, {"swing": swing}, rtol=1e-5),
        [evolve.maximise("swing", until="swing > 0.2"), evolve.minimise("(swing - 1)**2")],
    )
    best = evolve.search(problem, evolve.Swarm(12), 8, seed=1).best
    assert best.measures["swing"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"slip.k" =', '"slip.kk" =', "did you mean 'slip.k'"),
        ('"slip.steps"', '"slip.step"', "measure 'steps'.*did you mean 'slip.state|slip.steps'"),
        ('"slip.k" = {', '"slip.fspring" = {', "no parameter, state or input 'slip.fspring'"),
        ("network/15_slip.cdn", "network/none.cdn", "none.cdn"),
    ],
)
def test_wrong_network_jobs_are_explained(tmp_path, old, new, message):
    text = EXAMPLE.read_text()
    assert old in text
    job = EXAMPLES / "network_job.toml"
    path = tmp_path / job.name
    text = text.replace(old, new).replace("network/", f"{EXAMPLES}/network/")
    path.write_text(text)
    answer = run("evolve", path, "-o", tmp_path / "a.db")
    assert isinstance(answer.exception, (StrutError, ModelError)), answer.output
    import re

    assert re.search(message, str(answer.exception), re.DOTALL), str(answer.exception)
