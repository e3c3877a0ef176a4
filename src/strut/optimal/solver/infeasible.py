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
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import Solution
from strut.optimal.solver.solve import solve
from strut.optimal.solver.watch import MIN_ROUND
from strut.system import Param

MIN_SLACK = 1e-5
"""A requirement whose slack is smaller, in its own unit, is met."""
MIN_ROUGH_SLACK = 1e-2
"""And where the slacks were still made smaller when the time was over: the step of a five-link walker that
cannot be then has several of a thousandth, beside those that matter."""
MAX_ROUGH_RESIDUAL = 1e-4
"""The largest violation, relative to the scales of constraints, of what counts as a motion where the time was
over: what it misses is said to three digits."""
RELAXED_TIME = 5.0
"""How long the slacks may be made small at most [s], on the processor: who waits wants to know that the
search failed, and why only if it does not take long."""
RELAXED_TIME_FACTOR = 2.0
"""And how long at most, relative to the search that failed."""
RELAXED_ITERATIONS = 150
"""Iterations at most, from each beginning: textbook problems take 20, steps of walkers 30 to 150."""


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


def unmet_requirements(result: Solution, iterations: int = RELAXED_ITERATIONS) -> dict[str, float]:
    """Return what was asked and cannot be met near to where a search ended, by name, and by how much; empty
    where the problem was solved or its search interrupted, and where that is not clear within the time that
    is given to it: where the time is over, the motion that misses least is one that was found, not the
    nearest of all."""
    if result.success or result.is_interrupted:
        return {}
    problem, names = relaxed_problem(result.problem)
    if not names:
        return {}
    how = {name: getattr(result.how, name) for name in ("method", "stages", "steps", "control")}
    intervals = tuple(len(m.t) - 1 for m in result.phases)
    end, left = result.guess(), relaxed_time(result)
    # The multipliers of another problem would mislead: from where the search ended, and from nothing.
    for guess, share in ((Guess(end.phases, end.parameters), 0.5), (None, 1.0)):
        loose = solve(
            problem,
            guess,
            accuracy=None,
            iterations=iterations,
            tolerance=1e-7,
            intervals=intervals,
            backend="virtual",  # a compiler takes longer than the time that is left
            options={"max_cpu_time": share * left},
            **how,
        )
        if loose.success or loose.kkt["feasibility"] <= MAX_ROUGH_RESIDUAL:
            break
        left = max(left - loose.times["cpu"], MIN_ROUND)
    else:
        return {}
    least = MIN_SLACK if loose.success else MIN_ROUGH_SLACK
    unmet = {names[slack]: loose.parameters[slack] for slack in names if loose.parameters[slack] > least}
    return dict(sorted(unmet.items(), key=lambda item: -item[1]))


def relaxed_time(result: Solution) -> float:
    """Return how long what a failed search cannot meet may be looked for [s], on the processor."""
    return max(min(RELAXED_TIME, RELAXED_TIME_FACTOR * result.times["cpu"]), MIN_ROUND)


__all__ = ["relaxed_problem", "relaxed_time", "unmet_requirements"]
