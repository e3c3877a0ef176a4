"""Every number of contact and ground is checked where it enters."""

from math import inf, nan

import pytest

import strut
from strut import Param, contact
from strut.errors import ModelError, ValueRangeError
from tests.contact.machines import rod, weight

LAW = contact.linear(1e4, 10.0)


def rigid(**more):
    return contact.rigid(rod(), ["left", "right"], **more)


def stepped(**more):
    return contact.time_stepped(weight(), ["foot"], **more)


NUMBERS = {
    "friction": (lambda bad: rigid(friction=bad), "the coefficient of friction"),
    "restitution": (lambda bad: rigid(restitution=bad), "the restitution"),
    "rest_speed": (lambda bad: rigid(rest_speed=bad), "the rest_speed"),
    "stabilise": (lambda bad: rigid(stabilise=bad), "stabilise"),
    "fall": (lambda bad: rigid(fall=("left", bad)), "the height of a fall"),
    "lock": (
        lambda bad: rigid(locks=[contact.KneeLock("base", "left", bad)]),
        "the angle at which 'base' locks",
    ),
    "compliant stabilise": (
        lambda bad: contact.compliant(weight(), ["foot"], law=LAW, stabilise=bad),
        "stabilise",
    ),
    "dt": (lambda bad: stepped(dt=bad), "the step dt"),
    "relaxation": (lambda bad: stepped(relaxation=bad), "the relaxation"),
    "recover": (lambda bad: stepped(recover=bad), "recover"),
    "stepped friction": (lambda bad: stepped(friction=bad), "the coefficient of friction"),
    "slope": (contact.plane, "the slope of a plane"),
    "height": (lambda bad: contact.plane(0.1, bad), "the height of a plane"),
    "edge": (lambda bad: contact.stairs([(1.0, 0.1), (bad, 0.1)]), "x of edge 1 of stairs"),
    "rise": (lambda bad: contact.stairs([(bad, 0.1), (1.0, bad)][1:]), "the rise of edge 0 of stairs"),
    "profile": (
        lambda bad: contact.profile(lambda x, y: bad * x if bad != bad else strut.system.quantity.sx(bad)),
        "the height of a profile",
    ),
    "radius": (lambda bad: contact.sphere("foot", bad), "the radius of contact 'foot'"),
    "arc": (lambda bad: contact.arc("foot", bad), "the radius of contact 'foot'"),
    "wheel": (lambda bad: contact.wheel("foot", bad), "the radius of contact 'foot'"),
    "axle": (lambda bad: contact.wheel("foot", 0.1, (bad, 0, 1)), "the axle of wheel 'foot'"),
    "cylinder": (lambda bad: contact.cylinder(rod(), "rod", bad, 1.0), "the radius of contact 'rod_a'"),
    "length": (lambda bad: contact.cylinder(rod(), "rod", 0.1, bad), "the length of cylinder 'rod'"),
    "corner": (lambda bad: contact.polygon(rod(), "rod", [(0, 0, bad)]), "the place of frame 'rod_0'"),
    "stiffness": (contact.linear, "the stiffness of a contact law"),
    "damping": (lambda bad: contact.linear(1e3, bad), "the damping of a contact law"),
    "dissipation": (lambda bad: contact.hunt_crossley(1e3, bad), "the dissipation of a contact law"),
    "exponent": (lambda bad: contact.hunt_crossley(1e3, 0.1, bad), "the exponent of a contact law"),
    "modulus": (lambda bad: contact.hertz(modulus=bad, radius=0.1), "the modulus of a contact law"),
    "cap": (lambda bad: contact.cubic(1e3, 1.0, bad), "the cap of a contact law"),
    "max_speed": (lambda bad: contact.geyer(1e3, bad), "the max_speed of a contact law"),
    "anchored": (lambda bad: contact.anchored(1e3, bad, 0.5), "the damping of a contact law"),
    "viscous": (contact.viscous, "the damping of a contact law"),
    "coulomb": (lambda bad: contact.coulomb(0.5, bad), "the speed of a contact law"),
    "ellipsoid": (lambda bad: contact.ellipsoid(0.1, bad, 0.1), "the half axis b of an ellipsoid"),
    "sine": (lambda bad: contact.sine_ground(0.1, bad), "the frequency of a sine ground"),
    "span": (lambda bad: contact.surface(lambda u: (u[0], u[1], 0), span=bad), "the span of a surface"),
}


@pytest.mark.parametrize("bad", [nan, inf])
@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_that_is_not_finite_gets_in(name, bad):
    make, what = NUMBERS[name]
    with pytest.raises(ModelError, match=f"{what}.* is {bad}.*: a finite number is needed|has length {bad}"):
        make(bad)


RANGES = {
    "restitution below": (
        lambda: rigid(restitution=-0.1),
        "the restitution is -0.1: it must not be negative",
    ),
    "restitution above": (lambda: rigid(restitution=1.1), "the restitution is 1.1: 1 is the most"),
    "dt": (lambda: stepped(dt=0.0), "the step dt is 0: it must be positive"),
    "recover": (lambda: stepped(recover=1.5), "is 1.5: 1 is the most"),
    "radius": (
        lambda: contact.sphere("foot", -0.1),
        "the radius of contact 'foot' is -0.1: it must not be negative",
    ),
    "fall": (lambda: rigid(fall=0.6), r"fall is 0.6: give a frame and a height \[m\], fall=\('hip', 0.5\)"),
    "stabilise": (lambda: rigid(stabilise=-1.0), "stabilise, is -1: it must not be negative"),
    "edge": (lambda: contact.stairs([1.0]), r"edge 0 of stairs is 1.0: give a pair \(x, rise\)"),
    "no body": (
        lambda: contact.cylinder(rod(), "ro", 0.1, 1.0),
        "cylinder 'ro' is on body 'ro', which mechanism 'rod' does not have",
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_numbers_have_ranges(name):
    make, message = RANGES[name]
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("name", ["friction", "restitution", "rest_speed"])
def test_parameters_of_contact_stay_in_range_at_run_time(name):
    made = rigid(**{name: Param("number", 0.2)})
    with pytest.raises(ValueRangeError, match="parameter 'number' is -0.1: allowed are 0 to"):
        made.using(number=-0.1)
