"""`solve_mesh`: IPOPT on one mesh, and what it found as a `Solution`."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any, Protocol

import casadi as ca
import numpy as np

from strut.errors import ValueRangeError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scaled import Scales, scaled_functions
from strut.optimal.solver.bound_multipliers import collect_multipliers
from strut.optimal.solver.interrupt_warning import hide_interrupt_warning
from strut.optimal.solver.kkt import ConditionedProgram, fixed_multipliers, residuals, worst
from strut.optimal.solver.mesh_motion import motions, totals
from strut.optimal.solver.one_thread import use_one_thread
from strut.optimal.solver.optimum import MIN_BARRIER, WARM_OPTIONS, optimum_point
from strut.optimal.solver.result import COST, INTERRUPTED, KEPT, MAX_KKT_RESIDUAL, Solution
from strut.optimal.solver.scaling import far_off, gradient_scales, nominal_scales
from strut.optimal.solver.watch import SearchInterrupted

ACCEPTABLE = "Solved_To_Acceptable_Level"
"""What IPOPT returns where it made no more progress at a looser tolerance."""
SUCCESS = ("Solve_Succeeded", ACCEPTABLE, "Feasible_Point_Found")
"""What IPOPT returns where it succeeded."""
WORDS = {
    "Solve_Succeeded": "solved",
    "Feasible_Point_Found": "solved",
    ACCEPTABLE: "solved to an acceptable level",
    "Infeasible_Problem_Detected": "infeasible here: no small change of the motion helps",
    "Maximum_Iterations_Exceeded": "too many iterations",
    "Restoration_Failed": "the constraints could not be met from here",
    "Invalid_Number_Detected": "something became infinite or not a number",
    "Search_Direction_Becomes_Too_Small": "the search came to a halt",
    "Diverging_Iterates": "the unknowns grow without bound",
    "Maximum_WallTime_Exceeded": "out of time",
    "Maximum_CpuTime_Exceeded": "out of time",
    "Not_Enough_Degrees_Of_Freedom": "more is asked than is free: free a parameter, or ask for less",
}
"""What IPOPT returns, in words."""
EXCEPTION = "NonIpopt_Exception_Thrown"
"""What IPOPT says where somebody pressed Ctrl-C: functions of ours compute, and raise nothing."""
BOUND_RELAXATION = 1e-10
"""By which part IPOPT widens bounds to have room inside. Its own 1e-8 lets a force of 200 N be violated by
2e-6 N, more than a solution that is `ok` may be."""
LINEAR_SOLVER = {"mumps_permuting_scaling": 0}
"""Options of IPOPT's linear solver MUMPS: it does not exchange rows before it factorises. Of a transcribed
motion, whose matrices are nearly banded, that saves a sixth of the time of an iteration, on average over
random starts of a five-link walker and a compass, and changes the number of iterations by no more than
chance."""


class SolvableProgram(ConditionedProgram, Protocol):
    """What IPOPT needs of a mesh, or of several as one: functions and bounds, and a place to keep the solvers
    made."""

    solvers: dict[str, ca.Function]


@dataclass(frozen=True, eq=False)
class SolverEnd:
    """Where IPOPT ended.

    unknowns, bounds, rows: of it, the multipliers of the latter two, in their own units. status: what it
    returned. iterations: of it. wall, cpu: seconds in it; build: to make it.
    """

    unknowns: np.ndarray
    bounds: np.ndarray
    rows: np.ndarray
    status: str
    iterations: int
    wall: float
    cpu: float
    build: float

    @property
    def success(self) -> bool:
        """Whether it says that it succeeded."""
        return self.status in SUCCESS

    @property
    def words(self) -> str:
        """What it returned, in words."""
        return WORDS.get(self.status, self.status.replace("_", " ").lower())


def run_solver(
    mesh: SolvableProgram,
    begin: np.ndarray,
    settings: dict[str, Any],
    multipliers: tuple[np.ndarray, np.ndarray] | None,
    scales: Scales,
) -> SolverEnd:
    """Run IPOPT in given units. begin: unknowns. settings: its options. multipliers: of bounds and rows, to
    begin with."""
    began = clock.perf_counter()
    check_bounds(mesh)
    run = solver_of(mesh, settings, scaled=not scales.are_one)
    built, before = clock.perf_counter(), clock.process_time()
    S, D = scales.unknowns, scales.rows
    low, high = np.array(mesh.unknowns.low) / S, np.array(mesh.unknowns.high) / S
    g_low, g_high = np.array(mesh.rows.low[1:]) * D, np.array(mesh.rows.high[1:]) * D
    numbers = mesh.numbers()
    numbers = numbers if scales.are_one else np.concatenate([numbers, scales.numbers()])
    warm = {}
    if multipliers is not None:
        warm = dict(zip(("lam_x0", "lam_g0"), scales.inward(*multipliers), strict=True))
    with hide_interrupt_warning():  # the status says it, and who asked for the search in a sentence
        outcome = run(x0=begin / S, p=numbers, lbx=low, ubx=high, lbg=g_low, ubg=g_high, **warm)
    wall, cpu = clock.perf_counter() - built, clock.process_time() - before
    v, lam_g, lam_x = (np.array(outcome[n]).reshape(-1) for n in ("x", "lam_g", "lam_x"))
    lam_x, lam_g = scales.outward(lam_x, lam_g)
    stats = run.stats()
    return SolverEnd(
        unknowns=v * S,
        bounds=lam_x,
        rows=lam_g,
        status=stats["return_status"],
        iterations=int(stats["iter_count"]),
        wall=wall,
        cpu=cpu,
        build=built - began,
    )


def check_bounds(mesh: SolvableProgram) -> None:
    """Raise `ValueRangeError` for something that is bounded by two limits which leave nothing between."""
    for block in (mesh.unknowns, mesh.rows):
        empty = np.flatnonzero(np.array(block.low) > np.array(block.high))
        if len(empty):
            name, low, high = (part[empty[0]] for part in (block.names, block.low, block.high))
            raise ValueRangeError(
                f"{name} must be at least {low:g} and at most {high:g}: nothing is both; change one of these "
                f"limits"
            )


def solver_of(mesh: SolvableProgram, settings: dict[str, Any], scaled: bool = False) -> ca.Function:
    """Return IPOPT with the assembled functions, or with those of scaled unknowns; made once per setting."""
    key = repr((sorted(settings.items()), scaled))
    if key not in mesh.solvers:
        f = scaled_functions(mesh.assembled) if scaled else mesh.assembled.functions
        plain = {
            "print_level": 0,
            "sb": "yes",
            "honor_original_bounds": "yes",
            "bound_relax_factor": BOUND_RELAXATION,
            **LINEAR_SOLVER,
            **settings,
        }
        options: dict[str, Any] = {
            "print_time": False,
            "inputs_check": False,  # ours says it in words: `check_bounds`, and the status
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "ipopt": plain,
            **{n: f[n] for n in ("grad_f", "jac_g", "hess_lag")},
        }
        mesh.solvers[key] = ca.nlpsol("solver", "ipopt", f["nlp"], options)
        use_one_thread()
    return mesh.solvers[key]


def solve_mesh(
    mesh: Transcribed,
    begin: np.ndarray,
    settings: dict[str, Any],
    multipliers: tuple[np.ndarray, np.ndarray] | None = None,
    scales: Scales | None = None,
) -> Solution:
    """Return the solution on one mesh, from the unknowns `begin`. settings: options of IPOPT. multipliers: of
    bounds and rows, to begin with. Where somebody pressed Ctrl-C, `SearchInterrupted` is raised, with where
    the solver was. scales: the units to begin with; those that suit `begin` unless given.

    It is solved in units that suit the beginning, and once more where these turn out to be far off, or where
    IPOPT stops at an acceptable level that is not one."""
    scales = scales or nominal_scales(mesh, begin)
    first = _solve_further(_solve_scaled(mesh, begin, settings, multipliers, scales), mesh, settings, scales)
    if not first.success or first.optimum is None:
        return first
    now = nominal_scales(mesh, first.optimum.unknowns, first.scales)
    if not far_off(scales, now):
        return first
    # Warm options are for a start that has multipliers: then those that were found.
    own_multipliers = first.optimum.exact_multipliers(mesh)
    again = _solve_scaled(
        mesh, first.optimum.unknowns, settings, None if multipliers is None else own_multipliers, now
    )
    times = {name: first.times[name] + again.times[name] for name in ("solve", "cpu")}
    if not again.success:  # a solution is kept, and judged in units that suit it
        same_point = evaluate_point(mesh, first.optimum.unknowns, own_multipliers, now)
        again = replace(same_point, status=first.status, times=again.times)
    return replace(again, times={**again.times, **times}, iterations=first.iterations + again.iterations)


def _solve_further(first: Solution, mesh: Transcribed, settings: dict[str, Any], scales: Scales) -> Solution:
    """Return a solution; solved further from where it is, warm, if IPOPT found it acceptable and the
    conditions of an optimum do not hold well enough to be `ok`. The better one of both is returned."""
    loose = max(first.kkt.values())
    if first.status != WORDS[ACCEPTABLE] or first.optimum is None or not loose > MAX_KKT_RESIDUAL:
        return first
    multipliers = first.optimum.exact_multipliers(mesh)
    warm = settings | WARM_OPTIONS | {"mu_init": MIN_BARRIER}
    further = _solve_scaled(mesh, first.optimum.unknowns, warm, multipliers, scales)
    best = further if further.success and max(further.kkt.values()) < loose else first
    times = {name: first.times[name] + further.times[name] for name in ("solve", "cpu")}
    return replace(best, times={**best.times, **times}, iterations=first.iterations + further.iterations)


def _solve_scaled(
    mesh: Transcribed,
    begin: np.ndarray,
    settings: dict[str, Any],
    multipliers: tuple[np.ndarray, np.ndarray] | None,
    scales: Scales,
) -> Solution:
    """Return the solution on one mesh, in given units; see `solve_mesh`."""
    end = run_solver(mesh, begin, settings, multipliers, scales)
    mesh.note_iterations(end.iterations)
    if end.status == EXCEPTION:  # nothing is known but where it was
        reached = end.unknowns if np.isfinite(end.unknowns).all() else begin
        point = evaluate_point(mesh, reached, (0 * end.bounds, 0 * end.rows), scales)
        raise SearchInterrupted(replace(point, status=INTERRUPTED, success=False))
    solution = evaluate_point(mesh, end.unknowns, (end.bounds, end.rows), scales)
    times = {"build": mesh.build_time + end.build, "solve": end.wall, "cpu": end.cpu}
    return replace(
        solution,
        status=end.words,
        iterations=end.iterations,
        times={**solution.times, **times},
        success=end.success,
    )


def evaluate_point(
    mesh: Transcribed, v: np.ndarray, multipliers: tuple[np.ndarray, np.ndarray], scales: Scales
) -> Solution:
    """Return the unknowns of a mesh, with multipliers of bounds and rows, as a solution that nobody had to
    search for. scales: the units in which the conditions of an optimum are judged."""
    lam_x, lam_g = multipliers
    lam_x = fixed_multipliers(mesh, v, lam_g, lam_x)
    cost, rows = mesh.assembled.functions["nlp"](v, mesh.numbers())[:2]
    g, phases = np.array(rows).reshape(-1), motions(mesh, v)
    return Solution(
        problem=mesh.problem,
        how=mesh.how,
        status=KEPT,
        cost=float(cost),
        parameters={name: float(v[at]) for name, at in zip(mesh.problem.parameters, mesh.p_at, strict=True)},
        phases=phases,
        totals=totals(mesh, v, phases),
        kkt=residuals(mesh, (v, g), (lam_x, lam_g), gradient_scales(mesh, v, scales)),
        worst=worst(mesh, v, g, scales),
        iterations=0,
        times={"build": mesh.build_time, "compile": mesh.compile_time, "solve": 0.0, "cpu": 0.0},
        success=True,
        optimum=replace(
            optimum_point(mesh, v, float(cost), bounds=lam_x, rows=lam_g),
            scales=_scales_by_name(mesh, scales),
        ),
        scales=_scales_by_name(mesh, scales),
        multipliers=collect_multipliers(mesh, np.concatenate([v, g]), np.concatenate([lam_x, lam_g])),
    )


def _scales_by_name(mesh: Transcribed, scales: Scales) -> dict[str, float]:
    """Return the units of states, of integrals that are part of the cost and of the cost, those that are not
    one."""
    states = dict(zip(mesh.system.labels("x"), scales.unknowns[mesh.spans[0].x[0]], strict=True))
    direct = {name: scales.cost / abs(slope) for name, slope in mesh.direct.items() if slope}
    totals_scales = {name: float(scales.unknowns[at]) for name, at in mesh.total_at.items()}
    # What only adds to the cost has its scale, and no other one where that is one.
    named = {**states, **(direct if scales.cost != 1 else {}), **totals_scales, COST: scales.cost}
    return {name: float(scale) for name, scale in named.items() if scale != 1}


__all__ = [
    "EXCEPTION",
    "SolverEnd",
    "check_bounds",
    "evaluate_point",
    "run_solver",
    "solve_mesh",
    "solver_of",
]
