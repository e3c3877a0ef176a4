"""`scaled_functions`: the functions of a solver in units in which everything is of the size of one.

With v = S y the unknowns, the solver sees f(S y) / F and D g(S y). S, D and F are parameters of the
functions, so other units need no other functions.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.optimal.nlp.sparse import Assembled


@dataclass(frozen=True, eq=False)
class Scales:
    """Units of a nonlinear program.

    unknowns: one unit of each in its own [its unit]. rows: the factor of each constraint [1 / its unit].
    cost: one unit of the cost [its unit].
    """

    unknowns: np.ndarray
    rows: np.ndarray
    cost: float

    @property
    def are_one(self) -> bool:
        """Whether nothing is scaled."""
        return bool((self.unknowns == 1).all() and (self.rows == 1).all() and self.cost == 1)

    def inward(self, lam_x: np.ndarray, lam_g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of bounds and rows as the solver sees them."""
        return lam_x * self.unknowns / self.cost, lam_g / (self.rows * self.cost)

    def outward(self, lam_x: np.ndarray, lam_g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of bounds and rows in their own units, of those that the solver sees."""
        return lam_x * self.cost / self.unknowns, lam_g * self.rows * self.cost

    def numbers(self) -> np.ndarray:
        """Return them as parameters of the scaled functions."""
        return np.concatenate([self.unknowns, self.rows, [self.cost]])


def scaled_functions(assembled: Assembled) -> dict[str, ca.Function]:
    """Return the functions of a solver, of scaled unknowns and of parameters that `Scales.numbers` follow."""
    n, m, of = assembled.size, assembled.rows, assembled.functions
    y, p = ca.MX.sym("x", n), ca.MX.sym("p", assembled.parameters + n + m + 1)
    own, S, D, F = ca.vertsplit(
        p, [0, assembled.parameters, assembled.parameters + n, p.numel() - 1, p.numel()]
    )
    v, names = S * y, ["x", "p"]
    f, g = of["nlp"](v, own)
    gradient = of["grad_f"](v, own)[1]
    J = of["jac_g"](v, own)[1]
    r, c = J.sparsity().get_triplet()
    scaled_J = ca.MX(J.sparsity(), J.nz[:] * D[r] * S[c]) if J.nnz() else J
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", m)
    H = of["hess_lag"](v, own, lam_f / F, lam_g * D)
    r, c = H.sparsity().get_triplet()
    scaled_H = ca.MX(H.sparsity(), H.nz[:] * S[r] * S[c]) if H.nnz() else H
    return {
        "nlp": ca.Function("nlp", [y, p], [f / F, D * g], names, ["f", "g"]),
        "grad_f": ca.Function("nlp_grad_f", [y, p], [f / F, S * gradient / F], names, ["f", "grad_f_x"]),
        "jac_g": ca.Function("nlp_jac_g", [y, p], [D * g, scaled_J], names, ["g", "jac_g_x"]),
        "hess_lag": ca.Function(
            "nlp_hess_l",
            [y, p, lam_f, lam_g],
            [scaled_H],
            [*names, "lam_f", "lam_g"],
            ["triu_hess_gamma_x_x"],
        ),
    }


__all__ = ["Scales", "scaled_functions"]
