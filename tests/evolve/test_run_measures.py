"""Measures over a run: largest and least values against closed forms, and what becomes of runs that end early."""

import casadi as ca
import numpy as np
import pytest

from strut import evolve, simulate, walkers
from strut.errors import ModelError
from strut.system import Event, Param, Sample, State, System, time

LOCATED = 1e-7
"""Error of a largest value, from the tolerances of the integrator (1e-9) over some seconds."""


def measure(system, t, expressions, names=(), x=(()), **options):
    evaluation = evolve.of_system(system, t, expressions, rtol=1e-10, atol=1e-12, **options)
    rows = np.array([list(x)], dtype=float) if len(x) else np.zeros((1, 0))
    if not names:
        names, rows = ("amplitude",), np.ones((1, 1))
    answers = evaluation.evaluate(tuple(names), rows, np.zeros(len(rows), dtype=np.uint64))
    assert set(answers.status) == {"ok"}
    return dict(zip(expressions, answers.measures[0], strict=True))


def oscillator(damping=0.0):
    """x'' = -x - 2 d x', which begins at x = 0 with x' = 1."""
    x, v, amplitude = State("x", 0.0), State("v", 1.0), Param("amplitude", 1.0)
    flow = {x: v.sym, v: -x.sym - 2 * damping * v.sym}
    outputs = {"size": amplitude.sym * x.sym}
    return System("oscillator", x=(x, v), p=(amplitude,), flow=flow, outputs=outputs)


def test_peaks_of_an_oscillation_are_exact():
    d = 0.1
    values = measure(
        oscillator(d),
        20.0,
        {
            "top": "largest(x)",
            "bottom": "least(x)",
            "late": "largest_after(x, 5)",
            "speed": "largest(v)",
            "fall": "least(abs(x) + 1)",
            "product": "largest(x) * least(size)",
        },
    )
    w = np.sqrt(1 - d**2)
    phase = np.arctan2(w, d)  # of the first peak of exp(-d t) sin(w t) / w
    first = np.exp(-d * phase / w) * np.sin(phase) / w
    half = np.exp(-d * np.pi / w)
    assert values["top"] == pytest.approx(first, abs=LOCATED)
    assert values["bottom"] == pytest.approx(-first * half, abs=LOCATED)
    assert values["late"] == pytest.approx(first * half**2, abs=LOCATED)
    assert values["speed"] == 1.0  # where the run begins
    assert values["fall"] == pytest.approx(1.0, abs=LOCATED)
    assert values["product"] == pytest.approx(values["top"] * values["bottom"], rel=1e-12)


@pytest.mark.parametrize("step", [0.02, 0.5, None])
def test_the_first_part_may_be_ignored_whatever_the_steps(step):
    """From 2.5 s on sin(t) falls at first: the largest is where it begins to count, or at a later peak."""
    options = {} if step is None else {"max_step": step}
    text = {"a": "largest_after(x, 2.5)", "b": "largest_after(x, 4)", "c": "least_after(x, 2.5)"}
    values = measure(oscillator(), 5.5, text, **options)
    assert values["a"] == pytest.approx(np.sin(2.5), abs=LOCATED)
    assert values["b"] == pytest.approx(np.sin(5.5), abs=LOCATED)  # where the run ends
    assert values["c"] == pytest.approx(-1.0, abs=LOCATED)


def test_jumps_count_before_and_after():
    """A ball that begins at 1 m and keeps half of its speed when it bounces: it lands with sqrt(2 g h), and
    rises to a quarter of the height."""
    g = 10.0
    h, v, amplitude = State("h", 1.0), State("v", 0.0), Param("amplitude", 1.0)
    bounce = Event("bounce", -h.sym, {v: -0.5 * v.sym})
    ball = System("ball", x=(h, v), p=(amplitude,), flow={h: v.sym, v: ca.SX(-g)}, events=(bounce,))
    text = {"top": "largest(h)", "later": "largest_after(h, 0.6)", "up": "largest(v)", "down": "least(v)"}
    values = measure(ball, 1.0, text)
    landing = np.sqrt(2 * g)
    assert values["top"] == 1.0
    assert values["later"] == pytest.approx(0.25, abs=LOCATED)
    assert values["up"] == pytest.approx(landing / 2, abs=LOCATED)
    assert values["down"] == pytest.approx(-landing, abs=LOCATED)


def test_samples_count_before_and_after():
    """A saw: x rises with 1/s and is set back to 0 every 0.3 s; held is what it was before."""
    x, amplitude = State("x", 0.0), Param("amplitude", 1.0)
    back = Sample("back", 0.3, {x: ca.SX(0)}, offset=0.3)
    saw = System("saw", x=(x,), p=(amplitude,), flow={x: amplitude.sym}, samples=(back,))
    values = measure(saw, 1.0, {"top": "largest(x)", "least": "least_after(x, 0.31)"})
    assert values["top"] == pytest.approx(0.3, abs=LOCATED)
    assert values["least"] == pytest.approx(0.0, abs=LOCATED)


def test_values_that_depend_on_time_turn_too():
    x, amplitude = State("x", 0.0), Param("amplitude", 1.0)
    system = System("drift", x=(x,), p=(amplitude,), flow={x: ca.SX(1)}, outputs={"y": x.sym - time**2})
    assert measure(system, 3.0, {"top": "largest(y)"})["top"] == pytest.approx(0.25, abs=LOCATED)


def test_what_stays_the_same_makes_no_events():
    """The energy of a spring is 0.5 but for rounding, which would turn at every step."""
    evaluation = evolve.of_system(oscillator(), 50.0, {"e": "largest((x * x + v * v) / 2)"}, rtol=1e-9)
    system = evaluation.run_measures.system
    run = simulate(system, 50.0, rtol=1e-9)
    assert run.status == "done"
    assert sum(event.name.startswith("measured_largest") for event in run.events) < 40


def test_a_runners_largest_values_are_those_of_its_curves():
    slip = walkers.slip()
    text = {
        "top": "largest(y)",
        "low": "least(y)",
        "force": "largest(force)",
        "late": "largest_after(y, 1.5)",
    }
    values = measure(slip, 3.0, text, ("attack",), (1.19,))
    run = simulate(slip, 3.0, p={"attack": 1.19}, rtol=1e-10, atol=1e-12, max_step=5e-4)
    assert values["top"] == pytest.approx(run["y"].max(), abs=1e-5)
    assert values["low"] == pytest.approx(run["y"].min(), abs=1e-5)
    assert values["force"] == pytest.approx(run["force"].max(), rel=1e-4)
    assert values["late"] == pytest.approx(run["y"][run.t >= 1.5].max(), abs=1e-5)
    assert (values["top"] - run["y"].max()) > -1e-12


def test_runs_that_end_early_have_values_too():
    """A fall before the time from which on something counts is no failure of the evaluation: staged goals
    still rank it."""
    text = {"mean": "mean_after(x, 30)", "top": "largest_after(x, 30)", "sum": "integral_after(x, 30)"}
    fall = Event("fall", guard=time - 2.0, terminal=True, failure=True)
    values = measure(oscillator().replace(events=(fall,)), 40.0, text)
    assert values["mean"] == values["sum"] == 0.0
    assert values["top"] == pytest.approx(np.sin(2.0), abs=LOCATED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("largest(end.time)", "'end.time' is known only when a run has ended: it has no largest value"),
        ("largest(integral(x))", "another integral or largest value is known only when"),
        ("integral(largest(x))", "another integral or largest value is known only when"),
        ("largest_after(x, -1)", "give a number that is not negative"),
        ("mean_after(x, v)", "give a number that is not negative"),
        ("mean_after(x, 1)", "counts is 1 s, and runs last 1 s: nothing would be counted"),
        ("integral_after(x, 5)", "counts is 5 s, and runs last 1 s: nothing would be counted"),
        ("least_after(x, 5)", "counts is 5 s, and runs last 1 s: nothing would be counted"),
        ("largest(x, 2)", "largest"),
    ],
)
def test_wrong_measures_are_explained(text, message):
    with pytest.raises(ModelError, match=message):
        evolve.of_system(oscillator(), 1.0, {"m": text})
