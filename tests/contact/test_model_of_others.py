"""Walkers whose bodies are those of a URDF: a model file adds motors, feet and ground."""

import numpy as np
import pytest
from examples import rabbit

from strut import contact, mechanism
from strut.errors import ModelError, StorageError
from strut.system import start

LINK = """<link name="{name}"><inertial><origin xyz="0 0 {com}"/><mass value="{mass}"/>
<inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0 0 {at}"/><axis xyz="0 1 0"/><limit lower="{low}" upper="{high}" effort="1000" velocity="100"/></joint>"""
FILE = """model = "robot.urdf"
base = "planar"
planar = true

[initial]
base = [0, 0.78, 0.05]
hip_l = -0.35
hip_r = 0.15
knee_l = 0.2
knee_r = 0.2

[frames.foot_l]
body = "shank_l"
at = [0, 0, -0.4]

[frames.foot_r]
body = "shank_r"
at = [0, 0, -0.4]

[contact]
kind = "rigid"
feet = ["foot_l", "foot_r"]
symmetry = true
fall = { frame = "torso", height = 0.4 }
"""


def write_rabbit(folder, text=FILE):
    """RABBIT as a URDF, and a model file that lets it walk."""
    parts = [LINK.format(name="torso", com=0.24, mass=12.0, moment=1.33)]
    low, high = rabbit.KNEE_LIMITS
    for side in ("_l", "_r"):
        parts += [
            LINK.format(name=f"thigh{side}", com=-0.11, mass=6.8, moment=0.47),
            LINK.format(name=f"shank{side}", com=-0.24, mass=3.2, moment=0.20),
            JOINT.format(name=f"hip{side}", parent="torso", child=f"thigh{side}", at=0, low=-3, high=3),
            JOINT.format(
                name=f"knee{side}", parent=f"thigh{side}", child=f"shank{side}", at=-0.4, low=low, high=high
            ),
        ]
    (folder / "robot.urdf").write_text(f'<robot name="rabbit">{"".join(parts)}</robot>')
    path = folder / "walker.toml"
    path.write_text(text)
    return path


def test_a_urdf_on_the_ground_is_the_walker_that_a_program_describes(tmp_path):
    read, written = contact.load(write_rabbit(tmp_path)), rabbit.walker()
    assert read.labels("x") == written.labels("x")
    assert np.allclose(start(read).x, start(written).x)
    assert read.walk.feet[0].opposite == "foot_r"
    knee = next(q for q in read.x if q.name == "knee_l")
    assert knee.range == pytest.approx(rabbit.KNEE_LIMITS)
    rates = [w.function("rates", list(w.flow.values()), clock=False) for w in (read, written)]
    random = np.random.default_rng(0)
    for _ in range(3):
        x = start(read).x + random.uniform(-0.3, 0.3, read.size("x"))
        u = random.uniform(-10, 10, read.size("u"))
        for z in ([1.0, 0.0], [0.0, 1.0], [0.0, 0.0]):
            numbers = [
                np.concatenate([np.array(e).ravel() for e in f(x, z, u, start(w).p)])
                for f, w in zip(rates, (read, written), strict=True)
            ]
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "error", "sentence"),
    [
        ("robot.urdf", "robot.step", ModelError, r"line 1: model is 'robot.step': a file .urdf or .xml"),
        ("robot.urdf", "../robot.urdf", StorageError, "leads outside of the model's folder"),
        ("hip_l = -0.35", "hop_l = 1", ModelError, "'hop_l' begins somewhere, and is no joint.*hip_l"),
        ("[0, 0.78, 0.05]", "[0, 0.78]", ModelError, "'base' begins at 2 numbers: it has 3 coordinates"),
        ("planar = true", "planar = true\ngravity = 1.6", ModelError, "brings its own, the parameter g"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path, old, new, error, sentence):
    path = write_rabbit(tmp_path, FILE.replace(old, new, 1))
    with pytest.raises(error, match=sentence):
        contact.load(path)


def test_a_text_is_in_no_folder():
    with pytest.raises(ModelError, match="a text is in no folder; read it from a file"):
        mechanism.modelfile.parse(FILE)
