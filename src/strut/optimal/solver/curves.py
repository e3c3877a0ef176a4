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


@dataclass(frozen=True, eq=False)
class PhaseCurve:
    """A curve over time as one over places from 0, at the time `begin` [s], to 1, `span` [s] later."""

    curve: HermiteCurve | PiecewiseCurve
    begin: float
    span: float

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """Return the values at places, rows."""
        return self.curve(self.begin + self.span * np.asarray(s))


__all__ = ["HermiteCurve", "PhaseCurve", "PiecewiseCurve"]
