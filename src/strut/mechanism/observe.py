"""What can be asked of a tree: frames, Jacobians and their rates, centre of mass, momentum, energies."""

from __future__ import annotations

from functools import reduce

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism.parts import Frame
from strut.mechanism.spatial import Pose, cross
from strut.mechanism.tree import Tree, TreeNode


@checked
def frame_of(tree: Tree, name: str) -> Frame:
    """A frame by name; a body's name means its own frame."""
    m = tree.mechanism
    if name in m.frames:
        return m.frames[name]
    if name in m.bodies and name != "world":
        return Frame(name, m.bodies[name], Pose.identity())
    raise UnknownNameError(
        f"mechanism '{m.name}' has no frame or body '{name}': {did_you_mean(name, [*m.frames, *m.bodies])}"
    )


@checked
def pose(tree: Tree, name: str) -> Pose:
    """The pose X_WF of a frame or body in the world."""
    frame = frame_of(tree, name)
    at = tree.place[frame.body.name]
    return frame.X_BF if at < 0 else tree.poses[at] @ frame.X_BF


@checked
def position(tree: Tree, name: str) -> ca.SX:
    """The position of a frame's origin in the world [m]."""
    return pose(tree, name).p


@checked
def twist(tree: Tree, name: str) -> ca.SX:
    """The twist of a frame relative to the world, in the frame itself [rad/s; m/s]."""
    frame = frame_of(tree, name)
    at = tree.place[frame.body.name]
    return ca.SX.zeros(6) if at < 0 else frame.X_BF.twist_inward(tree.twists[at])


@checked
def velocity(tree: Tree, name: str) -> ca.SX:
    """The velocity of a frame's origin in the world [m/s]."""
    return pose(tree, name).R @ twist(tree, name)[3:]


@checked
def path(tree: Tree, body: str) -> list[TreeNode]:
    """The nodes from the body to the world."""
    if body not in tree.place:
        raise UnknownNameError(f"there is no body '{body}': {did_you_mean(body, list(tree.place))}")
    nodes, at = [], tree.place[body]
    while at >= 0:
        nodes.append(tree.nodes[at])
        at = tree.nodes[at].parent
    return nodes


@checked
def jacobian(tree: Tree, name: str) -> ca.SX:
    """The body Jacobian, 6 x nv: the frame's twist in its own frame is `jacobian @ v`."""
    frame = frame_of(tree, name)
    columns = [ca.SX.zeros(6)] * tree.nv
    X = frame.X_BF  # of the frame in the body under way
    for node in path(tree, frame.body.name):
        S = X.twist_inward(node.S)
        for k, column in enumerate(node.columns):
            columns[column] = columns[column] + S[:, k]
        X = node.X @ X
    return ca.horzcat(*columns) if columns else ca.SX(6, 0)


@checked
def world_jacobian(tree: Tree, name: str) -> ca.SX:
    """The Jacobian of a frame, 6 x nv: angular velocity and velocity of its origin, along the world's
    axes."""
    J, R = jacobian(tree, name), pose(tree, name).R
    return ca.vertcat(R @ J[:3, :], R @ J[3:, :])


@checked
def jacobian_rate(tree: Tree, J: ca.SX) -> ca.SX:
    """J'(q, v) v, for any Jacobian of this tree."""
    constant_v = ca.SX.sym("held", tree.nv)
    along = ca.jtimes(J @ constant_v, tree.q, tree.qdot)
    return ca.densify(ca.substitute([along], [constant_v], [tree.v])[0])


@checked
def moving_nodes(tree: Tree) -> list[int]:
    """The nodes that can move: all but those whose joints, down to the world, are fixed."""
    free: list[int] = []
    for k, node in enumerate(tree.nodes):
        if node.columns or node.parent in free:
            free.append(k)
    return free


@checked
def mass(tree: Tree) -> ca.SX:
    """The mass of everything that moves [kg]: bodies welded to the world do not count."""
    return reduce(lambda total, k: total + tree.nodes[k].inertia.mass, moving_nodes(tree), ca.SX(0))


@checked
def com(tree: Tree) -> ca.SX:
    """The centre of mass, in the world, of everything that moves [m]."""
    if not moving_nodes(tree):
        raise ModelError(
            f"mechanism '{tree.mechanism.name}' has no centre of mass: none of its bodies can move"
        )
    moment = ca.SX.zeros(3)
    for k in moving_nodes(tree):
        X, inertia = tree.poses[k], tree.nodes[k].inertia
        moment = moment + inertia.mass * X.p + X.R @ inertia.h
    return moment / mass(tree)


@checked
def com_jacobian(tree: Tree) -> ca.SX:
    """The Jacobian of the centre of mass, 3 x nv: its velocity is `com_jacobian @ v`."""
    return momentum_matrix(tree)[3:, :] / mass(tree)


@checked
def momentum_matrix(tree: Tree) -> ca.SX:
    """The centroidal momentum matrix, 6 x nv: angular momentum about the centre of mass of what moves, and
    linear momentum, along the world's axes."""
    columns = [ca.SX.zeros(6)] * tree.nv
    for node, X, composite in zip(tree.nodes, tree.poses, tree.composites, strict=True):
        if node.columns:
            carried = X.wrench(composite.times(node.S))
            for k, column in enumerate(node.columns):
                columns[column] = columns[column] + carried[:, k]
    total = ca.horzcat(*columns)
    centre = com(tree)
    shift = ca.horzcat(*[cross(centre, total[3:, k]) for k in range(tree.nv)])
    return ca.vertcat(total[:3, :] - shift, total[3:, :])


@checked
def momentum(tree: Tree) -> ca.SX:
    """The centroidal momentum [N m s; N s], along the world's axes."""
    total = ca.SX.zeros(6)
    for node, X, V in zip(tree.nodes, tree.poses, tree.twists, strict=True):
        total = total + X.wrench(node.inertia.times(V))
    return ca.vertcat(total[:3] - cross(com(tree), total[3:]), total[3:])


@checked
def kinetic(tree: Tree) -> ca.SX:
    """Kinetic energy [J], motors' armatures included."""
    total = ca.SX(0)
    for node, V in zip(tree.nodes, tree.twists, strict=True):
        total = total + ca.dot(V, node.inertia.times(V)) / 2
    for column, armature in tree._armatures():
        total = total + armature * tree.v[column] ** 2 / 2
    return total


@checked
def potential(tree: Tree) -> ca.SX:
    """Energy in gravity [J] of everything that moves, zero where its centre of mass is at the height of the
    world's origin."""
    if not moving_nodes(tree):
        return ca.SX(0)
    return mass(tree) * tree.mechanism.gravity * com(tree)[2]
