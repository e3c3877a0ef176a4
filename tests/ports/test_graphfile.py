"""Graphs as text: the same system as in Python, and mistakes with file, line and caret."""

import numpy as np
import pytest

import strut
from strut import ports
from strut.cli.app import main
from strut.errors import ModelError, StrutError
from tests.ports.graphs import motor

MOTOR = """\
name = "motor"

[parameters.kt]
value = 0.05
unit = "N m/A"

[inputs.voltage]
value = 12.0
unit = "V"

[[element]]
name = "supply"
kind = "Se"
domain = "electrical"
effort = "voltage"

[[element]]
name = "current"
kind = "1"

[[element]]
name = "winding"
kind = "I"
domain = "electrical"
inertia = 0.5e-3

[[element]]
name = "copper"
kind = "R"
domain = "electrical"
resistance = 0.3

[[element]]
name = "motor"
kind = "GY"
ratio = "kt"
domains = ["electrical", "rotation"]

[[element]]
name = "speed"
kind = "1"

[[element]]
name = "rotor"
kind = "I"
domain = "rotation"
inertia = 0.01

[[element]]
name = "bearing"
kind = "R"
domain = "rotation"
resistance = 1e-3

[[bond]]
from = "supply"
to = "current"

[[bond]]
from = "current"
to = ["winding", "copper", "motor"]

[[bond]]
from = "motor"
to = "speed"

[[bond]]
from = "speed"
to = ["rotor", "bearing"]

[expose]
shaft = "speed"
"""

LEG = """\
[bodies.shank]
mass = 3.0
com = [0, 0, -0.2]
inertia = 0.03
[joints.knee]
type = "revolute"
axis = "y"
parent = "world"
child = "shank"
initial = 0.4
"""

DRIVEN = """\
[[element]]
name = "drive"
kind = "part"
file = "motor.toml"
[[element]]
name = "leg"
kind = "machine"
model = "leg.toml"
ports = { knee = "knee_torque" }
[[element]]
name = "gearbox"
kind = "TF"
ratio = "1 / 30"
[[element]]
name = "joint"
kind = "1"
[[element]]
name = "stop"
kind = "R"
domain = "rotation"
effort = "0.2 * f * (1 + drive.rotor.flow**2)"
[[bond]]
from = "drive.shaft"
to = "gearbox"
[[bond]]
from = "gearbox"
to = "joint"
[[bond]]
from = "joint"
to = ["leg.knee", "stop"]
"""


def flows(system, x):
    import casadi as ca

    f = system.function("flow", [ca.vertcat(*[system.flow[q.name] for q in system.x])])
    u, p = [float(q.value[0]) for q in system.u], [float(q.value[0]) for q in system.p]
    return np.array(f(0, x, [], u, p)).reshape(-1)


def test_the_text_is_the_graph():
    ours, theirs = ports.system(ports.parse(MOTOR)), ports.system(motor())
    assert [q.name for q in ours.x] == [q.name for q in theirs.x]
    assert flows(ours, [0.002, 0.1]) == pytest.approx(flows(theirs, [0.002, 0.1]), rel=1e-14)
    assert [q.unit for q in ours.u] == ["V"]


def test_parts_and_machines_lie_in_files_beside_it(tmp_path):
    for name, text in (("motor", MOTOR), ("leg", LEG), ("driven", DRIVEN)):
        (tmp_path / f"{name}.toml").write_text(text)
    g = ports.load(tmp_path / "driven.toml")
    assert g.name == "driven"
    assert ports.is_graph_file(tmp_path / "driven.toml")
    assert not ports.is_graph_file(tmp_path / "leg.toml")
    run = strut.simulate(ports.system(g).using(voltage=1.0), 0.3)
    assert run.ledger.residual < 1e-9 * run.ledger.turnover
    assert {"drive.copper", "stop"} <= set(run.ledger.dissipated)


def test_the_command_line_runs_a_graph(tmp_path, monkeypatch, capsys):
    (tmp_path / "motor.toml").write_text(MOTOR)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as leaving:
        main(["run", "motor.toml", "-t", "0.5", "--set", "voltage=6", "--json"])
    assert leaving.value.code == 0
    assert '"rotor.p"' in capsys.readouterr().out


def test_energies_and_vectors_are_read():
    text = """
    [[element]]
    name = "v"
    kind = "1"
    [[element]]
    name = "mass"
    kind = "I"
    domain = "translation"
    inertia = [[2, 0], [0, "1 + 2"]]
    size = 2
    initial = [1, 2]
    [[element]]
    name = "along"
    kind = "TF"
    ratio = [[0.6, 0.8]]
    [[element]]
    name = "stretch"
    kind = "1"
    [[element]]
    name = "spring"
    kind = "C"
    domain = "translation"
    energy = "25 * q**2"
    initial = 0.1
    [[bond]]
    from = "v"
    to = ["mass", "along"]
    [[bond]]
    from = "along"
    to = "stretch"
    [[bond]]
    from = "stretch"
    to = "spring"
    """
    s = ports.system(ports.parse(text))
    assert flows(s, [1.0, 2.0, 0.1]) == pytest.approx([-3, -4, 0.3 + 1.6 / 3], rel=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('kind = "GY"', 'kind = "GX"', r"model, line LINE: \[element\] kind is 'GX': known: I, C, [^\n]*\n    kind = \"GX\"\n            \^"),
        ('resistance = 1e-3', 'resistance = "kd"', r"model, line LINE: \[element\] resistance: 'kd' is no parameter: [^\n]*\n    resistance = \"kd\"\n                  \^"),
        ('domain = "rotation"\ninertia', 'domain = "rotational"\ninertia', r"line LINE: \[element\] domain is 'rotational': did you mean 'rotation'"),
        ('inertia = 0.01', 'inertai = 0.01', r"line LINE: \[element\] 'inertai' is unknown here: did you mean 'inertia'"),
        ('resistance = 0.3', '', "is given 0 of resistance, conductance"),
        ('resistance = 0.3', 'resistance = 0.3\nheat = 1', r"line LATER: \[element\] 'heat' is unknown here"),
        ('to = "speed"', 'to = "sped"', r"line BEFORE: \[bond\] a bond of 'motor' ends at 'sped', which is no element: did you mean 'speed'"),
        ('from = "motor"', 'form = "motor"', r"\[bond\] 'from' is missing: is 'form' meant for it"),
        ('shaft = "speed"', 'shaft = "spade"', "no element 'spade'"),
        ('unit = "N m/A"', 'unit = "N m/V"', "the ratio of gyrator 'motor' is in N m/V"),
        ('[inputs.voltage]', '[inputs.kt]', "'kt' is a parameter and an input"),
        ('to = ["winding", "copper", "motor"]', 'to = ["winding", 3]', "to is .*a name in quotes, or a list of them"),
        ('ratio = "kt"', 'ratio = ["kt", "kt"', "not TOML"),
    ],
)  # fmt: skip
def test_mistakes_are_pointed_at(old, new, says):
    assert old in MOTOR
    line = MOTOR.count("\n", 0, MOTOR.index(old)) + 1
    for word, number in (("LINE", line), ("LATER", line + 1), ("BEFORE", line - 2)):
        says = says.replace(word, str(number))
    with pytest.raises(ModelError, match=says):
        ports.parse(MOTOR.replace(old, new, 1), "model")


def test_files_outside_are_not_read(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "motor.toml").write_text(MOTOR)
    (tmp_path / "a" / "x.toml").write_text(DRIVEN.replace("motor.toml", "../motor.toml"))
    with pytest.raises(StrutError, match="leads outside of the model's folder"):
        ports.load(tmp_path / "a" / "x.toml")
    with pytest.raises(ModelError, match="this text is no file"):
        ports.parse(DRIVEN)
    (tmp_path / "self.toml").write_text('[[element]]\nname = "x"\nkind = "part"\nfile = "self.toml"\n')
    with pytest.raises(ModelError, match="part of itself"):
        ports.load(tmp_path / "self.toml")


def test_storage_modulated_in_a_file_is_refused():
    wrong = MOTOR.replace("inertia = 0.01", 'inertia = "0.01 * voltage"')
    with pytest.raises(ModelError, match="'voltage' is no parameter"):
        ports.parse(wrong)
