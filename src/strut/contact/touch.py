"""What touches: points, spheres, arcs and wheels on bodies, against the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.contact.ground import Ground
from strut.contact.laws import AnchoredFriction, SmoothFriction
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.check import not_negative
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.spatial import axis_of, skew
from strut.mechanism.tree import Tree
from strut.system import Expression, check_name, sx

MIN_TILT = 1e-6
"""[1] The least sine of the angle between a wheel's axle and the normal: a wheel that lies flatter has no
lowest point any more."""


@checked
@dataclass(frozen=True, eq=False)
class Touch:
    """Something that can touch: a sphere of `radius` about a frame's origin (0: a point), or a thin wheel
    about `axle`."""

    name: str
    frame: str
    radius: Expression = 0.0
    axle: ca.SX | None = None

    def __post_init__(self) -> None:
        check_name(self.name, "contact")
        not_negative(self.radius, f"the radius of contact '{self.name}'")


@dataclass(frozen=True, eq=False)
class Spot:
    """A touch worked out on a tree: the gap, the point, and rows that give the velocity of the body's
    material there along the normal and the tangents. moves_with_body: whether the point is one of the body's
    own, so that its velocity is the rate of its place; that of a ball rolls through the body."""

    name: str
    gap: ca.SX
    point: ca.SX
    K: ca.SX  # rows: normal, forward, (left)
    directions: ca.SX  # columns: normal, forward, (left), in the world
    moves_with_body: bool = False

    def velocity(self, tree: Tree) -> ca.SX:
        """Return the velocity of the material there along the normal and the tangents [m/s]. Of a point of
        the body it is the rate of its place, which points of one body have mostly in common."""
        if self.moves_with_body:
            return self.directions.T @ ca.jtimes(self.point, tree.q, tree.qdot)
        return self.K @ tree.v


@checked
def point(frame: str, name: str = "") -> Touch:
    """A contact point at a frame's origin."""
    return Touch(name or frame, frame)


@checked
def sphere(frame: str, radius: Expression, name: str = "") -> Touch:
    """A ball about a frame's origin. On curved ground the ground is taken as flat under the ball."""
    return Touch(name or frame, frame, radius)


@checked
def arc(frame: str, radius: Expression, name: str = "") -> Touch:
    """A curved foot of a planar walker: a circle about a frame's origin, which rolls."""
    return Touch(name or frame, frame, radius)


@checked
def wheel(frame: str, radius: Expression, axle: str | Sequence[float] = "y", name: str = "") -> Touch:
    """A thin wheel, or one end of a cylinder: the lowest point of a circle about `axle`, which is fixed in
    the frame."""
    return Touch(name or frame, frame, radius, axis_of(axle, f"the axle of wheel '{name or frame}'"))


@checked
def cylinder(
    mechanism: Mechanism,
    body: str,
    radius: Expression,
    length: Expression,
    *,
    axle: str | Sequence[float] = "y",
    name: str = "",
) -> list[Touch]:
    """Put a cylinder on a body, about its origin: the circles at its two ends, which together carry it on its
    side. Adds the frames NAME_a and NAME_b, at the centres of these circles, to the mechanism."""
    n = axis_of(axle, f"the axle of cylinder '{name or body}'")
    if body not in mechanism.bodies:
        raise ModelError(
            f"cylinder '{name or body}' is on body '{body}', which mechanism '{mechanism.name}' does not have"
        )
    not_negative(length, f"the length of cylinder '{name or body}'")
    ends = []
    for suffix, sign in (("_a", -0.5), ("_b", 0.5)):
        at = n * (sign * sx(length))
        frame = mechanism.frame(f"{name or body}{suffix}", mechanism.bodies[body], ca.vertsplit(at))
        ends.append(Touch(frame.name, frame.name, radius, n))
    return ends


@checked
def polygon(
    mechanism: Mechanism, body: str, corners: Sequence[Sequence[Expression]], name: str = ""
) -> list[Touch]:
    """Put a foot on a body as a polygon: contact points at its corners [m], given in the body. Adds the
    frames NAME_0, NAME_1, ... at these corners to the mechanism."""
    if body not in mechanism.bodies:
        raise ModelError(
            f"polygon '{name or body}' is on body '{body}', which mechanism '{mechanism.name}' does not have"
        )
    return [
        point(mechanism.frame(f"{name or body}_{k}", mechanism.bodies[body], tuple(corner)).name)
        for k, corner in enumerate(corners)
    ]


def touches_of(feet: Sequence[str | Touch | Sequence[Touch]]) -> list[Touch]:
    """Frames' names mean points; lists are flattened; every name once."""
    if isinstance(feet, (str, Touch)):
        name = f"'{feet}'" if isinstance(feet, str) else f"the contact '{feet.name}'"
        raise ModelError(
            f"the feet are {name}, one alone: give a list, [{name if isinstance(feet, str) else feet.name}]"
        )
    touches: list[Touch] = []
    for foot in feet:
        touches += (
            [point(foot)]
            if isinstance(foot, str)
            else [foot]
            if isinstance(foot, Touch)
            else touches_of(foot)
        )
    if not touches:
        raise ModelError("nothing can touch the ground: name at least one frame")
    for k, one in enumerate(touches):
        if one.name in [other.name for other in touches[:k]]:
            raise ModelError(f"two contacts are called '{one.name}': give one of them another name")
    return touches


def coefficient(friction: Any) -> Expression | None:
    """Coulomb's coefficient: a number or an expression, or None for ground that holds without limit."""
    if isinstance(friction, (AnchoredFriction, SmoothFriction)):
        raise ModelError(
            "friction is a law of compliant contact here: hard ground wants Coulomb's coefficient, a number, "
            "friction=0.5"
        )
    if friction is not None:
        not_negative(friction, "the coefficient of friction")
    return friction


def add_contact_parameters(
    params: ParameterSet,
    ground: Ground,
    touches: Sequence[Touch],
    friction: Expression | None = None,
    stabilise: Expression = 0.0,
) -> None:
    """Add the parameters of ground, feet, friction and stabilisation to `params`; those that cannot be
    negative are bound to that."""
    for number in ground.numbers:
        params.add(number)
    for t in touches:
        params.add_number(t.radius, f"the radius of contact '{t.name}'", low=0.0)
    if friction is not None:
        params.add_number(friction, "the coefficient of friction", low=0.0)
    params.add_number(stabilise, "the rate of stabilisation, stabilise,", low=0.0)


def spot(tree: Tree, touch: Touch, ground: Ground) -> Spot:
    """Where and how a touch meets the ground."""
    radius = sx(touch.radius)
    X, J = observe.pose(tree, touch.frame), observe.world_jacobian(tree, touch.frame)
    directions = ground.frame(X.p)
    normal = directions[:, 0]
    if touch.axle is not None:
        axle = X.R @ touch.axle
        across = normal - ca.dot(normal, axle) * axle
        arm = -radius * across / ca.fmax(ca.norm_2(across), MIN_TILT)
        gap = ground.gap(X.p) + ca.dot(normal, arm)
    else:
        arm = -radius * normal
        gap = ground.gap(X.p) - radius
    linear = J[3:, :] if radius.is_zero() else J[3:, :] - skew(arm) @ J[:3, :]
    used = directions[:, :2] if tree.mechanism.planar else directions
    K = ca.densify(used.T @ linear)
    if ground.kind == "profile":  # the normal turns under way: the rate of the gap itself
        K = ca.vertcat(ca.jacobian(ca.jtimes(gap, tree.q, tree.qdot), tree.v), K[1:, :])
    own = bool(radius.is_zero()) and ground.kind != "profile"
    return Spot(touch.name, gap, X.p + arm, ca.densify(K), used, moves_with_body=own)


def reachable_spot(tree: Tree, touch: Touch, ground: Ground) -> Spot:
    """A spot that can come to the ground and leave it, which contact by events needs."""
    place = spot(tree, touch, ground)
    if not ca.depends_on(place.gap, tree.q):
        raise ModelError(
            f"foot '{touch.name}' can neither reach nor leave the ground: no joint of "
            f"'{tree.mechanism.name}' changes the height of frame "
            f"'{touch.frame}'; give another place, or let its body move"
        )
    return place
