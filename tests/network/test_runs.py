"""What a network does when it runs: events and states, constraints, discrete variables, random numbers, command line."""

import numpy as np
import pytest
from typer.testing import CliRunner

import strut
from strut import network
from strut.cli.app import application
from strut.cli.model import Reading, find_runnable

SWITCH = """
initial-state "up"
x = 0
n = 0
x' = 1 state "up"
x' = -2 state "down"
event "up" to "down" when "x > 1" { set n = "n + 1"  set x = "n + 1" }
event "down" to "up" when "x < 0 || x < -5" {}
event any to terminate when "n >= 3" {}
"""


def test_states_switch_equations_and_sets_see_what_was_before():
    net = network.loads(SWITCH)
    walk = strut.simulate(net.system(), t=20, method="rk4", step=0.01, backend="virtual")
    assert walk.status.startswith("terminate")
    # up from 0 to 1 [1 s]; set to n + 1, with n from before: 1, 2, 3; down at 2 per second
    times = walk.events.times("up_to_down")
    assert times == pytest.approx([1, 1 + 0.5 + 1, 1 + 0.5 + 1 + 1 + 1])
    assert net.states_of("") == ["up", "down"]


def test_constraints_hold_and_wrap():
    text = """
    phase = 0 (0 : 1)
    phase' = 3
    level = 0.9 (0, 1)
    level' = 1
    direction = "[3; 4]" ("direction / hypot(direction)")
    direction' = "[0; 0]"
    """
    net = network.loads(text)
    walk = strut.simulate(net.system(), t=1.25, backend="virtual", method="rk4", step=0.01, p={"dt": 0.01})
    phase = walk.at(np.linspace(0, 1.25, 50) // 0.01 * 0.01 + 0.005)["phase"]
    assert phase.min() >= 0
    assert phase.max() <= 1.02
    assert walk.at(1.2)["level"] == pytest.approx(1, abs=0.011)
    assert [walk.at(1.2)[f"direction[{k}]"] for k in (0, 1)] == pytest.approx([0.6, 0.8])


def test_random_numbers_are_drawn_once_a_step():
    net = network.loads('a = "rand(2, 3)"  b = "a - a"  x\' = "a"')
    system = net.system()
    walk = strut.simulate(system, t=0.1, p={"dt": 0.01}, method="rk4", step=0.01, backend="virtual", seed=3)
    t = np.arange(10) * 0.01 + 0.005
    drawn = walk.at(t)["a"]
    assert len(set(drawn)) == 10
    assert drawn.min() >= 2
    assert drawn.max() <= 3
    assert np.all(walk.at(t)["b"] == 0)
    assert np.allclose(np.diff(walk.at(np.arange(11) * 0.01)["x"]), 0.01 * drawn)


def test_discrete_variables_use_what_was_when_the_step_began():
    net = network.loads("x = 1  x' = 1  seen = 0 | discrete  seen' = \"x - seen\"")
    walk = strut.simulate(net.system(), t=0.5, p={"dt": 0.1}, method="euler", step=0.1, backend="virtual")
    assert walk.at(np.array([0.05, 0.15, 0.25]))["seen"] == pytest.approx([0, 1, 1.1])


def test_once_keeps_what_a_run_began_with():
    net = network.loads('q = 0.5  q\' = 1  q0 = "2 * q" | once  d = "q - q0"')
    walk = strut.simulate(net.system(), t=1, x0={"q": 3}, backend="virtual", method="rk4", step=0.1)
    assert walk.at(1)["d"] == pytest.approx(4 - 6)


def test_parameters_stay_symbols():
    net = network.loads('k = 2  x = 1  x\' = "-k * x"')
    system = net.system()
    walk = strut.simulate(system, t=1, p={"k": 3}, backend="virtual")
    assert walk.at(1)["x"] == pytest.approx(np.exp(-3))


def test_the_command_line_runs_and_checks(tmp_path):
    path = tmp_path / "decay.cdn"
    path.write_text('integrator { method = "runge-kutta" }\nx = 1\nx\' = "-x"\n', encoding="utf-8")
    told = CliRunner().invoke(application(), ["run", str(path), "-t", "0:0.1:1", "--print", "x"])
    assert told.exit_code == 0, told.output
    last = told.output.strip().splitlines()[-1].split("\t")
    assert (float(last[0]), float(last[1])) == (1, pytest.approx(np.exp(-1), abs=1e-6))
    told = CliRunner().invoke(application(), ["check", str(path)])
    assert "0 nodes, 0 edges, 1 states, 0 events" in told.output
    path.write_text('x = "1 + y"\nz = = 2', encoding="utf-8")
    told = CliRunner().invoke(application(), ["check", str(path)])
    assert told.exit_code == 1


def test_an_event_sets_each_of_several_variables_to_its_own_value():
    text = """
    node "n{1:3}" { v = "$(10 * @@1)" }
    x' = 1
    event when "x > 0.5" { set "n{1:3}" . v = "@@0.v + $(@@1)" }
    """
    walk = strut.simulate(network.loads(text).system(), t=1, backend="virtual")
    assert [walk.at(1)[f"n{k}.v"] for k in (1, 2, 3)] == [11, 22, 33]


def test_inputs_have_shapes_and_constraints():
    net = network.loads('null = "zeros(2, 1)"  a = "null" | in  b = 3 | in (0, 1)  y = "sum(a) + b"')
    system = net.system()
    assert {q.name: q.size for q in system.u} == {"a": 2, "b": 1}
    assert not system.p
    walk = strut.simulate(system, t=1, u={"a": [2.0, 3.0]}, backend="virtual")
    assert walk.at(0.5)["y"] == 6  # b is held at 1


def test_what_is_watched_is_an_output_however_large_the_network(tmp_path):
    file = tmp_path / "large.cdn"
    file.write_text('node "n{1:40}" { m = "t * eye(10)" }\nx\' = 1\n', encoding="utf-8")
    assert "n40.m" not in find_runnable(str(file), Reading(), None)[0].outputs
    assert find_runnable(str(file), Reading(), None, ["n40.m[3]", "x"])[0].outputs["n40.m"].numel() == 100
