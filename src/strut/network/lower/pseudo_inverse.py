"""The Moore-Penrose pseudo-inverse of a matrix of expressions: a fixed number of Householder reflections, and
nothing squared.

A column-pivoted QR factorisation, then QR factorisations of the transposed factor in turn (Stewart's QLP
decomposition, which is the unshifted QR iteration), separate the directions that are kept from those below
the threshold; a complete orthogonal decomposition of what is kept is inverted. No step depends on singular
values being distinct, so derivatives exist wherever the rank stays, also where singular values repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

Matrix = ca.SX

MIN_SINGULAR_VALUE = 1e-6
"""Relative to the largest singular value: smaller ones count as zero, as in the original."""
MIN_PIVOT = 1e-14
"""Relative to the length of the longest column: what is left of a column in the first factorisation and is
shorter is rounding error, and set to zero."""
QR_ITERATIONS = 2
"""Number of pairs of QR factorisations after the first. With each, what still mixes the kept with the dropped
shrinks by the fourth power of the ratio of the singular values on both sides of the threshold."""


@dataclass(frozen=True)
class _Reflection:
    """A Householder reflection, x - scale v vᵀ x, of the rows from `first` on."""

    first: int
    v: Matrix
    scale: Matrix

    def apply(self, m: Matrix) -> Matrix:
        """The matrix with its rows reflected."""
        lower = m[self.first :, :]
        return ca.vertcat(
            m[: self.first, :], lower - ca.mtimes(self.v, self.scale * ca.mtimes(self.v.T, lower))
        )


def pinv(a: Matrix) -> Matrix:
    """The Moore-Penrose pseudo-inverse of a matrix.

    Singular values below `MIN_SINGULAR_VALUE` of the largest count as zero; derivatives exist where the rank
    stays.
    """
    if a.numel() == 0:
        return a.T
    if a.is_constant():
        return ca.SX(ca.DM(np.linalg.pinv(np.array(ca.DM(a)), rcond=MIN_SINGULAR_VALUE)))
    if min(a.shape) == 1:
        size = ca.sumsqr(a)
        return ca.if_else(size == 0, ca.SX.zeros(*a.T.shape), a.T / ca.if_else(size == 0, 1, size))
    # Columns of the basis below the threshold are dropped by zeros, for the rank is known only while running.
    a = ca.densify(a)
    scale = _nonzero(ca.mmax(ca.fabs(a)))
    a = a / scale
    basis, sizes = _left_basis(a)
    rank = len(sizes)
    dropped = [sizes[0] <= 0]
    for size in sizes[1:]:
        dropped.append(ca.logic_or(dropped[-1], size <= MIN_SINGULAR_VALUE * sizes[0]))
    kept_basis = basis * ca.repmat(1 - ca.horzcat(*dropped), a.shape[0], 1)
    # Complete orthogonal decomposition of what is kept; dropped rows get a diagonal that can be divided by.
    rows, triangle = _factor(ca.mtimes(a.T, kept_basis))
    for k in range(rank):
        triangle[k, k] = ca.if_else(dropped[k], 1, triangle[k, k])
    result = ca.vertcat(_solve_lower(triangle.T, kept_basis.T), ca.SX.zeros(a.shape[1] - rank, a.shape[0]))
    for reflection in reversed(rows):
        result = reflection.apply(result)
    return result / scale


def _left_basis(a: Matrix) -> tuple[Matrix, list[Matrix]]:
    """An orthonormal basis of the columns of a matrix, the longest directions first, and approximate singular
    values."""
    first, rows = _factor_with_pivots(a)
    rank = rows.shape[0]
    _, triangle = _factor(rows.T)
    turns: list[list[_Reflection]] = []
    for turn in range(QR_ITERATIONS):
        reflections, triangle = _factor(triangle.T)
        turns.append(reflections)
        if turn + 1 < QR_ITERATIONS:
            _, triangle = _factor(triangle.T)
    basis = ca.SX.eye(rank)
    for reflections in reversed(turns):
        for reflection in reversed(reflections):
            basis = reflection.apply(basis)
    basis = ca.vertcat(basis, ca.SX(a.shape[0] - rank, rank))
    for reflection in reversed(first):
        basis = reflection.apply(basis)
    return basis, [ca.fabs(triangle[k, k]) for k in range(rank)]


def _factor_with_pivots(a: Matrix) -> tuple[list[_Reflection], Matrix]:
    """Factorise with column pivoting: what is left of the longest column goes first.

    Returns the reflections, and R with its columns where they were.
    """
    r, reflections = a, []
    largest = ca.SX(0)
    for k in range(min(a.shape)):
        left = r[k:, :]
        lengths = ca.sum1(left * left)
        longest = ca.mmax(lengths)
        if k == 0:
            largest = longest
        chosen, is_chosen = [], ca.SX(0)
        for j in range(a.shape[1]):
            this = ca.logic_and(lengths[j] >= longest, ca.logic_not(is_chosen))
            is_chosen = ca.logic_or(is_chosen, this)
            chosen.append(this)
        column = ca.mtimes(left, ca.vertcat(*chosen))
        rounding = longest <= MIN_PIVOT**2 * largest
        if k == a.shape[0] - 1:
            r = ca.vertcat(r[:k, :], ca.if_else(rounding, ca.SX.zeros(1, a.shape[1]), left))
            break
        reflection = _reflection(k, ca.if_else(rounding, ca.SX.zeros(*column.shape), column))
        reflections.append(reflection)
        r = reflection.apply(r)
        row = ca.if_else(rounding, ca.SX.zeros(1, a.shape[1]), r[k, :])
        r = ca.vertcat(r[:k, :], row, r[k + 1 :, :])
    return reflections, r[: min(a.shape), :]


def _factor(a: Matrix) -> tuple[list[_Reflection], Matrix]:
    """Factorise a matrix with at least as many rows as columns (QR): the reflections, and the triangle R."""
    r, reflections = a, []
    rows, columns = a.shape
    for k in range(min(columns, rows - 1)):
        reflection = _reflection(k, r[k:, k])
        reflections.append(reflection)
        r = reflection.apply(r)
        r[k + 1 :, k] = 0
    return reflections, r[:columns, :]


def _reflection(first: int, x: Matrix) -> _Reflection:
    """The Householder reflection that turns x onto its first axis; the identity where x is zero."""
    size = ca.sumsqr(x)
    length = ca.sqrt(_nonzero(size))
    head = length + ca.fabs(x[0])
    v = ca.vertcat(ca.if_else(x[0] >= 0, head, -head), x[1:])
    return _Reflection(first, v, ca.if_else(size == 0, 0, 1 / (length * head)))


def _solve_lower(lower: Matrix, b: Matrix) -> Matrix:
    """Solve lower x = b by forward substitution."""
    rows: list[Matrix] = []
    for k in range(lower.shape[0]):
        rest = b[k, :] - ca.mtimes(lower[k, :k], ca.vertcat(*rows)) if k else b[k, :]
        rows.append(rest / lower[k, k])
    return ca.vertcat(*rows)


def _nonzero(value: Matrix) -> Matrix:
    """The value, or 1 where it is 0, so that it can be divided by."""
    return ca.if_else(value == 0, 1, value)
