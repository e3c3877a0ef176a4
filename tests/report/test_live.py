"""Pages of jobs: the best in motion, visits of subspaces, and a page that follows a job while it runs."""

import re
import threading

import numpy as np
import pytest

from strut import evolve, report, view, walkers
from strut.errors import ModelError, StorageError
from strut.report.population import distribution_figures, visit_figures
from tests.view.browser import Visit, browser

BOUNDS = {"attack": (1.0, 1.3), "stiffness": (1e4, 4e4)}


def slip_problem():
    runs = evolve.of_system(walkers.slip(), 20.0, {"steps": "count.touchdown"}, rtol=1e-6)
    return evolve.SearchProblem(BOUNDS, runs, evolve.maximise("steps"))


def test_the_best_of_a_job_runs_again_as_it_was_evaluated(tmp_path):
    path = tmp_path / "run.db"
    evolution = evolve.search(slip_problem(), evolve.Swarm(8), 2, runs=2, seed=3, output=path)
    runs = evolve.run_individuals(path, evolution.best_of_run)
    for run, individual in zip(runs, evolution.best_of_run, strict=True):
        assert run.events.counts()["touchdown"] == individual.measures["steps"]
    assert evolve.run_individuals(path, [evolution.best], 0.5)[0].t1 <= 0.5
    result = report.evolution_result(path)
    films = next(chapter.films for chapter in result.chapters if chapter.heading == "In motion")
    assert next(iter(films)).startswith(
        f"run {evolution.best.run + 1}, generation {evolution.best.generation + 1}: goal 1"
    )
    page = result.page(tmp_path / "page.html").read_text()
    assert len(set(re.findall(r'data-film="([\w-]+)"', page))) == len(films) > 0
    again = view.Result.load(result.save(tmp_path / "result.json"))  # the file keeps what is shown of them
    page = again.page(tmp_path / "again.html").read_text()
    assert len(set(re.findall(r'data-film="([\w-]+)"', page))) == len(films)


def test_a_job_without_a_machine_has_no_pictures(tmp_path):
    path = tmp_path / "run.db"
    problem = evolve.SearchProblem({"x": (0, 1)}, evolve.of_function(lambda x: x), "value")
    evolution = evolve.search(problem, evolve.Swarm(4), 2, output=path)
    why = "run.db keeps no machine, as it is evaluated by a Python function, of which there is no motion to show"
    with pytest.raises(ModelError, match=why):
        evolve.run_individuals(path, [evolution.best])
    (motion,) = [each for each in report.evolution_result(path).chapters if each.heading == "In motion"]
    assert (motion.text, dict(motion.films)) == (f"Nothing is shown: {why}.", {})


def test_visits_are_counted_by_subspace():
    nan = np.nan
    individuals = {
        "run": np.zeros(6),
        "generation": np.array([0, 0, 0, 1, 1, 1]),
        "a": np.array([1, 1, 1, nan, nan, 1.0]),
        "b": np.array([nan, nan, nan, 1, 1, nan]),
        "c": np.array([1, 1, 1, 1, 1, nan]),
        "d": np.array([nan, nan, nan, nan, nan, 1.0]),
    }
    pools = {"drive": {"motor": ["a"], "spring": ["b"]}, "knee": {"bent": ["c"], "straight": ["d"]}}
    cells = visit_figures(individuals, pools)["visits"].traces[0]
    np.testing.assert_allclose(10**cells.values, [[3, 1], [2, nan]])
    assert visit_figures(individuals, {}) == {}
    lone = visit_figures(individuals, {"drive": pools["drive"]})["visits"].traces[0]
    np.testing.assert_allclose(10**lone.values, [[4], [2]])
    figure = distribution_figures(individuals, [{"name": "a", "low": 0, "high": 2, "unit": "m"}])[
        "distribution_a"
    ]
    assert [trace.y.sum() for trace in figure.traces] == pytest.approx([1, 1 / 3])
    assert figure.x == "a [m]"


def test_a_page_follows_a_job_and_a_browser_follows_the_page(tmp_path):
    path, page = tmp_path / "run.db", tmp_path / "page.html"
    with pytest.raises(StorageError, match="there is no file"):
        report.follow_job(path, page)
    ready, go, states = threading.Event(), threading.Event(), []

    def wait(progress):
        if progress.generation == 1:
            begun.set()
            go.wait(60)

    begun = threading.Event()
    job = threading.Thread(
        target=lambda: evolve.search(slip_problem(), evolve.Swarm(6), 4, output=path, progress=wait)
    )
    job.start()
    begun.wait(60)
    follower = threading.Thread(
        target=lambda: states.append(
            report.follow_job(path, page, seconds=0.2, on_ready=lambda _: ready.set())
        )
    )
    follower.start()
    assert ready.wait(60)
    news = (tmp_path / "page.live.js").read_text()
    assert news.startswith("strutLive({")
    try:
        with browser() as opened:
            visit = Visit(opened, page)
            visit.until(
                "document.querySelector('.verdict').textContent.startsWith('Running: 12 evaluations')"
            )
            visit.run("window.scrollTo(0, 300)")
            go.set()
            visit.until(
                "document.querySelector('.verdict').textContent.startsWith('Finished: 24 evaluations')"
            )
            assert visit.run("window.scrollY") == 300
            assert visit.run("document.querySelectorAll('.figure .plot').length") > 0
            assert not visit.said
            assert all(url.startswith("file://") for url in visit.asked)
    finally:
        go.set()
        job.join()
        follower.join()
    assert [state.word for state in states] == ["finished"]
    assert 'id="live"' not in page.read_text()  # the last page stands alone
