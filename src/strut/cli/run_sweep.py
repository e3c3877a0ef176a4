"""`strut run --sweep`: the same run for each value of a parameter, a state or an input."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import typer

import strut
from strut.cli.answer import present
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.model import Times
from strut.cli.progress import tell_progress
from strut.cli.show import components
from strut.cli.sweeps import SweptValues, read_sweep
from strut.cli.tables import table
from strut.errors import StorageError
from strut.files import put
from strut.simulate import Trajectory
from strut.system import System
from strut.view.pages.headline import cost_of_transport, step_length
from strut.view.units import title_with_unit


@dataclass(frozen=True)
class SweptRun:
    """How one run of a sweep ended: numbers and words by the head of their column."""

    run: Trajectory
    cells: dict[str, Any]


def run_sweep(
    system: System,
    text: str,
    times: Times,
    options: dict[str, Any],
    *,
    printed: list[str],
    output: list[Path],
) -> None:
    """Run a system for every value of a sweep; print how each run ended, and write the table and the runs.

    text: NAME=A:B:N. options: of `simulate`. printed: what is told of the end of each run. output: a table,
    .csv, or a folder for it and the runs.
    """
    for path in output:
        if path.suffix not in ("", ".csv"):
            raise StorageError(
                f"'{path.name}' is of one run, and --sweep makes several: write -o FILE.csv for a table of "
                f"them, or -o DIR for the table and every run"
            )
    swept = read_sweep(text, {q.name: q.unit for q in system.quantities()})
    machines = [system.using({swept.name: value}) for value in swept.values]  # refuses what is out of bounds
    runs: list[SweptRun] = []
    for k, (machine, value) in enumerate(zip(machines, swept.values, strict=True)):
        tell_progress(f"run {k + 1} of {len(machines)}, {swept.name} {value:.5g}", k / len(machines))
        run = strut.simulate(machine, t=(times.begin, times.end), **options)
        runs.append(SweptRun(run, end_row(run, swept, value, printed)))
        if run.status == "interrupted":
            break
    _write(runs, swept, output)
    present(lambda: sweep_data(runs, swept), lambda: _print_table(runs))
    if runs[-1].run.status == "interrupted":
        raise typer.Exit(INTERRUPTED_EXIT)
    if not all(each.run.ok for each in runs):
        raise typer.Exit(1)


def end_row(run: Trajectory, swept: SweptValues, value: float, printed: list[str]) -> dict[str, Any]:
    """Return how a run ended: its status and time; of a walk its steps, and speed and cost of transport of
    its last whole step; and what is asked, at its end."""
    unit = run.names.units.get(swept.name, "")
    steps = [event.t for event in run.events if event.name in run.names.step_events]
    cells: dict[str, Any] = {
        title_with_unit(run, swept.name, unit): value,
        "status": run.status,
        title_with_unit(run, "end", "s"): float(run.t1),
    }
    if run.names.step_events:
        length = step_length(run) if len(steps) > 1 else None
        duration = steps[-1] - steps[-2] if len(steps) > 1 else 0.0
        cells["steps"] = len(steps)
        speed = None if length is None or duration <= 0 else length / duration
        cells[title_with_unit(run, "speed", "m/s")] = speed
        cells["cost of transport"] = cost_of_transport(run, length)
    for name in [label for asked in printed for label in components(run, asked)]:
        unit = run.names.units.get(name.split("[")[0], "")
        cells[title_with_unit(run, name, unit)] = float(run[name][-1])
    return cells


def sweep_data(runs: list[SweptRun], swept: SweptValues) -> dict[str, Any]:
    """Return what `strut run --sweep --json` gives as its result."""
    heads = list(runs[0].cells)
    return {
        "name": swept.name,
        "values": [value for value, _ in zip(swept.values, runs, strict=False)],
        "ok": [each.run.ok for each in runs],
        "columns": {head: [each.cells[head] for each in runs] for head in heads},
    }


def _print_table(runs: list[SweptRun]) -> None:
    heads = list(runs[0].cells)
    rows = [["" if (cell := each.cells[head]) is None else cell for head in heads] for each in runs]
    table(f"{runs[0].run.system_name}, {len(runs)} runs", heads, rows)


def _write(runs: list[SweptRun], swept: SweptValues, output: list[Path]) -> None:
    """Write the table, and into folders every run, numbered as its row."""
    heads = list(runs[0].cells)
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(heads)
    rows.writerows([each.cells[head] for head in heads] for each in runs)
    for path in output:
        if path.suffix == ".csv":
            put(path, text.getvalue())
            continue
        path.mkdir(parents=True, exist_ok=True)
        put(path / "sweep.csv", text.getvalue())
        for k, each in enumerate(runs, start=1):
            each.run.save(path / f"run_{k}.h5")


__all__ = ["run_sweep"]
