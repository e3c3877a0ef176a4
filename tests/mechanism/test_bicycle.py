"""The uncontrolled bicycle (Meijaard, Papadopoulos, Ruina, Schwab 2007), from bodies, joints and two rolling wheels.

The benchmark's axes point down and right; ours up and left, so products of inertia with z change sign.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

from strut import linear
from strut.mechanism import Mechanism, constraints, joints, system

WHEELBASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10
REAR, FRONT = 0.3, 0.35
WEAVE, CAPSIZE = 4.292382536341, 6.024262015388  # [m/s], published
AT_FIVE = (
    -0.775341882195845 + 4.464867713788230j,
    -14.078389692798220,
    -0.322866429004087,
)  # eigenvalues at 5 m/s [1/s]


@pytest.fixture(scope="module")
def bicycle():
    m = Mechanism("bicycle")
    frame = m.body("frame", 85.0, (0.3, 0, 0.9), [9.2, 0, -2.4, 11.0, 0, 2.8])
    rear = m.body("rear", 2.0, inertia=[0.0603, 0.12, 0.0603])
    steer_at = np.array([WHEELBASE + TRAIL, 0, 0])  # where the steering axis meets the ground
    fork = m.body(
        "fork", 4.0, tuple(np.array([0.9, 0, 0.7]) - steer_at), [0.05892, 0, 0.00756, 0.06, 0, 0.00708]
    )
    front = m.body("front", 3.0, inertia=[0.1405, 0.28, 0.1405])
    m.joint("base", m.world, frame, joints.free())
    m.joint("rear_wheel", frame, rear, joints.revolute("y"), at=(0, 0, REAR), actuated=False)
    m.joint("steer", frame, fork, joints.revolute((-np.sin(TILT), 0, np.cos(TILT))), at=tuple(steer_at))
    m.joint(
        "front_wheel",
        fork,
        front,
        joints.revolute("y"),
        at=tuple(np.array([WHEELBASE, 0, FRONT]) - steer_at),
        actuated=False,
    )
    m.constrain(constraints.rolling("rear_contact", "rear", "y", REAR))
    m.constrain(constraints.rolling("front_contact", "front", "y", FRONT))
    return system(m, stabilise=50.0)


def eigenvalues(bicycle, speed):
    """Of the bicycle running straight: those of the stabilisation, -50, and of coordinates that do not matter, 0, left out."""
    x0 = {"base.vx": speed, "rear_wheel_rate": speed / REAR, "front_wheel_rate": speed / FRONT}
    values = linear.linearise(bicycle, x0=x0).eigenvalues
    return values[(np.abs(values) > 1e-3) & (np.abs(values + 50) > 1.0)]


def test_running_straight_is_an_equilibrium_of_the_velocities(bicycle):
    point = linear.linearise(
        bicycle, x0={"base.vx": 5.0, "rear_wheel_rate": 5 / REAR, "front_wheel_rate": 5 / FRONT}
    )
    rates = dict(zip(point.states, point.f0, strict=True))
    assert rates.pop("base.x") == pytest.approx(5.0)
    rates.pop("rear_wheel")
    rates.pop("front_wheel")
    np.testing.assert_allclose(list(rates.values()), 0, atol=1e-9)


def test_eigenvalues_at_five_metres_a_second(bicycle):
    values = eigenvalues(bicycle, 5.0)
    for expected in AT_FIVE:
        assert np.abs(values - expected).min() < 1e-8


def test_weave_speed(bicycle):
    def growth(speed):
        values = eigenvalues(bicycle, speed)
        return values[(values.imag > 2) & (values.imag < 8)].real.max()

    assert brentq(growth, 4.2, 4.4, xtol=1e-12) == pytest.approx(WEAVE, abs=1e-9)


def test_capsize_speed(bicycle):
    """At its root the eigenvalue drowns among zeros, so it is interpolated from both sides."""

    def capsize(speed):
        values = eigenvalues(bicycle, speed)
        real = values[np.abs(values.imag) < 1e-9].real
        return real[np.argmin(np.abs(real))]

    speeds = np.concatenate([np.linspace(5.2, 5.9, 8), np.linspace(6.15, 6.85, 8)])
    curve = np.polynomial.Chebyshev.fit(speeds, [capsize(v) for v in speeds], 12)
    assert brentq(curve, 5.9, 6.15) == pytest.approx(CAPSIZE, abs=1e-8)
