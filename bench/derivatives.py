"""Derivatives of forward dynamics by q, v and torques: through the inverse, straight through the recursion,
and Pinocchio's.

Times are per state, as in `bench.dynamics`. Pinocchio differentiates by small motions; where q has more
numbers than that, a quaternion, ours are brought to the same before they are compared, not before they are
timed.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from bench.compile import fresh_cache
from bench.dynamics import POINTS, Pinocchio, chain, pinocchio, states
from bench.robots import MISSING, humanoid
from bench.timing import Contender, Effort, Row, Section, measure
from strut import State, System, compile_system
from strut.mechanism import Mechanism, Tree, urdf
from strut.mechanism.derivatives import forward_derivatives
from strut.system.ported_function import operation_count
from strut.walkers.coman import coman_mechanism


def through_inverse(tree: Tree, tau: ca.SX) -> ca.SX:
    return ca.horzcat(*forward_derivatives(tree, tau))


def straight(tree: Tree, tau: ca.SX) -> ca.SX:
    return ca.jacobian(tree.forward(tau), ca.vertcat(tree.q, tree.v, tau))


LONGEST = 200_000  # operations; beyond, compiling takes minutes and only the count is told
WAYS = {"through the inverse": through_inverse, "straight": straight}
Evaluated = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def compile_derivatives(
    m: Mechanism, way: Callable[[Tree, ca.SX], ca.SX]
) -> tuple[Evaluated | None, int, float]:
    """The derivatives at rows of q, v, tau, a matrix each (None where that is too long); their operations;
    and the time to derive and compile them [s]."""
    began = clock.perf_counter()
    tree = Tree(m)
    tau = ca.SX.sym("tau", tree.nv)
    expression = ca.densify(way(tree, tau))
    params = list(m.params.values())
    symbols = ca.vertcat(*[param.sym for param in params], ca.SX(0, 1))
    count = operation_count(ca.Function("f", [tree.q, tree.v, tau, symbols], [expression]))
    if count > LONGEST:
        return None, count, clock.perf_counter() - began
    q, v, a = State("q", np.zeros(tree.nq)), State("v", np.zeros(tree.nv)), State("a", np.zeros(tree.nv))
    bound = ca.substitute([ca.vec(expression)], [tree.q, tree.v, tau], [q.sym, v.sym, a.sym])[0]
    with fresh_cache():
        model = compile_system(
            System("one", x=[q, v, a], p=params, flow={q: 0, v: 0, a: 0}, outputs={"y": bound})
        )
    seconds = clock.perf_counter() - began
    p = np.concatenate([param.value for param in params] or [np.empty(0)])

    def evaluate(Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> np.ndarray:
        flat = model.evaluate("outputs", np.zeros(len(Q)), np.hstack([Q, V, A]), [], [], p)
        return flat.reshape(len(Q), expression.shape[1], expression.shape[0]).transpose(0, 2, 1)

    return evaluate, count, seconds


Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def _pinocchio(peer: Pinocchio) -> Callable[[], list[Parts]]:
    pin: Any = pinocchio
    model, data = peer.model, peer.data

    def call() -> list[Parts]:
        out = []
        for q, v, a in peer.rows:
            pin.computeABADerivatives(model, data, q, v, a)
            out.append((data.ddq_dq.copy(), data.ddq_dv.copy(), data.Minv.copy()))
        return out

    return call


def _in_our_order(derivatives: list[Parts], order: np.ndarray) -> np.ndarray:
    """Side by side as ours are; of M^-1 it fills the upper half."""
    at = np.ix_(order, order)
    return np.array(
        [np.hstack([dq[at], dv[at], (np.triu(M) + np.triu(M, 1).T)[at]]) for dq, dv, M in derivatives]
    )


def _by_motions(tree: Tree, derivatives: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Derivatives by q as derivatives by small motions along v."""
    f = ca.Function("B", [tree.q], [ca.jacobian(tree.qdot, tree.v)])
    turned = [row[:, : tree.nq] @ np.array(f(q)) for row, q in zip(derivatives, Q, strict=True)]
    return np.concatenate([np.array(turned), derivatives[:, :, tree.nq :]], axis=2)


def compare_ways(title: str, m: Mechanism, effort: Effort, text: str | None = None) -> Section:
    tree = Tree(m)
    Q, V, A = states(tree)
    contenders, extras = [], []
    first: np.ndarray | None = None
    for name, way in WAYS.items():
        f, count, seconds = compile_derivatives(m, way)
        extras.append({"operations": count, "ready": seconds})
        if f is None:
            contenders.append(Contender("strut", name, note=f"{count} operations, too long to compile"))
            continue
        derivatives = f(Q, V, A)
        first = derivatives if first is None else first
        error = None if derivatives is first else _relative(derivatives, first)
        contenders.append(
            Contender(
                "strut", name, lambda f=f: f(Q, V, A), error, f"{count} operations, ready in {seconds:.1f} s"
            )
        )
    assert first is not None
    call, error = None, None
    if pinocchio:
        peer = Pinocchio(text or urdf.dump(m), tree, Q, V, A)
        call = _pinocchio(peer)
        error = _relative(_in_our_order(call(), peer.order), _by_motions(tree, first, Q))
    contenders.append(Contender("Pinocchio", "computeABADerivatives", call, error))
    measured = measure(contenders, effort)
    rows = [
        Row(r.name, r.setting, r.error, tuple(t / POINTS for t in r.times), r.note, extra=extra)
        for r, extra in zip(measured, [*extras, {}], strict=True)
    ]
    return Section(
        f"{title}: derivatives of forward dynamics, per state", "relative, against the first row", tuple(rows)
    )


def _relative(derivatives: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(derivatives - expected).max() / np.abs(expected).max())


def run(effort: Effort) -> list[Section]:
    sections = [compare_ways(f"chain of {n}", chain(n), effort) for n in (10, 20)]
    sections.append(compare_ways("COMAN, 29 joints", coman_mechanism(), effort))
    text = humanoid()
    if text is None:
        return [
            *sections,
            Section("humanoid, 35 velocities: derivatives", "none", (Row("strut", note=MISSING),)),
        ]
    return [*sections, compare_ways("humanoid, 35 velocities", urdf.parse(text), effort, text)]
