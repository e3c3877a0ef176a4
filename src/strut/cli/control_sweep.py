"""`strut control --sweep`: the gait of each value of a parameter held, before and after."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import typer

from strut.cli.answer import complain, present, warn
from strut.cli.progress import tell_progress
from strut.cli.sweeps import read_sweep
from strut.cli.tables import table
from strut.control import HeldGait
from strut.errors import NoGaitError, StrutError
from strut.files import put
from strut.gait import Gait
from strut.optimal import Design
from strut.report.held_sweep import held_cells, held_sweep_result, shown_rows
from strut.system import System


def control_sweep(
    system: System,
    text: str,
    find_source: Callable[[System], Gait | Design],
    close_loop: Callable[[Gait | Design], HeldGait],
    *,
    output: Path | None,
    asked: str,
) -> None:
    """Hold the gait of each value; print what its multiplier was and is, what effort a push takes and which
    one it survives, and write page, table and data.

    text: NAME=A:B:N. find_source: the gait or the design of a system. close_loop: holds it. output: a folder.
    asked: the command that was given.
    """
    swept = read_sweep(text, {q.name: q.unit for q in system.p})
    machines = [system.using({swept.name: value}) for value in swept.values]  # refuses what is out of bounds
    rows: list[dict[str, Any]] = []
    for k, (machine, value) in enumerate(zip(machines, swept.values, strict=True)):
        tell_progress(f"gait {k + 1} of {len(machines)} over {swept.name}", k / len(machines))
        try:
            loop = close_loop(find_source(machine))
        except NoGaitError:
            rows.append(held_cells(value, None, "no gait"))
            continue
        except StrutError as error:
            rows.append(held_cells(value, None, str(error)))
            continue
        rows.append(held_cells(value, loop))
    unit = next(q.unit for q in system.p if q.name == swept.name)
    result = held_sweep_result(system.name, swept.name, rows, own_unit=unit, unit=swept.unit, asked=asked)
    present(
        lambda: dict(result.data["held_sweep"]),
        lambda: _print_table(system.name, swept.name, rows, unit, swept.unit),
    )
    if output is not None:
        _write_files(result, rows, swept.name, output)
    if not all(row["held"] == "yes" for row in rows):
        complain("not held everywhere: see the rows")
        raise typer.Exit(1)


def _print_table(title: str, name: str, rows: list[dict[str, Any]], own_unit: str, unit: str) -> None:
    """Print what is told of each value. own_unit: of what was varied; unit: in which it was asked."""
    heads, cells = shown_rows(rows, name, own_unit, unit)
    table(f"{title}, {len(rows)} gaits", heads, cells)


def _write_files(result: Any, rows: list[dict[str, Any]], name: str, directory: Path) -> None:
    """Write the page, its data and figures, and the rows as a table in SI units."""
    tell_progress(f"writing {directory}")
    for why in result.folder(directory).missing:
        warn(why)
    text = StringIO()
    heads = list(dict.fromkeys(head for row in rows for head in row))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name if head == "value" else head for head in heads])
    writer.writerows([row.get(head, "") for head in heads] for row in rows)
    put(directory / "sweep.csv", text.getvalue())


__all__ = ["control_sweep"]
