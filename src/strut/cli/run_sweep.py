"""`strut run --sweep`: the same run for each value of a parameter, a state or an input."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import typer

import strut
from strut.cli.answer import present, warn
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.model import Times
from strut.cli.progress import tell_progress
from strut.cli.show import components
from strut.cli.sweeps import SweptValues, read_sweep
from strut.cli.tables import table
from strut.errors import StorageError
from strut.files import put
from strut.report.runs import end_cells, runs_result
from strut.simulate import Trajectory
from strut.system import System
from strut.view import Result
from strut.view.figures.swept_axis import swept_axis


def run_sweep(
    system: System,
    text: str,
    times: Times,
    options: dict[str, Any],
    *,
    printed: list[str],
    output: list[Path],
    asked: str,
) -> None:
    """Run a system for every value of a sweep; print how each run ended, and write the table and the runs.

    text: NAME=A:B:N. options: of `simulate`. printed: what is told of the end of each run. output: a table,
    .csv, a page, .html, or a folder for both and the runs. asked: the command that was given.
    """
    for path in output:
        if path.suffix not in ("", ".csv", ".html"):
            raise StorageError(
                f"'{path.name}' is of one run, and --sweep makes several: write -o FILE.csv for a table of "
                f"them, -o FILE.html for a page, or -o DIR for both and every run"
            )
    swept = read_sweep(text, {q.name: q.unit for q in system.quantities()})
    machines = [system.using({swept.name: value}) for value in swept.values]  # refuses what is out of bounds
    runs: list[Trajectory] = []
    for k, machine in enumerate(machines):
        tell_progress(f"run {k + 1} of {len(machines)} over {swept.name}", k / len(machines))
        runs.append(strut.simulate(machine, t=(times.begin, times.end), **options))
        if runs[-1].status == "interrupted":
            break
    labels = [label for asked_name in printed for label in components(runs[0], asked_name)]
    rows = [end_cells(run, swept.name, value, labels) for run, value in zip(runs, swept.values, strict=False)]
    if output:
        values = swept.values[: len(runs)]
        page = runs_result(runs, swept.name, values, asked=asked, printed=labels, unit=swept.unit)
        _write(runs, rows, page, output)
    present(lambda: sweep_data(runs, rows, swept), lambda: _print_table(runs, rows, swept))
    if runs[-1].status == "interrupted":
        raise typer.Exit(INTERRUPTED_EXIT)
    if not all(run.ok for run in runs):
        raise typer.Exit(1)


def sweep_data(runs: list[Trajectory], rows: list[dict[str, Any]], swept: SweptValues) -> dict[str, Any]:
    """Return what `strut run --sweep --json` gives as its result."""
    return {
        "name": swept.name,
        "values": [value for value, _ in zip(swept.values, runs, strict=False)],
        "ok": [run.ok for run in runs],
        "columns": {head: [row[head] for row in rows] for head in rows[0]},
    }


def _print_table(runs: list[Trajectory], rows: list[dict[str, Any]], swept: SweptValues) -> None:
    """Print how runs ended; what was varied in the unit in which it was asked."""
    first = runs[0]
    axis = swept_axis(swept.name, first.names.units.get(swept.name, ""), swept.unit, of=first)
    heads, cells = axis.table(list(rows[0]), [["" if c is None else c for c in row.values()] for row in rows])
    table(f"{runs[0].system_name}, {len(runs)} runs", heads, cells)


def _write(runs: list[Trajectory], rows: list[dict[str, Any]], result: Result, output: list[Path]) -> None:
    """Write the table, the page, and into folders both and every run, numbered as its row."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(list(rows[0]))
    writer.writerows(row.values() for row in rows)
    for path in output:
        tell_progress(f"writing {path}")
        if path.suffix == ".csv":
            put(path, text.getvalue())
            continue
        if path.suffix == ".html":
            result.page(path)
            continue
        path.mkdir(parents=True, exist_ok=True)
        put(path / "sweep.csv", text.getvalue())
        for k, run in enumerate(runs, start=1):
            run.save(path / f"run_{k}.h5")
        for missing in result.folder(path).missing:
            warn(missing)


__all__ = ["run_sweep"]
