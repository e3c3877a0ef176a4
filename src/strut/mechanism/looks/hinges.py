"""Where the joints of a mechanism are, to be marked in pictures. Those that only carry a floating base about
are none."""

from __future__ import annotations

import casadi as ca

from strut.mechanism import observe
from strut.mechanism.parts import Body
from strut.mechanism.spatial import Pose, axis_of
from strut.mechanism.tree import Tree, TreeNode
from strut.system import Hinge


def hinges_of(tree: Tree) -> tuple[Hinge, ...]:
    """List where joints, and closures of loops by points and hinges, are: expressions of the tree's q."""
    m, carriers = tree.mechanism, _base_carriers(tree)
    hinges: list[Hinge] = []
    for node, X in zip(tree.nodes, tree.poses, strict=True):
        c = node.connection
        kind, axis = _kind(node)
        if not kind or c.parent.name in carriers or c.child.name in carriers:
            continue
        parent = Pose.identity() if node.parent < 0 else tree.poses[node.parent]
        at = X.p if kind == "prismatic" else (parent @ c.X_PJ).p  # what slides carries its sleeve along
        hinges.append(Hinge(c.name, kind, at, X.R @ axis))
    for closure in m.constraints.values():
        if closure.kind == "point":
            kind, axis = ("revolute", ca.SX([0, 1, 0])) if m.planar else ("ball", ca.SX.zeros(3))
        elif closure.kind == "hinge":
            kind, axis = (
                "revolute",
                observe.pose(tree, closure.arguments["a"]).R @ axis_of(closure.arguments["axis"]),
            )
        else:
            continue
        hinges.append(Hinge(closure.name, kind, observe.position(tree, closure.arguments["a"]), axis))
    return tuple(hinges)


def _kind(node: TreeNode) -> tuple[str, ca.SX]:
    """How a joint is marked, and its axis in the child's frame; nothing for one that does not move, or moves
    in all ways."""
    angular, linear = node.S[:3, :], node.S[3:, :]
    turns, slides = not angular.is_zero(), not linear.is_zero()
    marked = 0 if node.S.shape[1] == 1 else node.connection.joint.marked_velocity
    if marked is not None:
        column = angular[:, marked] if turns else linear[:, marked]
        return "revolute" if turns else "prismatic", column / ca.fmax(ca.norm_2(column), 1e-12)
    return ("ball" if turns and not slides else ""), ca.SX.zeros(3)


def _base_carriers(tree: Tree) -> set[str]:
    """Bodies without mass or shape between the world and a floating base that slides: they are no part of the
    machine."""
    m = tree.mechanism
    carriers: set[str] = set()
    for node in tree.nodes:
        c = node.connection
        slides = not node.S[3:, :].is_zero()
        from_world = c.parent is m.world and slides
        if _empty(tree, c.child) and (from_world or c.parent.name in carriers):
            carriers.add(c.child.name)
    return carriers


def _empty(tree: Tree, body: Body) -> bool:
    """Whether a body has neither mass nor shape."""
    return bool(ca.simplify(body.mass).is_zero()) and not tree.mechanism.shapes.get(body.name)
