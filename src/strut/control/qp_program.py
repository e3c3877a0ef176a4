"""Quadratic programs (QP) as expressions: unknowns, goals that are met as well as weights say (weighted least
squares), rows and bounds that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from strut.checks import checked, integer
from strut.codegen import QpShape
from strut.errors import ModelError, ShapeError
from strut.system import Expression, Packed, Quantity, sx


@checked
class QpUnknown(Quantity):
    """An unknown of a quadratic program: an acceleration, a force. A vector by the length of its `value`."""

    kind = "unknown"


@checked
@dataclass(frozen=True, eq=False)
class QpGoal(Packed):
    """Something that should be zero: its squares are made small.

    residual: affine in the unknowns; a number or a column.
    weight: of half the squared residual, one number or one for each row; an expression, so that it may be a
        parameter or switched off by 0.
    level: goals of level 1 are met before those of level 2 are looked at, and so on (lexicographic, a
        hierarchical program).
    """

    name: str
    residual: Expression
    weight: Expression = 1.0
    level: int = 1

    def __post_init__(self) -> None:
        integer(f"level of goal '{self.name}'", self.level, 1)


@checked
@dataclass(frozen=True, eq=False)
class QpRow(Packed):
    """Something that stays between two values: low <= value <= up.

    value: affine in the unknowns; a number or a column. low, up: equal ones are an equation; infinite ones
        are no limit.
    rank: 0 is never given up; where a program has no solution, rows of the highest rank are relaxed first.
    """

    name: str
    value: Expression
    low: Expression = -ca.inf
    up: Expression = ca.inf
    rank: int = 0

    def __post_init__(self) -> None:
        integer(f"rank of row '{self.name}'", self.rank, 0)


@checked
@dataclass(frozen=True, eq=False)
class QpBound(Packed):
    """The range of an unknown: as `QpRow`, and cheaper for the solver. names: of the bound of each of its
    numbers, in messages; the unknown's own without any."""

    unknown: QpUnknown
    low: Expression = -ca.inf
    up: Expression = ca.inf
    rank: int = 0
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        integer(f"rank of the bound of '{self.unknown.name}'", self.rank, 0)
        if self.names and len(self.names) != self.unknown.size:
            raise ShapeError(
                f"the bound of '{self.unknown.name}' has {len(self.names)} names: {self.unknown.size} are "
                f"needed, one for each number, or none"
            )


@checked
@dataclass(frozen=True, eq=False)
class QuadraticProgram(Packed):
    """Minimise `cost` and the weighted squares of `goals` over `unknowns`, within `rows` and `bounds`.

    cost: quadratic in the unknowns, such as a small weight on each of them, which makes the solution unique.
    slack: whether goals get unknowns of their own (the slack form) rather than being multiplied out (direct
        form, faster). Both have one minimiser; whichever is asked for first, the other one is the retry.
    """

    unknowns: Sequence[QpUnknown]
    cost: Expression = 0.0
    goals: Sequence[QpGoal] = ()
    rows: Sequence[QpRow] = ()
    bounds: Sequence[QpBound] = ()
    slack: bool = False
    y: ca.SX = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.unknowns:
            raise ModelError("a quadratic program has no unknowns: give at least one")
        object.__setattr__(self, "y", ca.vertcat(*[each.sym for each in self.unknowns]))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the unknowns, one for each number."""
        return tuple(label for each in self.unknowns for label in each.labels)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the bounds of the unknowns, then of the rows, one for each number."""
        own = {bound.unknown.name: tuple(bound.names) for bound in self.bounds if bound.names}
        names = [name for each in self.unknowns for name in own.get(each.name, each.labels)]
        return (*names, *(row.name for row in self.rows for _ in range(sx(row.value).numel())))

    @property
    def shape(self) -> QpShape:
        """Sizes, levels and ranks."""
        ranks = [0] * int(self.y.numel())
        at = 0
        places = {}
        for each in self.unknowns:
            places[each.name] = range(at, at + each.size)
            at += each.size
        for bound in self.bounds:
            for k in places[bound.unknown.name]:
                ranks[k] = bound.rank
        levels = [goal.level for goal in self.goals for _ in range(sx(goal.residual).numel())]
        ranks += [row.rank for row in self.rows for _ in range(sx(row.value).numel())]
        return QpShape(int(self.y.numel()), tuple(levels), tuple(ranks), self.slack)

    def matrices(self) -> list[ca.SX]:
        """H, g, T, target, w, A, low and up; matrices transposed, so that columns are rows."""
        y, zero = self.y, ca.SX.zeros(self.y.numel())
        cost = sx(self.cost)
        H, gradient = ca.hessian(cost, y)
        _check_free(H, y, "the cost", "quadratic")
        g = ca.substitute([gradient], [y], [zero])[0]
        T, target, w = ca.SX(0, int(y.numel())), ca.SX(0, 1), ca.SX(0, 1)
        for goal in self.goals:
            matrix, constant = self._affine(goal.residual, f"goal '{goal.name}'")
            T, target = ca.vertcat(T, matrix), ca.vertcat(target, -constant)
            w = ca.vertcat(w, _column(goal.weight, matrix.shape[0], f"weight of goal '{goal.name}'"))
        A = ca.SX(0, int(y.numel()))
        low, up = self._bounds()
        for row in self.rows:
            matrix, constant = self._affine(row.value, f"row '{row.name}'")
            A = ca.vertcat(A, matrix)
            low = ca.vertcat(low, _column(row.low, matrix.shape[0], f"row '{row.name}'") - constant)
            up = ca.vertcat(up, _column(row.up, matrix.shape[0], f"row '{row.name}'") - constant)
        return [ca.densify(each) for each in (H, g, T.T, target, w, A.T, low, up)]

    def _bounds(self) -> tuple[ca.SX, ca.SX]:
        """Lower and upper bounds of the unknowns."""
        by_name = {bound.unknown.name: bound for bound in self.bounds}
        strangers = set(by_name) - {each.name for each in self.unknowns}
        if strangers:
            raise ModelError(f"'{min(strangers)}' is bounded and is no unknown of the program: add it")
        low, up = ca.SX(0, 1), ca.SX(0, 1)
        for each in self.unknowns:
            bound = by_name.get(each.name)
            sides = (-ca.inf, ca.inf) if bound is None else (bound.low, bound.up)
            low, up = (
                ca.vertcat(side, _column(value, each.size, f"bound of '{each.name}'"))
                for side, value in zip((low, up), sides, strict=True)
            )
        return low, up

    def _affine(self, expression: Expression, what: str) -> tuple[ca.SX, ca.SX]:
        """Matrix and constant of an expression that is affine in the unknowns."""
        value = sx(expression)
        matrix = ca.jacobian(value, self.y)
        _check_free(matrix, self.y, what, "affine")
        return matrix, ca.substitute([value], [self.y], [ca.SX.zeros(self.y.numel())])[0]


def _check_free(matrix: ca.SX, y: ca.SX, what: str, kind: str) -> None:
    """Refuse coefficients that depend on the unknowns."""
    if matrix.nnz() and ca.depends_on(ca.vertcat(*matrix.nonzeros()), y):
        raise ModelError(f"{what} is not {kind} in the unknowns: a quadratic program needs it so")


def _column(value: Expression, size: int, what: str) -> ca.SX:
    """An expression as a column of so many numbers; one number stands for all."""
    column = sx(value)
    if column.numel() == 1 and size != 1:
        return ca.repmat(column, size, 1)
    if column.numel() != size:
        raise ShapeError(f"{what} has {column.numel()} numbers: {size} are needed, or one for all")
    return ca.vec(column)
