"""`LegInverse`: inverse kinematics of a machine on two legs of six joints: joint angles, and where its base
is, for given feet, centre of mass and attitude of the base. By Newton's method on exact derivatives, for all
moments at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from strut.checks import checked, finite
from strut.control.motion_player import spline_rates
from strut.control.row_function import RowFunction
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.mechanism import Mechanism, Tree, joint_states, observe
from strut.system import own_value

MAX_RESIDUAL = 1e-10
"""[m, rad] Largest error of feet, centre of mass and base in what is returned."""
MAX_ITERATIONS = 40
"""Newton steps, at most."""
MAX_TURN = 0.4
"""[rad, m] By which no coordinate changes more in a Newton step, so that knees stay bent the way they are."""
LEG_JOINTS = 6
"""Velocities of a leg, and of the base: as many as a foot can be told."""


@checked
@dataclass(frozen=True, eq=False)
class LegInverse:
    """Inverse kinematics of legs.

    mechanism: in space. base: the body that carries the legs, moved by six coordinates. feet: a frame on each
        sole, right and left: its origin where the foot is on the ground, x forward, y left and z up when the
        foot stands. posture: joint angles by name [rad], from which the search begins, with bent knees; other
        joints than those of the legs keep them. Others keep what the mechanism begins with.
    """

    mechanism: Mechanism
    base: str
    feet: tuple[str, str]
    posture: Mapping[str, float] = field(default_factory=dict)
    legs: tuple[tuple[str, ...], tuple[str, ...]] = field(init=False)
    begin: np.ndarray = field(init=False, repr=False)
    tree: Tree = field(init=False, repr=False)
    columns: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.mechanism.planar or self.mechanism.constraints:
            trouble = "is planar" if self.mechanism.planar else "has closed loops"
            raise ModelError(
                f"mechanism '{self.mechanism.name}' {trouble}: "
                f"legs of six joints are of a tree of bodies in space"
            )
        tree = Tree(self.mechanism)
        object.__setattr__(self, "tree", tree)
        base_joints = observe.path(tree, self.base)
        _require_six(f"base '{self.base}'", "the world", [n.connection.name for n in base_joints], tree)
        inside = {node.name for node in base_joints}
        legs, columns = [], [c for node in base_joints for c in node.columns]
        for foot in self.feet:
            nodes = [
                n for n in observe.path(tree, observe.frame_of(tree, foot).body.name) if n.name not in inside
            ]
            _require_six(f"foot '{foot}'", f"base '{self.base}'", [n.connection.name for n in nodes], tree)
            legs.append(tuple(n.connection.name for n in reversed(nodes) if n.columns))
            columns += [c for node in nodes for c in node.columns]
        if len(set(columns)) < len(columns):
            raise ModelError(
                f"feet '{self.feet[0]}' and '{self.feet[1]}' share joints: each needs its own leg"
            )
        object.__setattr__(self, "legs", tuple(legs))
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "begin", self._posture_coordinates())

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints of both legs, right and left, from hip to foot."""
        return self.legs[0] + self.legs[1]

    def solve(
        self, feet: np.ndarray, com: np.ndarray, pitch: float, near: np.ndarray | None = None
    ) -> np.ndarray:
        """Return coordinates at several moments, a row each.

        feet: places of right and left, moments x 2 x 3 [m]. com: of the centre of mass, moments x 3 [m].
        pitch: how far the base leans forward [rad]. near: coordinates from which the search begins, a row for
        each moment, in the place of the posture. Raises ValueRangeError where a leg cannot reach.
        """
        count = len(com)
        targets = _targets(feet, com, pitch)
        q = np.repeat(self.begin[None], count, axis=0) if near is None else near.copy()
        residual = np.full(count, np.inf)
        busy = np.arange(count)
        for _ in range(MAX_ITERATIONS):
            errors, slopes = self._evaluate(q[busy], targets[busy])
            residual[busy] = np.abs(errors).max(axis=1)
            still = ~(residual[busy] <= MAX_RESIDUAL)
            busy, errors, slopes = busy[still], errors[still], slopes[still]
            if not len(busy):
                return q
            # least squares by a hair of damping: a straight leg has no inverse, and must not stop the others
            damped = np.swapaxes(slopes, 1, 2) @ slopes + NEWTON_DAMPING * np.eye(slopes.shape[2])
            steps = -np.linalg.solve(damped, np.swapaxes(slopes, 1, 2) @ errors[..., None])[..., 0]
            largest = np.abs(steps).max(axis=1, keepdims=True)
            steps *= np.minimum(1.0, MAX_TURN / np.maximum(largest, 1e-300))
            q[busy] = self._move(q[busy], steps)[0]
        worst = int(np.argmax(residual))
        raise ValueRangeError(
            f"the legs of '{self.mechanism.name}' do not reach: at moment {worst + 1} of {count} feet, "
            f"centre of mass and base miss by {residual[worst]:.3g} (m or rad), with feet at "
            f"{np.round(feet[worst], 3).tolist()} m and the centre of mass at "
            f"{np.round(com[worst], 3).tolist()} m; "
            f"lower the centre of mass, take shorter steps, or begin from a posture with bent knees"
        )

    def errors(self, q: np.ndarray, feet: np.ndarray, com: np.ndarray, pitch: float) -> np.ndarray:
        """Return how far coordinates, a row each, are from what `solve` is asked for, the largest of each
        moment [m, rad]."""
        targets = _targets(feet, com, pitch)
        return np.asarray(np.abs(self._evaluate(q, targets)[0]).max(axis=1))

    def coordinates(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Return columns of coordinates by the names of their states."""
        return {state.name: q[:, k] for k, state in enumerate(joint_states(self.tree)[0])}

    def zmp(self, q: np.ndarray, every: float, g: float) -> np.ndarray:
        """Return the ZMP of a motion, x and y on the ground at height 0 [m].

        q: coordinates, a row every so many seconds [s], from rest to rest; rates are those of splines through
        them. g: [m/s^2]. Of all bodies, with how their angular momentum changes, and not of their centre of
        mass alone.
        """
        com, spin, mass = self._momentum(q, spline_rates(q, every))
        turning = spline_rates(spin, every)
        rate = spline_rates(com, every)
        acceleration = spline_rates(rate, every)
        weight = mass * (g + acceleration[:, 2:])
        force = mass * acceleration[:, :2]
        arm = np.column_stack([turning[:, 1], -turning[:, 0]])
        return np.asarray(com[:, :2] - (com[:, 2:] * force + arm) / weight)

    def _evaluate(self, q: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return errors of many moments, a row each, and their slopes along the velocities that are solved
        for."""
        errors, slopes = self._errors(q, targets)
        width = len(self.columns)
        # columns come first, as CasADi has them
        return errors, slopes.reshape(len(q), width, errors.shape[1]).transpose(0, 2, 1)

    def _posture_coordinates(self) -> np.ndarray:
        """Return the coordinates of the posture."""
        states = joint_states(self.tree)[0]
        names = [state.name for state in states]
        for name in self.posture:
            if name not in names:
                raise UnknownNameError(f"the posture has no joint '{name}': {did_you_mean(name, names)}")
        return np.array(
            [
                finite(f"'{s.name}' of the posture", self.posture.get(s.name, float(np.ravel(s.value)[0])))
                for s in states
            ]
        )

    @cached_property
    def _move(self) -> RowFunction:
        """Coordinates moved along velocities, as a function of both."""
        tree, step = self.tree, ca.SX.sym("step", len(self.columns))
        moved = tree.q + ca.jacobian(tree.qdot, tree.v)[:, list(self.columns)] @ step
        return RowFunction(ca.Function("moved", [tree.q, step], _with_own_values([moved])))

    @cached_property
    def _errors(self) -> RowFunction:
        """Errors and their slopes as a function of coordinates and targets."""
        tree = self.tree
        targets = ca.SX.sym("targets", 10)
        pitch = targets[9]
        lean = ca.vertcat(
            ca.horzcat(ca.cos(pitch), 0, ca.sin(pitch)),
            ca.horzcat(0, 1, 0),
            ca.horzcat(-ca.sin(pitch), 0, ca.cos(pitch)),
        )
        rows = []
        for k, foot in enumerate(self.feet):
            at = observe.pose(tree, foot)
            rows += [at.p - targets[3 * k : 3 * k + 3], _rotation_error(at.R)]
        rows += [observe.com(tree) - targets[6:9], _rotation_error(lean.T @ observe.pose(tree, self.base).R)]
        errors = ca.vertcat(*rows)
        rates = ca.jacobian(tree.qdot, tree.v)[:, list(self.columns)]
        slopes = ca.jacobian(errors, tree.q) @ rates
        return RowFunction(
            ca.Function("inverse_kinematics", [tree.q, targets], _with_own_values([errors, slopes]))
        )

    @cached_property
    def _momentum(self) -> RowFunction:
        """Centre of mass, angular momentum about it and mass, of coordinates and their rates."""
        tree = self.tree
        rates = ca.SX.sym("rates", tree.nq)
        # the velocities that make these rates: of quaternions, least squares, which are exact where rates are
        # those of unit quaternions
        B = ca.jacobian(tree.qdot, tree.v)
        v = ca.solve(B.T @ B, B.T @ rates)
        spin = (observe.momentum_matrix(tree) @ v)[:3]
        results = [observe.com(tree), spin, observe.mass(tree)]
        return RowFunction(ca.Function("momentum", [tree.q, rates], _with_own_values(results)))


def _targets(feet: np.ndarray, com: np.ndarray, pitch: float) -> np.ndarray:
    """Return what is asked for as rows: places of both feet, centre of mass, pitch."""
    count = len(com)
    return np.column_stack([feet.reshape(count, 6), com, np.full(count, finite("pitch", pitch, "rad"))])


NEWTON_DAMPING = 1e-14
"""[1] Of the least-squares Newton steps (Levenberg), absolute: far below what bent legs have."""


def _with_own_values(expressions: list[ca.SX]) -> list[ca.SX]:
    """Return dense expressions with the values that parameters have by themselves."""
    dense = [ca.densify(e) for e in expressions]
    own = {s: own_value(s) for s in ca.symvar(ca.vertcat(*[ca.vec(e) for e in dense]))}
    numbers = {s: value.item() for s, value in own.items() if value is not None}
    if not numbers:
        return dense
    values = ca.SX(list(numbers.values()))
    return [ca.densify(e) for e in ca.substitute(dense, [ca.vertcat(*numbers)], [values])]


def _rotation_error(R: ca.SX) -> ca.SX:
    """The rotation that a matrix makes, as its axis times the sine of its angle: for small angles that is the
    angle [rad]. Half a turn counts as none."""
    return ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2


def _require_six(what: str, carrier: str, names: list[str], tree: Tree) -> None:
    """Raise ModelError where something is not carried by six velocities."""
    count = sum(tree.v_of[n].stop - tree.v_of[n].start for n in names if n in tree.v_of)
    if count != LEG_JOINTS:
        moving = [n for n in names if n in tree.v_of and tree.v_of[n].stop > tree.v_of[n].start]
        raise ModelError(
            f"{what} of '{tree.mechanism.name}' is carried from {carrier} by {count} velocities "
            f"({', '.join(moving) or 'no joint'}): six are needed"
        )


__all__ = ["LegInverse"]
