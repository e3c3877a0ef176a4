"""Constraint rows that can be switched: one expression for every contact situation.

Each row has a switch, 1 where it holds and 0 where it does not; each contact may slide, and then its friction
follows from its normal force. Rows that repeat each other share the load as equally soft supports would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from strut.system import Factors

ROW_SOFTNESS = 1e-8
"""[1] Of the mean diagonal of A: added to it where rows may repeat each other (Tikhonov regularisation)."""
SOFTNESS_CORRECTIONS = 2
"""Steps of iterative refinement that take the error of this softness out again, to rounding."""
MAX_GAIN_CORRECTION = 0.5
"""[1] Of a row's gain: where a step of iterative refinement changes it by more, softness alone bounds it."""


@dataclass(frozen=True, eq=False)
class SlidingRow:
    """A friction row whose force is `ratio` times the force of row `normal` while `on` is 1."""

    row: int
    normal: int
    on: ca.SX
    ratio: ca.SX


@dataclass(frozen=True, eq=False)
class SwitchedRows:
    """Equations `matrix @ forces = switch * missing` of rows that hold or not, with what solves them nearly:
    `corrections` (iterative refinement) make it exact. softness: what was added to the matrix where rows
    hold."""

    solve: Callable[[ca.SX], ca.SX]
    matrix: ca.SX
    switch: ca.SX
    corrections: int
    softness: ca.SX

    def forces(self, missing: ca.SX) -> ca.SX:
        """Forces that change the rates of the rows that hold by `missing`."""
        accelerations = self.switch * missing
        forces = self.solve(accelerations)
        for _ in range(self.corrections):
            forces = forces + self.solve(accelerations - self.matrix @ forces)
        return forces

    def gain(self, row: int) -> ca.SX:
        """How much more force a row needs to change its own rate by one unit more, the other rows in their
        roles. It is negative where friction makes a foot heavier than its push makes it lighter: Painleve's
        paradox."""
        return self._response(row)[row]

    def gains_of_repeating_rows(self, rows: Sequence[int]) -> list[ca.SX]:
        """The gains of rows that may repeat each other; 0 where a row does now. Its force is no function of
        its own rate there: what `gain` answers is the reciprocal of the softness, of either sign, and no
        jam. It tells itself by growing with every step of iterative refinement, of which the first is
        added up here over `rows`."""
        responses = [self._response(row) for row in rows]
        gains = []
        for row, response in zip(rows, responses, strict=True):
            correction = self.softness * sum(
                self.switch[other] * response[other] * theirs[row]
                for other, theirs in zip(rows, responses, strict=True)
            )
            shared = ca.fabs(correction) > MAX_GAIN_CORRECTION * ca.fabs(response[row])
            gains.append(ca.if_else(shared, 0, response[row]))
        return gains

    def _response(self, row: int) -> ca.SX:
        """The forces that change the rate of one row by one unit, and of no other that holds."""
        unit = ca.SX.zeros(self.matrix.shape[0])
        unit[row] = 1
        return self.solve(unit)


class MaskedRows:
    """Rows K of a machine whose mass matrix has the factors M, and what forces along them do."""

    def __init__(self, M: Factors, K: ca.SX, redundant: bool = False) -> None:
        self.K, self.redundant = K, redundant
        self.spread = M.solve(K.T)  # M^-1 K'
        self.A = K @ self.spread

    def row_equations(self, on: ca.SX, sliding: tuple[SlidingRow, ...] = ()) -> SwitchedRows:
        """The equations of the forces where `on` is 1 for the rows that hold; factorised once, for many
        right-hand sides."""
        n = self.K.shape[0]
        soft = ROW_SOFTNESS * ca.trace(self.A) / n if self.redundant else ca.SX(0)
        switch = on
        for s in sliding:
            switch = _with(switch, s.row, switch[s.row] * (1 - s.on))
        hold = ca.diag(switch)
        loose = ca.SX.eye(n) - hold
        corrections = SOFTNESS_CORRECTIONS if self.redundant else 0
        if not sliding:
            plain = hold @ self.A @ hold + loose
            return SwitchedRows(Factors(plain + soft * hold).solve, plain, switch, corrections, soft)
        matrix = hold @ self.A + loose
        for s in sliding:
            matrix[s.row, s.normal] = matrix[s.row, s.normal] - s.on * on[s.row] * s.ratio
        return SwitchedRows(LU(matrix + soft * hold).solve, matrix, switch, corrections, soft)

    def forces(self, missing: ca.SX, on: ca.SX, sliding: tuple[SlidingRow, ...] = ()) -> ca.SX:
        """Forces that change the rows' rates by `missing` where `on` is 1, and are 0, or friction, where it
        is 0."""
        return self.row_equations(on, sliding).forces(missing)

    def effect(self, forces: ca.SX) -> ca.SX:
        """Accelerations that forces cause, or changes of velocity that impulses cause."""
        return self.spread @ forces


def _with(vector: ca.SX, k: int, value: ca.SX) -> ca.SX:
    """The vector with one entry changed."""
    copy = ca.SX(vector)
    copy[k] = value
    return copy


class LU:
    """A = L U of a matrix of expressions, without exchange of rows: for matrices near to symmetric positive
    definite. It is eliminated once, however often it is solved with: CasADi does not find equal expressions
    again."""

    def __init__(self, A: ca.SX) -> None:
        self.n = n = A.shape[0]
        self.rows = rows = [[A[i, j] for j in range(n)] for i in range(n)]  # U, and below the diagonal L
        self.inverse: list[ca.SX] = []
        for k in range(n):
            self.inverse.append(1 / rows[k][k])
            for i in range(k + 1, n):
                if rows[i][k].is_zero():
                    continue
                rows[i][k] = rows[i][k] * self.inverse[k]
                for j in range(k + 1, n):
                    if not rows[k][j].is_zero():
                        rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]

    def solve(self, b: ca.SX) -> ca.SX:
        """x of A x = b."""
        x = [b[i] for i in range(self.n)]
        for k in range(self.n):
            for j in range(k):
                if not self.rows[k][j].is_zero():
                    x[k] = x[k] - self.rows[k][j] * x[j]
        for k in reversed(range(self.n)):
            for j in range(k + 1, self.n):
                if not self.rows[k][j].is_zero():
                    x[k] = x[k] - self.rows[k][j] * x[j]
            x[k] = x[k] * self.inverse[k]
        return ca.vertcat(*x) if self.n else ca.SX(0, 1)
