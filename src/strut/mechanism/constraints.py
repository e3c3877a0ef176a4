"""Constraints between bodies: loops, gears, prescribed motion, rolling.

A constraint is a list of rows K(q) v = k0(t) and, where it comes from a closure, the closure's error phi(q,
t). Rows that say the same thing twice are found when the mechanism is assembled and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.parts import Constraint, ConstraintArgument, ConstraintKind, ConstraintRows
from strut.mechanism.spatial import Pose, axis_of, cross, skew
from strut.mechanism.tree import Tree
from strut.system import Expression, sx, time

MIN_AXIS_SINE = 1e-9
"""[1] Sine of the angle between an axis and y below which they count as parallel."""


@checked
def point(name: str, a: str, b: str = "world") -> Constraint:
    """Close a loop by a ball: the origins of two frames coincide; with 'world', the frame stays where the
    world frame's origin is."""

    def rows(tree: Tree) -> ConstraintRows:
        phi = _position(tree, a) - _position(tree, b)
        K = _jacobian(tree, a)[3:, :] - _jacobian(tree, b)[3:, :]
        return ConstraintRows(
            ("x", "y", "z"),
            phi,
            K,
            ca.SX.zeros(3),
            _opposite_pushes(a, b, ca.vertcat(ca.SX.zeros(3, 3), ca.SX.eye(3))),
        )

    return Constraint(name, rows, "point", {"a": a, "b": b})


@checked
def hinge(name: str, a: str, b: str, axis: str | Sequence[float] = "y") -> Constraint:
    """Close a loop by a hinge: the origins of two frames coincide, and `axis`, given in both, is common."""
    n = axis_of(axis, f"the axis of constraint '{name}'")

    def rows(tree: Tree) -> ConstraintRows:
        met = point(name, a, b).rows(tree)
        Ra, Rb = _rotation(tree, a), _rotation(tree, b)
        first, second = _perpendicular(n)
        wa, wb = _jacobian(tree, a)[:3, :], _jacobian(tree, b)[:3, :]
        phis, rates, moments = [], [], []
        for across in (first, second):
            u, w = Rb @ across, Ra @ n
            phis.append(ca.dot(u, w))
            moments.append(cross(w, u))
            rates.append(moments[-1].T @ (wa - wb))  # d/dt (u . w)
        pushed = ca.horzcat(met.pushes[0][1], ca.vertcat(ca.horzcat(*moments), ca.SX.zeros(3, 2)))
        K = ca.vertcat(met.K, *rates)
        return ConstraintRows(
            (*met.labels, "tilt1", "tilt2"),
            ca.vertcat(met.phi, *phis),
            K,
            ca.SX.zeros(5),
            _opposite_pushes(a, b, pushed),
        )

    return Constraint(name, rows, "hinge", {"a": a, "b": b, "axis": axis})


@checked
def weld(name: str, a: str, b: str = "world") -> Constraint:
    """Close a loop rigidly: two frames coincide."""

    def rows(tree: Tree) -> ConstraintRows:
        met = point(name, a, b).rows(tree)
        Ra, Rb = _rotation(tree, a), _rotation(tree, b)
        turned = Rb.T @ Ra
        error = (
            ca.vertcat(turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1])
            / 2
        )
        K = Rb.T @ (_jacobian(tree, a)[:3, :] - _jacobian(tree, b)[:3, :])
        pushed = ca.horzcat(met.pushes[0][1], ca.vertcat(Rb, ca.SX.zeros(3, 3)))
        labels = (*met.labels, "rx", "ry", "rz")
        return ConstraintRows(
            labels,
            ca.vertcat(met.phi, error),
            ca.vertcat(met.K, K),
            ca.SX.zeros(6),
            _opposite_pushes(a, b, pushed),
        )

    return Constraint(name, rows, "weld", {"a": a, "b": b})


@checked
def coupled(
    name: str, first: str, second: str, ratio: Expression = 1.0, offset: Expression = 0.0
) -> Constraint:
    """Couple two joints of one coordinate, as gear wheels do: q_second = ratio q_first + offset [rad or
    m]."""

    def rows(tree: Tree) -> ConstraintRows:
        for joint in (first, second):
            if joint not in tree.q_of or tree.q_of[joint].stop - tree.q_of[joint].start != 1:
                raise ModelError(
                    f"constraint '{name}' couples '{joint}', which is no joint of one coordinate"
                )
        phi = tree.q[tree.q_of[second]] - sx(ratio) * tree.q[tree.q_of[first]] - sx(offset)
        K = ca.SX.zeros(1, tree.nv)
        K[0, tree.v_of[second].start] = 1
        K[0, tree.v_of[first].start] = -sx(ratio)
        return ConstraintRows(("torque",), phi, K, ca.SX.zeros(1))

    return Constraint(
        name, rows, "coupled", {"first": first, "second": second, "ratio": ratio, "offset": offset}
    )


@checked
def prescribed(name: str, joint: str, motion: Expression) -> Constraint:
    """Make a joint of one coordinate follow `motion` [rad or m], an expression of `strut.time` and
    parameters."""

    def rows(tree: Tree) -> ConstraintRows:
        if joint not in tree.q_of or tree.q_of[joint].stop - tree.q_of[joint].start != 1:
            raise ModelError(f"constraint '{name}' moves '{joint}', which is no joint of one coordinate")
        path = sx(motion)
        K = ca.SX.zeros(1, tree.nv)
        K[0, tree.v_of[joint].start] = 1
        return ConstraintRows(("torque",), tree.q[tree.q_of[joint]] - path, K, ca.jacobian(path, time))

    return Constraint(name, rows, "prescribed", {"joint": joint, "motion": motion})


@checked
def slot(name: str, a: str, b: str, axis: str | Sequence[float] = "z") -> Constraint:
    """Keep the origin of frame a on a line through the origin of frame b, along an axis that is fixed in b: a
    pin in a slot, a cuff on a limb. It pushes across the axis alone; turning and sliding are free.

    Forces are NAME_across, along the cross product of y and the axis, which in a plane is the only one, and
    NAME_beside [N]."""
    along = axis_of(axis, f"the axis of slot '{name}'")
    first = cross(ca.SX([0, 1, 0]), along)
    length = ca.norm_2(first)
    across = first / length if float(ca.DM(length)) > MIN_AXIS_SINE else ca.SX([1, 0, 0])
    directions = ca.horzcat(across, cross(along, across))

    def rows(tree: Tree) -> ConstraintRows:
        lever = _position(tree, a) - _position(tree, b)
        turned = _rotation(tree, b) @ directions
        Ja, Jb = _jacobian(tree, a), _jacobian(tree, b)
        # seen from b, a moves by its velocity less that of the point of b that is there
        K = turned.T @ (Ja[3:, :] - Jb[3:, :] + skew(lever) @ Jb[:3, :])
        on_a = ca.vertcat(ca.SX.zeros(3, 2), turned)
        on_b = ca.vertcat(-skew(lever) @ turned, -turned)
        return ConstraintRows(
            ("across", "beside"), turned.T @ lever, K, ca.SX.zeros(2), ((a, on_a), (b, on_b))
        )

    return Constraint(name, rows, "slot", {"a": a, "b": b, "axis": axis})


@checked
def no_slip(name: str, frame: str, direction: str | Sequence[float]) -> Constraint:
    """Keep a frame's origin from moving along a direction fixed in the frame: a skate, a wheel seen from
    above. The constraint is nonholonomic."""
    n = axis_of(direction, f"the direction of constraint '{name}'")

    def rows(tree: Tree) -> ConstraintRows:
        pushed = ca.vertcat(ca.SX.zeros(3), observe.pose(tree, frame).R @ n)
        return ConstraintRows(
            ("side",),
            ca.SX(0, 1),
            n.T @ observe.jacobian(tree, frame)[3:, :],
            ca.SX.zeros(1),
            ((frame, pushed),),
        )

    return Constraint(name, rows, "no_slip", {"frame": frame, "direction": direction})


@checked
def rolling(name: str, frame: str, axis: str | Sequence[float], radius: Expression) -> Constraint:
    """Let a thin wheel of `radius` [m] roll on the ground z = 0 without slipping: the frame is at its centre,
    `axis` its axle in the body."""
    n = axis_of(axis, f"the axle of constraint '{name}'")

    def rows(tree: Tree) -> ConstraintRows:
        X, J = observe.pose(tree, frame), observe.world_jacobian(tree, frame)
        axle, up = X.R @ n, ca.SX([0, 0, 1])
        across = up - ca.dot(up, axle) * axle
        r = -sx(radius) * across / ca.norm_2(across)  # from the centre to the lowest point
        K = J[3:, :] - skew(r) @ J[:3, :]  # its velocity as a point of the wheel
        height = X.p[2] + r[2]
        return ConstraintRows(
            ("x", "y", "z"),
            ca.vertcat(0, 0, height),
            K,
            ca.SX.zeros(3),
            ((frame, ca.vertcat(skew(r), ca.SX.eye(3))),),
        )

    return Constraint(name, rows, "rolling", {"frame": frame, "axis": axis, "radius": radius})


@checked
def general(name: str, rows: Callable[[Tree], Any]) -> Constraint:
    """Make a closure of your own: `rows(tree)` returns the error phi as an expression of tree.q; its rate is
    derived."""

    def rows_of_error(tree: Tree) -> ConstraintRows:
        phi = sx(rows(tree))
        constant_v = ca.SX.sym("v", tree.nv)
        along = ca.substitute([ca.jtimes(phi, tree.q, tree.qdot)], [tree.v], [constant_v])[0]
        K = ca.jacobian(along, constant_v)
        return ConstraintRows(
            tuple(f"row{k}" for k in range(phi.numel())), phi, ca.densify(K), -ca.jacobian(phi, time)
        )

    return Constraint(name, rows_of_error)


KINDS: dict[str, ConstraintKind] = {
    "point": ConstraintKind(point, {"a": ConstraintArgument.FRAME, "b": ConstraintArgument.FRAME}),
    "hinge": ConstraintKind(
        hinge,
        {"a": ConstraintArgument.FRAME, "b": ConstraintArgument.FRAME, "axis": ConstraintArgument.AXIS},
    ),
    "weld": ConstraintKind(weld, {"a": ConstraintArgument.FRAME, "b": ConstraintArgument.FRAME}),
    "coupled": ConstraintKind(
        coupled,
        {
            "first": ConstraintArgument.JOINT,
            "second": ConstraintArgument.JOINT,
            "ratio": ConstraintArgument.NUMBER,
            "offset": ConstraintArgument.NUMBER,
        },
    ),
    "prescribed": ConstraintKind(
        prescribed, {"joint": ConstraintArgument.JOINT, "motion": ConstraintArgument.MOTION}
    ),
    "slot": ConstraintKind(
        slot,
        {"a": ConstraintArgument.FRAME, "b": ConstraintArgument.FRAME, "axis": ConstraintArgument.AXIS},
    ),
    "no_slip": ConstraintKind(
        no_slip, {"frame": ConstraintArgument.FRAME, "direction": ConstraintArgument.AXIS}
    ),
    "rolling": ConstraintKind(
        rolling,
        {
            "frame": ConstraintArgument.FRAME,
            "axis": ConstraintArgument.AXIS,
            "radius": ConstraintArgument.NUMBER,
        },
    ),
}
"""Every kind of constraint that a model file can say, by the word it says."""


def _opposite_pushes(a: str, b: str, pushed: ca.SX) -> tuple[tuple[str, ca.SX], ...]:
    """What acts on `a` acts with the other sign on `b`."""
    return (a, pushed), (b, -pushed)


def _pose(tree: Tree, frame: str) -> Pose:
    """The pose of a frame in the world; 'world' is the world's own."""
    return Pose.identity() if frame == "world" else observe.pose(tree, frame)


def _position(tree: Tree, frame: str) -> ca.SX:
    """The position of a frame in the world [m]."""
    return _pose(tree, frame).p


def _rotation(tree: Tree, frame: str) -> ca.SX:
    """The rotation of a frame against the world."""
    return _pose(tree, frame).R


def _jacobian(tree: Tree, frame: str) -> ca.SX:
    """6 x nv: the twist of a frame along the world's axes; zero for what does not move."""
    if frame == "world" or observe.frame_of(tree, frame).body.name == "world":
        return ca.SX.zeros(6, tree.nv)
    return observe.world_jacobian(tree, frame)


def _perpendicular(n: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two unit vectors that complete a constant axis."""
    a = np.array(ca.DM(n)).reshape(-1)
    helper = np.eye(3)[int(np.argmin(np.abs(a)))]
    first = np.cross(a, helper)
    first /= np.linalg.norm(first)
    return ca.SX(first), ca.SX(np.cross(a, first))
