"""How every command runs: the options that all share, progress while it takes long, one answer at its end,
and again when a file changes."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from strut.cli.answer import CommandAnswer, answer_scope, finish, note, warn
from strut.cli.options import Digits, Json, Watch
from strut.cli.progress import ACTIVITY
from strut.errors import StrutError
from strut.interrupts import reveal_interrupts

INDENT_MARK = "[default][/default]"
"""Stands before an indented line of a help, shows nothing and keeps the indentation, which is else removed
where all lines but the first have it."""


def with_shared_options(
    name: str, function: Callable[..., None], *, numbers: bool, repeats: bool
) -> Callable[..., None]:
    """Return a command with the options that it shares with others: --json; --digits where it prints numbers;
    --watch where it reads files that people edit.

    name: of the command. function: what it does, from its own options.
    """
    signature = inspect.signature(function, eval_str=True)
    shared: dict[str, Any] = {"json": (Json, False)}
    shared |= {"digits": (Digits, None)} if numbers else {}
    shared |= {"watch": (Watch, False)} if repeats else {}
    parameters = [
        inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for word, (annotation, default) in shared.items()
    ]

    @functools.wraps(function)
    def command(**arguments: Any) -> None:
        json, digits, watch = (arguments.pop(word, None) for word in ("json", "digits", "watch"))

        def run_once() -> CommandAnswer:
            answer = CommandAnswer(name, bool(json), digits, one_line=bool(watch))
            run_command(answer, functools.partial(function, **arguments))
            return answer

        if watch:
            from strut.cli.repeat import repeat_on_change

            repeat_on_change(run_once, files_given(arguments))
        else:
            run_once()

    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    command.__signature__ = signature.replace(parameters=[*own, *parameters])  # type: ignore[attr-defined]  # typer reads it
    return command


def help_text(docstring: str) -> str:
    """Return a docstring as the help prints it: paragraphs without line breaks of their own, which the
    terminal makes, and examples (indented) below each other."""
    lines: list[str] = []
    for paragraph in inspect.cleandoc(docstring).split("\n\n"):
        is_example = paragraph.startswith(" ")
        text = f"{INDENT_MARK}{paragraph}" if is_example else " ".join(paragraph.split())
        follows_example = bool(lines) and lines[-1].startswith(INDENT_MARK) and is_example
        lines += [text] if follows_example or not lines else ["", text]
    return "\n".join(lines)


def run_command(answer: CommandAnswer, function: Callable[[], None]) -> None:
    """Run a command once: with its progress, its warnings as messages, and its answer at the end, whatever
    the end is. Raises what the command raises."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        warn(str(message))

    with answer_scope(answer), ACTIVITY.show_while(), warnings.catch_warnings():
        warnings.showwarning = show
        ok = False
        try:
            with reveal_interrupts():
                function()
                ok = True
        except typer.Exit as ending:
            ok = ending.exit_code == 0
            raise
        except StrutError as error:
            answer.error = {"kind": type(error).__name__, "text": str(error)}
            raise
        except KeyboardInterrupt:
            answer.error = {"kind": "KeyboardInterrupt", "text": "interrupted"}
            files_text = "what was written by then is kept" if answer.files else "nothing is kept"
            note(f"interrupted: {files_text}")
            raise
        except Exception as error:
            answer.error = {"kind": type(error).__name__, "text": str(error)}
            raise
        finally:
            finish(answer, ok=ok)


def files_given(arguments: Mapping[str, Any]) -> list[Path]:
    """Return the files among the arguments of a command that are there, but not those that it writes."""
    words: list[str] = []
    for name, value in arguments.items():
        if name in ("output", "export", "page"):
            continue
        values: Iterable[Any] = value if isinstance(value, (list, tuple)) else [value]
        words += [str(each) for each in values if isinstance(each, (str, Path)) and str(each)]
    candidates = [Path(word if Path(word).is_file() else word.partition(":")[0]) for word in words]
    return [path for path in candidates if path.is_file()]


__all__ = ["help_text", "with_shared_options"]
