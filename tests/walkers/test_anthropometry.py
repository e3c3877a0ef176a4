"""Segments of a person against the planar values worked out for M = 68.2 kg, H = 1.77 m."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param
from strut.errors import ModelError
from strut.mechanism import Mechanism, joints, system
from strut.walkers.anthropometry import SEGMENTS, segment

PLANAR = {  # mass [kg], length [m], distance of the centre along the segment [m], inertia in the sagittal plane [kg m^2]
    "pelvis": (9.684, 0.094, 0.0263, 0.0772),
    "thigh": (8.389, 0.432, 0.1853, 0.1409),
    "shank": (3.274, 0.433, 0.1775, 0.0481),
    "torso": (22.711, 0.477, 0.2003, 0.4051),
    "head": (4.569, 0.244, 0.1354, 0.0296),
    "arm": (1.637, 0.271, 0.1225, 0.0123),
}


@pytest.mark.parametrize("name", PLANAR)
def test_planar_values(name):
    mass, length, along, inertia = PLANAR[name]
    s = segment(name, 1.77, 68.2)
    assert float(ca.DM(s.mass)) == pytest.approx(mass, abs=1e-3)
    assert float(ca.DM(s.length)) == pytest.approx(length, abs=1e-9)
    assert abs(float(ca.DM(s.com[2]))) == pytest.approx(along, abs=1e-4)
    assert float(ca.DM(s.inertia[1, 1])) == pytest.approx(inertia, abs=1e-4)


def test_a_person_weighs_what_was_said():
    """The male fractions sum to 100.2 %, as in the source."""
    pairs = {"arm", "forearm", "hand", "thigh", "shank", "foot"}
    total = sum(float(ca.DM(segment(n, 1.77, 100.0).mass)) * (2 if n in pairs else 1) for n in SEGMENTS)
    assert total == pytest.approx(100.2, abs=1e-9)


def test_inertias_are_those_of_real_bodies():
    for name in SEGMENTS:
        I = np.array(ca.DM(segment(name, 1.77, 70.0).inertia))  # noqa: E741
        principal = np.linalg.eigvalsh(I)
        assert principal.min() > 0
        assert (
            principal[0] + principal[1] > 0.9 * principal[2]
        )  # the table's rounding breaks the inequality by a few percent
        mirrored = np.array(ca.DM(segment(name, 1.77, 70.0, side="left").inertia))
        np.testing.assert_allclose(np.linalg.eigvalsh(mirrored), principal)


def test_stature_stays_a_parameter():
    """A leg that hangs and swings: taller people swing slower, by the square root."""
    stature = Param("stature", 1.77, "m", bounds=(1, 2.5))
    leg = segment("thigh", stature, 70.0)
    m = Mechanism("leg", planar=True)
    m.joint(
        "hip",
        m.world,
        m.body("thigh", leg.mass, (0, 0, leg.com[2]), leg.inertia[1, 1]),
        joints.revolute(),
        initial=0.01,
        actuated=False,
    )
    plain = system(m)
    timed = plain.replace(events=[strut.Event("turn", plain["hip_rate"], direction="up")])
    short, tall = (strut.simulate(timed, t=4.0, p={"stature": h}).events.t[1:3] for h in (1.5, 1.8))
    assert np.diff(tall)[0] / np.diff(short)[0] == pytest.approx(np.sqrt(1.8 / 1.5), rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("leg", 1.7, 70), "there is no segment 'leg'"),
        (("thigh", 1.7, 70, "x"), "sex 'x' has no table"),
        (("thigh", 1.7, 70, "male", "up"), "use 'left' or 'right'"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(ModelError, match=message):
        segment(*arguments)
