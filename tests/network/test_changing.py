"""Changing a network: all or nothing. Names: each variable has its own, whatever others are called."""

import numpy as np
import pytest
from typer.testing import CliRunner

import strut
from strut import network
from strut.cli.app import application
from strut.network import NetworkError
from tests.network.reading import begin

RING = """
defines { c = 1 }
integrator { method = "runge-kutta" }
templates { node "t" { a = 1  x = "a"  x' = "-x"  event when "x < 0.1" { set x = 1 } } }
node "n{1:3}" : t {}
edge "e" from "n{1:3}" to "n$(@1 + 1)" { w = 2  x' += "w * input.x" }
"""


def described(net):
    """Everything that a network says, as plain data."""
    things = [net.root, *net.root.descendants(), net.templates, *net.templates.descendants()]
    return [
        (
            thing.path,
            {n: (v.text, sorted(v.flags), v.constraint) for n, v in thing.variables.items()},
            [t.path for t in thing.templates],
            sorted(i.path for i in thing.instances),
            [(a.name, a.text) for a in getattr(thing, "actions", {}).values()],
            [(e.condition, [s.text for s in e.sets]) for e in getattr(thing, "events", ())],
            [e.path for e in (*getattr(thing, "inputs", ()), *getattr(thing, "outputs", ()))],
        )
        for thing in things
    ] + [net.integrator, [str(w) for w in net.warnings], net.said]


@pytest.mark.parametrize(
    "text",
    [
        'node "n1" { x = 5  x += 1 }',
        'templates { node "t" { a = 7  b = 1 } }  node "n4" : nothing {}',
        'delete "n2"  delete "e_1"  x = "$(@@7)"',
        'node "m" { node "k" {} }  node "n1" { interface { y = x in "k" }  initial-state "s" }  "v{1:3}" = "{1,2}"',
        'integrator { method = "runge-kuta" }',
        "integrator { default-timestep = 0.1  step = 2 }",
        'node "n1" { event when "x > 5" { set x = 3 } }  node "t" : t {}  edge "e" on "n1" {}  apply "none" to "n1"',
        'defines { c = 9 }  unapply "t" from "n1"  debug-print "hello"  delete "nothing"  y += 1',
        'node "n1" : t { x = 1 | out }  node "n1" { x | +in }  node "n1" { x += 1 }',
        "x = = 1",
    ],
)
def test_a_change_that_fails_changes_nothing(text):
    net = network.loads(RING)
    before, node = described(net), net.root.children["n1"]
    with pytest.raises(NetworkError):
        net.change(text)
    assert described(net) == before
    assert net.root.children["n1"] is node
    net.change('node "n1" { a = 4 }  k = "@c"')
    assert begin(net)["n1.x"] == 4
    assert begin(net)["k"] == 1
    assert network.loads(RING).change('templates { node "t" { a = 3 } }').value("n2.x") == 3


def test_names_that_become_the_same_are_kept_apart():
    text = 'node "n-1" { x = 1  x\' = "-x" }\nnode "n_1" { x = 2  x\' = "-2 * x" }\nnode "n 1" { x = 3  x\' = 0 }'
    net = network.loads(text, "m.cdn")
    names = {v.path: name for v, name in net.system_names().items()}
    assert names == {"n-1.x": "n_1.x_2", "n_1.x": "n_1.x", "n 1.x": "n_1.x_3"}
    run = strut.simulate(net.system(), t=1)
    assert {n: float(run.at(1)[n]) for n in names.values()} == pytest.approx(
        {"n_1.x": 2 * np.exp(-2), "n_1.x_2": np.exp(-1), "n_1.x_3": 3}, abs=1e-8
    )
    assert str(net.warnings[0]).startswith(
        "m.cdn:1:14: 'n-1.x' is called 'n_1.x_2' in the system and in runs: 'n_1.x' is another"
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('node "a.b" { y = 3 } node "a" { node "b" { y = 4 } }', {"a.b.y": 4, "a_b.y": 3}),
        (
            'node "a-b" { node "c" { y = 1 } } node "a_b" { node "c" { y = 2 } }',
            {"a_b.c.y": 2, "a_b.c.y_2": 1},
        ),
        ('node "1" { y = 1 } node "_1" { y = 2 }', {"_1.y": 2, "_1.y_2": 1}),
        ('node "n" { "state" = 3  initial-state "s" }', {"n.state": 3, "n.state_2": 0}),
        ('node "φ-1" { y = 1 } node "φ_1" { y = 2 }', {"φ_1.y": 2, "φ_1.y_2": 1}),
    ],
)
def test_plain_names_keep_their_names(text, values):
    known = begin(text)
    assert {name: known[name] for name in values} == values


def test_the_monitor_tells_names_apart(tmp_path):
    path = tmp_path / "m.cdn"
    path.write_text(
        'node "n-1" { x = 1  x\' = 1  k = 5 } node "n_1" { x = 2  x\' = 1  k = 6 }', encoding="utf-8"
    )
    result = CliRunner().invoke(application(), ["monitor", str(path), "-t", "0:0.5:1"])
    assert result.exit_code == 0, result.output
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert lines[0] == ["t", "n-1.x", "n-1.k", "n_1.x", "n_1.k"]
    assert [float(v) for v in lines[-1]] == [1, 2, 5, 3, 6]
