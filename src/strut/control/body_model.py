"""`BodyModel`: what a whole-body controller knows of a mechanism, as expressions of the states it senses."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import Mechanism, Tree, joint_states, observe, passive_forces
from strut.system import Input, Param, State, known_symbol, own_value


@checked
class BodyModel:
    """Dynamics and kinematics of a mechanism, in the symbols of `sensors`, the states of its joints.

    M a + h = S tau + sum of J' f, where a are the accelerations of the velocities, h has gravity, Coriolis
    and passive forces of joints, S picks the actuated rows, J' is a Jacobian transposed, and f are forces at
    contacts. A controller's model may differ from the plant: its parameters are the controller's own
    (`QpController.using`).
    """

    def __init__(self, mechanism: Mechanism) -> None:
        if mechanism.constraints:
            raise ModelError(
                f"mechanism '{mechanism.name}' has closed loops, {', '.join(mechanism.constraints)}: "
                f"whole-body control takes trees of bodies; cut the loops, and give forces between bodies"
            )
        self.mechanism, self.tree = mechanism, Tree(mechanism)
        if not self.tree.nv:
            raise ModelError(f"mechanism '{mechanism.name}' cannot move: there is nothing to control")
        self.positions, self.velocities, inputs = joint_states(self.tree)
        self.inputs: dict[int, Input] = inputs
        self.q = ca.vertcat(*[s.sym for s in self.positions])
        self.v = ca.vertcat(*[s.sym for s in self.velocities])

    @property
    def sensors(self) -> tuple[State, ...]:
        """The states that it is made of: coordinates, then velocities."""
        return (*self.positions, *self.velocities)

    @property
    def nv(self) -> int:
        """How many velocities there are."""
        return self.tree.nv

    @property
    def axes(self) -> tuple[int, ...]:
        """The world's axes along which it moves: x and z in a plane, x, y and z in space."""
        return (0, 2) if self.mechanism.planar else (0, 1, 2)

    @property
    def spin_axes(self) -> tuple[int, ...]:
        """The world's axes about which it turns: y in a plane."""
        return (1,) if self.mechanism.planar else (0, 1, 2)

    def in_states(self, expression: ca.SX) -> ca.SX:
        """An expression of the tree's symbols, in those of the states."""
        tree = self.tree
        return ca.densify(ca.substitute([expression], [tree.q, tree.v], [self.q, self.v])[0])

    def at(self, expression: ca.SX, q: Any = None, v: Any = None) -> np.ndarray:
        """An expression of this model as numbers, with its parameters' own values. q, v: coordinates and
        velocities; those that the mechanism begins with without any given."""
        first = [
            np.concatenate([np.asarray(s.value, float).reshape(-1) for s in group])
            for group in (self.positions, self.velocities)
        ]
        values = [own if asked is None else asked for own, asked in zip(first, (q, v), strict=True)]
        symbols = [s for s in ca.symvar(ca.vec(expression)) if isinstance(known_symbol(s), Param)]
        f = ca.Function("at", [self.q, self.v, ca.vertcat(*symbols, ca.SX(0, 1))], [expression])
        numbers = own_value(ca.vertcat(*symbols)) if symbols else np.zeros(0)
        return np.array(f(*values, numbers)).squeeze()

    @cached_property
    def M(self) -> ca.SX:
        """The mass matrix."""
        return self.in_states(self.tree.mass_matrix)

    @cached_property
    def h(self) -> ca.SX:
        """The generalised forces that there are without acceleration [N m or N]: Coriolis and gravity, less
        those of springs, dampers and stops (bias forces)."""
        return self.in_states(self.tree.bias - passive_forces(self.tree))

    @cached_property
    def mass(self) -> ca.SX:
        """The mass of everything that moves [kg]."""
        return self.in_states(observe.mass(self.tree))

    def position(self, frame: str) -> ca.SX:
        """Where a frame is in the world, x, y, z [m]."""
        return self.in_states(observe.position(self.tree, frame))

    def velocity(self, frame: str) -> ca.SX:
        """How fast a frame's origin moves, x, y, z [m/s]."""
        return self.in_states(observe.velocity(self.tree, frame))

    def rotation(self, frame: str) -> ca.SX:
        """The rotation matrix of a frame in the world."""
        return self.in_states(observe.pose(self.tree, frame).R)

    def jacobian(self, frame: str) -> tuple[ca.SX, ca.SX]:
        """The Jacobian of a frame, 6 x nv (angular, then linear velocity along the world's axes), and its
        rate times the velocities [rad/s^2, then m/s^2]."""
        J = observe.world_jacobian(self.tree, frame)
        return self.in_states(J), self.in_states(observe.jacobian_rate(self.tree, J))

    @cached_property
    def com(self) -> ca.SX:
        """Where the centre of mass is, x, y, z [m]."""
        return self.in_states(observe.com(self.tree))

    @cached_property
    def com_rate(self) -> ca.SX:
        """How fast the centre of mass moves, x, y, z [m/s]."""
        return self.momentum[3:] / self.mass

    @cached_property
    def momentum_matrix(self) -> tuple[ca.SX, ca.SX]:
        """The centroidal momentum matrix A, 6 x nv (angular, then linear), and dA/dt v [N m, then N]."""
        A = observe.momentum_matrix(self.tree)
        return self.in_states(A), self.in_states(observe.jacobian_rate(self.tree, A))

    @cached_property
    def momentum(self) -> ca.SX:
        """The centroidal momentum: angular [N m s], then linear [N s]."""
        return self.momentum_matrix[0] @ self.v

    def velocity_place(self, joint: str) -> int:
        """The place of a joint's velocity among all. Raises UnknownNameError for what is no joint of one
        coordinate."""
        single = [name for name, where in self.tree.v_of.items() if where.stop - where.start == 1]
        if joint not in single:
            raise UnknownNameError(
                f"'{joint}' is no joint of one coordinate of '{self.mechanism.name}': "
                f"{did_you_mean(joint, single)}"
            )
        return int(self.tree.v_of[joint].start)

    def coordinate(self, joint: str) -> ca.SX:
        """The coordinate of a joint [rad or m]."""
        self.velocity_place(joint)
        return self.q[self.tree.q_of[joint].start]

    def rate(self, joint: str) -> ca.SX:
        """The velocity of a joint [rad/s or m/s]."""
        return self.v[self.velocity_place(joint)]
