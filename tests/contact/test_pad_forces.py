"""Forces of points on bodies, by differentiating places, against rows of Jacobians."""

import importlib

import casadi as ca
import numpy as np
import pytest

from strut import Mechanism, contact, joints
from strut.contact.continuous_pad import ContinuousPad
from strut.contact.touch import spot, touches_of
from strut.mechanism.assemble import Assembly

ROUNDING = 1e-11  # the same sums in another order, of forces up to some thousand newtons


def leg(planar):
    """A body with a leg of two joints, that floats."""
    m = Mechanism("leg", planar=planar)
    trunk = m.body("trunk", mass=3.0, inertia=0.1 if planar else (0.1, 0.2, 0.3))
    m.joint("base", m.world, trunk, joints.planar() if planar else joints.free(), actuated=False)
    thigh = m.body("thigh", mass=1.0, inertia=0.02 if planar else (0.02, 0.02, 0.01))
    m.joint("hip", trunk, thigh, joints.revolute("y"), at=(0, 0, -0.1))
    shank = m.body("shank", mass=1.0, inertia=0.02 if planar else (0.02, 0.02, 0.01))
    m.joint("knee", thigh, shank, joints.revolute("y"), at=(0, 0, -0.4))
    for name, x in (("heel", -0.05), ("toe", 0.1)):
        m.frame(name, shank, (x, 0, -0.4))
    return m


@pytest.mark.parametrize("planar", [True, False])
def test_velocities_and_pushes_are_those_of_the_jacobians(planar):
    """Also where quaternions are not of length one, and on a slope; a ball goes by its Jacobian."""
    assembly = Assembly(leg(planar))
    tree, ground = assembly.tree, contact.plane(0.2)
    law, friction = contact.hunt_crossley(1e4, 0.3), contact.coulomb(0.8, 0.1)
    touches = touches_of(["heel", "toe", contact.sphere("toe", 0.03, "ball")])
    spots = [spot(tree, touch, ground) for touch in touches]
    assert [each.moves_with_body for each in spots] == [True, True, False]
    pads = [ContinuousPad(tree, each, law, friction) for each in spots]
    pushes = importlib.import_module("strut.contact.compliant")._pushes(tree, pads)
    by_rows = sum((pad.push for pad in pads), ca.SX.zeros(tree.nv))
    ways = [pushes, *[each.velocity(tree) for each in spots]]
    rows = [by_rows, *[each.K @ tree.v for each in spots]]
    compare = ca.Function("compare", [tree.q, tree.v], [ca.vertcat(*ways), ca.vertcat(*rows)])
    random, sizes = np.random.default_rng(3), (tree.q.numel(), tree.v.numel())
    largest = 0.0
    for _ in range(20):
        one, other = (np.array(part) for part in compare(*[random.normal(scale=0.7, size=n) for n in sizes]))
        np.testing.assert_allclose(one, other, rtol=ROUNDING, atol=ROUNDING * max(1.0, np.abs(other).max()))
        largest = max(largest, np.abs(other[: tree.nv]).max())
    assert largest > 1.0  # some of them do touch
