"""Servos of model files: the same as in Python, mistakes with their place, and written again."""

import math
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import contact, control, mechanism
from strut.errors import ModelError
from strut.mechanism import modelfile
from tests.examples.gallery import check_printed

EXAMPLE = Path(__file__).parents[2] / "examples" / "servo_leg.toml"
ARM = """
name = "arm"
planar = true
parameters.far = 0.5
[bodies.link]
mass = 2.0
com = [0, 0, -0.2]
inertia = 0.02
[joints.elbow]
type = "revolute"
axis = "y"
parent = "world"
child = "link"
damping = 0.5
[servos.elbow]
kp = 60
kd = 4.0
REFERENCE
"""
MOVE = 'reference = { kind = "minimum-jerk", begin = 0, end = "2 * far", duration = 0.8 }'
TIMES, VALUES = (0.0, 0.3, 0.7, 1.0), (0.0, 0.4, 0.1, 0.0)
REFERENCES = {
    MOVE: lambda: control.minimum_jerk(0, 1.0, 0.8),
    "reference = 0.25": lambda: 0.25,
    'reference = { kind = "sine", amplitude = "far", frequency = 2, offset = 0.1, phase = 0.3 }': lambda: (
        control.sine(0.5, 2, 0.1, 0.3)
    ),
    f'reference = {{ kind = "spline", times = {list(TIMES)}, values = {list(VALUES)}, periodic = true }}': (
        lambda: control.spline(TIMES, VALUES, periodic=True)
    ),
}


def text(reference=MOVE):
    return ARM.replace("REFERENCE", reference)


@pytest.mark.parametrize("reference", REFERENCES)
def test_tables_are_what_python_says(reference):
    from_file = strut.simulate(contact.parse(text(reference)), t=1.2, backend="virtual")
    bare = mechanism.system(modelfile.parse(text(reference)))
    by_hand = control.servo(bare, {"elbow": REFERENCES[reference]()}, kp=60, kd=4.0)
    expected = strut.simulate(by_hand, t=1.2, backend="virtual")
    assert from_file["elbow"][-1] == pytest.approx(expected["elbow"][-1], abs=1e-13)
    assert from_file["elbow_reference"][-1] == pytest.approx(expected["elbow_reference"][-1], abs=1e-15)


def test_a_reference_may_be_a_column_beside_the_file(tmp_path):
    lines = [f"{t},{math.degrees(v)},{-v}" for t, v in zip(TIMES, VALUES, strict=True)]
    (tmp_path / "moves.csv").write_text("\n".join(["time,elbow [deg],back [rad]", *lines]))
    path = tmp_path / "arm.toml"
    for column, sign in (("", 1), ('column = "back", ', -1)):
        path.write_text(text(f'reference = {{ kind = "table", {column}file = "moves.csv" }}'))
        arm = contact.load(path)
        read = strut.simulate(arm, t=0.7, backend="virtual")
        assert read["elbow_reference"][-1] == pytest.approx(sign * 0.1, abs=1e-12)
    path.write_text(text('reference = { kind = "table", file = "moves.csv", column = "elbo" }'))
    with pytest.raises(ModelError, match=r"line 1\d.*moves.csv has no column 'elbo': did you mean 'elbow'"):
        contact.load(path)
    (tmp_path / "moves.csv").write_text("time,elbow\n0,0\n1,\n2,1\n")
    path.write_text(text('reference = { kind = "table", file = "moves.csv" }'))
    with pytest.raises(ModelError, match=r"arm.toml, line .*moves.csv"):
        contact.load(path)


def test_a_file_names_nothing_outside_of_its_folder(tmp_path):
    (tmp_path / "moves.csv").write_text("time,elbow\n0,0\n1,1\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "arm.toml").write_text(text('reference = { kind = "table", file = "../moves.csv" }'))
    with pytest.raises(ModelError, match=r"'../moves.csv', which leads outside of the model's folder"):
        contact.load(inner / "arm.toml")
    with pytest.raises(ModelError, match="this model was read from a text: read it from its file"):
        contact.parse(text('reference = { kind = "table", file = "moves.csv" }'))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("kp = 60\n", "", "'kp' is missing"),
        ("kp = 60", "kp = -60", "kp of 'elbow' is -60: a servo with a negative gain"),
        ("kp = 60", 'kp = "far"', "kp is an expression of parameters: gains are parameters of their own"),
        ("kd = 4.0", "kt = 4.0", r"'kt' is unknown here: known: of, .*\n    kt = 4.0\n    \^"),
        ("kd = 4.0", "kd = 4.0\nside = 'joint'", "side of a servo is 'joint': allowed are 'link' and 'motor'"),
        ("kd = 4.0", "kd = 4.0\nevery = 0", "every of a servo is 0.0: a positive number is needed"),
        ("kd = 4.0", "kd = 4.0\nresolution = 0.01", "resolves 0.01 rad, and the servo is continuous"),
        ("[servos.elbow]", "[servos.elbo]", "has no input 'elbo', nor one of a drive of this name: did you mean 'elbow_torque'"),
        (MOVE, "", "'reference' is missing"),
        ("minimum-jerk", "minimum-jrk", r"kind is 'minimum-jrk': did you mean 'minimum-jerk'.*\n.*\n *\^"),
        ("duration = 0.8", "duration = 0", "duration of a move is 0.0"),
        (", duration = 0.8", "", "'duration' is missing"),
        ("begin = 0", "begin = 0, phase = 1", "'phase' is unknown here"),
        (MOVE, 'reference = { kind = "spline", times = [0, 2, 1], values = [0, 1, 0] }',
         "times of a spline must rise: after 2 s comes 1 s"),
        (MOVE, 'reference = { kind = "spline", times = "far", values = [0, 1, 0] }',
         "times is 'far': a list of numbers is needed"),
        (MOVE, "reference = true", "reference is True: a number, or an expression in quotes, is needed"),
    ],
)  # fmt: skip
def test_mistakes_are_said_with_their_place(old, new, sentence):
    assert old in text()
    with pytest.raises(ModelError, match=rf"(?s)model file, line \d+: .*{sentence}"):
        contact.parse(text().replace(old, new))


def test_the_example_follows_what_its_file_says():
    leg = contact.load(EXAMPLE)
    run = strut.simulate(leg, t=4.0)
    assert run.ok
    assert run["knee"][-1] == pytest.approx(math.radians(60), abs=2e-4)  # the integral took the weight
    angle, wanted = run.at(np.linspace(2, 4, 81))["hip"], 0.3 * np.sin(np.pi * np.linspace(2, 4, 81))
    assert np.abs(angle - wanted).max() < 0.12  # it follows behind: kd brakes the rate itself
    assert abs(run["hip_seen"][-1] - run["hip"][-1]) < 2e-3  # a tick and a sample's way
    assert run.ledger.relative < 1e-9
    check_printed(
        "servo_leg.toml", "\n".join(f"{where} {joules:.9g}" for where, joules in run.ledger.summary().items())
    )
    assert leg.using(swing=1.2).labels("p") == leg.labels("p")  # a parameter of the reference
    far = strut.simulate(leg, t=4.0, p={"swing": 1.4})
    assert far.status == "hip_out_of_range"
    assert far.ending_meaning == "joint hip left its range of -1 to 1"


def test_what_a_file_says_is_written_again():
    robot = modelfile.load(EXAMPLE)
    written = modelfile.dump(robot)
    for head in ("[drives.joints]", "[servos.hip]", "[servos.knee]", "[sensors.foot]", "[watchers.joints]"):
        assert head in written
    assert modelfile.dump(modelfile.parse(written)) == written
    first, second = (
        strut.simulate(each, t=0.01, backend="virtual")
        for each in (contact.load(EXAMPLE), contact.parse(written))
    )
    assert first["knee"][-1] == second["knee"][-1]
    assert first["foot_gyro[1]"][-1] == second["foot_gyro[1]"][-1]


def test_a_mirrored_walker_is_written_with_both_sides_and_its_symmetry():
    path = EXAMPLE.parent / "rabbit.toml"
    walker, again = contact.load(path), contact.parse(modelfile.dump(modelfile.load(path)))
    assert set(again.symmetry) == set(walker.symmetry) != set()
    assert again.labels("x") == walker.labels("x")
    assert [e.name for e in again.events] == [e.name for e in walker.events]
