"""`strut design --sweep`: a design for every value of a speed, a slope, a parameter or a weight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import typer
from rich.markup import escape
from rich.progress import Progress

from strut import optimal
from strut.cli.console import as_json, notes, table
from strut.cli.design_order import INTERRUPTED_EXIT, Order
from strut.cli.design_texts import python_text, read_sweep
from strut.errors import ValueRangeError
from strut.files import put
from strut.optimal import TradeOff
from strut.optimal.walk.step_goal import SWEPT_UNITS
from strut.optimal.walk.sweep_run import DECIDES, TOUCHED

FILES_ONLY = ("defect", "step time")
"""Columns of a sweep that its table leaves out, to fit a terminal; its files have them."""


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
    if curve.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT)
    if order.output is not None:
        asked = {"name": name, "values": values, **arguments}
        again = python_text("trade_off", order.source, asked, order.goal_call)
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
    with bar:
        curve = optimal.trade_off(
            order.system,
            name,
            values,
            **arguments,
            file=file,
            workers=workers or None,
            progress=lambda count, _: bar.update(task, completed=count),
        )
    if curve.interrupted:
        solved = sum(bool(point.numbers) for point in curve.points)
        kept_text = f"{solved} of {len(values)} designs are kept in {file}; the same command goes on"
        lost_text = f"{solved} of {len(values)} designs were solved; with -o DIR every one is kept"
        notes.print(escape(f"interrupted: {kept_text if file is not None else lost_text}"), soft_wrap=True)
    return curve


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
        why = f"{curve.name} {point.value:g}: {point.status}"
        if not point.ok:
            notes.print(f"[yellow]{escape(why)}[/]", soft_wrap=True)
        elif DECIDES in point.status or TOUCHED in point.status:
            notes.print(escape(why), soft_wrap=True)


def write_sweep(curve: TradeOff, order: Order, again: str) -> None:
    """Write the report of a trade-off: a page, the data, every figure, and the table as sweep.csv."""
    assert order.output is not None
    from strut.report import sweep_result  # pages: not where nothing is written

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


__all__ = ["run_sweep"]
