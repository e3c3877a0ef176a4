"""Searches side by side: the same as one after the other, gone on with after a stop, small files; encoded
parameters."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest

from strut import State, System, evolve
from strut.errors import ModelError, UnknownNameError
from strut.evolve.job_lock import request_of_job
from strut.system import Param


@dataclass(frozen=True)
class Polar:
    """Two parameters as a radius and an angle; or one, the radius, along a fixed direction."""

    names: tuple = ("radius", "angle")
    labels: tuple = ("a", "b")

    @property
    def digest(self):
        return f"polar of {len(self.names)}"

    def rows(self, x):
        angle = x[:, 1] if x.shape[1] > 1 else np.full(len(x), 0.5)
        return np.column_stack([x[:, 0] * np.cos(angle), x[:, 0] * np.sin(angle)])


def problems():
    a, b = Param("a", 0.0), Param("b", 0.0)
    x = State("x", 0.0)
    system = System("bowl", x=(x,), p=(a, b), flow={"x": (a.sym - 1) ** 2 + (b.sym - 1) ** 2})
    inner = evolve.of_system(system, 1.0, {"loss": "x"}, method="rk4", step=0.5)
    bounds = {"radius": (0.0, 3.0), "angle": (-3.0, 3.0)}
    both = evolve.SearchProblem(bounds, evolve.EncodedEvaluation(inner, Polar()), "loss")
    alone = evolve.SearchProblem(
        {"radius": bounds["radius"]}, evolve.EncodedEvaluation(inner, Polar(("radius",))), "loss"
    )
    return {"both": both, "alone": alone}


def test_side_by_side_is_one_after_the_other(tmp_path):
    """The same individuals as of `search`, whose best of each generation is kept."""
    method = evolve.Swarm(12)
    told = []
    together = evolve.search_side_by_side(
        problems(), method, 15, runs=3, seed=4, folder=tmp_path / "a", progress=told.append
    )
    for name, problem in problems().items():
        alone = evolve.search(problem, method, 15, runs=3, seed=4)
        for key, column in alone.history.items():
            np.testing.assert_array_equal(together[name].history[key], column, err_msg=key)
        assert together[name].best.parameters == alone.best.parameters
        assert together[name].evaluations == alone.evaluations == 12 * 15 * 3
        assert together[name].finished
    assert together["both"].best.value < 1e-2
    assert len(told) == 15
    assert told[-1].stages == {"both": (3,), "alone": (3,)}
    assert told[-1].bests["both"] == together["both"].best.value


def test_a_stop_is_gone_on_with_to_the_same_end(tmp_path):
    method, whole = evolve.Swarm(12), tmp_path / "whole"
    expected = evolve.search_side_by_side(problems(), method, 10, runs=2, folder=whole)

    def stop(at):
        if at.generation == 4:
            raise KeyboardInterrupt

    part = tmp_path / "part"
    first = evolve.search_side_by_side(problems(), method, 10, runs=2, folder=part, progress=stop)
    assert not first["both"].finished
    assert first["both"].history["generation"].max() == 4
    none = evolve.search_side_by_side(problems(), method, 10, runs=2, folder=part, resume=True, minutes=1e-9)
    assert none["both"].history["generation"].max() == 4  # no time for another
    rest = evolve.search_side_by_side(problems(), method, 10, runs=2, folder=part, resume=True)
    for name in expected:
        assert rest[name].finished
        for key, column in expected[name].history.items():
            np.testing.assert_array_equal(rest[name].history[key], column, err_msg=key)
    assert evolve.load_evolution(part / "both.db").best.value == expected["both"].best.value


def test_all_individuals_can_be_kept(tmp_path):
    """The file is then that of `search`, individual by individual."""
    method = evolve.Swarm(6)
    evolve.search_side_by_side(problems(), method, 4, seed=3, folder=tmp_path, keep="all")
    evolve.search(problems()["both"], method, 4, seed=3, output=tmp_path / "single.db")
    together, alone = (evolve.load_individuals(tmp_path / name) for name in ("both.db", "single.db"))
    assert len(together["generation"]) == 6 * 4
    for name, column in alone.items():
        np.testing.assert_array_equal(together[name], column, err_msg=name)


def test_one_that_is_stopped_stops_all(tmp_path):
    """A request to any of the files is obeyed between two generations, and the rest is done later."""

    def ask(at):
        if at.generation == 2:
            request_of_job(tmp_path / "alone.db", "stop")

    method = evolve.Swarm(6)
    first = evolve.search_side_by_side(problems(), method, 6, folder=tmp_path, progress=ask)
    assert [each.history["generation"].max() for each in first.values()] == [2, 2]
    assert not list(tmp_path.glob("*.request"))
    rest = evolve.search_side_by_side(problems(), method, 6, folder=tmp_path, resume=True)
    assert all(each.finished for each in rest.values())


def test_one_that_is_paused_pauses_all(tmp_path):
    path, seen = tmp_path / "both.db", []

    def ask(at):
        if at.generation == 1:
            request_of_job(path, "pause")
            threading.Thread(target=go_on, daemon=True).start()

    def go_on():
        seen.append(evolve.wait_for_state(path, ("paused",), 20.0).word)
        request_of_job(path, "go on")

    done = evolve.search_side_by_side(problems(), evolve.Swarm(6), 4, folder=tmp_path, progress=ask)
    assert seen == ["paused"]
    assert all(each.finished for each in done.values())


def test_what_cannot_go_together_is_refused(tmp_path):
    two = problems()
    other = problems()["both"]
    with pytest.raises(ModelError, match="another system than the others"):
        evolve.search_side_by_side({**two, "third": other}, evolve.Swarm(4), 2, folder=tmp_path)
    with pytest.raises(ModelError, match="nothing is searched"):
        evolve.search_side_by_side({}, evolve.Swarm(4), 2, folder=tmp_path)
    plain = evolve.SearchProblem({"a": (0, 1)}, evolve.of_function(lambda a: a), "value")
    with pytest.raises(ModelError, match="use `search` for it"):
        evolve.search_side_by_side({"plain": plain}, evolve.Swarm(4), 2, folder=tmp_path)
    inner = two["both"].evaluation.inner
    with pytest.raises(UnknownNameError, match="writes 'c', which is no parameter"):
        evolve.EncodedEvaluation(inner, Polar(labels=("a", "c")))
    with pytest.raises(ModelError, match="reads 'angle', which is not searched"):
        evolve.SearchProblem({"radius": (0, 1)}, evolve.EncodedEvaluation(inner, Polar()), "loss")


def scattered_problem(offsets, **options):
    """A bowl whose middle is elsewhere in each scenario; the worst counts."""
    a, b = Param("a", 0.0), Param("b", 0.0)
    x = State("x", 0.0)
    system = System("line", x=(x,), p=(a, b), flow={"x": (a.sym - b.sym) ** 2})
    inner = evolve.of_system(system, 1.0, {"loss": "x"}, method="rk4", step=0.5)
    scenarios = evolve.FixedScenarios({"b": offsets})
    evaluation = evolve.EncodedEvaluation(inner, Radius(), scenarios)
    return evolve.SearchProblem({"radius": (0.0, 3.0)}, evaluation, "loss", combine="worst", **options)


@dataclass(frozen=True)
class Radius:
    """One parameter that is another."""

    names: tuple = ("radius",)
    labels: tuple = ("a",)
    digest: str = "radius"

    def rows(self, x):
        return x


def test_the_worst_scenario_counts(tmp_path):
    """Middles at 0.5, 1 and 2: the best of the worst is between the outer ones, at a loss of 0.75^2."""
    problem = scattered_problem((0.5, 1.0, 2.0), repeats=3)
    x = np.array([[0.5], [1.25]])
    answer = problem.evaluate(x, np.zeros((2, 3), dtype=np.uint64))
    np.testing.assert_allclose(answer.measures[:, 0], [1.5**2, 0.75**2])
    method = evolve.Swarm(10)
    together = evolve.search_side_by_side({"one": problem}, method, 40, runs=2, seed=3, folder=tmp_path)[
        "one"
    ]
    alone = evolve.search(problem, method, 40, runs=2, seed=3)
    np.testing.assert_array_equal(together.history["best_value"], alone.history["best_value"])
    assert together.best.parameters["radius"] == pytest.approx(1.25, abs=1e-3)


def test_scenarios_that_do_not_fit_are_told():
    with pytest.raises(ModelError, match="repeats is 2, and the evaluation has 3 scenarios: give repeats=3"):
        scattered_problem((0.5, 1.0, 2.0), repeats=2)
    with pytest.raises(ModelError, match="2 values of 'a' and 1 of 'b'"):
        evolve.FixedScenarios({"a": (1, 2), "b": (1,)})
    with pytest.raises(ModelError, match="scenarios set nothing"):
        evolve.FixedScenarios({})
    inner = problems()["both"].evaluation.inner
    with pytest.raises(UnknownNameError, match="scenarios set 'c', which is no parameter or state"):
        evolve.EncodedEvaluation(inner, Polar(), evolve.FixedScenarios({"c": (1.0,)}))
    with pytest.raises(ModelError, match="scenarios set 'a', which the encoding writes"):
        evolve.EncodedEvaluation(inner, Polar(), evolve.FixedScenarios({"a": (1.0,)}))


def test_a_search_begins_where_another_ended(tmp_path):
    method = evolve.Swarm(12)
    evolve.search_side_by_side(problems(), method, 20, runs=2, seed=4, folder=tmp_path / "a")
    first = {name: evolve.load_personal_bests(tmp_path / "a" / f"{name}.db") for name in problems()}
    assert first["both"].shape == (2, 12, 2)
    further = {"runs": 2, "seed": 5, "folder": tmp_path / "b", "first": first}
    second = evolve.search_side_by_side(problems(), method, 1, **further)
    before = evolve.load_evolution(tmp_path / "a" / "both.db")
    for earlier, later in zip(before.best_of_run, second["both"].best_of_run, strict=True):
        assert later.parameters == earlier.parameters  # the best of the first generation is that of the other
    others = {name: x[:, ::-1] for name, x in first.items()}
    with pytest.raises(ModelError, match="its first is"):  # a file knows where it began
        evolve.search_side_by_side(problems(), method, 1, resume=True, **(further | {"first": others}))
    with pytest.raises(ModelError, match=r"\(2, 12, 2\) is needed, runs x individuals"):
        evolve.search_side_by_side(
            problems(), method, 1, runs=2, folder=tmp_path / "c", first={"both": first["both"][:1]}
        )
    outside = {"both": first["both"] + 10}
    with pytest.raises(ModelError, match="has a 'radius' outside its bounds"):
        evolve.search_side_by_side(problems(), method, 1, runs=2, folder=tmp_path / "c", first=outside)
    with pytest.raises(UnknownNameError, match="first has 'bot'"):
        evolve.search_side_by_side(problems(), method, 1, folder=tmp_path / "c", first={"bot": first["both"]})
    plain = evolve.SearchProblem({"a": (0, 1)}, evolve.of_function(lambda a: a), "value")
    evolve.search(plain, evolve.CmaEs(), 2, output=tmp_path / "cma.db")
    with pytest.raises(ModelError, match="is not of a swarm"):
        evolve.load_personal_bests(tmp_path / "cma.db")
