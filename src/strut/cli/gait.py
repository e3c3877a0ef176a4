"""`strut gait`: the gaits of a walker, their stability and energy; over a parameter; and their basins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strut import gait as gaits
from strut.cli.gait_pages import write
from strut.cli.model import find_model, with_settings
from strut.cli.show import as_json, notes, out, table
from strut.errors import ValueRangeError
from strut.gait.follow import Branch
from strut.gait.gait import Gait
from strut.system.system import System
from strut.units import number


def gait(
    model: Annotated[str, typer.Argument(help="A name from [bold]strut list[/bold], or FILE.py:NAME for a System of your own.")],
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="Another value for a parameter or for the state to begin at: slope=3deg."),
    ] = [],
    everything: Annotated[bool, typer.Option("--all", help="All gaits that can be found, stable or not.")] = False,
    sweep: Annotated[str, typer.Option("--sweep", metavar="NAME=A:B", help="Follow the gait from A to B of a parameter.")] = "",
    points: Annotated[int, typer.Option(help="Of a sweep, at least.")] = 100,
    basin: Annotated[bool, typer.Option("--basin", help="Which states around the gait lead back to it.")] = False,
    cells: Annotated[int, typer.Option(help="Of the basin, along each side.")] = 100,
    starts: Annotated[int, typer.Option(help="Random states to search from.")] = 400,
    seed: Annotated[int, typer.Option(help="Of the random states.")] = 0,
    section: Annotated[str, typer.Option(help="The event that ends a step, where strut does not know it.")] = "",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write a page of each gait; the sweep and the basin as tables and pictures."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")] = False,
) -> None:
    """Find the gaits of a walker: limit cycles, multipliers, energy.

    [bold]Examples[/bold]

      strut gait compass --set slope=3deg

      strut gait compass --all --json

      strut gait simplest --sweep slope=0.005:0.018 -o simplest/

      strut gait round-foot --basin
    """
    system = with_settings(find_model(model), settings)
    name, low, high = _range(system, sweep) if sweep else ("", math.nan, math.nan)
    if sweep:
        system = system.using({name: low})
    where = section or None
    found = gaits.find_all(system, where, starts=starts, seed=seed) if everything else [gaits.find(system, section=where, seed=seed)]
    branches = [gaits.follow(system, name, high, start=g, points=points) for g in found] if sweep else []
    basins = [gaits.basin(g, cells=cells) for g in found] if basin else []
    asked = " ".join(["strut gait", model, *(f"--set {s}" for s in settings), *(["--all"] if everything else [])])
    asked += (f" --sweep {sweep}" if sweep else "") + (" --basin" if basin else "")
    files, missing = write(output, found, branches, basins, asked) if output is not None else ([], [])
    for note in missing:
        notes.print(note, markup=False)
    if json:
        document: Any = [g.data() for g in found]
        if branches or basins:
            document = {"gaits": document}
        if branches:
            document["branches"] = [branch_data(b) for b in branches]
        if basins:
            document["basins"] = [
                {"names": list(b.names), "first": b.first, "second": b.second, "outcomes": b.outcomes, "label": b.label.tolist()}
                for b in basins
            ]
        as_json(document)
        return
    for g in found:
        gait_text(g)
    for b in branches:
        branch_text(b)
    for cell_map in basins:
        out.print(f"basin over {cell_map.names[0]} and {cell_map.names[1]}, how walks from each cell end", markup=False)
        table("", ["outcome", "cells"], [[n, c] for n, c in cell_map.outcomes.items()])
    for path in files:
        out.print(f"wrote {path}", soft_wrap=True, markup=False)


def gait_text(g: Gait) -> None:
    """One gait as tables."""
    article = "an" if g.kind == "unstable" else "a"
    out.print(f"[bold]{g.system.name}[/bold]: {article} {g.kind} gait, found to {g.residual:.1e}\n")
    if g.neutral:
        out.print("one of a family: a multiplier is 1, along something that is conserved\n")
    rows: list[list[Any]] = [
        ["period", g.period, "s"],
        ["step length", g.step_length, "m"],
        ["speed", g.speed, "m/s"],
        ["energy per step", g.energy_per_step, "J"],
        ["cost of transport", g.cost_of_transport, ""],
    ]
    table("", ["", "value", "unit"], rows)
    table(f"just after {g.section}", ["state", "value"], [[n, v] for n, v in g.x0.items()])
    table("multipliers", ["real", "imaginary", "modulus"], [[float(m.real), float(m.imag), float(abs(m))] for m in g.multipliers])


def branch_text(branch: Branch) -> None:
    v = branch.parameter
    shown = np.unique(np.linspace(0, len(v) - 1, 12).astype(int))
    rows = [
        [float(v[k]), float(branch.period[k]), float(abs(branch.multipliers[k, 0])), "yes" if branch.stable[k] else "no"] for k in shown
    ]
    unit = next(q.unit for q in branch.system.p if q.name == branch.name)
    name = f"{branch.name} [{unit}]" if unit else branch.name
    table(f"{len(v)} gaits over {branch.name}", [name, "period [s]", "largest multiplier", "stable"], rows)
    if branch.bifurcations:
        table("bifurcations", ["kind", name], [[b.kind, float(b.at)] for b in branch.bifurcations])
    notes.print(f"the branch ended: {branch.ended}", markup=False)


def branch_data(branch: Branch) -> dict[str, Any]:
    return {
        "parameter": branch.name,
        "values": branch.parameter,
        "period": branch.period,
        "states": {n: branch.values(n) for n in branch.names},
        "multipliers": [[[float(m.real), float(m.imag)] for m in row] for row in branch.multipliers],
        "stable": branch.stable,
        "bifurcations": [{"kind": b.kind, "at": b.at} for b in branch.bifurcations],
        "ended": branch.ended,
    }


def _range(system: System, text: str) -> tuple[str, float, float]:
    """NAME=A:B, with units."""
    name, equals, ends = text.partition("=")
    low, colon, high = ends.partition(":")
    if not equals or not colon:
        raise ValueRangeError(f"'{text}' is no sweep: write NAME=A:B, for example slope=2deg:5deg")
    unit = next((q.unit for q in system.p if q.name == name), "")
    return name, number(low, unit), number(high, unit)
