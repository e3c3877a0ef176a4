"""`strut gait`: the gaits of a walker, their stability and energy; over a parameter; and their basins."""

from __future__ import annotations

import contextlib
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from strut import gait as gaits
from strut.cli.answer import note, present
from strut.cli.console import out
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.gait_findings import Findings, write_files
from strut.cli.model import Reading, find_model, python_of, with_drive, with_settings
from strut.cli.options import Budget, Device, Drive, Model, Root, Section, Seed, Settings, Sweep
from strut.cli.progress import part_teller, tell_progress
from strut.cli.save import check_directory
from strut.cli.sweeps import read_sweep
from strut.cli.tables import table
from strut.errors import ModelError, NoGaitError, ValueRangeError, did_you_mean
from strut.gait import BifurcationMap, GaitAtValue
from strut.gait.branch import Branch
from strut.gait.gait import Gait
from strut.report.gait import RESIDUAL_FLOOR, swept_rows
from strut.simulate import DEVICES
from strut.system import System
from strut.view.figures.swept_axis import SweptAxis, swept_axis
from strut.view.units import shown_unit, title_with_unit

BASIN_CELLS = 100
"""Cells of a basin along each of its two states, unless asked otherwise."""
SEARCH_BUDGET = 60.0
"""How long a search for gaits may work unless asked otherwise [s]: ready-made walkers need two."""


def gait(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    settings: Settings = [],
    everything: Annotated[
        bool, typer.Option("--all", help="All gaits that can be found, stable or not.")
    ] = False,
    sweep: Sweep = "",
    basin: Annotated[
        bool, typer.Option("--basin", help="Which states around the gait lead back to it.")
    ] = False,
    cells: Annotated[
        int,
        typer.Option(metavar="N", min=2, help="With --basin: its cells along each of its two states."),
    ] = BASIN_CELLS,
    device: Device = "cpu",
    starts: Annotated[
        int, typer.Option(metavar="N", min=0, help="Random states that the search begins from.")
    ] = 400,
    seed: Seed = 0,
    budget: Budget = SEARCH_BUDGET,
    section: Section = "",
    drive: Drive = "rigid",
    root: Root = [],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write a page of each gait with its sweep and basin, the data, and the figures as SVG and "
            "PNG.",
        ),
    ] = None,
) -> None:
    """Find the gaits of a walker: limit cycles, their stability (multipliers), period, speed and energy.

    With --sweep the gait is followed from the first value on, past folds and from doublings on; table and
    files have the gaits at the N values, two where it turns back, and say where there is none. With -o it
    also walks at 120 values from A to B, at each from where the walk before ended (brute-force bifurcation
    diagram). Ctrl-C ends the search and shows the gaits found by then.

    [bold]Examples[/bold]

      strut gait compass --set slope=3deg

      strut gait compass --all --json

      strut gait simplest --sweep slope=0.005:0.018:100 -o simplest/

      strut gait round-foot --basin
    """
    if output is not None:
        check_directory(output)
    if device not in DEVICES:
        raise ModelError(f"device '{device}' is unknown: {did_you_mean(device, DEVICES)}")
    for flag, value, default in (("--device", device, "cpu"), ("--cells", cells, BASIN_CELLS)):
        if value != default and not basin:
            raise ModelError(f"{flag} {value} is for the runs of a basin: give --basin too, or leave it out")
    system = with_settings(with_drive(find_model(model, Reading(roots=tuple(root))), drive), settings)
    axis, values = _swept_values(system, sweep) if sweep else (SweptAxis("", ""), (math.nan, math.nan))
    name, low, high = axis.name, values[0], values[-1]
    if sweep:
        system = system.using({name: low})
    tell_progress("looking for a gait" if not everything else "looking for all gaits")
    try:
        gaits_found = search_gaits(
            system, section, everything=everything, starts=starts, seed=seed, budget=budget
        )
    except NoGaitError as error:
        if not sweep:
            raise
        more = (
            f"{error}. A sweep begins at its first value, {name} = {axis.text(low)}: let it begin where "
            f"there is a gait"
        )
        raise NoGaitError(more, error.closest, error.fell, error.nearest) from error
    branches = []
    for k, g in enumerate(gaits_found if sweep else []):
        tell = part_teller(f"following gait {k + 1} of {len(gaits_found)} over {name}", k, len(gaits_found))
        branches.append(gaits.follow(system, name, high, start=g, points=len(values), progress=tell))
    doubled = [doubled_branches(b) for b in branches]
    swept = [gaits.gaits_at(b, values) for b in branches]
    basins = []
    for k, g in enumerate(gaits_found if basin else []):
        word = f"basin of gait {k + 1} of {len(gaits_found)}, {cells} x {cells} runs"
        tell = part_teller(word, k, len(gaits_found))
        basins.append(gaits.basin(g, cells=cells, device=device, progress=tell))
    maps = [walked_steps(g, name, high) for g in gaits_found] if sweep and output is not None else []
    findings = Findings(
        gaits=gaits_found,
        branches=branches,
        doubled=doubled,
        swept=swept,
        basins=basins,
        maps=maps,
        axis=axis,
    )
    options = {  # by name, what was asked and the default
        "all": (everything, False),
        "sweep": (sweep, ""),
        "basin": (basin, False),
        "device": (device, "cpu"),
        "cells": (cells, BASIN_CELLS),
        "starts": (starts, 400),
        "seed": (seed, 0),
        "budget": (budget, SEARCH_BUDGET),
        "section": (section, ""),
        "drive": (drive, "rigid"),
    }
    if output is not None:
        tell_progress(f"writing {output}")
        write_files(output, findings, command_line(model, settings, options), python_of(model, drive))
    present(findings.data, lambda: findings_text(findings))


def search_gaits(
    system: System, section: str, *, everything: bool, starts: int, seed: int, budget: float
) -> list[Gait]:
    """Return all gaits, or the one that `gait.find` returns. Where Ctrl-C ends the search, what it had is
    shown, and the command ends."""
    options: dict[str, Any] = {"starts": starts, "seed": seed, "budget": budget, "progress": tell_progress}
    try:
        if everything:
            return gaits.find_all(system, section or None, **options)
        return [gaits.find(system, section=section or None, **options)]
    except gaits.GaitSearchInterrupted as interrupt:
        findings = Findings(list(interrupt.gaits), [], [], [], [], [], SweptAxis("", ""))
        data = findings.data() | {"nearest": dict(interrupt.nearest), "closest": interrupt.closest}
        present(data, lambda: findings_text(findings))
        note(f"interrupted: {interrupt}")
        raise typer.Exit(INTERRUPTED_EXIT) from interrupt


def findings_text(findings: Findings) -> None:
    """Print all that was found as tables."""
    for g in findings.gaits:
        gait_text(g)
    for b, others, swept in zip(findings.branches, findings.doubled, findings.swept, strict=True):
        branch_text(b, others, swept, findings.axis)
    for cell_map in findings.basins:
        table(
            f"basin over {cell_map.names[0]}, {cell_map.names[1]}",
            ["outcome", "cells"],
            [[n, c] for n, c in cell_map.outcomes.items()],
        )


def gait_text(g: Gait) -> None:
    """Print one gait as tables."""
    article, residual = "an" if g.kind == "unstable" else "a", max(g.residual, RESIDUAL_FLOOR)
    out.print(f"[bold]{g.system.name}[/bold]: {article} {g.kind} gait, found to {residual:.1e}\n")
    if g.neutral:
        out.print("one of a family: a multiplier is 1, along something that is conserved\n")
    for sentence in g.turned_angles:
        out.print(f"[yellow]{escape(sentence)}[/yellow]\n", soft_wrap=True)
    rows: list[list[Any]] = [
        ["period", g.period, shown_unit(g.system, "s")],
        ["step length", g.step_length, shown_unit(g.system, "m")],
        ["speed", g.speed, shown_unit(g.system, "m/s")],
        ["energy per step", g.energetics.round_energy(g.energy_per_step), shown_unit(g.system, "J")],
        ["cost of transport", g.energetics.round_cost(g.cost_of_transport), ""],
    ]
    if math.isnan(g.energy_per_step):  # a system without a ledger
        rows = rows[:3]
    table("", ["", "value", "unit"], rows)
    if len(rows) == 3:
        out.print(f"energies are not known: the system '{g.system.name}' has no ledger\n")
    table(f"just after {g.section}", ["state", "value"], [[n, v] for n, v in g.x0.items()])
    table(
        "multipliers",
        ["real", "imaginary", "modulus"],
        [[float(m.real), float(m.imag), float(abs(m))] for m in g.multipliers],
    )


def branch_text(
    branch: Branch, doubled: Sequence[Branch], swept: Sequence[GaitAtValue], axis: SweptAxis
) -> None:
    """Print a branch as tables. doubled: the branches of more steps that begin on it. swept: its gaits at the
    values that were asked. axis: how the parameter is shown."""
    rows = swept_rows(swept, axis)
    row_count = f"{len(rows)} of {len(swept)} rows" if len(rows) < len(swept) else f"{len(rows)} rows"
    table(
        f"gaits over {branch.name}, {row_count}",
        [axis.title, title_with_unit(branch.system, "period", "s"), "largest multiplier", "stable"],
        rows,
    )
    for why in dict.fromkeys(each.why for each in swept if each.why):
        values = [each.value for each in swept if each.why == why]
        note(f"no gait at {axis.label(values[0])}{_and_more(len(values) - 1)}: {axis.sentence(why)}")
    bifurcations = [
        [b.kind, each.steps, float(axis.in_unit(b.at))]
        for each in (branch, *doubled)
        for b in each.bifurcations
    ]
    if bifurcations:
        table("bifurcations", ["kind", "of gaits of steps", axis.title], bifurcations)
    note(f"the branch ended: {axis.sentence(branch.ended)}")
    for each in doubled:
        note(
            f"its gaits of {each.steps} steps, followed from the doubling, ended: {axis.sentence(each.ended)}"
        )


def _and_more(count: int) -> str:
    return "" if count == 0 else " and one value more" if count == 1 else f" and {count} values more"


def _swept_values(system: System, text: str) -> tuple[SweptAxis, tuple[float, ...]]:
    """Read NAME=A:B:N or NAME=A,B,C; returns how NAME is shown, and its values. Raises what `System.using`
    raises for one of them."""
    units = {q.name: q.unit for q in system.p}
    swept = read_sweep(text, units)
    steps = np.sign(np.diff(swept.values))
    if not (np.all(steps == 1) or np.all(steps == -1)):
        raise ValueRangeError(
            f"'{text}': a gait is followed from the first value to the last: write them in order, smallest "
            f"or largest first"
        )
    for value in (swept.values[0], swept.values[-1]):
        system.using({swept.name: value})  # refuses what is out of its bounds
    return swept_axis(swept.name, units[swept.name], swept.unit, of=system), swept.values


def walked_steps(g: Gait, name: str, to: float) -> BifurcationMap | None:
    """Return how a walker walks over a parameter from a gait on; None, and a note says why, where it is not
    stable, its steps do not all end in one event, or it falls at once."""
    missing = f"no steps are walked over {name} from the gait with a period of {g.period:.4g}"
    if not g.stable:
        note(f"{missing}: it is not stable")
        return None

    def tell(part: float) -> None:
        tell_progress(f"walking over {name}", part)

    try:
        steps = gaits.bifurcation_map(g, name, to, progress=tell)
    except ModelError as error:
        note(f"{missing}: {error}")
        return None
    if not len(steps.at):
        note(f"{missing}: {steps.ended}")
        return None
    return steps


def doubled_branches(branch: Branch) -> list[Branch]:
    """Follow the gaits of twice as many steps, from where a branch doubles to where it ends."""
    end = float(branch.parameter[-1])
    branches = []
    doublings = [b for b in branch.bifurcations if b.kind == "doubling" and abs(end - b.at) > 1e-9]
    for k, b in enumerate(doublings):
        tell_progress(f"following doubled gaits, {k + 1} of {len(doublings)}", k / len(doublings))
        with contextlib.suppress(NoGaitError):  # it begins too steeply to be drawn
            branches.append(b.doubled(to=end, points=40))
    return branches


def command_line(model: str, settings: list[str], options: dict[str, Any]) -> str:
    """Return the command as it was typed, without defaults and without where it wrote. options: by name, what
    was asked and the default."""
    words = ["strut", "gait", model, *(word for setting in settings for word in ("--set", setting))]
    for name, (value, default) in options.items():
        if value != default:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(words)
