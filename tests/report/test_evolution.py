"""Pages of searches."""

import numpy as np
import pytest

from strut import evolve, report
from strut.errors import ModelError
from tests.evolve.problems import CAMEL_STAGES, camel_problem


def test_a_page_says_what_the_file_holds(tmp_path):
    path = tmp_path / "camel.db"
    evolution = evolve.search(camel_problem(CAMEL_STAGES), evolve.Swarm(8), 15, runs=2, seed=1, output=path)
    result = report.evolution_result(path)
    assert result.well
    progress, _, runs, population = result.chapters[:4]
    assert len(progress.figures["progress"].traces) == 2
    assert progress.figures["goals"].traces[0].y[-1] == evolution.best_of_run[0].stage
    assert len(runs.tables[0].rows) == 2
    assert set(population.figures) == {"parameter_x", "parameter_y"}
    text = result.page(tmp_path / "camel.html").read_text(encoding="utf-8")
    assert f"{evolution.best.value:.6g}" in text
    assert "240 evaluations in 2 of 2 runs" in text


def test_individuals_are_a_table(tmp_path):
    path = tmp_path / "camel.db"
    evolution = evolve.search(camel_problem(), evolve.Swarm(8), 5, seed=1, output=path)
    table = evolve.load_individuals(path)
    assert len(table["x"]) == len(table["status"]) == 40
    assert table["value"].min() == evolution.best.value
    np.testing.assert_array_equal(table["f"], table["value"])


def test_visits_of_subspaces_are_counted(tmp_path):
    path = tmp_path / "toy.db"
    problem = evolve.SearchProblem(
        {"x": (0.0, 1.0), "y": (0.0, 1.0)}, evolve.of_function(lambda x, y=0.0: x + y), "value"
    )
    method = evolve.MetamorphicSwarm({"pool": {"one": ["x"], "two": ["x", "y"]}}, swarm=evolve.Swarm(10))
    evolve.search(problem, method, 4, output=path)
    rows = report.evolution_result(path).chapters[3].tables[0].rows
    assert {row[0] for row in rows} == {"x", "x, y"}
    assert sum(row[1] for row in rows) == 40


def test_a_job_without_a_finished_generation_is_refused(tmp_path):
    path = tmp_path / "empty.db"

    def stop(x, y):
        raise KeyboardInterrupt

    problem = evolve.SearchProblem({"x": (0.0, 1.0), "y": (0.0, 1.0)}, evolve.of_function(stop), "value")
    with pytest.raises(ModelError, match="nothing to show yet"):
        evolve.search(problem, evolve.Swarm(4), 2, output=path)
    with pytest.raises(ModelError, match="nothing to show yet"):
        report.evolution_result(path)
