"""Many runs: equal to single ones, independent of threads, robust against runs that fail."""

import importlib

import numpy as np
import pytest

import strut
from strut import Discrete, Param, State, System, walkers
from strut.errors import ModelError, ShapeError, UnknownNameError, ValueRangeError
from strut.system import values


def test_a_batch_equals_single_runs():
    slopes = np.linspace(0.05, 0.12, 9)
    batch = strut.simulate_batch(
        walkers.rimless_wheel(), t=5.0, p={"slope": slopes}, outputs=["hub_x", "speed"], ledger=True
    )
    for k, slope in enumerate(slopes):
        run = strut.simulate(walkers.rimless_wheel(), t=5.0, p={"slope": slope})
        np.testing.assert_allclose(batch.x[k], run.raw.x_end[:2], rtol=1e-12, atol=1e-12)
        assert batch["hub_x"][k] == pytest.approx(run["hub_x"][-1], rel=1e-12)
        assert batch.counts["heel_strike"][k] == run.events.counts().get("heel_strike", 0)
        assert batch.lost["impact"][k] == pytest.approx(run.ledger.lost["impact"][-1], rel=1e-10)


def test_initial_values_follow_the_parameters_of_each_run():
    """The wheel starts on its rear spoke, which depends on slope and spokes."""
    batch = strut.simulate_batch(walkers.rimless_wheel(), t=0.0, p={"slope": [0.0, 0.1], "spokes": [8, 10]})
    np.testing.assert_allclose(batch["angle"], [-np.pi / 8, 0.1 - np.pi / 10])


def test_the_number_of_threads_changes_nothing():
    p = {"stiffness": np.linspace(5e3, 40e3, 300)}
    one, two = (strut.simulate_batch(walkers.slip(), t=5.0, p=p, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.x, two.x)
    assert list(one.status) == list(two.status)


def test_outputs_over_time():
    times = [0.5, 1.0, 1.5]
    batch = strut.simulate_batch(
        walkers.pendulum(), t=2.0, x0={"angle": [0.1, 0.2]}, outputs=["tip_x"], at=times
    )
    assert batch["tip_x"].shape == (2, 3)
    run = strut.simulate(walkers.pendulum(angle=0.2), t=2.0)
    np.testing.assert_allclose(batch["tip_x"][1], run.at(times)["tip_x"], rtol=1e-8)


def test_after_a_terminal_event_outputs_are_nan():
    batch = strut.simulate_batch(
        walkers.slip(stiffness=1e3), t=5.0, p={"mass": [80.0]}, outputs=["leg"], at=[0.1, 2.0, 4.0]
    )
    assert batch.status[0] == "fell"
    assert np.isfinite(batch["leg"][0, 0])
    assert np.all(np.isnan(batch["leg"][0, 1:]))
    last = strut.simulate_batch(walkers.slip(stiffness=1e3), t=5.0, outputs=["leg"], at=[0.1, 5.0])
    assert np.isnan(last["leg"][0, 1])
    assert np.isfinite(
        strut.simulate_batch(walkers.slip(stiffness=1e3), t=5.0, outputs="leg")["leg"][0]
    )  # at its end


def test_a_diverging_run_is_marked_and_stops_no_other():
    x = State("x", 1.0)
    k = strut.Param("k", 1.0)
    system = System("maybe", x=[x], p=[k], flow={x: k * x**2})  # infinite at t = 1 / k
    batch = strut.simulate_batch(system, t=2.0, p={"k": [-1.0, 1.0, 0.1]})
    assert batch.status[0] == batch.status[2] == "done"
    assert batch.status[1] in ("not finite", "step too small")
    assert batch.ok.tolist() == [True, False, True]
    np.testing.assert_allclose(batch["x"][[0, 2]], [1 / 3, 1 / 0.8], rtol=1e-8)


def test_matrices_and_grids():
    x0 = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    batch = strut.simulate_batch(walkers.pendulum(), t=1.0, x0=x0)
    run = strut.simulate(walkers.pendulum(), t=1.0, x0=x0[7])
    np.testing.assert_allclose(batch.x[7], run.raw.x_end[:2], rtol=1e-12)
    assert len(batch) == 20
    assert repr(batch) == "<Batch of 20 runs: 20 done>"


def test_memory_is_what_was_asked_for():
    """Ten thousand runs of a thousand steps keep only their ends: nothing is stored per step."""
    import tracemalloc

    def run() -> None:
        strut.simulate_batch(
            walkers.van_der_pol(), t=1.0, p={"mu": np.linspace(0, 2, 10_000)}, method="rk4", step=1e-3
        )

    run()  # what is imported and compiled at first does not count
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000 * 200


def test_progress_and_interruption():
    seen = []

    def stop_half_way(fraction):
        seen.append(fraction)
        if fraction >= 0.5:
            raise KeyboardInterrupt

    batch = strut.simulate_batch(
        walkers.pendulum(), t=1.0, x0={"angle": np.linspace(0, 1, 400)}, threads=1, progress=stop_half_way
    )
    assert batch.interrupted
    assert set(batch.status) == {"done", "not run"}
    assert seen == sorted(seen)


def test_delays_in_batches():
    x, k = State("x", 1.0), strut.Param("k", 1.0)
    past = strut.Delay("past", signal=x, by=1.0, before=1.0)
    system = System("lag", x=[x], p=[k], delays=[past], flow={x: -k * past})
    batch = strut.simulate_batch(system, t=2.0, p={"k": [1.0, 0.5]})
    np.testing.assert_allclose(batch["x"], [-0.5, 1 - 0.5 - 0.5 * (1 - 0.25)], atol=1e-8)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"p": {"slope": [0.1, 0.2], "mass": [1, 2, 3]}},
            ShapeError,
            "a batch needs one length: 'slope' has 2 and 'mass' has 3",
        ),
        (
            {"p": {"slpe": [0.1]}},
            UnknownNameError,
            "'slpe' is not a parameter of 'rimless_wheel': did you mean 'slope'",
        ),
        (
            {"p": {"slope": [0.1, np.nan]}},
            ValueRangeError,
            "parameter 'slope' is .* a finite number is needed",
        ),
        ({"x0": np.zeros(3)}, ShapeError, "states of 'rimless_wheel' need 2 number"),
        ({"outputs": ["hub"]}, UnknownNameError, "'hub' is not an output"),
        ({"at": [1.0, 0.5]}, ValueRangeError, "'at' must ascend"),
        ({"at": []}, ValueRangeError, "give at least one time"),
        ({"at": [np.nan]}, ValueRangeError, "all of them finite"),
        ({"threads": 0}, ValueRangeError, "threads is 0"),
        ({"control": None}, ModelError, "a batch takes no Hold"),
    ],
)
def test_mistakes_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        strut.simulate_batch(walkers.rimless_wheel(), t=1.0, **arguments)


def test_vectors_by_name():
    q = State("q", [1.0, 2.0, 3.0])
    system = System("vector", x=[q], flow={q: -q.sym})
    same = strut.simulate_batch(system, t=0.0, x0={"q": [4.0, 5.0, 6.0]})
    assert same.x.tolist() == [[4, 5, 6]]
    each = strut.simulate_batch(system, t=0.0, x0={"q": [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]})
    assert each.x.tolist() == [[4, 5, 6], [7, 8, 9]]
    one = strut.simulate_batch(system, t=0.0, x0={"q[1]": [4.0, 5.0, 6.0]})
    assert one.x[:, 1].tolist() == [4, 5, 6]


def test_short_batches_are_done_by_one_thread_and_longer_ones_by_all(monkeypatch):
    module, made = importlib.import_module("strut.simulate.batch_on_cores"), []
    original = module.ThreadPoolExecutor
    monkeypatch.setattr(module, "ThreadPoolExecutor", lambda n: (made.append(n), original(n))[1])
    monkeypatch.setattr(module, "ALONE_TIME", 10.0)
    system, angles = walkers.pendulum(), np.linspace(0, 1, 40)
    first = strut.simulate_batch(system, t=0.1, x0={"angle": angles}, threads=2)
    assert made == [2]  # nothing is known of its runs yet
    again = strut.simulate_batch(system, t=0.1, x0={"angle": angles}, threads=2)
    assert made == [2]
    assert np.array_equal(first.x, again.x)
    # runs of another length: the first are done alone, until it takes too long
    monkeypatch.setattr(module, "ALONE_TIME", 1e-4)
    strut.compile_system(system).run_time = 0.0
    last = strut.simulate_batch(system, t=20.0, x0={"angle": angles}, threads=2)
    assert made == [2, 2]
    alone = strut.simulate_batch(system, t=20.0, x0={"angle": angles}, threads=1)
    assert np.array_equal(last.x, alone.x)


def test_initial_values_that_are_expressions_follow_what_differs_between_runs():
    """And are computed once where they depend on nothing that differs."""
    a, b = Param("a", 1.0), Param("b", 5.0)
    x, y = State("x", 2 * a.sym), State("y", a.sym + b.sym)
    z = Discrete("z", 3 * x.sym)
    system = System("begun", x=[x, y], z=[z], p=[a, b], flow={x: 0.0, y: 0.0})
    many = np.linspace(1.0, 2.0, 7)
    other = strut.simulate_batch(system, t=0.1, p={"b": many})
    np.testing.assert_array_equal(other["x"], 2.0)
    np.testing.assert_array_equal(other["y"], 1 + many)
    np.testing.assert_array_equal(other["z"], 6.0)
    both = strut.simulate_batch(system, t=0.1, p={"a": many})
    np.testing.assert_array_equal(both["x"], 2 * many)
    np.testing.assert_array_equal(both["z"], 6 * many)
    f, _ = values._initial(system, "x")
    alike, unlike = np.tile([1.0, 5.0], (5, 1)), np.column_stack([np.ones(5), np.arange(5.0)])
    assert values._evaluate_rows(f, [alike]).shape == (1, 2)  # one row does for all
    np.testing.assert_array_equal(
        values._evaluate_rows(f, [unlike]), np.column_stack([2 * np.ones(5), 1 + np.arange(5)])
    )


def test_initial_values_of_more_rows_than_are_evaluated_at_once(monkeypatch):
    monkeypatch.setattr(values, "ROWS_AT_ONCE", 3)
    a = Param("a", 1.0)
    x = State("x", a.sym**2)
    z = Discrete("z", x.sym - a.sym)
    system = System("begun", x=[x], z=[z], p=[a], flow={x: 0.0})
    many = np.linspace(1.0, 2.0, 8)
    batch = strut.simulate_batch(system, t=0.1, p={"a": many})
    np.testing.assert_array_equal(batch["x"], many**2)
    np.testing.assert_array_equal(batch["z"], many**2 - many)
