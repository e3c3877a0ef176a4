"""`strut live`: a machine on a page, where it runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from strut.cli.answer import present
from strut.cli.console import out
from strut.cli.look import open_page
from strut.cli.model import Reading, find_runnable, with_drive, with_settings
from strut.cli.options import Drive, Ignore, Model, Open, Root, Settings, Stops
from strut.cli.progress import tell_progress
from strut.live import live_page


def live(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The page; MODEL-live.html, here, unless given."),
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
    show: Open = False,
) -> None:
    """Write a page on which a machine runs: one file, offline, for any browser of 2023 or later.

    Sliders for every parameter and input, pushes and steps down by mouse, the machine in a plane or in
    space, its phase portrait, its gait with multipliers, a bifurcation map and a basin of attraction. The
    address of the page keeps the settings. It needs clang and lld, or the package ziglang
    (strut\\[compiler]).

    [bold]Examples[/bold]

      strut live compass --set slope=3deg

      strut live machine.py:biped -o biped.html --open
    """
    found_system, own = find_runnable(model, Reading(stops, tuple(ignore), tuple(root)), None)
    system = with_settings(with_drive(found_system, drive), settings)
    place = output or Path(f"{system.name}-live.html")
    tell_progress(f"writing {place}")
    path = live_page(system, place, gait=gait, page=page, **own)
    size = path.stat().st_size
    opened = show and open_page(path)
    present(
        {"page": str(path), "bytes": size, "opened": opened},
        lambda: out.print(f"a page of {size / 1e3:.0f} kB: open it in a browser"),
    )
