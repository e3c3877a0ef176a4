"""`strut live`: a machine on a page, where it runs in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from strut.cli.console import as_json, out
from strut.cli.model import Reading, find_runnable, with_drive, with_settings
from strut.cli.options import Drive, Ignore, Json, Model, Root, Settings, Stops
from strut.live import live_page


def live(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The page; by default MODEL-live.html here."),
    ] = None,
    settings: Settings = [],
    drive: Drive = "rigid",
    stops: Stops = False,
    ignore: Ignore = [],
    root: Root = [],
    gait: Annotated[
        bool | None,
        typer.Option(
            "--gait/--no-gait",
            help="Whether the page finds gaits and their multipliers: a second module, which takes longer to "
            "compile. By default for walkers of up to 16 states.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="A page of a run, a gait or a design (.html), which gets a switch to the live one.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Open it in a browser.")] = False,
    json: Json = False,
) -> None:
    """Write a page on which a machine runs: one file, offline, for any browser of 2023 or later.

    Sliders for every parameter and input, pushes and steps down by mouse, the machine in a plane or in
    space, its phase portrait, its gait with multipliers, a bifurcation map and a basin of attraction. The
    address of the page keeps the settings. It needs clang and lld, or the package ziglang
    (strut\\[compiler]).

    [bold]Examples[/bold]

      strut live compass --set slope=3deg

      strut live machine.py:biped -o biped.html --show
    """
    found_system, own = find_runnable(model, Reading(stops, tuple(ignore), tuple(root)), None)
    system = with_settings(with_drive(found_system, drive), settings)
    path = live_page(system, output or Path(f"{system.name}-live.html"), gait=gait, page=page, **own)
    if json:
        as_json({"page": str(path), "bytes": path.stat().st_size})
    else:
        size = path.stat().st_size / 1e3
        out.print(f"wrote {escape(str(path))}, {size:.0f} kB: open it in a browser", soft_wrap=True)
    if show:
        webbrowser.open(path.resolve().as_uri())
