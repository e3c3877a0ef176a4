"""The inertia of a rigid body: mass, first moment and rotational inertia about the body's origin.

These ten numbers add up, so composite bodies are sums; and they stay symbols.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from strut.mechanism.spatial import Pose, cross, skew


@dataclass(frozen=True, eq=False)
class Inertia:
    """mass [kg], h = mass * com [kg m], I about the origin [kg m^2]."""

    mass: ca.SX
    h: ca.SX
    I: ca.SX  # noqa: E741 the symbol everybody uses

    @staticmethod
    def of(mass: ca.SX, com: ca.SX, about_com: ca.SX) -> Inertia:
        """Make one from the inertia about the centre of mass (the parallel axis theorem)."""
        s = skew(com)
        return Inertia(mass, mass * com, about_com - mass * (s @ s))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.I + other.I)

    def times(self, v: ca.SX) -> ca.SX:
        """The momentum of a twist; of several, as columns."""
        angular, linear = v[:3, :], v[3:, :]
        if v.shape[1] == 1:
            return ca.vertcat(
                self.I @ angular + cross(self.h, linear), self.mass * linear - cross(self.h, angular)
            )
        s = skew(self.h)
        return ca.vertcat(self.I @ angular + s @ linear, self.mass * linear - s @ angular)

    def newton_euler(self, origin: ca.SX, turning: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force, and moment about the origin, that accelerate every point r by origin + turning r (Newton-
        Euler)."""
        second = ca.trace(self.I) / 2 * ca.SX.eye(3) - self.I  # sum of m r r'
        W = turning @ second
        moment = ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) + cross(self.h, origin)
        return self.mass * origin + turning @ self.h, moment

    def seen_from(self, X: Pose) -> Inertia:
        """The same inertia in the outer frame of `X`."""
        h = X.R @ self.h
        moved = h + self.mass * X.p
        p, s = skew(X.p), skew(h)
        rotated = X.R @ self.I @ X.R.T
        return Inertia(self.mass, moved, symmetric(rotated - p @ s - skew(moved) @ p))

    def matrix(self) -> ca.SX:
        """The 6 x 6 spatial inertia: the momentum of a twist is this times the twist."""
        s = skew(self.h)
        return ca.vertcat(ca.horzcat(self.I, s), ca.horzcat(s.T, self.mass * ca.SX.eye(3)))


def symmetric(a: ca.SX) -> ca.SX:
    """Copy one half of a matrix that is symmetric onto the other: equal expressions are then one."""
    upper = [[a[min(i, j), max(i, j)] for j in range(a.shape[1])] for i in range(a.shape[0])]
    return ca.vertcat(*[ca.horzcat(*row) for row in upper])
