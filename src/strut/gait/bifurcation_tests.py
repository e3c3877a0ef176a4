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
        """Whether small disturbances die out."""
        return dies_out(self.multipliers)


def _fold_test(point: BranchPoint) -> float:
    """The parameter's part of the tangent: zero where the branch turns back."""
    return float(point.tangent[-1])


def _doubling_test(point: BranchPoint) -> float:
    """det(J + 1): zero where a multiplier is -1."""
    return float(np.linalg.det(point.jacobian + np.eye(len(point.jacobian))))


def _torus_test(point: BranchPoint) -> float:
    """Of all pairs of multipliers, the product of (product - 1): zero where a complex pair, or a and 1/a,
    meet the unit circle."""
    values = point.multipliers
    pairs = [values[i] * values[j] - 1 for i in range(len(values)) for j in range(i)]
    return float(np.real(np.prod(pairs))) if pairs else 1.0


TESTS: dict[str, Callable[[BranchPoint], float]] = {
    "fold": _fold_test,
    "doubling": _doubling_test,
    "torus": _torus_test,
}
"""Test functions by the kind of bifurcation (torus: Neimark-Sacker) at which each is zero."""
MULTIPLIER_SLACK = 1e-6
"""How near a multiplier must be to where a doubling or a torus has it, and how far from the real axis that of
a torus."""
TANGENT_SLACK = 1e-5
"""Largest part of a unit tangent along the parameter at a fold, in scaled numbers."""


def is_bifurcation(kind: str, point: BranchPoint) -> bool:
    """Say whether a root of a test belongs to its kind. A real pair a, 1/a is no torus; a jump of sign is no
    root."""
    values = point.multipliers
    if kind == "torus":
        on_circle = np.abs(np.abs(values) - 1) < MULTIPLIER_SLACK
        return bool(np.any((np.abs(values.imag) > MULTIPLIER_SLACK) & on_circle))
    if kind == "doubling":
        return bool(np.abs(values + 1).min() < MULTIPLIER_SLACK)
    return bool(abs(point.tangent[-1]) < TANGENT_SLACK)


__all__ = ["TESTS", "BranchPoint", "is_bifurcation"]
