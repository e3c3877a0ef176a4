"""Options that several commands share."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Annotated

import typer


def complete_model(incomplete: str) -> list[str]:
    """Return the ready-made machines, and files here that may describe one, whose names begin so: for the tab
    key."""
    from strut.catalogue import SYSTEM_DESCRIPTIONS

    pattern = glob.escape(incomplete)
    files = [path for kind in MODEL_SUFFIXES for path in sorted(glob.glob(f"{pattern}*{kind}"))]
    return [name for name in (*SYSTEM_DESCRIPTIONS, *files) if name.startswith(incomplete)]


MODEL_SUFFIXES = (".toml", ".py", ".cdn", ".urdf", ".xml")
"""Suffixes of files that describe machines."""
Model = Annotated[
    str,
    typer.Argument(
        help="A name from [bold]strut list[/bold]; FILE.py:NAME for a System or Mechanism (or a function "
        "returning one) of your own; "
        "or a robot: FILE.toml (a model file of ours, on the ground that its table contact describes), "
        "FILE.urdf (FILE.urdf:fixed), FILE.xml (MuJoCo's "
        "MJCF); or a network, FILE.cdn; or a bond graph, FILE.toml.",
        autocompletion=complete_model,
    ),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another value for a parameter, an initial state or an input; units may follow: slope=3deg, "
        "stiffness=20kN.",
    ),
]
Stops = Annotated[
    bool, typer.Option("--stops", help="Of FILE.urdf and FILE.xml: make soft stops of joint limits.")
]
Ignore = Annotated[
    list[str],
    typer.Option(
        "--ignore",
        metavar="NAME",
        help="Of FILE.xml: leave this out knowingly, for example tendon; may be given more than once.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
Drive = Annotated[
    str,
    typer.Option(
        "--drive",
        metavar="KIND",
        help="How motors act: rigid; series, through a spring, the motor having an inertia; or parallel, "
        "with a spring beside them; or a motor of the catalogue, driven by voltage: rbe1211-csd17, "
        "maxon-re40-gp42c.",
    ),
]
"""An option of all commands that make a machine move."""

Root = Annotated[
    list[Path],
    typer.Option(
        "--root",
        metavar="DIR",
        help="A folder from which the model may read, besides its own; again for more.",
    ),
]
"""An option of all commands that read a model from a file."""
