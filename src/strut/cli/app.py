"""The command `strut`: which commands there are, and how one is started.

A command is a function whose signature is its options and whose docstring is its help. Only the file of the
command that was asked for is imported; the help, which lists all, imports them all.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.markup import escape

from strut.cli.console import log_to_stderr, notes
from strut.errors import StrutError
from strut.gc_pause import pause_gc
from strut.version import VERSION

COMMANDS = {
    "list": "strut.cli.list_models:list_models",
    "show": "strut.cli.show_model:show",
    "run": "strut.cli.run:run",
    "gait": "strut.cli.gait:gait",
    "design": "strut.cli.design:design",
    "control": "strut.cli.control:control",
    "evolve": "strut.cli.evolve:evolve",
    "jobs": "strut.cli.jobs:jobs",
    "compare": "strut.cli.compare:compare",
    "export": "strut.cli.export:export",
    "view": "strut.cli.look:view",
    "live": "strut.cli.live:live",
    "studio": "strut.cli.studio:studio",
    "reproduce": "strut.cli.reproduce:reproduce",
    "check": "strut.cli.network:check",
    "monitor": "strut.cli.network:monitor",
    "graph": "strut.cli.network:graph",
    "repl": "strut.cli.network:repl",
    "doctor": "strut.cli.doctor:doctor",
}
"""Module and function of every command, by its name and in the order of the help."""

HELP = """Describe a walking machine once; simulate it, look at it, hand it over as C or MATLAB.

[bold]Begin here[/bold]

  strut list                                      what there is to run

  strut run rimless-wheel -t 10                   ten seconds of walking

  strut run compass --set slope=3deg -o walk/     a page, data and plots

  strut export slip -o firmware/                  the same machine as C99

Every command has its own --help, or -h. The tab key completes after --install-completion."""
"""What `strut --help` says."""


def _print_version(show: bool) -> None:
    if show:
        print(VERSION)
        raise typer.Exit


def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Options of strut itself."""


def application(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """Make the command line of some commands; import their files.

    names: keys of `COMMANDS`; all of them unless given.
    """
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help=HELP,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(common)
    for name in names:
        module, function = COMMANDS[name].split(":")
        app.command(name)(getattr(importlib.import_module(module), function))
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; print an error that strut understands as one sentence, without a traceback.

    arguments: the words after `strut`; those of this process unless given.
    """
    log_to_stderr()
    words = sys.argv[1:] if arguments is None else arguments
    names = words[:1] if words and words[0] in COMMANDS else COMMANDS
    try:
        with pause_gc():  # of what is imported, everything stays
            app = application(names)
        app(args=words)
    except StrutError as error:
        notes.print(f"[red]error:[/red] {escape(str(error))}", soft_wrap=True)
        sys.exit(2)
