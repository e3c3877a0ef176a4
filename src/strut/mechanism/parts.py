"""What a mechanism is made of: bodies, joints between them, frames, constraints and forces. Data only.

Constraints and forces are worked out on a `Tree`. A tree reads the mechanism, which holds these parts, so
its class cannot be named here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.mechanism.inertia import Inertia
from strut.mechanism.joint import Joint
from strut.mechanism.spatial import Pose
from strut.system import Expression

COM = "com"
"""In the place of a frame: the centre of mass of everything that moves. A frame or body of this name goes
before it."""


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: mass [kg], centre of mass [m] and inertia about it [kg m^2], in the body's frame."""

    name: str
    mass: ca.SX
    com: ca.SX
    about_com: ca.SX

    @property
    def inertia(self) -> Inertia:
        """Mass, first moment and inertia about the origin of the body's frame."""
        return Inertia.of(self.mass, self.com, self.about_com)


@checked
@dataclass(frozen=True, eq=False)
class Stop:
    """A soft end stop: beyond `low` or `high` a spring and damper push back, never pull."""

    low: Expression
    high: Expression
    stiffness: Expression
    damping: Expression = 0.0


@dataclass(frozen=True, eq=False)
class Connection:
    """A joint between two bodies. `X_PJ` places it in the parent; the child's frame is where the joint puts
    it."""

    name: str
    parent: Body
    child: Body
    joint: Joint
    X_PJ: Pose
    spring: ca.SX | None = None
    rest: ca.SX | None = None
    damping: ca.SX | None = None
    armature: ca.SX | None = None
    stop: Stop | None = None
    actuated: bool = True
    initial: tuple[Any, ...] = ()
    initial_rate: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """A named place on a body: a foot, a sensor, an anchor."""

    name: str
    body: Body
    X_BF: Pose


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """The rows of one constraint: error phi (empty where there is none), K with K v = k0, and labels for the
    forces.

    `pushes` says what a unit force of each row does to bodies: (frame, 6 x rows), moment about the frame's
    origin and force, along the world's axes. Rows between coordinates push no body, they act through the
    joints.
    """

    labels: tuple[str, ...]
    phi: ca.SX
    K: ca.SX
    k0: ca.SX
    pushes: tuple[tuple[str, ca.SX], ...] = ()


@dataclass(frozen=True, eq=False)
class Constraint:
    """A named constraint; `rows` works it out on a `Tree`. kind and arguments: the function that made it, and
    what it was told."""

    name: str
    rows: Callable[[Any], ConstraintRows] = field(repr=False)
    kind: str = "general"
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)


class ConstraintArgument(Enum):
    """What an argument of a constraint is: how a model file says it, and what a mirror makes of it."""

    FRAME = "the name of a frame or body"
    JOINT = "the name of a joint"
    AXIS = "a unit vector in a frame"
    NUMBER = "a number or an expression"
    MOTION = "an expression of time"


@dataclass(frozen=True)
class ConstraintKind:
    """All that model files, their writer and mirror images have to know of a kind of constraint: the function
    that makes it, and what that is told after the constraint's name."""

    make: Callable[..., Constraint]
    arguments: Mapping[str, ConstraintArgument]


@dataclass(frozen=True, eq=False)
class Effect:
    """tau: along the tree's velocities [N or N m]; stored [J]; dissipated [W]."""

    tau: ca.SX
    stored: ca.SX
    dissipated: ca.SX


@dataclass(frozen=True, eq=False)
class Force:
    """A named force; `effect` works it out on a `Tree`."""

    name: str
    effect: Callable[[Any], Effect] = field(repr=False)
