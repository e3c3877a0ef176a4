"""Saurel's six cases: walkers of human segments, whose steps cost as little as they can."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from strut.extras import optional_module
from strut.studies.saurel_walks import (
    CASES,
    CLEARANCE,
    FRICTION,
    KNEE_ANGLES,
    MAX_ANGLE,
    MAX_RATE,
    MAX_TORQUE,
    NECK_ANGLES,
    Case,
    SaurelWalk,
    walk,
)
from strut.studies.study import Row, Study, cost_verdict

CHEAP_TORQUE = 0.01
"""Factor of the price of torques with which the printed problem shows what it asks for."""


def rows_of(case: Case, step: SaurelWalk) -> list[Row]:
    """The rows of one case."""
    _, length, iterations, seconds = case.published
    result, replay, design = step.result, step.design.replay, step.design
    took = f"{step.seconds:.3f} ({step.processor:.3f} on the processor)"
    build = step.coarse.times["build"] + result.times["build"]
    compile_ = step.coarse.times["compile"] + result.times["compile"]
    return [
        Row(f"{case.name}: mass [kg]", f"{case.mass}", f"{design.mass:.2f}"),
        *cost_rows(case, step),
        Row(
            f"{case.name}: step length [m]",
            f"{length:.2f}",
            f"{design.step_length:.4f}",
            _bound(design.step_length),
        ),
        limits_row(case, step),
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


def cost_rows(case: Case, step: SaurelWalk) -> list[Row]:
    """The cost of transport by both formulas, of the step for which the energy formula is least: the paper
    does not say which of them its number is."""
    published, design = str(case.published[0]), step.design
    verdicts = [cost_verdict(published, cost) for cost in (step.cost_of_transport, step.printed_cost)]
    if case.passive:
        share = step.fallen / (design.weight * design.step_length)
        spring, damper = (step.result.parameters[f"hip_{what}"] for what in ("spring", "damping"))
        chosen = (
            f"thesis: {case.corrected}; gravity's share alone, as the thesis counts, is {share:.4f}, the "
            f"sine of the slope; springs of {spring:.3g} N m/rad, dampers of {damper:.3g} N m s/rad"
        )
    else:
        chosen = f"what is made small, with squared torques priced at {case.price:g} beside it"
    return [
        Row(
            f"{case.name}: cost of transport, energy formula",
            published,
            f"{step.cost_of_transport:.5f}",
            f"{verdicts[0]}; the impact counts by the energy that it takes; {chosen}",
        ),
        Row(
            f"{case.name}: cost of transport, printed formula",
            published,
            f"{step.printed_cost:.5f}",
            f"{verdicts[1]}; of the same step; as printed, the impact counts by the root of twice its "
            f"energy, whose unit is not that of the work beside it",
        ),
    ]


def limits_row(case: Case, step: SaurelWalk) -> Row:
    """Which limits the paper does not give and were chosen here, and how near to them the step comes."""
    system = step.design.system
    names = {q.name for q in system.x}
    limits = [f"friction {FRICTION} (needs {step.friction_needed:.3f})"]
    if not case.passive:
        limits.append(f"torque {MAX_TORQUE:g} N m (up to {step.peak_torque:.1f})")
    limits.append(f"angles {MAX_ANGLE:g} rad, rates {MAX_RATE:g} rad/s (up to {_largest(step)})")
    if "shank" in names:
        bends = [step.result[a] - step.result[b] for a, b in (("thigh", "stance"), ("swing", "shank"))]
        limits.append(f"knees {_span(KNEE_ANGLES)} rad (bend by {_span(np.concatenate(bends))})")
        limits.append(f"a swing foot {CLEARANCE:g} m up in mid-swing")
    if "head_angle" in names:
        nod = step.result["head_angle"] - step.result["torso"]
        limits.append(f"neck {_span(NECK_ANGLES)} rad (nods by {_span(nod)})")
    limits += [
        f"{q.name.replace('_', ' ')} {float(q.value[0]):g} m"
        for q in system.p
        if q.name in ("stature", "hip_width", "shoulder_width")
    ]
    return Row(
        f"{case.name}: limits that are ours",
        "-",
        "; ".join(limits),
        "the paper has bounds and does not say them; duration, slope and step lengths are its own",
    )


def _span(values: Sequence[float] | np.ndarray) -> str:
    """Return from where to where values go, to two places, without a minus before zero."""
    low, high = (round(float(end), 2) + 0.0 for end in (min(values), max(values)))
    return f"{low:g} to {high:g}"


def _largest(step: SaurelWalk) -> str:
    """Return the largest angle and the largest rate of a step."""
    names = step.result.problem.system.labels("x")
    states = [abs(step.result[name]).max() for name in names]
    angle = max(v for n, v in zip(names, states, strict=True) if not n.endswith("_rate"))
    rate = max(v for n, v in zip(names, states, strict=True) if n.endswith("_rate"))
    return f"{angle:.2f} and {rate:.1f}"


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
        lines.append(
            Row(
                f"{name}: cost of transport, energy formula, where torque is {1 / CHEAP_TORQUE:.0f} times "
                f"cheaper",
                f"{case.published[0]}",
                f"{free.cost_of_transport:.5f}",
                f"torques up to {free.peak_torque:.0f} of {MAX_TORQUE:g} N m, solver: {free.result.status}; "
                "the published number is not the optimum of the "
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
