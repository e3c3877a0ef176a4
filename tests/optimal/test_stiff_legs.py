"""Legs that do not bend, under a hip that nothing holds: refused where feet land wherever they touch the
ground, designed where they land in front alone."""

import numpy as np
import pytest

from strut import Mechanism, Param, contact, joints, optimal
from strut.errors import ModelError
from strut.optimal.walk.check_clearance import check_stiff_legs
from tests.optimal.floating import five_links, on_rigid_ground, telescopic

LEG = 1.0  # m


def stilts():
    """A hip of 10 kg that slides along x and z, on two stiff legs of 5 kg each."""
    m = Mechanism("stilts", planar=True)
    cart, hip = m.body("cart"), m.body("hip", mass=10.0)
    m.joint("x", m.world, cart, joints.prismatic("x"), actuated=False)
    m.joint("z", cart, hip, joints.prismatic("z"), initial=0.98, actuated=False)
    for side, angle in (("_l", -0.2), ("_r", 0.2)):
        leg = m.body(f"leg{side}", mass=5.0, com=(0, 0, -0.5 * LEG), inertia=0.1)
        m.joint(f"hip{side}", hip, leg, joints.revolute("y"), initial=angle)
        m.frame(f"foot{side}", leg, (0, 0, -LEG))
    return m


def on_slope(**options):
    slope = Param("slope", 0.05, "rad", bounds=(-0.5, 0.5))
    return contact.rigid(stilts(), ["foot_l", "foot_r"], contact.plane(slope), symmetry="auto", **options)


def test_feet_that_land_wherever_they_touch_the_ground_are_refused_before_the_search():
    sentence = (
        r"legs of 'stilts' do not bend: 'foot_l' is never above the ground where it passes 'foot_r'.*"
        r"arm=\{'foot_l': contact.ahead_of\('foot_l', 'foot_r'\).*arm.foot_l = \{ ahead_of = \"foot_r\" \}"
    )
    with pytest.raises(ModelError, match=sentence):
        optimal.design(on_slope(), speed=0.5)


@pytest.mark.parametrize("make", [five_links, telescopic])
def test_legs_that_bend_or_shorten_are_not_refused(make):
    check_stiff_legs(on_rigid_ground(make()), "foot_l_touchdown")


def test_feet_that_land_in_front_are_designed():
    """It stands on one foot when it begins, and the other is in front: the flags of its swing are those of a
    step that begins, not those of that posture."""
    arm = {
        "foot_l": contact.ahead_of("foot_l", "foot_r", 0.02),
        "foot_r": contact.ahead_of("foot_r", "foot_l", 0.02),
    }
    design = optimal.design(on_slope(arm=arm), speed=0.5)
    assert design.ok, design.wrong
    legs = [np.asarray(design.replay.run[name]) for name in ("hip_l", "hip_r")]
    assert max(np.abs(leg).max() for leg in legs) < 0.6  # [rad]
    assert design.replay.run["foot_l_gap"].min() < -1e-3  # it scuffs where it passes, and nothing minds
