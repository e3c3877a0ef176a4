"""A design as a `Result`: what was found, how far to trust it, its torques, its energy and its stability, and
the walk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strut.checks import checked
from strut.optimal.solver.limit_units import violations
from strut.optimal.walk.active_limits import SIDE_WORDS
from strut.optimal.walk.replay import lateness
from strut.simulate import simulate
from strut.view.figures.figure import DASHES, PALETTE, Figure, Line
from strut.view.figures.gait_plots import multipliers
from strut.view.figures.plots import EMPTY_SPAN
from strut.view.pages.headline import clearance_text, least_clearance
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result
from strut.view.units import quantity, shown_unit, title_with_unit

if TYPE_CHECKING:
    from strut.gait import Gait
    from strut.optimal import Design
    from strut.simulate import Trajectory
    from strut.system import Quantity, System

SHOWN_STEPS = 6
"""Steps of a stable gait that a page shows; of one that is not stable, only the planned one."""
CONSTRAINT_SLACK = 1e-9
"""Excess of a requirement along the path, in its own unit, up to which it counts as kept."""
PLAN_POINTS = 401
"""Points of the plan that its figures show."""


@checked
def design_result(design: Design, asked: str = "", title: str = "", *, sensitivity: bool = False) -> Result:
    """Turn what `optimal.design` found into a `Result`: facts, chapters, remarks and a run.

    asked: the command that was given. title: the heading, if not the system's name. sensitivity: whether to
    say what a unit more of every parameter that stays would cost.
    """
    plan, gait = design.result, design.gait
    stable = gait is not None and gait.stable
    chapters = [
        _design_chapter(design),
        *([_sensitivity(design)] if sensitivity and design.sensitivities else []),
        _plan(design),
        _energy(design),
        *([_stability(gait)] if gait is not None else []),
        _trust(design),
    ]
    return Result(
        title or f"{design.system.name}: a design",
        "Found" if design.ok else "Not found" if not plan.success else "Not trusted",
        _verdict(design, stable),
        design.ok,
        _remarks(design, sensitivity=sensitivity),
        asked,
        _facts(design),
        chapters,
        walk(design),
        data=design.data() | (design.sensitivity_data() if sensitivity else {}),
        headline=_headline(design),
    )


WHERE_IT_STOPPED = ", where it stopped"
"""Behind the names of numbers that are no result."""


def _largest_multiplier(gait: Gait | None) -> str:
    """The modulus of the largest multiplier of a gait; empty where there is none."""
    return f"{abs(gait.multipliers[0]):.5g}" if gait is not None and len(gait.multipliers) else ""


def _headline(design: Design) -> dict[str, str]:
    """What one wants to know first: pace, cost, stability, and what the step asks of the ground."""
    gait, of, cost = design.gait, design.system, f"cost ({design.cost.name})"
    stable = "yes" if gait is not None and gait.stable else "no"
    headline = {
        "speed": quantity(of, f"{design.speed:.5g}", "m/s"),
        "step length": quantity(of, f"{design.step_length:.5g}", "m"),
        "step time": quantity(of, f"{design.step_time:.5g}", "s"),
        cost: _text_of(next(value for name, value, _ in design.rows() if name == cost)),
        "stable": "no gait" if gait is None else f"{stable}, {_largest_multiplier(gait)}",
        **_of_the_ground(design),
    }
    if design.result.success:
        return headline
    return {name if name == cost else f"{name}{WHERE_IT_STOPPED}": value for name, value in headline.items()}


def _facts(design: Design) -> dict[str, str]:
    """The verdict, what was free, the ground, and how the search went."""
    plan, of = design.result, design.system
    facts = {
        "verdict": design.verdict,
        **{
            name: quantity(of, f"{value:.6g}", _unit(design, name))
            for name, value in design.parameters.items()
        },
        **{name: quantity(of, f"{value:.6g}", unit) for name, (value, unit) in design.ground.items()},
        **({"steps": str(design.steps)} if design.steps > 1 else {}),
        "largest multiplier": _largest_multiplier(design.gait) or "no gait",
        "starts": plan.agreement_text,
        "solver": f"{plan.iterations} iterations, {plan.times['solve']:.3g} s",
    }
    if plan.success:
        return facts
    of_the_search = ("verdict", "solver", "starts")
    return {
        name if name in of_the_search else f"{name}{WHERE_IT_STOPPED}": value for name, value in facts.items()
    }


def _remarks(design: Design, *, sensitivity: bool) -> str:
    """What a reader must know of a design, a line each: what is wrong with it, which defaults decide, what
    helps, and what is shown."""
    gait = design.gait
    picture_note = ""
    if not design.result.success:
        picture_note = (
            "What follows is where the search stopped, which is no motion of the machine: no number of "
            "it is a result."
        )
    elif gait is None:
        picture_note = (
            f"Only what the simulator made of the plan is shown, of a single time: {design.replay.no_gait}."
        )
    elif not gait.stable:
        picture_note = (
            "Only the planned step is shown: the gait is not stable, and nothing yet brings a "
            "disturbed walker back to it."
        )
    defaults = [
        f"A default {'decides' if each.decides else 'is touched'}: {each.sentence}."
        for each in design.active_limits
        if each.source == "default"
    ]
    wrong = design.wrong if design.result.success else ()
    slopes = f"{design.no_sensitivities}." if sensitivity and design.no_sensitivities else ""
    parts = (*wrong, *design.turned_joints, *defaults, *design.advice.splitlines(), slopes, picture_note)
    return "\n".join(part for part in parts if part)


def _of_the_ground(design: Design) -> dict[str, str]:
    """What the replayed step asks of the ground: how high the swing foot clears it, and the friction that
    feet need; of a step that did not replay, nothing."""
    run, replay = design.replay.run, design.replay
    if not design.result.success:
        return {}
    facts = {}
    clearance = least_clearance(run, run.t0, run.t1)
    if clearance is not None:
        facts["least clearance"] = clearance_text(design.system, clearance)
    needed = [load.friction_needed for load in replay.foot_loads if np.isfinite(load.friction_needed)]
    return facts | ({"friction needed": f"{max(needed):.3g}"} if needed else {})


def walk(design: Design) -> Trajectory:
    """Return a run of a design: `SHOWN_STEPS` steps where its gait is stable, else the replayed step."""
    gait = design.gait
    if gait is None or not gait.stable:
        run: Trajectory = design.replay.run
        return run
    z0 = np.array(list(gait.z0.values()))
    return simulate(design.machine, t=SHOWN_STEPS * gait.period * (1 + 1e-9), x0=gait.vector, z0=z0)


def _verdict(design: Design, stable: bool) -> str:
    """Say in a sentence how the search ended, whether the simulator agrees, and whether it is stable."""
    plan, again = design.result, design.replay
    if not plan.success:
        worst = "; ".join(violations(plan)) if plan.unmet else ""  # else it is part of what is wrong
        return f": {'; '.join(design.wrong)}." + (
            f" Violated where the search stopped: {worst}." if worst else ""
        )
    agrees = (
        "the simulator replays the plan"
        if again.stays
        else "the simulator replays the plan interval by interval; in one go it drifts away"
        if again.ok
        else f"the simulator does not replay the plan ({again.ended})"
    )
    walks = (
        "the gait is stable"
        if stable
        else "the gait is not stable"
        if design.gait is not None
        else f"it is no gait: {again.no_gait}"
        if plan.problem.repeats is not None and not again.repeats
        else again.no_gait
    )
    return f": {plan.status}; {agrees}; {walks}."


def _design_chapter(design: Design) -> Chapter:
    """The chapter of what was free, and of the state in which the step begins."""
    plan = design.result
    bounds = plan.problem.parameters
    quantities = {q.name: q for q in plan.problem.system.p}
    rows = [
        (
            n,
            float(v),
            shown_unit(design.system, quantities[n].unit),
            float(np.ravel(quantities[n].value)[0]),
            f"{bounds[n][0]:g} to {bounds[n][1]:g}",
        )
        for n, v in design.parameters.items()
    ]
    tables = (
        [Rows(("parameter", "found", "unit", "before", "allowed"), rows, "What was free")] if rows else []
    )
    begin = [
        (n, float(v), shown_unit(design.system, q.unit))
        for (n, v), q in zip(plan.x0.items(), _each(plan.problem.system.x), strict=True)
    ]
    tables.append(Rows(("state", "value", "unit"), begin, "Where the step begins"))
    goal = [
        (name, text, shown_unit(design.system, unit), source)
        for name, text, unit, source in design.limits.rows()
    ]
    if goal:
        tables.append(Rows(("of a step", "value", "unit", "because"), goal, "What was asked"))
    decides = [
        (each.name, SIDE_WORDS[each.side], each.value, each.unit, each.source, each.slope)
        for each in design.active_limits
    ]
    if decides:
        head = ("limit", "", "value", "unit", "because", "cost grows, per unit up")
        tables.append(Rows(head, decides, "What decides the answer"))
    return Chapter("The design", f"Cost: {design.cost.meaning}.", tables)


def _sensitivity(design: Design) -> Chapter:
    """The chapter of what parameters that stay cost."""
    rows = [(each.name, each.value, each.unit, each.slope) for each in design.sensitivities]
    head = ("parameter", "value", "unit", "cost grows, per unit more")
    note = "The walk found anew for each, to first order: derivatives of the least cost (envelope theorem)."
    return Chapter("What the machine costs", "", [Rows(head, rows, "Those that matter most first")], {}, note)


def _each(quantities: Iterable[Quantity]) -> list[Quantity]:
    """The quantity of every component."""
    return [q for q in quantities for _ in range(q.size)]


def _text_of(value: float | str) -> str:
    """A number with six digits, or a sentence as it is."""
    return value if isinstance(value, str) else f"{value:.6g}"


def _plan(design: Design) -> Chapter:
    """The chapter of the planned inputs and states over one step."""
    plan = design.result
    t = np.linspace(0, plan.duration, PLAN_POINTS)
    columns, system = plan.at(t), plan.problem.system
    figures: dict[str, Figure] = {}
    remark = ""
    inputs = list(system.labels("u"))
    if inputs:
        unit = next(iter({q.unit for q in system.u}), "")
        figures["torques"] = _curves(
            system, t, {n: columns[n] for n in inputs}, title_with_unit(system, "inputs", unit)
        )
        largest = max(float(np.abs(columns[n]).max(initial=0.0)) for n in inputs)
        moved = design.replay.balance.largest_energy
        if unit == "N m" and largest > 0 and design.replay.balance.round_energy(largest) == 0:
            figures["torques"] = replace(figures["torques"], height_span=EMPTY_SPAN)
            remark = (
                f"The motors do nothing: torques up to {largest:.1g} N m are rounding, beside {moved:.3g} "
                f"J that moved."
            )
    by_unit: dict[str, dict[str, np.ndarray]] = {}
    for name, q in zip(system.labels("x"), _each(system.x), strict=True):
        by_unit.setdefault(q.unit, {})[name] = columns[name]
    for unit, curves in by_unit.items():
        figures[f"plan_{unit.replace('/', '_per_') or 'states'}"] = _curves(
            system, t, curves, title_with_unit(system, "states", unit)
        )
    note = (
        "As planned, over one step; below, what the simulator makes of it."
        if plan.success
        else "Where the search stopped: no plan."
    )
    return Chapter(
        "The plan",
        remark if inputs else "The walker has no inputs: it walks by itself.",
        [],
        figures,
        note,
        beside=True,
    )


def _curves(of: System, t: np.ndarray, curves: dict[str, np.ndarray], title: str) -> Figure:
    lines = [
        Line(name, t, values, PALETTE[k % len(PALETTE)], DASHES[k // len(PALETTE) % len(DASHES)])
        for k, (name, values) in enumerate(curves.items())
    ]
    return Figure(tuple(lines), title_with_unit(of, "time", "s"), title, span=(0.0, float(t[-1])))


def _energy(design: Design) -> Chapter:
    """The chapter of the energy account and the contact forces of the replayed step."""
    b = design.replay.balance
    rows = [
        ("gravity", "given by the way down", b.round_energy(b.fallen)),
        ("motors", "given, on balance", b.round_energy(b.work)),
        ("events", "lost", b.round_energy(b.lost)),
        ("dampers", "dissipated", b.round_energy(b.dissipated)),
        ("", "unexplained", b.residual),
    ]
    text = f"In the simulator; what is unexplained is {b.relative:.2g} of what moved."
    tables = [Rows(("where", "", title_with_unit(design.system, "energy", "J")), rows, "Over one step")]
    if loads := [row for load in design.replay.foot_loads for row in load.rows()]:
        loads = [(name, value, shown_unit(design.system, unit)) for name, value, unit in loads]
        tables.append(Rows(("foot", "value", "unit"), loads, "Contact"))
    return Chapter("Energy and contact of a step", text, tables)


def _stability(gait: Gait) -> Chapter:
    """The chapter of the multipliers."""
    rows = [(float(m.real), float(m.imag), float(abs(m))) for m in gait.multipliers]
    table = Rows(("real part", "imaginary part", "modulus"), rows, "Multipliers")
    note = (
        "Of the walker that follows its plan by a clock which every step sets to zero. A disturbance is "
        "multiplied by these at every step."
    )
    return Chapter("Stability", "", [table], {"multipliers": multipliers(gait)}, note)


def _trust(design: Design) -> Chapter:
    """The chapter of residuals: of the solver, of the replay, of requirements between points, of meshes."""
    plan, again = design.result, design.replay
    solver = [(f"KKT: {name}", float(v)) for name, v in plan.kkt.items()]
    solver += [("defect against the adaptive integrator", plan.defect), ("iterations", plan.iterations)]
    if plan.success:
        solver.append(("what better inputs would save, relative to the cost", plan.relative_cost_error))
    solver += [(f"{name} time [s]", float(v)) for name, v in plan.times.items()]
    ends, late = lateness(float(again.late))
    replay_rows = [(title_with_unit(design.system, ends, "s"), late)]
    replay_rows += [("largest difference of a state", float(again.missed))]
    over = {name: float(v) for name, v in plan.path_violations.items() if v > CONSTRAINT_SLACK}
    replay_rows += [(f"exceeded between the points: {name}", v) for name, v in over.items()]
    if len(over) < len(plan.path_violations):
        replay_rows.append(
            (
                "kept between the points, to 1e-9: bounds and requirements along the path",
                len(plan.path_violations) - len(over),
            )
        )
    meshes = [(n, float(d)) for n, d in plan.meshes]
    tables = [Rows(("", "value"), solver, "The solver"), Rows(("", "value"), replay_rows, "The simulator")]
    return Chapter(
        "How far to trust it",
        "",
        [*tables, Rows(("intervals", "defect"), meshes, "Meshes")] if meshes else tables,
        folded=True,
    )


def _unit(design: Design, name: str) -> str:
    return str(next(q.unit for q in design.system.p if q.name == name))


__all__ = ["design_result", "walk"]
