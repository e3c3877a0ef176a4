"""Reactions: the forces and moments that go through joints, as outputs of a system."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.errors import UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.tree import Tree


def reaction_outputs(
    tree: Tree, names: Sequence[str], acceleration: ca.SX, closure: ConstraintRows | None, force: ca.SX
) -> dict[str, ca.SX]:
    """Forces and moments that go through joints, as outputs by name. Rows of constraints that repeat others
    carry nothing: of equal supports one takes it all."""
    external: dict[str, ca.SX] = {}
    for frame, pushes in closure.pushes if closure else ():
        if frame == "world":
            continue
        at = observe.frame_of(tree, frame)
        R, push = observe.pose(tree, frame).R, pushes @ force
        wrench = at.X_BF.wrench(ca.vertcat(R.T @ push[:3], R.T @ push[3:]))
        if at.body.name != "world":
            external[at.body.name] = external.get(at.body.name, ca.SX.zeros(6)) + wrench
    wrenches = dict(
        zip((n.connection.name for n in tree.nodes), tree.joint_wrenches(acceleration, external), strict=True)
    )
    forces, moments = (
        ({"x": 0, "z": 2}, {"my": 1})
        if tree.mechanism.planar
        else ({"x": 0, "y": 1, "z": 2}, {"mx": 0, "my": 1, "mz": 2})
    )
    outputs: dict[str, ca.SX] = {}
    for name in names:
        if name not in wrenches:
            raise UnknownNameError(
                f"mechanism '{tree.mechanism.name}' has no joint '{name}': "
                f"{did_you_mean(name, list(wrenches))}"
            )
        R = tree.poses[tree.place[tree.mechanism.connections[name].child.name]].R
        moment, push = R @ wrenches[name][:3], R @ wrenches[name][3:]
        outputs |= {f"{name}_reaction_{axis}": push[k] for axis, k in forces.items()}
        outputs |= {f"{name}_reaction_{axis}": moment[k] for axis, k in moments.items()}
    return outputs


__all__ = ["reaction_outputs"]
