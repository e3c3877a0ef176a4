"""Saurel's six cases: walkers of human segments, whose steps cost as little as they can."""

from __future__ import annotations

from strut.studies.saurel_walks import CASES, Case, Walk, walk
from strut.studies.study import Row, Study

CHEAP = 0.01
"""With torques that cost this part of what they do in the table, the printed problem shows."""


def rows_of(case: Case, found: Walk) -> list[Row]:
    """The rows of one case."""
    cost, length, iterations, seconds = case.published
    result, replay, design = found.result, found.design.replay, found.design
    said = f"thesis: {case.corrected}" if case.corrected is not None else ""
    peak = max((float(abs(m.w).max()) for m in result.phases if m.w.size), default=0.0)
    if case.passive:
        share = found.fallen / (design.weight * design.step_length)
        spring, damper = (result.parameters[f"hip_{what}"] for what in ("spring", "damping"))
        remark = f"gravity's share alone, as the thesis counts, is {share:.4f}, the sine of the slope; springs of {spring:.3g} N m/rad, "
        remark += f"dampers of {damper:.3g} N m s/rad"
    else:
        remark = f"squared torques priced at {case.price:g}; torques up to {peak:.1f} N m"
    took = f"{found.seconds:.3f} ({found.processor:.3f} on the processor)"
    build = found.coarse.times["build"] + result.times["build"]
    compile_ = found.coarse.times["compile"] + result.times["compile"]
    return [
        Row(f"{case.name}: mass [kg]", f"{case.mass}", f"{design.weight / design._gravity():.2f}"),
        Row(f"{case.name}: cost of transport", f"{cost}", f"{found.cost_of_transport:.5f}", "; ".join(t for t in (said, remark) if t)),
        Row(f"{case.name}: step length [m]", f"{length:.2f}", f"{design.step_length:.4f}", _bound(design.step_length)),
        Row(f"{case.name}: iterations", f"{iterations}", f"{found.iterations}", f"{found.coarse.iterations} on the coarse mesh"),
        Row(
            f"{case.name}: time to solve [s]",
            f"{seconds}",
            took,
            f"{seconds / found.processor:.0f} times faster; building {build:.1f} s, compiling {compile_:.1f} s (kept in the cache)",
        ),
        Row(
            f"{case.name}: how far to trust it",
            "-",
            f"KKT {max(result.kkt.values()):.0e}, defect {result.defect:.0e}, energy balance {found.unbalanced:.0e}",
            f"in the simulator it lands {replay.late:+.0e} s later, states differ by {replay.missed:.0e}"
            if replay.ok
            else f"the simulator does not agree: {replay.ended}",
        ),
    ]


def _bound(length: float) -> str:
    return "at its lower bound" if length < 0.4005 else ""


def rows() -> list[Row]:
    found: list[Row] = []
    walks = {}
    for name, case in CASES.items():
        walks[name] = walk(case)
        found += rows_of(case, walks[name])
    return found + printed(walks)


def printed(walks: dict[str, Walk]) -> list[Row]:
    """What the printed problem, in which torque costs nothing, asks for."""
    found = []
    for name in ("M_A", "M_C active"):
        case = CASES[name]
        free = walk(case, walks[name].result, price=CHEAP * case.price)
        peak = max(float(abs(m.w).max()) for m in free.result.phases)
        found.append(
            Row(
                f"{name}: cost of transport where torque is {1 / CHEAP:.0f} times cheaper",
                f"{case.published[0]}",
                f"{free.cost_of_transport:.5f}",
                f"torques up to {peak:.0f} N m, solver: {free.result.status}; the published number is not the optimum of the "
                "printed problem, in which braking is paid for and torque is free; a price or a bound on torque gives it",
            )
        )
    return found


STUDY = Study(
    "saurel-table1",
    "A simulation framework for simultaneous design and control of passivity based walkers, table I",
    "Saurel, Carpentier, Mansard and Laumond, SIMPAR (2016)",
    rows,
)
