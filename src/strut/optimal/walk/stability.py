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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ValueRangeError
from strut.gait.section import section_of
from strut.gait.variational import BY_HELD, BY_STATE, variational
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.unknowns import Layout
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Curve, Guess, Stretch
from strut.optimal.solver.result import INTERRUPTED, Motion, Solution
from strut.optimal.solver.solve import solve
from strut.optimal.solver.watch import BUDGET, SearchWatch, StageProgress
from strut.optimal.totals import Jumps
from strut.system import System, sx, time

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
NO_BOUND = 1e6
"""A growth per step that bounds nothing."""
MAX_INTERVALS = 80
"""Intervals of the mesh at most."""
GROWTH_REQUIREMENT = "growth of disturbances"
"""The name of the requirement."""
VARIATION_STEPS = 200
"""Steps of the trapezium rule that makes a guess of the variations."""


@dataclass(frozen=True, eq=False)
class VariedWalker:
    """A walker that carries how its state depends on where the step began.

    system: with the variations as further states. derivative: of the return map by its free states, an
    expression at the end of a step. saltation: the entries of the section's saltation matrix in it; totals
    of a problem are known as long as someone keeps them, and so they are kept here.
    """

    system: System
    derivative: ca.SX
    saltation: tuple[Jumps, ...]


def add_variations(system: System, section: str) -> VariedWalker:
    """Return the walker with its variations. The section sets the dependence back, so that it repeats; in one
    step, what is held does not vary."""
    variations, nx = variational(system, section), system.size("x")
    state = next(q for q in variations.x if q.name == BY_STATE)
    by_discrete = [q.sym for q in variations.z if q.name == BY_HELD]
    columns = [sx(variations.event(section).reset[BY_STATE]), variations.flow[BY_STATE]]
    jump, flow = ca.substitute(columns, by_discrete, [ca.SX.zeros(*h.shape) for h in by_discrete])
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
    # The jump is linear in the variations: at the identity it is the saltation matrix of the section alone.
    saltation = ca.substitute([jump], [state.sym], [identity])[0]
    K = _free_rows(system, section, ca.reshape(saltation, nx, nx))
    jumps = [[Jumps(f"saltation_{i}_{j}", K[i, j], section) for j in range(nx)] for i in range(K.shape[0])]
    entries = ca.vertcat(
        *[
            ca.horzcat(*[ca.SX(0) if K[i, j].is_zero() else jumps[i][j].sym for j in range(nx)])
            for i in range(K.shape[0])
        ]
    )
    derivative = entries @ ca.reshape(state.sym, nx, nx) @ ca.DM(section_of(system, section).spread)
    return VariedWalker(bigger, derivative, tuple(each for row in jumps for each in row))


def _free_rows(system: System, section: str, J: ca.SX) -> ca.SX:
    """Return the rows of a Jacobian that belong to free states of the section, left and right exchanged where
    the walker has both."""
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
def growth(A: ca.SX, doublings: int = DERIVATIVE_SQUARINGS) -> ca.SX:
    """Return |A^k|^(1/k) in the Frobenius norm, k = 2^doublings: never below the spectral radius, and
    smooth."""
    log = ca.SX(0)
    for j in range(doublings):
        norm = ca.sqrt(ca.sumsqr(A) + NORM_FLOOR)
        log, B = log + ca.log(norm) / 2**j, A / norm
        A = B @ B
    return ca.SX(ca.exp(log + ca.log(ca.sqrt(ca.sumsqr(A) + NORM_FLOOR**2)) / 2**doublings))


def lift_guess(problem: Problem, guess: Guess) -> Guess:
    """Return a guess of the motion with variations that go along with it."""
    system, phases = problem.system, []
    groups = system.vectors()
    n = system.size("x") - next(q.size for q in system.x if q.name == BY_STATE)
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x if q.name != BY_STATE])
    rates = ca.Function("A", [time, *groups], [ca.densify(ca.jacobian(flow, groups[0][:n]))])
    layout = Layout(problem, Transcription(intervals=1))
    p = layout.start.p.copy()
    p[layout.free] = [guess.parameters[name] for name in problem.parameters]
    for k, stretch in enumerate(guess.phases):
        s = np.linspace(0, 1, VARIATION_STEPS + 1)
        still = [np.repeat(part[:, None], len(s), axis=1) for part in (layout.discrete[k][0], p)]
        x, u = stretch.x(s)[:, :n], stretch.u(s)
        lift = np.hstack([x, np.zeros((len(s), n * n))])
        A = (
            np.array(rates.map(len(s))((s * stretch.duration)[None], lift.T, still[0], u.T, still[1]))
            .reshape(n, len(s), n)
            .transpose(1, 0, 2)
        )
        Y, h = [np.eye(n)], stretch.duration / VARIATION_STEPS
        for i in range(VARIATION_STEPS):  # the trapezium rule: rough, and never unstable
            Y.append(np.linalg.solve(np.eye(n) - h / 2 * A[i + 1], (np.eye(n) + h / 2 * A[i]) @ Y[-1]))
        columns = np.array([y.reshape(-1, order="F") for y in Y])
        phases.append(Stretch(stretch.duration, _join_curves(stretch.x, n, s, columns), stretch.u))
    return Guess(tuple(phases), dict(guess.parameters))


def _join_curves(x: Curve, n: int, s: np.ndarray, columns: np.ndarray) -> Curve:
    def at(place: np.ndarray) -> np.ndarray:
        return np.hstack(
            [x(place)[:, :n], np.column_stack([np.interp(place, s, column) for column in columns.T])]
        )

    return at


def drop_variations(result: Solution, problem: Problem) -> Solution:
    """Return the result as one of the walker without variations."""
    n = problem.system.size("x")
    phases = tuple(
        Motion(
            m.name, m.until, m.t, m.x[:, :n], m.w, m.z, (m.slopes[0][:, :n], m.slopes[1][:, :n]), m.integrals
        )
        for m in result.phases
    )
    return replace(result, problem=problem, phases=phases, optimum=None)


@checked
def stabilise(
    result: Solution,
    limit: float | None,
    tolerance: float = 1e-9,
    iterations: int = 200,
    *,
    budget: float = BUDGET,
    progress: StageProgress | None = None,
) -> Solution:
    """Return the best motion from here on whose disturbances shrink to `limit` of their size at every step.

    No multiplier is larger than `limit`. The bound is reached by continuation, in steps that are doubled
    where they succeed and halved where they fail. limit: None finds the least one; the cost should then be
    bounded by a requirement. The motion has one phase, and repeats.
    budget: how long to go on after the first solution [s]. progress: is told every stage. Where the bound is
    not reached in that time, or no step leads further, the best so far is returned, and its status says
    which bound it keeps; so it does after Ctrl-C.

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
    varied_walker = add_variations(problem.system, problem.phases[0].until)
    grows = growth(varied_walker.derivative)
    whole = replace(problem, system=varied_walker.system)
    settings: dict[str, Any] = {
        "accuracy": None,
        "tolerance": tolerance,
        "iterations": iterations,
        "backend": "virtual",
    }
    settings |= {name: getattr(result.how, name) for name in ("method", "stages", "steps", "control")}
    count = max(len(m.t) - 1 for m in result.phases)

    def solve_bounded(bound: float, begin: Solution | Guess, count: int, **other: Any) -> Solution:
        bounded = whole.require(GROWTH_REQUIREMENT, grows, high=bound, at="end")
        return solve(bounded, begin, **{**settings, "intervals": count, **other})

    # As it is, with variations: how much do disturbances grow?
    best = solve_bounded(NO_BOUND, lift_guess(whole, result.guess()), count)
    if not best.success:
        return replace(drop_variations(best, problem), accuracy=result.accuracy)
    now = float(value_at_end(best, grows)[0, 0])
    if limit is not None and now <= limit:
        return result
    # To the bound in stages, or as far as it goes.
    watch = SearchWatch(budget, progress)
    watch.count_down()
    bound, interrupted = now, False
    if limit is None:
        bound, best = _least_bound(
            now, best, lambda r, begin: solve_bounded(r, begin, count, iterations=TRIAL_ITERATIONS)
        )
    else:
        path = BoundPath(limit=limit, bound=now, best=best)
        try:
            path.follow(
                lambda r, begin: solve_bounded(
                    r, begin, count, iterations=TRIAL_ITERATIONS, watch=watch.aside()
                ),
                watch,
            )
        except KeyboardInterrupt:
            interrupted = True
        bound, best = path.bound, path.best
    # On finer meshes, until the plan is as accurate as it was.
    while (
        best.success
        and not interrupted
        and result.accuracy is not None
        and count <= MAX_INTERVALS // 2
        and drop_variations(best, problem).defect > result.accuracy
    ):
        count *= 2
        finer = solve_bounded(bound, best, count)
        if not finer.success:
            break  # the best so far is kept, and its defects say how good it is
        best = finer
    reached = limit is None or bound <= limit
    status = best.status
    if not reached:
        status += f", but disturbances are bounded by {bound:.3g} of their size per step, not by {limit:g}"
    return replace(
        drop_variations(best, problem),
        success=best.success and reached,
        accuracy=result.accuracy,
        status=INTERRUPTED if interrupted else status,
    )


@dataclass(eq=False)
class BoundPath:
    """The way to a bound on the growth of disturbances. limit: where it leads. bound, best: how far it came,
    and the motion there."""

    limit: float
    bound: float
    best: Solution

    def follow(self, solve_bounded: Callable[[float, Solution], Solution], watch: SearchWatch) -> None:
        """Tighten the bound step by step, by a factor: the next step twice as long after a success, half
        after a failure, until it is reached, no step leads further, or the time is over."""
        step = FIRST_BOUND_STEP
        while self.bound > self.limit and step > BOUND_RESOLUTION and watch.may_go_on:
            trial_bound = max(self.limit, self.bound * math.exp(-step))
            watch.tell("towards a stable gait", f"growth of disturbances at most {trial_bound:.3g}")
            trial = solve_bounded(trial_bound, self.best)
            if trial.success:
                self.bound, self.best, step = trial_bound, trial, 2 * step
            else:
                step /= 2


def _least_bound(
    now: float, best: Solution, solve_bounded: Callable[[float, Solution], Solution]
) -> tuple[float, Solution]:
    """Return the least bound that a motion was found for, and the motion: tightened by steps that are halved
    where they fail. Where multipliers meet, their largest is no smooth objective, and a solver that is told
    to minimise it comes to no end."""
    step, bound = BOUND_STEP, max(now, BOUND_STEP)
    while step > BOUND_RESOLUTION and bound - step > 0:
        trial = solve_bounded(bound - step, best)
        if trial.success:
            bound, best = bound - step, trial
        else:
            step /= 2
    return bound, best


def value_at_end(result: Solution, expression: ca.SX) -> np.ndarray:
    """Return the value of an expression at the end of a motion that carries its variations."""
    system, m = result.problem.system, result.phases[-1]
    groups = system.vectors()
    totals = [t for t in result.problem.totals if isinstance(t, Jumps)]
    f = ca.Function("at_end", [time, *groups, *[t.sym for t in totals]], [expression])
    return np.array(
        f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], result.p, *[result.totals[t.name] for t in totals])
    )


__all__ = ["VariedWalker", "add_variations", "growth", "stabilise"]
