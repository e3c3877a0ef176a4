"""`Joint`: how a child may move against its parent; `JointKind`: what files and mirrors know of a kind.

`joints` has the functions that make joints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import casadi as ca

from strut.mechanism.spatial import Pose
from strut.system import Expression


@dataclass(frozen=True, eq=False)
class Joint:
    """A type of joint: the pose X(q) of the child in the parent, and how velocities v relate to it.

    kind: its name in `joints.KINDS`, which files and messages use.
    coordinates, velocities: suffixes of the names of q and v ('' for a single one); units: of each
        coordinate.
    pose: X(q). subspace: S(q), derived from the pose if absent (then v = q'). rate: B(q) v, if not v itself.
    neutral: the q that means "not moved"; zeros if it is empty.
    gear: leading joint, ratio and offset of a joint that follows another.
    arguments: what the function that made it was told, for files and mirror images.
    quaternion: the last four coordinates are one, x, y, z, w.
    floating: it carries a whole machine about, so that no motor drives it.
    marked_velocity: pictures mark the axis of this velocity; of a joint with one velocity it is that one.
    """

    kind: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    units: tuple[str, ...]
    pose: Callable[[ca.SX], Pose] = field(repr=False)
    subspace: Callable[[ca.SX], ca.SX] | None = field(default=None, repr=False)
    rate: Callable[[ca.SX, ca.SX], ca.SX] | None = field(default=None, repr=False)
    neutral: tuple[float, ...] = ()
    rate_units: tuple[str, ...] = ()
    gear: tuple[str, Expression, Expression] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    quaternion: bool = False
    floating: bool = False
    marked_velocity: int | None = None

    @property
    def nq(self) -> int:
        """How many coordinates it has."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """How many velocities it has."""
        return len(self.velocities)

    def S(self, q: ca.SX) -> ca.SX:
        """The motion subspace, 6 x nv, in the child's frame."""
        return self.subspace(q) if self.subspace else derived_subspace(self.pose, q)

    def S_rate(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """S'(q, v) v, the part of the relative acceleration that velocities alone cause."""
        S = self.S(q)
        if not self.nv or not ca.depends_on(S, q):
            return ca.SX.zeros(6)
        constant_v = ca.SX.sym("held", self.nv)
        along = ca.jtimes(S @ constant_v, q, self.qdot(q, v))
        return ca.densify(ca.substitute([along], [constant_v], [v])[0])

    def qdot(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """The rates of the coordinates, q' = B(q) v."""
        return self.rate(q, v) if self.rate else v


def derived_subspace(pose: Callable[[ca.SX], Pose], q: ca.SX) -> ca.SX:
    """Differentiate a pose: column k of S is the body twist of moving q_k. q may be any expression, also
    numbers."""
    if not q.numel():
        return ca.SX(6, 0)
    moved = q if q.is_valid_input() else ca.SX.sym("q", q.numel())  # derivatives are by symbols
    X = pose(moved)
    columns = []
    for k in range(moved.numel()):
        dR = ca.jacobian(ca.vec(X.R), moved[k]).reshape((3, 3))
        spin = X.R.T @ dR
        columns.append(ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0], X.R.T @ ca.jacobian(X.p, moved[k])))
    S = ca.densify(ca.horzcat(*columns))
    return S if moved is q else ca.densify(ca.substitute(S, moved, q))


class JointArgument(Enum):
    """What an argument of a joint is. It says how a model file writes it, and what a mirror in the x-z plane
    makes of it."""

    ROTATION_AXIS = "a unit vector that motion turns about: its mirror image turns the other way"
    DIRECTION = "a unit vector that motion goes along"
    NUMBER = "a number or an expression, equal on both sides"
    HANDED_NUMBER = "a number or an expression that changes its sign, as the pitch of a screw"
    WORD = "a text"
    JOINT = "another joint"


@dataclass(frozen=True)
class JointKind:
    """All that model files, their writer and mirror images have to know of a kind of joint.

    make: the function that makes it. arguments: what that is told, by name.
    mirrors_by_arguments: its mirror image is a joint of the same kind, with the images of its arguments. Else
        the image is the reflected pose, and files write it as `mirrored = true`.
    """

    make: Callable[..., Joint]
    arguments: Mapping[str, JointArgument] = field(default_factory=dict)
    mirrors_by_arguments: bool = False
