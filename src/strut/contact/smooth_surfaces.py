"""Smooth surfaces that may touch: ellipsoids, planes, waves, and any that one chart covers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import check
from strut.mechanism.spatial import cross
from strut.system import Expression, sx


@dataclass(frozen=True, eq=False)
class Surface:
    """A smooth surface in a frame.

    chart: of two coordinates u and, on closed surfaces, of `side`, +1 or -1: the point. Where |u| grows large
        on one side, u / |u|^2 is the same point on the other, and -u there the opposite one.
    outward: +1 where the cross product of the tangents along u[0] and u[1] points outwards, else -1; may
        depend on `side`.
    closed: has two sides, like an ellipsoid; else one chart covers it, and u near (x, y) is where the search
        begins.
    span: half the width of that search, in u.
    """

    kind: str
    chart: Callable[[ca.SX, ca.SX], ca.SX] = field(repr=False)
    outward: Callable[[ca.SX], ca.SX] = field(default=lambda side: ca.SX(1), repr=False)
    closed: bool = False
    span: float = 1.0
    numbers: tuple[Expression, ...] = ()

    def tangents(self, u: ca.SX, side: ca.SX) -> ca.SX:
        """Both tangents at coordinates u, as columns, in the frame: 3 x 2."""
        return ca.densify(ca.jacobian(self.chart(u, side), u))

    def normal(self, u: ca.SX, side: ca.SX) -> ca.SX:
        """The unit normal at coordinates u, outwards, in the frame."""
        T = self.tangents(u, side)
        n = cross(T[:, 0], T[:, 1])
        return self.outward(side) * n / ca.norm_2(n)


@checked
def ellipsoid(a: Expression, b: Expression, c: Expression) -> Surface:
    """The ellipsoid with half axes a, b, c [m] along x, y, z of its frame; a ball if they are equal."""
    for axis, name in ((a, "a"), (b, "b"), (c, "c")):
        check.number(axis, f"the half axis {name} of an ellipsoid", low=0.0, above=True)
    axes = ca.vertcat(sx(a), sx(b), sx(c))

    def chart(u: ca.SX, side: ca.SX) -> ca.SX:
        square = ca.sumsqr(u)
        return axes * ca.vertcat(2 * u[0], 2 * u[1], side * (square - 1)) / (1 + square)

    return Surface("ellipsoid", chart, lambda side: -side, closed=True, numbers=(a, b, c))


@checked
def plane_surface() -> Surface:
    """The plane z = 0 of its frame, with the normal along z."""
    return Surface("plane", lambda u, side: ca.vertcat(u[0], u[1], 0))


@checked
def sine_ground(height: Expression, frequency: Expression) -> Surface:
    """Waves along x: z = height sin(2 pi frequency x), with height [m] and frequency [1/m]."""
    check.number(height, "the height of a sine ground")
    check.number(frequency, "the frequency of a sine ground")
    A, f = sx(height), sx(frequency)
    return Surface(
        "sine",
        lambda u, side: ca.vertcat(u[0], u[1], A * ca.sin(2 * ca.pi * f * u[0])),
        numbers=(height, frequency),
    )


@checked
def surface(
    chart: Callable[[ca.SX], ca.SX],
    inside_out: bool = False,
    span: float = 1.0,
    numbers: Sequence[Expression] = (),
) -> Surface:
    """Any smooth surface that one chart covers: `chart(u)` is a point of the frame, u near its (x, y) where
    contact begins. Outwards is the cross product of the tangents along u[0] and u[1], or with inside_out the
    other way."""
    probe = sx(chart(ca.SX.sym("u", 2)))
    if probe.numel() != 3:
        raise ModelError(f"the chart of a surface gives three numbers, x, y and z, not {probe.numel()}")
    check.finite(probe, "the chart of a surface")
    check.number(span, "the span of a surface", low=0.0, above=True)
    return Surface(
        "surface",
        lambda u, side: sx(chart(u)),
        lambda side: ca.SX(-1 if inside_out else 1),
        span=span,
        numbers=tuple(numbers),
    )
