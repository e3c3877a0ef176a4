"""Rigid motions on symbols: SO(3), SE(3), twists and wrenches.

Notation: `X_AB` is the pose of frame B in A and takes coordinates in B to coordinates in A. Twists are
[angular; linear], wrenches [moment; force]; both are about the origin of the frame they are expressed in.
Zeros fold: a rotation about z costs what a person would write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.system import Expression, sx

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
"""Unit vectors by name."""
UNIT_TOLERANCE = 1e-6
"""[1] by which the length of a given axis may differ from 1, before it is normalised exactly."""
SMALL_ANGLE = 1e-4
"""[rad] below which series are used, whose next term is then beyond rounding."""


def vector(value: Expression, what: str = "vector") -> ca.SX:
    """Three numbers as a column; raises ModelError for another count."""
    column = sx(list(value) if isinstance(value, np.ndarray) else value)
    if column.shape == (1, 3):
        column = column.T
    if column.shape != (3, 1):
        raise ModelError(f"{what} has shape {column.shape}: three numbers are needed")
    return column


def axis_of(axis: str | Sequence[float], what: str = "axis") -> ca.SX:
    """A unit vector from 'x', '-y' or three numbers, which must have length 1."""
    if isinstance(axis, str):
        sign, name = (-1.0, axis[1:]) if axis.startswith("-") else (1.0, axis)
        if name not in AXES:
            raise ModelError(
                f"{what} '{axis}' is unknown: use 'x', 'y', 'z', with a minus sign if you like, or three "
                f"numbers"
            )
        return ca.SX(sign * np.array(AXES[name]))
    try:
        numbers = np.asarray(axis, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{what} is {axis!r}: use 'x', 'y', 'z', with a minus sign if you like, or three numbers"
        ) from error
    length = float(np.linalg.norm(numbers)) if numbers.shape == (3,) else 0.0
    if numbers.shape != (3,) or not abs(length - 1) <= UNIT_TOLERANCE:  # nan fails every comparison
        raise ModelError(
            f"{what} {np.round(numbers, 6).tolist()} has length {length:g}: give a unit vector of three "
            f"numbers"
        )
    return ca.SX(numbers / length)


def cross(a: ca.SX, b: ca.SX) -> ca.SX:
    """The cross product of two columns, without zeros of structure."""
    return ca.densify(ca.cross(a, b))


def skew(a: ca.SX) -> ca.SX:
    """The skew-symmetric matrix of `cross(a, .)`."""
    zero = ca.SX(0)
    return ca.vertcat(
        ca.horzcat(zero, -a[2], a[1]), ca.horzcat(a[2], zero, -a[0]), ca.horzcat(-a[1], a[0], zero)
    )


def rotation(axis: ca.SX, angle: Expression) -> ca.SX:
    """The matrix of a rotation by `angle` [rad] about a unit vector, by Rodrigues' formula; about a
    coordinate axis only sines and cosines remain."""
    c, s = ca.cos(sx(angle)), ca.sin(sx(angle))
    outer = axis @ axis.T
    return ca.densify(outer + c * (ca.SX.eye(3) - outer) + s * skew(axis))


def rotation_of_quaternion(q: ca.SX) -> ca.SX:
    """The matrix of a quaternion x, y, z, w. Any length will do: the quaternion is normalised here."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    s = 2 / (x * x + y * y + z * z + w * w)
    return ca.vertcat(
        ca.horzcat(1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        ca.horzcat(s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)),
        ca.horzcat(s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)),
    )


def quaternion_rate(q: ca.SX, omega: ca.SX) -> ca.SX:
    """The rate of (x, y, z, w) for a body angular velocity [rad/s]."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    wx, wy, wz = omega[0], omega[1], omega[2]
    return (
        ca.vertcat(
            w * wx + y * wz - z * wy,
            w * wy + z * wx - x * wz,
            w * wz + x * wy - y * wx,
            -(x * wx + y * wy + z * wz),
        )
        / 2
    )


def rotation_of_euler(angles: Sequence[Expression], order: str = "zyx") -> ca.SX:
    """Rotations about the named axes, one after the other, each about the axis the previous ones have
    moved."""
    product = ca.SX.eye(3)
    for name, angle in zip(order, angles, strict=True):
        product = product @ rotation(axis_of(name), angle)
    return ca.densify(product)


def exp_so3(phi: ca.SX) -> ca.SX:
    """The rotation by the vector `phi` [rad]."""
    a, b, _ = _series(phi)
    k = skew(phi)
    return ca.SX.eye(3) + a * k + b * (k @ k)


def log_so3(R: ca.SX) -> ca.SX:
    """The rotation vector [rad] of length below pi. At pi its direction is undefined and it must not be asked
    for."""
    twice = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    sine, cosine = ca.norm_2(twice) / 2, (ca.trace(R) - 1) / 2
    angle = ca.atan2(sine, cosine)
    factor = ca.if_else(sine > SMALL_ANGLE, angle / (2 * ca.fmax(sine, SMALL_ANGLE)), 0.5 + sine**2 / 12)
    return factor * twice


def _series(phi: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """sin(t)/t, (1 - cos t)/t^2, (t - sin t)/t^3 for t = |phi|, without a singularity at zero."""
    square = ca.sumsqr(phi)
    small = square < SMALL_ANGLE**2
    t = ca.sqrt(ca.if_else(small, 1.0, square))
    return (
        ca.if_else(small, 1 - square / 6, ca.sin(t) / t),
        ca.if_else(small, 0.5 - square / 24, (1 - ca.cos(t)) / t**2),
        ca.if_else(small, 1 / 6 - square / 120, (t - ca.sin(t)) / t**3),
    )


@dataclass(frozen=True, eq=False)
class Pose:
    """A rotation and a translation: the pose of one frame in another."""

    R: ca.SX
    p: ca.SX

    @staticmethod
    def identity() -> Pose:
        """The pose of a frame in itself."""
        return Pose(ca.densify(ca.SX.eye(3)), ca.SX.zeros(3))

    @staticmethod
    def at(position: Expression = (0, 0, 0), rotation: ca.SX | None = None) -> Pose:
        """The pose at a position [m], turned by a rotation if one is given."""
        return Pose(ca.densify(ca.SX.eye(3)) if rotation is None else rotation, vector(position, "position"))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Pose:
        """The pose of the outer frame in the inner one."""
        return Pose(self.R.T, -(self.R.T @ self.p))

    def point(self, r: ca.SX) -> ca.SX:
        """A point r, given in the inner frame, in the outer one [m]."""
        return self.R @ r + self.p

    def twist(self, v: ca.SX) -> ca.SX:
        """A twist (or several, as columns) from the inner to the outer frame."""
        angular = self.R @ v[:3, :]
        return ca.vertcat(angular, self.R @ v[3:, :] + _cross_columns(self.p, angular))

    def twist_inward(self, v: ca.SX) -> ca.SX:
        """A twist from the outer to the inner frame."""
        return ca.vertcat(self.R.T @ v[:3, :], self.R.T @ (v[3:, :] - _cross_columns(self.p, v[:3, :])))

    def wrench(self, f: ca.SX) -> ca.SX:
        """A wrench (or several, as columns) from the inner to the outer frame."""
        force = self.R @ f[3:, :]
        return ca.vertcat(self.R @ f[:3, :] + _cross_columns(self.p, force), force)

    def adjoint(self) -> ca.SX:
        """The 6 x 6 matrix of `twist`."""
        return ca.vertcat(ca.horzcat(self.R, ca.SX.zeros(3, 3)), ca.horzcat(skew(self.p) @ self.R, self.R))


def _cross_columns(a: ca.SX, b: ca.SX) -> ca.SX:
    """The cross product of a column with one column or several."""
    return skew(a) @ b if b.shape[1] != 1 else cross(a, b)


def bracket(v: ca.SX, w: ca.SX) -> ca.SX:
    """The motion cross product v x w of twists: the rate of w carried along by v."""
    return ca.vertcat(cross(v[:3], w[:3]), cross(v[:3], w[3:]) + cross(v[3:], w[:3]))


def exp_se3(xi: ca.SX) -> Pose:
    """The pose reached in unit time with the constant body twist `xi`."""
    _, b, c = _series(xi[:3])
    k = skew(xi[:3])
    return Pose(exp_so3(xi[:3]), (ca.SX.eye(3) + b * k + c * (k @ k)) @ xi[3:])


def log_se3(X: Pose) -> ca.SX:
    """The constant body twist that reaches the pose in unit time."""
    phi = log_so3(X.R)
    a, b, _ = _series(phi)
    square = ca.sumsqr(phi)
    small = square < SMALL_ANGLE**2
    factor = ca.if_else(small, 1 / 12 + square / 720, (1 - a / (2 * b)) / ca.if_else(small, 1.0, square))
    k = skew(phi)
    return ca.vertcat(phi, (ca.SX.eye(3) - k / 2 + factor * (k @ k)) @ X.p)


def reflect(v: ca.SX) -> ca.SX:
    """A point or direction seen in a mirror in the x-z plane."""
    return ca.vertcat(v[0], -v[1], v[2])


def reflect_matrix(A: ca.SX) -> ca.SX:
    """A rotation or an inertia seen in that mirror: what has one index y changes sign."""
    return ca.vertcat(
        *[ca.horzcat(*[-A[i, j] if (i == 1) != (j == 1) else A[i, j] for j in range(3)]) for i in range(3)]
    )


def reflect_pose(X: Pose) -> Pose:
    """A pose seen in a mirror in the x-z plane."""
    return Pose(reflect_matrix(X.R), reflect(X.p))


def reflect_twist(v: ca.SX) -> ca.SX:
    """A twist, or several as columns: angular velocities are pseudo-vectors."""
    return ca.vertcat(-v[0, :], v[1, :], -v[2, :], v[3, :], -v[4, :], v[5, :])


def rotation_of_rpy(rpy: Sequence[Expression]) -> ca.SX:
    """The matrix of roll, pitch and yaw [rad] about fixed axes, which are yaw, pitch, roll about moving
    ones."""
    return rotation_of_euler([rpy[2], rpy[1], rpy[0]], "zyx")


def rpy_of_rotation(R: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw [rad] of a numeric rotation."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:  # straight up or down: roll and yaw are one, call it yaw
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def screw(twist: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """Axis direction, a point on it, rotation rate and translation rate of a numeric twist (Chasles)."""
    angular, linear = np.asarray(twist[:3], dtype=float), np.asarray(twist[3:], dtype=float)
    rate = float(np.linalg.norm(angular))
    if rate == 0.0:
        speed = float(np.linalg.norm(linear))
        direction = linear / speed if speed else np.zeros(3)
        return {"direction": direction, "point": np.zeros(3), "rotation": 0.0, "translation": speed}
    direction = angular / rate
    along = float(direction @ linear)
    return {
        "direction": direction,
        "point": np.cross(direction, linear - along * direction) / rate,
        "rotation": rate,
        "translation": along,
    }
