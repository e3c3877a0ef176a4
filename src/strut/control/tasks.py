"""Tasks of a whole-body controller: what a machine should do, as accelerations.

Each task asks for rows J a + dJ/dt v = desired, where desired = r'' + damping (r' - x') + stiffness (r - x)
follows a reference r: inverse dynamics in the space of the task (operational space). References are
expressions of time, of parameters and of the controller's memory, or reference signals; their rates by time
are taken where none are given. weight: of half the squared miss, in 1 / (m/s^2)^2 or 1 / (rad/s^2)^2
(momentum: 1/N^2, 1/(N m)^2), relative to the other weights. hard: an equation instead. level: tasks of level
1 are met before those of level 2 are looked at (lexicographic).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np

from strut.checks import checked, integer
from strut.control.body_model import BodyModel
from strut.control.constants import check_finite, check_not_negative, constant_numbers
from strut.control.reference import ReferenceSignal
from strut.errors import ModelError, ShapeError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import Expression, Packed, sx, time

AXIS_PLACES = {"x": 0, "y": 1, "z": 2}
"""Axes of the world by their letters: places in a vector."""
MOMENTA = ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z")
"""The rows of the centroidal momentum."""
ROTATION_SLACK = 1e-6
"""[1] How far the columns of a rotation matrix may be from orthogonal and of unit length."""


@dataclass(frozen=True, eq=False)
class TaskRows:
    """What a task asks for: J a + bias = desired, rows of accelerations [m/s^2, rad/s^2] or of the rate of
    momentum. error: how far the reference is [m, rad], for the record."""

    name: str
    J: ca.SX
    bias: ca.SX
    desired: ca.SX
    error: ca.SX


class Task(Protocol):
    """What whole-body control can be asked to do."""

    @property
    def weight(self) -> Expression:
        """Of half the squared miss."""
        ...

    @property
    def hard(self) -> bool:
        """Whether it is an equation."""
        ...

    @property
    def level(self) -> int:
        """Tasks of lower levels are met first."""
        ...

    def rows(self, body: BodyModel) -> TaskRows:
        """The rows of the task."""
        ...


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class _Tracked(Packed):
    """What all tasks share that follow a reference.

    stiffness: [1/s^2]. damping: [1/s]; 2 sqrt(stiffness), critical, without any given. rate, acceleration: of
    the reference; its derivatives by time, with memory held, without any given.
    """

    stiffness: Expression = 100.0
    damping: Expression | None = None
    weight: Expression = 1.0
    hard: bool = False
    level: int = 1
    rate: Expression | None = None
    acceleration: Expression | None = None
    name: str = ""

    def __post_init__(self) -> None:
        owner = _title(self)
        for word in ("stiffness", "damping", "weight"):
            check_not_negative(f"{word} of {owner}", getattr(self, word))
        for word in ("target", "rate", "acceleration"):
            check_finite(f"{word} of {owner}", getattr(self, word, None))
        integer(f"level of {owner}", self.level, 1)

    def _follow(
        self, target: ca.SX, at: ca.SX, speed: ca.SX, error: ca.SX | None = None
    ) -> tuple[ca.SX, ca.SX]:
        """The desired acceleration and the error, of what is `at` a place and moves with a speed."""
        size = int(at.numel())
        rate = ca.jacobian(target, time) if self.rate is None else _column(self.rate, size, "rate")
        second = (
            ca.jacobian(rate, time)
            if self.acceleration is None
            else _column(self.acceleration, size, "acceleration")
        )
        stiffness = sx(self.stiffness)
        damping = 2 * ca.sqrt(stiffness) if self.damping is None else sx(self.damping)
        miss = target - at if error is None else error
        return ca.densify(second + damping * (rate - speed) + stiffness * miss), miss


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class FrameTask(_Tracked):
    """Move a frame's origin: target [m], one number for each of `axes` of the world (all that there are)."""

    frame: str
    target: Expression
    axes: str = ""

    def rows(self, body: BodyModel) -> TaskRows:
        """The rows of the frame's linear acceleration."""
        places = _axes(self.axes, body)
        J, bias = body.jacobian(self.frame)
        rows = [3 + k for k in places]
        target = _column(self.target, len(places), f"target of frame '{self.frame}'")
        at, speed = body.position(self.frame)[places], body.velocity(self.frame)[places]
        desired, error = self._follow(target, at, speed)
        return TaskRows(self.name or f"{self.frame}_place", J[rows, :], bias[rows], desired, error)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class OrientationTask(_Tracked):
    """Turn a frame.

    target: in a plane its angle about y [rad], positive from z towards x; in space a rotation matrix, whose
        error is that of the antisymmetric part: right near the target, and without force where it is half a
        turn away.
    """

    frame: str
    target: Expression

    def rows(self, body: BodyModel) -> TaskRows:
        """The rows of the frame's angular acceleration."""
        places = list(body.spin_axes)
        J, bias = body.jacobian(self.frame)
        R = body.rotation(self.frame)
        speed = J[places, :] @ body.v
        if body.mechanism.planar:
            target = _column(self.target, 1, f"target of frame '{self.frame}'")
            difference = target - ca.atan2(R[0, 2], R[0, 0])
            error = ca.atan2(ca.sin(difference), ca.cos(difference))
            desired, error = self._follow(target, target - error, speed, error)
        else:
            goal = sx(self.target)
            if goal.shape != (3, 3):
                raise ShapeError(
                    f"the target of frame '{self.frame}' has shape {goal.shape}: a rotation matrix, 3 x 3, "
                    f"is needed in space"
                )
            _check_rotation(goal, self.frame)
            turn = goal @ R.T
            error = ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]) / 2
            rate = ca.reshape(ca.jacobian(ca.vec(goal), time), 3, 3) @ goal.T  # of the target: W, spin x
            spin = ca.vertcat(rate[2, 1], rate[0, 2], rate[1, 0])
            task = _Tracked(
                stiffness=self.stiffness,
                damping=self.damping,
                rate=spin if self.rate is None else self.rate,
                acceleration=self.acceleration,
            )
            desired, error = task._follow(ca.SX.zeros(3), ca.SX.zeros(3), speed, error)
        return TaskRows(self.name or f"{self.frame}_turn", J[places, :], bias[places], desired, error)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class CentreOfMassTask(_Tracked):
    """Move the centre of mass: target [m], one number for each of `axes` of the world (all that there
    are)."""

    target: Expression
    axes: str = ""

    def rows(self, body: BodyModel) -> TaskRows:
        """The rows of its acceleration."""
        places = _axes(self.axes, body)
        A, bias = body.momentum_matrix
        rows = [3 + k for k in places]
        target = _column(self.target, len(places), "target of the centre of mass")
        desired, error = self._follow(target, body.com[places], body.com_rate[places])
        return TaskRows(self.name or "com", A[rows, :] / body.mass, bias[rows] / body.mass, desired, error)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class MomentumTask(Packed):
    """Give the centroidal momentum a rate. rate: [N m] for angular, [N] for linear rows, an expression,
    such as of `BodyModel.momentum`. of: some of `MOMENTA`; weight: one number, or one for each row."""

    rate: Expression
    of: Sequence[str]
    weight: Expression = 1.0
    hard: bool = False
    level: int = 1
    name: str = "momentum"

    def __post_init__(self) -> None:
        check_not_negative(f"weight of {_title(self)}", self.weight)
        check_finite(f"rate of {_title(self)}", self.rate)
        integer(f"level of {_title(self)}", self.level, 1)

    def rows(self, body: BodyModel) -> TaskRows:
        """The rows of the momentum's rate."""
        for each in self.of:
            if each not in MOMENTA:
                raise UnknownNameError(f"there is no momentum '{each}': {did_you_mean(each, list(MOMENTA))}")
        places = [MOMENTA.index(each) for each in self.of]
        allowed = [*body.spin_axes, *(3 + k for k in body.axes)]
        for each, place in zip(self.of, places, strict=True):
            if place not in allowed:
                raise ModelError(
                    f"momentum '{each}' of '{body.mechanism.name}', which moves in a plane, is always 0: "
                    f"ask for some of {', '.join(MOMENTA[k] for k in allowed)}"
                )
        if not places:
            raise ModelError(f"task '{self.name}' asks for no momentum: name some of {', '.join(MOMENTA)}")
        A, bias = body.momentum_matrix
        desired = _column(self.rate, len(places), "rate of the momentum")
        return TaskRows(self.name, A[places, :], bias[places], desired, desired)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class JointTask(_Tracked):
    """Move one joint: target [rad or m]."""

    joint: str
    target: Expression

    def rows(self, body: BodyModel) -> TaskRows:
        """The row of its acceleration."""
        task = PostureTask(
            target={self.joint: self.target},
            stiffness=self.stiffness,
            damping=self.damping,
            rate=self.rate,
            acceleration=self.acceleration,
            name=self.name or self.joint,
        )
        return task.rows(body)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class PostureTask(_Tracked):
    """Hold joints: target by joint [rad or m]; the angles that the mechanism begins with, of all joints of
    one coordinate, without any given."""

    target: Mapping[str, Expression] | None = None

    def rows(self, body: BodyModel) -> TaskRows:
        """The rows of the joints' accelerations."""
        if self.target is not None and not self.target:
            raise ModelError(
                "the target of PostureTask names no joint: name some, or leave it out to hold all where they "
                "begin"
            )
        target = _first_posture(body) if self.target is None else self.target
        if not target:
            raise ModelError(f"'{body.mechanism.name}' has no joint of one coordinate to hold")
        places = [body.velocity_place(joint) for joint in target]
        posture = _column(list(target.values()), len(places), "posture")
        at = ca.vertcat(*[body.coordinate(joint) for joint in target])
        desired, error = self._follow(posture, at, body.v[places])
        J = ca.SX.eye(body.nv)[places, :]
        return TaskRows(self.name or "posture", J, ca.SX.zeros(len(places)), desired, error)


def _first_posture(body: BodyModel) -> dict[str, Expression]:
    """Where the actuated joints of one coordinate begin [rad or m], by name."""
    single = {name: where.start for name, where in body.tree.v_of.items() if where.stop - where.start == 1}
    return {
        name: body.positions[body.tree.q_of[name].start].value
        for name, place in single.items()
        if place in body.inputs
    }


def _title(task: _Tracked | MomentumTask) -> str:
    """What messages call a task."""
    what = task.name or getattr(task, "frame", "") or getattr(task, "joint", "")
    return f"{type(task).__name__}{f' of {what!r}' if what else ''}"


def _check_rotation(goal: ca.SX, frame: str) -> None:
    """Refuse a constant target that is no rotation matrix."""
    numbers = constant_numbers(goal)
    if len(numbers) < goal.numel():
        return
    R = np.array(numbers).reshape(3, 3, order="F")
    if not np.abs(R.T @ R - np.eye(3)).max() <= ROTATION_SLACK or np.linalg.det(R) < 0:
        raise ValueRangeError(
            f"the target of frame '{frame}' is no rotation: its columns must be orthogonal, of length 1 and "
            f"right-handed; their products miss this by {np.abs(R.T @ R - np.eye(3)).max():.3g}, the "
            f"determinant is {np.linalg.det(R):.3g}"
        )


def _axes(axes: str, body: BodyModel) -> list[int]:
    """The places of axes by their letters; all of the machine's without any."""
    if not axes:
        return list(body.axes)
    for axis in axes:
        if axis not in AXIS_PLACES or AXIS_PLACES[axis] not in body.axes:
            letters = "".join(letter for letter, k in AXIS_PLACES.items() if k in body.axes)
            raise ModelError(
                f"axes of a task are '{axes}': '{body.mechanism.name}' moves along {letters}, give "
                f"some of these"
            )
    return [AXIS_PLACES[axis] for axis in axes]


def _column(value: Expression, size: int, what: str) -> ca.SX:
    """A reference as a column of so many numbers."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    column = ca.vertcat(*[sx(each.value if isinstance(each, ReferenceSignal) else each) for each in parts])
    if column.numel() != size:
        raise ShapeError(f"the {what} has {column.numel()} numbers: {size} are needed")
    return ca.vec(column)
