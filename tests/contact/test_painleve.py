"""Painleve's paradox: a rod that slides on its tip, and that friction presses into the ground faster than the ground can lift it.

With one foot at the lower tip, at the angle a over the ground, sliding away from the rod's centre, the ground's normal force N lifts the tip by
N/m (1 + 3 cos a (cos a - mu sin a)): where that is negative no force is consistent with sliding (Painleve 1895; Genot and Brogliato
1999). It takes mu > 4/3.
"""

import numpy as np
import pytest

import strut
from strut import Mechanism, contact, joints

G = 9.81
ROUNDING = 1e-7
"""Of the largest normal force: what the force may be below zero at the instant of an event."""


def rod(mu, release="acceleration"):
    """A rod of 1 kg and 1 m; its centre is at `base`, its lower tip at -x."""
    m = Mechanism("rod", planar=True)
    body = m.body("rod", 1.0, inertia=1 / 12)
    m.joint("base", m.world, body, joints.planar(), initial=(0, 0.5 * np.sin(0.9), -0.9), actuated=False)
    m.frame("tip", body, (-0.5, 0, 0))
    m.frame("top", body, (0.5, 0, 0))
    return contact.rigid(m, ["tip", "top"], friction=mu, release=release)


def begin(angle, speed, turning=0.0):
    """The tip on the ground, moving along it."""
    centre = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    velocity = np.array([speed + turning * centre[1], -turning * centre[0]])
    inward = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    vx, vz = inward @ velocity
    return {"base.z": centre[1], "base.pitch": -angle, "base.vx": vx, "base.vz": vz, "base.wy": turning}


def lightness(angle, mu):
    return 1 + 3 * np.cos(angle) * (np.cos(angle) - mu * np.sin(angle))


def check_ground(run):
    """The ground never pulls, friction never drives, and the account closes."""
    for foot in ("tip", "top"):
        assert run[f"{foot}_normal"].min() > -ROUNDING * max(run[f"{foot}_normal"].max(), 1.0)
    stored = sum(run.ledger.stored[name] for name in run.ledger.stored)
    assert np.diff(stored).max() < 1e-9
    assert run.ledger.residual < 1e-8


@pytest.mark.parametrize("release", ["acceleration", "force"])
@pytest.mark.parametrize("turning", [0.0, 3.0, -3.0])
def test_a_rod_that_begins_inside_stops_dead(release, turning):
    """The impulse goes through the tip, which stops: momentum about it is kept."""
    angle, speed = 0.9, -1.0
    assert lightness(angle, 2.0) < -0.7
    run = strut.simulate(rod(2.0, release), t=0.6, x0=begin(angle, speed, turning))
    assert run.status == "done"
    assert run.events[0].name == "tip_jam"
    assert run.events[0].t == 0.0
    check_ground(run)
    start = begin(angle, speed, turning)
    across = start["base.vz"]  # of the centre, at right angles to the rod
    after = (turning / 12 - 0.5 * across) / (1 / 12 + 1 / 4)
    assert run.at(1e-12)["base.wy"] == pytest.approx(after, rel=1e-8)
    lost = (turning**2 / 12 + start["base.vx"] ** 2 + across**2) / 2 - after**2 / 6
    assert run.ledger.lost["tip_jam"][-1] == pytest.approx(lost, rel=1e-9)
    assert lost > 0


ENTERING = [
    (1.39, -20.0, 4.0),
    (1.39, -5.0, -4.0),
    (0.62, -5.0, -2.0),
    (0.62, -20.0, -0.5),
    (0.6, -20.0, 2.0),
    (0.6, -5.0, -4.0),
]


@pytest.mark.parametrize("begun", ENTERING)
def test_a_rod_that_comes_to_the_edge_while_sliding_goes_on(begun):
    """Genot and Brogliato: it sticks, or lets go where lightness and the free acceleration vanish together."""
    assert 0 < lightness(begun[0], 2.0) < 0.6
    run = strut.simulate(rod(2.0), t=0.6, x0=begin(*begun))
    assert run.status == "done"
    check_ground(run)


def test_below_the_critical_friction_nothing_jams():
    """mu < 4/3: the tip is brought to rest by friction alone, from N = -b / lightness."""
    for angle in np.linspace(0.2, 1.5, 14):
        assert lightness(angle, 4 / 3) > -1e-12
    run = strut.simulate(rod(1.2), t=0.6, x0=begin(0.9, -1.0))
    names = {e.name for e in run.events}
    assert "tip_jam" not in names
    assert "tip_stick" in names
    assert run["tip_normal"][0] == pytest.approx(G / lightness(0.9, 1.2), rel=1e-9)
    check_ground(run)


def test_the_other_way_the_tip_just_slides():
    run = strut.simulate(rod(2.0), t=0.3, x0=begin(0.9, 1.0))
    assert run["tip_normal"][0] == pytest.approx(G / lightness(-0.9, 2.0), rel=1e-9)
    assert "tip_jam" not in {e.name for e in run.events}
    check_ground(run)


def chalk(mu, sideways=1 / 12):
    """A rod in space, with one foot; `sideways` is its inertia about all axes but y."""
    m = Mechanism("chalk")
    body = m.body("rod", 1.0, inertia=(1e-6 if sideways < 1 else sideways, 1 / 12, sideways))
    m.joint("base", m.world, body, joints.free(), actuated=False)
    m.frame("tip", body, (-0.5, 0, 0))
    return contact.rigid(m, ["tip"], friction=mu)


def begin_in_space(angle, heading):
    """The tip on the ground, moving along it at 1 m/s; at heading pi it moves away from the rod's centre."""
    inward = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    v = inward @ np.array([np.cos(heading), np.sin(heading), 0.0])
    place = {"base.z": 0.5 * np.sin(angle), "base.qy": -np.sin(angle / 2), "base.qw": np.cos(angle / 2)}
    return place | {f"base.v{axis}": value for axis, value in zip("xyz", v, strict=True)}


def check_energy(run):
    assert run["tip_normal"].min() > -ROUNDING * max(run["tip_normal"].max(), 1.0)
    stored = sum(run.ledger.stored[name] for name in run.ledger.stored)
    assert np.diff(stored).max(initial=0.0) < 1e-9


def test_in_space_it_is_the_same():
    run = strut.simulate(chalk(2.0), t=0.3, x0=begin_in_space(0.9, np.pi))
    plane = strut.simulate(rod(2.0), t=0.3, x0=begin(0.9, -1.0))
    assert [e.name for e in run.events][:1] == ["tip_jam"]
    assert run["base.x"][-1] == pytest.approx(plane["base.x"][-1], abs=1e-8)
    assert run.ledger.lost["tip_jam"][-1] == pytest.approx(plane.ledger.lost["tip_jam"][-1], rel=1e-8)
    check_energy(run)


@pytest.mark.parametrize(
    ("heading", "event"), [(1.644, "tip_jam"), (4.131, "tip_jam"), (5.116, "tip_jam"), (0.346, "tip_stick")]
)
def test_in_space_the_way_of_sliding_turns_into_the_region(heading, event):
    """The force grows without bound on the way there; then the foot stops dead."""
    run = strut.simulate(chalk(2.0), t=0.1, x0=begin_in_space(0.9, heading))
    assert run.status == "done"
    assert run.events[0].name == event
    assert run.events[0].t > 0
    check_energy(run)


def test_what_cannot_stop_ends_the_run():
    """A rod that is heavy sideways: the impulse that would stop it leaves the friction cone."""
    made = chalk(2.0, sideways=10.0)
    run = strut.simulate(made, t=0.1, x0=begin_in_space(0.9, np.pi + 0.7))
    assert run.status == "tip_painleve"
    assert run.t1 == 0.0
    ending = next(event for event in made.events if event.name == "tip_painleve")
    assert "no consistent contact force (Painleve)" in ending.description
    check_energy(run)
