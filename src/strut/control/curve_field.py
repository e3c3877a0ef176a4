"""Vector fields that lead to a curve and along it: what port-based tracking follows in the place of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from strut.checks import checked, finite, integer
from strut.errors import ModelError, ValueRangeError
from strut.gait import Gait
from strut.system import sx

Field = Callable[[ca.SX], ca.SX]
"""From coordinates to the direction of motion wanted there; only its direction matters."""
CURVE_POINTS = 60
"""Points in which a gait is read as a curve."""
MIN_CURVE_POINTS = 4
"""Points of a curve, at least."""
MAX_CURVE_POINTS = 2000
"""Points of a curve in a field, at most: each is a term of the machine's equations."""
MAX_DEGREE = 10
"""Degree of the polynomial of a fitted field, at most."""
MIN_DETERMINANT = 1e-9
"""[1] Determinant, at least, of a matrix in which distances are measured: with less it has no inverse."""
RIBBON_LINES = 7
"""Lines along the curve, itself included, on which a polynomial is fitted."""


@checked
def curve_of(gait: Gait, coordinates: Sequence[str], points: int = CURVE_POINTS) -> np.ndarray:
    """Return the curve that coordinates of a gait run through in a step: a row for each of its points, at
    equal distances in time."""
    integer("points of a curve", points, MIN_CURVE_POINTS)
    run = gait.trajectory.at(np.linspace(0.0, gait.period * (1 - 1e-9), points))
    return np.column_stack([run[name] for name in coordinates])


@checked
def nearest_point_field(
    curve: np.ndarray,
    *,
    pull: float = 3.0,
    width: float = 0.02,
    beyond: float = 0.5,
    measure: np.ndarray | None = None,
) -> Field:
    """Return the field t + pull (c - q): along the curve at its point c nearest to q, and towards it.

    curve: a row for each point. pull: [1/rad, or one over the unit of the coordinates] how strongly it leads
        back. width: [of the coordinates] over which nearest points are averaged (Gaussian weights), so that
        the field is smooth. beyond: by how much the curve goes on straight at both ends. measure: a matrix;
        what is near is then measured in measure @ q: [[1, 0], [-1, 1]] takes the angle between two legs for
        the second.
    """
    matrix = _checked_measure(measure, curve)
    curve = _checked_curve(curve) @ matrix.T
    points = _resample_curve(curve, _positive("width", width), _positive("beyond", beyond, zero=True))
    tangents = _tangents(points)
    _positive("pull", pull, zero=True)

    def field(coordinates: ca.SX) -> ca.SX:
        q = ca.DM(matrix) @ coordinates
        squares = ca.vertcat(*[ca.sumsqr(q - ca.DM(row)) for row in points]) / (2 * width**2)
        # the least is taken off all of them: far away the weights would all be zero
        weights = ca.exp(ca.mmin(squares) - squares)
        weights = weights / ca.sum1(weights)
        nearest = ca.mtimes(ca.DM(points.T), weights)
        along = ca.mtimes(ca.DM(tangents.T), weights)
        direction = along + pull * (nearest - q)
        return sx(ca.DM(np.linalg.inv(matrix)) @ (direction / ca.norm_2(direction)))

    return field


@checked
def fitted_field(
    curve: np.ndarray,
    *,
    degree: int = 4,
    pull: float = 4.0,
    reach: float = 0.2,
    beyond: float = 0.1,
    measure: np.ndarray | None = None,
) -> Field:
    """Return a field in two coordinates whose direction is a polynomial of them (Duindam, 5.28): fitted by
    least squares to the directions along the curve, and towards it on lines beside it.

    curve: a row for each point. degree: of the polynomial, 4 as his (15 coefficients). pull: how strongly the
        lines beside the curve lead back. reach: how far they lie to both sides. beyond: by how much all go on
        at both ends. Farther away the polynomial is what it is there: nothing is promised. measure: as of
        `nearest_point_field`.
    """
    matrix = _checked_measure(measure, curve)
    points = _checked_curve(curve) @ matrix.T
    if points.shape[1] != 2:
        raise ModelError(
            f"a fitted field has two coordinates, and the curve {points.shape[1]}: use nearest_point_field"
        )
    integer("degree of a fitted field", degree, 1, MAX_DEGREE)
    spread = _positive("reach", reach)
    points = _resample_curve(points, reach / 10, _positive("beyond", beyond, zero=True))
    tangents = _tangents(points)
    normals = np.column_stack([-tangents[:, 1], tangents[:, 0]])
    offsets = np.linspace(-spread, spread, RIBBON_LINES)
    places = np.vstack([points + s * normals for s in offsets])
    directions = np.vstack([tangents - pull * s * normals for s in offsets])
    # angles are counted from the middle of the curve, so that they do not jump along it
    heading = tangents[len(tangents) // 2]
    turned = directions @ np.column_stack([heading, [-heading[1], heading[0]]])
    angles = np.arctan2(turned[:, 1], turned[:, 0])
    # what is near the curve counts most: there the field is followed
    weights = np.repeat(1 / (1 + (4 * offsets / spread) ** 2), len(points))
    powers = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    middle, size = points.mean(axis=0), np.abs(points - points.mean(axis=0)).max()
    basis = _monomials((places - middle) / size, powers)
    coefficients = np.linalg.lstsq(basis * weights[:, None], angles * weights, rcond=None)[0]

    def field(coordinates: ca.SX) -> ca.SX:
        q = ca.DM(matrix) @ coordinates
        a, b = (q[0] - middle[0]) / size, (q[1] - middle[1]) / size
        angle = sum(
            (float(c) * a**i * b**j for c, (i, j) in zip(coefficients, powers, strict=True)), ca.SX(0)
        )
        c, s = ca.cos(angle), ca.sin(angle)
        direction = ca.vertcat(c * heading[0] - s * heading[1], s * heading[0] + c * heading[1])
        return sx(ca.DM(np.linalg.inv(matrix)) @ direction)

    return field


def _monomials(places: np.ndarray, powers: list[tuple[int, int]]) -> np.ndarray:
    """The products of powers of two coordinates, a row for each place."""
    return np.column_stack([places[:, 0] ** i * places[:, 1] ** j for i, j in powers])


def _positive(word: str, value: float, *, zero: bool = False) -> float:
    """A number above zero, or zero where that is allowed."""
    number = finite(f"{word} of a field", value)
    if number < 0 or (number == 0 and not zero):
        raise ValueRangeError(
            f"{word} of a field is {number:g}: {'0 or more' if zero else 'a positive number'} is needed"
        )
    return number


def _checked_curve(curve: np.ndarray) -> np.ndarray:
    """The points of a curve, checked, none twice in a row."""
    points = np.asarray(curve, dtype=float)
    if points.ndim != 2 or points.shape[0] < MIN_CURVE_POINTS or not np.isfinite(points).all():
        raise ModelError(
            f"a curve is an array of finite numbers, a row for each of {MIN_CURVE_POINTS} points or more, "
            f"not one of shape {points.shape}"
        )
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if (lengths == 0).any():
        raise ModelError(
            f"point {int(np.argmin(lengths)) + 1} of a curve is where the one before it is: leave it out"
        )
    return points


def _checked_measure(measure: np.ndarray | None, curve: np.ndarray) -> np.ndarray:
    """The matrix in which distances are measured, the identity where none is given."""
    count = _checked_curve(curve).shape[1]
    matrix = np.eye(count) if measure is None else np.asarray(measure, dtype=float)
    if matrix.shape != (count, count) or abs(np.linalg.det(matrix)) < MIN_DETERMINANT:
        raise ModelError(
            f"the measure of a field is a matrix of {count} rows and columns that has an inverse, not "
            f"{matrix.tolist()}"
        )
    return matrix


def _resample_curve(points: np.ndarray, spacing: float, beyond: float) -> np.ndarray:
    """Points of a curve at equal distances, at most a spacing apart, by cubic splines; straight on at both
    ends."""
    from scipy.interpolate import CubicSpline

    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    total = float(lengths[-1])
    count = (total + 2 * beyond) / spacing
    if count > MAX_CURVE_POINTS:
        raise ValueRangeError(
            f"a curve of length {total:g}, and {beyond:g} beyond at both ends, would have {count:.3g} points "
            f"{spacing:g} apart: up to {MAX_CURVE_POINTS} are allowed, take a larger width or a shorter curve"
        )
    inner = np.asarray(
        CubicSpline(lengths, points, axis=0)(np.linspace(0.0, total, 2 + int(total / spacing)))
    )
    first, last = (_unit(inner[1] - inner[0]), _unit(inner[-1] - inner[-2]))
    steps = np.arange(1, 1 + round(beyond / spacing))[:, None] * spacing
    return np.vstack([inner[0] - steps[::-1] * first, inner, inner[-1] + steps * last])


def _tangents(points: np.ndarray) -> np.ndarray:
    """Unit vectors along a curve, at its points."""
    return np.array([_unit(row) for row in np.gradient(points, axis=0)])


def _unit(vector: np.ndarray) -> np.ndarray:
    """A vector of length one."""
    return np.asarray(vector / np.linalg.norm(vector))


__all__ = ["Field", "curve_of", "fitted_field", "nearest_point_field"]
