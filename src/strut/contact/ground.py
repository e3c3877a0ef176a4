"""Ground: a height over the plane, and the directions along and away from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import degrees, pi
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import check
from strut.system import Expression, Floor, Quantity, own_value, sx


@checked
@dataclass(frozen=True, eq=False)
class Ground:
    """The surface z = height(x, y). uneven: whether each foot has a height of its own besides, see
    `contact.uneven`."""

    height: Callable[[ca.SX, ca.SX], ca.SX] = field(repr=False)
    kind: str = "profile"
    numbers: tuple[Expression, ...] = ()
    uneven: bool = False

    def gap(self, p: ca.SX) -> ca.SX:
        """Height of a point over the ground, along the normal [m]; negative inside. Exact for planes, and
        zero exactly on the surface for every ground."""
        return (p[2] - self.height(p[0], p[1])) * self.frame(p)[2, 0]

    def floor(self) -> Floor:
        """The ground as pictures draw it."""
        x, y = ca.SX.sym("x"), ca.SX.sym("y")
        return Floor(x, y, self.height(x, y))

    def frame(self, p: ca.SX) -> ca.SX:
        """The normal, the tangent forwards and the tangent to the left at the ground below a point: 3 x 3."""
        x, y = ca.SX.sym("x"), ca.SX.sym("y")
        h = self.height(x, y)
        slopes = ca.jacobian(h, ca.vertcat(x, y))
        along, across = (ca.substitute([ca.densify(slopes)], [x, y], [p[0], p[1]])[0][k] for k in (0, 1))
        normal = ca.vertcat(-along, -across, 1)
        normal = (
            normal / ca.norm_2(normal) if not (along.is_zero() and across.is_zero()) else ca.SX([0, 0, 1])
        )
        forward = ca.vertcat(normal[2], 0, -normal[0])
        forward = forward / ca.norm_2(forward) if not across.is_zero() else forward
        left = ca.cross(normal, forward) if not across.is_zero() else ca.SX([0, 1, 0])
        return ca.horzcat(normal, forward, left)


def even_ground(ground: Any, contact: str) -> Ground:
    """The ground that a user means, for a `contact`, by name, that knows no heights under single feet: raises
    ModelError where it is uneven."""
    surface = ground_of(ground)
    if surface.uneven:
        raise ModelError(
            f"contact.{contact} does not take uneven ground, a height of its own under each foot: "
            f"contact.rigid and contact.compliant do; give contact.{contact} the plane, stairs or profile "
            f"itself"
        )
    return surface


def ground_of(ground: Any) -> Ground:
    """The ground that a user means: level where none is given."""
    if ground is None:
        return plane()
    if isinstance(ground, Ground):
        return ground
    hint = (
        f"write contact.plane({ground})"
        if isinstance(ground, (int, float, Quantity))
        else "use contact.plane(slope), stairs or profile"
    )
    raise ModelError(
        f"the ground is {ground if isinstance(ground, Quantity) else repr(ground)}, which is no ground: "
        f"{hint}"
    )


@checked
def plane(slope: Expression = 0.0, height: Expression = 0.0) -> Ground:
    """A plane that falls towards +x by `slope` [rad], at `height` [m] under the origin."""
    check.number(slope, "the slope of a plane")
    check.number(height, "the height of a plane")
    angle, level = sx(slope), sx(height)
    steep = own_value(slope)
    if steep is not None and abs(steep.item()) >= pi / 2:
        raise ModelError(
            f"the slope of a plane is {steep.item():g} rad, which is {degrees(steep.item()):.4g} degrees: it "
            f"must be less than a right "
            f"angle; are these degrees? Then write strut.deg({steep.item():g})"
        )

    def z(x: ca.SX, y: ca.SX) -> ca.SX:
        return level - ca.tan(angle) * x

    return _Plane(z, "plane", (slope, height), angle=angle)


@dataclass(frozen=True, eq=False)
class _Plane(Ground):
    """A plane knows its normal without differentiating."""

    angle: ca.SX = field(default_factory=lambda: ca.SX(0))

    def frame(self, p: ca.SX) -> ca.SX:
        if self.angle.is_zero():
            return ca.SX([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
        c, s = ca.cos(self.angle), ca.sin(self.angle)
        return ca.vertcat(ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1), ca.horzcat(c, -s, 0))


@checked
def stairs(
    edges: Sequence[tuple[Expression, Expression]], slope: Expression = 0.0, height: Expression = 0.0
) -> Ground:
    """A plane with steps: from each `x` on, in (x, rise) pairs, the ground is higher by `rise` [m] (lower
    where negative).

    Risers are not touched: a point that passes an edge below the new level is inside the ground at once and
        lands there.
    """
    if not edges:
        raise ModelError("stairs without edges are a plane: give (x, rise) pairs, or use plane()")
    base = plane(slope, height)
    for k, pair in enumerate(edges):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ModelError(f"edge {k} of stairs is {pair!r}: give a pair (x, rise)")
        check.number(pair[0], f"x of edge {k} of stairs")
        check.number(pair[1], f"the rise of edge {k} of stairs")

    def z(x: ca.SX, y: ca.SX) -> ca.SX:
        total = base.height(x, y)
        for edge, rise in edges:
            total = total + ca.if_else(x >= sx(edge), sx(rise), 0)
        return total

    assert isinstance(base, _Plane)
    return _Plane(z, "stairs", (slope, height, *[e for pair in edges for e in pair]), angle=base.angle)


@checked
def profile(height: Callable[[ca.SX, ca.SX], ca.SX], numbers: Sequence[Expression] = ()) -> Ground:
    """Ground of any smooth height(x, y), as an expression; `numbers` are the Params it uses."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    try:
        probe = sx(height(x, y))
    except TypeError as error:
        raise ModelError(
            f"the height of a profile takes x and y, and returns an expression: {error}"
        ) from error
    if probe.numel() != 1:
        raise ModelError(f"the height of a profile is one number, not {probe.numel()}")
    check.finite(probe, "the height of a profile")
    for number in numbers:
        check.finite(number, "a number of a profile")
    return Ground(lambda x, y: sx(height(x, y)), "profile", tuple(numbers))
