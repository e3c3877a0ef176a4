"""`strut design --robust`: one machine for several values of a slope, a push or a parameter."""

from __future__ import annotations

import json as documents

import typer
from rich.markup import escape

from strut import optimal
from strut.cli.console import as_json, notes, out, table
from strut.cli.design_order import INTERRUPTED_EXIT, Order
from strut.cli.design_texts import read_sweep
from strut.cli.finite import without_nan
from strut.cli.progress import stage_line
from strut.files import put
from strut.optimal import RobustDesign, Scenario
from strut.optimal.walk.step_goal import SWEPT_UNITS


def run_robust(order: Order, text: str) -> None:
    """Search for the machine with the least expected cost over scenarios, and print how it walks in each."""
    units = {q.name: q.unit for group in "pu" for q in getattr(order.system, group)}
    name, values = read_sweep(text, {**SWEPT_UNITS, **units})
    arguments = {n: v for n, v in order.arguments.items() if v is not None}
    try:
        with stage_line() as progress:
            result = optimal.robust_design(
                order.system,
                arguments.pop("free"),
                arguments.pop("cost"),
                scenarios=[Scenario({name: value}) for value in values],
                progress=progress,
                **arguments,
            )
    except KeyboardInterrupt:
        notes.print("interrupted: not every scenario was solved yet")
        raise typer.Exit(INTERRUPTED_EXIT) from None
    if order.json:
        as_json(without_nan(result.data()))
    else:
        robust_text(result)
    if order.output is not None:
        write_robust(result, order)
    if not result.ok:
        raise typer.Exit(1)


def robust_text(result: RobustDesign) -> None:
    """Print a robust design: the machine, how it walks in every scenario, and what is wrong."""
    out.print("[bold]one machine for every scenario[/bold]\n")
    units = {q.name: q.unit for q in result.designs[0].system.p}
    table(
        "", ["parameter", "value", "unit"], [[n, v, units.get(n, "")] for n, v in result.parameters.items()]
    )
    columns = result.columns()
    table("", list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
    out.print(result.cost_text, soft_wrap=True)
    for sentence in (*result.limit_sentences, *result.doubts):
        notes.print(escape(sentence), soft_wrap=True)
    for why in result.wrong:
        notes.print(f"[yellow]{escape(why)}[/]", soft_wrap=True)


def write_robust(result: RobustDesign, order: Order) -> None:
    """Write the report of every scenario into a folder of its own, and the numbers as robust.json."""
    assert order.output is not None
    from strut.report import design_result  # pages: not where nothing is written

    for k, (scenario, each) in enumerate(zip(result.scenarios, result.designs, strict=True), start=1):
        title = f"{each.system.name}: {scenario.label}"
        folder = design_result(each, order.command, title).folder(order.output / f"scenario_{k}")
        for why in folder.missing:
            notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
    text = documents.dumps(without_nan(result.data()), indent=1)
    put(order.output / "robust.json", text + "\n")
    notes.print(
        escape(f"wrote robust.json and {len(result.designs)} reports to {order.output}/"), soft_wrap=True
    )


__all__ = ["run_robust"]
