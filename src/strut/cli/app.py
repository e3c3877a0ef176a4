"""Commands of `strut`. Each does one thing, prints a table a person can read, or with --json a document for
machines."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import strut
from strut.cli.design import design
from strut.cli.doctor import examine
from strut.cli.finite import check_finite
from strut.cli.gait import gait
from strut.cli.look import open_in_browser, page_of
from strut.cli.model import (
    Drive,
    Reading,
    Root,
    end_of,
    find_mechanism,
    find_model,
    find_runnable,
    parse_times,
    python_of,
    with_drive,
    with_parameters,
    with_settings,
)
from strut.cli.network import check, graph, monitor, repl
from strut.cli.options import Ignore, Json, Model, Settings, Stops
from strut.cli.progress import progress_bar
from strut.cli.reproduce import reproduce
from strut.cli.save import check_kind, walks, write_page, write_run
from strut.cli.show import (
    as_json,
    components,
    notes,
    out,
    run_data,
    run_text,
    system_data,
    system_text,
    table,
    tell_what_takes_long,
    watched,
)
from strut.errors import MissingExtraError, ModelError, StrutError
from strut.export.functions import LANGUAGES
from strut.simulate import METHODS
from strut.simulate.options import FIXED
from strut.walkers import CATALOGUE, MECHANISMS

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="""Describe a walking machine once; simulate it, look at it, hand it over as C or MATLAB.

[bold]Begin here[/bold]

  strut list                                      what there is to run

  strut run rimless-wheel -t 10                   ten seconds of walking

  strut run compass --set slope=3deg -o walk/     a page, data and plots

  strut export slip -o firmware/                  the same machine as C99

Every command has its own --help.""",
)

app.command()(design)
app.command()(gait)
app.command()(reproduce)
app.command()(check)
app.command()(monitor)
app.command()(graph)
app.command()(repl)


PICTURES = (".html", ".gif", ".mp4")
"""What draws may be missing."""


@app.command()
def run(
    model: Model,
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
        bool, typer.Option("--no-page", help="Do not write MODEL.html for a machine that walks.")
    ] = False,
    json: Json = False,
) -> None:
    """Simulate a machine and report what happened: final state, events, where the energy went, and for
    walkers how in every step.

    A machine that walks also leaves a page with plots and its animation, MODEL.html, where you are; unless
    you save something yourself (-o), print for machines (--json, --watch), or say --no-page.

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
    system, own = find_runnable(model, Reading(stops, tuple(ignore), tuple(root)), times.step, watch)
    system = with_settings(with_drive(system, drive), settings)
    method = method or own.get("method", "dop853")
    options: dict[str, Any] = {"method": method, "rtol": rtol, "atol": atol, "seed": seed}
    if method in FIXED:
        options["step"] = times.step or own.get("step", 1e-3)
    with warnings.catch_warnings(record=True) as caught, progress_bar(times.begin, times.end) as report:
        warnings.simplefilter("always")
        result = strut.simulate(
            system, t=(times.begin, end_of(model, system, times)), progress=report, **options
        )
    for warning in caught:
        notes.print(f"[yellow]warning:[/yellow] {escape(str(warning.message))}", soft_wrap=True)
    watch = [label for name in watch for label in components(result, name)]
    words = [
        "strut",
        "run",
        model,
        *(word for s in settings for word in ("--set", s)),
        *(["--drive", drive] if drive != "rigid" else []),
    ]
    asked, python = shlex.join([*words, "-t", t, *_changed(options)]), python_of(model, drive)
    missing: list[StrutError] = []
    for path in sorted(
        output, key=lambda path: path.suffix in PICTURES
    ):  # numbers first: a picture may lack what draws it
        try:
            write_run(result, path, times.grid, asked, python)
        except MissingExtraError as error:
            missing.append(error)
    if json:
        as_json(run_data(result, watch, times.grid))
    elif watch:
        columns = watched(result, watch, times.grid)
        print("\t".join(columns))
        for row in zip(*columns.values(), strict=True):
            print("\t".join(f"{v:.12g}" for v in row))
    else:
        run_text(result)
        if not output and not no_page and walks(result):
            write_page(result, Path(f"{result.system_name}.html"), asked, python)
    if missing:
        raise missing[0]
    if result.status == "interrupted":
        raise typer.Exit(130)
    if not result.ok:
        if (watch and not json) or result.status == "not finite":
            why = f"{result.status}, {result.ending_meaning}" if result.ending_meaning else result.message
            notes.print(escape(f"the run ended at {result.t1:g} s: {why}"), soft_wrap=True, highlight=False)
        raise typer.Exit(1)
    shown = watch or ([*result.names.x, *result.names.z, *result.names.outputs] if output else [])
    if shown:
        columns = watched(result, shown, times.grid)
        check_finite(columns.pop("t"), columns)


def _changed(options: dict[str, Any]) -> list[str]:
    """Options that differ from the defaults of the command, as typed."""
    defaults = {"method": "dop853", "rtol": 1e-10, "atol": 1e-12, "seed": 0}
    return [
        word
        for name, value in defaults.items()
        if options[name] != value
        for word in (f"--{name}", str(options[name]))
    ]


@app.command("list")
def list_models(
    model: Annotated[
        str, typer.Argument(help="Show one machine: its parameters, states, events and outputs.")
    ] = "",
    root: Root = [],
    json: Json = False,
) -> None:
    """List the machines that come with strut, or describe one of them.

    [bold]Examples[/bold]

      strut list

      strut list rimless-wheel
    """
    if model:
        system = find_model(model, Reading(roots=tuple(root)))
        as_json(system_data(system)) if json else system_text(system)
        return
    systems = {name: make() for name, make in CATALOGUE.items()}
    if json:
        as_json([system_data(system) | {"name": name} for name, system in systems.items()])
        return
    table(
        "machines",
        ["name", "", "parameters"],
        [[n, s.description, ", ".join(q.name for q in s.p)] for n, s in systems.items()],
    )
    trees = {name: make() for name, make in MECHANISMS.items()}
    about = {name: (make.__doc__ or "").splitlines()[0] for name, make in MECHANISMS.items()}
    table(
        "mechanisms",
        ["name", "", "bodies", "frames"],
        [[n, about[n], len(m.bodies) - 1, len(m.frames)] for n, m in trees.items()],
    )


@app.command()
def export(
    model: Model,
    directory: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where to write; created if needed.")
    ],
    settings: Settings = [],
    drive: Drive = "rigid",
    stops: Stops = False,
    ignore: Ignore = [],
    root: Root = [],
    jacobians: Annotated[
        bool, typer.Option("--jacobians", help="Include the Jacobians of flow, guards and resets.")
    ] = False,
    matlab: Annotated[
        bool, typer.Option("--matlab", help="Write MATLAB functions instead of C, with an example for ode45.")
    ] = False,
    dynamics: Annotated[
        bool,
        typer.Option(
            "--dynamics",
            help="Of a mechanism: forward and inverse dynamics, mass matrix, bias and frames, as C and "
            "MATLAB (with --matlab, that alone).",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Write a machine as C99: a header, a source, the runtime, an example and a Makefile. Or as MATLAB
    functions.

    The C allocates nothing and needs only <math.h>; -DSTRUT_FLOAT makes it single precision,
    -DSTRUT_SIN=my_sin replaces a function. The MATLAB functions also run in Octave. What every function costs
    is printed.

    [bold]Examples[/bold]

      strut export slip -o firmware/ && make -C firmware && firmware/slip

      strut export rimless-wheel -o wheel/ --matlab

      strut export robot.urdf:fixed -o dynamics/ --dynamics
    """
    if dynamics and drive != "rigid":
        raise ModelError(
            f"--dynamics is of bodies and joints alone: --drive {drive} belongs to the whole machine, leave "
            f"one out"
        )
    if jacobians and (matlab or dynamics):
        raise ModelError("--jacobians belongs to the C of a whole machine: leave out --matlab and --dynamics")
    how = Reading(stops, tuple(ignore), tuple(root))
    if dynamics:
        found = with_parameters(find_mechanism(model, how), settings)
        languages = ("matlab",) if matlab else LANGUAGES
        done = strut.export_functions(found.name, strut.mechanism.functions(found), directory, languages)
    else:
        found_system, own = find_runnable(model, how, None)
        system = with_settings(with_drive(found_system, drive), settings)
        done = (
            strut.export_matlab(system, directory)
            if matlab
            else strut.export(system, directory, jacobians=jacobians, **own)
        )
    if json:
        as_json({"directory": str(done.directory), "files": list(done.files), "operations": done.operations})
        return
    table(
        f"wrote {len(done.files)} files to {done.directory}",
        ["function", "operations"],
        [[n, c] for n, c in done.operations.items()],
    )
    example = next((Path(file).stem for file in done.files if file.endswith("_example.m")), "")
    if example:
        out.print(
            f"run it in MATLAB or Octave: cd {escape(str(done.directory))}, then {example}", soft_wrap=True
        )
    if not (matlab or dynamics):
        out.print(f"build it: make -C {escape(str(done.directory))}", soft_wrap=True)


@app.command()
def view(
    file: Annotated[
        Path,
        typer.Argument(
            help="What was saved: a run (.h5), a gait or design (.json), a table (.csv), a folder, a page or "
            "a picture."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write: .html, .gif, .mp4 or name%d.png from .h5 or .json, .html from .csv. Beside "
            "the file unless given.",
        ),
    ] = None,
    film: Annotated[
        bool, typer.Option("--film", help="Only the animation, in space, to play and turn.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Write it, but open no browser.")] = False,
    json: Json = False,
) -> None:
    """Look at what was saved: a page with motion, plots and numbers, in the browser. Nothing is sent
    anywhere.

    [bold]Examples[/bold]

      strut run compass -t 10 -o walk.h5 && strut view walk.h5

      strut view walk.h5 --film

      strut view walk.h5 -o walk.mp4 --no-open

      strut gait compass --set slope=3deg -o gait/ && strut view gait/
    """
    made, remark = page_of(file, output, film)
    shown = made[0] if isinstance(made, list) else made
    opened = not no_open and open_in_browser(shown)
    if json:
        as_json({"file": str(shown), "opened": opened, "remark": remark})
        return
    if remark:
        notes.print(f"[yellow]note:[/yellow] {escape(remark)}", soft_wrap=True)
    out.print(escape(str(shown.resolve())), soft_wrap=True)
    if not opened and not no_open:
        notes.print("no display or browser was found here: open this file where there is one")


@app.command()
def doctor(json: Json = False) -> None:
    """Say what was found on this machine: compiler, cores, versions, cache, GPU; and what to do where
    something is missing."""
    rows = examine()
    if json:
        as_json(rows)
    else:
        table("", ["what", "found", ""], [[r["what"], r["found"], r["remedy"]] for r in rows])
    if not all(r["ok"] for r in rows):
        raise typer.Exit(1)


def _version(show: bool) -> None:
    if show:
        print(strut.__version__)
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Options of strut itself."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors that strut understands are one sentence, not a traceback."""
    tell_what_takes_long()
    try:
        app(args=arguments)
    except StrutError as error:
        notes.print(f"[red]error:[/red] {escape(str(error))}", soft_wrap=True)
        sys.exit(2)
