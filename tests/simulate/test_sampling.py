"""Discrete controllers, delays and random numbers: things that happen by the clock."""

import ctypes
import subprocess

import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Hold, Param, Random, Sample, State, System
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from tests.problems import servo, servo_closed_form


def plant():
    x, v = State("x", 1.0), State("v", 0.0)
    push = strut.Input("push", 0.0, "N", bounds=(-100, 100))
    return System("plant", x=[x, v], u=[push], flow={x: v, v: push})


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rk4"])
def test_a_sample_is_a_zero_order_hold(method):
    """A double integrator under a held force has an exact discrete map."""
    run = strut.simulate(servo(), t=2.0, method=method, step=0.01)
    exact = servo_closed_form()
    assert run["x"][-1] == pytest.approx(exact[0], abs=1e-12)
    assert run["v"][-1] == pytest.approx(exact[1], abs=1e-12)
    np.testing.assert_allclose(run.samples.t, 0.05 * np.arange(40), atol=1e-12)
    assert len(run.events) == 0


def test_sampling_period_is_a_parameter():
    coarse = strut.simulate(servo(), t=2.0, p={"period": 0.2})
    exact = servo_closed_form(period=0.2, n=10)
    assert coarse["x"][-1] == pytest.approx(exact[0], abs=1e-12)
    with pytest.raises(ValueRangeError, match="parameter 'period' is 0 s"):
        strut.simulate(servo(), t=1.0, p={"period": 0.0})


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_python_controller_is_held(backend):
    seen = []

    def act(now):
        seen.append(now.t)
        return {"push": -4 * now["x"] - 2 * now["v"]}

    run = strut.simulate(plant(), t=2.0, control=Hold(act, every=0.05), backend=backend)
    exact = servo_closed_form()
    assert run["x"][-1] == pytest.approx(exact[0], abs=1e-11)
    np.testing.assert_allclose(seen, 0.05 * np.arange(40), atol=1e-12)
    assert run.at(0.12)["push"] == run.at(0.14)["push"]


def test_a_controller_may_return_a_sequence():
    run = strut.simulate(plant(), t=2.0, control=Hold(lambda now: [-4 * now.x[0] - 2 * now.x[1]], every=0.05))
    assert run["x"][-1] == pytest.approx(servo_closed_form()[0], abs=1e-11)


def test_a_c_controller_runs_without_python(tmp_path):
    source = tmp_path / "act.c"
    source.write_text(
        "void act(double t, const double *x, const double *z, const double *p, double *u, void *data)\n"
        "{ (void)t; (void)z; (void)p; (void)data; u[0] = -4 * x[0] - 2 * x[1]; }\n"
    )
    library = tmp_path / "act.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    act = ctypes.cast(ctypes.CDLL(str(library)).act, strut.CONTROLLER)
    run = strut.simulate(plant(), t=2.0, control=Hold(act, every=0.05))
    assert run["x"][-1] == pytest.approx(servo_closed_form()[0], abs=1e-11)
    assert run.at(0.12)["push"] == run.at(0.14)["push"]
    with pytest.raises(ModelError, match="a C controller needs compiled code"):
        strut.simulate(plant(), t=1.0, control=Hold(act, every=0.05), backend="virtual")


def test_controller_mistakes_are_named():
    with pytest.raises(
        UnknownNameError, match="the controller sets 'pull', which is not an input: known: push"
    ):
        strut.simulate(plant(), t=1.0, control=Hold(lambda now: {"pull": 1}, every=0.1))
    with pytest.raises(UnknownNameError, match="the controller asks for 'y'"):
        strut.simulate(plant(), t=1.0, control=Hold(lambda now: {"push": now["y"]}, every=0.1))
    with pytest.raises(ValueRangeError, match="input 'push' is 1000 N: allowed are -100 to 100 N"):
        strut.simulate(plant(), t=1.0, control=Hold(lambda now: {"push": 1000}, every=0.1))
    with pytest.raises(ValueRangeError, match="it must be positive"):
        Hold(lambda now: {}, every=0)


def test_controller_offset_and_late_begin():
    times = []
    strut.simulate(
        plant(), t=(1.0, 2.0), control=Hold(lambda now: times.append(now.t) or {}, every=0.3, offset=0.1)
    )
    np.testing.assert_allclose(times, [1.0, 1.3, 1.6, 1.9])


def test_delay_equation_by_the_method_of_steps():
    """x' = -x(t - 1), x = 1 before: on [0, 1] a line, on [1, 2] a parabola, on [2, 3] a cubic."""
    x = State("x", 1.0)
    past = Delay("past", signal=x, by=1.0, before=1.0)
    system = System("lag", x=[x], delays=[past], flow={x: -past})
    for method, options, tolerance in (
        ("dop853", {}, 1e-9),
        ("dopri5", {}, 1e-9),
        ("rk4", {"step": 0.01}, 1e-9),
    ):
        run = strut.simulate(system, t=3.0, method=method, **options)
        values = run.at([0.5, 1.0, 1.5, 2.0, 3.0])["x"]
        np.testing.assert_allclose(values, [0.5, 0.0, -0.375, -0.5, -1 / 6], atol=tolerance)


def test_delay_of_an_oscillation_is_a_phase_shift():
    """x' = -x(t - pi/2) with x = cos before the run goes on as cos."""
    import casadi as ca

    x, lag = State("x", 1.0), Param("lag", np.pi / 2)
    past = Delay("past", signal=x, by=lag, before=ca.cos(strut.time))
    system = System("turn", x=[x], p=[lag], delays=[past], flow={x: -past})
    run = strut.simulate(system, t=20.0)
    np.testing.assert_allclose(run["x"], np.cos(run.t), atol=2e-8)
    with pytest.raises(ModelError, match="delay 'past' is -1 s with these parameters"):
        strut.simulate(system, t=1.0, p={"lag": -1.0})


def test_history_grows_when_a_run_needs_it():
    """More steps within the delay than the history begins with."""
    x = State("x", 1.0)
    past = Delay("past", signal=x, by=5.0, before=1.0)
    system = System("lag", x=[x], delays=[past], flow={x: -past})
    run = strut.simulate(system, t=12.0, method="rk4", step=1e-3)
    assert run.status == "done"
    assert run.at(10.0)["x"] == pytest.approx(
        -4 - 5 + 12.5, abs=1e-8
    )  # method of steps on [5, 10]: -4 - s + s^2/2... at s = 5


def test_random_numbers_are_reproducible_and_sound():
    x, a, b = State("x", 0.0), Discrete("a"), Discrete("b")
    gauss, flat = Random("gauss", law="normal"), Random("flat")
    dice = System(
        "dice",
        x=[x],
        z=[a, b],
        randoms=[gauss, flat],
        flow={x: 0},
        samples=[Sample("throw", every=1e-3, set={a: gauss, b: flat})],
    )
    one, again, other = (
        strut.simulate(dice, t=20.0, seed=seed, method="euler", step=1e-3) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(one["a"], again["a"])
    assert not np.array_equal(one["a"], other["a"])
    normal, uniform = one.raw.z_after[:, 0], one.raw.z_after[:, 1]
    n = len(normal)
    assert n == 20000
    assert abs(normal.mean()) < 5 / np.sqrt(n)
    assert abs(normal.var() - 1) < 5 * np.sqrt(2 / n)
    assert abs(uniform.mean() - 0.5) < 5 * np.sqrt(1 / 12 / n)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(np.corrcoef(normal[:-1], normal[1:])[0, 1]) < 5 / np.sqrt(n)


def test_runs_of_a_batch_have_streams_of_their_own():
    x, a = State("x", 0.0), Discrete("a")
    gauss = Random("gauss", law="normal")
    dice = System(
        "dice",
        x=[x],
        z=[a],
        randoms=[gauss],
        flow={x: 0},
        samples=[Sample("throw", every=1.0, set={a: gauss})],
    )
    batch = strut.simulate_batch(dice, t=0.5, x0={"x": np.zeros(1000)}, seed=5)
    assert len(np.unique(batch["a"])) == 1000
    assert strut.simulate(dice, t=0.5, seed=5)["a"][-1] == batch["a"][0]  # run 0 of a batch is the single run


def test_runs_joined_at_a_tick_tick_once():
    """What is due at the end of a run belongs to the one that goes on."""
    x, n = State("x", 0.0), Discrete("n", 0)
    clock = System("clock", x=[x], z=[n], flow={x: 1}, samples=[Sample("tick", every=0.1, set={n: n + 1})])
    for backend in ("native", "virtual"):
        whole = strut.simulate(clock, t=2.0, backend=backend)
        first = strut.simulate(clock, t=1.0, backend=backend)
        second = strut.simulate(clock, t=(first.t1, 2.0), backend=backend, **first.end)
        assert whole["n"][-1] == second["n"][-1] == 20
        assert second["x"][-1] == pytest.approx(2.0)


def test_clocks_tick_before_time_zero():
    x, n = State("x", 0.0), Discrete("n", 0)
    clock = System("clock", x=[x], z=[n], flow={x: 1}, samples=[Sample("tick", every=0.1, set={n: n + 1})])
    calls = []
    for backend in ("native", "virtual"):
        assert strut.simulate(clock, t=(-1.0, 0.0), backend=backend)["n"][-1] == 10
    strut.simulate(plant(), t=(-1.0, 0.0), control=Hold(lambda now: calls.append(now.t) or {}, every=0.1))
    np.testing.assert_allclose(calls, -1 + 0.1 * np.arange(10), atol=1e-12)


def test_controllers_in_c_and_python_see_the_same_at_a_tick(tmp_path):
    """Both act before the samples of their instant; and negative times are no trap."""
    x, z = State("x", 0.0), Discrete("z", 0)
    u = strut.Input("u")
    count = System(
        "count", x=[x], z=[z], u=[u], flow={x: u}, samples=[Sample("s", every=0.1, set={z: z + 1})]
    )
    source = tmp_path / "act.c"
    source.write_text(
        "void act(double t, const double *x, const double *z, const double *p, double *u, void *d)\n{ (void)t; (void)x; (void)p; (void)d; u[0] = z[0]; }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "act.so", source], check=True)
    act = ctypes.cast(ctypes.CDLL(str(tmp_path / "act.so")).act, strut.CONTROLLER)
    for span in (1.0, (-1.0, 0.0)):
        python = strut.simulate(count, t=span, control=Hold(lambda now: {"u": now["z"]}, every=0.1))
        native = strut.simulate(count, t=span, control=Hold(act, every=0.1))
        assert python["x"][-1] == pytest.approx(4.5)
        assert native["x"][-1] == pytest.approx(4.5)


def test_moments_can_be_kept():
    kept = []
    strut.simulate(
        plant(), t=1.0, u={"push": 1.0}, control=Hold(lambda now: kept.append(now) or {}, every=0.25)
    )
    assert len({m["x"] for m in kept}) == 4


def test_many_ticks_cost_little_memory():
    import tracemalloc

    tracemalloc.start()
    run = strut.simulate(plant(), t=10.0, control=Hold(lambda now: [0.0], every=1e-3))
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(run.raw.t) >= 10_000
    assert used < 10_000 * 2000


def test_resets_see_the_delayed_value_of_their_instant():
    x, seen = State("x", 0.0), Discrete("seen", 0.0)
    past = Delay("past", signal=x, by=0.5, before=0.0)
    system = System(
        "late",
        x=[x],
        z=[seen],
        delays=[past],
        flow={x: 1.0},
        events=[strut.Event("two", x - 2, reset={seen: past})],
    )
    for backend in ("native", "virtual"):
        assert strut.simulate(system, t=3.0, backend=backend)["seen"][-1] == pytest.approx(1.5, abs=1e-9)


def test_delayed_outputs_before_the_delay_has_passed():
    x = State("x", 1.0)
    past = Delay("past", signal=x, by=0.7, before=1.0 + strut.time)
    system = System("echo", x=[x], delays=[past], flow={x: -past}, outputs={"was": past})
    run = strut.simulate(system, t=2.0)
    np.testing.assert_allclose(run.at([0.0, 0.1, 0.5])["was"], [0.3, 0.4, 0.8], atol=1e-12)


def test_stiff_steps_are_no_longer_than_the_delay():
    x = State("x", 1.0)
    past = Delay("past", signal=x, by=0.01, before=1.0)
    system = System("short", x=[x], delays=[past], flow={x: -past})
    exact = strut.simulate(system, t=1.0)["x"][-1]
    assert strut.simulate(system, t=1.0, method="bdf", rtol=1e-5, atol=1e-8)["x"][-1] == pytest.approx(
        exact, abs=1e-3
    )


def test_batches_lengthen_their_history():
    x = State("x", 1.0)
    past = Delay("past", signal=x, by=5.0, before=1.0)
    system = System("lag", x=[x], delays=[past], flow={x: -past})
    batch = strut.simulate_batch(system, t=10.0, x0={"x": [1.0, 1.0]}, method="rk4", step=2e-4)
    assert set(batch.status) == {"done"}
    assert batch["x"][0] == pytest.approx(-4 - 5 + 12.5, abs=1e-6)
    lag = Param("lag", 1.0)
    late = System("late", x=[x], p=[lag], delays=[Delay("past", signal=x, by=lag)], flow={x: -1.0})
    with pytest.raises(ModelError, match="delay 'past' is -1 s"):
        strut.simulate_batch(late, t=1.0, p={"lag": [1.0, -1.0]})
