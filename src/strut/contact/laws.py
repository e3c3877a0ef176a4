"""Laws of compliant contact: how ground pushes back against penetration and against sliding.

Every normal law has the form F = elastic(depth) + damping(depth) * rate, never less than zero: ground does
not pull. Its stored energy is the integral of the elastic part, so that what is dissipated, (F - elastic) *
rate, is never negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import check
from strut.system import Expression, sx

MIN_DEPTH = 1e-15
"""[m] Smaller depths count as this, so that roots and powers have finite slopes."""


@dataclass(frozen=True, eq=False)
class Law:
    """A law of the normal force.

    elastic, energy, damping: of the depth [m]: force [N], its integral [J], force per rate [N s/m].
    grip: of depth and rate, smooth, with the sign of elastic + damping * rate; None if that is never
        negative.
    cap: the largest force [N]; `elastic` and `energy` respect it already.
    kinks: of depth and rate, expressions at whose zeros the force has a kink while it presses.
    """

    kind: str
    elastic: Callable[[ca.SX], ca.SX] = field(repr=False)
    energy: Callable[[ca.SX], ca.SX] = field(repr=False)
    damping: Callable[[ca.SX], ca.SX] = field(repr=False)
    grip: Callable[[ca.SX, ca.SX], ca.SX] | None = field(default=None, repr=False)
    cap: ca.SX | None = None
    kinks: Callable[[ca.SX, ca.SX], tuple[ca.SX, ...]] = field(default=lambda depth, rate: (), repr=False)
    numbers: tuple[Expression, ...] = ()

    def pressing_force(self, depth: Expression, rate: Expression) -> ca.SX:
        """The force [N] inside the ground, as long as it is not negative."""
        d, r = sx(depth), sx(rate)
        push = self.elastic(d) + self.damping(d) * r
        return push if self.cap is None else ca.fmin(push, self.cap)

    def force(self, depth: Expression, rate: Expression) -> ca.SX:
        """The force [N] at any depth [m], positive inside, and rate of depth [m/s]."""
        return ca.if_else(sx(depth) > 0, ca.fmax(self.pressing_force(depth, rate), 0), 0)

    def dissipated_power(self, depth: Expression, rate: Expression) -> ca.SX:
        """Power [W] that turns to heat: what comes in less what the stored energy grows by."""
        return ca.if_else(sx(depth) > 0, (self.force(depth, rate) - self.elastic(sx(depth))) * sx(rate), 0)


@checked
def linear(stiffness: Expression, damping: Expression = 0.0) -> Law:
    """Kelvin-Voigt: stiffness [N/m] and damping [N s/m] side by side."""
    k, d = _positive(stiffness, "stiffness"), _not_negative(damping, "damping")
    return Law(
        "linear",
        lambda x: k * _positive_depth(x),
        lambda x: k * _positive_depth(x) ** 2 / 2,
        lambda x: d,
        None if d.is_zero() else lambda x, r: k * x + d * r,
        numbers=(stiffness, damping),
    )


@checked
def hunt_crossley(stiffness: Expression, dissipation: Expression = 0.0, exponent: Expression = 1.5) -> Law:
    """F = stiffness depth^exponent (1 + 3/2 dissipation rate). With dissipation a [s/m] a slow bounce has
    restitution 1 - a v.

    stiffness in N/m^exponent. The force is continuous at touchdown and when letting go.
    """
    k, a, n = (
        _positive(stiffness, "stiffness"),
        _not_negative(dissipation, "dissipation"),
        _positive(exponent, "exponent"),
    )
    return Law(
        "hunt_crossley",
        lambda x: k * _positive_depth(x) ** n,
        lambda x: k * _positive_depth(x) ** (n + 1) / (n + 1),
        lambda x: 1.5 * a * k * _positive_depth(x) ** n,
        None if a.is_zero() else lambda x, r: 1 + 1.5 * a * r,
        numbers=(stiffness, dissipation, exponent),
    )


@checked
def hertz(
    stiffness: Expression | None = None,
    damping: Expression = 0.0,
    *,
    modulus: Expression | None = None,
    radius: Expression | None = None,
) -> Law:
    """F = stiffness depth^1.5 + damping depth^0.5 rate, with stiffness [N/m^1.5] and damping [N s/m^1.5].

    Instead of the stiffness: the effective `modulus` E* [Pa] and `radius` R* [m] of the two surfaces, with
    1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2 and 1/R* = 1/R1 + 1/R2; then stiffness = 4/3 E* sqrt(R*).
    """
    if stiffness is None:
        if modulus is None or radius is None:
            raise ModelError("hertz() needs a stiffness, or a modulus and a radius to compute it from")
        stiffness = 4 / 3 * _positive(modulus, "modulus") * ca.sqrt(_positive(radius, "radius"))
    elif modulus is not None or radius is not None:
        raise ModelError("hertz() has a stiffness as well as a modulus or radius: give one or the other")
    k, d = _positive(stiffness, "stiffness"), _not_negative(damping, "damping")
    return Law(
        "hertz",
        lambda x: k * _positive_depth(x) * ca.sqrt(_positive_depth(x)),
        lambda x: 0.4 * k * _positive_depth(x) ** 2 * ca.sqrt(_positive_depth(x)),
        lambda x: d * ca.sqrt(_positive_depth(x)),
        None if d.is_zero() else lambda x, r: k * x + d * r,
        numbers=(stiffness, damping),
    )


@checked
def cubic(stiffness: Expression, damping: Expression = 0.0, cap: Expression | None = None) -> Law:
    """F = depth^3 (stiffness + damping rate), at most `cap` [N]; stiffness in N/m^3, damping in N s/m^4.

    The soft contact of codyn 3.6.4, which takes 1e6, 1e3 and 50 times the total mass.
    """
    k, d = _positive(stiffness, "stiffness"), _not_negative(damping, "damping")
    grip = None if d.is_zero() else lambda x, r: k + d * r
    if cap is None:
        return Law(
            "cubic",
            lambda x: k * _positive_depth(x) ** 3,
            lambda x: k * _positive_depth(x) ** 4 / 4,
            lambda x: d * _positive_depth(x) ** 3,
            grip,
            numbers=(stiffness, damping),
        )
    most = _positive(cap, "cap")
    reach = (most / k) ** (1 / 3)
    return Law(
        "cubic",
        lambda x: ca.fmin(k * _positive_depth(x) ** 3, most),
        lambda x: k * ca.fmin(_positive_depth(x), reach) ** 4 / 4 + most * ca.fmax(x - reach, 0),
        lambda x: d * _positive_depth(x) ** 3,
        None if d.is_zero() else lambda x, r: ca.fmin(k * x**3, most) + d * x**3 * r,
        most,
        lambda x, r: (
            (x - reach,) if d.is_zero() else (x - reach, ca.fmin(k * x**3, most) + d * x**3 * r - most)
        ),
        (stiffness, damping, cap),
    )


@checked
def geyer(stiffness: Expression, max_speed: Expression) -> Law:
    """F = stiffness depth (1 + rate / max_speed): ground that lets go of what leaves it faster than
    `max_speed` [m/s]."""
    k, v = _positive(stiffness, "stiffness"), _positive(max_speed, "max_speed")
    return Law(
        "geyer",
        lambda x: k * _positive_depth(x),
        lambda x: k * _positive_depth(x) ** 2 / 2,
        lambda x: k * _positive_depth(x) / v,
        lambda x, r: 1 + r / v,
        numbers=(stiffness, max_speed),
    )


@dataclass(frozen=True, eq=False)
class AnchoredFriction:
    """Sticks like a spring and damper, slides like Coulomb: the spring's end is dragged along at the friction
    limit."""

    stiffness: Expression
    damping: Expression
    mu: Expression

    @property
    def numbers(self) -> tuple[Expression, ...]:
        """The numbers of the law, in which parameters may be."""
        return (self.stiffness, self.damping, self.mu)


@dataclass(frozen=True, eq=False)
class SmoothFriction:
    """Friction that is a smooth function of normal force [N] and sliding velocity [m/s], opposite to it.

    mu: Coulomb's coefficient, of a law that has one; pictures draw its cone.
    """

    kind: str
    push: Callable[[ca.SX, ca.SX], ca.SX] = field(repr=False)
    numbers: tuple[Expression, ...] = ()
    mu: Expression | None = None


@checked
def anchored(stiffness: Expression, damping: Expression, mu: Expression) -> AnchoredFriction:
    """A spring [N/m] and damper [N s/m] between the foot and the place it holds on to; beyond mu times the
    normal force that place is dragged along.

    The strain s of the spring is a state, zero at touchdown. While the foot sticks s' = v, the velocity along
    the ground, and the friction is -(K s + D v). While it slides the friction is mu F_n against K s + D v,
    and the place it holds on to moves just so fast that spring and damper carry that: force and energy are
    continuous, and every joule of sliding is booked. What the spring still holds at lift-off is lost. The
    damper is needed: it is how fast the spring follows.
    """
    _positive(stiffness, "stiffness")
    _positive(damping, "damping")
    _not_negative(mu, "mu")
    return AnchoredFriction(stiffness, damping, mu)


@checked
def viscous(damping: Expression) -> SmoothFriction:
    """Friction of `damping` [N s/m] times the velocity along the ground, without a limit."""
    d = _not_negative(damping, "damping")
    return SmoothFriction("viscous", lambda normal, v: -d * v, (damping,))


@checked
def coulomb(mu: Expression, speed: Expression = 1e-3) -> SmoothFriction:
    """mu times the normal force against the velocity, smoothed below `speed` [m/s]: what should stick
    creeps."""
    m, slow = _not_negative(mu, "mu"), _positive(speed, "speed")
    return SmoothFriction(
        "coulomb",
        push=lambda normal, v: -m * normal * v / ca.sqrt(ca.sumsqr(v) + slow**2),
        numbers=(mu, speed),
        mu=mu,
    )


def _positive_depth(x: ca.SX) -> ca.SX:
    """The depth [m], at least `MIN_DEPTH`."""
    return ca.fmax(sx(x), MIN_DEPTH)


def _positive(value: Expression, name: str) -> ca.SX:
    """A number of a law as an expression; raises ModelError unless it is positive."""
    check.number(value, f"the {name} of a contact law", low=0.0, above=True)
    return sx(value)


def _not_negative(value: Expression, name: str) -> ca.SX:
    """A number of a law as an expression; raises ModelError if it is negative."""
    check.number(value, f"the {name} of a contact law", low=0.0)
    return sx(value)
