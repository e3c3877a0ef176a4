"""Reactions of joints of machines that stand on the ground, as outputs."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.errors import ModelError
from strut.mechanism.assemble import Assembly
from strut.mechanism.reactions import reaction_outputs


def show_reactions(
    assembly: Assembly, names: Sequence[str], standing: Sequence[str], acceleration: ca.SX, force: ca.SX
) -> None:
    """Make reactions of joints outputs of an assembly.

    names: of the joints. standing: bodies that the ground pushes. acceleration: of all velocities. force: of
    the closed loops. Raises ModelError where such a body is beyond a joint, whose force would be missing.
    """
    tree = assembly.tree
    for name in names:
        for body in standing:
            at = tree.place.get(body, -1)
            while at >= 0 and tree.nodes[at].connection.name != name:
                at = tree.nodes[at].parent
            if at >= 0:
                raise ModelError(
                    f"the reaction of joint '{name}' is asked for, and '{body}', which stands on the "
                    f"ground, hangs on it: reactions are told of joints that carry no foot"
                )
    outputs = reaction_outputs(tree, names, acceleration, assembly.closure, force) if names else {}
    for name, push in outputs.items():
        assembly.show("N m" if name.rpartition("_")[2].startswith("m") else "N", {name: push})


__all__ = ["show_reactions"]
