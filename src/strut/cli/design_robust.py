"""`strut design --robust`: one machine for several values of a slope, a push or a parameter."""

from __future__ import annotations

import json as documents

import typer

from strut import optimal
from strut.cli.answer import note, plain_data, present, warn
from strut.cli.console import out
from strut.cli.design_order import Order
from strut.cli.design_run import write_numbers
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
        note("interrupted: no scenario was solved yet")
        raise typer.Exit(INTERRUPTED_EXIT) from None
    present(result.data, lambda: robust_text(result))
    for sentence in (*result.limit_sentences, *result.doubts):
        note(sentence)
    for why in result.wrong:
        warn(why, plain=True)
    if order.output is not None:
        write_robust(result, order)
    if result.is_interrupted:
        raise typer.Exit(INTERRUPTED_EXIT)
    if not result.ok:
        raise typer.Exit(1)


def robust_text(result: RobustDesign) -> None:
    """Print a robust design: the machine, and how it walks in every scenario."""
    out.print("[bold]one machine for every scenario[/bold]\n")
    units = {q.name: q.unit for q in result.system.p}
    parameters = [[n, v, units.get(n, "")] for n, v in result.parameters.items()]
    if parameters:  # else the search was interrupted before they were found
        table("", ["parameter", "value", "unit"], parameters)
    columns = result.columns()
    table("", list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
    out.print(result.cost_text, soft_wrap=True)


def write_robust(result: RobustDesign, order: Order) -> None:
    """Write the report and the numbers of every walk into a folder of its own, and all of it as robust.json
    and robust.h5; of a search that was interrupted no pages, which would take a while."""
    assert order.output is not None
    from strut.report import design_result  # pages: not where nothing is written

    for k, (scenario, each) in enumerate(zip(result.scenarios, result.designs, strict=False), start=1):
        directory = order.output / f"scenario_{k}"
        directory.mkdir(parents=True, exist_ok=True)
        if not result.is_interrupted:
            title = f"{each.system.name}: {scenario.label}"
            for why in design_result(each, order.command, title).folder(directory).missing:
                warn(why)
        write_numbers(each, directory)
    text = documents.dumps(plain_data(result.data()), indent=1)
    put(order.output / "robust.json", text + "\n")
    result.save(order.output / "robust.h5")


__all__ = ["run_robust"]
