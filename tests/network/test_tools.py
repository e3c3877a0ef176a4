"""Pictures, conversations, questions from Python, and machines inside networks."""

import re
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

import strut
from strut import network
from strut.cli.answer import CommandAnswer, answer_scope
from strut.cli.app import application
from strut.cli.repl import Session
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.network import NetworkError
from strut.system.quantity import Input, State
from strut.system.system import System

RING = """
integrator { method = "runge-kutta"  default-timestep = "0.01" }
k = 2
node "n{1:3}" { x = "$(@@1)"  x' = "-k * x"  twice = "2 * x"  node "inner" { y = 1 } }
edge "e" from "n1" to "n2" { x' += "0 * input.x" }
edge from "n3" to "n3" { x' += 0 }
layout { "n1" at 0, 0  "n2" at 3, 1 }
"""
SVG = "{http://www.w3.org/2000/svg}"


def centres(text):
    found = {}
    for g in ET.fromstring(text).iter(f"{SVG}g"):
        r = {
            k: float(v) for k, v in g.find(f"{SVG}rect").attrib.items() if k in ("x", "y", "width", "height")
        }
        found[g.attrib["id"]] = np.array([r["x"] + r["width"] / 2, r["y"] + r["height"] / 2])
    return found


def test_a_picture_has_every_node_and_edge_and_keeps_the_layout(tmp_path):
    path = tmp_path / "ring.cdn"
    path.write_text(RING, encoding="utf-8")
    told = CliRunner().invoke(application(), ["graph", str(path)])
    assert told.exit_code == 0, told.output
    text = (tmp_path / "ring.svg").read_text()
    at = centres(text)
    assert set(at) == {"n1", "n2", "n3", "n1.inner", "n2.inner", "n3.inner"}
    assert len(re.findall('class="edge"', text)) == 2
    apart = at["n2"] - at["n1"]
    assert apart[0] == pytest.approx(3 * apart[1], abs=0.3)
    assert apart[1] > 0
    assert at["n1"] == pytest.approx(at["n1.inner"], abs=30)


def test_nodes_without_a_layout_keep_apart_and_names_are_escaped():
    net = network.loads('node "n{1:12}" {}  node "a<b" {}  edge from "n{1:12}" to "n$(@1 + 1)" {}')
    at = list(centres(net.graph()).values())
    least = min(np.linalg.norm(a - b) for i, a in enumerate(at) for b in at[:i])
    assert least > 60
    assert "a&lt;b" in net.graph()


def talk(*lines, text=RING):
    return list(Session(network.loads(text), backend="virtual").talk(lines))


def test_a_conversation():
    with answer_scope(CommandAnswer(digits=10)):
        said = talk(
            "n2.x^2 + k",
            "find nodes | /n[12]/ . twice",
            "n2.x = 3",
            "n2.twice",
            "k = 1",
            "step 2",
            "n2.x",
            "n1.x",
            "quit",
            "k",
        )
    assert said[0] == "6"
    assert said[1] == "n1.twice\nn2.twice"
    assert said[3] == "6"
    assert said[5] == "t = 0.02"
    assert float(said[6]) == pytest.approx(3 * np.exp(-0.02), rel=1e-8)
    assert float(said[7]) == pytest.approx(np.exp(-0.02), rel=1e-8)
    assert len(said) == 8


def test_a_conversation_goes_on_after_mistakes():
    said = talk(
        "nothing + 1",
        "n1.twice = 2",
        "n9.x = 1",
        "step x",
        "plot n1.x",
        "show n1",
        "run -1",
        "k = = 2",
        "t",
        "find )",
    )
    assert all(line.startswith("mistake: ") for line in (*said[:5], said[6], said[7], said[9]))
    assert "change its expression" in said[1]
    assert re.search(r"twice +2 +2 \* x", said[5])
    assert "x' += -k * x" in said[5]
    assert said[8] == "0"


def test_a_conversation_plots_and_changes(tmp_path):
    said = talk(
        "run 1",
        "plot n3.x",
        f"plot n1.x n2.twice {tmp_path / 'p.svg'}",
        'change node "n1" { x = 7 }',
        "n1.x",
        "reset",
    )
    assert said[1].splitlines()[1].strip().startswith("3 |*")
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")
    assert said[4] == "7"


def test_completion_knows_commands_nodes_and_variables():
    session = Session(network.loads(RING), backend="virtual")
    assert session.complete("n1.") == ["n1.inner", "n1.inner.y", "n1.twice", "n1.x"]
    assert session.complete("st") == ["step"]
    assert session.complete("zz") == []


def test_the_command_reads_lines_from_a_pipe(tmp_path):
    path = tmp_path / "ring.cdn"
    path.write_text(RING, encoding="utf-8")
    told = CliRunner().invoke(application(), ["repl", str(path)], input="n1.x + n2.x\nquit\n")
    assert told.exit_code == 0, told.output
    assert told.output.strip().splitlines()[-1] == "3"


def test_rows_end_with_what_the_clock_does_at_the_last_instant(tmp_path):
    path = tmp_path / "counter.cdn"
    path.write_text("a = 0 | discrete\na' = 1\nq = 3 (\"q / 2\")\nq' = 1", encoding="utf-8")
    result = CliRunner().invoke(
        application(), ["run", str(path), "-t", "0:0.5:1", "--print", "a", "--print", "q"]
    )
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines() if line[:1].isdigit()]
    assert [[float(v) for v in row] for row in rows] == [[0, 0, 1.5], [0.5, 1, 1], [1, 2, 0.75]]


def test_check_tells_what_has_no_effect(tmp_path):
    path = tmp_path / "idle.cdn"
    path.write_text('node "a" {}  node "b" {}  edge from "a" to "b" { x += 1 }', encoding="utf-8")
    result = CliRunner().invoke(application(), ["check", str(path)])
    assert result.exit_code == 0
    assert "does nothing to 'x'" in result.stderr


def test_a_network_is_asked_from_python():
    net = network.loads(RING)
    assert float(net.value("x + twice", of="n2").item()) == 6
    assert float(net.value("n1.x'", at={"k": 5, "n1.x": 2}).item()) == -10
    assert net.value("[n1.x, n2.x; t, 0]", t=4) == pytest.approx(np.array([[1, 2], [4, 0]]))
    with pytest.raises(NetworkError, match="no 'n7'"):
        net.value("x", of="n7")


def spring_mass():
    x, v, f = State("x", 1.0), State("v", 0.0), Input("force", 0.0)
    return System("mass", x=(x, v), u=(f,), flow={x: v, v: f})


def test_a_node_can_be_a_machine():
    """An edge is the spring: x'' = -9 x."""
    net = network.loads("""
    node "anchor" { k = 9 }
    node "cart" { x = 0 | in  force = 0 }
    edge from "anchor" to "cart" { force <= "-input.k * output.x" }
    """)
    system = net.system(machines={"cart": spring_mass()})
    assert not system.u
    run = strut.simulate(system, t=1, p={"anchor.k": 4}, backend="virtual")
    assert run.at(1)["cart.x"] == pytest.approx(np.cos(2), abs=1e-8)
    assert run.at(1)["cart.force"] == pytest.approx(-4 * np.cos(2), abs=1e-7)


def test_what_a_node_shares_with_its_machine_must_exist():
    with pytest.raises(UnknownNameError, match=r"shows 'cart.y', which 'mass' does not have"):
        network.loads('node "cart" { y = 0 | in }').system(machines={"cart": spring_mass()})
    with pytest.raises(ModelError, match=r"named like its inputs \(force\)"):
        network.loads('node "cart" { a = 0 }').system(machines={"cart": spring_mass()})


def test_a_picture_stays_small_where_nodes_hold_others():
    """What no edge joins stands in rows, however large its neighbours are."""
    inner = " ".join(f'node "n{k}" {{ x = {k} }}' for k in range(9))
    net = network.loads(
        f'node "big" {{ {inner} edge from "n0" to "n1" {{ x += "1" }} }} node "a" {{ y = 1 }} node "b" {{ y = 2 }} node "c" {{ y = 3 }}'
    )
    text = net.graph()
    width, height = (float(v) for v in re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', text).groups())
    assert max(width, height) < 1300  # 3700 by equal distances
    boxes = [
        tuple(map(float, found))
        for found in re.findall(r'class="node" x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', text)
    ]
    assert len(boxes) == 12
    for k, (x, y, w, h) in enumerate(boxes):
        assert not any(abs(x - x2) < w - 1 and abs(y - y2) < h - 1 for x2, y2, *_ in boxes[:k])


def test_exported_programs_integrate_as_the_file_asks(tmp_path):
    """One second of Euler's method with the file's step of 0.1 s: 0.9^10, which no other method or step gives."""
    path = tmp_path / "decay.cdn"
    path.write_text(
        'integrator { method = "euler" default-timestep = 0.1 } x = 1  x\' = "-x"', encoding="utf-8"
    )
    result = CliRunner().invoke(application(), ["export", str(path), "-o", str(tmp_path / "c")])
    assert result.exit_code == 0, result.output
    subprocess.run(["make", "-C", str(tmp_path / "c")], check=True, capture_output=True)
    first = subprocess.run(
        [str(tmp_path / "c" / "decay")], check=True, capture_output=True, text=True
    ).stdout.splitlines()[1]  # below the names of the columns
    assert [float(word) for word in first.split()] == pytest.approx([1, 0.9**10], abs=1e-12)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"method": "rk5"}, "there is no method 'rk5' in C: did you mean 'rk4'"),
        ({"step": 0.0}, "the step is 0.0 s: it must be positive"),
    ],
)
def test_programs_are_not_exported_with_what_does_not_exist(tmp_path, options, what):
    with pytest.raises(ValueRangeError, match=what):
        strut.export(network.loads("x = 1  x' = 1").system(), tmp_path, **options)
