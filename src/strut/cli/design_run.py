"""What `strut design` does for one design: it searches, prints and writes."""

from __future__ import annotations

import json as documents
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.markup import escape

import strut
from strut import optimal
from strut.cli.answer import complain, hint, note, number_text, plain_data, present, print_more, warn
from strut.cli.console import out
from strut.cli.design_order import Order
from strut.cli.design_texts import python_text
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.progress import tell_progress, tell_stage
from strut.cli.tables import table
from strut.errors import ModelError
from strut.files import put
from strut.optimal import Design, StepGoal
from strut.optimal.solver.limit_units import violations
from strut.optimal.walk.active_limits import ActiveLimit
from strut.optimal.walk.goal_field import goal_fields
from strut.optimal.walk.stairs import LOW_RISE, MAX_THROWN_RISE, climbing_doubt, on_stairs

STOPPED = "The table shows where the search stopped, which is no motion of the machine."
"""What is said of the numbers of a search that failed."""
PLAN_ROWS = 201
"""Moments of a plan that are written as plan.csv."""
DESIGN_FILE = "design.h5"
"""Name of the file, in the folder of a design, from which it is loaded."""
GAIT_FOLDER = "gait"
"""Name of the folder, inside that of a start or a stop, in which its gait is."""


def run_design(order: Order) -> None:
    """Search for a design, print it, and write its report where one is asked."""
    check_stairs(order)
    gait: Design | None = None
    try:
        result = optimal.design(order.system, **order.arguments, progress=tell_stage)
        if order.transition is not None and result.ok:
            gait, result = result, find_transition(result, order)
    except KeyboardInterrupt:
        note("interrupted: no motion was found yet")
        raise typer.Exit(INTERRUPTED_EXIT) from None

    def data() -> dict[str, Any]:
        of_gait = {} if gait is None else {"gait_design": gait.data()}
        return result.data() | of_gait | (result.sensitivity_data() if order.sensitivity else {})

    present(data, lambda: design_text(result))
    design_notes(result)
    if gait is not None:
        note(gait_text(gait, order))
    if order.sensitivity and not result.result.is_interrupted:
        sensitivity_text(result)
    if result.result.is_interrupted:
        keep_interrupted(result, order)
        raise typer.Exit(INTERRUPTED_EXIT)
    if order.transition is not None and result.result.problem.repeats is not None:
        complain(f"no {order.transition[0]} was looked for: this gait, which it needs, is not ok")
    if order.output is not None:
        write_design(result, order, order.output)
        if gait is not None:  # what it leads to or from is a design of its own
            write_design(gait, replace(order, transition=None), order.output / GAIT_FOLDER)
    if order.export is not None:
        export_design(result, order.export)
    if not result.ok:
        raise typer.Exit(1)


def keep_interrupted(result: Design, order: Order) -> None:
    """Write the numbers of the best that an interrupted search had, where a folder was asked, and say so; its
    page would take a while."""
    if order.output is None:
        return
    if not result.result.success:
        note(f"no motion was found yet: nothing is kept in {order.output}")
        return
    write_numbers(result, order.output)
    hint(f"the best that the search had is kept: strut view {order.output / DESIGN_FILE} shows it")


def check_stairs(order: Order) -> None:
    """Refuse stairs that a machine cannot climb, before minutes of search; doubt those that it hardly can."""
    rise = order.arguments.get("stair")
    doubt = "" if rise is None else climbing_doubt(on_stairs(order.system, rise))
    if not doubt:
        return
    if (rise or 0.0) > MAX_THROWN_RISE and not order.anyway:
        raise ModelError(
            f"{doubt}. Ask for another walker (strut design rabbit --stair {rise:g}), for less (--stair "
            f"{LOW_RISE:g} on a slope that goes down), or for the search nonetheless: --anyway"
        )
    warn(doubt, plain=True)


def find_transition(gait: Design, order: Order) -> Design:
    """Return how the machine of a gait starts or stops: for the same cost, searched for in the same way."""
    assert order.transition is not None
    kind, steps = order.transition
    of_limits = ("cost", "friction", "torque", "clearance", "within")
    names = (*of_limits, "control", "method", "intervals", "starts", "seed", "budget")
    asked = {name: value for name, value in order.arguments.items() if name in names and value is not None}
    find = optimal.start if kind == "start" else optimal.stop
    return find(gait, steps, **asked, progress=tell_stage)


def gait_text(gait: Design, order: Order) -> str:
    """Return what gait a start leads to, or a stop leads from: what was asked is asked of it."""
    assert order.transition is not None
    kind = order.transition[0]
    names = [name for name in ("speed", "step_length", "duration") if order.arguments.get(name) is not None]
    flags = [goal_fields(StepGoal)[name].flag for name in names]
    verb = "is" if len(flags) == 1 else "are"
    of_it = f"; {', '.join(flags)} {verb} asked of it, not of the {kind}" if flags else ""
    return (
        f"the gait that this {kind} leads {'to' if kind == 'start' else 'from'}: "
        f"{number_text(gait.speed)} m/s, steps of {number_text(gait.step_length)} m in "
        f"{number_text(gait.step_time)} s{of_it}"
    )


def export_design(result: Design, directory: Path) -> None:
    """Write the machine of a design as C, if there is one."""
    if not result.result.success:
        complain(f"wrote no C to {directory}: a search that failed gives no machine")
        return
    strut.export(result.machine, directory)
    hint(f"build it: make -C {directory}")


def design_text(result: Design) -> None:
    """Print a design as a table."""
    out.print(f"[bold]{escape(result.system.name)}[/bold]: {escape(result.cost.meaning)}\n", soft_wrap=True)
    head = "value" if result.result.success else "where the search stopped"
    table("", ["", head, "unit"], [list(row) for row in result.rows()])


def design_notes(result: Design) -> None:
    """Say which limits decide a design, what is wrong with it, and what else is doubtful about it."""
    r = result.result
    for limit in result.active_limits:
        note(f"{limit.sentence}{flag_hint(limit)}")
    for why in result.wrong:
        warn(why, plain=True) if r.success else complain(why)
    if not r.success:  # what is violated is said already where nothing is known of what must give way
        violated = f" There are violated: {'; '.join(violations(r))}" if r.unmet or r.is_interrupted else ""
        note(f"{STOPPED}{violated}")
    for sentence in result.turned_joints:
        warn(sentence, plain=True)
    if result.advice:
        note(result.advice)


def sensitivity_text(result: Design) -> None:
    """Print what a unit more of every parameter that stays would cost."""
    rows = [[each.name, each.value, each.unit, each.slope] for each in result.sensitivities]
    if rows:
        heads = ["parameter", "value", "unit", "cost grows, per unit more"]
        print_more(lambda: table("What the machine costs", heads, rows))
        note(result.sensitivities[0].sentence)
    else:
        note(result.no_sensitivities)


def flag_hint(limit: ActiveLimit) -> str:
    """Return how a limit that nobody asked for is set by hand; empty for others."""
    if limit.source != "default" or not limit.field:
        return ""
    return f"; nobody asked for it, {goal_fields(StepGoal)[limit.field].flag} sets it"


def write_design(result: Design, order: Order, directory: Path) -> None:
    """Write the report: a page, the data, every figure; the numbers as design.json and plan.csv; and
    all of it as design.h5, for `optimal.load`."""
    tell_progress(f"writing {directory}")
    again = python_text("design", order.source, order.arguments, order.goal_call)
    if order.transition is not None:
        again += f"\nmade = optimal.{order.transition[0]}(made, {order.transition[1]}, cost=made.cost.name)"
    from strut.report import design_result  # pages: not where nothing is written

    page = design_result(result, order.command, sensitivity=order.sensitivity)
    folder = replace(page, again=again).folder(directory)
    write_numbers(result, directory)
    for why in folder.missing:
        warn(why)


def write_numbers(result: Design, directory: Path) -> None:
    """Write the numbers of a design as design.json and plan.csv; and all of it as design.h5."""
    put(directory / "design.json", documents.dumps(plain_data(result.data()), indent=1) + "\n")
    t = np.linspace(0, result.result.duration, PLAN_ROWS)
    columns = result.result.at(t)
    rows = [",".join(f"{v:.17g}" for v in row) for row in np.column_stack([t, *columns.values()])]
    put(directory / "plan.csv", "\n".join([",".join(["t", *columns]), *rows]) + "\n")
    result.save(directory / DESIGN_FILE)


__all__ = ["run_design", "write_numbers"]
