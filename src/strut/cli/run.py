"""`strut run`: simulate a machine and report what happened."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape

import strut
from strut import ports
from strut.cli.console import as_json, notes
from strut.cli.finite import check_finite
from strut.cli.model import (
    Reading,
    Times,
    end_of,
    find_graph,
    find_runnable,
    parse_times,
    python_of,
    with_drive,
    with_settings,
)
from strut.cli.options import Drive, Ignore, Json, Model, Root, Settings, Stops
from strut.cli.progress import progress_bar
from strut.cli.save import check_kind, walks, write_page, write_run
from strut.cli.show import components, run_data, run_text, watched_columns
from strut.errors import MissingExtraError
from strut.simulate import METHODS, Trajectory
from strut.simulate.options import FIXED
from strut.system import System

OWN_METHODS: dict[str, dict[str, Any]] = {"coman": {"method": "rkc", "step": 1e-3}}
"""Ready-made machines with stiff drives, and what they are integrated by unless a user says otherwise; step
in s. An adaptive method takes 64,000 steps for ten seconds of COMAN, and a file of a gigabyte."""
PICTURE_SUFFIXES = (".html", ".gif", ".mp4")
"""Suffixes of files that a library draws, which may not be installed."""


def run(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    t: Annotated[
        str,
        typer.Option(
            "-t",
            "--time",
            metavar="[BEGIN:[STEP:]]END",
            help="How long, in seconds. STEP is the distance of printed and saved rows and, for fixed-step "
            "methods, of the integration.",
        ),
    ] = "10",
    settings: Settings = [],
    watch: Annotated[
        list[str],
        typer.Option(
            "--watch",
            "-w",
            metavar="NAME",
            help="Print this state or output over time; may be given more than once.",
        ),
    ] = [],
    output: Annotated[
        list[Path],
        typer.Option(
            "-o",
            "--output",
            metavar="FILE|DIR",
            help="Save: .h5 (everything), .csv (a table), .html (a page with plots and animation), .gif or "
            ".mp4 (a film); or DIR: "
            "run.h5, run.csv, the page as index.html and the plots as SVG and PNG, but no film. May be given "
            "more than once.",
        ),
    ] = [],
    method: Annotated[
        str,
        typer.Option(
            help=f"How to integrate: {', '.join(METHODS)}. FILE.cdn may say itself.", show_default="dop853"
        ),
    ] = "",
    rtol: Annotated[float, typer.Option(help="Relative tolerance of adaptive methods.")] = 1e-10,
    atol: Annotated[float, typer.Option(help="Absolute tolerance of adaptive methods.")] = 1e-12,
    seed: Annotated[int, typer.Option(help="Of random numbers.")] = 0,
    drive: Drive = "rigid",
    stops: Stops = False,
    ignore: Ignore = [],
    root: Root = [],
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Do not write MODEL.html for a machine that walks or stands.")
    ] = False,
    json: Json = False,
) -> None:
    """Simulate a machine and report what happened: final state, events, where the energy went, and for
    walkers how in every step.

    A machine that walks or stands on feet also leaves a page with plots and its animation, MODEL.html, where
    you are; unless you save something yourself (-o), print for machines (--json, --watch), or say --no-page.

    [bold]Examples[/bold]

      strut run pendulum -t 0:0.1:2 --watch angle --watch rate

      strut run compass --set slope=3deg -t 0:0.001:10

      strut run compass --set slope=3deg -o walk/

      strut run slip --set stiffness=15kN --set attack=64deg -t 20 -o run.h5 -o run.html

      strut run van-der-pol --set mu=1000 -t 2000 --method radau
    """
    for path in output:
        check_kind(path)
    times = parse_times(t)
    graph = find_graph(model)
    reading = Reading(stops, tuple(ignore), tuple(root))
    system, own = (
        (ports.system(graph), {}) if graph is not None else find_runnable(model, reading, times.step, watch)
    )
    system = with_settings(with_drive(system, drive), settings)
    own = own or OWN_METHODS.get(model, {})
    if not method and model in OWN_METHODS:
        notes.print(
            f"{model} is stiff: by {own['method']} in steps of {own['step']:g} s; --method says otherwise"
        )
    method = method or own.get("method", "dop853")
    options: dict[str, Any] = {"method": method, "rtol": rtol, "atol": atol, "seed": seed}
    if method in FIXED:
        options["step"] = times.step or own.get("step", 1e-3)
    result = _simulate(system, times, end_of(model, system, times), options)
    watch = [label for name in watch for label in components(result, name)]
    words = [
        "strut",
        "run",
        model,
        *(word for s in settings for word in ("--set", s)),
        *(["--drive", drive] if drive != "rigid" else []),
    ]
    asked, python = shlex.join([*words, "-t", t, *_changed_options(options)]), python_of(model, drive)
    missing = _write(result, output, times, asked, python=python, graph=graph)
    if json:
        as_json(run_data(result, watch, times.grid))
    elif watch:
        _print_columns(watched_columns(result, watch, times.grid))
    else:
        run_text(result)
        if not output and not no_page and walks(result):
            write_page(result, Path(f"{result.system_name}.html"), asked, python)
    # what is missing or wrong ends the command last: what could be written and printed was
    if missing:
        raise missing[0]
    if result.status == "interrupted":
        raise typer.Exit(130)
    if not result.ok:
        if (watch and not json) or result.status == "not finite":
            why = f"{result.status}, {result.ending_meaning}" if result.ending_meaning else result.message
            notes.print(escape(f"the run ended at {result.t1:g} s: {why}"), soft_wrap=True, highlight=False)
        raise typer.Exit(1)
    names = watch or ([*result.names.x, *result.names.z, *result.names.outputs] if output else [])
    if names:
        columns = watched_columns(result, names, times.grid)
        check_finite(columns.pop("t"), columns)


def _simulate(system: System, times: Times, end: float, options: dict[str, Any]) -> Trajectory:
    """Simulate with a bar on standard error while it takes long; print warnings after it."""
    with warnings.catch_warnings(record=True) as caught, progress_bar(times.begin, times.end) as report:
        warnings.simplefilter("always")
        result = strut.simulate(system, t=(times.begin, end), progress=report, **options)
    for warning in caught:
        notes.print(f"[yellow]warning:[/yellow] {escape(str(warning.message))}", soft_wrap=True)
    return result


def _write(
    result: Trajectory,
    output: list[Path],
    times: Times,
    asked: str,
    *,
    python: str,
    graph: ports.BondGraph | None,
) -> list[MissingExtraError]:
    """Write the files of a run, numbers first: a picture may lack what draws it. Returns what was lacking."""
    missing = []
    for path in sorted(output, key=lambda path: path.suffix in PICTURE_SUFFIXES):
        try:
            write_run(result, path, times.grid, asked, python, graph)
        except MissingExtraError as error:
            missing.append(error)
    return missing


def _print_columns(columns: dict[str, np.ndarray]) -> None:
    """Print columns as a table with tabs."""
    print("\t".join(columns))
    for row in zip(*columns.values(), strict=True):
        print("\t".join(f"{v:.12g}" for v in row))


def _changed_options(options: dict[str, Any]) -> list[str]:
    """Options that differ from the defaults of the command, as typed."""
    defaults = {"method": "dop853", "rtol": 1e-10, "atol": 1e-12, "seed": 0}
    return [
        word
        for name, value in defaults.items()
        if options[name] != value
        for word in (f"--{name}", str(options[name]))
    ]
