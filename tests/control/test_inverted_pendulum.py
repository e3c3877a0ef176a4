"""The linear inverted pendulum, swing profiles and preview control against closed forms."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

from strut import control
from strut.control import LinearPendulum, ZmpPreview, stepped_zmp, swing_motion
from strut.errors import UnknownNameError, ValueRangeError

LIP = LinearPendulum(height=0.85)


def test_a_foot_at_the_capture_point_brings_it_to_rest() -> None:
    """Put at the extrapolated centre of mass the foot catches it; anywhere else it goes off exponentially."""
    caught = LIP.xcom(0.1, 0.7)
    for t in (1.0, 2.0):
        x, v = LIP.motion(0.1, 0.7, caught, t)
        left = math.exp(-LIP.rate * t)
        assert float(x) == pytest.approx(caught - (caught - 0.1) * left, rel=1e-10)
        assert float(v) == pytest.approx(0.7 * left, rel=1e-6)
    assert LIP.orbital_energy(0.1, 0.7, caught) == pytest.approx(0, abs=1e-12)
    x, v = LIP.motion(0.1, 0.7, 0.2, 0.3)
    assert float(LIP.xcom(x, v)) == pytest.approx(float(LIP.xcom_after(caught, 0.2, 0.3)), rel=1e-12)
    assert LIP.orbital_energy(x, v, 0.2) == pytest.approx(LIP.orbital_energy(0.1, 0.7, 0.2), rel=1e-10)


def test_the_motion_solves_its_equation() -> None:
    t = ca.SX.sym("t")
    x, v = LIP.motion(ca.SX(0.1), ca.SX(-0.4), ca.SX(0.05), t)
    miss = ca.vertcat(ca.jacobian(x, t) - v, ca.jacobian(v, t) - LIP.rate**2 * (x - 0.05))
    assert np.abs(np.array(ca.Function("f", [t], [miss])(0.37))).max() < 1e-12


def test_capturability_by_stepping_it() -> None:
    """From just inside of the N-step region, steps of the longest length in the shortest time end with the
    capture point above the foot; from just outside they do not (Koolen et al. 2012)."""
    longest, time = 0.6, 0.25
    for steps in (0, 1, 2, 4):
        for part, stops in ((1 - 1e-9, True), (1 + 1e-3, False)):
            away = part * LIP.capturable(steps, longest, time)
            for _ in range(steps):
                away = away * math.exp(LIP.rate * time)
                away -= min(longest, away)
            assert (away <= 1e-9) == (stops or steps == 0)
    limit = LIP.capturable(math.inf, longest, time)
    assert LIP.capturable(60, longest, time) == pytest.approx(limit, rel=1e-12)
    d = [LIP.capturable(n, longest, time) for n in range(6)]
    shrinks = math.exp(-LIP.rate * time)
    assert all(d[n] == pytest.approx((longest + d[n - 1]) * shrinks, rel=1e-12) for n in range(1, 6))
    with pytest.raises(ValueRangeError, match="within -1 steps: give 0, 1, 2"):
        LIP.capturable(-1, longest, time)


def test_both_directions_of_space_are_those_of_a_plane() -> None:
    x, v, foot = np.array([0.1, -0.05]), np.array([0.7, 0.3]), np.array([0.0, 0.08])
    caught = LIP.xcom(x, v)
    there, speed = LIP.motion(x, v, foot, 0.3)
    for k in (0, 1):
        alone = LIP.motion(float(x[k]), float(v[k]), float(foot[k]), 0.3)
        assert (there[k], speed[k]) == pytest.approx(alone, rel=1e-14)
    assert LIP.xcom(there, speed) == pytest.approx(LIP.xcom_after(caught, foot, 0.3), rel=1e-12)
    with pytest.raises(ValueRangeError, match="numbers, arrays or expressions are needed"):
        LIP.xcom([0.1, 0.2], v)


def test_how_many_steps_capture_it_in_space() -> None:
    """The capture point goes away from the foot, which follows along the same line as far as it can."""
    longest, time = 0.6, 0.25
    way = np.array([0.6, 0.8])
    for steps in (1, 2, 4):
        away = (1 - 1e-9) * LIP.capturable(steps, longest, time)
        foot, xcom = np.array([0.3, -0.1]), np.array([0.3, -0.1]) + away * way
        assert LIP.steps_to_capture(xcom, foot, longest=longest, shortest_time=time) == steps
        for _ in range(steps):
            xcom = LIP.xcom_after(xcom, foot, time)
            gap = xcom - foot
            foot = foot + gap * min(1.0, longest / np.linalg.norm(gap))
        assert np.linalg.norm(xcom - foot) < 1e-8
    assert LIP.steps_to_capture(0.2, 0.2, longest=longest, shortest_time=time) == 0
    far = LIP.capturable(math.inf, longest, time)
    assert LIP.steps_to_capture(far, 0.0, longest=longest, shortest_time=time) == math.inf


def test_preview_control_in_space_is_that_of_both_directions() -> None:
    preview = ZmpPreview(height=0.85, every=0.01)
    feet = [(0.0, 0.0), (0.0, 0.1), (0.25, -0.1), (0.5, 0.1), (0.5, 0.0)]
    reference = preview.stepped_zmp(feet, step_time=0.8)
    cart = preview.plan(reference)
    assert cart.states.shape == (len(cart.t), 3, 2)
    for k in (0, 1):
        alone = preview.plan(preview.stepped_zmp([foot[k] for foot in feet], step_time=0.8))
        assert np.array_equal(cart.states[:, :, k], alone.states)
        assert np.array_equal(cart.zmp[:, k], alone.zmp)
    assert np.abs(cart.zmp - reference).mean() < 0.01
    assert cart.states[-1, 0] == pytest.approx(feet[-1], abs=0.02)
    with pytest.raises(ValueRangeError, match="shape .*, 3.: in space, rows of x and y"):
        preview.plan(np.zeros((10, 3)))
    with pytest.raises(ValueRangeError, match="start of the mass has the shape .2, 2.*two rows of three"):
        preview.plan(reference, start=np.zeros((2, 2)))


@pytest.mark.parametrize("profile", list(control.SWING_PROFILES))
def test_a_swing_leaves_and_arrives_at_rest(profile: str) -> None:
    t = ca.SX.sym("t")
    m = swing_motion(0.6, 0.05, 0.2, t, profile)
    f = ca.Function("f", [t], [m.position, m.velocity, m.acceleration])
    (p0, v0, _), (p1, v1, _), (pm, vm, _) = ([np.array(e)[:, 0] for e in f(s)] for s in (0.0, 0.2, 0.1))
    assert p0 == pytest.approx([0, 0], abs=1e-12)
    assert p1 == pytest.approx([0.6, 0], abs=1e-12)
    assert pm == pytest.approx([0.3, 0.05], abs=1e-12)
    assert abs(vm[1]) < 1e-12
    assert max(*abs(v0), *abs(v1)) < 1e-12
    h = 1e-5
    for s in (0.03, 0.11, 0.19):  # rates are derivatives
        before, here, after = ([np.array(e)[:, 0] for e in f(s + k * h)] for k in (-1, 0, 1))
        assert (after[0] - before[0]) / (2 * h) == pytest.approx(here[1], abs=1e-5)
        assert (after[1] - before[1]) / (2 * h) == pytest.approx(here[2], abs=1e-3)
    late = f(0.5)
    assert np.array(late[0])[:, 0] == pytest.approx([0.6, 0])
    assert not np.array(late[1]).any()


def test_the_sine_is_the_thesis_s() -> None:
    """Equations 4.1 and 4.2, and the accelerations that jump at both ends."""
    t = ca.SX.sym("t")
    f = ca.Function("f", [t], [swing_motion(0.5, 0.04, 0.25, t).acceleration])
    assert np.array(f(0.0))[:, 0] == pytest.approx(
        [0.5 * math.pi**2 / (2 * 0.25**2), 2 * 0.04 * math.pi**2 / 0.25**2]
    )
    smooth = ca.Function("f", [t], [swing_motion(0.5, 0.04, 0.25, t, "smooth").acceleration])
    assert not np.array(smooth(0.0)).any()
    with pytest.raises(UnknownNameError, match="no swing profile 'sin'.*sine"):
        swing_motion(0.5, 0.04, 0.25, t, "sin")


def test_preview_control_moves_the_mass_before_the_zmp() -> None:
    """The only bounded motion of the mass below a ZMP that jumps by d: d/2 exp(w t) before, d - d/2 exp(-w t)
    after; it is approached as jerk becomes cheap."""
    misses = []
    for price in (1e-4, 1e-8):
        controller = ZmpPreview(height=0.8, jerk_weight=price)
        jump = 400
        reference = np.r_[np.zeros(jump), np.full(600, 0.3)]
        motion = controller.plan(reference)
        w, t = math.sqrt(9.81 / 0.8), motion.t - jump * controller.every
        exact = np.where(
            t < 0, 0.15 * np.exp(np.minimum(w * t, 0)), 0.3 - 0.15 * np.exp(-np.maximum(w * t, 0))
        )
        misses.append(np.abs(motion.states[:, 0] - exact).max())
        assert motion.zmp[-1] == pytest.approx(0.3, abs=1e-6)  # no error remains: it has an integrator
    assert misses[1] < misses[0] < 0.02
    assert misses[1] < 0.3 * w * 0.005 / 2  # half a sample, in which the jump is not located


def test_preview_control_is_optimal() -> None:
    """The same motion as that of one large least-squares problem over all changes of the jerk, which knows
    nothing of Riccati equations."""
    c = ZmpPreview(height=0.8, every=0.04, jerk_weight=1e-5, horizon=120)
    reference = np.r_[stepped_zmp([0.0] * 6 + [0.1, 0.25, 0.3], 0.4, 0.04), np.full(60, 0.3)]
    A, b, row = c.matrices
    n = len(reference)
    zmp = np.zeros((n + 1, n))  # of unit changes of the jerk
    response, x = np.zeros(n), np.zeros(3)
    for k in range(n):
        x = A @ x + b[:, 0]
        response[k] = row[0] @ x
    for j in range(n):
        zmp[j + 1 :, j] = response[: n - j]
    held = np.r_[reference, reference[-1]]
    rows = np.vstack([zmp * math.sqrt(c.error_weight), np.eye(n) * math.sqrt(c.jerk_weight)])
    changes = np.linalg.lstsq(rows, np.r_[held * math.sqrt(c.error_weight), np.zeros(n)], rcond=None)[0]
    half = n // 2  # its end is free to differ: the large problem ends there
    assert c.plan(reference).zmp[:half] == pytest.approx((zmp @ changes)[:half], abs=2e-5)


def test_preview_control_says_what_is_wrong() -> None:
    with pytest.raises(ValueRangeError, match="height of the preview controller"):
        ZmpPreview(height=-1.0)
    with pytest.raises(ValueRangeError, match="place, speed and acceleration"):
        ZmpPreview(height=0.8).plan([0.0, 0.1], start=(0.0,))
    with pytest.raises(ValueRangeError, match="finite numbers"):
        ZmpPreview(height=0.8).plan([0.0, math.nan])
