"""`strut design`: a walker and its gait found at once, verified in the simulator."""

from __future__ import annotations

import inspect
import json as documents
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.progress import Progress

from strut import actuator, optimal
from strut.cli.console import as_json, notes, out, table
from strut.cli.design_texts import (
    command_text,
    python_text,
    read_cost,
    read_free,
    read_goal,
    read_sweep,
    source_of,
)
from strut.cli.model import Reading, find_model, with_drive, with_settings
from strut.cli.options import Root
from strut.cli.save import check_directory
from strut.errors import ValueRangeError
from strut.files import put
from strut.optimal import COSTS, Design, StepGoal, TradeOff
from strut.optimal.walk.goal_field import goal_fields
from strut.optimal.walk.step_goal import SWEPT_UNITS
from strut.system import System

FILES_ONLY = ("defect", "step time")
"""Columns of a sweep that its table leaves out, to fit a terminal; its files have them."""
PLAN_ROWS = 201
"""Moments of a plan that are written as plan.csv."""


def take_goal_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every field of a `StepGoal`, behind its `cost`: they come to it among its
    `**goal`, as texts by name of the field."""
    signature = inspect.signature(function, eval_str=True)
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default="",
            annotation=Annotated[str, typer.Option(each.flag, metavar=each.metavar, help=each.help)],
        )
        for name, each in goal_fields(StepGoal).items()
    ]
    parameters = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    at = [each.name for each in parameters].index("cost") + 1
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]  # typer reads it
        parameters=[*parameters[:at], *options, *parameters[at:]]
    )
    return function


@take_goal_options
def design(  # noqa: PLR0913 -- every argument is an option of the command line
    model: Annotated[
        str,
        typer.Argument(help="A name from [bold]strut list[/bold], or FILE.py:NAME for a System of your own."),
    ],
    *,
    free: Annotated[
        str,
        typer.Option(
            "--free", metavar="A,B", help="Parameters to be found with the gait; NAME=LOW:HIGH sets bounds."
        ),
    ] = "",
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="NAME",
            help=f"What should be small: {', '.join(COSTS)}; of several, A=WEIGHT,B=WEIGHT.",
        ),
    ] = "squared-torque",
    drive: Annotated[
        str,
        typer.Option(
            "--drive",
            metavar="KIND",
            help="How motors act: rigid; series, through springs; or parallel, with springs beside them. "
            "Springs are found with the gait, "
            "unless --set says what they are.",
        ),
    ] = "rigid",
    root: Root = [],
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="Another value for a parameter that stays."),
    ] = [],
    control: Annotated[
        str,
        typer.Option(
            help="Inputs in an interval: constant, linear, quadratic, cubic; the last unless "
            "hermite-simpson, which sees less."
        ),
    ] = "",
    method: Annotated[str, typer.Option(help="radau, gauss, hermite-simpson or shooting.")] = "radau",
    section: Annotated[
        str, typer.Option(help="The event that ends a step, where strut does not know it.")
    ] = "",
    intervals: Annotated[
        int, typer.Option(help="To begin with; more are made where accuracy needs them.")
    ] = 10,
    starts: Annotated[int, typer.Option(help="Different starts of the search; the best is kept.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the starts.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write design.json, the plan as plan.csv, and the walk: page, data, plots.",
        ),
    ] = None,
    sweep: Annotated[
        str,
        typer.Option(
            "--sweep",
            metavar="NAME=FROM:TO:N",
            help="A design for each of N values: of speed, slope, a parameter, the weight of a cost.",
        ),
    ] = "",
    workers: Annotated[int, typer.Option(help="Processes of a sweep; 0: as many as there are cores.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a table.")] = False,
    **goal: str,
) -> None:
    """Find how a walker should walk and be built, at once: gait, torques and parameters. The simulator
    replays what was found.

    [bold]Examples[/bold]

      strut design compass --free hip_spring --cost squared-torque --speed 0.8 --slope 3deg

      strut design compass --free leg_mass=1:10,hip_mass=1:20 --cost energy --speed 0.7 --torque 30 -o a/

      strut design compass --slope 0deg --cost positive-work --speed 0.5 --json

      strut design compass --drive series --cost squared-torque --speed 0.5 --step 0.35 --slope 0 --torque 100

      strut design compass --drive parallel --cost squared-torque --speed 0.8 --slope 3deg

      strut design compass --slope 0deg --free hip_spring=0:100 --sweep speed=0.3:0.6:7 -o b/

      strut design compass --slope 0 --speed 0.5 --cost squared-torque=1,energy=1 --sweep weight_energy=0:5:6
    """
    # What the command says about itself in the report: options that differ from what they are anyway.
    options = {"free": free, "cost": cost}
    options |= {goal_fields(StepGoal)[name].flag.lstrip("-"): text for name, text in goal.items()}
    options |= {"control": control, "method": method, "intervals": str(intervals), "starts": str(starts)}
    options |= {"seed": str(seed), "sweep": sweep, "drive": drive, "section": section}
    command = command_text(model, settings, options)
    if output is not None:
        check_directory(output)
        from strut.view.pages.folder import ensure_directory

        ensure_directory(output)
    rigid = find_model(model, Reading(roots=tuple(root)))
    system = with_settings(with_drive(rigid, drive), settings)
    chosen = {setting.partition("=")[0].strip() for setting in settings}
    springs = {name: pair for name, pair in actuator.constants(rigid, drive).items() if name not in chosen}
    arguments: dict[str, Any] = {
        "free": springs
        | read_free(free, {q.name: q.unit for q in system.p}, {q.name: q.bounds for q in system.p}),
        "cost": read_cost(cost),
        **read_goal(goal),
        "section": section or None,
        "control": control or ("quadratic" if method == "hermite-simpson" else "cubic"),
        "method": method,
        "intervals": intervals,
        "starts": starts,
        "seed": seed,
    }
    order = Order(
        system=system,
        arguments=arguments,
        output=output,
        command=command,
        source=source_of(model, settings, system, drive),
        json=json,
    )
    if sweep:
        run_sweep(order, sweep, workers)
    else:
        run_design(order)


@dataclass(frozen=True, eq=False)
class Order:
    """What the command was asked to do.

    system: the walker. arguments: of `optimal.design`, None where nothing was asked. output: the folder for
        files.
    command: as it would be typed again. source: Python that makes the walker. json: whether to print JSON.
    """

    system: System
    arguments: dict[str, Any]
    output: Path | None
    command: str
    source: str
    json: bool


def run_design(order: Order) -> None:
    """Search for a design, print it, and write its report where one is asked."""
    result = optimal.design(order.system, **order.arguments)
    if order.json:
        as_json(result.data())
    else:
        design_text(result)
    if order.output is not None:
        write_design(result, order)
    if not result.ok:
        raise typer.Exit(1)


def design_text(result: Design) -> None:
    """Print a design as a table, and where it failed, why."""
    out.print(f"[bold]{escape(result.system.name)}[/bold]: {escape(result.cost.meaning)}\n", soft_wrap=True)
    r = result.result
    table(
        "",
        ["", "value" if r.success else "where the search stopped", "unit"],
        [list(row) for row in result.rows()],
    )
    for why in result.wrong:
        notes.print(f"[{'yellow' if r.success else 'red'}]{escape(why)}[/]", soft_wrap=True)
    for name, amount in r.worst.items() if not r.success else ():
        notes.print(f"  violated by {amount:.3g}: {escape(name)}", soft_wrap=True)
    if result.advice:
        notes.print(escape(result.advice), soft_wrap=True)


def write_design(result: Design, order: Order) -> None:
    """Write the report: a page, the data, every figure; and the numbers as design.json and plan.csv."""
    assert order.output is not None
    directory, again = order.output, python_text("design", order.source, order.arguments)
    from strut.report import design_result  # pages: not where nothing is written

    folder = replace(design_result(result, order.command), again=again).folder(directory)
    put(directory / "design.json", documents.dumps(without_nan(result.data()), indent=1) + "\n")
    t = np.linspace(0, result.result.duration, PLAN_ROWS)
    columns = result.result.at(t)
    rows = [",".join(f"{v:.17g}" for v in row) for row in np.column_stack([t, *columns.values()])]
    put(directory / "plan.csv", "\n".join([",".join(["t", *columns]), *rows]) + "\n")
    for why in folder.missing:
        notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
    page = directory / "index.html"
    look = f"; open {page}" if page.name in folder.files else ""
    notes.print(escape(f"wrote {len(folder.files) + 2} files to {directory}/{look}"), soft_wrap=True)


def run_sweep(order: Order, text: str, workers: int) -> None:
    """Search for a design at every value of a sweep; with a directory, every one is kept as soon as it is
    found, and a sweep that was stopped goes on."""
    name, values = read_sweep(text, {**SWEPT_UNITS, **{q.name: q.unit for q in order.system.p}})
    arguments = {n: v for n, v in order.arguments.items() if v is not None}
    if workers < 0:
        raise ValueRangeError(
            f"--workers is {workers}: give a number of processes, or 0 for as many as there are cores"
        )
    curve = _solve_sweep(order, name, values, arguments, workers)
    if order.json:
        as_json(curve.data())
    else:
        sweep_text(curve)
    if order.output is not None:
        again = python_text("trade_off", order.source, {"name": name, "values": values, **arguments})
        write_sweep(curve, order, again)
    if not curve.ok:
        raise typer.Exit(1)


def _solve_sweep(
    order: Order, name: str, values: list[float], arguments: dict[str, Any], workers: int
) -> TradeOff:
    """Return the trade-off, with a bar that shows how far it is; stopped by hand, say what is kept."""
    bar = Progress(console=notes, transient=True)
    task = bar.add_task(f"designs over {name}", total=len(values))
    file = order.output / "sweep.sqlite" if order.output is not None else None
    try:
        with bar:
            return optimal.trade_off(
                order.system,
                name,
                values,
                **arguments,
                file=file,
                workers=workers or None,
                progress=lambda count, _: bar.update(task, completed=count),
            )
    except KeyboardInterrupt:
        what = (
            f"{int(bar.tasks[0].completed)} of {len(values)} designs are kept in {file}; the same command "
            f"goes on"
        )
        notes.print(
            escape(
                f"stopped: {what if file is not None else 'nothing is kept; with -o DIR every design is'}"
            ),
            soft_wrap=True,
        )
        raise typer.Exit(130) from None


def sweep_text(curve: TradeOff) -> None:
    """Print a trade-off as a table, and why points failed."""
    head, rows = curve.rows()
    columns = [k for k, title in enumerate(head) if title.split(" [")[0] not in FILES_ONLY]
    table(
        "",
        [head[k] for k in columns],
        [[f"{c:.4g}" if isinstance(c := row[k], float) else c for k in columns] for row in rows],
    )
    for point in curve.points:
        if not point.ok:
            why = f"{curve.name} {point.value:g}: {point.status}"
            notes.print(f"[yellow]{escape(why)}[/]", soft_wrap=True)


def write_sweep(curve: TradeOff, order: Order, again: str) -> None:
    """Write the report of a trade-off: a page, the data, every figure, and the table as sweep.csv."""
    assert order.output is not None
    from strut.report import sweep_result

    folder = replace(sweep_result(curve, order.command), again=again).folder(order.output)
    head, rows = curve.rows(rounded=False)
    lines = [",".join(f"{c:.17g}" if isinstance(c, float) else f'"{c}"' for c in row) for row in rows]
    put(order.output / "sweep.csv", "\n".join([",".join(f'"{h}"' for h in head), *lines]) + "\n")
    for why in folder.missing:
        notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
    page = order.output / "index.html"
    notes.print(
        escape(f"wrote {len(folder.files) + 2} files to {order.output}/; open {page}"), soft_wrap=True
    )


def without_nan(item: Any) -> Any:
    """Return data for JSON, None for numbers that are not finite."""
    if isinstance(item, dict):
        return {k: without_nan(v) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return [without_nan(v) for v in item]
    return None if isinstance(item, float) and not np.isfinite(item) else item
