"""How high a foot can be where it passes the other is geometry."""

import math

import pytest

from strut import walkers
from strut.errors import ModelError
from strut.gait.section import default_section
from strut.optimal.walk.check_clearance import MAX_DEVIATION, check_clearance, highest_passing
from strut.system import sx


def test_straight_legs_pass_where_they_coincide():
    """Legs of length l whose feet are m apart, seen from above, are at angles a and b with l (sin b - sin a) = m:
    the foot is l (cos a - cos b) = m tan((a + b) / 2) above flat ground, a few millimetres at most."""
    compass = walkers.compass().using(slope=0.0)
    margin = 0.02  # m: by which a foot of the compass is in front when it passes
    guard, height = sx(compass.event("passes").guard), sx(compass["clearance"])
    highest = highest_passing(compass, "heel_strike", guard, height)
    assert 0 < highest < margin * math.tan(MAX_DEVIATION + 0.4)
    check_clearance(compass, "heel_strike", None)
    check_clearance(compass, "heel_strike", 0.9 * highest)
    with pytest.raises(ModelError, match="legs that do not bend are not shortened"):
        check_clearance(compass, "heel_strike", 2 * highest)


def test_knees_lift_the_foot():
    for walker in (walkers.kneed(), walkers.dribbel()):
        check_clearance(walker, default_section(walker), 0.05)
