"""The tree of a mechanism, and the recursions over it: kinematics, inverse dynamics, mass matrix, forward
dynamics.

Body twists and wrenches are expressed in the bodies' own frames, where inertias are constant. Recursions
after Featherstone; a gear is a joint whose columns belong to another joint's velocity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism.check import normal_of_plane
from strut.mechanism.inertia import Inertia, symmetric
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Connection
from strut.mechanism.spatial import Pose, bracket, cross, skew
from strut.system import Factors, sx


@dataclass(frozen=True, eq=False)
class TreeNode:
    """A body and the joint that carries it. `columns` are the independent velocities its joint moves with."""

    connection: Connection
    parent: int  # -1: the world
    q: ca.SX  # of its joint
    v: ca.SX
    columns: tuple[int, ...]
    X: Pose  # of the body in its parent
    S: ca.SX  # 6 x len(columns), in the body's frame
    S_rate: ca.SX
    inertia: Inertia

    @property
    def name(self) -> str:
        """The name of the body."""
        return self.connection.child.name


class Tree:
    """Symbols q and v of a mechanism, and expressions of them. Everything is built on demand and once."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        order = _order_outward(mechanism)
        independent = [c for c in order if not c.joint.gear]
        self.q = ca.vertcat(*[ca.SX.sym(c.name, c.joint.nq) for c in independent if c.joint.nq], ca.SX(0, 1))
        self.v = ca.vertcat(
            *[ca.SX.sym(f"{c.name}_rate", c.joint.nv) for c in independent if c.joint.nv], ca.SX(0, 1)
        )
        self.q_of: dict[str, slice] = {}
        self.v_of: dict[str, slice] = {}
        at_q = at_v = 0
        for c in independent:
            self.q_of[c.name], self.v_of[c.name] = (
                slice(at_q, at_q + c.joint.nq),
                slice(at_v, at_v + c.joint.nv),
            )
            at_q, at_v = at_q + c.joint.nq, at_v + c.joint.nv
        self.nodes: list[TreeNode] = []
        place = {"world": -1}
        normals = {"world": np.array([0.0, 1.0, 0.0])}
        for c in order:
            if mechanism.planar:
                normals[c.child.name] = normal_of_plane(c, normals[c.parent.name])
            self.nodes.append(self._node(c, place[c.parent.name]))
            place[c.child.name] = len(self.nodes) - 1
        self.place = place
        self.has_gears = any(c.joint.gear for c in order)

    @property
    def nq(self) -> int:
        """How many coordinates there are."""
        return int(self.q.numel())

    @property
    def nv(self) -> int:
        """How many velocities there are."""
        return int(self.v.numel())

    def _node(self, c: Connection, parent: int) -> TreeNode:
        """The node of a connection: its joint's expressions in the tree's symbols."""
        factor = ca.SX(1)
        if c.joint.gear:
            leader, ratio, offset = c.joint.gear
            if leader not in self.q_of or self.q_of[leader].stop - self.q_of[leader].start != 1:
                raise ModelError(
                    f"joint '{c.name}' follows '{leader}', which is no joint of one coordinate before it: "
                    f"{did_you_mean(leader, list(self.q_of))}"
                )
            factor = sx(ratio)
            q, v = factor * self.q[self.q_of[leader]] + sx(offset), factor * self.v[self.v_of[leader]]
            columns = tuple(range(self.v_of[leader].start, self.v_of[leader].stop))
        else:
            q, v = _part(self.q, self.q_of[c.name]), _part(self.v, self.v_of[c.name])
            columns = tuple(range(self.v_of[c.name].start, self.v_of[c.name].stop))
        formal_q, formal_v = ca.SX.sym("q", c.joint.nq), ca.SX.sym("v", c.joint.nv)
        X, S = c.joint.pose(formal_q), c.joint.S(formal_q)
        expressions = ca.substitute(
            [X.R, X.p, S, c.joint.S_rate(formal_q, formal_v)], [formal_q, formal_v], [q, v]
        )
        R, p, S, S_rate = expressions
        return TreeNode(
            c,
            parent,
            q,
            v,
            columns,
            c.X_PJ @ Pose(R, p),
            factor * S if c.joint.gear else S,
            S_rate,
            c.child.inertia,
        )

    # ---- kinematics ----

    @cached_property
    def poses(self) -> list[Pose]:
        """The pose X_WB of every body in the world."""
        poses: list[Pose] = []
        for node in self.nodes:
            poses.append(node.X if node.parent < 0 else poses[node.parent] @ node.X)
        return poses

    @cached_property
    def twists(self) -> list[ca.SX]:
        """The twist of every body relative to the world, in its own frame."""
        twists: list[ca.SX] = []
        for node in self.nodes:
            own = node.S @ self._v(node)
            twists.append(own if node.parent < 0 else node.X.twist_inward(twists[node.parent]) + own)
        return twists

    def _v(self, node: TreeNode) -> ca.SX:
        """The independent velocities of a node's joint."""
        return self.v[list(node.columns)] if node.columns else ca.SX(0, 1)

    @cached_property
    def qdot(self) -> ca.SX:
        """The rates of the coordinates, B(q) v."""
        return ca.vertcat(
            *[
                n.connection.joint.qdot(n.q, n.v)
                for n in self.nodes
                if not n.connection.joint.gear and n.connection.joint.nq
            ],
            ca.SX(0, 1),
        )

    # ---- dynamics ----

    def inverse(
        self, acceleration: ca.SX, external: Mapping[str, ca.SX] | None = None, gravity: bool = True
    ) -> ca.SX:
        """Generalised forces for given accelerations, by the recursive Newton-Euler algorithm. `external` are
        wrenches on bodies by name, in the body's frame."""
        tau = [ca.SX(0)] * self.nv
        for node, wrench in zip(
            self.nodes, self.joint_wrenches(acceleration, external, gravity), strict=True
        ):
            if node.columns:
                along = node.S.T @ wrench
                for row, column in enumerate(node.columns):
                    tau[column] = tau[column] + along[row]
        for column, armature in self._armatures():
            tau[column] = tau[column] + armature * acceleration[column]
        return ca.vertcat(*tau, ca.SX(0, 1))

    def joint_wrenches(
        self, acceleration: ca.SX, external: Mapping[str, ca.SX] | None = None, gravity: bool = True
    ) -> list[ca.SX]:
        """What every body gets from its parent through the joint: wrenches in the body's frame, about its
        origin.

        In classical form, without linear velocities: all of a body's points at r accelerate by a + U r, where
        a is the acceleration of its origin and U collects angular acceleration and velocity.
        """
        wrenches = self._external(external)
        base = ca.vertcat(0, 0, self.mechanism.gravity if gravity else 0)
        spins: list[ca.SX] = []
        turns: list[ca.SX] = []  # U of every body
        origins: list[ca.SX] = []
        angulars: list[ca.SX] = []
        forces: list[ca.SX] = []
        moments: list[ca.SX] = []
        for k, node in enumerate(self.nodes):
            R = node.X.R.T
            own, push = (
                node.S @ self._v(node),
                node.S @ (acceleration[list(node.columns)] if node.columns else ca.SX(0, 1)),
            )
            push = push + node.S_rate
            w, u = own[:3], own[3:]
            if node.parent < 0:
                carried, angular, origin = ca.SX.zeros(3), push[:3], R @ base + push[3:]
            else:
                carried = R @ spins[node.parent]
                angular = R @ angulars[node.parent] + push[:3] + cross(carried, w)
                origin = R @ (origins[node.parent] + turns[node.parent] @ node.X.p) + push[3:]
            spins.append(carried + w)
            angulars.append(angular)
            origins.append(origin + cross(spins[k] + carried, u))
            turns.append(_acceleration_matrix(spins[k], angular))
            applied = wrenches.get(k, ca.SX.zeros(6))
            force, moment = node.inertia.newton_euler(origins[k], turns[k])
            forces.append(force - applied[3:])
            moments.append(moment - applied[:3])
        for k in reversed(range(len(self.nodes))):
            node = self.nodes[k]
            if node.parent >= 0:
                force = node.X.R @ forces[k]
                forces[node.parent] = forces[node.parent] + force
                moments[node.parent] = moments[node.parent] + node.X.R @ moments[k] + cross(node.X.p, force)
        return [ca.vertcat(moment, force) for moment, force in zip(moments, forces, strict=True)]

    def _external(self, external: Mapping[str, ca.SX] | None) -> dict[int, ca.SX]:
        """Wrenches on bodies by the place of their nodes."""
        for name in external or {}:
            if name not in self.place:
                raise UnknownNameError(
                    f"there is no body '{name}' to push: {did_you_mean(name, list(self.place))}"
                )
        return {self.place[name]: sx(wrench) for name, wrench in (external or {}).items()}

    def _armatures(self) -> list[tuple[int, ca.SX]]:
        """Armatures by the velocity that they slow down."""
        return [
            (column, n.connection.armature)
            for n in self.nodes
            if n.connection.armature is not None
            for column in n.columns
        ]

    @cached_property
    def bias(self) -> ca.SX:
        """Coriolis, centrifugal and gravity forces: what inverse dynamics gives for no acceleration."""
        return self.inverse(ca.SX.zeros(self.nv))

    @cached_property
    def composites(self) -> list[Inertia]:
        """The inertia of every body together with all it carries, in the body's frame."""
        composites = [node.inertia for node in self.nodes]
        for k in reversed(range(len(self.nodes))):
            node = self.nodes[k]
            if node.parent >= 0:
                composites[node.parent] = composites[node.parent] + composites[k].seen_from(node.X)
        return composites

    @cached_property
    def mass_matrix(self) -> ca.SX:
        """The mass matrix M(q), by the composite rigid body algorithm."""
        composite = self.composites
        M = [[ca.SX(0)] * self.nv for _ in range(self.nv)]
        for k in reversed(range(len(self.nodes))):
            node = self.nodes[k]
            if not node.columns:
                continue
            force = composite[k].times(node.S)
            _add(M, node.columns, node.columns, node.S.T @ force)
            at, here = node.parent, node
            while at >= 0:
                force = here.X.wrench(force)
                here = self.nodes[at]
                if here.columns:
                    block = here.S.T @ force
                    _add(M, here.columns, node.columns, block)
                    _add(M, node.columns, here.columns, block.T)
                at = here.parent
        for column, armature in self._armatures():
            M[column][column] = M[column][column] + armature
        return ca.vertcat(*[ca.horzcat(*row) for row in M]) if self.nv else ca.SX(0, 0)

    @cached_property
    def factors(self) -> Factors:
        """The LTDL factors of the mass matrix."""
        return Factors(self.mass_matrix)

    def forward(self, tau: ca.SX, external: Mapping[str, ca.SX] | None = None) -> ca.SX:
        """Accelerations under generalised forces: by articulated bodies, or by the factors of the mass matrix
        where that is shorter or gears demand it."""
        if self.has_gears or self.nv <= 8:
            return self.factors.solve(tau - self.inverse(ca.SX.zeros(self.nv), external))
        return self.articulated_body_algorithm(tau, external)

    def articulated_body_algorithm(self, tau: ca.SX, external: Mapping[str, ca.SX] | None = None) -> ca.SX:
        """Accelerations under generalised forces by Featherstone's articulated-body algorithm: one sweep out,
        one in, one out."""
        if self.has_gears:
            raise ModelError("the articulated-body recursion cannot follow gears: use forward()")
        wrenches = self._external(external)
        inertias = [node.inertia.matrix() for node in self.nodes]
        turning, biases = [], []
        for k, node in enumerate(self.nodes):
            own = node.S @ self._v(node)
            turning.append(
                node.S_rate + (bracket(self.twists[k], own) if node.parent >= 0 else ca.SX.zeros(6))
            )
            biases.append(_gyroscopic(node.inertia, self.twists[k]) - wrenches.get(k, ca.SX.zeros(6)))
        stages: dict[int, tuple[ca.SX, Factors, ca.SX]] = {}
        armature = dict(self._armatures())
        for k in reversed(range(len(self.nodes))):
            node = self.nodes[k]
            passed, force = inertias[k], biases[k]
            if node.columns:
                U = inertias[k] @ node.S
                D = node.S.T @ U + ca.diag(ca.vertcat(*[armature.get(c, ca.SX(0)) for c in node.columns]))
                rest = tau[list(node.columns)] - node.S.T @ biases[k]
                factors = Factors(D)
                both = factors.solve(ca.horzcat(U.T, rest))
                gain, push = both[:, :6], both[:, 6]
                stages[k] = (U, factors, rest)
                passed = symmetric(inertias[k] - U @ gain)
                force = biases[k] + passed @ turning[k] + U @ push
            else:
                force = biases[k] + passed @ turning[k]
            if node.parent >= 0:
                inertias[node.parent] = inertias[node.parent] + _move_inertia_outward(passed, node.X)
                biases[node.parent] = biases[node.parent] + node.X.wrench(force)
        rates: list[ca.SX] = []
        result = [ca.SX(0)] * self.nv
        base = ca.vertcat(ca.SX.zeros(5), self.mechanism.gravity)
        for k, node in enumerate(self.nodes):
            rate = node.X.twist_inward(base if node.parent < 0 else rates[node.parent]) + turning[k]
            if node.columns:
                U, factors, rest = stages[k]
                own = factors.solve(rest - U.T @ rate)
                for column, value in zip(node.columns, ca.vertsplit(own), strict=True):
                    result[column] = value
                rate = rate + node.S @ own
            rates.append(rate)
        return ca.vertcat(*result, ca.SX(0, 1))


def _part(vector: ca.SX, where: slice) -> ca.SX:
    """A slice that stays a column even when it is empty."""
    return vector[where] if where.stop > where.start else ca.SX(0, 1)


def _acceleration_matrix(spin: ca.SX, angular: ca.SX) -> ca.SX:
    """The matrix U = [angular]x + [spin]x [spin]x: a body's points at r accelerate by a + U r."""
    wx, wy, wz = spin[0], spin[1], spin[2]
    xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
    return ca.vertcat(
        ca.horzcat(-(yy + zz), xy - angular[2], xz + angular[1]),
        ca.horzcat(xy + angular[2], -(xx + zz), yz - angular[0]),
        ca.horzcat(xz - angular[1], yz + angular[0], -(xx + yy)),
    )


def _gyroscopic(inertia: Inertia, twist: ca.SX) -> ca.SX:
    """The wrench that keeps a twist: the cross product of a twist with its momentum."""
    momentum = inertia.times(twist)
    omega, v = twist[:3], twist[3:]
    return ca.vertcat(cross(omega, momentum[:3]) + cross(v, momentum[3:]), cross(omega, momentum[3:]))


def _move_inertia_outward(inertia: ca.SX, X: Pose) -> ca.SX:
    """A symmetric 6 x 6 inertia, seen from the outer frame of `X`."""
    p, R = skew(X.p), X.R
    linear = symmetric(R @ inertia[3:, 3:] @ R.T)
    mixed = R @ inertia[:3, 3:] @ R.T
    moved = mixed + p @ linear
    angular = symmetric(R @ inertia[:3, :3] @ R.T + p @ mixed.T - moved @ p)
    return ca.vertcat(ca.horzcat(angular, moved), ca.horzcat(moved.T, linear))


def _add(M: list[list[ca.SX]], rows: tuple[int, ...], columns: tuple[int, ...], block: ca.SX) -> None:
    """Add a block to rows and columns of M."""
    for i, r in enumerate(rows):
        for j, c in enumerate(columns):
            M[r][c] = M[r][c] + block[i, j]


def _order_outward(mechanism: Mechanism) -> list[Connection]:
    """Sort connections from the world outwards; raise ModelError where a body is not reached."""
    order: list[Connection] = []
    reached = {"world"}
    waiting = list(mechanism.connections.values())
    while waiting:
        ready = [c for c in waiting if c.parent.name in reached]
        if not ready:
            names = ", ".join(f"'{c.child.name}'" for c in waiting)
            raise ModelError(
                f"mechanism '{mechanism.name}': bodies {names} hang on one another but not on the world: "
                "join one of them to mechanism.world"
            )
        order += ready
        reached |= {c.child.name for c in ready}
        waiting = [c for c in waiting if c not in ready]
    for name in mechanism.bodies:
        if name not in reached:
            raise ModelError(
                f"body '{name}' of mechanism '{mechanism.name}' is joined to nothing: give it a joint, "
                f"joints.free() if it is to fly"
            )
    return order
