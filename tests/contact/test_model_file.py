"""Walkers in model files: the table [contact] makes the same systems as Python does, and mistakes are pointed at."""

from pathlib import Path

import numpy as np
import pytest
from examples.rabbit import walker as rabbit_in_python

from strut import Mechanism, Param, contact, joints, mechanism, simulate
from strut.cli.model import find_mechanism, find_model
from strut.errors import ModelError
from strut.system import System, start

EXAMPLE = Path(__file__).parents[2] / "examples" / "rabbit.toml"
RODS = """
planar = true
[parameters]
length = { value = 0.8, unit = "m", bounds = [0.3, 1.2] }
[joints.foot_x]
type = "prismatic"
axis = "x"
parent = "world"
child = "carriage"
actuated = false
[joints.foot_z]
type = "prismatic"
axis = "z"
parent = "carriage"
child = "shoe"
actuated = false
[joints.stance]
type = "revolute"
axis = "y"
parent = "shoe"
child = "stance_leg"
initial = -0.2
actuated = false
[joints.hip]
type = "revolute"
axis = "y"
parent = "stance_leg"
child = "swing_leg"
at = [0, 0, "length"]
initial = 0.4
[bodies.carriage]
[bodies.shoe]
[bodies.stance_leg]
mass = 5.0
com = [0, 0, "0.5 * length"]
inertia = 0.1
[bodies.swing_leg]
mass = 5.0
com = [0, 0, "-0.5 * length"]
inertia = 0.1
[frames.stance_foot]
body = "stance_leg"
[frames.swing_foot]
body = "swing_leg"
at = [0, 0, "-length"]
[frames.top]
body = "swing_leg"
"""
STEPS = """
[contact]
kind = "stepping"
base = ["foot_x", "foot_z"]
stance = "stance_foot"
swing = "swing_foot"
hip = "top"
fall = 0.5
margin = 0.02
slope = 0.05
"""
SPRINGY = """
[contact]
kind = "compliant"
feet = ["swing_foot"]
radius = "0.1 * length"
law = { kind = "hunt_crossley", stiffness = 1e5, dissipation = 0.5 }
friction = { kind = "coulomb", mu = 0.8 }
"""


def rods(length=None):
    """The rods of the text, in Python."""
    m = Mechanism("rods", planar=True)
    length = length or Param("length", 0.8, "m", bounds=(0.3, 1.2))
    carriage, shoe = m.body("carriage"), m.body("shoe")
    legs = [
        m.body(name, mass=5.0, com=(0, 0, sign * 0.5 * length), inertia=0.1)
        for name, sign in (("stance_leg", 1), ("swing_leg", -1))
    ]
    m.joint("foot_x", m.world, carriage, joints.prismatic("x"), actuated=False)
    m.joint("foot_z", carriage, shoe, joints.prismatic("z"), actuated=False)
    m.joint("stance", shoe, legs[0], joints.revolute("y"), initial=-0.2, actuated=False)
    m.joint("hip", legs[0], legs[1], joints.revolute("y"), at=(0, 0, length), initial=0.4)
    m.frame("stance_foot", legs[0])
    m.frame("swing_foot", legs[1], (0, 0, -length))
    m.frame("top", legs[1])
    return m


def check_same(one, other):
    """Two systems move alike: the same events, and equal rates in random states, with equal parameters by name."""
    assert [q.name for q in one.x] == [q.name for q in other.x]
    assert [e.name for e in one.events] == [e.name for e in other.events]
    random, at = np.random.default_rng(0), start(one)
    inputs = [q.name for q in other.u]
    values = {q.name: np.ravel(q.value)[0] for q in one.p}
    p = [values[q.name] for q in other.p]
    for _ in range(3):
        x = at.x + random.uniform(-0.1, 0.1, len(at.x))
        u = {q.name: random.uniform(-1, 1) if q.name in inputs else 0.0 for q in one.u}
        mine = one.function("flow", [one.flow[q.name] for q in one.x], clock=False)
        theirs = other.function("flow", [other.flow[q.name] for q in other.x], clock=False)
        rates = [np.array(v).reshape(-1) for v in mine.call([x, at.z, list(u.values()), at.p])]
        again = [np.array(v).reshape(-1) for v in theirs.call([x, at.z, [u[n] for n in inputs], p])]
        assert np.concatenate(rates) == pytest.approx(np.concatenate(again), rel=1e-9, abs=1e-9)


def test_rabbit_of_the_file_is_rabbit_of_python():
    walker = contact.load(EXAMPLE)
    python = rabbit_in_python().using(hip_l=-0.1, hip_r=-0.1)
    check_same(walker, python)
    assert set(python.symmetry) < set(walker.symmetry)
    assert [f.name for f in walker.walk.feet] == ["foot_l", "foot_r"]
    assert walker.walk.slope == "slope"


def test_uneven_ground_in_a_file():
    text = EXAMPLE.read_text()
    walker = contact.parse(text.replace('kind = "rigid"', 'kind = "rigid"\nuneven = true'))
    assert [f.ground for f in walker.walk.feet] == ["foot_l_ground", "foot_r_ground"]
    assert walker.symmetry.keys() > {"foot_l_ground", "foot_r_ground"}
    assert [f.ground for f in contact.load(EXAMPLE).walk.feet] == ["", ""]
    with pytest.raises(ModelError, match="'uneven'"):
        contact.parse(RODS + STEPS + "uneven = true\n")


def test_a_machine_that_steps_in_a_file():
    walker = contact.parse(RODS + STEPS)
    legs = contact.Legs(("foot_x", "foot_z"), "stance_foot", "swing_foot", "auto", "top", 0.5, margin=0.02)
    check_same(walker, contact.stepping(rods(), legs, contact.plane(0.05)))


def test_compliant_ground_in_a_file():
    walker = contact.parse(RODS + SPRINGY)
    length = Param("length", 0.8, "m", bounds=(0.3, 1.2))
    m, foot = rods(length), contact.arc("swing_foot", 0.1 * length)
    law, friction = contact.hunt_crossley(1e5, 0.5), contact.coulomb(0.8)
    check_same(walker, contact.compliant(m, [foot], contact.plane(0.0), law=law, friction=friction))


def test_the_command_line_reads_the_ground_and_the_mechanism():
    assert isinstance(find_model(str(EXAMPLE)), System)
    assert find_model(str(EXAMPLE)).walk is not None
    assert find_mechanism(str(EXAMPLE)).name == "rabbit"


def test_pushes_are_said_in_files_and_written():
    robot = mechanism.modelfile.load(EXAMPLE)
    assert robot.pushes == mechanism.modelfile.parse(mechanism.modelfile.dump(robot)).pushes == ["head"]
    falling = simulate(mechanism.system(robot), t=0.1, u={"head_push_x": 32.0})
    assert falling["com_x"][-1] - falling["com_x"][0] == pytest.approx(0.1**2 / 2, rel=1e-6)


MISTAKES = {
    "no table": ("", "does not say what touches the ground: give it a table .contact. with kind and feet"),
    "kind": ('[contact]\nkind = "rigged"', "kind is 'rigged': did you mean 'rigid'"),
    "no feet": ('[contact]\nkind = "rigid"', "feet are missing: give the frames"),
    "frame": (
        '[contact]\nkind = "rigid"\nfeet = ["toe"]',
        "'toe' is to touch the ground, and is no frame: st",
    ),
    "unknown": (
        '[contact]\nkind = "rigid"\nfeet = ["top"]\nfrition = 1',
        "line .*'frition' is unknown here: did you mean 'friction'",
    ),
    "degrees": (
        '[contact]\nkind = "rigid"\nfeet = ["top"]\nslope = 3',
        r"slope is 3 rad, which is 171.9 degrees: write .deg\(3\). where",
    ),
    "law": (
        '[contact]\nkind = "compliant"\nfeet = ["top"]\nlaw = { kind = "linear" }',
        "linear needs stiffness",
    ),
    "no law": (
        '[contact]\nkind = "compliant"\nfeet = ["top"]',
        "compliant ground needs its law, law = . kind = 'linear'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_pointed_at(mistake):
    text, sentence = MISTAKES[mistake]
    with pytest.raises(ModelError, match=sentence):
        contact.parse(RODS + text, "rods.toml")


def test_a_parameter_called_slope_is_not_taken_twice():
    text = RODS.replace("[parameters]", "[parameters]\nslope = 0.1")
    with pytest.raises(ModelError, match="there is a parameter 'slope'.*write slope = \"slope\""):
        contact.parse(text + '[contact]\nkind = "rigid"\nfeet = ["top"]')
    walker = contact.parse(text + '[contact]\nkind = "rigid"\nfeet = ["top"]\nslope = "slope"')
    assert walker.walk.slope == "slope"


def stiff_legs():
    """Two legs without knees under a hip, on a floating base, as the text below says."""
    m = Mechanism("stiff", planar=True)
    hip = m.body("hip", mass=10.0, inertia=0.1)
    m.joint("base", m.world, hip, joints.planar(), initial=(0, 0.98, 0.0), actuated=False)
    for side, angle in (("_l", -0.2), ("_r", 0.2)):
        leg = m.body(f"leg{side}", mass=5.0, com=(0, 0, -0.5), inertia=0.05)
        m.joint(f"swing{side}", hip, leg, joints.revolute("y"), initial=angle)
        m.frame(f"foot{side}", leg, (0, 0, -1.0))
    return m


STIFF = """
name = "stiff"
planar = true
[bodies.hip]
mass = 10.0
inertia = 0.1
[joints.base]
type = "planar"
parent = "world"
child = "hip"
initial = [0, 0.98, 0]
actuated = false
[bodies.leg_l]
mass = 5.0
com = [0, 0, -0.5]
inertia = 0.05
[joints.swing_l]
type = "revolute"
axis = "y"
parent = "hip"
child = "leg_l"
initial = -0.2
[frames.foot_l]
body = "leg_l"
at = [0, 0, -1]
[bodies.leg_r]
mass = 5.0
com = [0, 0, -0.5]
inertia = 0.05
[joints.swing_r]
type = "revolute"
axis = "y"
parent = "hip"
child = "leg_r"
initial = 0.2
[frames.foot_r]
body = "leg_r"
at = [0, 0, -1]
[contact]
kind = "rigid"
feet = ["foot_l", "foot_r"]
symmetry = true
arm.foot_l = { ahead_of = "foot_r", margin = 0.05 }
arm.foot_r = { ahead_of = "foot_l", margin = 0.05 }
"""


def test_feet_of_stiff_legs_are_armed_in_a_file_as_in_python():
    walker = contact.parse(STIFF)
    arm = {
        "foot_l": contact.ahead_of("foot_l", "foot_r", 0.05),
        "foot_r": contact.ahead_of("foot_r", "foot_l", 0.05),
    }
    python = contact.rigid(stiff_legs(), ["foot_l", "foot_r"], contact.plane(0.0), arm=arm, symmetry="auto")
    check_same(walker, python)
    assert {"foot_l_passed", "foot_r_passed"} <= set(walker.labels("z"))
    in_file, at = start(walker), start(python)
    guards = [
        np.array(system.function("guards", [e.guard for e in system.events], clock=False).call(values))
        for system, values in (
            (walker, [in_file.x, in_file.z, in_file.u, in_file.p]),
            (python, [at.x, at.z, at.u, at.p]),
        )
    ]
    np.testing.assert_allclose(guards[0].ravel(), guards[1].ravel(), atol=1e-12)


def test_mistakes_in_what_arms_a_foot_are_pointed_at():
    with pytest.raises(ModelError, match="foot_x"):
        contact.parse(STIFF.replace('ahead_of = "foot_r"', 'ahead_of = "foot_x"'))
    with pytest.raises(ModelError, match="'toe'"):
        contact.parse(STIFF.replace("arm.foot_l", "arm.toe"))
    with pytest.raises(ModelError, match="'behind'"):
        contact.parse(STIFF.replace("margin = 0.05 }\narm.foot_r", "behind = 0.05 }\narm.foot_r"))
