"""Derivatives of forward dynamics through the inverse: no derivative ever passes through a factorisation.

With M(q) a + bias(q, v) = tau, the implicit function theorem gives da = M^-1 (dtau - d(inverse dynamics at
that a)). Inverse dynamics is short and its derivative sparse; M^-1 is applied by its factors.
"""

from __future__ import annotations

import casadi as ca

from strut.checks import checked
from strut.mechanism.inertia import symmetric
from strut.mechanism.tree import Tree


@checked
def forward_derivatives(tree: Tree, tau: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """da/dq (nv x nq, by the coordinates as they are), da/dv and da/dtau = M^-1 (nv x nv) of a =
    tree.forward(tau).

    By coordinates as they are: quaternions count as four numbers. `tau` must be free symbols or constants;
    where it depends on q or v, add da/dtau times its derivative.
    """
    a = ca.SX.sym("a", tree.nv)
    needed = tree.inverse(a)
    by_state = ca.horzcat(ca.jacobian(needed, tree.q), ca.jacobian(needed, tree.v))
    by_state = ca.substitute([by_state], [a], [tree.forward(tau)])[0]
    solved = tree.factors.solve(ca.horzcat(-by_state, ca.SX.eye(tree.nv)))
    by_q, by_v, by_tau = ca.horzsplit(solved, [0, tree.nq, tree.nq + tree.nv, tree.nq + 2 * tree.nv])
    return by_q, by_v, symmetric(by_tau)
