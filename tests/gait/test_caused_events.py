"""Events that another one causes at the same instant: their time varies as that one's does."""

import casadi as ca
import numpy as np
import pytest

from strut import Discrete, Event, State, System
from strut.gait import ReturnMap

SPEEDS = (1.0, 5.0, 3.0)
"""[m/s] Of the way: before, while only the first event has happened (for no time at all), and after both."""


def two_events_at_once(height=1.0):
    """A way that is gone with another speed from `height` on. That is said by two events: one that happens there,
    and one that it causes, whose guard is positive as soon as the first one has set its flag."""
    way, other = State("way", 0.2), State("other", 0.0)
    first, second = Discrete("first", 0.0), Discrete("second", 0.0)
    slow, middle, fast = SPEEDS
    speed = ca.if_else(second.sym > 0.5, fast, ca.if_else(first.sym > 0.5, middle, slow))
    none = (first.sym + second.sym) < 0.5
    return System(
        "two_events",
        x=(way, other),
        z=(first, second),
        flow={way: speed, other: 1.0},
        events=(
            Event("arrives", ca.if_else(none, way.sym - height, -1), {"first": 1.0}),
            # its guard varies with the state, but when it happens is the other event's time
            Event(
                "follows",
                ca.if_else((first.sym > 0.5) * (second.sym < 0.5), 2 + other.sym + way.sym, -1),
                {"second": 1.0},
            ),
            Event("ends", other.sym - 2, {"other": 0.0, "first": 0.0, "second": 0.0}),
        ),
    )


def test_what_another_event_causes_comes_with_it():
    """way(2 s) = 1 + 3 (2 - t), where it arrives at t = 1 - way(0): three times as far by way(0), whatever the
    speed between the events is."""
    step = ReturnMap(two_events_at_once(), "ends")
    y = np.array([0.2, 0.0])
    ours = step(y)
    assert ours.ok, ours.status
    assert ours.x[0] == pytest.approx(1 + 3 * (2 - 0.8))
    h = 1e-6
    differences = np.column_stack([(step(y + h * e).y - step(y - h * e).y) / (2 * h) for e in np.eye(2)])
    assert ours.by_y == pytest.approx(differences, abs=1e-8)
    assert ours.by_y[0, 0] == pytest.approx(SPEEDS[2] / SPEEDS[0])
