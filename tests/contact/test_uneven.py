"""Uneven ground that is level: what falls on it does what it does on a plane."""

import numpy as np

import strut
from strut import Mechanism, contact, joints

ROUNDING = 1e-6  # of states after a second and a half with some landings, which magnify it


def thrown_box(ground):
    m = Mechanism("box", planar=True)
    body = m.body("box", mass=2.0, inertia=0.05)
    m.joint("base", m.world, body, joints.planar(), initial=(0, 0.5, 0.2), actuated=False)
    corners = contact.polygon(m, "box", [(-0.2, 0, -0.1), (0.2, 0, -0.1)])
    return contact.rigid(m, corners, ground, friction=0.8)


def test_a_corner_that_a_landing_lifts_comes_down_on_the_ground_again():
    """One in two hundred is lifted by less than anything counts as off the ground, and went through it."""
    plane, uneven = thrown_box(contact.plane()), thrown_box(contact.uneven(contact.plane()))
    rng = np.random.default_rng(1)
    for _ in range(200):
        x0 = {"base.z": rng.uniform(0.3, 0.6), "base.pitch": rng.uniform(-0.6, 0.6)}
        x0 |= dict(zip(("base.vx", "base.vz", "base.wy"), rng.uniform(-3, 3, 3), strict=True))
        on_plane, on_uneven = (strut.simulate(each, t=1.5, x0=x0) for each in (plane, uneven))
        assert on_uneven.status == on_plane.status
        for corner in ("box_0", "box_1"):
            assert on_uneven[f"{corner}_gap"].min() > -1e-9
        for name in plane.labels("x"):
            np.testing.assert_allclose(on_uneven[name][-1], on_plane[name][-1], atol=ROUNDING)
