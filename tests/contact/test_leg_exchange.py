"""Walkers that step, with absolute and with relative angles: the exchange of legs is worked out, and both are the same machine."""

import numpy as np
import pytest

from strut import Mechanism, Param, contact, gait, joints
from strut.errors import ModelError
from strut.system import start


def carried(m):
    """Two sliders under the stance foot; the last body."""
    slide, foot = m.body("slide"), m.body("foot_carrier")
    m.joint("x", m.world, slide, joints.prismatic("x"), actuated=False)
    m.joint("z", slide, foot, joints.prismatic("z"), actuated=False)
    return foot


def link(m, name, parent, at, *, up, relative, mass=3.0, length=0.4, initial=0.0):
    """A link that goes up from its joint (the stance leg) or down (the swing leg). Absolute angles: its joint
    cancels what its parent turned."""
    sign = 1 if up else -1
    body = m.body(name, mass, (0, 0, sign * (0.24 if up else 0.16) * length / 0.4), 0.05)
    m.joint(name, parent, body, joints.revolute("y"), at=at, initial=initial, actuated=relative)
    return body


def compass(relative):
    """Two legs of 0.8 m with a hip mass, angles of the second leg from the vertical or from the first."""
    m = Mechanism("compass", planar=True)
    stance = m.body("stance", 5.0, (0, 0, 0.4), 0.0)
    m.joint("stance", carried(m), stance, joints.revolute("y"), initial=-0.2187, rate=1.0924, actuated=False)
    hip = m.body("hip", 10.0)
    if relative:
        m.joint("hip", stance, hip, joints.fixed(), at=(0, 0, 0.8))
        parent = hip
    else:
        m.joint("level", stance, hip, joints.gear("stance", -1.0, of=joints.revolute("y")), at=(0, 0, 0.8))
        parent = hip
    swing = m.body("swing", 5.0, (0, 0, -0.4), 0.0)
    begin, rate = (0.3234, 0.3774) if not relative else (0.3234 + 0.2187, 0.3774 - 1.0924)
    m.joint("swing", parent, swing, joints.revolute("y"), initial=begin, rate=rate, actuated=False)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -0.8))
    return m


def stepping(m, swap):
    legs = contact.Legs(("x", "z"), "stance_foot", "swing_foot", swap, "hip", fall=0.4, margin=0.02)
    return contact.stepping(m, legs, contact.plane(Param("slope", 0.05, "rad", bounds=(-0.2, 0.2))))


def five_links(order=("shank", "thigh", "torso", "upper", "lower"), **masses):
    """Shank, thigh and torso of the stance leg upwards, thigh and shank of the other one down, angles between
    neighbours, motors in the joints. masses: of some links instead of 3 kg."""
    m = Mechanism("five", planar=True)
    shank = link(m, "shank", carried(m), (0, 0, 0), up=True, relative=False, mass=masses.get("shank", 3.0))
    thigh = link(m, "thigh", shank, (0, 0, 0.4), up=True, relative=True)
    torso = m.body("torso", 10.0, (0, 0, 0.2), 0.5)
    m.joint("torso", thigh, torso, joints.revolute("y"), at=(0, 0, 0.4))
    upper = link(m, "upper", torso, (0, 0, 0), up=False, relative=True)
    lower = link(m, "lower", upper, (0, 0, -0.4), up=False, relative=True, mass=masses.get("lower", 3.0))
    m.frame("stance_foot", shank)
    m.frame("swing_foot", lower, (0, 0, -0.4))
    m.frame("hip", torso)
    return m


def test_relative_angles_make_the_same_gait():
    absolute = gait.find(stepping(compass(False), {"stance": "swing", "swing": "stance"}))
    relative = gait.find(stepping(compass(True), "auto"))
    assert relative.period == pytest.approx(absolute.period, rel=1e-9)
    assert relative.step_length == pytest.approx(absolute.step_length, rel=1e-9)
    assert relative.x0["swing"] == pytest.approx(absolute.x0["swing"] - absolute.x0["stance"], abs=1e-9)
    sizes = [np.sort(np.abs(g.multipliers)) for g in (relative, absolute)]
    assert sizes[0] == pytest.approx(sizes[1], abs=1e-6)


def test_absolute_angles_are_exchanged_without_being_named():
    named = stepping(compass(False), {"stance": "swing", "swing": "stance"})
    found = stepping(compass(False), "auto")
    point = start(named)
    values = [walker.after("heel_strike", walker.vector("x")) for walker in (named, found)]
    a, b = (
        w.function("f", [e], clock=False)(point.x, point.z, point.u, point.p)
        for w, e in zip((named, found), values, strict=True)
    )
    assert np.array(a) == pytest.approx(np.array(b))


def test_a_posture_stays_where_it_is_when_its_legs_change_names():
    """All links and joints are in the world where they were, those of the other leg."""
    walker = stepping(five_links(), "auto")
    rng = np.random.default_rng(0)
    point = start(walker)
    x = rng.uniform(-0.4, 0.4, len(point.x))
    after = walker.function("after", [walker.after("heel_strike", walker.vector("x"))], clock=False)
    x1 = np.array(after(x, point.z, point.u, point.p)).reshape(-1)
    before, now = (dict(zip(walker.labels("x"), each, strict=True)) for each in (x, x1))
    angle = {"shank": 0, "thigh": 1, "torso": 2, "upper": 3, "lower": 4}
    sums = [np.cumsum([each[name] for name in angle]) for each in (before, now)]
    assert sums[1] == pytest.approx(sums[0][[4, 3, 2, 1, 0]])
    assert now["torso"] == pytest.approx(-before["upper"])  # hips change sides


def test_what_cannot_be_worked_out_is_refused():
    with pytest.raises(ModelError, match="swap is 'automatic': give 'auto', or for each coordinate"):
        stepping(five_links(), "automatic")
    with pytest.raises(ModelError, match="the legs of 'five' are not alike"):
        stepping(five_links(lower=4.0), "auto")
    with pytest.raises(ModelError, match="'five' has no joint 'knee'"):
        stepping(five_links(), {"knee": "lower"})
