"""Joints: how a child may move against its parent.

A joint is its pose X(q), and how velocities v relate: the child's twist relative to the parent, expressed in
the child, is S(q) v, and q' = B(q) v. Everything else (S, its rate, B) follows, and may be given where a
closed form is shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism.spatial import (
    Pose,
    axis_of,
    quaternion_rate,
    reflect,
    reflect_pose,
    reflect_twist,
    rotation,
    rotation_of_euler,
    rotation_of_quaternion,
)
from strut.system import Expression, sx

QUATERNION_PULL = (
    1.0  # [1/s]; how fast a quaternion's length returns to 1. It changes no rotation, only its length.
)


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint type.

    coordinates, velocities: suffixes of the names of q and v ('' for a single one); units: of each
        coordinate.
    pose: X(q). subspace: S(q), derived from the pose if absent (then v = q'). rate: B(q) v, if not v itself.
    neutral: the q that means "not moved". arguments: what the function that made it was told, for files and
        mirror images.
    """

    kind: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    units: tuple[str, ...]
    pose: Callable[[ca.SX], Pose] = field(repr=False)
    subspace: Callable[[ca.SX], ca.SX] | None = field(default=None, repr=False)
    rate: Callable[[ca.SX, ca.SX], ca.SX] | None = field(default=None, repr=False)
    neutral: tuple[float, ...] = ()
    rate_units: tuple[str, ...] = ()
    gear: tuple[str, Expression, Expression] | None = None  # (leading joint, ratio, offset)
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.velocities)

    def S(self, q: ca.SX) -> ca.SX:
        """The motion subspace, 6 x nv, in the child's frame."""
        return self.subspace(q) if self.subspace else derived_subspace(self.pose, q)

    def S_rate(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """S'(q, v) v, the part of the relative acceleration that velocities alone cause."""
        S = self.S(q)
        if not self.nv or not ca.depends_on(S, q):
            return ca.SX.zeros(6)
        held = ca.SX.sym("held", self.nv)
        along = ca.jtimes(S @ held, q, self.qdot(q, v))
        return ca.densify(ca.substitute([along], [held], [v])[0])

    def qdot(self, q: ca.SX, v: ca.SX) -> ca.SX:
        return self.rate(q, v) if self.rate else v


def derived_subspace(pose: Callable[[ca.SX], Pose], q: ca.SX) -> ca.SX:
    """S from the pose alone: column k is the body twist of moving q_k. q may be any expression, also
    numbers."""
    if not q.numel():
        return ca.SX(6, 0)
    moved = q if q.is_valid_input() else ca.SX.sym("q", q.numel())  # derivatives are by symbols
    X = pose(moved)
    columns = []
    for k in range(moved.numel()):
        dR = ca.jacobian(ca.vec(X.R), moved[k]).reshape((3, 3))
        spin = X.R.T @ dR
        columns.append(ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0], X.R.T @ ca.jacobian(X.p, moved[k])))
    S = ca.densify(ca.horzcat(*columns))
    return S if moved is q else ca.densify(ca.substitute(S, moved, q))


def _columns(*columns: ca.SX) -> Callable[[ca.SX], ca.SX]:
    S = ca.densify(ca.horzcat(*columns)) if columns else ca.SX(6, 0)
    return lambda q: S


def _angular(axis: ca.SX) -> ca.SX:
    return ca.vertcat(axis, ca.SX.zeros(3))


def _linear(axis: ca.SX) -> ca.SX:
    return ca.vertcat(ca.SX.zeros(3), axis)


@checked
def fixed() -> Joint:
    """No motion."""
    return Joint("fixed", (), (), (), lambda q: Pose.identity(), _columns())


@checked
def revolute(axis: str | Sequence[float] = "y") -> Joint:
    """Rotation about an axis."""
    a = axis_of(axis)
    return Joint(
        "revolute",
        ("",),
        ("",),
        ("rad",),
        lambda q: Pose.at(rotation=rotation(a, q[0])),
        _columns(_angular(a)),
        arguments={"axis": a},
    )


@checked
def prismatic(axis: str | Sequence[float] = "x") -> Joint:
    """Translation along an axis."""
    a = axis_of(axis)
    return Joint(
        "prismatic",
        ("",),
        ("",),
        ("m",),
        lambda q: Pose.at(a * q[0]),
        _columns(_linear(a)),
        arguments={"axis": a},
    )


@checked
def helical(axis: str | Sequence[float] = "x", pitch: Expression = 0.0) -> Joint:
    """A screw: rotation about an axis and translation along it by `pitch` [m/rad]."""
    a, h = axis_of(axis), sx(pitch)
    return Joint(
        "helical",
        ("",),
        ("",),
        ("rad",),
        lambda q: Pose.at(a * (h * q[0]), rotation(a, q[0])),
        lambda q: ca.vertcat(a, h * a),
        arguments={"axis": a, "pitch": pitch},
    )


@checked
def cylindrical(axis: str | Sequence[float] = "x") -> Joint:
    """Rotation about an axis and free translation along it."""
    a = axis_of(axis)
    return Joint(
        "cylindrical",
        ("angle", "slide"),
        ("angle_rate", "slide_rate"),
        ("rad", "m"),
        lambda q: Pose.at(a * q[1], rotation(a, q[0])),
        _columns(_angular(a), _linear(a)),
        arguments={"axis": a},
    )


@checked
def universal(first: str | Sequence[float] = "x", second: str | Sequence[float] = "y") -> Joint:
    """Two rotations, the second about an axis that the first carries along."""
    a, b = axis_of(first), axis_of(second)
    return Joint(
        "universal",
        ("first", "second"),
        ("first_rate", "second_rate"),
        ("rad", "rad"),
        lambda q: Pose.at(rotation=rotation(a, q[0]) @ rotation(b, q[1])),
        lambda q: ca.horzcat(_angular(rotation(b, q[1]).T @ a), _angular(b)),
        arguments={"first": a, "second": b},
    )


@checked
def planar(normal: str = "y") -> Joint:
    """Motion in a plane: for 'y' the x-z plane of a planar walker, with pitch about y. Velocities are in the
    body's frame."""
    axes = {"x": ("y", "z"), "y": ("x", "z"), "z": ("x", "y")}
    if normal not in axes:
        raise ModelError(f"a planar joint has normal '{normal}': use 'x', 'y' or 'z'")
    (first, second), n = axes[normal], axis_of(normal)
    a, b = axis_of(first), axis_of(second)
    turn = {"x": "roll", "y": "pitch", "z": "yaw"}[normal]

    def pose(q: ca.SX) -> Pose:
        return Pose.at(a * q[0] + b * q[1], rotation(n, q[2]))

    def rate(q: ca.SX, v: ca.SX) -> ca.SX:
        moved = rotation(n, q[2]) @ (a * v[0] + b * v[1])
        return ca.vertcat(a.T @ moved, b.T @ moved, v[2])

    return Joint(
        "planar",
        (first, second, turn),
        (f"v{first}", f"v{second}", f"w{normal}"),
        ("m", "m", "rad"),
        pose,
        _columns(_linear(a), _linear(b), _angular(n)),
        rate,
        arguments={"normal": normal},
    )


@checked
def spherical() -> Joint:
    """A ball joint: q is a quaternion x, y, z, w; v the angular velocity in the child."""
    return Joint(
        "spherical",
        ("qx", "qy", "qz", "qw"),
        ("wx", "wy", "wz"),
        ("", "", "", ""),
        lambda q: Pose.at(rotation=rotation_of_quaternion(q)),
        _columns(*[_angular(axis_of(n)) for n in "xyz"]),
        lambda q, v: _pulled(q, quaternion_rate(q, v)),
        (0.0, 0.0, 0.0, 1.0),
        ("rad/s",) * 3,
    )


@checked
def spherical_euler(order: str = "zyx") -> Joint:
    """A ball joint by three angles, each about an axis the previous ones carry along. Singular where the
    outer axes align; v are the rates of the angles."""
    if (
        len(order) != 3
        or any(name not in "xyz" for name in order)
        or order[0] == order[1]
        or order[1] == order[2]
    ):
        raise ModelError(f"Euler angles in order '{order}': use three of x, y, z, no two neighbours equal")
    names = tuple(f"{name}{k}" for k, name in enumerate(order, 1))
    return Joint(
        "spherical_euler",
        names,
        tuple(f"{n}_rate" for n in names),
        ("rad",) * 3,
        lambda q: Pose.at(rotation=rotation_of_euler([q[0], q[1], q[2]], order)),
        arguments={"order": order},
    )


@checked
def free() -> Joint:
    """No constraint at all: position in the parent, quaternion x, y, z, w; velocities [angular; linear] in
    the body."""

    def rate(q: ca.SX, v: ca.SX) -> ca.SX:
        R = rotation_of_quaternion(q[3:])
        return ca.vertcat(R @ v[3:], _pulled(q[3:], quaternion_rate(q[3:], v[:3])))

    subspace = _columns(*[_angular(axis_of(n)) for n in "xyz"], *[_linear(axis_of(n)) for n in "xyz"])
    return Joint(
        "free",
        ("x", "y", "z", "qx", "qy", "qz", "qw"),
        ("wx", "wy", "wz", "vx", "vy", "vz"),
        ("m",) * 3 + ("",) * 4,
        lambda q: Pose(rotation_of_quaternion(q[3:]), q[:3]),
        subspace,
        rate,
        (0.0,) * 6 + (1.0,),
        ("rad/s",) * 3 + ("m/s",) * 3,
    )


@checked
def gear(leader: str, ratio: Expression = 1.0, offset: Expression = 0.0, of: Joint | None = None) -> Joint:
    """A joint of one coordinate that follows another: q = ratio * q_leader + offset. `of` is its own motion
    (revolute about y unless given)."""
    base = of or revolute()
    if base.nq != 1 or base.nv != 1:
        raise ModelError(f"a gear needs a joint of one coordinate; '{base.kind}' has {base.nq}")
    return Joint(
        f"gear of {base.kind}",
        base.coordinates,
        base.velocities,
        base.units,
        base.pose,
        base.subspace,
        base.rate,
        base.neutral,
        base.rate_units,
        (leader, ratio, offset),
        {"of": base},
    )


@checked
def custom(
    pose: Callable[[ca.SX], Pose],
    coordinates: Sequence[str],
    units: Sequence[str] = (),
    neutral: Sequence[float] = (),
) -> Joint:
    """A joint from its transform alone: `pose(q)` as any differentiable function. Velocities are the rates of
    q."""
    names = tuple(coordinates)
    try:
        probe = pose(ca.SX.sym("q", len(names)))
    except TypeError as error:
        raise ModelError(
            f"the transform of a custom joint cannot be called with its {len(names)} coordinate(s): {error}"
        ) from error
    if not isinstance(probe, Pose):
        raise ModelError(f"the transform of a custom joint returns {type(probe).__name__}: return a Pose")
    suffixes = ("",) if len(names) == 1 and names[0] == "" else tuple(f"{n}_rate" for n in names)
    return Joint("custom", names, suffixes, tuple(units) or ("",) * len(names), pose, neutral=tuple(neutral))


@checked
def mirrored(joint: Joint) -> Joint:
    """The joint seen in a mirror in the x-z plane: equal coordinates, and equal velocities, mean mirrored
    motion.

    Positions and directions reflect, axes of rotation do so as pseudo-vectors: about y stays, about x and z
    turns round. A hip that abducts for positive angles on the left then abducts for positive angles on the
    right.
    """
    if joint.gear:
        leader, ratio, offset = joint.gear
        return gear(leader, ratio, offset, of=mirrored(joint.arguments["of"]))
    if joint.kind == "revolute":
        return revolute(_numbers(-reflect(joint.arguments["axis"])))
    if joint.kind == "prismatic":
        return prismatic(_numbers(reflect(joint.arguments["axis"])))
    if joint.kind == "helical":
        return helical(_numbers(-reflect(joint.arguments["axis"])), -sx(joint.arguments["pitch"]))
    if joint.kind == "universal":
        return universal(*(_numbers(-reflect(joint.arguments[key])) for key in ("first", "second")))
    if joint.kind == "fixed" or (joint.kind == "planar" and joint.arguments["normal"] == "y"):
        return joint
    if joint.kind.startswith("mirrored "):
        return joint.arguments["of"]
    return replace(
        joint,
        kind=f"mirrored {joint.kind}",
        pose=lambda q: reflect_pose(joint.pose(q)),
        subspace=lambda q: reflect_twist(joint.S(q)),
        arguments={"of": joint},
    )


def _numbers(axis: ca.SX) -> tuple[float, ...]:
    return tuple(float(v) + 0.0 for v in ca.vertsplit(ca.DM(axis)))  # + 0.0: no minus zero


def _pulled(q: ca.SX, rate: ca.SX) -> ca.SX:
    """The rate of a quaternion plus a pull towards unit length, along the quaternion: no rotation, no
    drift."""
    return rate + QUATERNION_PULL * (1 - ca.sumsqr(q)) * q


def neutral(joint: Joint) -> np.ndarray:
    return np.array(joint.neutral if joint.neutral else (0.0,) * joint.nq)


__all__ = [
    "Joint",
    "custom",
    "cylindrical",
    "fixed",
    "free",
    "gear",
    "helical",
    "mirrored",
    "planar",
    "prismatic",
    "revolute",
    "spherical",
    "spherical_euler",
    "universal",
]
