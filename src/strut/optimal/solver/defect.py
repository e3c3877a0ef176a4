"""Collocation defects: every interval of a plan integrated again by the adaptive integrator, from where the
plan says that it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.scheme import lagrange
from strut.optimal.problem import Problem
from strut.optimal.totals import SPLITS, Integral
from strut.simulate import simulate_batch
from strut.system import Input, Param, State, System, memo, sx, time

EXACT_OPTIONS: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13, "max_steps": 200_000}
"""Options of the adaptive integrator: its own errors do not show in defects."""
COSTS_STATE = "optimal_costs"
"""The state that takes the integrals."""
COMPARED_DEPTH = 100
"""How deep two expressions are compared that may be the same."""


@dataclass(frozen=True, eq=False)
class PlannedPhase:
    """A phase of a plan, as numbers.

    name: of the phase. t: times of its nodes [s]. x: states at the nodes, rows. z, p: discrete states and
    parameters. w: inputs by interval, place in it and input. integrals: what the plan takes the integrals of
    the problem for, by interval.
    """

    name: str
    t: np.ndarray
    x: np.ndarray
    z: np.ndarray
    w: np.ndarray
    p: np.ndarray
    integrals: np.ndarray


@dataclass(frozen=True, eq=False)
class Defects:
    """Defects of the intervals of a phase.

    size: of each interval, the largest difference from the plan of a state at its end, or of an integral
        (but for those that are split by sign), relative to its scale, one if it has none, and its size.
    integrals: what these come to, a column for each that the phase has.
    """

    size: np.ndarray
    integrals: np.ndarray

    @property
    def worst(self) -> float:
        """The largest defect; infinite where the integrator failed."""
        return float(self.size.max(initial=0.0)) if np.isfinite(self.size).all() else float("inf")


class IntegrandKey:
    """The rate of an integral as part of a key of `memo`: equal where split and expression are the same. It
    keeps the expression, by whose hash it is known."""

    def __init__(self, split: str, rate: ca.SX) -> None:
        self.split, self.rate = split, rate
        self.identity = (split, int(rate.element_hash()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntegrandKey) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def whole(self) -> ca.SX:
        """Return what is integrated: the rate, what of it is positive, or its absolute value."""
        rates = {"": self.rate, "positive": ca.fmax(self.rate, 0), "absolute": ca.fabs(self.rate)}
        return ca.SX(rates[self.split])

    def is_same(self, other: IntegrandKey) -> bool:
        """Whether another one is written the same, of other nodes."""
        return self.split == other.split and ca.is_equal(self.rate, other.rate, COMPARED_DEPTH)


@dataclass(frozen=True, eq=False)
class IntervalSystem:
    """One interval of a plan as a system over the place 0 to 1 in it: the flow, driven by polynomial inputs,
    and integrals.

    parameters: places of the parameters of the problem's system that it has. choice: the rows of rates that
        the integrals of the problem are, a row for each state that takes one.
    """

    system: System
    parameters: tuple[int, ...]
    choice: np.ndarray


def interval_system(problem: Problem, degree: int, phase: str) -> IntervalSystem:
    """Return an interval of a phase, with inputs of a degree, and the integrals of the problem.

    Where these are what costs of transport integrate, it takes any choice of them as numbers, and is the same
    program for every cost. It is made once for a system, a degree and rates.
    """
    asked = [IntegrandKey(total.split, total.rate) for total in phase_integrals(problem, phase)]
    common = memo(problem.system, _common_rates)
    places = [next((j for j, c in enumerate(common) if c.is_same(r)), None) for r in asked]
    rates, count = tuple(asked), len(asked)
    if asked and None not in places and count <= (most := _most_integrals(problem.system)):
        rates, count = common, most
    choice = np.zeros((count, len(rates)))
    for row, place in enumerate(places if rates is common else range(len(asked))):
        choice[row, place] = 1.0
    system, parameters = memo(problem.system, _make_interval_system, degree, rates, count)
    return IntervalSystem(system, parameters, choice)


def _common_rates(system: System) -> tuple[IntegrandKey, ...]:
    """Return what costs of transport integrate: squared torque, the work of all inputs, and the power of
    each, whole, what is positive of it, and its absolute value."""
    u, powers = system.vector("u"), [ca.SX(e) for e in system.ledger.supplied.values()]
    if not powers or not u.numel():
        return ()
    whole = [ca.dot(u, u), ca.sum1(ca.vertcat(*powers))]
    return tuple(
        [IntegrandKey("", rate) for rate in whole]
        + [IntegrandKey(s, rate) for s in SPLITS for rate in powers]
    )


def _most_integrals(system: System) -> int:
    """Return how many integrals a choice of common rates has at most: the power of every input, and two
    more."""
    return len(system.ledger.supplied) + 2


def _make_interval_system(
    system: System, degree: int, rates: tuple[IntegrandKey, ...], count: int
) -> tuple[System, tuple[int, ...]]:
    nu, basis = system.size("u"), lagrange(degree)
    plan = Input("optimal_plan", np.zeros(len(basis) * nu)) if nu else None
    begin, duration = Param("optimal_begin", 0.0, "s"), Param("optimal_duration", 1.0, "s")
    choice = Param("optimal_choice", np.zeros(count * len(rates))) if rates else None
    costs = State(COSTS_STATE, np.zeros(count)) if rates else None
    u = ca.SX.zeros(nu, 1)
    for i in range(len(basis)):
        factor = sum((float(c) * time**j for j, c in enumerate(basis[i])), ca.SX(0))
        if plan is not None:
            u = u + factor * plan.sym[i * nu : (i + 1) * nu]
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
    if choice is not None:
        table = ca.reshape(choice.sym, count, len(rates))
        flow = ca.vertcat(flow, ca.mtimes(table, ca.vertcat(*[rate.whole() for rate in rates])))
    inputs = ca.vertcat(*[q.sym for q in system.u], ca.SX(0, 1))
    # Weights of costs are parameters that no flow reads.
    reading = ca.vertcat(flow, *[sx(q.value) for q in system.z])
    read = [q for q in system.p if ca.depends_on(reading, q.sym)]
    now = begin.sym + duration.sym * time
    flow = duration.sym * ca.substitute([flow], [inputs, time], [u, now])[0]
    states = (*system.x, *([costs] if costs is not None else []))
    at, rows = 0, {}
    for q in states:
        rows[q.name] = flow[at : at + q.size]
        at += q.size
    interval = System(
        f"{system.name}_interval",
        x=states,
        z=system.z,
        u=(plan,) if plan is not None else (),
        p=(*read, begin, duration, *([choice] if choice is not None else [])),
        flow=rows,
    )
    return interval, tuple(i for q in read for i in range(system.size("p"))[system.slices("p")[q.name]])


def phase_integrals(problem: Problem, phase: str) -> list[Integral]:
    """Return the integrals of a problem that run in a phase."""
    return [t for t in problem.totals if isinstance(t, Integral) and t.phase in (None, phase)]


def find_defects(problem: Problem, plan: PlannedPhase, scales: Mapping[str, float]) -> Defects:
    """Return the defects of a phase, all its intervals integrated as one batch. scales: of states and
    integrals whose size is far from one, by name."""
    totals, n, nx = phase_integrals(problem, plan.name), len(plan.t) - 1, plan.x.shape[1]
    interval = interval_system(problem, plan.w.shape[1] - 1, plan.name)
    p, choice = plan.p[list(interval.parameters)], interval.choice.reshape(-1, order="F")
    begins, widths = plan.t[:-1, None], np.diff(plan.t)[:, None]
    states = np.array([scales.get(name, 1.0) for name in problem.system.labels("x")])
    sums = np.array([scales.get(total.name, 1.0) for total in totals])
    smallest = float(np.concatenate([[1.0], states, sums]).min())
    run = simulate_batch(
        interval.system,
        1.0,
        x0=np.hstack([plan.x[:-1], np.zeros((n, len(interval.choice)))]),
        z0=np.repeat(plan.z[None], n, axis=0),
        u=plan.w.reshape(n, -1) if plan.w.size else None,
        p=np.hstack([np.repeat(p[None], n, axis=0), begins, widths, np.repeat(choice[None], n, axis=0)]),
        threads=1,
        **{**EXACT_OPTIONS, "atol": EXACT_OPTIONS["atol"] * smallest},
    )
    apart = np.abs(run.x[:, :nx] - plan.x[1:]) / (states + np.abs(plan.x[1:]))
    integrals = run.x[:, nx : nx + len(totals)]
    smooth = [k for k, total in enumerate(totals) if not total.split]
    wrong = np.abs(integrals - plan.integrals)[:, smooth] / (sums + np.abs(integrals.sum(axis=0)))[smooth]
    size = np.where(run.ok, np.hstack([apart, wrong]).max(axis=1, initial=0.0), np.inf)
    return Defects(np.where(np.isfinite(size), size, np.inf), integrals)


__all__ = ["Defects", "PlannedPhase", "find_defects", "interval_system", "phase_integrals"]
