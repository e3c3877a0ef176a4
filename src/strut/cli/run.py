"""`strut run`: simulate a machine and report what happened."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import strut
from strut import ports
from strut.cli.answer import complain, current_answer, note, present, print_columns
from strut.cli.completion import complete_integrator
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.finite import check_finite
from strut.cli.ground_start import warn_of_sunk_points
from strut.cli.model import (
    Reading,
    Times,
    end_of,
    find_graph,
    find_network,
    find_runnable,
    parse_times,
    python_of,
    with_drive,
    with_settings,
)
from strut.cli.options import Drive, Ignore, Model, Print, Root, Seed, Settings, Stops, Sweep
from strut.cli.options import Times as TimesOption
from strut.cli.progress import time_teller
from strut.cli.save import check_kind, walks, write_page, write_run
from strut.cli.show import components, printed_columns, run_data, run_text
from strut.errors import MissingExtraError
from strut.simulate import METHODS, Trajectory
from strut.simulate.options import FIXED
from strut.system import System

if TYPE_CHECKING:
    from strut.network import Network  # read on demand: most commands never see a network

OWN_METHODS: dict[str, dict[str, Any]] = {"coman": {"method": "rkc", "step": 1e-3}}
"""Ready-made machines with stiff drives, and what they are integrated by unless a user says otherwise; step
in s. An adaptive method takes 64,000 steps for ten seconds of COMAN, and a file of a gigabyte."""
PICTURE_SUFFIXES = (".html", ".gif", ".mp4")
"""Suffixes of files that a library draws, which may not be installed."""


def run(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    t: TimesOption = "10",
    settings: Settings = [],
    printed: Print = [],
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
    integrator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"How to integrate: {', '.join(METHODS)}. FILE.cdn may say itself.",
            show_default="dop853",
            autocompletion=complete_integrator,
        ),
    ] = "",
    rtol: Annotated[
        float, typer.Option(metavar="R", help="Relative tolerance of integrators with adaptive steps \\[1].")
    ] = 1e-10,
    atol: Annotated[
        float,
        typer.Option(metavar="A", help="Absolute tolerance of these, in the unit of each state."),
    ] = 1e-12,
    seed: Seed = 0,
    sweep: Sweep = "",
    drive: Drive = "rigid",
    stops: Stops = False,
    ignore: Ignore = [],
    root: Root = [],
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Do not write MODEL.html for a machine that walks or stands.")
    ] = False,
) -> None:
    """Simulate a machine and report what happened: final state, events, where the energy went, and for
    walkers each step.

    A machine that walks or stands on feet also leaves a page with plots and its animation, MODEL.html, where
    you are; not where you save something yourself (-o), print columns (--print) or JSON (--json), or say
    --no-page.

    With --sweep there is a run for each of N values of a parameter, an initial state or an input, and a table
    of how each ended, with what --print names at its end. -o FILE.html is a page of them: of walkers the
    brute-force bifurcation diagram, where a click shows a walk; -o FILE.csv the table; -o DIR all, with the
    runs.

    [bold]Examples[/bold]

      strut run pendulum -t 0:0.1:2 --print angle --print rate

      strut run compass --set slope=3deg -t 0:0.001:10

      strut run compass --set slope=3deg -o walk/

      strut run slip --set stiffness=15kN --set attack=64deg -t 20 -o run.h5 -o run.html

      strut run van-der-pol --set mu=1000 -t 2000 --integrator radau

      strut run compass --sweep slope=3deg:5deg:60 -t 60 -o diagram.html

      strut run biped.toml --watch
    """
    for path in output if not sweep else ():
        check_kind(path)
    times = parse_times(t)
    graph = find_graph(model)
    reading = Reading(stops, tuple(ignore), tuple(root))
    system, own = (
        (ports.system(graph), {}) if graph is not None else find_runnable(model, reading, times.step, printed)
    )
    system = with_settings(with_drive(system, drive), settings)
    own = own or OWN_METHODS.get(model, {})
    if not integrator and model in OWN_METHODS:
        note(
            f"{model} is stiff: by {own['method']} in steps of {own['step']:g} s; --integrator says otherwise"
        )
    integrator = integrator or own.get("method", "dop853")
    options: dict[str, Any] = {"method": integrator, "rtol": rtol, "atol": atol, "seed": seed}
    if integrator in FIXED:
        options["step"] = times.step or own.get("step", 1e-3)
    words = [
        "strut",
        "run",
        model,
        *(word for s in settings for word in ("--set", s)),
        *(["--drive", drive] if drive != "rigid" else []),
    ]
    words += ["-t", t, *_changed_options(options)]
    if sweep:
        from strut.cli.run_sweep import run_sweep  # not where nothing of it is asked

        asked = shlex.join([*words, "--sweep", sweep])
        run_sweep(system, sweep, times, options, printed=printed, output=output, asked=asked)
        return
    result = _simulate(system, times, end_of(model, system, times), options)
    warn_of_sunk_points(result)
    printed = [label for name in printed for label in components(result, name)]
    asked, python = shlex.join(words), python_of(model, drive)
    made_of = find_network(model, reading.roots) if output and model.endswith(".cdn") else graph
    missing = _write(result, output, times, asked, python=python, graph=made_of)
    present(
        lambda: run_data(result, printed, times.grid),
        lambda: print_columns(printed_columns(result, printed, times.grid)) if printed else run_text(result),
    )
    if not (output or no_page or printed or current_answer().json) and walks(result):
        write_page(result, Path(f"{result.system_name}.html"), asked, python)
    # what is missing or wrong ends the command last: what could be written and printed was
    if missing:
        raise missing[0]
    if result.status == "interrupted":
        raise typer.Exit(INTERRUPTED_EXIT)
    if not result.ok:
        if printed or result.status == "not finite":
            why = f"{result.status}, {result.ending_meaning}" if result.ending_meaning else result.message
            complain(f"the run ended at {result.t1:g} s: {why}")
        raise typer.Exit(1)
    names = printed or ([*result.names.x, *result.names.z, *result.names.outputs] if output else [])
    if names:
        columns = printed_columns(result, names, times.grid)
        check_finite(columns.pop("t"), columns)


def _simulate(system: System, times: Times, end: float, options: dict[str, Any]) -> Trajectory:
    """Simulate, and tell how far in time it is."""
    tell = time_teller("simulating", times.begin, times.end)
    return strut.simulate(system, t=(times.begin, end), progress=tell, **options)


def _write(
    result: Trajectory,
    output: list[Path],
    times: Times,
    asked: str,
    *,
    python: str,
    graph: ports.BondGraph | Network | None,
) -> list[MissingExtraError]:
    """Write the files of a run, numbers first: a picture may lack what draws it. Returns what was lacking."""
    missing = []
    for path in sorted(output, key=lambda path: path.suffix in PICTURE_SUFFIXES):
        try:
            write_run(result, path, times.grid, asked, python, graph)
        except MissingExtraError as error:
            missing.append(error)
    return missing


def _changed_options(options: dict[str, Any]) -> list[str]:
    """Options that differ from the defaults of the command, as typed."""
    defaults = {"method": "dop853", "rtol": 1e-10, "atol": 1e-12, "seed": 0}
    flags = {"method": "integrator"}
    return [
        word
        for name, value in defaults.items()
        if options[name] != value
        for word in (f"--{flags.get(name, name)}", str(options[name]))
    ]
