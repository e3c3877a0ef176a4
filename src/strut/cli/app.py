"""The command `strut`: which commands there are, and how one is started.

A command is a function whose signature is its options and whose docstring is its help; `with_shared_options`
adds those that all have. Only the file of the command that was asked for is imported; the help, which lists
all, imports them all.
"""

from __future__ import annotations

import copy
import gc
import importlib
import os
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperArgument, TyperCommand

from strut.cli.answer import CommandAnswer, send
from strut.cli.command import help_text, with_shared_options
from strut.cli.completion import words_to_complete
from strut.cli.console import log_to_stderr, notes
from strut.cli.exit_status import ERROR_EXIT
from strut.errors import StrutError, did_you_mean
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
    "pareto": "strut.cli.pareto:pareto",
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
WITHOUT_NUMBERS = {"export", "view", "live", "studio", "reproduce", "check", "graph", "doctor"}
"""Commands that print no numbers which --digits could round; those of studies have the digits published."""
REPEATING = {"show", "run", "gait", "design", "control", "export", "live", "check", "monitor", "graph"}
"""Commands that read files which people edit, and can be run again when one changes."""
OTHER_WORDS = {
    ("run", "--method"): "--integrator",
    ("run", "-w"): "--print",
    ("run", "--param"): "--set",
    ("design", "--method"): "--transcription",
    ("design", "--step"): "--step-length",
    ("design", "--time"): "--step-time",
    ("design", "--duration"): "--step-time",
    ("control", "--method"): "--controller",
    ("gait", "--points"): "--sweep NAME=A:B:N",
    ("gait", "--method"): "--section",
    ("monitor", "-m"): "--print",
    ("monitor", "--monitor"): "--print",
    ("monitor", "-s"): "--seed",
    ("live", "--show"): "--open",
    ("jobs", "--export"): "--output",
    ("reproduce", "--step"): "--integration-step",
    **{(c, "--slope"): "--set slope=3deg" for c in ("show", "run", "gait", "control", "export", "live")},
}
"""Words that people try for an option, by command, and what it is called here."""
SWEEPING = ("run", "gait", "design", "control")
"""Commands that do what they do for each value of something (--sweep)."""
ClickError: Any = typer.BadParameter.__mro__[2]
"""What typer raises for words that no command takes: the class above those that it lets us name."""

HELP = """Describe a walking machine once; simulate it, look at it, hand it over as C or MATLAB.

[bold]Begin here[/bold]

  strut list                                      what there is to run
  strut run rimless-wheel -t 10                   ten seconds of walking
  strut run compass --set slope=3deg -o walk/     a page, data and plots
  strut design compass --speed 0.5 --slope 0deg   the cheapest way to walk
  strut export slip -o firmware/                  the same machine as C99

Every command has its own --help, or -h, and --json, which prints one document for machines. The tab key \
completes after --install-completion."""
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


class NamedCommand(TyperCommand):
    """A command in whose help an argument has its own name alone: "MODEL", and not "MODEL <str>"."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for each in self.params:
            if isinstance(each, TyperArgument) and each.metavar:
                each.type = copy.copy(each.type)  # which others share
                each.type.get_metavar = lambda **_: ""  # type: ignore[method-assign]  # the help shows it


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
        command = with_shared_options(
            name,
            getattr(importlib.import_module(module), function),
            numbers=name not in WITHOUT_NUMBERS,
            repeats=name in REPEATING,
        )
        app.command(name, cls=NamedCommand, help=help_text(command.__doc__ or ""))(command)
    return app


def command_names() -> typer.Typer:
    """Make a command line that has the names of all commands and nothing more: for the tab key, which would
    wait for what they import."""
    app = typer.Typer(add_completion=True)
    app.callback()(common)
    for name in COMMANDS:
        app.command(name)(_print_version)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; print an error that strut understands as one sentence, without a
    traceback.

    arguments: the words after `strut`; those of this process unless given.
    """
    log_to_stderr()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        sys.exit(_run(words or ["--help"], own_process=arguments is None))
    except StrutError as error:
        _print_error(str(error))
    except ClickError as error:
        # Nothing answered yet: these words never reached a command.
        sentence = usage_sentence(error, words)
        if "--json" in words:
            refused = CommandAnswer(words[0] if words[0] in COMMANDS else "", json=True)
            refused.error = {"kind": "UsageError", "text": sentence}
            send(refused, ok=False)
        _print_error(sentence)
    except typer.Abort:
        _print_error("the input ended")
    sys.exit(ERROR_EXIT)


def _run(words: list[str], own_process: bool) -> int:
    """Run the words of a command line, and return the exit status. own_process: whether the process ends
    with it, so that looking through what was imported for garbage, and at the end through everything, is
    time for nothing."""
    completed = words_to_complete(os.environ) if own_process else None
    first = (words if completed is None else completed)[:1]
    with pause_gc():  # of what is imported, everything stays
        if first and first[0] in COMMANDS:
            app = application(first)
        else:
            app = application(COMMANDS) if completed is None else command_names()
    if own_process:
        gc.freeze()
    try:
        status = typer.main.get_command(app).main(args=words, prog_name="strut", standalone_mode=False)
    finally:
        if own_process:
            gc.freeze()
    return status if isinstance(status, int) else 0


def _print_error(sentence: str) -> None:
    notes.print(f"[red]error:[/red] {escape(sentence)}", soft_wrap=True)


def usage_sentence(error: Any, words: list[str]) -> str:
    """Return what is wrong with the words of a command line, what was meant, and where the help is."""
    first = words[0] if words else ""
    if first not in COMMANDS and not first.startswith("-"):
        return f"strut has no command '{first}': {did_you_mean(first, list(COMMANDS))}"
    where = f"strut {first}" if first in COMMANDS else "strut"
    option = getattr(error, "option_name", "")
    # an option that takes no value has one of these names, too: only unknown ones have possibilities
    if option and hasattr(error, "possibilities"):
        flags = [flag for each in error.ctx.command.params for flag in each.opts] if error.ctx else []
        other = _other_word(first, option, words)
        hint = f"did you mean '{other}'?" if other else did_you_mean(option, flags).partition("known:")[0]
        if option == "--sweep":
            hint = f"the commands that sweep are {', '.join(SWEEPING[:-1])} and {SWEEPING[-1]};"
        return (
            f"{where} has no option '{option}': {hint.strip() or 'none is like it;'} {where} --help lists all"
        )
    message = error.format_message().rstrip(".")
    extra = [word for word in words[1:] if word in message]
    if "--watch" in words and extra and "extra argument" in message:
        message += f"; --watch runs again when a file changes: to print '{extra[-1]}' over time, --print"
    return f"{message[:1].lower()}{message[1:]}; {where} --help says more"


def _other_word(command: str, option: str, words: list[str]) -> str:
    """Return what a word that people try for an option is called here, with the value that they gave it;
    empty where nothing else does it."""
    other = OTHER_WORDS.get((command, option), "")
    name, equals, _ = other.partition("=")
    if not other.startswith("--set ") or not equals:
        return other
    option_word = next((word for word in words if word.partition("=")[0] == option), option)
    after = words[words.index(option_word) + 1 :] if option_word in words else []
    value = option_word.partition("=")[2] or next((word for word in after[:1] if word[:2] != "--"), "")
    return f"{name}={value}" if value else other


__all__ = ["COMMANDS", "application", "main"]
