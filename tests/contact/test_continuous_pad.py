"""Compliant contact without events: against closed forms, and against the same contact with events."""

import math

import numpy as np
import pytest

import strut
from strut import contact
from tests.contact.machines import G, box, brick, weight
from tests.contact.test_compliant import LAWS

CLOSED = (
    1e-7  # of the energy that moved: kinks lie inside the adaptive steps, which then have order one there
)
KINK = 1e-7  # [m]: what a step across a kink errs by; hertz is worst, its damping rises like a root (4e-8 measured)
STEP = {"method": "rk4", "step": 1e-4}  # [s]: a fiftieth of the period of the stiffest contact here


def with_and_without(machine, feet, law, friction=None, ground=None):
    return [
        contact.compliant(machine, feet, ground, law=law, friction=friction, events=events)
        for events in (True, False)
    ]


def test_it_has_no_event_no_sample_and_no_discrete_state():
    system = contact.compliant(
        weight(), ["foot"], law=LAWS["linear"], friction=contact.anchored(2e3, 40.0, 0.4), events=False
    )
    assert not system.events
    assert not system.samples
    assert not system.z
    assert {"foot_strain", "foot_contact_time"} <= set(system.labels("x"))
    assert system.walk is not None
    assert system.walk.feet[0].normal == "foot_normal"


@pytest.mark.parametrize("name", LAWS)
def test_books_close(name):
    friction = contact.anchored(2e3, 40.0, 0.4)
    system = contact.compliant(weight(), ["foot"], law=LAWS[name], friction=friction, events=False)
    run = strut.simulate(system, t=2.5, x0={"x_rate": 1.0})
    assert run.ledger.residual < CLOSED * run.ledger.turnover
    for book in run.ledger.dissipated.values():
        assert np.diff(book).min() > -1e-9
    assert run["foot_normal"].min() >= 0


@pytest.mark.parametrize("name", LAWS)
def test_a_drop_is_the_one_with_events_until_the_foot_comes_back(name):
    exact, without = with_and_without(weight(), ["foot"], LAWS[name])
    first = strut.simulate(exact, t=1.5)
    landing = first.events.times("foot_touchdown")
    until = landing[1] if len(landing) > 1 else 1.5
    run = strut.simulate(without, t=until)
    assert run["z"][-1] == pytest.approx(first.at(until)["z"], abs=KINK)
    lifted = first.events.times("foot_liftoff")
    touched = (lifted[0] if len(lifted) else until) - landing[0]
    assert run["foot_contact_time"][-1] == pytest.approx(touched, abs=1e-6)


def test_a_block_holds_below_the_friction_limit_and_slides_beyond():
    slope, k = math.atan(0.5), 2e5
    for mu in (0.6, 0.3):
        system = contact.compliant(
            weight(),
            ["foot"],
            contact.plane(slope),
            law=contact.linear(k, 800.0),
            friction=contact.anchored(k, 800.0, mu),
            events=False,
        )
        run = strut.simulate(system, t=1.0, x0={"z": -1.0, "x": 2.0})
        if mu == 0.6:
            assert run["foot_strain"][-1] == pytest.approx(G * math.sin(slope) / k, rel=1e-6)
            assert np.ptp(run.at(np.linspace(0.5, 1.0, 20))["x"]) < 1e-9
        else:
            t = np.array([0.6, 0.9])
            speed = run.at(t)["x_rate"] / math.cos(slope)
            expected = G * (math.sin(slope) - mu * math.cos(slope))
            assert (speed[1] - speed[0]) / 0.3 == pytest.approx(expected, rel=1e-6)


def test_in_the_air_a_strained_anchor_relaxes_through_its_damper():
    k, d = 200.0, 5.0
    system = contact.compliant(
        weight(), ["foot"], law=LAWS["elastic"], friction=contact.anchored(k, d, 0.5), events=False
    )
    run = strut.simulate(system, t=0.1, x0={"foot_strain": 0.01, "x_rate": 0.7})
    assert run["foot_strain"][-1] == pytest.approx(0.01 * math.exp(-k / d * 0.1), rel=1e-6)
    assert run["x_rate"][-1] == pytest.approx(0.7, abs=1e-9)
    assert run.ledger.residual < CLOSED * run.ledger.turnover


def test_a_brick_in_space_slides_as_with_events():
    machine, feet = brick(at=(0, 0, 0.1))
    pair = with_and_without(machine, feet, contact.linear(1e5, 2e3), contact.anchored(1e5, 2e3, 0.3))
    start = {"base.z": 0.1 - 2 * G / 4e5, "base.vx": 0.6, "base.vy": 0.8}
    ends = [strut.simulate(system, t=0.1, x0=start, **STEP).at(0.1) for system in pair]
    for name in ("base.x", "base.y", "base.z", "base.vx", "base.vy"):
        assert ends[1][name] == pytest.approx(ends[0][name], abs=1e-6)


def test_a_batch_of_boxes_with_fixed_steps_is_that_with_events():
    machine, feet = box(height=0.2)
    pair = with_and_without(machine, feet, contact.hunt_crossley(1e5, 0.3), contact.coulomb(0.5, 0.05))
    pitch = np.linspace(-0.3, 0.3, 7)
    ends = [strut.simulate_batch(system, t=0.5, x0={"base.pitch": pitch}, **STEP) for system in pair]
    assert all(np.all(batch.ok) for batch in ends)
    assert not ends[1].counts
    for k, name in enumerate(pair[0].labels("x")):
        np.testing.assert_allclose(ends[1][name], ends[0].x[:, k], atol=2e-5, err_msg=name)
