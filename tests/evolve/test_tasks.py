"""Several tasks as one evaluation: one design, what each task sets of its own, and goals over all."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import evolve, walkers
from strut.errors import ModelError, UnknownNameError


def task(target):
    """A machine of one dimension, `length`, and a controller, `gain`: best where their product is a target."""

    def miss(length, gain):
        if length > 3.5:
            raise ValueError("too long")
        return {"miss": (length * gain - target) ** 2, "effort": gain**2}

    return evolve.of_function(miss, ["miss", "effort"])


def three_tasks():
    return evolve.TaskEvaluation({"slow": task(1.0), "fast": task(2.0), "up": task(3.0)})


def bounds(names=("slow.gain", "fast.gain", "up.gain")):
    return {"length": (0.5, 3.0), **dict.fromkeys(names, (0.0, 10.0))}


def test_each_task_has_its_own_controller_and_one_machine():
    tasks = three_tasks()
    assert tasks.measures[:3] == ("slow.miss", "slow.effort", "fast.miss")
    names = ("length", "slow.gain", "fast.gain", "up.gain")
    rows = np.array([[2.0, 0.5, 1.0, 1.5], [1.0, 1.0, 1.0, 1.0], [4.0, 1.0, 1.0, 1.0]])
    answer = tasks.evaluate(names, rows, np.zeros(3, dtype=np.uint64))
    np.testing.assert_allclose(answer.measures[0], [0, 0.25, 0, 1.0, 0, 2.25])
    np.testing.assert_allclose(answer.measures[1], [0, 1, 1, 1, 4, 1])
    assert answer.status == ("ok", "ok", "slow: ValueError: too long")
    assert np.isnan(answer.measures[2]).all()


def test_the_worst_of_all_tasks_is_searched_for():
    """The longest machine needs least effort in every task; a fifth of a unit may be missed in each."""
    tasks = three_tasks()
    goals = [
        evolve.minimise(tasks.largest("miss"), until=f"{tasks.largest('miss')} < 0.04"),
        evolve.minimise(tasks.total("effort")),
    ]
    assert goals[0].value == "max(max(slow.miss, fast.miss), up.miss)"
    problem = evolve.SearchProblem(bounds(), tasks, goals)
    best = evolve.search(problem, evolve.Swarm(60), 150, seed=1).best
    assert best.stage == 2
    assert best.parameters["length"] == pytest.approx(3.0, abs=0.03)
    assert best.value == pytest.approx((0.8**2 + 1.8**2 + 2.8**2) / 9, rel=0.03)
    assert tasks.least("effort") == "min(min(slow.effort, fast.effort), up.effort)"


def test_searches_of_tasks_are_kept_and_read(tmp_path):
    problem = evolve.SearchProblem(bounds(), three_tasks(), three_tasks().largest("miss"))
    found = evolve.search(problem, evolve.Swarm(10), 3, seed=1, output=tmp_path / "t.db")
    assert evolve.load_evolution(tmp_path / "t.db").best.parameters == found.best.parameters


def test_one_machine_runs_all_tasks_at_once():
    """Encoded tasks of one system are one batch, and say what each says alone."""

    class Same:
        names = labels = ("stiffness",)
        digest = "same"

        def rows(self, x):
            return x

    inner = evolve.of_system(walkers.slip(), 1.0, {"far": "x", "time": "end.time"}, rtol=1e-6)
    parts = {
        name: evolve.EncodedEvaluation(inner, Same(), evolve.FixedScenarios({"attack": [angle]}))
        for name, angle in (("steep", 1.2), ("flat", 1.1))
    }
    tasks = evolve.TaskEvaluation(parts)
    x, seeds = np.array([[15000.0], [20000.0]]), np.zeros(2, dtype=np.uint64)
    together = tasks.evaluate(("stiffness",), x, seeds)
    alone = [part.evaluate(("stiffness",), x, seeds).measures for part in parts.values()]
    np.testing.assert_array_equal(together.measures, np.hstack(alone))
    evolve.SearchProblem({"stiffness": (1e4, 3e4)}, tasks, tasks.total("far"))


def test_wrong_tasks():
    with pytest.raises(ModelError, match="there are 1 tasks: give two or more"):
        evolve.TaskEvaluation({"slow": task(1.0)})
    with pytest.raises(UnknownNameError, match="task 'slow' does not measure 'power': .*miss"):
        three_tasks().total("power")
    with pytest.raises(ModelError, match="'gain' is searched for all tasks, and 'slow.gain' for one of them"):
        evolve.SearchProblem(bounds(("gain", "slow.gain")), three_tasks(), "slow.miss")
    with pytest.raises(Exception, match="takes no 'height'"):
        evolve.SearchProblem(bounds(("slow.height",)), three_tasks(), "slow.miss")


def test_peaks_that_a_state_follows():
    """The largest of a slow sine but for the lag, in lanes, too; a peak that is as long as the lag counts two
    thirds; what comes before the beginning does not count."""
    pendulum = walkers.pendulum(angle=0.3)
    followed = evolve.follow_peaks(pendulum, {"top_rate": pendulum["rate"]}, lag=5e-3, begin=1.0)
    how = {"method": "rk4", "step": 1e-3}
    for options in (how, {**how, "lanes": "auto"}):
        runs = evolve.of_system(followed, 4.0, {"peak": "top_rate"}, **options)
        peak = runs.evaluate(("angle",), np.array([[0.3], [0.1]]), np.zeros(2, dtype=np.uint64)).measures[
            :, 0
        ]
        exact = evolve.of_system(pendulum, 4.0, {"peak": "largest_after(rate, 1.0)"})
        largest = exact.evaluate(("angle",), np.array([[0.3], [0.1]]), np.zeros(2, dtype=np.uint64)).measures
        assert (peak < largest[:, 0]).all()
        np.testing.assert_allclose(peak, largest[:, 0], rtol=2e-3)
    x = strut.State("x", 0.0)
    pulse = strut.System("pulse", x=[x], flow={x: 1.0})
    value = ca.if_else(ca.logic_and(x.sym > 1.0, x.sym < 1.01), 100.0, 0.0)
    for begin, seen in ((0.0, 100 * (1 - np.exp(-1))), (1.5, 0.0)):
        machine = evolve.follow_peaks(pulse, {"peak": value}, lag=0.01, begin=begin)
        batch = strut.simulate_batch(machine, 2.0, method="rk4", step=1e-4)
        assert batch["peak"][0] == pytest.approx(seen, rel=1e-2, abs=1e-9)
    with pytest.raises(ModelError, match="no value is given whose peak is to be followed"):
        evolve.follow_peaks(pendulum, {}, lag=1e-3)


def test_peaks_that_a_clock_looks_for():
    """The largest of a sine at even times; what comes before the beginning does not count."""
    pendulum = walkers.pendulum(angle=0.3)
    timed = evolve.remember_peaks(pendulum, {"top_rate": pendulum["rate"]}, every=1e-3, begin=1.0)
    runs = evolve.of_system(timed, 4.0, {"peak": "top_rate", "exact": "largest_after(rate, 1.0)"})
    answer = runs.evaluate(("angle",), np.array([[0.3], [0.1]]), np.zeros(2, dtype=np.uint64)).measures
    np.testing.assert_allclose(answer[:, 0], answer[:, 1], rtol=2e-6)
    with pytest.raises(ModelError, match="no value is given whose peak"):
        evolve.remember_peaks(pendulum, {}, every=1e-3)
