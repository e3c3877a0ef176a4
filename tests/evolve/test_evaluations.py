"""Evaluations: by systems, functions and programs, and what becomes of those that fail."""

import sys
import textwrap

import numpy as np
import pytest

from strut import evolve, walkers
from strut.errors import ArgumentError, ExpressionError, ModelError, UnknownNameError
from strut.simulate import simulate

SLIP = walkers.slip()


def slip_problem(**options):
    evaluation = evolve.of_system(
        SLIP, 30.0, {"steps": "count.touchdown", "far": "x / end.time"}, rtol=1e-6, **options
    )
    bounds = {"attack": (1.0, 1.3), "stiffness": (1e4, 4e4)}
    return evolve.SearchProblem(
        bounds, evaluation, [evolve.maximise("steps", "steps >= 24"), evolve.maximise("far")]
    )


def test_measures_of_a_system_are_those_of_its_run():
    problem = slip_problem()
    x = np.array([[1.2, 2e4], [1.1, 3e4]])
    answers = problem.evaluate(x, np.zeros((2, 1), dtype=np.uint64))
    for row, measures in zip(x, answers.measures, strict=True):
        run = simulate(SLIP, 30.0, p={"attack": row[0], "stiffness": row[1]}, rtol=1e-6)
        assert measures[0] == sum(1 for event in run.events if event.name == "touchdown")
        assert measures[1] == pytest.approx(run["x"][-1] / run.t[-1], rel=1e-9)


def test_integrals_and_means_over_a_run_are_those_of_its_curves():
    """Of a runner that flies and lands: its mean speed is distance over time, and after a time that of the
    rest."""
    evaluation = evolve.of_system(
        SLIP,
        3.0,
        {
            "mean_vx": "mean(vx)",
            "late_vx": "mean_after(vx, 1.5)",
            "impulse": "integral(force * force) / 1e6",
            "same": "integral(force * force) / 1e6 + 0 * mean(vx)",
        },
        rtol=1e-9,
    )
    row = evaluation.evaluate(("attack",), np.array([[1.19]]), np.zeros(1, dtype=np.uint64)).measures[0]
    run = simulate(SLIP, 3.0, p={"attack": 1.19}, rtol=1e-9)
    assert row[0] == pytest.approx(run["x"][-1] / run.t[-1], rel=1e-8)
    middle = np.interp(1.5, run.t, run["x"])
    assert row[1] == pytest.approx((run["x"][-1] - middle) / (run.t[-1] - 1.5), rel=1e-4)
    force = np.trapezoid(run["force"] ** 2, run.t) / 1e6
    assert row[2] == row[3] == pytest.approx(force, rel=1e-2)
    assert len(evaluation.run_measures.system.x) == len(SLIP.x) + 3


def test_a_swarm_finds_runners_that_make_24_steps():
    """Every one of 50 searches."""
    problem = slip_problem()
    for seed in range(50):
        best = evolve.search(problem, evolve.Swarm(20), 15, seed=seed).best
        assert best.measures["steps"] >= 24


def test_a_parameter_that_an_individual_does_not_have_keeps_the_systems_value():
    problem = slip_problem()
    own = float(next(each.value[0] for each in SLIP.p if each.name == "stiffness"))
    answers = problem.evaluate(np.array([[1.2, np.nan], [1.2, own]]), np.zeros((2, 1), dtype=np.uint64))
    np.testing.assert_array_equal(answers.measures[0], answers.measures[1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: evolve.of_system(SLIP, 1.0, {"v": "vxx"}),
            ExpressionError,
            "measure 'v': 'vxx' is no state.*did you mean 'vx'",
        ),
        (
            lambda: evolve.of_system(SLIP, 1.0, {"v": "integral(count.touchdown)"}),
            ModelError,
            "measure 'v': 'count.touchdown' is known only when a run has ended",
        ),
        (
            lambda: evolve.of_system(SLIP, 1.0, {"v": "lost.touchdown"}),
            ModelError,
            "reads energies.*ledger=True",
        ),
        (lambda: evolve.of_system(SLIP, -1.0, {"v": "vx"}), ValueError, "time is -1"),
        (
            lambda: evolve.SearchProblem(
                {"attack": (0.0, 3.0)}, evolve.of_system(SLIP, 1.0, {"v": "vx"}), "v"
            ),
            ValueError,
            "the system allows 0 to 1.5708",
        ),
        (
            lambda: evolve.SearchProblem(
                [evolve.SearchParameter("attack", 1.0, 1.2, "deg")],
                evolve.of_system(SLIP, 1.0, {"v": "vx"}),
                "v",
            ),
            ModelError,
            "counts it in 'rad'",
        ),
        (
            lambda: evolve.SearchProblem(
                {"x": (1, 2)},
                evolve.of_function(lambda x: x),
                [evolve.minimise("value", "value"), evolve.minimise("x")],
            ),
            ModelError,
            "which is no condition",
        ),
        (lambda: evolve.of_system(SLIP, 1.0, {}), ModelError, "nothing is measured"),
        (
            lambda: evolve.SearchProblem({"atack": (1, 2)}, evolve.of_system(SLIP, 1.0, {"v": "vx"}), "v"),
            UnknownNameError,
            "did you mean 'attack'",
        ),
        (
            lambda: evolve.SearchProblem({"x": (1, 2)}, evolve.of_function(lambda y: y), "value"),
            ArgumentError,
            "takes no 'x'",
        ),
        (
            lambda: evolve.SearchProblem({"x": (1, 2)}, evolve.of_function(lambda x: x), "valve"),
            ExpressionError,
            "did you mean 'value'",
        ),
        (
            lambda: evolve.SearchProblem({"x": (1, 2)}, evolve.of_function(lambda x: x, ("x",)), "x"),
            ModelError,
            "a parameter and a measure",
        ),
        (
            lambda: evolve.SearchProblem(
                {"x": (1, 2)},
                evolve.of_function(lambda x: x),
                [evolve.minimise("value"), evolve.minimise("x")],
            ),
            ModelError,
            "goal 1 .* has no condition",
        ),
        (
            lambda: evolve.SearchProblem({"x": (2, 1)}, evolve.of_function(lambda x: x), "value"),
            ValueError,
            "the lower one first",
        ),
        (
            lambda: evolve.SearchProblem(
                {"x": (1, 2)}, evolve.of_function(lambda x: x), evolve.minimise("value", "value < 1")
            ),
            ModelError,
            "no goal after it",
        ),
    ],
)
def test_wrong_problems_are_explained(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_individuals_that_fail_rank_last_and_are_counted():
    def fragile(x):
        if x < 0.2:
            raise ZeroDivisionError("x is small")
        return float("nan") if x < 0.4 else -x if x < 0.9 else float("inf")

    problem = evolve.SearchProblem({"x": (0.0, 1.0)}, evolve.of_function(fragile), "value")
    evolution = evolve.search(problem, evolve.Swarm(30), 5, seed=1)
    assert 0.4 <= evolution.best.parameters["x"] <= 0.9
    assert evolution.failures["ZeroDivisionError: x is small"] > 0
    assert evolution.failures["the measure 'value' is nan"] > 0
    assert evolution.failures["the measure 'value' is inf"] > 0


def test_a_search_whose_evaluations_all_fail_says_so():
    problem = evolve.SearchProblem({"x": (0.0, 1.0)}, evolve.of_function(lambda x: float("nan")), "value")
    assert "all of them failed" in repr(evolve.search(problem, evolve.Swarm(4), 2))


def test_parameters_on_a_bound_are_named():
    problem = evolve.SearchProblem(
        {"x": (0.0, 1.0), "y": (0.0, 1.0)}, evolve.of_function(lambda x, y: (x - 0.5) ** 2 + y), "value"
    )
    assert evolve.search(problem, evolve.CmaEs(12), 25).at_bounds == ("y",)


def noisy(x, seed):
    return x + (seed % 1000) / 1000


@pytest.mark.parametrize(("combine", "expected"), [("mean", np.mean), ("worst", np.max)])
def test_repeats_have_their_own_seeds_and_are_combined(combine, expected):
    problem = evolve.SearchProblem(
        {"x": (0.0, 1.0)}, evolve.of_function(noisy, seeded=True), "value", repeats=3, combine=combine
    )
    seeds = np.array([[10, 20, 990], [1, 2, 3]], dtype=np.uint64)
    answers = problem.evaluate(np.array([[0.5], [0.25]]), seeds)
    wanted = [0.5 + expected([0.01, 0.02, 0.99]), 0.25 + expected([0.001, 0.002, 0.003])]
    np.testing.assert_allclose(answers.measures[:, 0], wanted)


# ---- programs ----

PROGRAM = textwrap.dedent(
    """
    import json, sys, time, subprocess
    for line in sys.stdin:
        task = json.loads(line)
        x = task["parameters"]["x"]
        sys.stderr.write("noise" * 20000)
        if 0.1 < x < 0.2: sys.exit(3)
        if 0.2 < x < 0.3: print("garbage", flush=True); continue
        if 0.3 < x < 0.4: subprocess.Popen(["sleep", "100"]); time.sleep(100)
        if 0.4 < x < 0.5: print(json.dumps({"id": task["id"], "failure": "fell at once"}), flush=True); continue
        if 0.5 < x < 0.6: print(json.dumps({"id": task["id"], "measures": {"z": 1}}), flush=True); continue
        print(json.dumps({"id": task["id"], "measures": {"y": 2 * x}}), flush=True)
    """
)


def test_programs_that_crash_hang_or_talk_nonsense_fail_alone(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    evaluation = evolve.of_program([sys.executable, str(path)], ["y"], limit=2.0, retries=0, workers=2)
    x = np.array([[0.05], [0.15], [0.25], [0.35], [0.45], [0.55], [0.95]])
    answers = evaluation.evaluate(("x",), x, np.zeros(7, dtype=np.uint64))
    np.testing.assert_allclose(answers.measures[[0, 6], 0], [0.1, 1.9])
    assert answers.status[0] == answers.status[6] == "ok"
    assert "ended with 3: noise" in answers.status[1]
    assert "said 'garbage" in answers.status[2]
    assert "no answer within 2 s" in answers.status[3]
    assert answers.status[4] == "fell at once"
    assert "without ['y']" in answers.status[5]


ONE_ANSWER = textwrap.dedent(
    """
    import json, os, sys
    for answered, line in enumerate(sys.stdin):
        if answered: os._exit(4)
        task = json.loads(line)
        print(json.dumps({"id": task["id"], "measures": {"y": 2 * task["parameters"]["x"]}}), flush=True)
    """
)


def test_a_program_that_crashed_is_asked_again(tmp_path):
    """It answers once and crashes when it is asked more; the next one answers."""
    path = tmp_path / "program.py"
    path.write_text(ONE_ANSWER)
    x, seeds = np.array([[0.1], [0.2], [0.3]]), np.zeros(3, dtype=np.uint64)
    command = [sys.executable, str(path)]
    again = evolve.of_program(command, ["y"], retries=1, workers=1).evaluate(("x",), x, seeds)
    assert again.status == ("ok",) * 3
    np.testing.assert_allclose(again.measures[:, 0], [0.2, 0.4, 0.6])
    once = evolve.of_program(command, ["y"], retries=0, workers=1).evaluate(("x",), x, seeds)
    assert [each == "ok" for each in once.status] == [True, False, True]


def test_a_program_that_is_not_there_is_named():
    answers = evolve.of_program(["no-such-program"], ["y"], retries=0).evaluate(
        ("x",), np.zeros((1, 1)), np.zeros(1, dtype=np.uint64)
    )
    assert "'no-such-program' cannot be started" in answers.status[0]


def test_an_interrupt_within_a_generation_is_one_of_the_search(monkeypatch):
    """Runs that nobody did are not told as failures of the machine."""
    from dataclasses import replace

    from strut.evolve.evaluations import system_runs

    done = system_runs.simulate_batch
    monkeypatch.setattr(
        system_runs,
        "simulate_batch",
        lambda *args, **options: replace(done(*args, **options), interrupted=True),
    )
    evaluation = evolve.of_system(walkers.pendulum(), 0.1, {"time": "end.time"})
    with pytest.raises(KeyboardInterrupt):
        evaluation.evaluate(("angle",), np.zeros((2, 1)), np.zeros(2, dtype=np.uint64))


def test_the_settings_of_a_program_say_when_it_fails():
    """Another limit may make other individuals fail: it is another job."""
    assert evolve.of_program(["./walk"], ["speed"], limit=2.0, retries=1, workers=3).settings() == {
        "kind": "program",
        "command": ["./walk"],
        "measures": ["speed"],
        "limit": 2.0,
        "retries": 1,
    }
