"""The answer of a command: tables for people or one JSON document for machines, what is said beside it, and
which files were written. Every command answers through here, so that all answer alike.

The JSON document is an envelope: {"strut": version, "command": name, "ok": whether all went well, "result":
what the command found, "files": what it wrote, "messages": what it said beside, "error": what stopped it}.
"""

from __future__ import annotations

import json as documents
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.markup import escape

from strut.cli.console import notes, out
from strut.cli.progress import hide_progress
from strut.files import WRITTEN_LISTENERS
from strut.version import VERSION

DEFAULT_DIGITS = 5
"""[1] Significant digits of printed numbers, where nothing else is asked."""
DATA_DIGITS = 12
"""[1] Significant digits of columns that are written to a file or a pipe: data, as of a table .csv."""
MAX_DIGITS = 17
"""[1] More significant digits no double has."""
MAX_PLAIN_NUMBER = 1e9
"""[1] Numbers up to this are written without a power of ten."""
MAX_FILES_BY_NAME = 3
"""[1] Files of a folder that are announced by name; of more, their number."""
INTERNAL_SUFFIXES = (".lock", ".request", ".state")
"""Suffixes of files by which processes of a job talk to each other."""
PAGE_SUFFIX = ".html"
"""Suffix of pages, which are worth opening."""


@dataclass
class CommandAnswer:
    """What a command answers.

    command: its name. json: whether it answers in JSON. digits: significant digits of printed numbers; None
        where nothing was asked. one_line: whether the JSON document is one line, since others follow it.
    result: for machines, what it found. messages: what was said beside, each with its kind: note, warning,
        hint or error. files: what it wrote. hints: what to do with these. error: class and text of what
        stopped it. sent: whether it was printed.
    """

    command: str = ""
    json: bool = False
    digits: int | None = None
    one_line: bool = False
    result: Any = None
    messages: list[dict[str, str]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    error: dict[str, str] | None = None
    sent: bool = False

    def envelope(self, *, ok: bool) -> dict[str, Any]:
        """Return the document that --json prints."""
        return {
            "strut": VERSION,
            "command": self.command,
            "ok": ok,
            "result": self.result,
            "files": [str(path) for path in self.files],
            "messages": self.messages,
            "error": self.error,
        }


_answers = [CommandAnswer()]
"""The answer of the command that is running is the last."""


def current_answer() -> CommandAnswer:
    """Return the answer of the command that is running."""
    return _answers[-1]


@contextmanager
def answer_scope(answer: CommandAnswer) -> Iterator[CommandAnswer]:
    """Let a command answer through this; files that are written meanwhile are noted."""
    _answers.append(answer)
    WRITTEN_LISTENERS.append(note_written)
    try:
        yield answer
    finally:
        WRITTEN_LISTENERS.remove(note_written)
        _answers.remove(answer)


# ---- what commands say ----


def present(data: Any, print_text: Callable[[], None]) -> None:
    """Give the result of a command: to machines its data, to people what `print_text` prints.

    data: what JSON can say, or a function that returns it, where that takes time.
    """
    hide_progress()
    answer = current_answer()
    if answer.json:
        answer.result = data() if callable(data) else data
    else:
        print_text()


def print_more(print_text: Callable[[], None]) -> None:
    """Print more of a result for people; machines have it in the data."""
    if not current_answer().json:
        hide_progress()
        print_text()


def note(text: str) -> None:
    """Say something beside the result: on standard error, or among the messages of the envelope."""
    _say("note", text)


def warn(text: str, *, plain: bool = False) -> None:
    """Say what may be wrong, in yellow. plain: without the word warning before it."""
    _say("warning", text, style="yellow", lead="" if plain else "warning:")


def hint(text: str) -> None:
    """Say what to do next with the files that were written: after these are announced."""
    answer = current_answer()
    answer.messages.append({"kind": "hint", "text": text})
    answer.hints.append(text)


def complain(text: str) -> None:
    """Say what is wrong, in red; also on standard error where the answer is JSON, since people look there."""
    _say("error", text, style="red")


def _say(kind: str, text: str, *, style: str = "default", lead: str = "") -> None:
    answer = current_answer()
    message = {"kind": kind, "text": text}
    if message in answer.messages:
        return  # a file that is read twice says the same twice
    answer.messages.append(message)
    if answer.json and kind != "error":
        return
    hide_progress()
    line = f"[{style}]{lead}[/] {escape(text)}" if lead else f"[{style}]{escape(text)}[/]"
    notes.print(line, soft_wrap=True)


def current_digits() -> int:
    """Return how many significant digits printed numbers have: as --digits says, or five."""
    return current_answer().digits or DEFAULT_DIGITS


def number_text(value: float, digits: int | None = None) -> str:
    """Return a number for people: five significant digits, or as --digits says; without a power of
    ten where it can be read without one.

    digits: instead of what the command was asked for.
    """
    digits = digits or current_digits()
    if math.isfinite(value) and 10**digits <= abs(value) < MAX_PLAIN_NUMBER:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def data_number(value: float) -> str:
    """Return a number of a column over time: for people on a terminal as `number_text` does, and into files
    and pipes with more digits, since it is data there; as --digits says where it does."""
    digits = current_answer().digits or (DEFAULT_DIGITS if out.is_terminal else DATA_DIGITS)
    return f"{value:.{digits}g}"


def print_columns(columns: dict[str, Any]) -> None:
    """Print columns over time with tabs between them; times with all digits that they need."""
    hide_progress()
    print("\t".join(columns))
    for first, *others in zip(*columns.values(), strict=True):
        print("\t".join([f"{first:.{DATA_DIGITS}g}", *map(data_number, others)]))


# ---- files ----


def note_written(path: Path) -> None:
    """Note that a file was written: it is announced when the command ends. Files of the cache and hidden ones
    are nobody's business."""
    from strut.codegen import cache_directory  # on demand: `strut list` starts sooner without it

    files = current_answer().files
    hidden = path.name.startswith(".") or path.suffix in INTERNAL_SUFFIXES
    if not hidden and path not in files and not path.absolute().is_relative_to(cache_directory().absolute()):
        files.append(path)


def announce_files(answer: CommandAnswer) -> None:
    """Say on standard error which files a command wrote: each, or of a folder with many, how many; which page
    to open, and what else to do with them."""
    for folder, files in _by_folder(answer.files).items():
        if len(files) <= MAX_FILES_BY_NAME:
            for path in files:
                notes.print(f"wrote {escape(str(path))}", soft_wrap=True)
            continue
        pages = [path for path in files if path.suffix == PAGE_SUFFIX and not path.stem.endswith("-live")]
        page = next((path for path in pages if path == folder / "index.html"), pages[0] if pages else None)
        look = f"; open {page}" if page is not None else ""
        notes.print(escape(f"wrote {len(files)} files to {folder}/{look}"), soft_wrap=True)
    for text in answer.hints:
        notes.print(escape(text), soft_wrap=True)


def _by_folder(files: list[Path]) -> dict[Path, list[Path]]:
    """Return files by the outermost folder of each that another of them lies in, too."""
    parents = {path.parent for path in files}
    folders: dict[Path, list[Path]] = {}
    for path in files:
        above = [each for each in path.parents if each in parents and each != Path()]
        folders.setdefault(above[-1] if above else path.parent, []).append(path)
    return folders


# ---- the end ----


def send(answer: CommandAnswer, *, ok: bool) -> None:
    """Print the envelope, once."""
    if answer.sent:
        return
    hide_progress()
    document = plain_data(answer.envelope(ok=ok))
    print(documents.dumps(document, indent=None if answer.one_line else 1, allow_nan=False), flush=True)
    answer.sent = True


def finish(answer: CommandAnswer, *, ok: bool) -> None:
    """End an answer: print the envelope, or say which files were written."""
    hide_progress()
    if answer.json:
        send(answer, ok=ok)
    else:
        announce_files(answer)


def plain_data(item: Any) -> Any:
    """Return data as JSON can say it: what is not finite becomes null, arrays become lists, paths texts."""
    if isinstance(item, dict):
        return {str(key): plain_data(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [plain_data(value) for value in item]
    if isinstance(item, float):
        return float(item) if math.isfinite(item) else None
    if item is None or isinstance(item, (bool, int, str)):
        return item
    numbers = getattr(item, "tolist", None)  # of numpy, which `strut list` starts sooner without
    if numbers is not None:
        return plain_data(numbers())
    return str(item) if isinstance(item, Path) else item


__all__ = [
    "CommandAnswer",
    "announce_files",
    "answer_scope",
    "complain",
    "current_answer",
    "current_digits",
    "data_number",
    "finish",
    "hint",
    "note",
    "note_written",
    "number_text",
    "plain_data",
    "present",
    "print_columns",
    "print_more",
    "send",
    "warn",
]
