"""Rigid motions: group laws, exponentials, and zeros that fold."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation

from strut.errors import ModelError
from strut.mechanism.spatial import (
    Pose,
    axis_of,
    bracket,
    cross,
    exp_se3,
    exp_so3,
    log_se3,
    log_so3,
    quaternion_rate,
    rotation,
    rotation_of_euler,
    rotation_of_quaternion,
    screw,
    skew,
)
from strut.system.ported_function import operation_count

numbers = st.floats(-1.5, 1.5)
triples = st.tuples(numbers, numbers, numbers).map(np.array)


def value(expression):
    return np.array(ca.DM(expression))


def tilde(twist):
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3] = value(skew(ca.SX(twist[:3]))), twist[3:]
    return out


def pose(twist):
    return exp_se3(ca.SX(twist))


def matrix(X):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = value(X.R), value(X.p).reshape(-1)
    return out


@settings(deadline=None, max_examples=50)
@given(triples, triples)
def test_exponential_and_logarithm_of_motions(omega, v):
    twist = np.concatenate([omega, v])
    X = pose(twist)
    np.testing.assert_allclose(matrix(X), expm(tilde(twist)), atol=1e-12)
    np.testing.assert_allclose(value(log_se3(X)).reshape(-1), twist, atol=1e-7)
    np.testing.assert_allclose(value(log_so3(X.R)).reshape(-1), omega, atol=1e-7)


def test_small_angles_have_no_singularity():
    for size in (0.0, 1e-9, 1e-5, 9.9e-5, 1.01e-4, 1e-3):
        phi = size * np.array([0.6, 0.0, 0.8])
        np.testing.assert_allclose(
            value(exp_so3(ca.SX(phi))), Rotation.from_rotvec(phi).as_matrix(), atol=1e-15
        )
        np.testing.assert_allclose(value(log_so3(exp_so3(ca.SX(phi)))).reshape(-1), phi, atol=1e-15)


def test_logarithm_near_pi():
    phi = (np.pi - 1e-3) * np.array([0.0, 0.6, 0.8])
    np.testing.assert_allclose(value(log_so3(exp_so3(ca.SX(phi)))).reshape(-1), phi, atol=1e-9)
    assert np.abs(logm(value(exp_so3(ca.SX(phi)))) - value(skew(ca.SX(phi)))).max() < 1e-6


@settings(deadline=None, max_examples=30)
@given(triples, triples, triples, triples)
def test_twists_and_wrenches_transform_as_their_adjoints(a, b, c, d):
    X, twist, wrench = pose(np.concatenate([a, b])), np.concatenate([c, d]), np.concatenate([d, a])
    np.testing.assert_allclose(value(X.twist(ca.SX(twist))), value(X.adjoint()) @ twist[:, None], atol=1e-12)
    np.testing.assert_allclose(value(X.twist_inward(X.twist(ca.SX(twist)))).reshape(-1), twist, atol=1e-12)
    power = float(ca.DM(ca.dot(X.wrench(ca.SX(wrench)), X.twist(ca.SX(twist)))))
    assert power == pytest.approx(float(wrench @ twist), abs=1e-11)  # power does not depend on the frame
    both = X @ X.inverse()
    np.testing.assert_allclose(matrix(both), np.eye(4), atol=1e-12)
    bracketed = tilde(twist) @ tilde(np.concatenate([a, b])) - tilde(np.concatenate([a, b])) @ tilde(twist)
    np.testing.assert_allclose(
        tilde(value(bracket(ca.SX(twist), ca.SX(np.concatenate([a, b])))).reshape(-1)), bracketed, atol=1e-11
    )


def test_rotations_of_every_kind_agree_with_scipy():
    rng = np.random.default_rng(3)
    q = rng.standard_normal(4)
    np.testing.assert_allclose(
        value(rotation_of_quaternion(ca.SX(q))), Rotation.from_quat(q).as_matrix(), atol=1e-14
    )
    np.testing.assert_allclose(
        value(rotation_of_euler([0.3, -0.7, 1.1], "zyx")),
        Rotation.from_euler("ZYX", [0.3, -0.7, 1.1]).as_matrix(),
        atol=1e-14,
    )
    axis = np.array([2.0, -1.0, 2.0]) / 3
    np.testing.assert_allclose(
        value(rotation(axis_of(axis), 0.8)), Rotation.from_rotvec(0.8 * axis).as_matrix(), atol=1e-14
    )


def test_quaternion_rate_turns_the_body():
    q, omega, h = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_quat(), np.array([0.4, 1.0, -0.7]), 1e-6
    rate = value(quaternion_rate(ca.SX(q), ca.SX(omega))).reshape(-1)
    later = (Rotation.from_quat(q) * Rotation.from_rotvec(h * omega)).as_quat()
    np.testing.assert_allclose(rate, (later - q) / h, atol=1e-5)


def test_zeros_fold():
    """Turning a vector about z costs four multiplications and two additions beside sine and cosine."""
    angle, r = ca.SX.sym("a"), ca.SX.sym("r", 3)
    f = ca.Function("f", [angle, r], [rotation(axis_of("z"), angle) @ r])
    assert operation_count(f) == 8
    assert value(cross(ca.SX([1, 0, 0]), ca.SX([0, 1, 0]))).reshape(-1).tolist() == [0, 0, 1]


def test_screw():
    """Duindam's lemma: a rotation about an axis through r and a slide along it."""
    direction, r = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.8, -0.6])
    found = screw(np.concatenate([2 * direction, np.cross(r, 2 * direction) + 0.5 * direction]))
    np.testing.assert_allclose(found["direction"], direction)
    assert found["rotation"] == pytest.approx(2.0)
    assert found["translation"] == pytest.approx(0.5)
    np.testing.assert_allclose(found["point"], r - (r @ direction) * direction)
    assert screw([0, 0, 0, 0, 3, 4])["translation"] == 5


@pytest.mark.parametrize("axis", ["w", [1, 1, 0], [1, 0], [0, 0, 0]])
def test_axes_must_be_unit_vectors(axis):
    with pytest.raises(ModelError, match="axis"):
        axis_of(axis)


def test_point_example_of_duindam():
    """(2.9): rotate by theta about y, move by (0, a, b): (0, 2, 1) goes to (sin theta, 2 + a, cos theta + b)."""
    X = Pose.at((0, 0.3, 0.5), rotation(axis_of("y"), 0.7))
    np.testing.assert_allclose(
        value(X.point(ca.SX([0, 2, 1]))).reshape(-1), [np.sin(0.7), 2.3, np.cos(0.7) + 0.5]
    )
