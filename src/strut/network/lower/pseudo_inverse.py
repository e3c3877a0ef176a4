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
"""Of the largest singular value: smaller ones count as zero, as in the original."""
MIN_PIVOT = 1e-14
"""Of the largest column: what is left of a column in the first factorisation and shorter is rounding, and not
followed."""
TURNS = 2
"""Pairs of QR factorisations after the first: with each, what still mixes the kept with the dropped shrinks
by the fourth power of the ratio of the singular values on both sides of the threshold."""


@dataclass(frozen=True)
class _Reflection:
    """x - scale v vᵀ x, on the rows from `first` on."""

    first: int
    v: Matrix
    scale: Matrix

    def apply(self, m: Matrix) -> Matrix:
        lower = m[self.first :, :]
        return ca.vertcat(
            m[: self.first, :], lower - ca.mtimes(self.v, self.scale * ca.mtimes(self.v.T, lower))
        )


def pinv(a: Matrix) -> Matrix:
    """The pseudo-inverse: singular values below `MIN_SINGULAR_VALUE` of the largest count as zero."""
    if a.numel() == 0:
        return a.T
    if a.is_constant():
        return ca.SX(ca.DM(np.linalg.pinv(np.array(ca.DM(a)), rcond=MIN_SINGULAR_VALUE)))
    if min(a.shape) == 1:
        size = ca.sumsqr(a)
        return ca.if_else(size == 0, ca.SX.zeros(*a.T.shape), a.T / ca.if_else(size == 0, 1, size))
    a = ca.densify(a)
    scale = _nonzero(ca.mmax(ca.fabs(a)))
    a = a / scale
    basis, sizes = _left_basis(a)
    rank = len(sizes)
    dropped = [sizes[0] <= 0]
    for size in sizes[1:]:
        dropped.append(ca.logic_or(dropped[-1], size <= MIN_SINGULAR_VALUE * sizes[0]))
    kept_basis = basis * ca.repmat(1 - ca.horzcat(*dropped), a.shape[0], 1)
    rows, triangle = _factor(ca.mtimes(a.T, kept_basis))
    for k in range(rank):
        triangle[k, k] = ca.if_else(dropped[k], 1, triangle[k, k])
    result = ca.vertcat(_solve_lower(triangle.T, kept_basis.T), ca.SX.zeros(a.shape[1] - rank, a.shape[0]))
    for reflection in reversed(rows):
        result = reflection.apply(result)
    return result / scale


def _left_basis(a: Matrix) -> tuple[Matrix, list[Matrix]]:
    """An orthonormal basis of the columns of a matrix, the longest directions first, and about its singular
    values."""
    first, rows = _factor_with_pivots(a)
    rank = rows.shape[0]
    _, triangle = _factor(rows.T)
    turns: list[list[_Reflection]] = []
    for turn in range(TURNS):
        reflections, triangle = _factor(triangle.T)
        turns.append(reflections)
        if turn + 1 < TURNS:
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
    """QR: what is left of the longest column goes first. The columns of R stay where they are."""
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
    """QR of a matrix with at least as many rows as columns: the reflections, and the triangle."""
    r, reflections = a, []
    rows, columns = a.shape
    for k in range(min(columns, rows - 1)):
        reflection = _reflection(k, r[k:, k])
        reflections.append(reflection)
        r = reflection.apply(r)
        r[k + 1 :, k] = 0
    return reflections, r[:columns, :]


def _reflection(first: int, x: Matrix) -> _Reflection:
    """The reflection that turns x onto its first axis; nothing where x is zero."""
    size = ca.sumsqr(x)
    length = ca.sqrt(_nonzero(size))
    head = length + ca.fabs(x[0])
    v = ca.vertcat(ca.if_else(x[0] >= 0, head, -head), x[1:])
    return _Reflection(first, v, ca.if_else(size == 0, 0, 1 / (length * head)))


def _solve_lower(lower: Matrix, b: Matrix) -> Matrix:
    """Forward substitution."""
    rows: list[Matrix] = []
    for k in range(lower.shape[0]):
        rest = b[k, :] - ca.mtimes(lower[k, :k], ca.vertcat(*rows)) if k else b[k, :]
        rows.append(rest / lower[k, k])
    return ca.vertcat(*rows)


def _nonzero(value: Matrix) -> Matrix:
    return ca.if_else(value == 0, 1, value)
