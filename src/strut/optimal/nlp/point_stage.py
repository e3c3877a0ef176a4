"""Stage functions of points of a phase, differentiated by what a point reads and through inverse dynamics.

Two chains keep derivatives short. A point reads time, state and inputs, which are linear in the unknowns:
derivatives are taken by what is read, and carried over. And rates that solve a residual, of a mechanism
M a + bias - tau - K' f = 0 by inverse dynamics, are differentiated through it by the implicit function
theorem, so that no derivative passes through a factorisation. With E the result, y what is read, w the
unknown of the residual R, the adjoint mu = -R_w^-T E_w' weights and L = weights' E + mu' R,

    w_y = -R_w^-1 R_y,    dE/dy = E_y + E_w w_y,
    d2(weights' E)/dy2 = L_yy + L_yw w_y + (L_yw w_y)' + w_y' L_ww w_y.

Accelerations and forces are no unknowns of the large problem: it is solved as if they were written out, with
the same iterates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from strut.optimal.nlp.lift import lift_system, needed_unknowns
from strut.optimal.nlp.stage_function import StageFunction, stage_of
from strut.optimal.nlp.unknowns import Layout
from strut.system import time

LINEAR_SOLVER = "qr"
"""CasADi's linear solver for the derivative of the residual: sparse, and as C, too."""
Stack = Callable[[Sequence[ca.SX], ca.SX, ca.SX], ca.SX]
"""Takes the expressions at a point, the duration of its interval [s] and its data, and gives the result."""


@dataclass(frozen=True, eq=False)
class PointEquations:
    """What is evaluated at a point. read, data: symbols. value: of both. unknown: symbols of what a residual
    implies. explicit: what it is, of both. residual, result: of all three."""

    read: ca.SX
    data: ca.SX
    value: ca.SX
    unknown: ca.SX
    explicit: ca.SX
    residual: ca.SX
    result: ca.SX


def make_point_stage(
    mesh: Layout,
    k: int,
    name: str,
    expressions: Sequence[ca.SX],
    *,
    data: int,
    place: Callable[[ca.SX], Any],
    stack: Stack,
    implied: bool = True,
) -> StageFunction:
    """Return the stage function of expressions of the system at points of phase k; not compiled.

    data: how many numbers each point has. place: of these, where it is in its interval, 0 to 1. implied:
    whether derivatives go through what the system implies, where the expressions need it.
    """
    v, d = mesh.symbols(ca.SX, k, data)
    read = mesh.read_vector(k, v, d, place(d))
    y = ca.SX.sym("read", read.numel())
    *where, h = mesh.read_context(k, y, d)
    groups = [time, *mesh.vectors]
    lifted = lift_system(mesh.system, expressions, implied)
    values = ca.Function("values", groups, [*expressions, lifted.explicit]).call(where)
    equations = ca.Function("equations", [*groups, lifted.unknown], [lifted.residual, *lifted.results])
    residual, *results = equations.call([*where, lifted.unknown])
    residual, result = ca.cse([residual, stack(results, h, d)])
    rows, unknowns = needed_unknowns(residual, lifted.unknown, result)
    point = PointEquations(
        read=y,
        data=d,
        value=stack(values[:-1], h, d),
        unknown=lifted.unknown[unknowns],
        explicit=values[-1][unknowns],
        residual=residual[rows],
        result=result,
    )
    reading = ca.Function(f"{name}_read", [v, d], [read, ca.jacobian(read, v)])
    return _implied_stage(name, reading, point) if unknowns else _explicit_stage(name, reading, point)


def _explicit_stage(name: str, reading: ca.Function, point: PointEquations) -> StageFunction:
    """Return the stage function of a point where no residual implies anything."""
    v, d = reading.sx_in()
    weights = ca.SX.sym("weights", point.value.numel())
    derivatives = ca.Function(
        "derivatives",
        [point.read, point.data, weights],
        [
            point.value,
            ca.jacobian(point.value, point.read),
            ca.hessian(ca.dot(weights, point.value), point.read)[0],
        ],
    )
    read, chain = reading.call([v, d])
    value, by_read, curvature = derivatives.call([read, d, weights])
    return stage_of(name, [v, d, weights], value, by_read @ chain, ca.triu(chain.T @ curvature @ chain))


def _implied_stage(name: str, reading: ca.Function, point: PointEquations) -> StageFunction:
    """Return the stage function of a point whose derivatives go through the residual."""
    y, w, E, R = point.read, point.unknown, point.result, point.residual
    n, m, both = y.numel(), w.numel(), ca.vertcat(y, w)
    weights, adjoint = ca.SX.sym("weights", E.numel()), ca.SX.sym("adjoint", m)
    value = ca.Function(f"{name}_explicit", [y, point.data], [point.value, point.explicit])
    by_both = ca.jacobian(ca.vertcat(R, E), both)
    first = ca.Function(
        f"{name}_first",
        [y, point.data, w],
        [by_both[:m, n:], by_both[:m, :n], by_both[m:, :n], by_both[m:, n:]],
    )
    curvature = ca.hessian(ca.dot(weights, E) + ca.dot(adjoint, R), both)[0]
    second = ca.Function(
        f"{name}_second",
        [y, point.data, w, weights, adjoint],
        [curvature[:n, :n], curvature[:n, n:], curvature[n:, n:]],
    )
    # From here on matrices: a loop each in C, and not an instruction for every number.
    V, D = (ca.MX.sym(label, reading.size1_in(k)) for k, label in enumerate("vd"))
    W = ca.MX.sym("weights", E.numel())
    Y, chain = reading.call([V, D])
    E_value, rates = value.call([Y, D])
    R_w, R_y, E_y, E_w = first.call([Y, D, rates])
    columns = sorted(set(R_y.sparsity().get_col()))
    solved = -ca.solve(R_w, ca.densify(R_y[:, columns]), LINEAR_SOLVER)
    pattern = ca.Sparsity.triplet(m, n, list(range(m)) * len(columns), [c for c in columns for _ in range(m)])
    w_y = ca.MX(pattern, ca.vec(solved))
    mu = -ca.solve(R_w.T, ca.densify(E_w.T @ W), LINEAR_SOLVER)
    L_yy, L_yw, L_ww = second.call([Y, D, rates, W, mu])
    cross = L_yw @ w_y
    L = L_yy + cross + cross.T + w_y.T @ (L_ww @ w_y)
    return stage_of(name, [V, D, W], E_value, (E_y + E_w @ w_y) @ chain, ca.triu(chain.T @ L @ chain))


__all__ = ["make_point_stage"]
