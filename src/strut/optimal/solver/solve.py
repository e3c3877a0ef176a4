"""`solve`: from a problem and a guess to a solution that can be trusted, or that says what stands in the way.

The problem is transcribed on a mesh and solved by IPOPT; the mesh is refined where collocation defects are
too large, and where better inputs would save some of the cost, and it is solved again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from strut.checks import checked, integer, positive, seed_number
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.interrupts import reveal_interrupts
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.stage_source import StageSource
from strut.optimal.problem import Problem
from strut.optimal.solver.cost_error import control_errors
from strut.optimal.solver.guess import Guess, fill_unknowns, make_guess, shake_unknowns
from strut.optimal.solver.kkt import MIN_VIOLATION, point_residuals
from strut.optimal.solver.mesh_solve import evaluate_point, solve_mesh
from strut.optimal.solver.optimum import (
    BARRIER_FACTOR,
    MAX_BARRIER,
    MAX_WARM_RESIDUAL,
    MIN_BARRIER,
    NEAR_MOTION,
    WARM_OPTIONS,
)
from strut.optimal.solver.predict import predict_optimum
from strut.optimal.solver.refine import MAX_PARTS, inputs_were_split, refine_mesh
from strut.optimal.solver.result import INTERRUPTED, KEPT, Solution
from strut.optimal.solver.scaling import nominal_scales
from strut.optimal.solver.starts import Starts, count_agreeing, run_starts
from strut.optimal.solver.watch import BUDGET, SearchInterrupted, SearchWatch, StageProgress

SOLVERS = ("ipopt",)
"""Solvers that can be chosen."""
OPTIONS = (
    "guess",
    "accuracy",
    "cost_accuracy",
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
MAX_MESHES = 8
"""Meshes that are tried at most, within the time that is given."""
MAX_MESHES_HALVED = 3
"""Meshes after which intervals are split into `MAX_PARTS` at once: halving them was not enough."""
MAX_MESH_FACTOR = 4
"""A search begins on the mesh of a solution that it is given where that has at most so many times the
intervals that are asked for."""
MAX_COST_RISE = 0.05
"""A cost that rises by more from one mesh to the next, relative to its size, may be that of another
optimum: the search is then begun anew from the motion alone, too, and the better one is kept."""
COST_SLACK = 1e-7
"""Costs that differ by less, relative to their scale and size, are the same."""
COST_ACCURACY = 1e-5
"""What the inputs of a solution may cost too much, relative to its cost, unless something else is asked."""
MIN_PREDICTED_RESIDUAL = 1e-7
"""An optimum nearer to that of the problem, as `MAX_WARM_RESIDUAL` counts, is not moved before the search."""


@checked
def solve(  # noqa: PLR0913 -- options of a public function
    problem: Problem,
    guess: Any = None,
    *,
    accuracy: float | None = 1e-6,
    cost_accuracy: float | None = COST_ACCURACY,
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
    worth_refining: Callable[[Solution], bool] | None = None,
    options: dict[str, Any] | None = None,
    **transcription: Any,
) -> Solution:
    """Solve a problem, and return its solution.

    guess: see `strut.optimal.solver.guess.make_guess`; nothing, a mapping, a trajectory, a gait, or a result.
    accuracy: intervals are split, and the problem is solved again, until every interval agrees so well with
        the adaptive integrator (relative to 1 + |state|, or to its scale); None keeps the mesh.
    cost_accuracy: and until better inputs would save no more than this part of the cost, by an estimate from
        the minimum principle of Pontryagin: intervals are split around switches, and where inputs bend; None
        leaves inputs as the mesh has them, and the error is estimated only (`Solution.cost_error`).
    tolerance: of the solver. starts: how many, the first at the guess, others moved by `spread` (relative,
        a standard deviation) with the random numbers of `seed`; they run on all cores, the best is returned,
        and `agreeing` of it says how many came to the same cost. One unless asked: most problems have one
        good optimum near their guess, and four starts on two cores take twice the time.
    iterations: at most. options: further ones of IPOPT. method, intervals, stages, steps, control: see
        `Transcription`.
    budget: how long finer meshes may be tried after the first solution [s]; the best so far is returned.
    progress: is told every stage, a `SearchStage`. watch: of a larger search that this is a part of; it then
        has budget and progress. worth_refining: is asked of the solution on the first mesh; where it is not,
        that one is returned, as if accuracy were None.
    backend: 'auto' (default, also $STRUT_BACKEND) evaluates in CasADi's virtual machine until compiled C
        would have paid, 'native' compiles first, 'virtual' never does; the numbers are the same.

    From a result the search is warm: it begins with its multipliers, on its mesh if that is fine enough, and
    never ends worse than the guess where that is a motion of this problem. Ctrl-C returns the best so far,
    with the status 'interrupted'; where there is nothing yet, `KeyboardInterrupt` is raised. A problem that
    cannot be solved does not raise: look at `ok`, `status` and `worst`.
    """
    if solver not in SOLVERS:
        raise ModelError(f"solver '{solver}' is unknown: allowed are {', '.join(SOLVERS)}")
    if cost_accuracy is not None and not cost_accuracy > 0:
        raise ValueRangeError(
            f"cost_accuracy is {cost_accuracy:g}: what inputs may cost too much, relative to the cost, must "
            f"be positive; None leaves them as the mesh has them"
        )
    if accuracy is None and cost_accuracy not in (None, COST_ACCURACY):
        raise ValueRangeError(
            f"cost_accuracy is {cost_accuracy:g} and accuracy None, which keeps the mesh: nothing would be "
            f"split for better inputs; give accuracy=..., or leave out cost_accuracy"
        )
    integer("starts", starts, 1)
    integer("iterations", iterations, 1)
    seed_number(seed)
    positive("spread", spread)
    names = [f.name for f in fields(Transcription)]
    for name in transcription:
        if name not in names:
            hint = did_you_mean(name, [*names, *OPTIONS])
            raise UnknownNameError(f"'{name}' is no option of a solution: {hint}")
    how = Transcription(**transcription)
    settings = {"tol": tolerance, "max_iter": iterations, **(options or {})}
    own_watch = watch or SearchWatch(budget, progress)
    task = SolveTask(
        problem=problem,
        how=how,
        settings=settings,
        accuracy=accuracy,
        cost_accuracy=None if accuracy is None else cost_accuracy,
        backend=backend,
        watch=own_watch,
        worth_refining=worth_refining,
    )
    try:
        with reveal_interrupts():
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
    cost_accuracy: float | None
    backend: str | None
    watch: SearchWatch
    worth_refining: Callable[[Solution], bool] | None = None
    stages: dict[str, StageSource] = field(default_factory=dict)

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
        if self.worth_refining is not None and result.success and not self.worth_refining(result):
            return result
        times = dict(result.times)
        meshes = [_mesh_summary(result)] if accuracy is not None and result.success else []
        result = self._with_input_error(result)
        while accuracy is not None and result.success and len(meshes) < MAX_MESHES and watch.may_go_on:
            parts = MAX_PARTS if len(meshes) > MAX_MESHES_HALVED else 2
            fractions = refine_mesh(result, accuracy, self.how.order, parts)
            if fractions is None:
                break
            mesh = self._transcribe(fractions, "finer mesh")
            ceiling = result.cost + MAX_COST_RISE * abs(result.cost)
            better = self._solve_from(mesh, result.guess(), ceiling)
            times = {name: times[name] + better.times[name] for name in times}
            if not better.success:
                break  # the best so far is kept, and its defects say how good it is
            split = inputs_were_split(result, fractions) and better.status != KEPT
            better = self._with_input_error(better, result if split else None)
            result = replace(better, starts=result.starts, agreeing=result.agreeing, unsolved=result.unsolved)
            watch.best = result
            meshes.append(_mesh_summary(result))
        return replace(result, times=times, accuracy=accuracy, meshes=tuple(meshes))

    def solve_on(self, fractions: Sequence[np.ndarray], guess: Guess) -> Solution:
        """Return the solution on one mesh, given by the widths of its intervals, from a guess."""
        return self._solve_from(self._transcribe(fractions, "search"), guess)

    def _with_input_error(self, result: Solution, before: Solution | None = None) -> Solution:
        """Return a solution with what its inputs cost too much, where that is asked for. before: on the mesh
        before, where its intervals were split for the sake of the inputs, and it was solved again: the cost
        cannot be further from the best than it came."""
        if self.cost_accuracy is None or not result.success:
            return result
        errors = control_errors(result)
        came = abs(result.cost - before.cost) if before is not None else np.inf
        return replace(
            result,
            cost_accuracy=self.cost_accuracy,
            input_errors=errors.phases,
            cost_error_found=min(errors.total, came),
        )

    def _first_fractions(self, guess: Guess) -> Sequence[np.ndarray] | None:
        """Return the mesh to begin on: that of an optimum, if it is fine enough and not much finer than what
        is asked for; None for equal intervals. A mesh that is to stay is as it was asked for, so there it is
        that of an optimum only where each phase is asked to have as many intervals."""
        point = guess.optimum
        if point is None or len(point.fractions) != len(self.problem.phases):
            return None
        asked = np.broadcast_to(self.how.intervals, len(self.problem.phases))
        counts = [len(widths) for widths in point.fractions]
        if self.accuracy is None:
            return point.fractions if self.how.intervals == tuple(counts) else None
        fits = all(n <= count <= MAX_MESH_FACTOR * n for n, count in zip(asked, counts, strict=True))
        return point.fractions if fits else None

    def _transcribe(self, fractions: Sequence[np.ndarray] | None, stage: str) -> Transcribed:
        """Return the problem on a mesh."""
        counts = np.broadcast_to(self.how.intervals, len(self.problem.phases)).tolist()
        counts = counts if fractions is None else [len(widths) for widths in fractions]
        self.watch.tell(stage, f"{sum(counts)} intervals")
        mesh = Transcribed(self.problem, self.how, fractions, self.backend, self.stages)
        self.watch.whole.mesh = mesh
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
            agreeing=count_agreeing([r.cost for r in good], best.cost_size),
            unsolved=len(results) - len(good),
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
        scales = nominal_scales(mesh, begin, point.scales)
        own, kkt = (
            evaluate_point(mesh, begin, multipliers, scales),
            point_residuals(mesh, begin, multipliers, scales),
        )
        is_motion = kkt["feasibility"] <= MIN_VIOLATION
        if is_motion:
            ceiling = min(ceiling, own.cost)
        away = _distance_from_optimum(kkt, scales.inward(*multipliers))
        if same and MIN_PREDICTED_RESIDUAL < away <= MAX_WARM_RESIDUAL:
            moved = predict_optimum(mesh, begin, multipliers, scales)
            if moved is not None:
                begin, multipliers = moved
                kkt = point_residuals(mesh, begin, multipliers, scales)
                away = _distance_from_optimum(kkt, scales.inward(*multipliers))
        limit = ceiling + COST_SLACK * (scales.cost + abs(ceiling)) if np.isfinite(ceiling) else np.inf
        tried: list[Solution] = []
        if away <= MAX_WARM_RESIDUAL:  # else it is the optimum of another problem: its multipliers mislead
            barrier = {"mu_init": float(np.clip(away * BARRIER_FACTOR, MIN_BARRIER, MAX_BARRIER))}
            tried.append(solve_mesh(mesh, begin, settings | WARM_OPTIONS | barrier, multipliers, scales))
        elif not same:
            tried.append(solve_mesh(mesh, begin, settings | NEAR_MOTION, scales=scales))
        if not tried or not tried[0].success or tried[0].cost > limit:
            tried.append(solve_mesh(mesh, begin, self.settings | self.watch.solver_limit(), scales=scales))
        times = {name: sum(r.times[name] for r in tried) for name in ("solve", "cpu")}
        good = [r for r in tried if r.success]
        best = min(good, key=lambda r: r.cost) if good else tried[-1]
        if is_motion and (not good or best.cost > limit):
            best = own
        return replace(best, times={**best.times, **times})


def _distance_from_optimum(kkt: Mapping[str, float], multipliers: tuple[np.ndarray, np.ndarray]) -> float:
    """Return how far a point is from an optimum, by its residuals: constraints, or the gradient of the
    Lagrangian relative to the largest multiplier, as the solver sees them."""
    largest = max(1.0, *[float(np.abs(part).max(initial=0.0)) for part in multipliers])
    return max(kkt["feasibility"], kkt["stationarity"] / largest)


def _within_bounds(mesh: Transcribed, v: np.ndarray) -> np.ndarray:
    """Return unknowns within the bounds of a mesh."""
    return np.asarray(np.clip(v, np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)))


def _mesh_summary(result: Solution) -> tuple[int, float]:
    """Return how many intervals there are, and the defect."""
    return sum(len(m.t) - 1 for m in result.phases), result.defect
