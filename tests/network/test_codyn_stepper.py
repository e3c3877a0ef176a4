"""Runs in whole steps: the original's, to the last digit."""

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import strut
from strut import network
from strut.cli.app import application
from strut.errors import ModelError, ValueRangeError

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "network"


def recorded(name):
    with (HERE / "data" / f"{name}.csv").open(encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return names, np.array(rows, dtype=float)


@pytest.mark.parametrize(
    ("example", "reference", "until"), [("15_slip", "2_15_slip", 30), ("10_pogo", "2_10_pogo", 10)]
)
def test_events_are_taken_when_the_original_takes_them(example, reference, until):
    names, rows = recorded(reference)
    net = network.load(EXAMPLES / f"{example}.cdn")
    begun = {
        name: value for name, value in zip(names, rows[0], strict=True) if name in ("p1.y", "p2.y", "p3.y")
    }
    walk = net.run_steps(until, at=begun)
    assert walk.t[-1] == pytest.approx(rows[-1, 0], abs=1e-12)
    assert walk.ended == (example == "15_slip")
    at = [int(np.abs(walk.t - t).argmin()) for t in rows[:, 0]]
    assert np.abs(walk.t[at] - rows[:, 0]).max() < 1e-12
    for k, name in enumerate(names[1:], 1):
        assert np.allclose(walk[name][at], rows[:, k], rtol=1e-12, atol=1e-12), name


def test_without_within_an_event_waits_for_the_end_of_the_step():
    text = 'initial-state "up"  x = 1  x\' = "-1" state "up"  x\' = "2" state "down"  event "up" to "down" when "x < 0.25" {}'
    x = network.loads(text).run_steps(0.6, 0.2)["x"]
    assert np.allclose(x, [1, 0.8, 0.6, 0.4])
    x = network.loads(text).run_steps(1.2, 0.2)["x"]
    assert np.allclose(x, [1, 0.8, 0.6, 0.4, 0.2, 0.6, 1.0])
    exact = strut.simulate(network.loads(text).system(), t=1.2, method="euler", step=0.2, backend="virtual")
    assert exact.at(1.2)["x"] == pytest.approx(0.25 + 2 * 0.45)


def test_with_it_the_step_is_shortened():
    text = """
    integrator { method = "runge-kutta" }
    initial-state "up"  y = 1  n = 0
    y'' = "-2"
    event "up" to "down" when "y < 0" within 0.001 { set dy = "-dy"  set n = "n + 1" }
    event any to terminate when "y > 0.9 && n >= 1 || n > 5" {}
    """
    walk = network.loads(text).run_steps(5, 0.03)
    touched = int(np.flatnonzero(walk["n"])[0])
    assert walk.t[touched] == pytest.approx(1, abs=1e-3)
    assert -0.001 <= walk["y"][touched] <= 0
    assert walk["dy"][touched] == pytest.approx(2, abs=2e-3)
    assert walk.t[touched + 1] == pytest.approx(walk.t[touched] + 0.03)
    assert walk.ended
    assert walk["y"][-2] < 0.9 < walk["y"][-1]


def test_conditions_on_time_see_the_beginning_of_an_eulers_step():
    """What a condition sees of t is what the integrator set last."""
    text = 'initial-state "a"  b = 0  event "a" to "b" when "t > 0" {}  edge self { b <= "1" state "a"  b <= "2" state "b" }'
    assert network.loads(text).run_steps(0.3, 0.1)["b"].tolist() == [1, 1, 2, 2]
    late = network.loads('integrator { method = "runge-kutta" } ' + text)
    assert late.run_steps(0.3, 0.1)["b"].tolist() == [1, 2, 2, 2]


def test_clocks_constraints_and_chance_step_too():
    text = 'a = 0 | discrete  a\' = 1  q = "[2, 0]" ("q / hypot(q)")  q\' = "[0, 1]"  r = "rand(2, 3)"'
    walk = network.loads(text).run_steps(0.2, 0.1, seed=3)
    assert walk["a"].tolist() == [0, 1, 2]
    assert np.allclose(walk["q"][1], np.array([1, 0.1]) / np.hypot(1, 0.1))
    assert ((walk["r"] >= 2) & (walk["r"] <= 3)).all()
    assert len(set(walk["r"])) == 3


SWING = 'integrator { %s } node "a" { x = 1  x\'\' = "-4 * x - 0.1 * dx + t" } node "b" { x = 1  v = 0  x\' = "v"  v\' = "-4 * x - 0.1 * v + t" }'


@pytest.mark.parametrize(
    ("integrator", "second_order", "first_order"),
    [
        (
            'method = "leap-frog"',
            [1, 0.9595, 0.881525, 0.77056875, 0.6323993125, 0.473815596875, 0.302365094531],
            [1, 1, 0.96, 0.8814, 0.767186, 0.62185814, 0.4512961186],
        ),
        (
            'method = "predict-correct"',
            [1, 0.98, 0.922128958333, 0.830272194059, 0.709412956773, 0.56565129832, 0.405921856939],
            [1, 0.98, 0.922128958333, 0.830272194059, 0.709412956773, 0.56565129832, 0.405921856939],
        ),
        (
            'method = "predict-correct" prediction-order = 4 correction-order = 4',
            [1, 0.98, 0.922128958333, 0.830552524708, 0.709911037941, 0.56627420268, 0.406552082994],
            [1, 0.98, 0.922128958333, 0.830552524708, 0.709911037941, 0.56627420268, 0.406552082994],
        ),
    ],
)
def test_the_other_methods_step_as_in_the_original(integrator, second_order, first_order):
    """With the original's numbers: leap-frog knows velocities by x\'\' alone, else it is Euler's method."""
    rows = network.loads(SWING % integrator).run_steps(0.6, 0.1)
    assert rows["a.x"] == pytest.approx(second_order, abs=1e-12)
    assert rows["b.x"] == pytest.approx(first_order, abs=1e-12)


def test_leap_frog_swings_in_instances_of_templates_too():
    text = 'integrator { method = "leap-frog" } templates { node "t" { x = 1  x\'\' = "-4 * x - 0.1 * dx + t" } } node "a" : t {}'
    assert network.loads(text).run_steps(0.1, 0.1)["a.x"][-1] == pytest.approx(0.9595, abs=1e-12)


def test_predict_correct_steps_matrices():
    """As their elements one by one; the original mixes them up."""
    whole = 'integrator { method = "predict-correct" } z = "[1; 2]"  z\' = "[z[1]; -3 * z[0]]"'
    parts = 'integrator { method = "predict-correct" } a = 1  b = 2  a\' = "b"  b\' = "-3 * a"'
    one, other = network.loads(whole).run_steps(1, 0.05), network.loads(parts).run_steps(1, 0.05)
    assert np.array_equal(one["z"], np.column_stack([other["a"], other["b"]]))


def test_delays_are_straight_lines_between_steps():
    """Euler\'s method by hand; before the run the past is what it is said to be, without a word 0."""
    text = 'x = 1  x\' = "-2 * delayed[x, 1 + t](0.25)"  y = "delayed[3 * x](0.3)"'
    rows = network.loads(text).run_steps(0.8, 0.1)
    x = [1.0]
    for k in range(8):
        then = 0.1 * k - 0.25
        x.append(x[-1] + 0.1 * -2 * (np.interp(then, 0.1 * np.arange(k + 1), x) if then >= 0 else 1 + then))
    assert rows["x"] == pytest.approx(x, abs=1e-14)
    assert rows["y"] == pytest.approx([0, 0, 0, *(3 * np.array(x[:6]))], abs=1e-12)


def test_delays_at_the_stages_of_a_step():
    """z\' is t less the delay: Runge-Kutta is exact where the stages see their own past."""
    rows = network.loads('integrator { method = "runge-kutta" } z = 0  z\' = "delayed[t, t](0.2)"').run_steps(
        1, 0.1
    )
    assert rows["z"] == pytest.approx(rows.t**2 / 2 - 0.2 * rows.t, abs=1e-14)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('x = "delayed[t](0.05)"', "a delay of 0.05 s is shorter than a step of 0.1 s: give a shorter step"),
        (
            'integrator { method = "predict-correct" prediction-order = 7 }',
            "prediction-order of the integrator is 7: it must be 2 to 5",
        ),
        ("integrator { correction-order = 2 }", "correction-order of the integrator is 2: it must be 3 to 5"),
    ],
)
def test_what_cannot_be_stepped_is_told(text, what):
    with pytest.raises(ModelError, match=what):
        network.loads(text).run_steps(1, 0.1)


def test_the_monitor_prints_what_selectors_find(tmp_path):
    path = tmp_path / "m.cdn"
    path.write_text('k = 4  node "n{1:3}" { x = "[@@1, 0]"  x\' = "[0, 1]" }', encoding="utf-8")
    result = CliRunner().invoke(
        application(), ["monitor", str(path), "-t", "0:0.5:1", "--print", "/n[12]/.x", "--print", "k"]
    )
    assert result.exit_code == 0, result.output
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert lines[0] == ["t", "n1.x[0]", "n1.x[1]", "n2.x[0]", "n2.x[1]", "k"]
    assert [float(v) for v in lines[-1]] == [1, 1, 1, 2, 1, 4]
    assert CliRunner().invoke(application(), ["monitor", str(path), "--print", "nothing"]).exit_code != 0


@pytest.mark.parametrize("step", ["-1", "0"])
def test_steps_that_lead_nowhere_are_refused(step):
    net = network.loads(f'x = 0 x\' = 1 integrator {{ default-timestep = "{step}" }}')
    with pytest.raises(ValueRangeError, match="the step is"):
        net.run_steps(1.0)
    with pytest.raises(ValueRangeError, match="the step is"):
        net.options()
    with pytest.raises(ValueRangeError, match="rows"):
        net.run_steps(1.0, 1e-300)
    with pytest.raises(ValueRangeError, match="the step is -0.1"):
        net.run_steps(1.0, -0.1)


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_euler_is_where_its_steps_are(backend):
    """Falling from just below the bound: a curve through both ends of a step would cross it."""
    net = network.loads(
        'node "b" { initial-state "a" z = -1e-6 w = 0 z\' = "w" w\' = "-9.81" event "a" to "b" when "z > 0" {} }'
    )
    run = strut.simulate(net.system(), t=0.1, backend=backend, **net.options(0.001))
    assert not run.events.names
    steps = 0.001 * np.arange(101)
    fallen = -1e-6 - 9.81 * 0.001 * np.concatenate([[0], np.cumsum(np.arange(100))]) * 0.001
    assert run.at(steps)["b.z"] == pytest.approx(fallen, abs=1e-12)
    halves = (fallen[1:] + fallen[:-1]) / 2
    assert run.at(steps[:-1] + 0.0005)["b.z"] == pytest.approx(halves, abs=1e-12)
