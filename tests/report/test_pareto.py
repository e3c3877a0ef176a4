"""Pages of what cannot be bettered: from tables, jobs and sweeps."""

import numpy as np
import pytest

import strut
from strut import evolve, optimal, report, view, walkers
from strut.errors import ModelError, StorageError, UnknownNameError
from tests.view.browser import LOOKS, Visit, browser

RANDOM = np.random.default_rng(3)


def beaten(values, k):
    """By definition: someone is at least as good in all, and better in one. Less is better."""
    others = np.delete(values, k, axis=0)
    return bool(((others <= values[k]).all(axis=1) & (others < values[k]).any(axis=1)).any())


@pytest.mark.parametrize("merits", [("a", "b"), ("a", "b", "c")])
def test_the_front_is_that_of_the_definition(merits):
    table = {name: RANDOM.uniform(size=60) for name in ("a", "b", "c")}
    result = report.pareto_result(table, less=merits[:-1], more=merits[-1:])
    values = np.column_stack([table[n] for n in merits[:-1]] + [-table[merits[-1]]])
    expected = sorted(table["a"][k] for k in range(60) if not beaten(values, k))
    assert sorted(result.data["unbeaten"]["a"]) == expected
    assert result.headline["unbeaten"] == str(len(expected))
    assert len(result.chapters[0].figures) == (1 if len(merits) == 2 else 3)  # of every pair


def test_what_is_wrong_is_said():
    table = {"cost": [1.0, 2.0], "speed": [1.0, 2.0], "nothing": [np.nan, np.nan]}
    with pytest.raises(UnknownNameError, match="there is no 'sped': did you mean 'speed'"):
        report.pareto_result(table, less=["cost"], more=["sped"])
    with pytest.raises(ModelError, match="two or more different merits, and cost alone is given"):
        report.pareto_result(table, less=["cost"])
    with pytest.raises(ModelError, match="none is given: name what should be less"):
        report.pareto_result(table)
    with pytest.raises(ModelError, match="no candidate has all of cost, nothing"):
        report.pareto_result(table, less=["cost", "nothing"])


def test_files_that_hold_no_candidates_are_refused(tmp_path):
    with pytest.raises(StorageError, match="there is no such file"):
        report.load_merits(tmp_path / "none.db")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(StorageError, match="give a job"):
        report.load_merits(tmp_path / "a.txt")


def test_a_table_is_weighed(tmp_path):
    (tmp_path / "a.csv").write_text("cost,speed,word\n1,1,x\n2,3,y\n3,2,z\n")
    result = report.pareto_result(report.load_merits(tmp_path / "a.csv"), less=["cost"], more=["speed"])
    assert result.data["unbeaten"] == {"cost": [1.0, 2.0], "speed": [1.0, 3.0]}


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Steps against stiffness of the spring-mass runner: a machine that can be shown."""
    path = tmp_path_factory.mktemp("job") / "slip.db"
    runs = evolve.of_system(walkers.slip(), 3.0, {"steps": "count.touchdown"}, rtol=1e-6)
    goal = evolve.front(evolve.maximise("steps"), evolve.minimise("stiffness"), reference=(0.0, 5e4))
    problem = evolve.SearchProblem({"attack": (1.0, 1.3), "stiffness": (1e4, 4e4)}, runs, goal)
    evolution = evolve.search(problem, evolve.Nsga2(12), 3, seed=3, output=path)
    return path, evolution


def test_a_job_says_its_own_merits(job):
    path, evolution = job
    result = report.pareto_result(report.load_merits(path))
    assert result.data["less"] == ["stiffness"]
    assert result.data["more"] == ["steps"]
    best = {each.measures["steps"] for each in evolution.front.individuals}
    assert set(result.data["unbeaten"]["steps"]) == best


def test_who_does_not_meet_the_goals_before_a_front_is_not_weighed(tmp_path):
    """Those with x below a half are the lightest of all, and never at the front."""
    both = evolve.front(evolve.minimise("x"), evolve.minimise("rest"), reference=(2.0, 2.0))
    runs = evolve.of_function(lambda x: {"rest": 1 - x}, measures=("rest",))
    problem = evolve.SearchProblem({"x": (0.0, 1.0)}, runs, [evolve.maximise("x", until="x >= 0.5"), both])
    evolution = evolve.search(problem, evolve.Nsga2(12), 3, seed=1, output=tmp_path / "a.db")
    individuals = evolve.load_individuals(tmp_path / "a.db")
    short = int((individuals["x"] < 0.5).sum())
    assert short > 0
    result = report.pareto_result(report.load_merits(tmp_path / "a.db"))
    found = {round(each.measures["rest"], 12) for each in evolution.front.individuals}
    assert {round(value, 12) for value in result.data["unbeaten"]["rest"]} == found
    assert min(result.data["unbeaten"]["x"]) >= 0.5
    assert f"{short} others did not meet the goals before the front" in result.verdict
    assert "value" not in result.data["unbeaten"]  # a front has none: it would be a column of nan


def test_a_click_on_a_front_shows_that_run(job, tmp_path):
    path, evolution = job
    of_job = report.evolution_result(path)
    front = next(each for each in of_job.chapters if each.heading == "Front")
    assert len(front.films) == min(12, len(evolution.front))
    weighed = report.pareto_result(report.load_merits(path), asked="strut pareto slip.db")
    for title, run in weighed.chapters[0].films.items():
        steps = float(title.split("steps ")[1].split(",")[0])
        assert run.events.counts().get("touchdown", 0) == steps  # the run that was evaluated
    with browser() as chromium:
        for result, name in ((of_job, "job.html"), (weighed, "front.html")):
            visit = Visit(chromium, result.page(tmp_path / name), **LOOKS["light"])
            visit.open_all()
            plot = "strutFigures().find(f => f && f.figure.traces.some(t => t.walks))"
            trace = f"{plot}.figure.traces.find(t => t.walks)"
            last = visit.run(f"{trace}.walks.length") - 1
            place = f"(t => [{plot}.axes().u(t.x[{last}]), {plot}.axes().v(t.y[{last}])])({trace})"
            visit.page.mouse.click(*visit.point(f"{plot}.svg()", place))
            seen = "[...document.querySelectorAll('[data-walk]')].filter(e => !e.hidden).map(e => e.dataset.walk)"
            visit.until(f"{seen}.includes({trace}.walks[{last}])")
            visit.alone()
            visit.context.close()


def test_a_click_on_a_sweep_shows_that_design(tmp_path):
    """Designs are solved once more from where they were found; the file keeps what is shown of them."""
    walker = walkers.compass(slope=strut.deg(3))
    sweep = optimal.trade_off(walker, "speed", [0.7, 0.72, 0.74], cost="squared-torque", workers=1)
    result = report.sweep_result(sweep, "strut design compass --sweep speed=0.7:0.74:3")
    chapter = next(each for each in result.chapters if each.heading == "Over speed")
    assert [title.split(",")[0] for title in chapter.films] == ["speed 0.7", "speed 0.72", "speed 0.74"]
    for title, run in chapter.films.items():
        speed = view.pages.headline.headline(run).get("speed")
        assert speed is None or float(speed.split()[0]) == pytest.approx(
            float(title.split()[1].rstrip(",")), abs=0.01
        )
    merits = report.load_merits(result.save(tmp_path / "sweep.json"))
    weighed = report.pareto_result(merits, less=["cost"], more=["speed"])
    assert len(weighed.chapters[0].films) == len(weighed.data["unbeaten"]["speed"])
