"""`solve`: from a problem and a guess to a solution that can be trusted, or that says what stands in the way.

The problem is transcribed on a mesh and solved by IPOPT; the mesh is refined where collocation defects are
too large, and it is solved again.
"""

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
from strut.optimal.solver.defect import phase_integrals
from strut.optimal.solver.guess import Guess, fill_unknowns, make_guess, shake_unknowns
from strut.optimal.solver.result import Motion, Solution, flow_function
from strut.system import time

SOLVERS = ("ipopt",)
"""Solvers that can be chosen."""
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
"""What IPOPT returns where it succeeded."""
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
"""What IPOPT returns, in words."""
INTERRUPTED = "NonIpopt_Exception_Thrown"
"""What IPOPT says where somebody pressed Ctrl-C: functions of ours compute, and raise nothing."""
MAX_MESHES = 6
"""Meshes that are tried at most."""
MARGIN_SLACK = 1e-9
"""A requirement with a margin that is exceeded by more between the points, in its own unit, is violated
there."""
PATH_SLACK = 0.01
"""A requirement without a margin that is exceeded by more than this part of its largest value is, too."""
MAX_INTERVALS = 400
"""Intervals of a phase at most."""
MAX_PARTS = 4
"""Parts into which an interval is split at most, from one mesh to the next."""
DEFECT_AIM = 0.3
"""Intervals are split such that defects come to this part of the accuracy that is asked."""
WARM_BARRIER = 1e-4
"""The barrier parameter of IPOPT at the beginning of a search from the solution on a coarser mesh."""
MIN_VIOLATION = 1e-7
"""Constraints that are violated by less, in their own unit, are not listed as violated."""


@checked
def solve(  # noqa: PLR0913 -- options of a public function
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
    """Solve a problem, and return its solution.

    guess: see `strut.optimal.solver.guess.make_guess`; nothing, a mapping, a trajectory, a gait, or a result.
    accuracy: intervals are split, and the problem is solved again, until every interval agrees so well with
        the adaptive integrator (relative to 1 + |state|); None keeps the mesh.
    tolerance: of the solver. starts: how many, the first at the guess, others shake_unknowns by `spread`;
        the best is returned.
    iterations: at most. options: further ones of IPOPT. method, intervals, stages, steps, control: see
        `Transcription`.
    backend: 'auto' (default, also $STRUT_BACKEND) evaluates in CasADi's virtual machine until compiled C
        would have paid, 'native' compiles first, 'virtual' never does; the numbers are the same.

    A problem that cannot be solved does not raise: look at `ok`, `status` and `worst`.
    """
    if solver not in SOLVERS:
        raise ModelError(f"solver '{solver}' is unknown: allowed are {', '.join(SOLVERS)}")
    integer("starts", starts, 1)
    integer("iterations", iterations, 1)
    seed_number(seed)
    names = [f.name for f in fields(Transcription)]
    for name in transcription:
        if name not in names:
            hint = did_you_mean(name, [*names, *OPTIONS])
            raise UnknownNameError(f"'{name}' is no option of a solution: {hint}")
    how = Transcription(**transcription)
    settings = {"tol": tolerance, "max_iter": iterations, **(options or {})}
    first = make_guess(problem, guess)
    mesh = Transcribed(problem, how, None, backend)
    result = _solve_starts(mesh, _starts(mesh, first, starts, spread, seed), settings)
    times = dict(result.times)
    meshes = [_mesh_summary(result)] if accuracy is not None and result.success else []
    while accuracy is not None and result.success and len(meshes) < MAX_MESHES:
        fractions = refine_mesh(result, accuracy, how.order)
        if fractions is None:
            break
        mesh = Transcribed(problem, how, fractions, backend)
        begin = fill_unknowns(mesh, result.guess())
        better = solve_mesh(mesh, begin, settings | {"mu_init": WARM_BARRIER})
        if not better.success:
            better = solve_mesh(mesh, fill_unknowns(mesh, result.guess()), settings)
        times = {name: times[name] + better.times[name] for name in times}
        result = better
        meshes.append(_mesh_summary(result))
    return replace(result, times=times, accuracy=accuracy, meshes=tuple(meshes), starts=starts)


def _mesh_summary(result: Solution) -> tuple[int, float]:
    """Return how many intervals there are, and the defect."""
    return sum(len(m.t) - 1 for m in result.phases), result.defect


def refine_mesh(result: Solution, accuracy: float, order: int) -> list[np.ndarray] | None:
    """Return the fractions of every phase that its intervals take, split where their defect is too large,
    into as many as the order says, and where a requirement does not hold between the points; None where
    nothing needs it, or can be split any more."""
    meshes, changed = [], False
    for m, d in zip(result.phases, result.defects, strict=True):
        widths = np.diff(m.t) / m.duration
        size = np.where(np.isfinite(d.size), d.size, 1.0)
        parts = np.clip(np.ceil((size / (DEFECT_AIM * accuracy)) ** (1 / (order + 1))), 1, MAX_PARTS).astype(
            int
        )
        split = size > accuracy
        for r in result.problem.path_requirements():
            if r.phase in (None, m.name):
                over, size_of = result.over(r, m)
                split |= over > (MARGIN_SLACK if r.margin else PATH_SLACK * size_of)
        parts = np.where(split, np.maximum(parts, 2), 1)
        if parts.sum() > MAX_INTERVALS:
            parts = np.ones(len(widths), dtype=int)
        changed |= bool((parts > 1).any())
        meshes.append(np.concatenate([np.full(n, w / n) for w, n in zip(widths, parts, strict=True)]))
    return meshes if changed else None


def _starts(mesh: Transcribed, guess: Guess, starts: int, spread: float, seed: int) -> list[np.ndarray]:
    """Return the unknowns to begin from: those of the guess, and others shaken by `spread`."""
    begin, random = fill_unknowns(mesh, guess), np.random.default_rng(seed)
    return [begin, *[shake_unknowns(begin, mesh, spread, random) for _ in range(starts - 1)]]


def _solve_starts(mesh: Transcribed, starts: list[np.ndarray], settings: dict[str, Any]) -> Solution:
    """Return the cheapest solution from several starts; where none succeeds, the least infeasible."""
    results = [solve_mesh(mesh, begin, settings) for begin in starts]
    good = [r for r in results if r.success]
    best = min(good, key=lambda r: r.cost) if good else min(results, key=lambda r: r.kkt["feasibility"])
    total = {name: sum(r.times[name] for r in results) for name in best.times}
    return replace(best, times=total | {"build": mesh.build_time, "compile": mesh.compile_time})


def solver_of(mesh: Transcribed, settings: dict[str, Any]) -> ca.Function:
    """Return IPOPT with the assembled functions; made once per setting."""
    key = repr(sorted(settings.items()))
    if key not in mesh.solvers:
        f = mesh.assembled.functions
        plain = {"print_level": 0, "sb": "yes", "honor_original_bounds": "yes", **settings}
        options: dict[str, Any] = {
            "print_time": False,
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "ipopt": plain,
            **{n: f[n] for n in ("grad_f", "jac_g", "hess_lag")},
        }
        mesh.solvers[key] = ca.nlpsol("solver", "ipopt", f["nlp"], options)
    return mesh.solvers[key]


def solve_mesh(mesh: Transcribed, begin: np.ndarray, settings: dict[str, Any]) -> Solution:
    """Return the solution on one mesh, from the unknowns `begin`. settings: options of IPOPT. Where somebody
    pressed Ctrl-C, `KeyboardInterrupt` is raised."""
    began = clock.perf_counter()
    run = solver_of(mesh, settings)
    built = clock.perf_counter()
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    g_low, g_high = np.array(mesh.rows.low[1:]), np.array(mesh.rows.high[1:])
    numbers, before = mesh.numbers(), clock.process_time()
    outcome = run(x0=begin, p=numbers, lbx=low, ubx=high, lbg=g_low, ubg=g_high)
    wall, cpu = clock.perf_counter() - built, clock.process_time() - before
    v, lam_g, lam_x = (np.array(outcome[n]).reshape(-1) for n in ("x", "lam_g", "lam_x"))
    stats = run.stats()
    mesh.note_iterations(int(stats["iter_count"]))
    g = np.array(outcome["g"]).reshape(-1)
    status = stats["return_status"]
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    phases = motions(mesh, v)
    return Solution(
        problem=mesh.problem,
        how=mesh.how,
        status=WORDS.get(status, status.replace("_", " ").lower()),
        cost=float(outcome["f"]),
        parameters={name: float(v[at]) for name, at in zip(mesh.problem.parameters, mesh.p_at, strict=True)},
        phases=phases,
        totals=totals(mesh, v, phases),
        kkt=residuals(mesh, v, g, lam_g, lam_x),
        worst=worst(mesh, v, g),
        iterations=int(stats["iter_count"]),
        times={
            "build": mesh.build_time + built - began,
            "compile": mesh.compile_time,
            "solve": wall,
            "cpu": cpu,
        },
        success=status in SUCCESS,
    )


def residuals(
    mesh: Transcribed, v: np.ndarray, g: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray
) -> dict[str, float]:
    """Return how well the conditions of an optimum (Karush-Kuhn-Tucker) hold, multipliers scaled as IPOPT
    does."""
    f, numbers = mesh.assembled.functions, mesh.numbers()
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    fixed = np.array(mesh.unknowns.low) == np.array(mesh.unknowns.high)
    balance = gradient + np.array(ca.mtimes(J.T, lam_g)).reshape(-1) + lam_x
    low, high = (
        np.array([*mesh.unknowns.low, *mesh.rows.low[1:]]),
        np.array([*mesh.unknowns.high, *mesh.rows.high[1:]]),
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


def worst(mesh: Transcribed, v: np.ndarray, g: np.ndarray, count: int = 3) -> dict[str, float]:
    """Return the constraints and bounds that are violated most, by name, beyond rounding."""
    low, high = (
        np.array([*mesh.unknowns.low, *mesh.rows.low[1:]]),
        np.array([*mesh.unknowns.high, *mesh.rows.high[1:]]),
    )
    names = [*mesh.unknowns.names, *mesh.rows.names[1:]]
    values = np.concatenate([v, g])
    violation = np.maximum(low - values, values - high)
    violation = np.where(np.isnan(violation), np.inf, violation)
    violations: dict[str, float] = {}
    for i in np.argsort(-violation):
        if violation[i] <= MIN_VIOLATION or len(violations) == count:
            break
        violations.setdefault(names[i], float(violation[i]))
    return violations


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
            )
        )
        begin = float(t[-1])
    return tuple(phases)


def totals(mesh: Transcribed, v: np.ndarray, phases: Sequence[Motion]) -> dict[str, float]:
    """Return integrals and sums as the plan has them."""
    sums: dict[str, float] = {}
    for m in phases:
        for k, total in enumerate(phase_integrals(mesh.problem, m.name)):
            sums[total.name] = sums.get(total.name, 0.0) + float(m.integrals[:, k].sum())
    for jumps in mesh.problem.totals:
        if isinstance(jumps, Jumps):
            sums[jumps.name] = sum(_jump(mesh, m, v, jumps) for m in phases if m.until is not None)
    return sums


def _jump(mesh: Transcribed, m: Motion, v: np.ndarray, total: Jumps) -> float:
    assert m.until is not None
    p = mesh.start.p.copy()
    p[mesh.free] = v[mesh.p_at]
    f = ca.Function("jump", [time, *mesh.vectors], [total.of(m.until)])
    return float(f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], p))


__all__ = ["refine_mesh", "solve", "solve_mesh"]
