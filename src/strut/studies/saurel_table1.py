"""Saurel's six cases: walkers of human segments, whose steps cost as little as they can."""

from __future__ import annotations

from collections.abc import Callable

from strut.extras import optional_module
from strut.studies.saurel_walks import CASES, Case, SaurelWalk, walk
from strut.studies.study import Row, Study

CHEAP_TORQUE = 0.01
"""Factor of the price of torques with which the printed problem shows what it asks for."""


def rows_of(case: Case, step: SaurelWalk) -> list[Row]:
    """The rows of one case."""
    cost, length, iterations, seconds = case.published
    result, replay, design = step.result, step.design.replay, step.design
    thesis = f"thesis: {case.corrected}" if case.corrected is not None else ""
    peak = max((float(abs(m.w).max()) for m in result.phases if m.w.size), default=0.0)
    if case.passive:
        share = step.fallen / (design.weight * design.step_length)
        spring, damper = (result.parameters[f"hip_{what}"] for what in ("spring", "damping"))
        remark = (
            f"gravity's share alone, as the thesis counts, is {share:.4f}, the sine of the slope; "
            f"springs of {spring:.3g} N m/rad, "
        )
        remark += f"dampers of {damper:.3g} N m s/rad"
    else:
        remark = f"squared torques priced at {case.price:g}; torques up to {peak:.1f} N m"
    took = f"{step.seconds:.3f} ({step.processor:.3f} on the processor)"
    build = step.coarse.times["build"] + result.times["build"]
    compile_ = step.coarse.times["compile"] + result.times["compile"]
    return [
        Row(f"{case.name}: mass [kg]", f"{case.mass}", f"{design.mass:.2f}"),
        Row(
            f"{case.name}: cost of transport",
            f"{cost}",
            f"{step.cost_of_transport:.5f}",
            "; ".join(t for t in (thesis, remark) if t),
        ),
        Row(
            f"{case.name}: step length [m]",
            f"{length:.2f}",
            f"{design.step_length:.4f}",
            _bound(design.step_length),
        ),
        Row(
            f"{case.name}: iterations",
            f"{iterations}",
            f"{step.iterations}",
            f"{step.coarse.iterations} on the coarse mesh",
        ),
        Row(
            f"{case.name}: time to solve [s]",
            f"{seconds}",
            took,
            f"{seconds / min(step.seconds, step.processor):.1f} times faster; "
            f"building {build:.1f} s, compiling {compile_:.1f} s (kept in the cache)",
        ),
        Row(
            f"{case.name}: how far to trust it",
            "-",
            f"KKT {max(result.kkt.values()):.0e}, defect {result.defect:.0e}, energy balance "
            f"{step.energy_imbalance:.0e}",
            f"in the simulator it lands {replay.late:+.0e} s later, states differ by {replay.missed:.0e}, "
            f"energy balance "
            f"{replay.balance.relative:.0e}"
            if replay.ok
            else f"the simulator does not agree: {replay.ended}",
        ),
    ]


def _bound(length: float) -> str:
    return "at its lower bound" if length < 0.4005 else ""


def rows() -> list[Row]:
    """Compare every case of Saurel's table 1, and what its printed problem asks for, with ours."""
    _root_finder()  # where it is missing, this says so before minutes of work, not after
    table: list[Row] = []
    walks = {}
    for name, case in CASES.items():
        walks[name] = walk(case)
        table += rows_of(case, walks[name])
    return table + printed_problem_rows(walks)


def printed_problem_rows(walks: dict[str, SaurelWalk]) -> list[Row]:
    """What the printed problem, in which torque costs nothing, asks for, and what would make its optimum the
    published number."""
    lines = []
    for name in ("M_A", "M_C active"):
        case = CASES[name]
        free = walk(case, walks[name].result, price=CHEAP_TORQUE * case.price)
        peak = max(float(abs(m.w).max()) for m in free.result.phases)
        lines.append(
            Row(
                f"{name}: cost of transport where torque is {1 / CHEAP_TORQUE:.0f} times cheaper",
                f"{case.published[0]}",
                f"{free.cost_of_transport:.5f}",
                f"torques up to {peak:.0f} N m, solver: {free.result.status}; the published number is not "
                f"the optimum of the "
                "printed problem, in which braking is paid for and torque is free",
            )
        )
    dear = walk(CASES["M_A"], price=1.0)
    step = _where(lambda d: walk(CASES["M_A"], step_length=(d, 1.0)), CASES["M_A"].published[0], 0.40, 0.56)
    lines.append(
        Row(
            "M_A: shortest step [m] at which the optimum costs as published",
            "0.56",
            f"{step:.4f}",
            f"no price of torque does it: at a price of 1 the optimum costs {dear.cost_of_transport:.4f}",
        )
    )
    for name in ("M_C active", "M_D"):
        case = CASES[name]
        power = _where(lambda e, case=case: walk(case, price=10.0**e), case.published[0], -3.6, -2.5)  # type: ignore[misc]  # the default binds the loop's value
        lines.append(
            Row(
                f"{name}: price of squared torque at which the optimum costs as published",
                "-",
                f"{10.0**power:.2e}",
            )
        )
    return lines


def _root_finder() -> Callable[..., float]:
    """Brent's method."""
    brentq: Callable[..., float] = optional_module("scipy.optimize", "the study saurel-table1").brentq
    return brentq


def _where(solve: Callable[[float], SaurelWalk], cost: float, low: float, high: float) -> float:
    """The number between two at which a walk costs this much."""
    return float(_root_finder()(lambda a: solve(a).cost_of_transport - cost, low, high, xtol=1e-4))


STUDY = Study(
    "saurel-table1",
    "A simulation framework for simultaneous design and control of passivity based walkers, table I",
    "Saurel, Carpentier, Mansard and Laumond, SIMPAR (2016)",
    rows,
)
