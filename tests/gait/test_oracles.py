"""Gaits on other slopes, stable and unstable, of walkers derived anew: one step of the other model returns to them."""

import casadi as ca
import numpy as np
import pytest

from strut.gait import find, find_all
from strut.walkers import dribbel, kneed, round_foot, slip
from tests.walkers.oracle import Walker
from tests.walkers.test_steps import along


def rolling(slope, R=0.2, c=1.0, b=0.5, m=0.5, inertia=0.02, hip=1.0):
    """Straight legs on arcs; a step as a function of stance, swing and their rates."""
    normal, tangent = np.array([np.sin(slope), np.cos(slope)]), np.array([np.cos(slope), -np.sin(slope)])

    def masses(q):
        top = q[:2] + c * along(q[2])
        return [
            (m, q[:2] + (c - b) * along(q[2]), inertia, q[2]),
            (hip, top, 0, q[2]),
            (m, top - b * along(q[3]), inertia, q[3]),
        ]

    def swing_centre(q):
        return q[:2] + c * along(q[2]) - c * along(q[3])

    def rolls(place, angle):
        def rows(q, v):
            arm = -R * normal
            speed = ca.jtimes(place(q), q, v) + v[angle] * ca.vertcat(-arm[1], arm[0])
            return ca.vertcat(ca.dot(ca.DM(normal), speed), ca.dot(ca.DM(tangent), speed))

        return rows

    gap = lambda q: ca.dot(ca.DM(normal), swing_centre(q)) - R  # noqa: E731
    walker = Walker(2, masses, rolls(lambda q: q[:2], 2), rolls(swing_centre, 3), gap, 1.0)
    walker.late = 0.1

    def step(y):
        q, v = np.concatenate([R * normal, y[:2]]), np.concatenate([-R * y[2] * tangent, y[2:]])
        duration, q, v = walker.step(q, v)
        return duration, np.array([q[3], q[2], v[3], v[2]])

    return step


def bending(slope, a1=0.375, b1=0.125, a2=0.175, b2=0.325, hip=0.5, thigh=0.5, shank=0.05):
    """Knees that lock; a step as a function of stance, swing and their rates, the knee being straight."""
    leg, normal = a1 + b1 + a2 + b2, np.array([np.sin(slope), np.cos(slope)])

    def masses(q):
        foot, s, t, k = q[:2], q[2], q[3], q[4]
        top = foot + leg * along(s)
        lower = top - (a2 + b2) * along(t) - b1 * along(k)
        upper = foot + (a1 + b1 + a2) * along(s)
        return [(shank, foot + a1 * along(s), 0, s), (thigh, upper, 0, s), (hip, top, 0, s), (thigh, top - b2 * along(t), 0, t),
                (shank, lower, 0, k)]  # fmt: skip

    def swing_foot(q):
        return q[:2] + leg * along(q[2]) - (a2 + b2) * along(q[3]) - (a1 + b1) * along(q[4])

    rows = [lambda q, v: v[:2], lambda q, v: ca.jtimes(swing_foot(q), q, v)]
    walker = Walker(3, masses, *rows, lambda q: ca.dot(ca.DM(normal), swing_foot(q)), 9.81, locks=[(2, 1)])

    def step(y):
        duration, q, v = walker.step(np.array([0, 0, y[0], y[1], y[1]]), np.array([0, 0, y[2], y[3], y[3]]))
        return duration, np.array([q[3], q[2], v[3], v[2]])

    return step


@pytest.mark.parametrize(("walker", "other", "slope"), [(round_foot, rolling, 0.03), (kneed, bending, 0.07)])
def test_long_and_short_gaits_on_another_slope(walker, other, slope):
    step, found = other(slope), find_all(walker(slope=slope), starts=150)
    assert [g.stable for g in found] == [True, False]
    for gait in found:
        duration, y = step(gait.y0)
        assert duration == pytest.approx(gait.period, abs=1e-8)
        assert y == pytest.approx(gait.y0, abs=1e-7)
        h = 1e-5  # its error is that of the differences, h^2 times third derivatives, larger where the gait magnifies
        columns = [(step(gait.y0 + e)[1] - step(gait.y0 - e)[1]) / (2 * h) for e in h * np.eye(4)]
        for multiplier in np.linalg.eigvals(np.array(columns).T):
            assert np.abs(gait.multipliers - multiplier).min() < 1e-4


def test_dribbel_has_a_passive_gait(monkeypatch):
    """Its knees bend and lock in every step. Not compiled: a few of its steps are quicker without."""
    monkeypatch.setenv("STRUT_BACKEND", "virtual")
    guess = {"ankle": 0.2165, "hip": -0.5378, "ankle_rate": -1.1452, "hip_rate": 0.3396}
    gait = find(dribbel(), guess, walk=0, starts=0)
    assert gait.kind == "stable"
    assert gait.period == pytest.approx(0.850893941, abs=1e-8)
    assert gait.cost_of_transport == pytest.approx(np.sin(np.radians(3)), abs=1e-9)
    counts = gait.trajectory.events.counts()
    assert counts["knee_r_bend"] == counts["knee_r_lock"] == 1


def test_a_runner_that_conserves_energy_has_a_family():
    gait = find(slip())
    assert gait.kind == "neutral"
    assert not gait.stable
    assert np.abs(gait.multipliers - 1).min() < 1e-8
    assert not find(slip(attack=np.radians(60))).stable  # its multiplier of 1 comes out a little smaller
    assert gait.energy_per_step == pytest.approx(0, abs=1e-9)
    assert len([g for g in find_all(slip(), starts=40) if g.neutral]) == 1
