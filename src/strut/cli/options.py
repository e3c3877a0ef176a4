"""Options that several commands share: one word, one meaning, one sentence of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from strut.cli.completion import (
    FULL_MACHINE_GROUPS,
    complete_drive,
    complete_model,
    complete_quantity,
    complete_sweep,
    complete_word,
)

# ---- what a command is about ----

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A name from [bold]strut list[/bold]; or a file: FILE.toml (a model file or a bond graph), "
        "FILE.cdn (a network), FILE.urdf or FILE.urdf:fixed, FILE.xml (MuJoCo's MJCF); or FILE.py:NAME, a "
        "System or Mechanism of your own, or a function that returns one.",
        autocompletion=complete_model,
    ),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another value for a parameter, an initial state or an input, in its unit or with one: "
        "slope=3deg, stiffness=20kN. May be given more than once.",
        autocompletion=complete_quantity(FULL_MACHINE_GROUPS, "="),
    ),
]
Drive = Annotated[
    str,
    typer.Option(
        "--drive",
        metavar="KIND",
        help="How motors act: rigid; series, through a spring, the motor having an inertia; parallel, with a "
        "spring beside them; or a motor of the catalogue, driven by voltage: rbe1211-csd17, "
        "maxon-re40-gp42c. strut design finds the springs, unless --set holds them.",
        autocompletion=complete_drive,
    ),
]
Section = Annotated[
    str,
    typer.Option(
        "--section",
        metavar="EVENT",
        help="The event that ends a step, where the model does not say.",
        show_default=False,
    ),
]

# ---- how files are read ----

Stops = Annotated[
    bool, typer.Option("--stops", help="Of FILE.urdf and FILE.xml: make soft stops of joint limits.")
]
Ignore = Annotated[
    list[str],
    typer.Option(
        "--ignore",
        metavar="NAME",
        help="Of FILE.xml: leave this out knowingly, for example tendon. May be given more than once.",
    ),
]
Root = Annotated[
    list[Path],
    typer.Option(
        "--root",
        metavar="DIR",
        help="A folder from which the model may read, besides its own. May be given more than once.",
    ),
]
RunCode = Annotated[
    bool,
    typer.Option("--run-code", help="Run programs and Python files that the job names: refused otherwise."),
]

# ---- how it is calculated ----

Times = Annotated[
    str,
    typer.Option(
        "-t",
        "--time",
        metavar="[BEGIN:[STEP:]]END",
        help="When the run begins and ends \\[s]. STEP is the time from row to row of what is printed and "
        "saved; integrators of fixed step take it, too.",
    ),
]
Sweep = Annotated[
    str,
    typer.Option(
        "--sweep",
        metavar="NAME=A:B:N",
        help="N values of a parameter from A to B, in its unit or with one: slope=2deg:5deg:7; or these: "
        "slope=2deg,3deg.",
        show_default=False,
        autocompletion=complete_sweep,
    ),
]
Print = Annotated[
    list[str],
    typer.Option(
        "-p",
        "--print",
        metavar="NAME",
        help="Print this state or output over time, in columns. May be given more than once.",
        autocompletion=complete_quantity("xzu", outputs=True),
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the random numbers.")]
Budget = Annotated[
    float,
    typer.Option(
        "--budget",
        metavar="SECONDS",
        help="How long a search may work \\[s]: for a gait once the machine is compiled, for a design after "
        "its first solution. What was left out by then is said.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Processes; as many as there are cores unless given."),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="WHERE",
        help="Where many runs are done: cpu, or cuda, a graphics card.",
        autocompletion=complete_word("cpu", "cuda"),
    ),
]
CompileFor = Annotated[
    str,
    typer.Option(
        "--compile-for",
        metavar="CARD",
        help="With --device cuda: compile for cards of this compute capability, 9.0 or sm_90, of which none "
        "need be here, and do nothing else; where the card is, the same command without it finds that in the "
        "cache.",
        show_default=False,
    ),
]

# ---- what comes out ----

Open = Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON document for machines instead of tables.", show_default=False
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        "--digits",
        metavar="N",
        min=1,
        max=17,
        help="Significant digits of printed numbers; 5 unless given. JSON and files have all.",
    ),
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Run again whenever a file that was read changes, until Ctrl-C.",
        show_default=False,
    ),
]
