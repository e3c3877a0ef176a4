"""What is done with the best at the end of a run: confirmed where evaluations are noisy, or polished."""

import sqlite3

import numpy as np
import pytest

from strut import evolve
from strut.errors import ModelError
from tests.evolve.test_polish import valley, valley_gradient
from tests.evolve.test_store import content


def noisy(x, seed):
    """A bowl at 0.3 with noise that hides it: its deviation is 1."""
    generator = np.random.default_rng(seed)
    return (4 * (x - 0.3)) ** 2 + generator.standard_normal()


def noisy_problem(**options):
    return evolve.SearchProblem({"x": (0.0, 1.0)}, evolve.of_function(noisy, seeded=True), "value", **options)


def test_the_best_is_confirmed_and_not_the_luckiest():
    """One evaluation of a hundred is 2.5 deviations too good; the mean of 200 is right to 0.07."""
    lucky = evolve.search(noisy_problem(), evolve.Swarm(20), 5, seed=1).best
    assert lucky.value < -1.5
    confirmed = evolve.search(noisy_problem(confirm=200), evolve.Swarm(20), 5, seed=1).best
    assert confirmed.origin == "confirmed"
    assert confirmed.value == pytest.approx((4 * (confirmed.parameters["x"] - 0.3)) ** 2, abs=0.35)
    # it is the best of ten: by their means
    assert confirmed.value > lucky.value


def test_confirmation_is_kept_repeats_itself_and_is_done_once(tmp_path):
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    problem = noisy_problem(confirm=20, combine="worst")
    first = evolve.search(problem, evolve.Swarm(6), 4, runs=2, seed=2, output=whole)

    def stop(progress):
        if progress.run == 1 and progress.generation == 1:
            raise KeyboardInterrupt

    evolve.search(problem, evolve.Swarm(6), 4, runs=2, seed=2, output=parts, progress=stop)
    again = evolve.search(problem, evolve.Swarm(6), 4, runs=2, seed=2, output=parts, resume=True)
    assert again.best == first.best == evolve.load_evolution(whole).best
    assert content(parts) == content(whole)
    rows = "SELECT run, number, kind, x, measures, keys, status FROM final ORDER BY run, number"
    finals = [sqlite3.connect(path).execute(rows).fetchall() for path in (whole, parts)]
    assert finals[0] == finals[1]
    assert len(finals[0]) == 20
    # more generations: confirmed anew
    longer = evolve.search(problem, evolve.Swarm(6), 6, runs=2, seed=2, output=parts, resume=True)
    assert longer.best == evolve.search(problem, evolve.Swarm(6), 6, runs=2, seed=2).best


def test_a_search_polishes_the_best_of_each_run(tmp_path):
    path = tmp_path / "run.db"
    evaluation = evolve.of_function(valley, gradient=valley_gradient)
    problem = evolve.SearchProblem({"x": (-2.0, 2.0), "y": (-1.0, 3.0)}, evaluation, "value")
    evolution = evolve.search(problem, evolve.Swarm(10), 5, runs=3, seed=1, output=path, polish=True)
    assert [each.origin for each in evolution.best_of_run] == ["polished"] * 3
    assert max(each.value for each in evolution.best_of_run) < 1e-12
    assert evolution.best.parameters == pytest.approx({"x": 1.0, "y": 1.0}, abs=1e-5)
    assert evolve.load_evolution(path).best == evolution.best
    with pytest.raises(ModelError, match="another job: its polish is true"):
        evolve.search(problem, evolve.Swarm(10), 5, runs=3, seed=1, output=path, resume=True)


def test_a_goal_that_cannot_be_polished_is_kept_and_says_why(tmp_path):
    """Counts have no derivatives: known only where the search has come to."""
    from strut import walkers

    evaluation = evolve.of_system(walkers.slip(), 5.0, {"steps": "count.touchdown"}, rtol=1e-6)
    problem = evolve.SearchProblem({"attack": (1.1, 1.3)}, evaluation, evolve.maximise("steps"))
    evolution = evolve.search(problem, evolve.Swarm(6), 2, output=tmp_path / "run.db", polish=True)
    assert evolution.finished
    assert evolution.best.origin == "not polished"
    assert "'maximise steps' reads 'steps', which counts events" in evolution.best.status
    assert evolution.best.value == evolve.search(problem, evolve.Swarm(6), 2).best.value


def test_files_of_before_have_no_finals(tmp_path):
    path = tmp_path / "run.db"
    before = evolve.search(noisy_problem(), evolve.Swarm(6), 3, output=path).best
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE final")
    assert evolve.load_evolution(path).best == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: evolve.search(noisy_problem(confirm=5), evolve.Swarm(4), 2, polish=True),
            "each individual is evaluated 5 times: a goal with noise is not polished",
        ),
        (
            lambda: evolve.SearchProblem(
                {"x": (0.0, 1.0)},
                evolve.of_function(lambda x: {"a": x, "b": -x}, ("a", "b")),
                evolve.front(evolve.minimise("a"), evolve.minimise("b")),
                confirm=3,
            ),
            "a front has no one best to be confirmed",
        ),
        (lambda: evolve.search(noisy_problem(), evolve.Swarm(4), 2, polish=True), "has no derivatives"),
    ],
)
def test_wrong_ends_are_explained(make, message):
    with pytest.raises(ModelError, match=message):
        make()
