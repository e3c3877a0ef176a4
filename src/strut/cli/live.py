"""`strut live`: a machine on a page, where it runs in the browser, or what was saved of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import strut
from strut import gait as gaits
from strut import optimal
from strut.cli.answer import note, present
from strut.cli.completion import complete_file, complete_live, complete_model
from strut.cli.console import out
from strut.cli.look import RUN_SUFFIXES, open_page
from strut.cli.model import Reading, find_model, find_runnable, with_drive, with_settings
from strut.cli.options import Drive, Ignore, Open, Root, Settings, Stops
from strut.cli.progress import tell_progress
from strut.cli.run import OWN_METHODS
from strut.control import HeldGait
from strut.errors import ModelError, StorageError, StrutError
from strut.live import live_page
from strut.live.beside import integration_of
from strut.simulate import Trajectory
from strut.walkers import CATALOGUE, ROBOTS

RESULT_SUFFIXES = (*RUN_SUFFIXES, ".json")
"""Suffixes of what was saved: runs, gaits and designs."""
RESULT_FILES = ("design.h5", "held.h5")
"""What `strut design -o DIR` and `strut control -o DIR` call the result itself, beside the walk that its page
shows."""


def live(  # noqa: PLR0913 the options of a command are its arguments
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|FILE",
            help="A machine, as of [bold]strut run[/bold]: a name from [bold]strut list[/bold] or a file. "
            "Or what was saved: a run, a gait, held or not, or a design (.h5, .json, or the folder), with "
            "whose parameters and state the page begins.",
            autocompletion=complete_live,
        ),
    ],
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
    machine: Annotated[
        str,
        typer.Option(
            "--machine",
            metavar="MODEL",
            help="The machine of a saved run, where it is no ready-made one: FILE.py:NAME, FILE.toml, ...",
            autocompletion=complete_model,
        ),
    ] = "",
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
            autocompletion=complete_file(".html"),
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

      strut run compass --set slope=4deg -o walk.h5 && strut live walk.h5

      strut design compass --speed 0.5 -o walk/ && strut live walk/
    """
    reading = Reading(stops, tuple(ignore), tuple(root))
    if page is not None and not page.is_file():  # before what takes long
        raise StorageError(f"--page {page}: there is no such page, which would get a switch to the live one")
    subject: Any
    if is_saved(model):
        if settings:
            raise ModelError(f"'{model}' is a result: its parameters are what they are; the page has sliders")
        subject, own = read_saved(Path(model), machine, drive, reading)
        name = subject.system_name if isinstance(subject, Trajectory) else subject.system.name
    else:
        if machine:
            raise ModelError(f"--machine is of a saved run: '{model}' is a machine itself")
        found_system, own = find_runnable(model, reading, None)
        own = own or OWN_METHODS.get(model, {})
        subject = with_settings(with_drive(found_system, drive), settings)
        name = subject.name
    place = output or Path(f"{name}-live.html")
    tell_progress(f"writing {place}")
    path = live_page(subject, place, gait=gait, page=page, **own)
    size = path.stat().st_size
    opened = show and open_page(path)
    present(
        {"page": str(path), "bytes": size, "opened": opened},
        lambda: out.print(f"a page of {size / 1e3:.0f} kB: open it in a browser"),
    )


def is_saved(text: str) -> bool:
    """Is this the name of a result, or of a folder of results?"""
    return Path(text).suffix.lower() in RESULT_SUFFIXES or Path(text).is_dir()


def read_saved(file: Path, machine: str, drive: str, reading: Reading) -> tuple[Any, dict[str, Any]]:
    """Return a saved run, gait or design with its system, and how its page integrates; of a gait that is held
    that of the closed loop.

    machine: where the file says no more than the name of its system. Raises StorageError for a file that
    holds none of these, ModelError where its machine cannot be found.
    """
    path = data_file(file)
    for load in (optimal.load, gaits.load, HeldGait.load):  # these know their systems
        try:
            result = load(path)
        except StrutError:
            continue
        result = result.gait if isinstance(result, HeldGait) else result
        if not isinstance(result, optimal.Design | gaits.Gait):
            raise ModelError(
                f"'{path}' holds a {type(result).__name__}: a page is of a run, a gait or a design"
            )
        return result, {}
    run = strut.Trajectory.load(path)
    text = machine or run.system_name.replace("_", "-")
    if not machine and text not in {**CATALOGUE, **ROBOTS}:
        raise ModelError(
            f"'{path}' is a run of '{run.system_name}', which is no ready-made machine: say where it is, "
            f"--machine FILE.py:NAME"
        )
    system = with_drive(find_model(text, reading), drive)
    remarks: list[str] = []
    whole = strut.Trajectory.load(path, system=system)
    own = integration_of(whole, remarks)
    for remark in remarks:
        note(remark)
    return whole, own


def data_file(file: Path) -> Path:
    """Return the file .h5 of a result: of a folder the design or the held gait, or else the first run in it;
    of FILE.json that beside it."""
    folder = file if file.is_dir() else file.parent
    results = [folder / name for name in RESULT_FILES if (folder / name).is_file()]
    if results and (file.is_dir() or file.suffix.lower() == ".json"):
        return results[0]
    if file.is_dir():
        runs = [path for end in RUN_SUFFIXES for path in sorted(file.glob(f"*{end}"))]
        if not runs:
            raise StorageError(f"there is no run, gait or design (.h5) in the folder {file}")
        return runs[0]
    beside = file.with_suffix(".h5") if file.suffix.lower() == ".json" else file
    if not beside.is_file():
        missing = f"{beside.name} is not beside it" if file.is_file() else "there is no such file"
        raise StorageError(f"cannot read {file}: {missing}")
    return beside
