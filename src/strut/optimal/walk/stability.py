"""Stability in the loop: how a disturbance grows over a step, as an expression that a design may bound or
minimise.

Beside its state the walker carries how that state depends on where the step began (the variational
equations), so that the derivative of the return map is an expression at the end of the step, exact in every
iterate. Its spectral radius is not smooth; a norm of a high power of
it is, and bounds it from above: |A^k|^(1/k), k = 64 (Gelfand). What is bounded is therefore enough; true
    multipliers are a little smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ValueRangeError
from strut.gait.section import section_of
from strut.gait.variational import BY_HELD, BY_STATE, variational
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.unknowns import Layout
from strut.optimal.problem import Jumps, Problem
from strut.optimal.solver.guess import Curve, Guess, Stretch
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.solver.solve import solve
from strut.system import System, sx, time

DOUBLINGS = 6
"""Of the power: 2^6."""
LEAST = 1e-12
"""Added under roots, whose slope would be infinite where a disturbance vanishes."""
STAGE = 0.05
"""By so much the bound is tightened at a time."""
CLOSE = 0.02
"""The least bound is found to this."""
QUICK = 200
"""Iterations that a step towards it may take: the first of the compass takes 124."""
LARGE = 1e6
"""A growth that bounds nothing."""
MOST = 80
"""Intervals at most."""
GROWTH = "growth of disturbances"
FINE = 200
"""Steps of the integration that makes a guess of the variations."""


def varied(system: System, section: str) -> tuple[System, ca.SX]:
    """The walker that carries how its state depends on where the step began, and the derivative of the return
    map by its free states at the end of a step that the section ends. The section sets the dependence back,
    so that it repeats; in one step, what is held is held."""
    made, nx = variational(system, section), system.size("x")
    state = next(q for q in made.x if q.name == BY_STATE)
    held = [q.sym for q in made.z if q.name == BY_HELD]
    columns = [sx(made.event(section).reset[BY_STATE]), made.flow[BY_STATE]]
    jump, flow = ca.substitute(columns, held, [ca.SX.zeros(*h.shape) for h in held])
    identity = ca.SX(ca.vec(ca.DM(np.eye(nx))))
    events = [
        replace(e, reset={**{n: sx(v) for n, v in e.reset.items()}, BY_STATE: identity})
        if e.name == section
        else e
        for e in system.events
    ]
    bigger = replace(
        system, x=(*system.x, state), flow={**system.flow, BY_STATE: flow}, events=tuple(events), implied=None
    )
    shears = ca.substitute([jump], [state.sym], [identity])[
        0
    ]  # it is linear: how the section alone shears a disturbance
    K = _by_free(system, section, ca.reshape(shears, nx, nx))
    names = [[f"sheared_{i}_{j}" for j in range(nx)] for i in range(K.shape[0])]
    known = [[Jumps(name, K[i, j], section) for j, name in enumerate(row)] for i, row in enumerate(names)]
    entries = ca.vertcat(
        *[
            ca.horzcat(*[ca.SX(0) if K[i, j].is_zero() else known[i][j].sym for j in range(nx)])
            for i in range(K.shape[0])
        ]
    )
    bigger.cache["optimal-sheared"] = known  # totals are known by their symbols as long as someone keeps them
    return bigger, entries @ ca.reshape(state.sym, nx, nx) @ ca.DM(section_of(system, section).spread)


def _by_free(system: System, section: str, J: ca.SX) -> ca.SX:
    """Its free rows, left and right exchanged where the walker has both."""
    if system.symmetry:
        reset, x = system.event(section).reset, ca.vertcat(*[q.sym for q in system.x])
        exchanged = ca.vertcat(*[sx(system.symmetry.get(q.name, q.sym)) for q in system.x])
        states = [q for q in (*system.x, *system.z) if q.name in reset]
        turn = ca.substitute(
            [ca.jacobian(exchanged, x)], [q.sym for q in states], [sx(reset[q.name]) for q in states]
        )[0]
        J = turn @ J
    return ca.densify(J[list(section_of(system, section).free), :])


@checked
def growth(A: ca.SX, doublings: int = DOUBLINGS) -> ca.SX:
    """|A^k|^(1/k) in Frobenius' norm, k = 2^doublings: never below the spectral radius, and smooth."""
    log = ca.SX(0)
    for j in range(doublings):
        norm = ca.sqrt(ca.sumsqr(A) + LEAST)
        log, B = log + ca.log(norm) / 2**j, A / norm
        A = B @ B
    return ca.exp(log + ca.log(ca.sqrt(ca.sumsqr(A) + LEAST**2)) / 2**doublings)


def lifted(problem: Problem, guess: Guess) -> Guess:
    """A guess of the motion, with variations that go along with it."""
    system, phases = problem.system, []
    groups = system.vectors()
    n = system.size("x") - next(q.size for q in system.x if q.name == BY_STATE)
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x if q.name != BY_STATE])
    rates = ca.Function("A", [time, *groups], [ca.densify(ca.jacobian(flow, groups[0][:n]))])
    layout = Layout(problem, Transcription(intervals=1))
    p = layout.start.p.copy()
    p[layout.free] = [guess.parameters[name] for name in problem.parameters]
    for k, stretch in enumerate(guess.phases):
        s = np.linspace(0, 1, FINE + 1)
        still = [np.repeat(part[:, None], len(s), axis=1) for part in (layout.held[k][0], p)]
        x, u = stretch.x(s)[:, :n], stretch.u(s)
        lift = np.hstack([x, np.zeros((len(s), n * n))])
        A = (
            np.array(rates.map(len(s))((s * stretch.duration)[None], lift.T, still[0], u.T, still[1]))
            .reshape(n, len(s), n)
            .transpose(1, 0, 2)
        )
        Y, h = [np.eye(n)], stretch.duration / FINE
        for i in range(FINE):  # the trapezium rule: rough, and never unstable
            Y.append(np.linalg.solve(np.eye(n) - h / 2 * A[i + 1], (np.eye(n) + h / 2 * A[i]) @ Y[-1]))
        columns = np.array([y.reshape(-1, order="F") for y in Y])
        phases.append(Stretch(stretch.duration, _joined(stretch.x, n, s, columns), stretch.u))
    return Guess(tuple(phases), dict(guess.parameters))


def _joined(x: Curve, n: int, s: np.ndarray, columns: np.ndarray) -> Curve:
    def at(place: np.ndarray) -> np.ndarray:
        return np.hstack(
            [x(place)[:, :n], np.column_stack([np.interp(place, s, column) for column in columns.T])]
        )

    return at


def lowered(result: Solution, problem: Problem) -> Solution:
    """The result as one of the walker without variations."""
    n = problem.system.size("x")
    phases = tuple(
        Motion(
            m.name, m.until, m.t, m.x[:, :n], m.w, m.z, (m.slopes[0][:, :n], m.slopes[1][:, :n]), m.integrals
        )
        for m in result.phases
    )
    return replace(result, problem=problem, phases=phases)


@checked
def stabilise(
    result: Solution, limit: float | None, tolerance: float = 1e-9, iterations: int = 200
) -> Solution:
    """The best motion from here on whose disturbances shrink to `limit` at every step: no multiplier is
    larger, and the bound is reached in
    stages. limit: None finds the least one, by steps; the cost should then be bounded by a requirement.
    Of a motion of one phase that repeats.

    The solver runs on expressions in the virtual machine: variations make them large, and to compile them
        would take longer than to solve.
    """
    problem = result.problem
    if len(problem.phases) != 1 or problem.repeats is None or problem.phases[0].until is None:
        raise ModelError(
            "only a motion of one phase that an event ends and that repeats can be made stable: this one has "
            "another shape"
        )
    if limit is not None and not limit > 0:
        raise ValueRangeError(f"disturbances should shrink to {limit:g} of their size: that must be positive")
    bigger, A = varied(problem.system, problem.phases[0].until)
    grows = growth(A)
    whole = replace(problem, system=bigger)
    begin: Guess = lifted(whole, result.guess())
    settings: dict[str, Any] = {
        "accuracy": None,
        "tolerance": tolerance,
        "iterations": iterations,
        "backend": "virtual",
    }
    settings |= {
        "method": result.how.method,
        "stages": result.how.stages,
        "steps": result.how.steps,
        "control": result.how.control,
    }
    count = max(len(m.t) - 1 for m in result.phases)
    first = solve(whole.require(GROWTH, grows, high=LARGE, at="end"), begin, intervals=count, **settings)
    if not first.success:
        return replace(lowered(first, problem), accuracy=result.accuracy)
    now = float(evaluated(first, grows)[0, 0])
    if limit is not None and now <= limit:
        return result

    def solved(bound: float, begin: Solution, count: int, most: int = iterations) -> Solution:
        asked = whole.require(GROWTH, grows, high=bound, at="end")
        return solve(asked, begin, **{**settings, "intervals": count, "iterations": most})

    bound, found = (
        (limit, first)
        if limit is not None
        else _least(now, first, lambda r, begin: solved(r, begin, count, QUICK))
    )
    if limit is not None:
        for r in np.linspace(now, limit, 1 + max(1, round((now - limit) / STAGE)))[1:]:
            found = solved(float(r), found, count)
            if not found.success:
                break
    while (
        found.success
        and result.accuracy is not None
        and count <= MOST // 2
        and lowered(found, problem).defect > result.accuracy
    ):
        count *= 2
        found = solved(bound, found, count)
    return replace(lowered(found, problem), accuracy=result.accuracy)


def _least(
    now: float, found: Solution, solved: Callable[[float, Solution], Solution]
) -> tuple[float, Solution]:
    """The least bound that a motion was found for, tightened by steps that shrink where they fail: where
    multipliers meet, their largest is no smooth objective, and a solver that is told to minimise it comes to
    no end."""
    step, bound = STAGE, max(now, STAGE)
    while step > CLOSE and bound - step > 0:
        tried = solved(bound - step, found)
        if tried.success:
            bound, found = bound - step, tried
        else:
            step /= 2
    return bound, found


def evaluated(result: Solution, expression: ca.SX) -> np.ndarray:
    """An expression at the end of a motion that carries its variations."""
    system, m = result.problem.system, result.phases[-1]
    groups = system.vectors()
    totals = [t for t in result.problem.totals if isinstance(t, Jumps)]
    f = ca.Function("at_end", [time, *groups, *[t.sym for t in totals]], [expression])
    return np.array(
        f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], result.p, *[result.totals[t.name] for t in totals])
    )


__all__ = ["growth", "stabilise", "varied"]
