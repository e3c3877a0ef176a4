"""`python -m bench designs`: every ready-made walker, for every cost, at three speeds, on two slopes.

Each cell is a program of its own with a time limit. What it said is kept, a line of JSON each, so that a run
that was stopped goes on where it was; cells that another version of strut measured are measured again, or,
with --keep, shown and counted as such.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from threading import Event as ThreadFlag
from threading import Lock
from typing import Annotated, Any

import typer

import strut
from bench.design_cell import make_walker
from strut import optimal, walkers
from strut.system import System

SPEEDS = (0.3, 0.5, 0.8)
"""Speeds that are asked [m/s]."""
SLOPES = (0.0, 3.0)
"""Slopes, positive downhill [deg]."""
TIME_LIMIT = 120.0
"""Longest time of one cell, start of Python and compiler included [s]."""
BUSY_FACTOR = 4.0
"""A cell is ended after so many times the limit. It is over the limit where both its time and its processor
time, that of its compilers included, are: on a machine with other work, the latter is what it would take
alone."""
MAX_IMBALANCE = 1e-6
"""Relative energy balance above which a cell that says ok is counted as wrongly so."""
ROWS = Path(__file__).parent / "designs.jsonl"
"""Where rows are kept."""
RUNNING: set[int] = set()
"""Process groups of the cells that are being measured."""


@dataclass(frozen=True)
class Cell:
    """What is asked. speed: [m/s]. slope: [deg]."""

    walker: str
    cost: str
    speed: float
    slope: float

    def labels(self) -> tuple[str, str, str, str]:
        """Return what --only may call it by."""
        return self.walker, self.cost, f"{self.speed:g}m/s", f"{self.slope:g}deg"

    def command(self) -> list[str]:
        """Return the program that measures it."""
        return [sys.executable, "-m", "bench.design_cell", *map(str, asdict(self).values())]


@cache
def ready_made() -> dict[str, System]:
    """Return all ready-made walkers that say what a step is, by name; not those that move from sample to
    sample, of which no plan is made."""
    made = {name: make_walker(name) for name in walkers.CATALOGUE}
    return {name: walker for name, walker in made.items() if walker.walk is not None and not walker.samples}


def all_cells() -> list[Cell]:
    """Return the whole matrix: every walker, and every cost that makes something small."""
    names = list(ready_made())
    costs = [name for name in optimal.COSTS if name != "none"]
    return [Cell(*each) for each in product(names, costs, SPEEDS, SLOPES)]


def select_cells(cells: Sequence[Cell], only: Iterable[str]) -> list[Cell]:
    """Return the cells that --only leaves: of each kind of label (walkers, costs, speeds, slopes) those that
    are named, or all where none is."""
    kinds = [dict.fromkeys(labels) for labels in zip(*(c.labels() for c in cells), strict=True)]
    wanted: list[set[str]] = [set() for _ in kinds]
    for name in only:
        places = [k for k, labels in enumerate(kinds) if name in labels]
        if not places:
            allowed = "; ".join(", ".join(labels) for labels in kinds)
            raise typer.BadParameter(f"--only {name} names nothing: allowed are {allowed}")
        wanted[places[0]].add(name)
    return [
        cell
        for cell in cells
        if all(not names or label in names for names, label in zip(wanted, cell.labels(), strict=True))
    ]


def why_impossible(cell: Cell) -> str:
    """Return why no design can do what a cell asks, or nothing. That a search fails is no reason. Of a
    machine without a motor nothing is free: no torque can be chosen, and nothing makes up for energy that is
    lost, or takes what is left over. What is lost in a step is what gravity gives, so the slope decides the
    speed."""
    walker = ready_made()[cell.walker]
    if cell.cost == "electrical" and walker.u and not walker.ledger.electrical:
        return "its motors are torques: nothing says what electrical power they draw"
    if walker.u:
        return ""
    walk = walker.walk
    if walk is not None and not walk.slope:
        return "it has no motor and conserves energy: how it begins decides its speed, not a design"
    if cell.slope == 0:
        return "it has no motor: each landing takes energy, and on the flat nothing gives it back"
    return "it has no motor: what landings take is what the slope gives, so the slope decides its speed"


def measure(command: Sequence[str], limit: float) -> dict[str, Any]:
    """Return the row that a program prints last, or what became of it. limit: [s], after which it and all
    that it started are ended."""
    began = clock.perf_counter()
    # A session of its own, so that compilers it started end with it.
    program = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    RUNNING.add(program.pid)
    try:
        output_text, error_text = program.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
        reason = f"no answer within {limit:g} s"
    else:
        if program.returncode == 0:
            return {**json.loads(output_text.splitlines()[-1]), "wall": clock.perf_counter() - began}
        last = error_text.strip().splitlines()[-1:] or ["nothing said"]
        reason = f"ended with {program.returncode}: {last[0]}"
    finally:
        RUNNING.discard(program.pid)
    wall = clock.perf_counter() - began
    return {"ok": False, "reason": reason, "seconds": wall, "wall": wall}


def end_programs() -> None:
    """End all cells that are being measured, with what they started: they are in sessions of their own, which
    Ctrl-C does not reach."""
    for group in tuple(RUNNING):
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def version() -> str:
    """Return the commit that is measured, with a mark where files differ from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(strut.__file__).parent,
    )
    return described.stdout.strip() or strut.__version__


def read_rows(path: Path, of: str | None) -> dict[Cell, dict[str, Any]]:
    """Return the rows of a file that a version measured, by cell, or where it is None the last of any; a line
    that was cut off is none."""
    rows: dict[Cell, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if of is None or row["version"] == of:
            rows[Cell(**row["cell"])] = row
    return rows


def summary(rows: Mapping[Cell, Mapping[str, Any]], of: str = "") -> str:
    """Return the counts: cells that are possible, ok, ok and unstable, decided by a named default, failed,
    over time; those that say ok and should not; and those that another version than `of` measured."""
    possible = {cell: row for cell, row in rows.items() if not row.get("impossible")}
    if not possible:
        return f"{len(rows)} cells, none physically possible"
    good = [row for row in possible.values() if row["ok"]]
    slowest = max(possible, key=lambda cell: taken_time(possible[cell]))
    counts = {
        "cells": len(rows),
        "physically possible": len(possible),
        "of these ok": len(good),
        "  and unstable in open loop": sum("unstable" in _data(row).get("verdict", "") for row in good),
        "  and decided by a default, named": sum(bool(row.get("defaults")) for row in good),
        "failed, each with its sentence": sum(
            not row["ok"] and bool(row["reason"]) for row in possible.values()
        ),
        "failed without a sentence": sum(not row["ok"] and not row["reason"] for row in possible.values()),
        f"over {TIME_LIMIT:g} s": sum(taken_time(row) > TIME_LIMIT for row in possible.values()),
        "ok without a gait": sum(not row.get("has_gait", False) for row in good),
        f"ok with a balance over {MAX_IMBALANCE:g}": sum(_imbalance(row) > MAX_IMBALANCE for row in good),
        "ok with an unlisted active limit": sum(bool(row.get("unlisted")) for row in good),
        "measured by another version": sum(row.get("version", of) != of for row in possible.values()),
    }
    lines = [f"{name:36s}{count:5d}" for name, count in counts.items()]
    share = 100 * len(good) / len(possible)
    return "\n".join(
        [
            *by_walker(possible),
            "",
            *lines,
            f"{share:.1f} % of the possible cells are ok; slowest {' '.join(slowest.labels())}, "
            f"{taken_time(possible[slowest]):.1f} s",
        ]
    )


def by_walker(rows: Mapping[Cell, Mapping[str, Any]]) -> list[str]:
    """Return a line for each walker: how many of its cells are ok, how many are over time, the slowest."""
    lines = [f"{'walker':16s} {'ok':>4s} {'of':>4s} {'over':>5s} {'slowest':>10s}"]
    for name in dict.fromkeys(cell.walker for cell in rows):
        own = [row for cell, row in rows.items() if cell.walker == name]
        times = [taken_time(row) for row in own]
        late = sum(seconds > TIME_LIMIT for seconds in times)
        lines.append(
            f"{name:16s} {sum(row['ok'] for row in own):4d} {len(own):4d} {late:5d} {max(times):8.1f} s"
        )
    return lines


def taken_time(row: Mapping[str, Any]) -> float:
    """Return the time of a cell [s]: the shorter of its own and its processor time, which it would take on a
    machine without other work."""
    return float(min(row["wall"], row.get("processor", row["wall"])))


def _data(row: Mapping[str, Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = row.get("data", {})
    return data


def _imbalance(row: Mapping[str, Any]) -> float:
    return float(_data(row).get("balance", {}).get("relative", 0.0))


def line_of(cell: Cell, row: Mapping[str, Any], of: str = "") -> str:
    """Return a cell as a line: labels, ok, cost, seconds, reason; marked where another version than `of`
    measured it."""
    walker, cost, speed, slope = cell.labels()
    begin = f"{walker:16s} {cost:24s} {speed:>6s} {slope:>5s}  "
    if row.get("impossible"):
        return begin + f"-   {'-':>11s} {'-':>7s}    {row['impossible']}"
    value = row.get("cost_value")
    shown = "-" if value is None else f"{value:.5g}"
    said = "; ".join([row["reason"]] if row["reason"] else row.get("defaults", []))
    said = f"[{row['version']}] {said}" if of and row["version"] != of else said
    return begin + f"{'ok' if row['ok'] else 'no'}  {shown:>11s} {taken_time(row):7.1f} s  {said}"


def measure_cells(
    cells: Sequence[Cell],
    path: Path,
    limit: float,
    tell: Callable[[str], None],
    *,
    keep: bool = False,
    jobs: int = 1,
) -> dict[Cell, dict[str, Any]]:
    """Return a row for every cell: those that the file has, and the others measured and written to it as they
    end. tell: takes a line for each. keep: rows of other versions, too. jobs: cells that are measured at one
    time, each a program of its own; where they are more than the cores, times count what they share."""
    of = version()
    rows_of_file = read_rows(path, None if keep else of)
    rows: dict[Cell, dict[str, Any]] = {}
    telling, stopped = Lock(), ThreadFlag()

    def measure_one(cell: Cell) -> None:
        if stopped.is_set():
            return
        row = rows_of_file.get(cell)
        if row is None:
            impossible = why_impossible(cell)
            try:
                row = (
                    {"impossible": impossible} if impossible else measure(cell.command(), BUSY_FACTOR * limit)
                )
            except BaseException:
                stopped.set()
                raise
            row = {"cell": asdict(cell), "version": of, **row}
            with telling, path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        with telling:
            rows[cell] = row
            tell(f"{len(rows):4d}/{len(cells)}  {line_of(cell, row, of)}")

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done in as_completed([pool.submit(measure_one, cell) for cell in cells]):
                done.result()
        except BaseException:
            stopped.set()
            end_programs()
            raise
    return rows


def main(
    *,
    only: Annotated[
        list[str],
        typer.Option(
            "--only", help="A walker, a cost, a speed (0.5m/s) or a slope (3deg); may be given several times."
        ),
    ] = [],
    limit: Annotated[float, typer.Option(help="Longest time of one cell [s].")] = TIME_LIMIT,
    output: Annotated[Path, typer.Option("-o", "--output", help="Rows, a line of JSON each.")] = ROWS,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep rows that other versions of strut measured; they are marked.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Cells measured at one time.")] = 1,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="In random order, so that a part of the matrix is a fair sample."),
    ] = False,
) -> None:
    """Design every ready-made walker for every cost at 0.3, 0.5 and 0.8 m/s on slopes of 0 and 3 degrees."""
    cells = select_cells(all_cells(), only)
    if shuffle:
        Random(0).shuffle(cells)
    rows = measure_cells(cells, output, limit, lambda line: print(line, flush=True), keep=keep, jobs=jobs)
    print(summary(rows, version()))
    print(f"every row: {output}")
