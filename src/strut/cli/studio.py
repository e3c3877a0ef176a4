"""`strut studio`: models are edited, run, designed and looked at in the browser."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from strut.cli.answer import current_answer, note, present, send
from strut.cli.console import out
from strut.cli.options import Open
from strut.cli.progress import paused_progress
from strut.errors import StorageError
from strut.studio import CommandForm, FormField, Workspace, serve
from strut.studio.server import PORT

STARTED_HERE = {"run": "", "gait": "", "design": "", "live": ".html", "evolve": ".db"}
"""Commands that the page starts, and what the name of the file that each writes ends in; nothing for a
folder."""
NOT_IN_FORMS = {
    "json",
    "no_page",
    "digits",
    "watch",
    "printed",
    "show",
    "help",
    "resume",
    "run_code",
    "on",
    "workers",
    "address",
    "priority",
}
"""Options that a page has no use for, or that would run programs. Those that name files have no field
either: what a task writes has its place, and nothing outside of the folder is read."""
COMMAND_NEEDS = {
    "run": ("model",),
    "gait": ("model", "events"),
    "design": ("model", "walks"),
    "live": ("model", "memoryless"),
    "evolve": ("job",),
}
"""What each command needs of a model (`studio.forms.REASONS`)."""
FIELD_NEEDS = {
    ("run", "drive"): "inputs",
    ("run", "seed"): "random",
    ("run", "stops"): "robot file",
    ("run", "ignore"): "MJCF file",
    ("gait", "drive"): "inputs",
    ("design", "drive"): "inputs",
    ("design", "motor"): "inputs",
    ("design", "torque"): "inputs",
    ("live", "drive"): "inputs",
    ("live", "stops"): "robot file",
    ("live", "ignore"): "MJCF file",
}
"""What options need of a model, by command and name."""
BELONGS_TO = {
    ("gait", "cells"): "basin",
    ("gait", "device"): "basin",
    ("design", "gear"): "motor",
    ("design", "motor_spring"): "motor",
}
"""Options that say nothing without another one, by command and name."""
KINDS = {"int": "integer", "float": "number"}
"""Kinds of fields, by what click calls the type of an option, without its range."""
FILE_TYPES = {"path", "file", "directory", "filename"}
"""What click calls types of options that name files."""


def studio(
    place: Annotated[
        Path, typer.Argument(metavar="[FILE|FOLDER]", help="A folder of models, or one model in it.")
    ] = Path(),
    *,
    port: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=65535, help="Where it listens, on this machine alone; 0 for any."
        ),
    ] = PORT,
    show: Open = True,
) -> None:
    """Edit models in the browser, with their mistakes marked as you type, and run them, find their gaits,
    design them and search with populations from there. Files stay plain files in your folder, and results go
    to its folder results/, where the other commands find them.

    Nothing leaves this machine, and only the page that the printed address opens is answered. Programs
    (.py) can be edited, but are never run from the page. Ctrl-C ends the studio; what was started goes on.

    [bold]Examples[/bold]

      strut studio

      strut studio examples/

      strut studio biped.toml --no-open
    """
    if not place.exists():
        raise StorageError(f"there is no file or folder {place}: make the folder first, or give another")
    folder = place if place.is_dir() else place.parent
    workspace = Workspace(folder)
    selected = "" if place.is_dir() else place.name

    def tell(address: str) -> None:
        present(
            {"address": address, "folder": str(workspace.folder)},
            lambda: out.print(escape(address), soft_wrap=True),
        )
        note(f"the studio of {workspace.folder} runs until Ctrl-C")
        if current_answer().json:
            send(current_answer(), ok=True)  # at once: whoever started it needs the address
        if show:
            webbrowser.open(address)

    forms = command_forms()
    with paused_progress():
        serve(workspace, forms, port=port, selected=selected, on_ready=tell)


def command_forms() -> list[CommandForm]:
    """Return the forms of what the page starts, made of the options that the commands have."""
    from strut.cli.app import application  # which imports the files of all these commands

    group: Any = typer.main.get_command(application(STARTED_HERE))
    return [_form(name, group.commands[name]) for name in STARTED_HERE]


def _form(name: str, command: Any) -> CommandForm:
    about = re.split(r"\n\s*\n", command.help or "")[0]
    return CommandForm(
        command=name,
        about=_plain(" ".join(about.split())),
        subject="job" if name == "evolve" else "model",
        fields=tuple(
            _field(name, option)
            for option in command.params
            if option.param_type_name == "option"
            and option.name not in NOT_IN_FORMS
            and option.type.name not in FILE_TYPES
        ),
        suffix=STARTED_HERE[name],
        needs=COMMAND_NEEDS[name],
    )


def _field(command: str, option: Any) -> FormField:
    default = "" if option.default is None or callable(option.default) else option.default
    default_text = "" if isinstance(default, (list, tuple, bool)) else str(default)
    return FormField(
        name=option.name,
        flag=max(option.opts, key=len),
        kind="switch" if option.is_flag else KINDS.get(option.type.name.split()[0], "text"),
        help=_plain(option.help or ""),
        default=default_text,
        repeats=option.multiple,
        needs=FIELD_NEEDS.get((command, option.name), ""),
        belongs_to=BELONGS_TO.get((command, option.name), ""),
    )


def _plain(text: str) -> str:
    """Help without marks for bold type and for brackets."""
    return re.sub(r"\[/?bold\]", "", text).replace("\\[", "[")
