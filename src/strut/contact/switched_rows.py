"""Constraint rows that can be switched: one expression for every contact situation.

Each row has a switch, 1 where it holds and 0 where it does not; each contact may slide, and then its friction follows from
its normal force. Rows that repeat each other share the load as equally soft supports would.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from strut.system import Factors

SOFTNESS = 1e-8  # of the mean diagonal, where rows may repeat each other; two corrections bring its error to rounding
CORRECTIONS = 2


@dataclass(frozen=True, eq=False)
class Sliding:
    """A friction row whose force is `ratio` times the force of row `normal` while `on` is 1."""

    row: int
    normal: int
    on: ca.SX
    ratio: ca.SX


class Masked:
    """Rows K of a machine whose mass matrix has the factors M, and what forces along them do."""

    def __init__(self, M: Factors, K: ca.SX, redundant: bool = False) -> None:
        self.K, self.redundant = K, redundant
        self.spread = M.solve(K.T)  # M^-1 K'
        self.A = K @ self.spread

    def forces(self, missing: ca.SX, on: ca.SX, sliding: tuple[Sliding, ...] = ()) -> ca.SX:
        """Forces that change the rows' rates by `missing` where `on` is 1, and are 0, or friction, where it is 0."""
        n = self.K.shape[0]
        soft = SOFTNESS * ca.trace(self.A) / n if self.redundant else ca.SX(0)
        held = on
        for s in sliding:
            held = _with(held, s.row, held[s.row] * (1 - s.on))
        hold = ca.diag(held)
        wanted = held * missing
        plain = hold @ self.A @ hold
        if not sliding:
            factors = Factors(plain + ca.SX.eye(n) - hold + soft * hold)
            return self._refined(factors.solve, plain + ca.SX.eye(n) - hold, wanted)
        matrix = hold @ self.A + ca.SX.eye(n) - hold
        for s in sliding:
            matrix[s.row, s.normal] = matrix[s.row, s.normal] - s.on * on[s.row] * s.ratio
        return self._refined(lambda b: solve_lu(matrix + soft * hold, b), matrix, wanted)

    def _refined(self, solve, matrix: ca.SX, wanted: ca.SX) -> ca.SX:  # type: ignore[no-untyped-def]
        found = solve(wanted)
        for _ in range(CORRECTIONS if self.redundant else 0):
            found = found + solve(wanted - matrix @ found)
        return found

    def effect(self, forces: ca.SX) -> ca.SX:
        """Accelerations that forces cause, or changes of velocity that impulses cause."""
        return self.spread @ forces


def _with(vector: ca.SX, k: int, value: ca.SX) -> ca.SX:
    """The vector with one entry changed."""
    copy = ca.SX(vector)
    copy[k] = value
    return copy


def solve_lu(A: ca.SX, b: ca.SX) -> ca.SX:
    """A^-1 b by elimination without exchange of rows: for matrices near to symmetric positive definite."""
    n = A.shape[0]
    rows = [[A[i, j] for j in range(n)] for i in range(n)]
    x = [b[i] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            if rows[i][k].is_zero():
                continue
            factor = rows[i][k] / rows[k][k]
            for j in range(k + 1, n):
                if not rows[k][j].is_zero():
                    rows[i][j] = rows[i][j] - factor * rows[k][j]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            if not rows[k][j].is_zero():
                x[k] = x[k] - rows[k][j] * x[j]
        x[k] = x[k] / rows[k][k]
    return ca.vertcat(*x) if n else ca.SX(0, 1)
