"""Reduced dynamics: the fewest velocities that say how a closed mechanism moves, chosen automatically or by
name."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.errors import ModelError, did_you_mean
from strut.mechanism.closure import drift
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.tree import Tree
from strut.system import solve_ltdl

MIN_REGULARITY = 1e-3
"""[1] |det K_d|, of that at the start, below which the chosen velocities no longer say how it moves."""


class Reduced:
    """Accelerations and forces of a closed tree in independent velocities w: v = T(q) w + v0(t).

    The other velocities follow from K v = k0. All coordinates are kept; those of the other joints are pulled
    back to the closure with the rate `stabilise` [1/s].
    """

    def __init__(
        self, tree: Tree, closure: ConstraintRows, independent: Sequence[int], stabilise: ca.SX
    ) -> None:
        self.tree, self.closure, self.stabilise = tree, closure, stabilise
        self.independent = list(independent)
        self.dependent = [k for k in range(tree.nv) if k not in self.independent]
        self._Q, self._R = ca.qr(closure.K[:, self.dependent])
        self.T = self._in_tree_order(
            ca.SX.eye(len(self.independent)), -self._solve(closure.K[:, self.independent])
        )

    def _in_tree_order(self, independent: ca.SX, dependent: ca.SX) -> ca.SX:
        """Rows of both kinds, back in the tree's order."""
        order = np.argsort([*self.independent, *self.dependent])
        return ca.vertcat(independent, dependent)[[int(k) for k in order], :]

    def _solve(self, b: ca.SX) -> ca.SX:
        """Solve K_d x = b by the QR factors of K_d."""
        return _back_substitute(self._R, self._Q.T @ b)

    def _dependent_velocities(self, b: ca.SX) -> ca.SX:
        """The velocities that have K v = b and move nothing independent."""
        return self._in_tree_order(ca.SX.zeros(len(self.independent), b.shape[1]), self._solve(b))

    def velocity(self) -> ca.SX:
        """All velocities as expressions of the independent ones."""
        return self.T @ self.tree.v[self.independent] + self._dependent_velocities(self.closure.k0)

    def correction(self) -> ca.SX:
        """Velocities that pull the dependent coordinates back to the closure."""
        return self._dependent_velocities(-self.stabilise * self.closure.phi)

    def mass_matrix(self) -> ca.SX:
        """The mass matrix of the independent velocities, T' M T."""
        return self.T.T @ self.tree.mass_matrix @ self.T

    def forward(self, tau: ca.SX) -> tuple[ca.SX, ca.SX]:
        """All accelerations, and the constraints' forces along their rows."""
        tree = self.tree
        turning = self._dependent_velocities(-drift(tree, self.closure))
        push = tau - tree.bias - tree.mass_matrix @ turning
        acceleration = self.T @ solve_ltdl(self.mass_matrix(), self.T.T @ push) + turning
        missing = tree.mass_matrix @ acceleration + tree.bias - tau
        force = self._Q @ _forward_substitute(self._R, missing[self.dependent])  # K_d' force = missing
        return acceleration, force

    def project_state(self) -> tuple[ca.SX, ca.SX]:
        """Coordinates moved onto the closure by one Newton step, the independent ones held."""
        tree = self.tree
        shift = ca.substitute([tree.qdot], [tree.v], [self._dependent_velocities(-self.closure.phi)])[0]
        return tree.q + shift, tree.v

    def regularity(self) -> ca.SX:
        """|det K_d|: zero where the independent velocities no longer determine the others."""
        regular = ca.SX(1)
        for k in range(len(self.dependent)):
            regular = regular * ca.fabs(self._R[k, k])
        return regular


def _back_substitute(R: ca.SX, b: ca.SX) -> ca.SX:
    """Solve R x = b by back substitution, R upper triangular."""
    n = R.shape[0]
    x: list[ca.SX] = [b[k, :] for k in range(n)]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = x[k] - R[k, j] * x[j]
        x[k] = x[k] / R[k, k]
    return ca.vertcat(*x) if n else b


def _forward_substitute(R: ca.SX, b: ca.SX) -> ca.SX:
    """Solve R' x = b by forward substitution, R upper triangular."""
    n = R.shape[0]
    x: list[ca.SX] = [b[k] for k in range(n)]
    for k in range(n):
        for j in range(k):
            x[k] = x[k] - R[j, k] * x[j]
        x[k] = x[k] / R[k, k]
    return ca.vertcat(*x) if n else b


def choose_independent(tree: Tree, K: np.ndarray, asked_names: Sequence[str] | bool) -> list[int]:
    """Choose the velocities to keep: those of the joints named, or those that leave the others best
    determined.

    Elimination with complete pivoting on K: a column with a large pivot is one the closure determines well.
    """
    kept_velocities: list[int] = []
    for name in () if isinstance(asked_names, bool) else asked_names:
        if name not in tree.v_of:
            raise ModelError(
                f"mechanism '{tree.mechanism.name}' has no joint '{name}' to keep: "
                f"{did_you_mean(name, list(tree.v_of))}"
            )
        kept_velocities += range(tree.v_of[name].start, tree.v_of[name].stop)
    rest, scale = K.astype(float).copy(), np.abs(K).max(initial=1e-300)
    open_columns = [k for k in range(tree.nv) if k not in kept_velocities]
    for _ in range(len(K)):
        part = np.abs(rest[:, open_columns]) if open_columns else np.zeros((len(K), 0))
        if part.max(initial=0.0) < 1e-9 * scale:
            named = "" if isinstance(asked_names, bool) else f" with {', '.join(map(repr, asked_names))} kept"
            raise ModelError(
                f"the velocities of '{tree.mechanism.name}' cannot be reduced{named}: {len(K)} constraints "
                f"leave {tree.nv - len(K)} free; "
                "name fewer joints or others, or give reduced=True"
            )
        row, at = np.unravel_index(int(part.argmax()), part.shape)
        column = open_columns.pop(int(at))
        pivot = rest[row].copy()
        rest -= np.outer(rest[:, column] / pivot[column], pivot)
    return sorted([*kept_velocities, *open_columns])
