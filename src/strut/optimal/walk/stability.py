"""Stability in the loop: how a disturbance grows over a step, as an expression that a design may bound or
minimise.

Beside its state the walker carries how that state depends on where the step began (the variational
equations), so that the derivative of the return map is an expression at the end of the step, exact in every
iterate. Its spectral radius is not smooth; a norm of a high power of it is, and bounds it from above:
|A^k|^(1/k), k = 64 (Gelfand's formula). What is bounded is therefore enough; true multipliers are a little
smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ValueRangeError
from strut.interrupts import reveal_interrupts
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.stage_source import StageSource
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import INTERRUPTED, Solution
from strut.optimal.solver.solve import SolveTask
from strut.optimal.solver.watch import BUDGET, SearchWatch, StageProgress
from strut.optimal.walk.varied_motion import add_variations, drop_variations, lift_guess, value_at_end

DERIVATIVE_SQUARINGS = 6
"""Squarings of the derivative: its power is 2^6 = 64."""
NORM_FLOOR = 1e-12
"""Added under roots, whose slope would be infinite where a disturbance vanishes."""
BOUND_STEP = 0.05
"""By how much the bound on the growth per step is tightened at a time."""
FIRST_BOUND_STEP = 0.2
"""By how much the logarithm of the bound is tightened first, on the way to one that is given."""
BOUND_RESOLUTION = 0.02
"""The least bound on the growth is found to this."""
TRIAL_ITERATIONS = 200
"""Iterations that a step towards the least bound may take: the first of the compass takes 124."""
NO_GROWTH = "how disturbances of the motion grow was not found"
"""The status, and why, of a motion that was not even solved with its variations."""
MAX_INTERVALS = 80
"""Intervals of a phase at most."""
Mesh = Sequence[np.ndarray]
"""Of every phase the widths of its intervals, of one."""
GROWTH_REQUIREMENT = "growth of disturbances"
"""The name of the requirement."""


@checked
def growth(A: ca.SX, doublings: int = DERIVATIVE_SQUARINGS) -> ca.SX:
    """Return |A^k|^(1/k) in the Frobenius norm, k = 2^doublings: never below the spectral radius, and
    smooth."""
    log = ca.SX(0)
    for j in range(doublings):
        norm = ca.sqrt(ca.sumsqr(A) + NORM_FLOOR)
        log, B = log + ca.log(norm) / 2**j, A / norm
        A = B @ B
    return ca.SX(ca.exp(log + ca.log(ca.sqrt(ca.sumsqr(A) + NORM_FLOOR**2)) / 2**doublings))


@checked
def stabilise(
    result: Solution,
    limit: float | None,
    tolerance: float = 1e-9,
    iterations: int = 200,
    *,
    budget: float = BUDGET,
    progress: StageProgress | None = None,
    watch: SearchWatch | None = None,
) -> Solution:
    """Return the best motion from here on whose disturbances shrink to `limit` of their size at every step.

    No multiplier is larger than `limit`. The bound is reached by continuation, in steps that are doubled
    where they succeed and halved where they fail. limit: None finds the least one; the cost should then be
    bounded by a requirement. The motion repeats, and may have several phases: events between them shear
    disturbances (saltation matrices; inputs wait for them).
    budget: how long to go on after the first solution [s]. progress: is told every stage. watch: of a larger
    search that this is a part of; it then has budget and progress. Where the bound is not reached in that
    time, or no step leads further, the best so far is returned, and its status says which bound it keeps; so
    it does after Ctrl-C.

    The solver runs on expressions in the virtual machine: variations make them large, and to compile them
    would take longer than to solve.
    """
    if limit is not None and not limit > 0:
        raise ValueRangeError(f"disturbances should shrink to {limit:g} of their size: that must be positive")
    problem = result.problem
    varied = add_variations(problem)
    own_watch = watch or SearchWatch(budget, progress)
    task = BoundTask(
        problem=varied.problem,
        grows=growth(varied.derivative),
        how=result.how,
        settings={"tol": tolerance, "max_iter": iterations},
        watch=own_watch,
    )
    mesh = [np.diff(m.t) / m.duration for m in result.phases]
    path: BoundPath | None = None
    try:
        with reveal_interrupts():
            # As it is, with variations: how much do disturbances grow?
            own_watch.tell("with its variations")
            first = task.solve(None, lift_guess(varied.problem, result.guess()), mesh)
            if not first.success:
                return replace(result, success=False, status=f"{NO_GROWTH}: {first.status}")
            now = float(value_at_end(first, task.grows)[0, 0])
            if limit is not None and now <= limit:
                return result
            own_watch.count_down()
            # To the bound in stages, or as far as it goes; then on finer meshes, until it is accurate again.
            path = BoundPath(bound=now, best=first)
            if limit is None:
                path.find_least(task, mesh)
            else:
                path.follow(task, mesh, limit)
            path.refine(
                task, mesh, lambda best: _is_accurate(drop_variations(best, problem), result.accuracy)
            )
    except KeyboardInterrupt:
        best = result if path is None else drop_variations(path.best, problem)
        return replace(best, accuracy=result.accuracy, status=INTERRUPTED)
    reached = limit is None or path.bound <= limit
    status = path.best.status
    if not reached:
        status += (
            f", but disturbances are bounded by {path.bound:.3g} of their size per step, not by {limit:g}"
        )
    return replace(
        drop_variations(path.best, problem),
        success=path.best.success and reached,
        accuracy=result.accuracy,
        status=status,
    )


def _is_accurate(result: Solution, accuracy: float | None) -> bool:
    return accuracy is None or result.defect <= accuracy


@dataclass(frozen=True, eq=False)
class BoundTask:
    """What is solved for every bound on the growth of disturbances.

    problem: with variations. grows: by how much disturbances grow, an expression at the end. how: it is
    transcribed. settings: of IPOPT. watch: knows how long it may go on. stages: functions that all bounds and
        meshes share: of RABBIT, second derivatives of the growth are 15 million instructions, made once.
    """

    problem: Problem
    grows: ca.SX
    how: Transcription
    settings: dict[str, Any]
    watch: SearchWatch
    stages: dict[str, StageSource] = field(default_factory=dict)

    def solve(self, bound: float | None, guess: Guess, mesh: Mesh, **others: Any) -> Solution:
        """Return the solution within a bound, or without one, from a guess, on a mesh. others: of IPOPT."""
        problem, stages = self.problem, dict[str, StageSource]()
        if bound is not None:
            problem = problem.require(GROWTH_REQUIREMENT, self.grows, high=bound, at="end")
            stages = self.stages
        task = SolveTask(
            problem=problem,
            how=self.how,
            settings=self.settings | others,
            accuracy=None,
            cost_accuracy=None,
            backend="virtual",
            watch=self.watch.aside(),
            stages=stages,
        )
        return task.solve_on(mesh, guess)


@dataclass(eq=False)
class BoundPath:
    """The way to a bound on the growth of disturbances. bound, best: how far it came, and the motion
    there."""

    bound: float
    best: Solution

    def _try(self, task: BoundTask, mesh: Mesh, bound: float) -> bool:
        """Go to a tighter bound; return whether a motion was found there."""
        task.watch.tell("towards a stable gait", f"growth of disturbances at most {bound:.3g}")
        trial = task.solve(bound, self.best.guess(), mesh, max_iter=TRIAL_ITERATIONS)
        if trial.success:
            self.bound, self.best = bound, trial
        return trial.success

    def follow(self, task: BoundTask, mesh: Mesh, limit: float) -> None:
        """Tighten the bound step by step, by a factor: the next step twice as long after a success, half
        after a failure, until it is reached, no step leads further, or the time is over."""
        step = FIRST_BOUND_STEP
        while self.bound > limit and step > BOUND_RESOLUTION and task.watch.may_go_on:
            has_solution = self._try(task, mesh, max(limit, self.bound * math.exp(-step)))
            step = 2 * step if has_solution else step / 2

    def find_least(self, task: BoundTask, mesh: Mesh) -> None:
        """Tighten the bound by steps that are halved where they fail, or until the time is over. Where
        multipliers meet, their largest is no smooth objective, and a solver that is told to minimise it comes
        to no end."""
        step, self.bound = BOUND_STEP, max(self.bound, BOUND_STEP)
        while step > BOUND_RESOLUTION and self.bound - step > 0 and task.watch.may_go_on:
            step = step if self._try(task, mesh, self.bound - step) else step / 2

    def refine(self, task: BoundTask, mesh: Mesh, is_accurate: Callable[[Solution], bool]) -> None:
        """Solve on finer meshes until the motion is accurate, one of them fails, or the time is over: the
        best so far is then kept, and its defects say how good it is."""
        while (
            max(map(len, mesh)) <= MAX_INTERVALS // 2 and task.watch.may_go_on and not is_accurate(self.best)
        ):
            mesh = [np.repeat(widths / 2, 2) for widths in mesh]
            finer = task.solve(self.bound, self.best.guess(), mesh)
            if not finer.success:
                break
            self.best = finer


__all__ = ["growth", "stabilise"]
