"""The unknowns of a mesh as a motion: phases with times, states and inputs, and what its totals come to."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import inner_places, lagrange
from strut.optimal.solver.defect import phase_integrals
from strut.optimal.solver.result import Motion
from strut.optimal.totals import Initial, Jumps
from strut.system import System, memo, time


def motions(mesh: Transcribed, v: np.ndarray) -> tuple[Motion, ...]:
    """Return the motion that the unknowns of a mesh are, phase by phase."""
    system, begin, phases = mesh.system, 0.0, []
    p = mesh.start.p.copy()
    p[mesh.free] = v[mesh.p_at]
    flow, basis, planned = flow_function(system), lagrange(mesh.how.degree), mesh.planned_integrals(v)
    for k, span in enumerate(mesh.spans):
        t = begin + v[span.duration] * span.nodes
        z = mesh.discrete[k][0].copy()
        z[list(span.moving)] = v[span.discrete]
        x, w = v[span.x], v[span.w]
        ends = [np.vander([a], basis.shape[1], increasing=True)[0] @ basis.T for a in (0.0, 1.0)]
        slopes = []
        for side, factors in enumerate(ends):
            u = np.einsum("j,ijk->ik", factors, w)
            nodes = slice(side, side + span.count)
            n = span.count
            rates = flow(
                t[nodes].reshape(1, -1),
                x[nodes].T,
                np.repeat(z[:, None], n, axis=1),
                u.T,
                np.repeat(p[:, None], n, axis=1),
            )
            slopes.append(np.array(rates).T.reshape(n, -1))
        phases.append(
            Motion(
                name=span.phase.name,
                until=span.phase.until,
                t=t,
                x=x,
                w=w,
                z=z,
                slopes=(slopes[0], slopes[1]),
                integrals=planned[k],
                places=np.empty(0) if mesh.table is None else inner_places(mesh.table),
                inner=v[span.inner],
            )
        )
        begin = float(t[-1])
    return tuple(phases)


def totals(mesh: Transcribed, v: np.ndarray, phases: Sequence[Motion]) -> dict[str, float]:
    """Return integrals, sums and initial values as the plan has them."""
    sums: dict[str, float] = {}
    for m in phases:
        for k, integral in enumerate(phase_integrals(mesh.problem, m.name)):
            sums[integral.name] = sums.get(integral.name, 0.0) + float(m.integrals[:, k].sum())
    for total in mesh.problem.totals:
        if isinstance(total, Jumps):
            sums[total.name] = sum(_jump(mesh, m, v, total) for m in phases if m.until is not None)
        elif isinstance(total, Initial):
            sums[total.name] = float(phases[0].x[0, mesh.system.labels("x").index(total.state)])
    return sums


def _jump(mesh: Transcribed, m: Motion, v: np.ndarray, total: Jumps) -> float:
    assert m.until is not None
    p = mesh.start.p.copy()
    p[mesh.free] = v[mesh.p_at]
    f = ca.Function("jump", [time, *mesh.vectors], [total.of(m.until)])
    return float(f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], p))


def flow_function(system: System) -> ca.Function:
    """Return the rates of the states as a function of t, x, z, u and p; made once for a system."""
    return memo(system, _make_flow_function)


def _make_flow_function(system: System) -> ca.Function:
    flow = ca.densify(ca.vertcat(*[system.flow[q.name] for q in system.x], ca.SX(0, 1)))
    return ca.Function("flow", [time, *system.vectors()], [flow])


__all__ = ["motions", "totals"]
