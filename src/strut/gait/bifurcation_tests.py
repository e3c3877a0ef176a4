"""Test functions of bifurcations: numbers along a branch of gaits that are zero where it folds, doubles its
period, or a torus leaves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from strut.gait.gait import dies_out


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """A gait on a branch: the parameter's value, free states, period [s], multipliers, and the branch's
    direction there."""

    value: float
    y: np.ndarray
    period: float
    multipliers: np.ndarray
    jacobian: np.ndarray = field(repr=False)
    tangent: np.ndarray = field(repr=False)

    @property
    def stable(self) -> bool:
        return dies_out(self.multipliers)


def _fold(point: BranchPoint) -> float:
    return float(point.tangent[-1])


def _doubling(point: BranchPoint) -> float:
    return float(np.linalg.det(point.jacobian + np.eye(len(point.jacobian))))


def _torus(point: BranchPoint) -> float:
    """Of all pairs of multipliers, the product of (product - 1): zero where a complex pair, or a and 1/a,
    meet the unit circle."""
    values = point.multipliers
    pairs = [values[i] * values[j] - 1 for i in range(len(values)) for j in range(i)]
    return float(np.real(np.prod(pairs))) if pairs else 1.0


TESTS: dict[str, Callable[[BranchPoint], float]] = {"fold": _fold, "doubling": _doubling, "torus": _torus}


def is_bifurcation(kind: str, point: BranchPoint) -> bool:
    """Does a root of a test belong to its kind? A real pair a, 1/a is no torus; a jump of sign is no root."""
    values = point.multipliers
    if kind == "torus":
        return bool(np.any((np.abs(values.imag) > 1e-6) & (np.abs(np.abs(values) - 1) < 1e-6)))
    if kind == "doubling":
        return bool(np.abs(values + 1).min() < 1e-6)
    return abs(point.tangent[-1]) < 1e-5


__all__ = ["TESTS", "BranchPoint", "is_bifurcation"]
