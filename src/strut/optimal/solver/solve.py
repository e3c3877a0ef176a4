"""`solve`: from a problem and a guess to a solution that can be trusted, or that says what stands in the way.

The problem is transcribed on a mesh and solved by IPOPT; the mesh is refined where collocation defects are
too large, and it is solved again.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import casadi as ca
import numpy as np

from strut.checks import checked, integer, seed_number
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.sparse import Assembled
from strut.optimal.nlp.stage_function import StageFunction
from strut.optimal.problem import Problem
from strut.optimal.solver.bound_multipliers import collect_multipliers
from strut.optimal.solver.guess import Guess, fill_unknowns, make_guess, shake_unknowns
from strut.optimal.solver.kkt import MIN_VIOLATION, fixed_multipliers, residuals, worst
from strut.optimal.solver.mesh_motion import motions, totals
from strut.optimal.solver.optimum import (
    BARRIER_FACTOR,
    MAX_BARRIER,
    MAX_WARM_RESIDUAL,
    MIN_BARRIER,
    WARM_OPTIONS,
    optimum_point,
)
from strut.optimal.solver.predict import predict_optimum
from strut.optimal.solver.result import INTERRUPTED, Solution, path_slack
from strut.optimal.solver.starts import Starts, count_agreeing, run_starts
from strut.optimal.solver.watch import BUDGET, SearchInterrupted, SearchWatch, StageProgress

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
    "budget",
    "progress",
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
    "Maximum_WallTime_Exceeded": "out of time",
}
"""What IPOPT returns, in words."""
EXCEPTION = "NonIpopt_Exception_Thrown"
"""What IPOPT says where somebody pressed Ctrl-C: functions of ours compute, and raise nothing."""
BOUND_RELAXATION = 1e-10
"""By which part IPOPT widens bounds to have room inside. Its own 1e-8 lets a force of 200 N be violated by
2e-6 N, more than a solution that is `ok` may be."""
MAX_MESHES = 8
"""Meshes that are tried at most, within the time that is given."""
MAX_MESHES_HALVED = 3
"""Meshes after which intervals are split into `MAX_PARTS` at once: halving them was not enough."""
MAX_MESH_FACTOR = 4
"""A search begins on the mesh of a solution that it is given where that has at most so many times the
intervals that are asked for."""
MAX_COST_RISE = 0.05
"""A cost that rises by more from one mesh to the next, relative to 1 + |cost|, may be that of another
optimum: the search is then begun anew from the motion alone, too, and the better one is kept."""
COST_SLACK = 1e-7
"""Costs that differ by less, relative to 1 + |cost|, are the same."""
MIN_PREDICTED_RESIDUAL = 1e-7
"""An optimum nearer to that of the problem, as `MAX_WARM_RESIDUAL` counts, is not moved before the search."""
MAX_INTERVALS = 400
"""Intervals of a phase at most."""
MAX_PARTS = 4
"""Parts into which an interval is split at most, from one mesh to the next."""
DEFECT_AIM = 0.3
"""Intervals are split such that defects come to this part of the accuracy that is asked."""


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
    budget: float = BUDGET,
    progress: StageProgress | None = None,
    watch: SearchWatch | None = None,
    options: dict[str, Any] | None = None,
    **transcription: Any,
) -> Solution:
    """Solve a problem, and return its solution.

    guess: see `strut.optimal.solver.guess.make_guess`; nothing, a mapping, a trajectory, a gait, or a result.
    accuracy: intervals are split, and the problem is solved again, until every interval agrees so well with
        the adaptive integrator (relative to 1 + |state|); None keeps the mesh.
    tolerance: of the solver. starts: how many, the first at the guess, others moved by `spread` (relative,
        a standard deviation) with the random numbers of `seed`; they run on all cores, the best is returned,
        and `agreeing` of it says how many came to the same cost. One unless asked: most problems have one
        good optimum near their guess, and four starts on two cores take twice the time.
    iterations: at most. options: further ones of IPOPT. method, intervals, stages, steps, control: see
        `Transcription`.
    budget: how long finer meshes may be tried after the first solution [s]; the best so far is returned.
    progress: is told every stage, a `SearchStage`. watch: of a larger search that this is a part of; it then
        has budget and progress.
    backend: 'auto' (default, also $STRUT_BACKEND) evaluates in CasADi's virtual machine until compiled C
        would have paid, 'native' compiles first, 'virtual' never does; the numbers are the same.

    From a result the search is warm: it begins with its multipliers, on its mesh if that is fine enough, and
    never ends worse than the guess where that is a motion of this problem. Ctrl-C returns the best so far,
    with the status 'interrupted'; where there is nothing yet, `KeyboardInterrupt` is raised. A problem that
    cannot be solved does not raise: look at `ok`, `status` and `worst`.
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
    own_watch = watch or SearchWatch(budget, progress)
    task = SolveTask(problem, how, settings, accuracy, backend, own_watch)
    try:
        return task.search(make_guess(problem, guess), Starts(starts, spread, seed))
    except KeyboardInterrupt:
        if watch is not None or own_watch.best is None:
            raise  # whoever watches knows what to do, or nobody can
        return replace(own_watch.best, status=INTERRUPTED, accuracy=accuracy)


@dataclass(frozen=True, eq=False)
class SolveTask:
    """What is solved, and how; see `solve`. settings: of IPOPT. stages: functions that all meshes share."""

    problem: Problem
    how: Transcription
    settings: dict[str, Any]
    accuracy: float | None
    backend: str | None
    watch: SearchWatch
    stages: dict[str, StageFunction] = field(default_factory=dict)

    def search(self, guess: Guess, starts: Starts) -> Solution:
        """Return the solution from a guess, on meshes that are refined until it is accurate."""
        watch, accuracy = self.watch, self.accuracy
        mesh = self._transcribe(self._first_fractions(guess), "search")
        try:
            result = self._solve_starts(mesh, guess, starts)
        except SearchInterrupted as stop:
            watch.best = watch.best or stop.best
            raise
        watch.count_down()
        watch.best = result
        times = dict(result.times)
        meshes = [_mesh_summary(result)] if accuracy is not None and result.success else []
        while accuracy is not None and result.success and len(meshes) < MAX_MESHES and watch.may_go_on:
            parts = MAX_PARTS if len(meshes) > MAX_MESHES_HALVED else 2
            fractions = refine_mesh(result, accuracy, self.how.order, parts)
            if fractions is None:
                break
            mesh = self._transcribe(fractions, "finer mesh")
            better = self._solve_from(mesh, result.guess(), result.cost * (1 + MAX_COST_RISE))
            times = {name: times[name] + better.times[name] for name in times}
            if not better.success:
                break  # the best so far is kept, and its defects say how good it is
            result = replace(better, starts=result.starts, agreeing=result.agreeing)
            watch.best = result
            meshes.append(_mesh_summary(result))
        return replace(result, times=times, accuracy=accuracy, meshes=tuple(meshes))

    def _first_fractions(self, guess: Guess) -> Sequence[np.ndarray] | None:
        """Return the mesh to begin on: that of an optimum, if it is fine enough and not much finer than what
        is asked for; None for equal intervals. A mesh that is to stay is as it was asked for."""
        point = guess.optimum
        if point is None or self.accuracy is None or len(point.fractions) != len(self.problem.phases):
            return None
        asked = np.broadcast_to(self.how.intervals, len(self.problem.phases))
        counts = [len(widths) for widths in point.fractions]
        fits = all(n <= count <= MAX_MESH_FACTOR * n for n, count in zip(asked, counts, strict=True))
        return point.fractions if fits else None

    def _transcribe(self, fractions: Sequence[np.ndarray] | None, stage: str) -> Transcribed:
        """Return the problem on a mesh; time to compile it does not count."""
        counts = np.broadcast_to(self.how.intervals, len(self.problem.phases)).tolist()
        counts = counts if fractions is None else [len(widths) for widths in fractions]
        self.watch.tell(stage, f"{sum(counts)} intervals")
        mesh = Transcribed(self.problem, self.how, fractions, self.backend, self.stages)
        self.watch.add_compile_time(mesh.compile_time)
        return mesh

    def _solve_starts(self, mesh: Transcribed, guess: Guess, starts: Starts) -> Solution:
        """Return the cheapest solution from several starts; where none succeeds, the least infeasible."""
        if starts.count == 1:
            return self._solve_from(mesh, guess)
        begin, random = fill_unknowns(mesh, guess), np.random.default_rng(starts.seed)
        others = [shake_unknowns(begin, mesh, starts.spread, random) for _ in range(starts.count - 1)]

        def one_start(k: int) -> Solution:
            own = None if k == 0 else others[k - 1]
            solution = self._solve_from(mesh, guess) if own is None else solve_mesh(mesh, own, self.settings)
            return replace(solution, problem=None)  # type: ignore[arg-type]  # it need not travel

        results: list[Solution] = [
            replace(r, problem=self.problem) for r in run_starts(starts.count, one_start)
        ]
        good = [r for r in results if r.success]
        best = min(good, key=lambda r: r.cost) if good else min(results, key=lambda r: r.kkt["feasibility"])
        total = {name: sum(r.times[name] for r in results) for name in best.times}
        return replace(
            best,
            times=total | {"build": mesh.build_time, "compile": mesh.compile_time},
            starts=starts.count,
            agreeing=count_agreeing([r.cost for r in good]),
        )

    def _solve_from(self, mesh: Transcribed, guess: Guess, ceiling: float = np.inf) -> Solution:
        """Return the solution on a mesh from a guess: warm where that is an optimum, and not worse than it.

        ceiling: a cost that should not be exceeded. Where it is, and where a warm search fails, another
        begins from the motion alone, and the better one is returned.
        """
        settings, point = self.settings | self.watch.solver_limit(), guess.optimum
        if point is None or len(point.fractions) != len(mesh.spans):
            return solve_mesh(mesh, fill_unknowns(mesh, guess), settings)
        same = point.is_on(mesh)
        begin = _within_bounds(mesh, point.unknowns) if same else fill_unknowns(mesh, guess)
        multipliers = point.multipliers(mesh)
        own = _evaluate(mesh, begin, multipliers)
        if own.kkt["feasibility"] <= MIN_VIOLATION:
            ceiling = min(ceiling, own.cost)
        away = _distance_from_optimum(own, multipliers)
        if same and MIN_PREDICTED_RESIDUAL < away <= MAX_WARM_RESIDUAL:
            moved = predict_optimum(mesh, begin, multipliers)
            if moved is not None:
                begin, multipliers = moved
                away = _distance_from_optimum(_evaluate(mesh, begin, multipliers), multipliers)
        if away > MAX_WARM_RESIDUAL:  # the optimum of another problem: its multipliers mislead
            warm = solve_mesh(mesh, begin, settings)
        else:
            barrier = {"mu_init": float(np.clip(away * BARRIER_FACTOR, MIN_BARRIER, MAX_BARRIER))}
            warm = solve_mesh(mesh, begin, settings | WARM_OPTIONS | barrier, multipliers)
        limit = ceiling + COST_SLACK * (1 + abs(ceiling)) if np.isfinite(ceiling) else np.inf
        if warm.success and warm.cost <= limit:
            return warm
        cold = solve_mesh(mesh, begin, self.settings | self.watch.solver_limit())
        times = {name: warm.times[name] + cold.times[name] for name in ("solve", "cpu")}
        good = [r for r in (warm, cold) if r.success]
        best = min(good, key=lambda r: r.cost) if good else cold
        if own.kkt["feasibility"] <= MIN_VIOLATION and (not good or best.cost > limit):
            best = own
        return replace(best, times={**best.times, **times})


def _distance_from_optimum(there: Solution, multipliers: tuple[np.ndarray, np.ndarray]) -> float:
    """Return how far a point is from an optimum: constraints, or the gradient of the Lagrangian relative to
    the largest multiplier."""
    largest = max(1.0, *[float(np.abs(part).max(initial=0.0)) for part in multipliers])
    return max(there.kkt["feasibility"], there.kkt["stationarity"] / largest)


def _within_bounds(mesh: Transcribed, v: np.ndarray) -> np.ndarray:
    """Return unknowns within the bounds of a mesh."""
    return np.asarray(np.clip(v, np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)))


def _mesh_summary(result: Solution) -> tuple[int, float]:
    """Return how many intervals there are, and the defect."""
    return sum(len(m.t) - 1 for m in result.phases), result.defect


def refine_mesh(
    result: Solution, accuracy: float, order: int, least_parts: int = 2
) -> list[np.ndarray] | None:
    """Return the fractions of every phase that its intervals take, split where their defect is too large,
    into as many as the order says and at least `least_parts`, and where a requirement does not hold between
    the points; None where nothing needs it, or can be split any more."""
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
                split |= over > path_slack(r, size_of)
        parts = np.where(split, np.maximum(parts, least_parts), 1)
        if parts.sum() > MAX_INTERVALS:
            parts = np.ones(len(widths), dtype=int)
        changed |= bool((parts > 1).any())
        meshes.append(np.concatenate([np.full(n, w / n) for w, n in zip(widths, parts, strict=True)]))
    return meshes if changed else None


class NlpFunctions(Protocol):
    """What IPOPT needs of a mesh, or of several: their functions, and a place to keep the solvers made."""

    assembled: Assembled
    solvers: dict[str, ca.Function]


def solver_of(mesh: NlpFunctions, settings: dict[str, Any]) -> ca.Function:
    """Return IPOPT with the assembled functions; made once per setting."""
    key = repr(sorted(settings.items()))
    if key not in mesh.solvers:
        f = mesh.assembled.functions
        plain = {
            "print_level": 0,
            "sb": "yes",
            "honor_original_bounds": "yes",
            "bound_relax_factor": BOUND_RELAXATION,
            **settings,
        }
        options: dict[str, Any] = {
            "print_time": False,
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "ipopt": plain,
            **{n: f[n] for n in ("grad_f", "jac_g", "hess_lag")},
        }
        mesh.solvers[key] = ca.nlpsol("solver", "ipopt", f["nlp"], options)
    return mesh.solvers[key]


def solve_mesh(
    mesh: Transcribed,
    begin: np.ndarray,
    settings: dict[str, Any],
    multipliers: tuple[np.ndarray, np.ndarray] | None = None,
) -> Solution:
    """Return the solution on one mesh, from the unknowns `begin`. settings: options of IPOPT. multipliers: of
    bounds and rows, to begin with. Where somebody pressed Ctrl-C, `SearchInterrupted` is raised, with where
    the solver was."""
    began = clock.perf_counter()
    run = solver_of(mesh, settings)
    built = clock.perf_counter()
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    g_low, g_high = np.array(mesh.rows.low[1:]), np.array(mesh.rows.high[1:])
    numbers, before = mesh.numbers(), clock.process_time()
    warm = {} if multipliers is None else {"lam_x0": multipliers[0], "lam_g0": multipliers[1]}
    outcome = run(x0=begin, p=numbers, lbx=low, ubx=high, lbg=g_low, ubg=g_high, **warm)
    wall, cpu = clock.perf_counter() - built, clock.process_time() - before
    v, lam_g, lam_x = (np.array(outcome[n]).reshape(-1) for n in ("x", "lam_g", "lam_x"))
    stats = run.stats()
    mesh.note_iterations(int(stats["iter_count"]))
    status = stats["return_status"]
    if status == EXCEPTION:  # nothing is known but where it was
        reached = v if np.isfinite(v).all() else begin
        raise SearchInterrupted(
            replace(_evaluate(mesh, reached, (0 * lam_x, 0 * lam_g)), status=INTERRUPTED, success=False)
        )
    solution = _evaluate(mesh, v, (lam_x, lam_g))
    return replace(
        solution,
        status=WORDS.get(status, status.replace("_", " ").lower()),
        iterations=int(stats["iter_count"]),
        times={**solution.times, "build": mesh.build_time + built - began, "solve": wall, "cpu": cpu},
        success=status in SUCCESS,
    )


def _evaluate(mesh: Transcribed, v: np.ndarray, multipliers: tuple[np.ndarray, np.ndarray]) -> Solution:
    """Return the unknowns of a mesh, with multipliers of bounds and rows, as a solution that nobody had to
    search for."""
    lam_x, lam_g = multipliers
    lam_x = fixed_multipliers(mesh, v, lam_g, lam_x)
    cost, rows = mesh.assembled.functions["nlp"](v, mesh.numbers())[:2]
    g, phases = np.array(rows).reshape(-1), motions(mesh, v)
    return Solution(
        problem=mesh.problem,
        how=mesh.how,
        status="kept: no better motion was found",
        cost=float(cost),
        parameters={name: float(v[at]) for name, at in zip(mesh.problem.parameters, mesh.p_at, strict=True)},
        phases=phases,
        totals=totals(mesh, v, phases),
        kkt=residuals(mesh, v, g, lam_g, lam_x),
        worst=worst(mesh, v, g),
        iterations=0,
        times={"build": mesh.build_time, "compile": mesh.compile_time, "solve": 0.0, "cpu": 0.0},
        success=True,
        optimum=optimum_point(mesh, v, float(cost), bounds=lam_x, rows=lam_g),
        multipliers=collect_multipliers(mesh, np.concatenate([v, g]), np.concatenate([lam_x, lam_g])),
    )


__all__ = ["refine_mesh", "solve", "solve_mesh"]
