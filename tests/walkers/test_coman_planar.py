"""COMAN's legs in a plane: the sums of the listing, its feet, its energy on both grounds."""

import casadi as ca
import numpy as np
import pytest

from strut import walkers
from strut.errors import ModelError
from strut.mechanism import Tree, observe
from strut.simulate import simulate
from strut.system import start

LEDGER = 1e-7  # relative: what the account of a fall may leave open, as asked for


def test_sums_are_those_of_the_listing():
    mechanism = walkers.coman_planar_mechanism()
    tree = Tree(mechanism)
    assert tree.nv == 9
    assert float(observe.mass(tree)) == pytest.approx(27.33174, abs=1e-9)
    places = ca.vertcat(*[observe.position(tree, name) for name in ("heel_r", "toe_l")])
    q = np.zeros(9)
    q[1] = 0.5268
    heel, toe = np.array(ca.Function("f", [tree.q], [places])(q)).reshape(2, 3)
    np.testing.assert_allclose(heel, (-0.03, 0, 0.005), atol=1e-12)
    np.testing.assert_allclose(toe, (0.0825, 0, 0.005), atol=1e-12)
    assert {each.limits for each in walkers.coman_planar(ground="soft").u} == {(-30.0, 30.0)}


@pytest.mark.parametrize(
    "how", [{"ground": "rigid"}, {"ground": "soft"}, {"ground": "soft", "events": False}]
)
def test_the_account_of_a_fall_closes(how):
    run = simulate(walkers.coman_planar(**how, pitch=0.05), 0.6, rtol=1e-9, atol=1e-10)
    assert run.status == "fall"
    assert abs(run.ledger.relative) < LEDGER


def test_legs_are_drawn_from_joint_to_joint():
    """In any posture a thigh ends at the knee and a shank at the ankle, and feet end above heel and toe."""
    walker = walkers.coman_planar(ground="soft", events=False)
    scene = walker.scene
    names = [part.name for part in scene.parts]
    assert names.count("foot_r") == names.count("foot_l") == 2
    hinges = {hinge.name: hinge.at for hinge in scene.hinges}
    ends = {part.name: part.values["end"] for part in scene.parts if not part.name.startswith("foot")}
    pairs = [
        (ends[f"{limb}_{side}"], hinges[f"{joint}_{side}"])
        for limb, joint in (("thigh", "knee"), ("shank", "ankle"))
        for side in "rl"
    ]
    gaps = walker.function("gaps", [ca.vertcat(*[ca.vec(a) - ca.vec(b) for a, b in pairs])], "xp")
    x = np.random.default_rng(1).uniform(-1, 1, len(walker.labels("x")))
    np.testing.assert_allclose(np.array(gaps(0.0, x, start(walker).p)), 0, atol=1e-12)


def test_unknown_ground_is_refused():
    with pytest.raises(ModelError, match="ground is 'sand'"):
        walkers.coman_planar(ground="sand")
    with pytest.raises(ModelError, match="events=False is of soft ground"):
        walkers.coman_planar(events=False)
