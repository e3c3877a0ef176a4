"""Linear algebra of the language: inverses, QR, and the sparse LTDL factorisation along a kinematic tree.

The tree is given by λ, the parent of each row, or -1 (R. Featherstone, Rigid Body Dynamics Algorithms,
chapter 6).
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from strut.network.lower.pseudo_inverse import pinv
from strut.network.lower.whole_numbers import whole
from strut.network.text.errors import Mistake

Matrix = ca.SX


def _check_square(m: Matrix, name: str) -> None:
    if m.shape[0] != m.shape[1]:
        raise Mistake(f"{name} needs a square matrix: this is {m.shape[0]}×{m.shape[1]}")


def call(
    name: str, a: list[Matrix], constant: Callable[[Matrix], float], check_count: Callable[..., None]
) -> Matrix | None:
    """Apply a function of linear algebra; None if there is none of that name.

    constant: gives the number of an expression that must be known. check_count: raises `Mistake` where there
    are not as many arguments as it is given.
    """
    if name in ONE_ARGUMENT:
        check_count(1)
        return ONE_ARGUMENT[name](a[0])
    if name in TWO_ARGUMENTS:
        check_count(2)
        return TWO_ARGUMENTS[name](*a)
    if name in TREE_FUNCTIONS:
        check_count(TREE_FUNCTIONS[name][0])
        parents = [whole(constant(e)) for e in ca.vertsplit(ca.densify(ca.vec(a[-1])))]
        return TREE_FUNCTIONS[name][1](*a[:-1], parents)
    if name == "zeros":
        check_count(1, 2)
        return ca.SX(*(_size(constant(e)) for e in (a if len(a) == 2 else [a[0], a[0]])))
    if name == "eye":
        check_count(1)
        return ca.SX.eye(_size(constant(a[0])))
    if name == "length":
        check_count(1)
        return ca.SX(a[0].numel())
    if name == "size":
        check_count(1, 2)
        return ca.SX(ca.DM([a[0].shape])) if len(a) == 1 else ca.SX(a[0].shape[_axis(constant(a[1]))])
    if name == "lindex":
        check_count(3)
        return a[0] + a[1] * a[2]
    return None


def _size(value: float) -> int:
    if not 0 <= value <= 2000 or value != whole(value):
        raise Mistake(f"a matrix has whole numbers of rows and columns up to 2000, not {value:g}")
    return whole(value)


def _axis(value: float) -> int:
    if value not in (0, 1):
        raise Mistake(f"size(m, {value:g}): 0 are the rows, 1 the columns")
    return whole(value)


def diag(m: Matrix) -> Matrix:
    """The diagonal matrix of a vector, or the diagonal of a matrix as a column."""
    return ca.diag(m) if min(m.shape) == 1 and m.numel() > 1 else ca.vec(ca.diag(m)) if m.numel() > 1 else m


def vcat(a: Matrix, b: Matrix) -> Matrix:
    """Put one matrix on top of another. Raises `Mistake` where they have different numbers of columns."""
    if a.shape[1] != b.shape[1]:
        raise Mistake(
            f"vcat puts {a.shape[0]}×{a.shape[1]} on {b.shape[0]}×{b.shape[1]}: equally many columns are "
            f"needed"
        )
    return ca.vertcat(a, b)


def inv(m: Matrix) -> Matrix:
    """The inverse of a square matrix. Raises `Mistake` where it is not square."""
    _check_square(m, "inv")
    return solve(m, ca.SX.eye(m.shape[0]))


def solve(a: Matrix, b: Matrix) -> Matrix:
    """Solve a x = b for x. Raises `Mistake` where the shapes do not fit or numbers make `a` singular."""
    _check_square(a, "linsolve")
    if a.shape[0] != b.shape[0]:
        raise Mistake(
            f"linsolve of {a.shape[0]}×{a.shape[1]} and {b.shape[0]}×{b.shape[1]}: equally many rows are "
            f"needed"
        )
    if a.is_constant() and b.is_constant():
        try:
            return ca.SX(ca.DM(np.linalg.solve(np.array(ca.DM(a)), np.array(ca.DM(b)))))
        except np.linalg.LinAlgError as error:
            raise Mistake("linsolve: the matrix is singular") from error
    if a.shape[0] == 1:
        return b / a
    return ca.solve(a, b)


def qr(a: Matrix) -> Matrix:
    """Factorise A = Q R by Householder reflections, Q square; returns [Q, R] side by side."""
    m, n = a.shape
    r, q = ca.densify(ca.SX(a)), ca.SX.eye(m)
    for k in range(min(m - 1, n)):
        x = r[k:, k]
        length = ca.sqrt(ca.sumsqr(x))
        v = ca.SX(x)
        v[0] = x[0] + (2 * (x[0] >= 0) - 1) * length
        size = ca.sumsqr(v)
        scale = ca.if_else(size > 0, 2 / ca.if_else(size > 0, size, 1), 0)
        r[k:, :] = r[k:, :] - scale * ca.mtimes(v, ca.mtimes(v.T, r[k:, :]))
        q[:, k:] = q[:, k:] - scale * ca.mtimes(ca.mtimes(q[:, k:], v), v.T)
        r[k + 1 :, k] = 0
    return ca.horzcat(q, r)


def sltdl(a: Matrix, parents: list[int]) -> Matrix:
    """Factorise A = Lᵀ D L along a tree (sparse LTDL), without fill-in.

    Returns D on the diagonal and L below it; what is above stays. parents: λ. Raises `Mistake` where A is not
    square or λ is no tree.
    """
    _check_square(a, "sltdl")
    _check_parents(parents, a.shape[0])
    h = ca.densify(ca.SX(a))
    for k in range(a.shape[0] - 1, -1, -1):
        i = parents[k]
        while i >= 0:
            factor = h[k, i] / h[k, k]
            j = i
            while j >= 0:
                h[i, j] = h[i, j] - factor * h[k, j]
                j = parents[j]
            h[k, i] = factor
            i = parents[i]
    return h


def _check_parents(parents: list[int], size: int) -> None:
    if len(parents) != size or any(not -1 <= p < k for k, p in enumerate(parents)):
        raise Mistake(f"λ is {parents}: it names for each of {size} rows an earlier one as its parent, or -1")


def d_inverse(f: Matrix, b: Matrix) -> Matrix:
    """D⁻¹ b, of the LTDL factors f."""
    return b / ca.repmat(ca.diag(f), 1, b.shape[1])


def l_inverse(f: Matrix, b: Matrix, parents: list[int]) -> Matrix:
    """L⁻¹ b by forward substitution along the tree, of the LTDL factors f."""
    _check_parents(parents, f.shape[0])
    x = ca.densify(ca.SX(b))
    for i in range(f.shape[0]):
        j = parents[i]
        while j >= 0:
            x[i, :] = x[i, :] - f[i, j] * x[j, :]
            j = parents[j]
    return x


def l_inverse_transposed(f: Matrix, b: Matrix, parents: list[int]) -> Matrix:
    """L⁻ᵀ b by backward substitution along the tree, of the LTDL factors f."""
    _check_parents(parents, f.shape[0])
    x = ca.densify(ca.SX(b))
    for i in range(f.shape[0] - 1, -1, -1):
        j = parents[i]
        while j >= 0:
            x[j, :] = x[j, :] - f[i, j] * x[i, :]
            j = parents[j]
    return x


def slinsolve(a: Matrix, b: Matrix, parents: list[int]) -> Matrix:
    """Solve a x = b by the LTDL factorisation along a tree."""
    f = sltdl(a, parents)
    return l_inverse(f, d_inverse(f, l_inverse_transposed(f, b, parents)), parents)


ONE_ARGUMENT: dict[str, Callable[[Matrix], Matrix]] = {
    "transpose": lambda m: m.T,
    "inv": inv,
    "inverse": inv,
    "pinv": pinv,
    "qr": qr,
    "diag": diag,
    "tril": ca.tril,
    "triu": ca.triu,
    "csum": ca.sum2,
    "rsum": ca.sum1,
}
"""Functions of one matrix."""
TWO_ARGUMENTS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "linsolve": solve,
    "vcat": vcat,
    "sltdldinv": d_inverse,
}
"""Functions of two matrices."""
TREE_FUNCTIONS: dict[str, tuple[int, Callable[..., Matrix]]] = {
    "sltdl": (2, sltdl),
    "slinsolve": (3, slinsolve),
    "sltdllinv": (3, l_inverse),
    "sltdllinvt": (3, l_inverse_transposed),
    "sltdldinvlinvt": (3, lambda f, b, parents: d_inverse(f, l_inverse_transposed(f, b, parents))),
}
"""Functions whose last argument is λ: how many arguments they take, and the function."""
