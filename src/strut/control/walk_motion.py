"""`zmp_walk`: a `WalkPattern` as a motion of the joints of any machine on two legs of six joints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from strut.checks import checked, integer, ordered_pair
from strut.control.leg_inverse import LegInverse
from strut.control.reference import ReferenceSignal, spline
from strut.control.walk_pattern import WalkPattern
from strut.errors import ValueRangeError

Sole = tuple[tuple[float, float], tuple[float, float]]
"""A rectangle in a foot's frame [m]: from back to front along x, from right to left along y."""

ZMP_CORRECTIONS = 2
"""How often the motion of the centre of mass is corrected for what the bodies' own motion does to the ZMP."""


@dataclass(frozen=True, eq=False)
class WalkMotion:
    """A walk, sampled evenly in time.

    t: [s]. coordinates: of the machine, columns by name of state, of its base too. joints: names of those of
    the legs. feet: right and left, x, y, z in the last axis [m]. com: x, y, z [m]. zmp: of all bodies that
    move so, and its reference, x and y [m]. residual: largest error of the inverse
    kinematics [m, rad].
    """

    pattern: WalkPattern
    t: np.ndarray = field(repr=False)
    coordinates: Mapping[str, np.ndarray] = field(repr=False)
    joints: tuple[str, ...] = field(repr=False)
    feet: np.ndarray = field(repr=False)
    com: np.ndarray = field(repr=False)
    zmp: np.ndarray = field(repr=False)
    zmp_reference: np.ndarray = field(repr=False)
    residual: float = 0.0

    @property
    def every(self) -> float:
        """The period of the samples [s]."""
        return float(self.t[1] - self.t[0])

    @property
    def begin(self) -> dict[str, float]:
        """The coordinates at the beginning, by name: where a run begins, x0=motion.begin."""
        return {name: float(column[0]) for name, column in self.coordinates.items()}

    def angles(self) -> dict[str, np.ndarray]:
        """The angles of the legs over time, by joint [rad]."""
        return {name: self.coordinates[name] for name in self.joints}

    def references(self) -> dict[str, ReferenceSignal]:
        """What servos follow, by joint: cubic splines, whose numbers are compiled into the machine. Where
        many walks are tried, `MotionPlayer` compiles once."""
        return {name: spline(self.t, column) for name, column in self.angles().items()}

    def support_margin(self, sole: Sole) -> np.ndarray:
        """Return how far inside the support polygon the ZMP is, at each moment [m]; negative outside.

        The polygon is the convex hull of the soles that are down. sole: as of `Sole`.
        """
        return _margins(self.zmp, self.feet[:, :, :2], self.pattern.feet_down(self.t), _sole(sole))


@checked
def zmp_walk(legs: LegInverse, pattern: WalkPattern, knots_per_step: int = 20) -> WalkMotion:
    """Return the motion of a machine that walks by a pattern.

    legs: its inverse kinematics. knots_per_step: samples of a step; the motion between them is left to
        splines. Raises ValueRangeError where a leg does not reach or a joint would leave its range.
    """
    integer("knots_per_step", knots_per_step, 4)
    own_g = legs.mechanism.values(legs.mechanism.g).item()
    if not math.isclose(own_g, pattern.g):
        raise ValueRangeError(
            f"the walk is planned for g = {pattern.g:g} m/s^2, and '{legs.mechanism.name}' has {own_g:g}: "
            f"give the pattern the machine's"
        )
    every = pattern.step_time / knots_per_step
    t = every * np.arange(math.ceil(pattern.duration / every - 1e-9) + 1)
    feet, reference = pattern.feet(t), pattern.zmp_reference(t)
    carts = [pattern.cart]
    q = None
    for _ in range(1 + ZMP_CORRECTIONS):
        com = np.column_stack([sum(cart.place_at(t) for cart in carts), np.full(len(t), pattern.com_height)])
        q = legs.solve(feet, com, pattern.trunk_pitch, near=q)
        zmp = legs.zmp(q, every, pattern.g)
        # what the legs' own motion does to the ZMP is taken out by a further motion of the mass, which is
        # previewed too (Kajita et al. 2003, section 4)
        missing = reference - zmp
        carts.append(pattern.plan_cart(np.column_stack([np.interp(carts[0].t, t, e) for e in missing.T])))
    assert q is not None
    motion = WalkMotion(
        pattern=pattern,
        t=t,
        coordinates=legs.coordinates(q),
        joints=legs.joints,
        feet=feet,
        com=com,
        zmp=zmp,
        zmp_reference=reference,
        residual=float(legs.errors(q, feet, com, pattern.trunk_pitch).max()),
    )
    for joint, (low, high) in legs.mechanism.limits.items():
        angle = motion.coordinates.get(joint)
        if angle is not None and not (low <= angle.min() and angle.max() <= high):
            raise ValueRangeError(
                f"the walk takes '{joint}' from {angle.min():.3g} to {angle.max():.3g}, and its range is "
                f"{low:.3g} to {high:.3g}: take shorter steps, or another height or lean"
            )
    return motion


def _sole(sole: Sole) -> np.ndarray:
    """Return the corners of a sole, or raise what is wrong with it."""
    (back, front), (right, left) = (
        ordered_pair(f"the sole {word}", pair)
        for word, pair in zip(("along x", "along y"), sole, strict=True)
    )
    return np.array([(back, right), (front, right), (front, left), (back, left)])


def _margins(points: np.ndarray, feet: np.ndarray, down: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return how far inside the hull of the soles that are down points are.

    The hull of a rectangle and its copy elsewhere has edges along those of the rectangle and along the way
    from one to the other: its support functions along their normals tell the distance.
    """
    way = feet[:, 1] - feet[:, 0]
    across = (
        np.column_stack([-way[:, 1], way[:, 0]]) / np.maximum(np.linalg.norm(way, axis=1), 1e-12)[:, None]
    )
    least = np.full(len(points), np.inf)
    both = down.all(axis=1)
    for normal in (*np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), across, -across):
        normals = np.broadcast_to(normal, points.shape)
        reach = np.max(normals @ corners.T, axis=1)[:, None] + np.einsum("tk,tfk->tf", normals, feet)
        edge = np.where(down, reach, -np.inf).max(axis=1)
        margin = edge - np.einsum("tk,tk->t", normals, points)
        applies = both if normal.ndim == 2 else np.ones(len(points), dtype=bool)
        least = np.where(applies, np.minimum(least, margin), least)
    return least


__all__ = ["Sole", "WalkMotion", "zmp_walk"]
