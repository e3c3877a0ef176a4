"""What commands say of a machine of one's own: tables without bookkeeping, and files that are not theirs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import strut
from strut.cli.app import application

BOX = """
name = "box"
planar = true
[parameters]
width = { value = 0.4, unit = "m", bounds = [0.1, 1] }
[bodies.box]
mass = 2.0
inertia = 0.05
[joints.base]
type = "planar"
parent = "world"
child = "box"
actuated = false
initial = [0, 0.1, 0]
[frames.left]
body = "box"
at = ["-width / 2", 0, -0.1]
[frames.right]
body = "box"
at = ["width / 2", 0, -0.1]
[contact]
kind = "rigid"
feet = ["left", "right"]
friction = 0.5
"""


def invoke(*words):
    return CliRunner().invoke(application([words[0]]), list(words))


@pytest.fixture
def box(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "box.toml").write_text(BOX, encoding="utf-8")
    return "box.toml"


def test_starting_values_that_are_expressions_are_shown_as_numbers(box):
    """The feet of the box stand: both expressions, a line of hundreds of letters, come to 1."""
    said = invoke("show", box)
    assert said.exit_code == 0, said.output
    rows = {line.split()[2]: line.split()[3] for line in said.output.splitlines() if "discrete state" in line}
    assert rows["left_on"] == rows["right_on"] == "1"
    assert max(len(line) for line in said.output.splitlines() if line.startswith("discrete")) < 100
    held = {each["name"]: each for each in json.loads(invoke("show", box, "--json").output)["result"]["z"]}
    assert held["left_on"]["start"] == 1
    assert "cos" in held["left_on"]["value"]  # the expression is there for machines
    runner = invoke("show", "slip")
    assert "length = 1" in runner.output  # a short one says what it is


def test_bookkeeping_is_not_printed(box):
    said = invoke("run", box, "-t", "0.1", "-o", "box.h5")
    assert said.exit_code == 0, said.output
    assert "base.z" in said.output
    assert "jammed_at" not in said.output
    assert "jammed_at" in invoke("run", box, "-t", "0.1", "-o", "box.h5", "--json").output


@pytest.mark.parametrize("command", ["monitor", "graph", "repl"])
def test_a_machine_is_no_network(box, command):
    said = invoke(command, box)
    assert said.exit_code in (1, 2)
    text = f"{said.output}{said.exception}"
    assert "is no network" in text
    assert "strut show box.toml" in text


def test_machines_are_checked_as_networks_are(box, tmp_path):
    said = invoke("check", box, "--json")
    assert said.exit_code == 0, said.output
    (row,) = json.loads(said.output)["result"]["models"]
    assert row["ok"]
    assert row["states"] == strut.contact.load(box).size("x")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(Path(box).read_text().replace("mass", "mas", 1))
    said = invoke("check", str(wrong), box)
    assert said.exit_code == 1
    assert "'mas'" in said.output
    assert "box.toml: " in said.output  # what is wrong in one keeps no other from being read
    program = tmp_path / "machine.py"
    program.write_text("raise SystemExit(7)")
    assert "which only running checks" in invoke("check", str(program)).output


def test_a_job_that_does_not_exist_is_an_error(box):
    said = invoke("jobs", "none.db")
    assert said.exit_code != 0
    assert "cannot read none.db: there is no such file" in f"{said.output}{said.exception}"
