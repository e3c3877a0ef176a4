"""A pin in a slot: the Scotch yoke, whose slider is a cosine of the crank's angle, and what it pushes."""

import numpy as np
import pytest

import strut
from strut import constraints, joints, mechanism
from strut.errors import ModelError

RADIUS, CRANK, YOKE, SPEED = 0.2, 1.5, 3.0, 4.0


def scotch_yoke(axis="z"):
    """A crank about y with a pin at its end, in a slot of a yoke that slides along x; no gravity matters."""
    m = strut.Mechanism("yoke", planar=True, g=0.0)
    crank = m.body("crank", CRANK, (RADIUS / 2, 0, 0), 0.01)
    yoke = m.body("yoke", YOKE, (0, 0, 0), 0.01)
    m.joint("turn", m.world, crank, joints.revolute("y"))
    m.joint("slide", m.world, yoke, joints.prismatic("x"), initial=RADIUS)
    m.frame("pin", crank, (RADIUS, 0, 0))
    m.frame("slot", yoke, (0, 0, 0))
    m.constrain(constraints.slot("yoke", "pin", "slot", axis))
    m.constrain(constraints.prescribed("drive", "turn", SPEED * strut.time))
    return m


def test_the_scotch_yoke_is_a_cosine():
    run = strut.simulate(
        mechanism.system(scotch_yoke(), stabilise=200.0, reactions=True), 2.0, rtol=1e-9, atol=1e-10
    )
    times = np.linspace(0.1, 2.0, 40)
    at = run.at(times)
    cosine = np.cos(SPEED * times)
    np.testing.assert_allclose(at["slide"], RADIUS * cosine, atol=1e-7)
    # the pin is what moves the yoke: m a, and the crank feels its opposite
    push = YOKE * -RADIUS * SPEED**2 * cosine
    np.testing.assert_allclose(-at["yoke_across"], push, atol=1e-4)
    centre = -CRANK * RADIUS / 2 * SPEED**2 * np.array([cosine, -np.sin(SPEED * times)])
    np.testing.assert_allclose(at["turn_reaction_x"], centre[0] + push, atol=1e-4)
    np.testing.assert_allclose(at["turn_reaction_z"], centre[1], atol=1e-4)


def test_the_yoke_bears_the_moment_of_a_push_beside_its_guide():
    """The slider's guide holds it against turning: the pin pushes z above it, which is a moment."""
    run = strut.simulate(
        mechanism.system(scotch_yoke(), stabilise=200.0, reactions=True), 1.0, rtol=1e-9, atol=1e-10
    )
    at = run.at(0.3)
    height = -RADIUS * np.sin(SPEED * 0.3)  # of the pin
    push = YOKE * -RADIUS * SPEED**2 * np.cos(SPEED * 0.3)
    assert at["slide_reaction_my"] == pytest.approx(-push * height, abs=1e-4)


def test_a_slot_in_space_holds_two_directions():
    """A bead on a straight wire that leans: it slides down with g sin, as on a slope."""
    m = strut.Mechanism("bead")
    bead = m.body("bead", 0.5, (0, 0, 0), (1e-3, 1e-3, 1e-3))
    m.joint("free", m.world, bead, joints.free())
    m.frame("hole", bead, (0, 0, 0))
    lean = (np.sin(0.5), 0.0, np.cos(0.5))
    m.frame("wire", m.world, (0, 0, 0))
    m.constrain(constraints.slot("wire", "hole", "wire", lean))
    run = strut.simulate(mechanism.system(m), 0.5, rtol=1e-9)
    fallen = -0.5 * 9.81 * np.cos(0.5) * 0.5**2
    place = np.array([run[f"hole_{axis}"][-1] for axis in "xyz"])
    np.testing.assert_allclose(place, fallen * np.array(lean), atol=1e-6)


def test_an_axis_that_is_none():
    with pytest.raises(ModelError, match="the axis of slot 'yoke' 'w' is unknown: use 'x', 'y', 'z'"):
        scotch_yoke("w")
