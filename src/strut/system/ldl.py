"""Symmetric positive definite matrices of expressions: factorised once, solved often."""

from __future__ import annotations

import casadi as ca


class Factors:
    """LTDL factors A = L' D L of a symmetric positive definite matrix, from the last unknown to the first.

    On a mass matrix whose velocities are ordered from root to tip this makes no zero non-zero."""

    def __init__(self, A: ca.SX) -> None:
        n = A.shape[0]
        H = [[A[max(i, j), min(i, j)] for j in range(n)] for i in range(n)]
        self.inverse = [
            ca.SX(0)
        ] * n  # of D; a division takes as long as several products, so there is one a row
        for k in reversed(range(n)):
            self.inverse[k] = 1 / H[k][k]
            for i in reversed(range(k)):
                if H[k][i].is_zero():
                    continue
                a = H[k][i] * self.inverse[k]
                for j in range(i + 1):
                    if not H[k][j].is_zero():
                        H[i][j] = H[i][j] - a * H[k][j]
                H[k][i] = a
        self.L = H  # below its diagonal

    def solve(self, b: ca.SX) -> ca.SX:
        """x of A x = b; of several, as columns."""
        n = len(self.L)
        x = [b[i, :] for i in range(n)]
        for k in reversed(range(n)):
            for i in range(k):
                if not self.L[k][i].is_zero():
                    x[i] = x[i] - self.L[k][i] * x[k]
        for k in range(n):
            x[k] = x[k] * self.inverse[k]
            for j in range(k):
                if not self.L[k][j].is_zero():
                    x[k] = x[k] - self.L[k][j] * x[j]
        return ca.vertcat(*x) if n else ca.SX(0, b.shape[1])


def solve_ltdl(A: ca.SX, b: ca.SX) -> ca.SX:
    """x of A x = b, where A is needed once; see `Factors`."""
    return Factors(A).solve(b)
