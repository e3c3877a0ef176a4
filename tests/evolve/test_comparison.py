"""Comparison of searches: one call, one table, one picture."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from strut import evolve, report
from strut.cli.app import application
from strut.errors import ModelError
from strut.evolve.comparison import SearchCurve
from tests.evolve.problems import CAMEL_STAGES, camel_problem

EXAMPLE = Path(__file__).parents[2] / "examples" / "slip_job.toml"


def test_all_searches_are_compared_on_one_problem():
    comparison = evolve.compare(camel_problem(), seeds=4, evaluations=400)
    table = comparison.columns()
    assert set(table["search"]) == set(evolve.SEARCHES) - {"grid", "metamorphic"}
    assert max(table["evaluations"]) <= 400
    assert min(table["evaluations"]) >= 300
    assert (np.diff(table["median"]) >= 0).all()  # the best median first
    for k in range(len(table["search"])):
        assert (
            table["best"][k]
            <= table["lower quartile"][k]
            <= table["median"][k]
            <= table["upper quartile"][k]
            <= table["worst"][k]
        )
    figure = report.comparison_figure(comparison, best_known=-1.031628453489877)
    lines = figure.by_name
    assert set(lines) == set(table["search"])
    curve = next(each for each in comparison.curves if each.name == "swarm")
    one = evolve.search(camel_problem(), evolve.Swarm(), 10, seed=2)
    np.testing.assert_array_equal(curve.values[2], one.columns()["best_value"])
    assert lines["swarm"].y[-1] == pytest.approx(np.log10(curve.quantile(0.5)[1][-1] + 1.031628453489877))
    assert "best median by" in repr(comparison)


def test_quantiles_rank_later_goals_first():
    stages, values = np.array([[1, 2], [2, 2], [1, 1]]), np.array([[9.0, 3.0], [5.0, 4.0], [7.0, 8.0]])
    curve = SearchCurve("a", np.array([1, 2]), stages, values, np.array([False, True, False]))
    for part, expected in (
        (0.0, ([2, 2], [5.0, 3.0])),
        (0.5, ([1, 2], [9.0, 4.0])),
        (1.0, ([1, 1], [7.0, 8.0])),
    ):
        stage, value = curve.quantile(part)
        assert stage.tolist() == expected[0]
        assert value.tolist() == expected[1]


def test_the_median_of_evenly_many_lies_between_the_middle_two():
    curve = SearchCurve(
        "two",
        np.array([10, 20]),
        np.array([[1, 2], [1, 1]]),
        np.array([[4.0, 7.0], [2.0, 3.0]]),
        np.array([False, False, False]),
    )
    stages, values = curve.quantile(0.5)
    assert stages.tolist() == [1, 1]
    assert values.tolist() == [3.0, 3.0]  # at different goals that of the worse


def test_staged_goals_are_drawn_from_where_the_last_is_reached():
    comparison = evolve.compare(camel_problem(CAMEL_STAGES), ["swarm"], seeds=[3, 5, 8], evaluations=1200)
    line = report.comparison_figure(comparison).by_name["swarm"]
    assert np.isnan(line.y[0])
    assert line.y[-1] < -1.0
    assert comparison.columns()["at the last goal"] == ["3 of 3"]


def test_fronts_are_compared_by_hypervolume():
    problem = evolve.SearchProblem(
        {"x": (-1.0, 2.0)},
        evolve.of_function(lambda x: {"a": x**2, "b": (x - 1) ** 2}, ("a", "b"), vectorised=True),
        evolve.front(evolve.minimise("a"), evolve.minimise("b"), reference=(4.0, 4.0)),
    )
    methods = {"small": evolve.Nsga2(10), "large": evolve.Nsga2(40)}
    comparison = evolve.compare(problem, methods, seeds=3, evaluations=200)
    assert comparison.value_name == "hypervolume of the front"
    # all of 4 x 4 but what lies below the curve sqrt(a) + sqrt(b) = 1: its area is 1/6
    assert comparison.columns()["best"][0] == pytest.approx(16 - 1 / 6, abs=0.05)
    assert np.all(np.diff(comparison.columns()["median"]) <= 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: evolve.compare(camel_problem(), ["swam"]), "did you mean 'swarm'"),
        (lambda: evolve.compare(camel_problem(), ["metamorphic"]), "needs pools"),
        (lambda: evolve.compare(camel_problem(), []), "searches is empty"),
        (lambda: evolve.compare(camel_problem(), ["swarm"], seeds=[]), "seeds is empty"),
        (
            lambda: evolve.compare(camel_problem(), ["swarm"], evaluations=39),
            "evaluates 40 individuals in a generation, and 39 evaluations",
        ),
    ],
)
def test_wrong_comparisons_are_explained(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def run(*arguments):
    return CliRunner().invoke(application(["compare"]), ["compare", *[str(each) for each in arguments]])


def test_the_command_prints_a_table_and_writes_a_picture(tmp_path):
    picture = tmp_path / "searches.svg"
    options = ("--searches", "cma-es,genetic", "--seeds", 2, "--evaluations", 120, "--json")
    answer = run(EXAMPLE, *options, "-o", picture)
    assert answer.exit_code == 0, answer.output
    table = json.loads(answer.stdout)["result"]
    assert set(table["search"]) == {"swarm (as in the job)", "cma-es", "genetic"}
    assert "evaluations" in picture.read_text()
    answer = run(EXAMPLE, "--searches", "swarm", "--seeds", 1, "--evaluations", 40)
    assert "at the last goal" in answer.output
    assert isinstance(run(EXAMPLE, "--searches", "swam").exception, (typer.BadParameter, SystemExit))
