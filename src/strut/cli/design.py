"""`strut design`: a walker and its gait found at once, verified in the simulator."""

from __future__ import annotations

import json as documents
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.progress import Progress

from strut import actuator, optimal
from strut.cli.console import as_json, notes, out, table
from strut.cli.model import Reading, find_model, python_of, with_drive, with_settings
from strut.cli.options import Root
from strut.cli.save import check_directory
from strut.errors import ValueRangeError
from strut.files import put
from strut.optimal import COSTS, Design
from strut.optimal.walk.trade_off import ASKED
from strut.report import design_result, sweep_result
from strut.system import System
from strut.units import number
from strut.view.pages.folder import ensure_directory

NARROW = ("defect", "step time")
"""What the table of a sweep leaves out, to fit a terminal; its files have it."""


def design(
    model: Annotated[
        str,
        typer.Argument(help="A name from [bold]strut list[/bold], or FILE.py:NAME for a System of your own."),
    ],
    free: Annotated[
        str,
        typer.Option(
            "--free", metavar="A,B", help="Parameters to be found with the gait; NAME=LOW:HIGH sets bounds."
        ),
    ] = "",
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="NAME",
            help=f"What should be small: {', '.join(COSTS)}; of several, A=WEIGHT,B=WEIGHT.",
        ),
    ] = "squared-torque",
    speed: Annotated[
        str,
        typer.Option(
            "--speed", metavar="V", help="How fast it walks, in m/s, or LOW:HIGH; else as its passive gait."
        ),
    ] = "",
    slope: Annotated[
        str, typer.Option("--slope", metavar="ANGLE", help="Of the ground, positive downhill: 3deg.")
    ] = "",
    step_length: Annotated[
        str, typer.Option("--step", metavar="LENGTH", help="Length of a step in m, or LOW:HIGH.")
    ] = "",
    duration: Annotated[
        str, typer.Option("--time", metavar="TIME", help="Duration of a step in s, or LOW:HIGH.")
    ] = "",
    torque: Annotated[str, typer.Option("--torque", metavar="MOST", help="Largest torque in N m.")] = "",
    friction: Annotated[
        str, typer.Option("--friction", metavar="MU", help="Friction that the feet must not exceed.")
    ] = "",
    clearance: Annotated[
        str,
        typer.Option(
            "--clearance",
            metavar="HEIGHT",
            help="Of the swing foot where it passes the other, in m; stiff legs have none.",
        ),
    ] = "",
    stability: Annotated[
        str, typer.Option("--stability", metavar="R", help="No multiplier is larger; below 1 it is stable.")
    ] = "",
    drive: Annotated[
        str,
        typer.Option(
            "--drive",
            metavar="KIND",
            help="How motors act: rigid; series, through springs; or parallel, with springs beside them. "
            "Springs are found with the gait, "
            "unless --set says what they are.",
        ),
    ] = "rigid",
    root: Root = [],
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="Another value for a parameter that stays."),
    ] = [],
    control: Annotated[
        str,
        typer.Option(
            help="Inputs in an interval: constant, linear, quadratic, cubic; the last unless "
            "hermite-simpson, which sees less."
        ),
    ] = "",
    method: Annotated[str, typer.Option(help="radau, gauss, hermite-simpson or shooting.")] = "radau",
    section: Annotated[
        str, typer.Option(help="The event that ends a step, where strut does not know it.")
    ] = "",
    intervals: Annotated[
        int, typer.Option(help="To begin with; more are made where accuracy needs them.")
    ] = 10,
    starts: Annotated[int, typer.Option(help="Different starts of the search; the best is kept.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the starts.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write design.json, the plan as plan.csv, and the walk: page, data, plots.",
        ),
    ] = None,
    sweep: Annotated[
        str,
        typer.Option(
            "--sweep",
            metavar="NAME=FROM:TO:N",
            help="A design for each of N values: of speed, slope, a parameter, the weight of a cost.",
        ),
    ] = "",
    workers: Annotated[int, typer.Option(help="Processes of a sweep; 0: as many as there are cores.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a table.")] = False,
) -> None:
    """Find how a walker should walk and be built, at once: gait, torques and parameters. The simulator
    replays what was found.

    [bold]Examples[/bold]

      strut design compass --free hip_spring --cost squared-torque --speed 0.8 --slope 3deg

      strut design compass --free leg_mass=1:10,hip_mass=1:20 --cost energy --speed 0.7 --torque 30 -o a/

      strut design compass --slope 0deg --cost positive-work --speed 0.5 --json

      strut design compass --drive series --cost squared-torque --speed 0.5 --step 0.35 --slope 0 --torque 100

      strut design compass --drive parallel --cost squared-torque --speed 0.8 --slope 3deg

      strut design compass --slope 0deg --free hip_spring=0:100 --sweep speed=0.3:0.6:7 -o b/

      strut design compass --slope 0 --speed 0.5 --cost squared-torque=1,energy=1 --sweep weight_energy=0:5:6
    """
    options: dict[str, Any] = {
        "free": free,
        "cost": cost,
        "speed": speed,
        "slope": slope,
        "step": step_length,
        "time": duration,
        "torque": torque,
    }
    options |= {
        "friction": friction,
        "control": control,
        "method": method,
        "intervals": intervals,
        "starts": starts,
        "seed": seed,
    }
    options |= {
        "clearance": clearance,
        "stability": stability,
        "sweep": sweep,
        "drive": drive,
        "section": section,
    }
    asked = _asked(model, settings, options)
    if output is not None:
        check_directory(output)
        ensure_directory(output)
    rigid = find_model(model, Reading(roots=tuple(root)))
    system = with_settings(with_drive(rigid, drive), settings)
    said = {setting.partition("=")[0].strip() for setting in settings}
    springs = {name: bounds for name, bounds in actuator.constants(rigid, drive).items() if name not in said}
    given: dict[str, Any] = {
        "free": springs
        | _free(free, {q.name: q.unit for q in system.p}, {q.name: q.bounds for q in system.p}),
        "cost": _cost(cost),
        "speed": _range(speed, "m/s"),
        "slope": number(slope, "rad") if slope else None,
        "step_length": _range(step_length, "m"),
        "duration": _range(duration, "s"),
        "torque": number(torque, "N m") if torque else None,
        "friction": number(friction) if friction else None,
        "clearance": number(clearance, "m") if clearance else None,
        "stability": number(stability) if stability else None,
        "section": section or None,
        "control": control or ("quadratic" if method == "hermite-simpson" else "cubic"),
        "method": method,
        "intervals": intervals,
        "starts": starts,
        "seed": seed,
    }
    source = _source(model, settings, system, drive)
    if sweep:
        swept(
            system,
            sweep,
            {n: v for n, v in given.items() if v is not None},
            workers,
            output,
            asked,
            json,
            source,
        )
        return
    found = optimal.design(system, **given)
    if json:
        as_json(found.data())
    else:
        design_text(found)
    if output is not None:
        written(found, output, asked, _python("design", source, given))
    if not found.ok:
        raise typer.Exit(1)


def design_text(found: Design) -> None:
    """As a table, and where it failed, why."""
    out.print(f"[bold]{escape(found.system.name)}[/bold]: {escape(found.cost.meaning)}\n", soft_wrap=True)
    r = found.result
    table(
        "",
        ["", "value" if r.success else "where the search stopped", "unit"],
        [list(row) for row in found.rows()],
    )
    for why in found.wrong:
        notes.print(f"[{'yellow' if r.success else 'red'}]{escape(why)}[/]", soft_wrap=True)
    for name, amount in r.worst.items() if not r.success else ():
        notes.print(f"  violated by {amount:.3g}: {escape(name)}", soft_wrap=True)
    if found.advice:
        notes.print(escape(found.advice), soft_wrap=True)


def written(found: Design, directory: Path, asked: str, again: str) -> None:
    """The report: a page, the data, every figure; and the numbers as design.json and plan.csv."""
    done = replace(design_result(found, asked), again=again).folder(directory)
    put(directory / "design.json", documents.dumps(_plain(found.data()), indent=1) + "\n")
    t = np.linspace(0, found.result.duration, 201)
    columns = found.result.at(t)
    rows = [",".join(f"{v:.17g}" for v in row) for row in np.column_stack([t, *columns.values()])]
    put(directory / "plan.csv", "\n".join([",".join(["t", *columns]), *rows]) + "\n")
    for why in done.missing:
        notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
    page = directory / "index.html"
    look = f"; open {page}" if page.name in done.files else ""
    notes.print(escape(f"wrote {len(done.files) + 2} files to {directory}/{look}"), soft_wrap=True)


def swept(
    system: System,
    text: str,
    given: dict[str, Any],
    workers: int,
    output: Path | None,
    asked: str,
    json: bool,
    source: str,
) -> None:
    """A design for every value; with a directory, every one is kept as soon as it is found, and a sweep that
    was stopped goes on."""
    name, values = _values(text, {**ASKED, **{q.name: q.unit for q in system.p}})
    bar = Progress(console=notes, transient=True)
    task = bar.add_task(f"designs over {name}", total=len(values))
    if workers < 0:
        raise ValueRangeError(
            f"--workers is {workers}: give a number of processes, or 0 for as many as there are cores"
        )
    file = output / "sweep.sqlite" if output is not None else None
    try:
        with bar:
            found = optimal.trade_off(
                system,
                name,
                values,
                **given,
                file=file,
                workers=workers or None,
                progress=lambda done, _: bar.update(task, completed=done),
            )
    except KeyboardInterrupt:
        kept = (
            f"{int(bar.tasks[0].completed)} of {len(values)} designs are kept in {file}; the same command "
            f"goes on"
        )
        notes.print(
            escape(
                f"stopped: {kept if file is not None else 'nothing is kept; with -o DIR every design is'}"
            ),
            soft_wrap=True,
        )
        raise typer.Exit(130) from None
    if json:
        as_json(found.data())
    else:
        head, rows = found.rows()
        shown = [k for k, title in enumerate(head) if title.split(" [")[0] not in NARROW]
        table(
            "",
            [head[k] for k in shown],
            [[f"{c:.4g}" if isinstance(c := row[k], float) else c for k in shown] for row in rows],
        )
        for point in found.points:
            if not point.ok:
                notes.print(f"[yellow]{escape(f'{name} {point.value:g}: {point.status}')}[/]", soft_wrap=True)
    if output is not None:
        python = _python("trade_off", source, {"name": name, "values": values, **given})
        done = replace(sweep_result(found, asked), again=python).folder(output)
        head, rows = found.rows(rounded=False)
        lines = [",".join(f"{c:.17g}" if isinstance(c, float) else f'"{c}"' for c in row) for row in rows]
        put(output / "sweep.csv", "\n".join([",".join(f'"{h}"' for h in head), *lines]) + "\n")
        for why in done.missing:
            notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
        notes.print(
            escape(f"wrote {len(done.files) + 2} files to {output}/; open {output / 'index.html'}"),
            soft_wrap=True,
        )
    if not found.ok:
        raise typer.Exit(1)


def _values(text: str, units: dict[str, str]) -> tuple[str, list[float]]:
    """NAME=FROM:TO:N, or NAME=A,B,C."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    unit, parts = units.get(name, ""), rest.split(":")
    if equals and len(parts) == 3 and parts[2].strip().isdigit() and int(parts[2]) > 1:
        return name, np.linspace(number(parts[0], unit), number(parts[1], unit), int(parts[2])).tolist()
    if equals and len(parts) == 1 and "," in rest:
        return name, [number(part, unit) for part in rest.split(",")]
    raise ValueRangeError(
        f"'{text}' is no sweep: write NAME=FROM:TO:N, for example speed=0.6:1.2:7, or NAME=A,B,C"
    )


def _cost(text: str) -> str | dict[str, float]:
    if "=" not in text and "," not in text:
        return text
    found = {}
    for part in text.split(","):
        name, _, weight = part.partition("=")
        found[name.strip()] = number(weight) if weight else 1.0
    return found


def _source(model: str, settings: list[str], system: System, drive: str) -> str:
    """Python that makes the walker, with the parameters that were set."""
    names = [setting.partition("=")[0].strip() for setting in settings]
    values = {q.name: np.asarray(q.value).tolist() for q in system.p if q.name in names}
    made_by = python_of(model) or "walker"
    made_by = made_by if drive == "rigid" else f"actuator.driven({made_by}, {drive!r})"
    return f"{made_by}.using({values!r})" if values else made_by


def _python(verb: str, source: str, given: dict[str, Any]) -> str:
    """Python that does what the command did."""
    usual = {**USUAL, "control": "cubic", "cost": "squared-torque", "free": {}}
    said = [
        f"    {name}={value!r},"
        for name, value in given.items()
        if value is not None and value != usual.get(name)
    ]
    head = "from strut import " + ", ".join(
        n for n in ("actuator", "optimal", "walkers") if n == "optimal" or f"{n}." in source
    )
    return "\n".join([head, "", f"made = optimal.{verb}(", f"    {source},", *said, ")"])


USUAL = {"control": "", "method": "radau", "intervals": 10, "starts": 1, "seed": 0, "drive": "rigid"}


def _asked(model: str, settings: list[str], options: dict[str, Any]) -> str:
    """The command, as it would be typed again."""
    given = {name: str(value) for name, value in options.items() if value not in ("", USUAL.get(name))}
    words = [word for setting in settings for word in ("--set", setting)] + [
        word for n, v in given.items() for word in (f"--{n}", v)
    ]
    return shlex.join(["strut", "design", model, *words])


def _plain(item: Any) -> Any:
    if isinstance(item, dict):
        return {k: _plain(v) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return [_plain(v) for v in item]
    return None if isinstance(item, float) and not np.isfinite(item) else item


def _free(
    text: str, units: dict[str, str], bounds: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, values = part.partition("=")
        name = name.strip()
        pair = _range(values, units.get(name, "")) if equals else bounds.get(name, (-np.inf, np.inf))
        if not isinstance(pair, tuple):
            raise ValueRangeError(
                f"--free {part}: bounds are LOW:HIGH; a value that stays is set by --set {part}"
            )
        found[name] = pair
    return found


def _range(text: str, unit: str) -> float | tuple[float, float] | None:
    if not text:
        return None
    parts = [number(p, unit) for p in text.split(":")]
    if len(parts) > 2:
        raise ValueRangeError(f"'{text}' is not a range: write VALUE or LOW:HIGH")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])
