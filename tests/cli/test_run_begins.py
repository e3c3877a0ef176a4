"""What `strut run` says of how a machine begins: in the ground, or with a joint outside of its range."""

import json

import pytest

from strut.cli import main
from strut.cli.model import find_model, with_settings

HOPPER = """name = "hopper"
gravity = 10.0

[bodies.trunk]
mass = 9.0
inertia = [0.1, 0.1, 0.1]

[bodies.leg]
mass = 1.0
inertia = [0.01, 0.01, 0.01]

[joints.base]
type = "prismatic"
axis = "z"
parent = "world"
child = "trunk"
initial = HEIGHT

[joints.hip]
type = "revolute"
axis = "y"
parent = "trunk"
child = "leg"
limits = [-0.5, 0.5]

[frames.toe]
body = "leg"
at = [0, 0, -0.5]

[contact]
kind = "KIND"
feet = ["toe"]
"""
STIFFNESS = 1e4
"""[N/m] of the soft ground: at rest the machine of 100 N stands 10 mm deep."""


def hopper(folder, depth, kind="compliant"):
    law = (
        f'law = {{ kind = "linear", stiffness = {STIFFNESS}, damping = 100 }}\n'
        if kind == "compliant"
        else ""
    )
    path = folder / "hopper.toml"
    path.write_text(HOPPER.replace("HEIGHT", repr(0.5 - depth)).replace("KIND", kind) + law)
    return str(path)


def warnings_of(capsys, *words):
    with pytest.raises(SystemExit):
        main(["run", *words, "-t", "0.01", "--no-page", "--json"])
    messages = json.loads(capsys.readouterr().out)["messages"]
    return [each["text"] for each in messages if each["kind"] == "warning"]


def test_a_point_that_begins_deep_in_soft_ground_is_said(capsys, tmp_path):
    (said,) = warnings_of(capsys, hopper(tmp_path, 0.03))
    assert said == (
        "'toe' begins 30 mm in the ground, which pushes the machine with 3 times its weight: let the machine "
        "begin higher"
    )
    assert warnings_of(capsys, hopper(tmp_path, 0.01)) == []  # as deep as it rests
    assert warnings_of(capsys, hopper(tmp_path, -0.01)) == []
    (said,) = warnings_of(capsys, hopper(tmp_path, -0.01), "--set", "base=0.45")
    assert said.startswith(
        "'toe' begins 50 mm in the ground, which pushes the machine with 5 times its weight"
    )


def test_a_point_that_begins_below_rigid_ground_is_said(capsys, tmp_path):
    (said,) = warnings_of(capsys, hopper(tmp_path, 0.03, "rigid"))
    assert said == "'toe' begins 30 mm in the ground, which is rigid there: let the machine begin higher"
    assert warnings_of(capsys, hopper(tmp_path, 0.0, "rigid")) == []


def test_a_value_outside_of_the_range_of_a_joint_is_said(capsys, tmp_path):
    path = hopper(tmp_path, 0.0)
    system = find_model(path)
    with_settings(system, ["hip=28deg", "base=0.6"])
    assert capsys.readouterr().err == ""
    turned = with_settings(system, ["hip=40deg"])
    assert "".join(capsys.readouterr().err.splitlines()) == (
        "warning: --set hip=40deg is outside of the range of this joint, -28.648 to 28.648 deg: plans keep it; a "
        "run does not, unless there is a stop"
    )
    assert float(next(q for q in turned.x if q.name == "hip").value[0]) == pytest.approx(0.69813, rel=1e-4)
