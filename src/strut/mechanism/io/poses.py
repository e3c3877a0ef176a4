"""Poses and solids in numbers, for reading files."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class NumericPose(NamedTuple):
    """A pose in numbers."""

    R: np.ndarray
    p: np.ndarray

    def __matmul__(self, other: NumericPose) -> NumericPose:
        return NumericPose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> NumericPose:
        """The pose of the outer frame in the inner one."""
        return NumericPose(self.R.T, -self.R.T @ self.p)

    @property
    def is_moved(self) -> bool:
        """Whether it differs from the identity."""
        return bool(np.any(self.p) or not np.array_equal(self.R, np.eye(3)))


IDENTITY = NumericPose(np.eye(3), np.zeros(3))
"""The pose of a frame in itself."""


def translation(p: np.ndarray) -> NumericPose:
    """A pose shifted by p [m], not turned."""
    return NumericPose(np.eye(3), p)


def volume_of(kind: str, size: np.ndarray) -> float:
    """The volume [m^3] of a solid; sizes are radii and half lengths [m], as in MJCF."""
    a, b, c = size
    return float(
        {
            "sphere": 4 / 3 * np.pi * a**3,
            "capsule": np.pi * a**2 * 2 * b + 4 / 3 * np.pi * a**3,
            "cylinder": np.pi * a**2 * 2 * b,
            "box": 8 * a * b * c,
            "ellipsoid": 4 / 3 * np.pi * a * b * c,
        }[kind]
    )


def moments_of(kind: str, size: np.ndarray) -> np.ndarray:
    """Principal moments of inertia per mass [m^2] of a solid."""
    a, b, c = size
    if kind == "sphere":
        return np.full(3, 0.4 * a**2)
    if kind == "cylinder":
        across = (3 * a**2 + (2 * b) ** 2) / 12
        return np.array([across, across, a**2 / 2])
    if kind == "box":
        return np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2]) / 3
    if kind == "ellipsoid":
        return np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2]) / 5
    ball, length = (
        4 * a / (4 * a + 6 * b),
        2 * b,
    )  # a capsule: the share of its two halves of a ball, and the cylinder's length
    across = (1 - ball) * (3 * a**2 + length**2) / 12 + ball * (
        0.4 * a**2 + 0.375 * a * length + 0.25 * length**2
    )
    return np.array([across, across, (1 - ball) * a**2 / 2 + ball * 0.4 * a**2])


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """The matrix of a rotation by `angle` [rad] about a unit vector: Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix: np.ndarray = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    return matrix


def rotation_of_quat(q: np.ndarray) -> np.ndarray:
    """The matrix of a quaternion w, x, y, z of any length."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quat_of_rotation(R: np.ndarray) -> np.ndarray:
    """The quaternion x, y, z, w of a rotation, from the largest of the four, so that nothing small is divided
    by (Shepperd)."""
    squares = np.array(
        [
            1 + R[0, 0] - R[1, 1] - R[2, 2],
            1 - R[0, 0] + R[1, 1] - R[2, 2],
            1 - R[0, 0] - R[1, 1] + R[2, 2],
            1 + np.trace(R),
        ]
    )
    k = int(np.argmax(squares))
    x, y, z, w = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], squares[3]
    if k < 3:
        row = R[k] + R[:, k]
        x, y, z = (row[i] if i != k else squares[k] for i in range(3))
        w = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])[k]
    q = np.array([x, y, z, w])
    unit: np.ndarray = q / np.linalg.norm(q)
    return unit


def rotation_to(v: np.ndarray) -> np.ndarray:
    """The shortest rotation that takes z to the direction of v."""
    v = v / np.linalg.norm(v)
    axis = np.array([-v[1], v[0], 0.0])
    sine = np.linalg.norm(axis)
    if sine < 1e-10:
        return np.eye(3) if v[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return rotation(axis / sine, float(np.arctan2(sine, v[2])))


def pose_between(ends: np.ndarray) -> tuple[NumericPose, float]:
    """The middle of two points with z along them, and half their distance."""
    along = ends[:3] - ends[3:]
    return NumericPose(rotation_to(along), (ends[:3] + ends[3:]) / 2), float(np.linalg.norm(along)) / 2
