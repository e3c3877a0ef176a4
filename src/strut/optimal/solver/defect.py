"""What a plan is worth in the adaptive integrator: every interval integrated again, from where the plan says
it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.scheme import lagrange
from strut.optimal.problem import Integral, Problem
from strut.simulate import simulate_batch
from strut.system import Input, Param, State, System, time

EXACT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13, "max_steps": 200_000}
COSTS = "optimal_costs"


@dataclass(frozen=True, eq=False)
class Defects:
    """Of the intervals of a phase: `size`, the largest difference from the plan of a state at its end, or of
    an integral (but for those that are split by sign), relative to one and its size; and `integrals`, what
    these come to, a column for each that the phase has."""

    size: np.ndarray
    integrals: np.ndarray

    @property
    def worst(self) -> float:
        return float(self.size.max(initial=0.0)) if np.isfinite(self.size).all() else float("inf")


def interval_system(problem: Problem, basis: np.ndarray, phase: str) -> System:
    """One interval of a plan, over the place 0 to 1 in it: the flow, driven by a polynomial, and the
    integrals of the problem."""
    system = problem.system
    rates = integrals(problem, phase)
    key = f"optimal-interval-{basis.shape[0]}-" + "-".join(f"{t.split}{t.rate.element_hash()}" for t in rates)
    if key in system.cache:
        made: System = system.cache[key][0]
        return made
    nu = system.size("u")
    plan = Input("optimal_plan", np.zeros(len(basis) * nu)) if nu else None
    begin, duration = Param("optimal_begin", 0.0, "s"), Param("optimal_duration", 1.0, "s")
    costs = State(COSTS, np.zeros(len(rates))) if rates else None
    u = ca.SX.zeros(nu, 1)
    for i in range(len(basis)):
        factor = sum((float(c) * time**j for j, c in enumerate(basis[i])), ca.SX(0))
        if plan is not None:
            u = u + factor * plan.sym[i * nu : (i + 1) * nu]
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x], *[_whole(t) for t in rates])
    inputs = ca.vertcat(*[q.sym for q in system.u], ca.SX(0, 1))
    now = begin.sym + duration.sym * time
    flow = duration.sym * ca.substitute([flow], [inputs, time], [u, now])[0]
    states = (*system.x, *([costs] if costs is not None else []))
    at, rows = 0, {}
    for q in states:
        rows[q.name] = flow[at : at + q.size]
        at += q.size
    made = System(
        f"{system.name}_interval",
        x=states,
        z=system.z,
        u=(plan,) if plan is not None else (),
        p=(*system.p, begin, duration),
        flow=rows,
    )
    system.cache[key] = (made, rates)  # the rates keep the symbols alive by whose hash they are known
    return made


def integrals(problem: Problem, phase: str) -> list[Integral]:
    return [t for t in problem.totals if isinstance(t, Integral) and t.phase in (None, phase)]


def _whole(total: Integral) -> ca.SX:
    return {"": total.rate, "positive": ca.fmax(total.rate, 0), "absolute": ca.fabs(total.rate)}[total.split]


def defects(
    problem: Problem,
    phase: str,
    x: np.ndarray,
    z: np.ndarray,
    w: np.ndarray,
    p: np.ndarray,
    t: np.ndarray,
    planned: np.ndarray,
) -> Defects:
    """x: states at the nodes, rows. z, p: of the phase. w: what the inputs are, by interval, place and input.
    t: times of the nodes [s].
    planned: what the plan takes the integrals for, by interval."""
    basis = lagrange(w.shape[1] - 1)
    made, n = interval_system(problem, basis, phase), len(t) - 1
    totals = integrals(problem, phase)
    costs = len(totals)
    values = np.hstack([np.repeat(p[None], n, axis=0), t[:-1, None], np.diff(t)[:, None]])
    begin = np.hstack([x[:-1], np.zeros((n, costs))])
    u = w.reshape(n, -1) if w.size else None
    done = simulate_batch(
        made, 1.0, x0=begin, z0=np.repeat(z[None], n, axis=0), u=u, p=values, threads=1, **EXACT
    )
    nx = x.shape[1]
    apart = np.abs(done.x[:, :nx] - x[1:]) / (1 + np.abs(x[1:]))
    found = done.x[:, nx:]
    smooth = [k for k, total in enumerate(totals) if not total.split]
    wrong = np.abs(found - planned)[:, smooth] / (1 + np.abs(found.sum(axis=0)))[smooth]
    size = np.where(done.ok, np.hstack([apart, wrong]).max(axis=1, initial=0.0), np.inf)
    return Defects(np.where(np.isfinite(size), size, np.inf), found)


__all__ = ["Defects", "defects", "interval_system"]
