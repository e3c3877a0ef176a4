"""`solve`: from a problem and a guess to a result that can be trusted, or that says what stands in the
way."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, integer, seed_number
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription, lagrange
from strut.optimal.problem import Jumps, Problem
from strut.optimal.solver.defect import integrals
from strut.optimal.solver.guess import Guess, filled, guessed, shaken
from strut.optimal.solver.result import Motion, Solution, flow_function
from strut.system import time

SOLVERS = ("ipopt",)
OPTIONS = (
    "guess",
    "accuracy",
    "tolerance",
    "starts",
    "spread",
    "seed",
    "iterations",
    "solver",
    "backend",
    "options",
)
"""What `solve` takes besides what a `Transcription` does."""
SUCCESS = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
WORDS = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "solved to an acceptable level",
    "Infeasible_Problem_Detected": "infeasible here: no small change of the motion helps",
    "Maximum_Iterations_Exceeded": "too many iterations",
    "Restoration_Failed": "the constraints could not be met from here",
    "Invalid_Number_Detected": "something became infinite or not a number",
    "Search_Direction_Becomes_Too_Small": "the search came to a halt",
    "Diverging_Iterates": "the unknowns grow without bound",
}
INTERRUPTED = "NonIpopt_Exception_Thrown"
"""What IPOPT says where somebody pressed Ctrl-C: functions of ours compute, and raise nothing."""
ROUNDS = 6
"""Meshes that are tried at most."""
BETWEEN = 1e-9
"""More than this of a requirement with a margin is a violation between the points."""
ROUGHLY = 0.01
"""More than this part of the largest value of a requirement without one is, too."""
MOST = 400
"""Intervals of a phase at most."""


@checked
def solve(
    problem: Problem,
    guess: Any = None,
    *,
    accuracy: float | None = 1e-6,
    tolerance: float = 1e-9,
    starts: int = 1,
    spread: float = 0.05,
    seed: int = 0,
    iterations: int = 500,
    solver: str = "ipopt",
    backend: str | None = None,
    options: dict[str, Any] | None = None,
    **transcription: Any,
) -> Solution:
    """Solve a problem.

    guess: see `strut.optimal.solver.guess.guessed`; nothing, a mapping, a trajectory, a gait, or a result.
    accuracy: intervals are split, and the problem is solved again, until every interval agrees so well with
        the adaptive integrator (relative to 1 + |state|); None keeps the mesh.
    tolerance: of the solver. starts: how many, the first at the guess, others shaken by `spread`; the best is
        returned.
    iterations: at most. options: further ones of IPOPT. method, intervals, stages, steps, control: see
        `Transcription`.

    A problem that cannot be solved does not raise: look at `ok`, `status` and `worst`.
    """
    if solver not in SOLVERS:
        raise ModelError(f"solver '{solver}' is unknown: allowed are {', '.join(SOLVERS)}")
    integer("starts", starts, 1)
    integer("iterations", iterations, 1)
    seed_number(seed)
    known = [f.name for f in fields(Transcription)]
    for name in transcription:
        if name not in known:
            said = did_you_mean(name, [*known, *OPTIONS])
            raise UnknownNameError(f"'{name}' is no option of a solution: {said}")
    how = Transcription(**transcription)
    settings = {"tol": tolerance, "max_iter": iterations, **(options or {})}
    first = guessed(problem, guess)
    made = Transcribed(problem, how, None, backend)
    result = _best(made, first, settings, starts, spread, seed)
    times = dict(result.times)
    meshes = [_mesh(result)] if accuracy is not None and result.success else []
    while accuracy is not None and result.success and len(meshes) < ROUNDS:
        fractions = refined(result, accuracy, how.order)
        if fractions is None:
            break
        made = Transcribed(problem, how, fractions, backend)
        better = solved(made, filled(made, result.guess()), settings | {"mu_init": 1e-4})
        if not better.success:
            better = solved(made, filled(made, result.guess()), settings)
        times = {name: times[name] + better.times[name] for name in times}
        result = better
        meshes.append(_mesh(result))
    return replace(result, times=times, accuracy=accuracy, meshes=tuple(meshes), starts=starts)


def _mesh(result: Solution) -> tuple[int, float]:
    return sum(len(m.t) - 1 for m in result.phases), result.defect


def refined(result: Solution, accuracy: float, order: int) -> list[np.ndarray] | None:
    """Intervals split where their defect is too large, into as many as the order says, and where a
    requirement does not hold between the points; None where nothing needs it, or can be split any more."""
    found, changed = [], False
    for m, d in zip(result.phases, result.defects, strict=True):
        widths = np.diff(m.t) / m.duration
        size = np.where(np.isfinite(d.size), d.size, 1.0)
        parts = np.clip(np.ceil((size / (0.3 * accuracy)) ** (1 / (order + 1))), 1, 4).astype(int)
        split = size > accuracy
        for r in result.problem.path_requirements():
            if r.phase in (None, m.name):
                over, size_of = result.over(r, m)
                split |= over > (BETWEEN if r.margin else ROUGHLY * size_of)
        parts = np.where(split, np.maximum(parts, 2), 1)
        if parts.sum() > MOST:
            parts = np.ones(len(widths), dtype=int)
        changed |= bool((parts > 1).any())
        found.append(np.concatenate([np.full(n, w / n) for w, n in zip(widths, parts, strict=True)]))
    return found if changed else None


def _best(made: Transcribed, guess: Guess, settings: dict, starts: int, spread: float, seed: int) -> Solution:
    begin = filled(made, guess)
    random = np.random.default_rng(seed)
    results = [solved(made, begin, settings)]
    results += [solved(made, shaken(begin, made, spread, random), settings) for _ in range(starts - 1)]
    good = [r for r in results if r.success]
    best = min(good, key=lambda r: r.cost) if good else min(results, key=lambda r: r.kkt["feasibility"])
    total = {name: sum(r.times[name] for r in results) for name in best.times}
    return replace(best, times=total | {"build": made.build_time, "compile": made.compile_time})


def solver_of(made: Transcribed, settings: dict[str, Any]) -> ca.Function:
    """IPOPT with the assembled functions; made once per setting."""
    key = repr(sorted(settings.items()))
    kept = made.solvers
    if key not in kept:
        f = made.assembled.functions
        plain = {"print_level": 0, "sb": "yes", "honor_original_bounds": "yes", **settings}
        options: dict[str, Any] = {
            "print_time": False,
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "ipopt": plain,
            **{n: f[n] for n in ("grad_f", "jac_g", "hess_lag")},
        }
        kept[key] = ca.nlpsol("solver", "ipopt", f["nlp"], options)
    return kept[key]


def solved(made: Transcribed, begin: np.ndarray, settings: dict[str, Any]) -> Solution:
    began = clock.perf_counter()
    run = solver_of(made, settings)
    built = clock.perf_counter()
    low, high = np.array(made.unknowns.low), np.array(made.unknowns.high)
    g_low, g_high = np.array(made.rows.low[1:]), np.array(made.rows.high[1:])
    numbers, before = made.numbers(), clock.process_time()
    done = run(x0=begin, p=numbers, lbx=low, ubx=high, lbg=g_low, ubg=g_high)
    taken, cpu = clock.perf_counter() - built, clock.process_time() - before
    v, lam_g, lam_x = (np.array(done[n]).reshape(-1) for n in ("x", "lam_g", "lam_x"))
    stats = run.stats()
    g = np.array(done["g"]).reshape(-1)
    status = stats["return_status"]
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    phases = motions(made, v)
    return Solution(
        made.problem,
        made.how,
        WORDS.get(status, status.replace("_", " ").lower()),
        float(done["f"]),
        {name: float(v[at]) for name, at in zip(made.problem.parameters, made.p_at, strict=True)},
        phases,
        totals(made, v, phases),
        residuals(made, v, g, lam_g, lam_x),
        worst(made, v, g),
        int(stats["iter_count"]),
        {"build": made.build_time + built - began, "compile": made.compile_time, "solve": taken, "cpu": cpu},
        status in SUCCESS,
    )


def residuals(
    made: Transcribed, v: np.ndarray, g: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray
) -> dict[str, float]:
    """How well the conditions of an optimum hold, multipliers scaled as IPOPT does."""
    f, numbers = made.assembled.functions, made.numbers()
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    fixed = np.array(made.unknowns.low) == np.array(made.unknowns.high)
    balance = gradient + np.array(ca.mtimes(J.T, lam_g)).reshape(-1) + lam_x
    low, high = (
        np.array([*made.unknowns.low, *made.rows.low[1:]]),
        np.array([*made.unknowns.high, *made.rows.high[1:]]),
    )
    values, multipliers = np.concatenate([v, g]), np.concatenate([lam_x, lam_g])
    violation = np.maximum(np.maximum(low - values, values - high), 0)
    slack = np.where(multipliers > 0, high - values, values - low)
    open_ones = np.isfinite(slack) & (low < high)
    slack = np.where(open_ones, slack, 0.0)
    size = max(1.0, float(np.abs(multipliers).mean()) / 100) if len(multipliers) else 1.0
    return {
        "stationarity": float(np.abs(np.where(fixed, 0.0, balance)).max(initial=0.0)) / size,
        "feasibility": float(violation.max(initial=0.0)),
        "complementarity": float(np.abs(multipliers * slack).max(initial=0.0)) / size,
    }


def worst(made: Transcribed, v: np.ndarray, g: np.ndarray, count: int = 3) -> dict[str, float]:
    """The constraints and bounds that are violated most, by name, beyond rounding."""
    low, high = (
        np.array([*made.unknowns.low, *made.rows.low[1:]]),
        np.array([*made.unknowns.high, *made.rows.high[1:]]),
    )
    names = [*made.unknowns.names, *made.rows.names[1:]]
    values = np.concatenate([v, g])
    violation = np.maximum(low - values, values - high)
    violation = np.where(np.isnan(violation), np.inf, violation)
    found: dict[str, float] = {}
    for i in np.argsort(-violation):
        if violation[i] <= 1e-7 or len(found) == count:
            break
        found.setdefault(names[i], float(violation[i]))
    return found


def motions(made: Transcribed, v: np.ndarray) -> tuple[Motion, ...]:
    system, begin, found = made.system, 0.0, []
    p = made.start.p.copy()
    p[made.free] = v[made.p_at]
    flow, basis, planned = flow_function(system), lagrange(made.how.degree), made.planned(v)
    for k, span in enumerate(made.spans):
        t = begin + v[span.duration] * span.nodes
        z = made.held[k][0].copy()
        z[list(span.moving)] = v[span.held]
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
        found.append(
            Motion(span.phase.name, span.phase.until, t, x, w, z, (slopes[0], slopes[1]), planned[k])
        )
        begin = float(t[-1])
    return tuple(found)


def totals(made: Transcribed, v: np.ndarray, phases: Sequence[Motion]) -> dict[str, float]:
    """Integrals and sums as the plan has them."""
    found: dict[str, float] = {}
    for m in phases:
        for k, total in enumerate(integrals(made.problem, m.name)):
            found[total.name] = found.get(total.name, 0.0) + float(m.integrals[:, k].sum())
    for jumps in made.problem.totals:
        if isinstance(jumps, Jumps):
            found[jumps.name] = sum(_jump(made, m, v, jumps) for m in phases if m.until is not None)
    return found


def _jump(made: Transcribed, m: Motion, v: np.ndarray, total: Jumps) -> float:
    assert m.until is not None
    p = made.start.p.copy()
    p[made.free] = v[made.p_at]
    f = ca.Function("jump", [time, *made.vectors], [total.of(m.until)])
    return float(f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], p))


__all__ = ["refined", "solve", "solved"]
