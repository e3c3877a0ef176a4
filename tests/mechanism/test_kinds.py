"""One entry in `KINDS` is all that model files, their writer and mirror images need of a joint or a constraint."""

import inspect

import numpy as np
import pytest

from strut import Mechanism, Param, mechanism
from strut.mechanism import constraints, joints, modelfile
from strut.mechanism.joint import Joint, JointArgument, JointKind
from strut.mechanism.spatial import Pose, axis_of, rotation
from strut.system import sx


def corkscrew(axis="x", lead=0.0):
    """A screw by its lead [m/turn]."""
    a, pitch = axis_of(axis), sx(lead) / (2 * np.pi)
    return Joint(
        kind="corkscrew",
        coordinates=("",),
        velocities=("",),
        units=("rad",),
        pose=lambda q: Pose.at(a * (pitch * q[0]), rotation(a, q[0])),
        arguments={"axis": a, "lead": lead},
    )


def test_an_entry_is_all_that_a_joint_of_your_own_needs(monkeypatch):
    kind = JointKind(
        corkscrew,
        {"axis": JointArgument.ROTATION_AXIS, "lead": JointArgument.HANDED_NUMBER},
        mirrors_by_arguments=True,
    )
    monkeypatch.setitem(joints.KINDS, "corkscrew", kind)
    m = Mechanism("nuts")
    nut = m.body("nut_l", 1.0, (0, 0.1, 0.1), (0.1, 0.1, 0.1))
    m.joint("spin_l", m.world, nut, corkscrew((0.6, 0.8, 0.0), Param("lead", 0.05, "m")), at=(0, 0.2, 0))
    m.mirror("_l")
    text = modelfile.dump(m)
    assert text.count('type = "corkscrew"') == 2
    assert 'lead = "-lead"' in text  # a left-handed screw in the mirror
    again = modelfile.parse(text)
    assert modelfile.dump(again) == text
    assert mechanism.symmetry(again).states["spin_l"] == ("spin_r", 1.0)
    assert [(h.name, h.kind) for h in mechanism.system(again).scene.hinges] == [
        ("spin_l", "revolute"),
        ("spin_r", "revolute"),
    ]


@pytest.mark.parametrize("word", joints.KINDS)
def test_entries_of_joints_name_the_arguments_that_their_functions_take(word):
    kind = joints.KINDS[word]
    assert list(kind.arguments) == list(inspect.signature(kind.make).parameters)
    made = kind.make(**({"leader": "hip"} if word == "gear" else {}))
    if word != "gear":  # which keeps what it is told in `Joint.gear`
        assert made.kind == word
        assert list(made.arguments) == list(kind.arguments)


@pytest.mark.parametrize("word", constraints.KINDS)
def test_entries_of_constraints_name_the_arguments_that_their_functions_take(word):
    kind = constraints.KINDS[word]
    assert ["name", *kind.arguments] == list(inspect.signature(kind.make).parameters)
    values = {"axis": "y", "direction": "x", "radius": 1.0, "ratio": 1.0, "offset": 0.0, "motion": 0.0}
    made = kind.make("c", **{key: values.get(key, "some") for key in kind.arguments})
    assert made.kind == word
    assert list(made.arguments) == list(kind.arguments)
