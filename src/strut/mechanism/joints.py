"""Joints: the functions that make them, and `KINDS`, which registers every kind for files and mirror images.

A joint is its pose X(q), and how velocities v relate: the child's twist relative to the parent, expressed in
the child, is S(q) v, and q' = B(q) v. Everything else (S, its rate, B) follows, and may be given where a
closed form is shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism.joint import Joint, JointArgument, JointKind
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

QUATERNION_PULL = 1.0
"""[1/s] Rate at which a quaternion's length returns to 1. It changes no rotation, only the length."""


def _columns(*columns: ca.SX) -> Callable[[ca.SX], ca.SX]:
    """A motion subspace that is the same for all q."""
    S = ca.densify(ca.horzcat(*columns)) if columns else ca.SX(6, 0)
    return lambda q: S


def _angular(axis: ca.SX) -> ca.SX:
    """The twist of turning about an axis."""
    return ca.vertcat(axis, ca.SX.zeros(3))


def _linear(axis: ca.SX) -> ca.SX:
    """The twist of sliding along an axis."""
    return ca.vertcat(ca.SX.zeros(3), axis)


@checked
def fixed() -> Joint:
    """No motion: the child is welded to its parent.."""
    return Joint(
        kind="fixed",
        coordinates=(),
        velocities=(),
        units=(),
        pose=lambda q: Pose.identity(),
        subspace=_columns(),
    )


@checked
def revolute(axis: str | Sequence[float] = "y") -> Joint:
    """Rotation about an axis."""
    a = axis_of(axis)
    return Joint(
        kind="revolute",
        coordinates=("",),
        velocities=("",),
        units=("rad",),
        pose=lambda q: Pose.at(rotation=rotation(a, q[0])),
        subspace=_columns(_angular(a)),
        arguments={"axis": a},
    )


@checked
def prismatic(axis: str | Sequence[float] = "x") -> Joint:
    """Translation along an axis."""
    a = axis_of(axis)
    return Joint(
        kind="prismatic",
        coordinates=("",),
        velocities=("",),
        units=("m",),
        pose=lambda q: Pose.at(a * q[0]),
        subspace=_columns(_linear(a)),
        arguments={"axis": a},
    )


@checked
def helical(axis: str | Sequence[float] = "x", pitch: Expression = 0.0) -> Joint:
    """A screw: rotation about an axis and translation along it by `pitch` [m/rad]."""
    a, h = axis_of(axis), sx(pitch)
    return Joint(
        kind="helical",
        coordinates=("",),
        velocities=("",),
        units=("rad",),
        pose=lambda q: Pose.at(a * (h * q[0]), rotation(a, q[0])),
        subspace=lambda q: ca.vertcat(a, h * a),
        arguments={"axis": a, "pitch": pitch},
    )


@checked
def cylindrical(axis: str | Sequence[float] = "x") -> Joint:
    """Rotation about an axis and free translation along it."""
    a = axis_of(axis)
    return Joint(
        kind="cylindrical",
        coordinates=("angle", "slide"),
        velocities=("angle_rate", "slide_rate"),
        units=("rad", "m"),
        pose=lambda q: Pose.at(a * q[1], rotation(a, q[0])),
        subspace=_columns(_angular(a), _linear(a)),
        arguments={"axis": a},
        marked_velocity=0,
    )


@checked
def universal(first: str | Sequence[float] = "x", second: str | Sequence[float] = "y") -> Joint:
    """Two rotations, the second about an axis that the first carries along."""
    a, b = axis_of(first), axis_of(second)
    return Joint(
        kind="universal",
        coordinates=("first", "second"),
        velocities=("first_rate", "second_rate"),
        units=("rad", "rad"),
        pose=lambda q: Pose.at(rotation=rotation(a, q[0]) @ rotation(b, q[1])),
        subspace=lambda q: ca.horzcat(_angular(rotation(b, q[1]).T @ a), _angular(b)),
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
        kind="planar",
        coordinates=(first, second, turn),
        velocities=(f"v{first}", f"v{second}", f"w{normal}"),
        units=("m", "m", "rad"),
        pose=pose,
        subspace=_columns(_linear(a), _linear(b), _angular(n)),
        rate=rate,
        arguments={"normal": normal},
    )


@checked
def spherical() -> Joint:
    """A ball joint: q is a quaternion x, y, z, w; v the angular velocity in the child."""
    return Joint(
        kind="spherical",
        coordinates=("qx", "qy", "qz", "qw"),
        velocities=("wx", "wy", "wz"),
        units=("", "", "", ""),
        pose=lambda q: Pose.at(rotation=rotation_of_quaternion(q)),
        subspace=_columns(*[_angular(axis_of(n)) for n in "xyz"]),
        rate=lambda q, v: _with_length_correction(q, quaternion_rate(q, v)),
        neutral=(0.0, 0.0, 0.0, 1.0),
        rate_units=("rad/s",) * 3,
        quaternion=True,
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
        kind="spherical_euler",
        coordinates=names,
        velocities=tuple(f"{n}_rate" for n in names),
        units=("rad",) * 3,
        pose=lambda q: Pose.at(rotation=rotation_of_euler([q[0], q[1], q[2]], order)),
        arguments={"order": order},
    )


@checked
def free() -> Joint:
    """No constraint at all: position in the parent, quaternion x, y, z, w; velocities [angular; linear] in
    the body."""

    def rate(q: ca.SX, v: ca.SX) -> ca.SX:
        R = rotation_of_quaternion(q[3:])
        return ca.vertcat(R @ v[3:], _with_length_correction(q[3:], quaternion_rate(q[3:], v[:3])))

    subspace = _columns(*[_angular(axis_of(n)) for n in "xyz"], *[_linear(axis_of(n)) for n in "xyz"])
    return Joint(
        kind="free",
        coordinates=("x", "y", "z", "qx", "qy", "qz", "qw"),
        velocities=("wx", "wy", "wz", "vx", "vy", "vz"),
        units=("m",) * 3 + ("",) * 4,
        pose=lambda q: Pose(rotation_of_quaternion(q[3:]), q[:3]),
        subspace=subspace,
        rate=rate,
        neutral=(0.0,) * 6 + (1.0,),
        rate_units=("rad/s",) * 3 + ("m/s",) * 3,
        quaternion=True,
        floating=True,
    )


@checked
def gear(leader: str, ratio: Expression = 1.0, offset: Expression = 0.0, of: Joint | None = None) -> Joint:
    """A joint of one coordinate that follows another: q = ratio * q_leader + offset. `of` is its own motion
    (revolute about y unless given)."""
    base = of or revolute()
    if base.nq != 1 or base.nv != 1:
        raise ModelError(f"a gear needs a joint of one coordinate; '{base.kind}' has {base.nq}")
    return replace(base, kind=f"gear of {base.kind}", gear=(leader, ratio, offset), arguments={"of": base})


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
    return Joint(
        kind="custom",
        coordinates=names,
        velocities=suffixes,
        units=tuple(units) or ("",) * len(names),
        pose=pose,
        neutral=tuple(neutral),
    )


def _mirror_argument(role: JointArgument, value: Any) -> Any:
    """An argument of a joint, as its mirror image has it."""
    if role is JointArgument.ROTATION_AXIS:
        return _numbers(-reflect(value))
    if role is JointArgument.DIRECTION:
        return _numbers(reflect(value))
    return -sx(value) if role is JointArgument.HANDED_NUMBER else value


def _numbers(axis: ca.SX) -> tuple[float, ...]:
    """A constant axis as a tuple."""
    return tuple(float(v) + 0.0 for v in ca.vertsplit(ca.DM(axis)))  # + 0.0: no minus zero


@checked
def mirror_image(joint: Joint) -> Joint:
    """The joint seen in a mirror in the x-z plane: equal coordinates, and equal velocities, mean mirrored
    motion.

    Positions and directions reflect, axes of rotation do so as pseudo-vectors: about y stays, about x and z
    turns round. A hip that abducts for positive angles on the left then abducts for positive angles on the
    right.
    """
    if joint.gear:
        leader, ratio, offset = joint.gear
        return gear(leader, ratio, offset, of=mirror_image(joint.arguments["of"]))
    if joint.kind == "planar" and joint.arguments["normal"] == "y":
        return joint  # it moves in the mirror itself
    kind = KINDS.get(joint.kind)
    if kind is not None and kind.mirrors_by_arguments:
        images = {key: _mirror_argument(role, joint.arguments[key]) for key, role in kind.arguments.items()}
        return kind.make(**images)
    if joint.kind.startswith("mirrored "):
        original: Joint = joint.arguments["of"]
        return original
    return replace(
        joint,
        kind=f"mirrored {joint.kind}",
        pose=lambda q: reflect_pose(joint.pose(q)),
        subspace=lambda q: reflect_twist(joint.S(q)),
        arguments={"of": joint},
    )


def _with_length_correction(q: ca.SX, rate: ca.SX) -> ca.SX:
    """Add to the rate of a quaternion a pull towards unit length (Baumgarte stabilisation), along the
    quaternion: no rotation, no drift."""
    return rate + QUATERNION_PULL * (1 - ca.sumsqr(q)) * q


def neutral(joint: Joint) -> np.ndarray:
    """The coordinates that mean "not moved"."""
    return np.array(joint.neutral if joint.neutral else (0.0,) * joint.nq)


KINDS: dict[str, JointKind] = {
    "fixed": JointKind(fixed, mirrors_by_arguments=True),
    "free": JointKind(free),
    "spherical": JointKind(spherical),
    "revolute": JointKind(revolute, {"axis": JointArgument.ROTATION_AXIS}, mirrors_by_arguments=True),
    "prismatic": JointKind(prismatic, {"axis": JointArgument.DIRECTION}, mirrors_by_arguments=True),
    "cylindrical": JointKind(cylindrical, {"axis": JointArgument.ROTATION_AXIS}),
    "helical": JointKind(
        helical,
        {"axis": JointArgument.ROTATION_AXIS, "pitch": JointArgument.HANDED_NUMBER},
        mirrors_by_arguments=True,
    ),
    "universal": JointKind(
        universal,
        {"first": JointArgument.ROTATION_AXIS, "second": JointArgument.ROTATION_AXIS},
        mirrors_by_arguments=True,
    ),
    "planar": JointKind(planar, {"normal": JointArgument.WORD}),
    "spherical_euler": JointKind(spherical_euler, {"order": JointArgument.WORD}),
    "gear": JointKind(
        gear,
        {
            "leader": JointArgument.WORD,
            "ratio": JointArgument.NUMBER,
            "offset": JointArgument.NUMBER,
            "of": JointArgument.JOINT,
        },
    ),
}
"""Every kind of joint that a model file can say, by the word it says; pictures need no entry."""


__all__ = [
    "KINDS",
    "Joint",
    "custom",
    "cylindrical",
    "fixed",
    "free",
    "gear",
    "helical",
    "mirror_image",
    "planar",
    "prismatic",
    "revolute",
    "spherical",
    "spherical_euler",
    "universal",
]
