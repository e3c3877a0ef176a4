"""Pushes: forces from outside that act at frames, as inputs of whatever system is made of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from strut.mechanism import observe
from strut.mechanism.parts import COM
from strut.mechanism.tree import Tree
from strut.system import Disturbance


@dataclass(frozen=True, eq=False)
class Pushes:
    """The forces from outside of a tree.

    inputs: FRAME_push_x, ... along the world's axes [N]. tau: what they do along the tree's velocities.
    supplied: by FRAME_push, the power [W] that they give. images: the inputs with left and right exchanged.
    """

    inputs: tuple[Disturbance, ...]
    tau: ca.SX
    supplied: dict[str, ca.SX]
    images: dict[str, ca.SX]


def pushes_of(tree: Tree) -> Pushes:
    """Return the pushes at the frames that a mechanism says (`Mechanism.push`): J' F and F' v of each."""
    m = tree.mechanism
    axes = {"x": 0, "z": 2} if m.planar else {"x": 0, "y": 1, "z": 2}
    tau, supplied = ca.SX.zeros(tree.nv), dict[str, ca.SX]()
    inputs: dict[str, Disturbance] = {}
    for frame in m.pushes:
        J = _push_jacobian(tree, frame)
        for axis, k in axes.items():
            push = Disturbance(
                f"{frame}_push_{axis}", 0.0, "N", description=f"force from outside at {frame}, along {axis}"
            )
            inputs[push.name] = push
            tau = tau + J[k, :].T * push.sym
        forces = ca.vertcat(*[inputs[f"{frame}_push_{axis}"].sym for axis in axes])
        supplied[f"{frame}_push"] = ca.dot(forces, (J @ tree.v)[list(axes.values())])
    images = {}
    for frame in m.pushes:
        other = _other_side(frame, m.sides)
        image = other if other in m.pushes else frame
        for axis in axes:
            sign = -1.0 if axis == "y" else 1.0
            images[f"{frame}_push_{axis}"] = sign * inputs[f"{image}_push_{axis}"].sym
    return Pushes(tuple(inputs.values()), tau, supplied, images)


def _push_jacobian(tree: Tree, frame: str) -> ca.SX:
    """Return the Jacobian of the point that is pushed, 3 x nv. The centre of mass is no point of a body: a
    force there is one shared by all bodies in proportion to their masses."""
    m = tree.mechanism
    if frame == COM and frame not in (*m.frames, *m.bodies):
        return observe.com_jacobian(tree)
    return observe.world_jacobian(tree, frame)[3:, :]


def _other_side(name: str, sides: tuple[str, str]) -> str:
    """Return the name on the other side, or the name itself where it has no side."""
    for one, other in (sides, sides[::-1]):
        if name.endswith(one):
            return name.removesuffix(one) + other
    return name


__all__ = ["Pushes", "pushes_of"]
