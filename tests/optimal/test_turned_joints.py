"""A joint that a design turns far from where its machine was described is named."""

from types import SimpleNamespace

import numpy as np

from strut import walkers
from strut.optimal.walk.turned_joints import MAX_TURN, turned_joints


def motion(compass, swing):
    """A motion of two moments in which the swing leg is at these angles [rad]; a stand-in for a solution."""
    labels = compass.labels("x")
    x = np.zeros((2, len(labels)))
    x[:, labels.index("swing")] = swing
    return SimpleNamespace(problem=SimpleNamespace(system=compass), phases=[SimpleNamespace(x=x)])


def test_what_hangs_the_other_way_all_through_is_named_and_what_passes_by_is_not():
    compass = walkers.compass().using(swing=0.0)
    (sentence,) = turned_joints(motion(compass, (3.2, 3.1)), "heel_strike")
    assert "'swing' is about 3.1 rad all through the step, far from 0" in sentence
    assert "within={'swing': (low, high)} keeps it nearer" in sentence
    assert turned_joints(motion(compass, (3.2, 0.1)), "heel_strike") == ()
    assert turned_joints(motion(compass, (MAX_TURN, -3.0)), "heel_strike") == ()
