"""`strut export`: a machine as C99 or MATLAB."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

import strut
from strut.cli.answer import hint, present
from strut.cli.model import (
    Reading,
    find_mechanism,
    find_runnable,
    with_drive,
    with_parameters,
    with_settings,
)
from strut.cli.options import Drive, Ignore, Model, Root, Settings, Stops
from strut.cli.progress import tell_progress
from strut.cli.tables import table
from strut.errors import ModelError
from strut.export.functions import LANGUAGES

WASM_SUFFIX = ".wasm"
"""Of a file that asks for WebAssembly."""
MISTYPED = 0.75
"""Likeness (difflib's ratio) from which another suffix is taken for that one, mistyped."""


def export(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR|FILE.wasm",
            help="Where to write: a folder, created if needed; or a module for WebAssembly, with its script "
            "beside it.",
        ),
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
) -> None:
    """Write a machine as C99: a header, a source, the runtime, an example and a Makefile. Or as MATLAB
    functions.

    The C allocates nothing and needs only <math.h>; -DSTRUT_FLOAT makes it single precision,
    -DSTRUT_SIN=my_sin replaces a function. The MATLAB functions also run in Octave. What every function costs
    is printed. With -o NAME.wasm it is a module for WebAssembly and the script that opens it, by clang and
    lld or by the package ziglang (strut\\[compiler]).

    [bold]Examples[/bold]

      strut export slip -o firmware/ && make -C firmware && firmware/slip

      strut export rimless-wheel -o wheel/ --matlab

      strut export compass -o compass.wasm

      strut export robot.urdf:fixed -o dynamics/ --dynamics
    """
    if dynamics and drive != "rigid":
        raise ModelError(
            f"--dynamics is of bodies and joints alone: --drive {drive} belongs to the whole machine, leave "
            f"one out"
        )
    if jacobians and (matlab or dynamics):
        raise ModelError("--jacobians belongs to the C of a whole machine: leave out --matlab and --dynamics")
    wasm = output.suffix == WASM_SUFFIX
    if not wasm and get_close_matches(output.suffix.lower(), [WASM_SUFFIX], cutoff=MISTYPED):
        raise ModelError(
            f"-o {output.name}: did you mean {output.stem}{WASM_SUFFIX}? A folder has another name"
        )
    if wasm and (matlab or dynamics):
        raise ModelError(f"-o {output.name} asks for WebAssembly: leave out --matlab and --dynamics")
    how = Reading(stops, tuple(ignore), tuple(root))
    tell_progress(f"writing {model} to {output}")
    if dynamics:
        machine = with_parameters(find_mechanism(model, how), settings)
        languages = ("matlab",) if matlab else LANGUAGES
        exported = strut.export_functions(machine.name, strut.mechanism.functions(machine), output, languages)
    else:
        found_system, own = find_runnable(model, how, None)
        system = with_settings(with_drive(found_system, drive), settings)
        exported = (
            strut.export_matlab(system, output)
            if matlab
            else strut.export(system, output, jacobians=jacobians, **own)
        )
    present(
        {
            "directory": str(exported.directory),
            "files": list(exported.files),
            "operations": exported.operations,
        },
        lambda: table("", ["function", "operations"], [[n, c] for n, c in exported.operations.items()]),
    )
    example = next((Path(file).stem for file in exported.files if file.endswith("_example.m")), "")
    if example:
        hint(f"run it in MATLAB or Octave: cd {exported.directory}, then {example}")
    if wasm:
        script = (exported.directory / exported.files[1]).resolve()
        hint(f"open it: const {{ strutModule }} = require('{script}')  (Node), or by a script element")
    elif not (matlab or dynamics):
        hint(f"build it: make -C {exported.directory}")
