"""Whole generations on a graphics card: the kernel's text through a driver that is none."""

import numpy as np
import pytest
from typer.testing import CliRunner

from strut import evolve, walkers
from strut.cli.app import application
from tests.evolve.test_fronts import JOB

MEASURES = {
    "steps": "count.touchdown",
    "speed": "x / end.time",
    "mean": "mean(vx)",
    "top": "largest(y)",
    "late": "largest_after(force, 1) / 1000",
}
SAME = 1e-6
"""Of runs with adaptive steps at 1e-9, whose rounding differs on a card."""


def problem(**options):
    evaluation = evolve.of_system(walkers.slip(), 5.0, MEASURES, rtol=1e-9, **options)
    goals = [evolve.maximise("steps", "steps >= 6"), evolve.maximise("speed")]
    return evolve.SearchProblem({"attack": (1.0, 1.3), "stiffness": (1e4, 4e4)}, evaluation, goals)


def test_measures_on_a_card_are_those_of_the_processor(fake_driver):
    x = np.column_stack([np.linspace(1.05, 1.25, 12), np.linspace(1.2e4, 3e4, 12)])
    seeds = np.zeros((12, 1), dtype=np.uint64)
    here, there = (problem(**options).evaluate(x, seeds) for options in ({}, {"device": "cuda"}))
    assert fake_driver.launches > 0
    assert here.status == there.status
    np.testing.assert_array_equal(there.measures[:, 0], here.measures[:, 0])
    np.testing.assert_allclose(there.measures, here.measures, rtol=SAME, atol=SAME)


def test_a_search_on_a_card_goes_generation_by_generation_and_on_here(fake_driver, tmp_path):
    """Its file is gone on with by the processor: where it runs is no part of the job."""
    path = tmp_path / "run.db"

    def stop(progress):
        if progress.generation == 2:
            raise KeyboardInterrupt

    part = evolve.search(problem(device="cuda"), evolve.Swarm(12), 6, seed=1, output=path, progress=stop)
    assert fake_driver.launches == 3
    assert not part.finished
    whole = evolve.search(problem(), evolve.Swarm(12), 6, seed=1, output=path, resume=True)
    assert whole.finished
    assert whole.best.stage == 2
    assert whole.best.value == pytest.approx(
        evolve.search(problem(), evolve.Swarm(12), 6, seed=1).best.value, rel=1e-3
    )


def test_the_command_runs_a_front_on_a_card(fake_driver, tmp_path):
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    answer = CliRunner().invoke(
        application(["evolve"]), ["evolve", str(job), "-o", str(tmp_path / "run.db"), "--device", "cuda"]
    )
    assert answer.exit_code == 0, answer.output
    assert fake_driver.launches == 12
    assert "front of" in answer.output
