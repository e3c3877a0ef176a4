"""`strut design --robust`: one machine for several values of a slope, a push or a parameter."""

from __future__ import annotations

import json as documents

import typer

from strut import optimal
from strut.cli.answer import note, plain_data, present, warn
from strut.cli.console import out
from strut.cli.design_order import Order
from strut.cli.design_sweep import read_design_sweep
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.progress import tell_stage
from strut.cli.tables import table
from strut.files import put
from strut.optimal import RobustDesign, Scenario


def run_robust(order: Order, text: str) -> None:
    """Search for the machine with the least expected cost over scenarios, and print how it walks in each."""
    swept = read_design_sweep(text, order, "--robust")
    arguments = {n: v for n, v in order.arguments.items() if v is not None}
    try:
        result = optimal.robust_design(
            order.system,
            arguments.pop("free"),
            arguments.pop("cost"),
            scenarios=[Scenario({swept.name: value}) for value in swept.values],
            progress=tell_stage,
            **arguments,
        )
    except KeyboardInterrupt:
        note("interrupted: not every scenario was solved yet")
        raise typer.Exit(INTERRUPTED_EXIT) from None
    present(result.data, lambda: robust_text(result))
    for sentence in (*result.limit_sentences, *result.doubts):
        note(sentence)
    for why in result.wrong:
        warn(why, plain=True)
    if order.output is not None:
        write_robust(result, order)
    if not result.ok:
        raise typer.Exit(1)


def robust_text(result: RobustDesign) -> None:
    """Print a robust design: the machine, and how it walks in every scenario."""
    out.print("[bold]one machine for every scenario[/bold]\n")
    units = {q.name: q.unit for q in result.designs[0].system.p}
    table(
        "", ["parameter", "value", "unit"], [[n, v, units.get(n, "")] for n, v in result.parameters.items()]
    )
    columns = result.columns()
    table("", list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
    out.print(result.cost_text, soft_wrap=True)


def write_robust(result: RobustDesign, order: Order) -> None:
    """Write the report of every scenario into a folder of its own, and the numbers as robust.json."""
    assert order.output is not None
    from strut.report import design_result  # pages: not where nothing is written

    for k, (scenario, each) in enumerate(zip(result.scenarios, result.designs, strict=True), start=1):
        title = f"{each.system.name}: {scenario.label}"
        folder = design_result(each, order.command, title).folder(order.output / f"scenario_{k}")
        for why in folder.missing:
            warn(why)
    text = documents.dumps(plain_data(result.data()), indent=1)
    put(order.output / "robust.json", text + "\n")


__all__ = ["run_robust"]
