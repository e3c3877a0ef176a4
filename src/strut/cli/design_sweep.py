"""`strut design --sweep`: a design for every value of a speed, a slope, a parameter or a weight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import typer

from strut import optimal
from strut.cli.answer import note, present, warn
from strut.cli.design_order import Order
from strut.cli.design_texts import field_of_word, python_text
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.progress import tell_progress
from strut.cli.sweeps import SweptValues, read_sweep
from strut.cli.tables import table
from strut.files import put
from strut.optimal import TradeOff
from strut.optimal.walk.step_goal import SWEPT_UNITS
from strut.optimal.walk.sweep_run import DECIDES, TOUCHED
from strut.view.figures.swept_axis import SweptAxis, swept_axis

WEIGHT_PREFIX = "weight_"
"""What the name of the weight of a cost begins with."""
FILES_ONLY = ("defect", "step time")
"""Columns of a sweep that its table leaves out, to fit a terminal; its files have them."""


def run_sweep(order: Order, text: str, workers: int | None) -> None:
    """Search for a design at every value of a sweep; with a directory, every one is kept as soon as it is
    found, and a sweep that was stopped goes on."""
    swept = read_design_sweep(text, order, "--sweep")
    name, values = swept.name, list(swept.values)
    arguments = {n: v for n, v in order.arguments.items() if v is not None}
    curve = _solve_sweep(order, name, values, arguments, workers)
    axis = swept_axis(curve.name, curve.unit, swept.unit)
    present(curve.data, lambda: sweep_text(curve, axis))
    sweep_notes(curve, axis)
    if curve.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT)
    if order.output is not None:
        asked = {"name": name, "values": values, **arguments}
        again = python_text("trade_off", order.source, asked, order.goal_call)
        write_sweep(curve, order, again, swept.unit)
    if not curve.ok:
        raise typer.Exit(1)


def read_design_sweep(text: str, order: Order, flag: str) -> SweptValues:
    """Read NAME=A:B:N of what a design can be swept over: goals, parameters, inputs and weights of costs."""
    units = {q.name: q.unit for group in "up" for q in getattr(order.system, group)}
    word, equals, rest = text.partition("=")
    name = field_of_word(word.strip())
    weights = {name: ""} if name.startswith(WEIGHT_PREFIX) else {}
    return read_sweep(f"{name}{equals}{rest}", {**SWEPT_UNITS, **units, **weights}, flag)


def _solve_sweep(
    order: Order, name: str, values: list[float], arguments: dict[str, Any], workers: int | None
) -> TradeOff:
    """Return the trade-off, and tell how far it is; stopped by hand, say what is kept."""
    file = order.output / "sweep.sqlite" if order.output is not None else None

    def tell(count: int, _: int) -> None:
        tell_progress(f"{count} of {len(values)} designs over {name}", count / len(values))

    tell(0, 0)
    curve = optimal.trade_off(
        order.system, name, values, **arguments, file=file, workers=workers, progress=tell
    )
    if curve.interrupted:
        solved = sum(bool(point.numbers) for point in curve.points)
        kept_text = f"{solved} of {len(values)} designs are kept in {file}; the same command goes on"
        lost_text = f"{solved} of {len(values)} designs were solved; with -o DIR every one is kept"
        note(f"interrupted: {kept_text if file is not None else lost_text}")
    return curve


def sweep_text(curve: TradeOff, axis: SweptAxis) -> None:
    """Print a trade-off as a table; what was varied as `axis` shows it."""
    head, rows = axis.table(*curve.rows())
    columns = [k for k, title in enumerate(head) if title.split(" [")[0] not in FILES_ONLY]
    table(
        "",
        [head[k] for k in columns],
        [[row[k] for k in columns] for row in rows],
    )


def sweep_notes(curve: TradeOff, axis: SweptAxis) -> None:
    """Say why points of a trade-off failed, and what decides others."""
    for point in curve.points:
        why = f"{axis.label(point.value)}: {axis.sentence(point.status)}"
        if not point.ok:
            warn(why, plain=True)
        elif DECIDES in point.status or TOUCHED in point.status:
            note(why)


def write_sweep(curve: TradeOff, order: Order, again: str, unit: str) -> None:
    """Write the report of a trade-off: a page, the data, every figure, and the table as sweep.csv, in SI.
    unit: in which the page shows what was varied."""
    assert order.output is not None
    from strut.report import sweep_result  # pages: not where nothing is written

    folder = replace(sweep_result(curve, order.command, unit=unit), again=again).folder(order.output)
    head, rows = curve.rows(rounded=False)
    lines = [",".join(f"{c:.17g}" if isinstance(c, float) else f'"{c}"' for c in row) for row in rows]
    put(order.output / "sweep.csv", "\n".join([",".join(f'"{h}"' for h in head), *lines]) + "\n")
    for why in folder.missing:
        warn(why)


__all__ = ["run_sweep"]
