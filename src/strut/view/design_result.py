"""A design as a `Result`: what was found, how far to trust it, its torques, its energy and its stability, and the walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strut.checks import checked, having
from strut.simulate import simulate
from strut.view.figure import DASHES, PALETTE, Figure, Line
from strut.view.gaits import multipliers
from strut.view.result import Chapter, Result, Rows

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

STEPS = 6
"""Of a stable gait that a page shows; of one that is not, the planned one."""
FINE = 401
"""Points of the plan that its figures show."""


@checked
def design_result(design: Any, asked: str = "", title: str = "") -> Result:
    """What `optimal.design` found, to be shown. asked: the command that was given."""
    having("design", design, ("result", "gait", "parameters", "cost"), "what optimal.design returns")
    plan, gait = design.result, design.gait
    stable = gait is not None and gait.stable
    chapters = [_found(design), _plan(plan), _energy(design), *([_stability(gait)] if gait is not None else []), _trust(design)]
    facts = {
        **{name: _with(value, _unit(design, name)) for name, value in design.parameters.items()},
        f"cost ({design.cost.name})": f"{plan.cost:.6g}",
        "speed": f"{design.speed:.6g} m/s",
        "step length": f"{design.step_length:.6g} m",
        "step time": f"{plan.duration:.6g} s",
        "largest multiplier": f"{abs(gait.multipliers[0]):.5g}" if gait is not None else "no gait",
        "solver": f"{plan.iterations} iterations, {plan.times['solve']:.3g} s",
    }
    word = "Found" if design.ok else "Not trusted"
    named = title or f"{design.system.name}: a design"
    remarks = (
        "" if stable else "Only the planned step is shown: the gait is not stable, and nothing yet brings a disturbed walker back to it."
    )
    return Result(named, word, _verdict(design, stable), design.ok, remarks, asked, facts, chapters, walk(design), data=design.data())


def walk(design: Any) -> Trajectory:
    """What was found, walking: several steps where it does so by itself."""
    gait = design.gait
    if gait is None or not gait.stable:
        run: Trajectory = design.replay.run
        return run
    z0 = np.array(list(gait.z0.values()))
    return simulate(design.machine, t=STEPS * gait.period * (1 + 1e-9), x0=gait.vector, z0=z0)


def _verdict(design: Any, stable: bool) -> str:
    plan, again = design.result, design.replay
    if not plan.success:
        worst = "; ".join(f"{name} by {amount:.3g}" for name, amount in plan.worst.items())
        return f": {plan.status}." + (f" Violated: {worst}." if worst else "")
    agrees = "the simulator replays the plan" if again.ok else f"the simulator does not replay the plan ({again.ended})"
    walks = "the gait is stable" if stable else "the gait is not stable" if design.gait is not None else f"it is no gait: {again.no_gait}"
    return f": {plan.status}; {agrees}; {walks}."


def _found(design: Any) -> Chapter:
    plan = design.result
    bounds = plan.problem.parameters
    known = {q.name: q for q in plan.problem.system.p}
    rows = [
        (n, float(v), known[n].unit, float(np.ravel(known[n].value)[0]), f"{bounds[n][0]:g} to {bounds[n][1]:g}")
        for n, v in design.parameters.items()
    ]
    tables = [Rows(("parameter", "found", "unit", "before", "allowed"), rows, "What was free")] if rows else []
    begin = [(n, float(v), q.unit) for (n, v), q in zip(plan.x0.items(), _each(plan.problem.system.x), strict=True)]
    tables.append(Rows(("state", "value", "unit"), begin, "Where the step begins"))
    return Chapter("The design", f"Cost: {design.cost.meaning}.", tables)


def _each(quantities: Any) -> list[Any]:
    return [q for q in quantities for _ in range(q.size)]


def _plan(plan: Any) -> Chapter:
    t = np.linspace(0, plan.duration, FINE)
    columns, system = plan.at(t), plan.problem.system
    figures: dict[str, Figure] = {}
    inputs = list(system.labels("u"))
    if inputs:
        unit = next(iter({q.unit for q in system.u}), "")
        figures["torques"] = _curves(t, {n: columns[n] for n in inputs}, f"inputs [{unit}]" if unit else "inputs")
    by_unit: dict[str, dict[str, np.ndarray]] = {}
    for name, q in zip(system.labels("x"), _each(system.x), strict=True):
        by_unit.setdefault(q.unit, {})[name] = columns[name]
    for unit, curves in by_unit.items():
        figures[f"plan_{unit.replace('/', '_per_') or 'states'}"] = _curves(t, curves, f"states [{unit}]" if unit else "states")
    note = "As planned, over one step; below, what the simulator makes of it."
    return Chapter("The plan", "" if inputs else "The walker has no inputs: it walks by itself.", [], figures, note)


def _curves(t: np.ndarray, curves: dict[str, np.ndarray], title: str) -> Figure:
    lines = [
        Line(name, t, values, PALETTE[k % len(PALETTE)], DASHES[k // len(PALETTE) % len(DASHES)])
        for k, (name, values) in enumerate(curves.items())
    ]
    return Figure(tuple(lines), "time [s]", title, span=(0.0, float(t[-1])))


def _energy(design: Any) -> Chapter:
    b = design.replay.balance
    rows = [
        ("gravity", "given by the way down", b.fallen),
        ("motors", "given, on balance", b.work),
        ("events", "lost", b.lost),
        ("dampers", "dissipated", b.dissipated),
        ("", "unexplained", b.residual),
    ]
    text = f"In the simulator; what is unexplained is {b.relative:.2g} of what moved."
    tables = [Rows(("where", "", "energy [J]"), rows, "Over one step")]
    if design.replay.forces:
        tables.append(Rows(("foot", "value"), list(design.replay.forces.items()), "Contact"))
    return Chapter("Energy and contact of a step", text, tables)


def _stability(gait: Any) -> Chapter:
    rows = [(float(m.real), float(m.imag), float(abs(m))) for m in gait.multipliers]
    table = Rows(("real part", "imaginary part", "modulus"), rows, "Multipliers")
    note = (
        "Of the walker that follows its plan by a clock which every step sets to zero. A disturbance is multiplied by these at every step."
    )
    return Chapter("Stability", "", [table], {"multipliers": multipliers(gait)}, note)


def _trust(design: Any) -> Chapter:
    plan, again = design.result, design.replay
    solver = [(f"KKT: {name}", float(v)) for name, v in plan.kkt.items()]
    solver += [("defect against the adaptive integrator", plan.defect), ("iterations", plan.iterations)]
    solver += [(f"{name} time [s]", float(v)) for name, v in plan.times.items()]
    told = [("ends later than planned by [s]", float(again.late)), ("largest difference of a state", float(again.missed))]
    told += [(f"exceeded between the points: {name}", float(v)) for name, v in plan.exceeded.items()]
    meshes = [(n, float(d)) for n, d in plan.meshes]
    tables = [Rows(("", "value"), solver, "The solver"), Rows(("", "value"), told, "The simulator")]
    return Chapter("How far to trust it", "", [*tables, Rows(("intervals", "defect"), meshes, "Meshes")] if meshes else tables)


def _unit(design: Any, name: str) -> str:
    return str(next(q.unit for q in design.system.p if q.name == name))


def _with(value: float, unit: str) -> str:
    return f"{value:.6g} {unit}".strip()


__all__ = ["design_result", "walk"]
