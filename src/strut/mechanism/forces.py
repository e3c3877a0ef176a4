"""Forces of a mechanism that belong to no single joint, or that joints do not have: springs along a length,
dry friction, weights taken off.

A force is what it does along the velocities, what it stores and what it dissipates, as expressions of a tree;
`Mechanism.force` adds one, and every system and function made of the mechanism has it.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.parts import Effect, Force
from strut.mechanism.spatial import log_so3
from strut.mechanism.tree import Tree
from strut.system import Expression, sx

FRICTION_SPEED = 1e-2
"""[rad/s or m/s] at which dry friction has reached 0.76 of its value, tanh(1): below, it gives way like a
damper."""


Length = Callable[[Tree], ca.SX]
"""A length, or a sum of coordinates, as an expression of a tree's q."""


def line(
    name: str,
    length: Length,
    stiffness: Expression = 0.0,
    rest: tuple[Expression, Expression] = (0.0, 0.0),
    *,
    damping: Expression = 0.0,
    friction: Expression = 0.0,
) -> Force:
    """A spring [N/m] and damper [N s/m] along a length: the spring is slack between both numbers of `rest`
    [m], and pulls or pushes outside; `friction` [N] is dry. For a sum of angles read N m and rad."""

    def effect(tree: Tree) -> Effect:
        l = length(tree)  # noqa: E741 a length, as in the books
        J = rate_matrix(tree, l)
        rate = J @ tree.v
        stretch = ca.fmax(l - sx(rest[1]), 0) + ca.fmin(l - sx(rest[0]), 0)
        loss = sx(damping) * rate + sx(friction) * ca.tanh(rate / FRICTION_SPEED)
        return Effect(-(J.T @ (sx(stiffness) * stretch + loss)), sx(stiffness) * stretch**2 / 2, loss * rate)

    return Force(name, effect)


def dry_friction(name: str, joint: str, level: Expression) -> Force:
    """Coulomb's friction [N m or N] in a joint, against each of its velocities, smooth about zero: `level`
    times tanh(v / `FRICTION_SPEED`)."""

    def effect(tree: Tree) -> Effect:
        where = _velocities(tree, name, joint)
        v = tree.v[where]
        push = sx(level) * ca.tanh(v / FRICTION_SPEED)
        tau = ca.SX.zeros(tree.nv)
        tau[where] = -push
        return Effect(tau, ca.SX(0), ca.dot(push, v))

    return Force(name, effect)


def ball_spring(name: str, joint: str, stiffness: Expression) -> Force:
    """A spring [N m/rad] in a ball joint, against the angle by which it is turned from its neutral position,
    below half a turn."""

    def effect(tree: Tree) -> Effect:
        where = _velocities(tree, name, joint)
        node = next(n for n in tree.nodes if n.connection.name == joint)
        if node.connection.joint.kind != "spherical":
            raise ModelError(
                f"force '{name}' is the spring of a ball joint, and joint '{joint}' is "
                f"{node.connection.joint.kind}"
            )
        turned = log_so3(node.connection.joint.pose(node.q).R)
        tau = ca.SX.zeros(tree.nv)
        tau[where] = -sx(stiffness) * turned
        return Effect(tau, sx(stiffness) * ca.sumsqr(turned) / 2, ca.SX(0))

    return Force(name, effect)


def support(name: str, body: str, share: Expression = 1.0, pull: tuple[float, float] = (0.0, 0.0)) -> Force:
    """Take `share` of a body's weight off, at its centre of mass; `pull` is what of gravity is along x and y
    [m/s^2]."""

    def effect(tree: Tree) -> Effect:
        m = tree.mechanism
        if body not in m.bodies or body == "world":
            raise UnknownNameError(
                f"force '{name}' holds body '{body}': "
                f"{did_you_mean(body, [b for b in m.bodies if b != 'world'])}"
            )
        carried = m.bodies[body]
        at = tree.poses[tree.place[body]].point(carried.com)
        work = m.gravity * at[2] - pull[0] * at[0] - pull[1] * at[1]
        carries = sx(share) * carried.mass
        return Effect(carries * rate_matrix(tree, work).T, -carries * work, ca.SX(0))

    return Force(name, effect)


def sideways_gravity(name: str, pull: tuple[float, float]) -> Force:
    """Gravity along x and y [m/s^2], beside that of the mechanism, which is along -z."""

    def effect(tree: Tree) -> Effect:
        centre, total = observe.com(tree), observe.mass(tree)
        along = centre[0] * pull[0] + centre[1] * pull[1]
        return Effect(total * rate_matrix(tree, along).T, -total * along, ca.SX(0))

    return Force(name, effect)


def rate_matrix(tree: Tree, length: ca.SX) -> ca.SX:
    """The row by which velocities change a length: its rate is this times v."""
    constant_v = ca.SX.sym("v", tree.nv)
    along = ca.substitute([ca.jtimes(length, tree.q, tree.qdot)], [tree.v], [constant_v])[0]
    return ca.densify(ca.jacobian(along, constant_v))


def distance(a: str, b: str) -> Length:
    """The length between the origins of two frames [m]."""

    def length(tree: Tree) -> ca.SX:
        square = ca.sumsqr(observe.position(tree, a) - observe.position(tree, b))
        return ca.sqrt(ca.fmax(square, 1e-24))  # of two that coincide the rate is zero, and not undefined

    return length


def _velocities(tree: Tree, name: str, joint: str) -> list[int]:
    """The places of a joint's velocities in v; an error names the force."""
    if joint not in tree.v_of:
        raise UnknownNameError(
            f"force '{name}' acts in joint '{joint}': {did_you_mean(joint, list(tree.v_of))}"
        )
    return list(range(tree.v_of[joint].start, tree.v_of[joint].stop))
