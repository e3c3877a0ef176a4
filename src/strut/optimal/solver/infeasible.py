"""Why a problem has no solution: which of the things that were asked must give way, and by how much, if the
motion is to stay one of the system.

Everything asked gets a slack of its own, the slacks are made small, and what is left of them says it. A
solver that fails leaves a motion that is none, in which anything may be violated; that says less.
"""

from __future__ import annotations

import math
from dataclasses import replace

import casadi as ca

from strut.optimal.problem import Problem, Requirement
from strut.optimal.solver.result import Solution
from strut.optimal.solver.solve import solve
from strut.system import Param

MIN_SLACK = 1e-5
"""A requirement whose slack is smaller, in its own unit, is met."""


def relaxed_problem(problem: Problem) -> tuple[Problem, dict[str, str]]:
    """Return the problem in which everything asked of motion and ends may give way; and which slack belongs
    to what."""
    asked = [*problem.requirements, *_ends(problem)]
    names = list(dict.fromkeys(r.name for r in asked))
    slacks = {name: Param(f"slack_{k}", 0.0, bounds=(0.0, math.inf)) for k, name in enumerate(names)}
    system = problem.system.replace(p=(*problem.system.p, *slacks.values()))
    relaxed = []
    for r in asked:
        s = slacks[r.name].sym
        if math.isfinite(r.low):
            relaxed.append(replace(r, expression=r.expression + s, high=math.inf))
        if math.isfinite(r.high):
            relaxed.append(replace(r, name=f"{r.name} ", expression=r.expression - s, low=-math.inf))
    used = ca.vertcat(*[r.expression for r in relaxed], ca.SX(0, 1))
    totals = tuple(t for t in problem.totals if ca.depends_on(used, t.sym))
    free = {**problem.parameters, **{p.name: p.bounds for p in slacks.values()}}
    objective = sum((p.sym for p in slacks.values()), ca.SX(0))
    loose = replace(
        problem,
        system=system,
        requirements=tuple(relaxed),
        parameters=free,
        begins={},
        ends={},
        objective=objective,
        totals=totals,
    )
    return loose, {p.name: name for name, p in slacks.items()}


def _ends(problem: Problem) -> list[Requirement]:
    """Return the values of states at both ends, as requirements."""
    system = problem.system
    symbols = dict(zip(system.labels("x"), ca.vertsplit(ca.vertcat(*[q.sym for q in system.x])), strict=True))
    first, last = problem.phases[0].name, problem.phases[-1].name
    begins = [
        Requirement(f"{n} at the beginning", symbols[n], *b, "begin", first)
        for n, b in problem.begins.items()
    ]
    return begins + [
        Requirement(f"{n} at the end", symbols[n], *b, "end", last) for n, b in problem.ends.items()
    ]


def unmet_requirements(result: Solution, iterations: int = 500) -> dict[str, float]:
    """Return what was asked and cannot be met near to where a search ended, by name, and by how much; empty
    where the problem was solved or its search interrupted, and where that is not clear either."""
    if result.success or result.is_interrupted:
        return {}
    problem, names = relaxed_problem(result.problem)
    if not names:
        return {}
    how = {name: getattr(result.how, name) for name in ("method", "stages", "steps", "control")}
    intervals = tuple(len(m.t) - 1 for m in result.phases)
    for guess in (result.guess(), None):
        loose = solve(
            problem, guess, accuracy=None, iterations=iterations, tolerance=1e-7, intervals=intervals, **how
        )
        if loose.success:
            break
    else:
        return {}
    unmet = {names[slack]: loose.parameters[slack] for slack in names if loose.parameters[slack] > MIN_SLACK}
    return dict(sorted(unmet.items(), key=lambda item: -item[1]))


__all__ = ["relaxed_problem", "unmet_requirements"]
