"""Curves of a motion as data: polynomials between nodes, which can be evaluated, pickled and saved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class HermiteCurve:
    """Cubic (Hermite) polynomials through values x (rows) at nodes, with the rates at the beginning and at
    the end of every interval."""

    nodes: np.ndarray
    x: np.ndarray
    before: np.ndarray
    behind: np.ndarray

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """Return the values at places, rows."""
        nodes, x = self.nodes, self.x
        k = np.clip(np.searchsorted(nodes, s, side="right") - 1, 0, len(nodes) - 2)
        h = (nodes[k + 1] - nodes[k])[:, None]
        a = ((s - nodes[k]) / h[:, 0])[:, None]
        values = (1 + 2 * a) * (1 - a) ** 2 * x[k] + a * (1 - a) ** 2 * h * self.before[k]
        return np.asarray(values + a**2 * (3 - 2 * a) * x[k + 1] + a**2 * (a - 1) * h * self.behind[k])


@dataclass(frozen=True, eq=False)
class CollocationCurve:
    """Polynomials of collocation: through values at places of every interval, by the barycentric formula of
    Lagrange, which is as exact as the values.

    nodes: where intervals begin and end. places: in an interval, 0 to 1, both ends among them. values: by
    interval, place and state.
    """

    nodes: np.ndarray
    places: np.ndarray
    values: np.ndarray

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """Return the values at places of the phase, rows."""
        k = np.clip(np.searchsorted(self.nodes, s, side="right") - 1, 0, len(self.nodes) - 2)
        a = (s - self.nodes[k]) / (self.nodes[k + 1] - self.nodes[k])
        gaps = a[:, None] - self.places
        factors = _barycentric_weights(self.places) / np.where(gaps == 0, 1.0, gaps)
        hits = (gaps == 0).any(axis=1)  # a place itself: its value
        factors[hits] = gaps[hits] == 0
        values: np.ndarray = np.einsum("ij,ijk->ik", factors, self.values[k])
        return np.asarray(values / factors.sum(axis=1)[:, None])


def _barycentric_weights(places: np.ndarray) -> np.ndarray:
    """Return the weights 1 / prod (c_j - c_i) of places c."""
    gaps = places[:, None] - places
    np.fill_diagonal(gaps, 1.0)
    return np.asarray(1 / gaps.prod(axis=1))


@dataclass(frozen=True, eq=False)
class PiecewiseCurve:
    """Piecewise polynomials between nodes. w: values by interval, place in it and input. basis: the
    polynomial of each place, coefficients in rows."""

    nodes: np.ndarray
    w: np.ndarray
    basis: np.ndarray

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """Return the values at places, rows."""
        k = np.clip(np.searchsorted(self.nodes, s, side="right") - 1, 0, len(self.nodes) - 2)
        a = (s - self.nodes[k]) / (self.nodes[k + 1] - self.nodes[k])
        factors = np.vander(a, self.basis.shape[1], increasing=True) @ self.basis.T
        values: np.ndarray = np.einsum("ij,ijk->ik", factors, self.w[k])
        return values


StateCurve = HermiteCurve | CollocationCurve
"""The states of a phase over time."""
MIN_INNER_PLACES = 2
"""Places within an interval from which on collocation has a polynomial of its own, at least a cubic one."""


def state_curve(
    t: np.ndarray,
    x: np.ndarray,
    slopes: tuple[np.ndarray, np.ndarray],
    places: np.ndarray,
    inner: np.ndarray,
) -> StateCurve:
    """Return the states of a phase over time: the polynomials of collocation, where there are any, else cubic
    ones through the nodes.

    t, x: times [s] and states (rows) of the nodes. slopes: rates at the beginning and at the end of every
    interval. places: within an interval, 0 to 1. inner: states there, by interval and place.
    """
    if len(places) < MIN_INNER_PLACES:
        return HermiteCurve(t, x, *slopes)
    values = np.concatenate([x[:-1, None], inner, x[1:, None]], axis=1)
    return CollocationCurve(t, np.concatenate([[0.0], places, [1.0]]), values)


@dataclass(frozen=True, eq=False)
class PhaseCurve:
    """A curve over time as one over places from 0, at the time `begin` [s], to 1, `span` [s] later."""

    curve: StateCurve | PiecewiseCurve
    begin: float
    span: float

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """Return the values at places, rows."""
        return self.curve(self.begin + self.span * np.asarray(s))


__all__ = ["CollocationCurve", "HermiteCurve", "PhaseCurve", "PiecewiseCurve", "StateCurve", "state_curve"]
