"""`--watch`: a command is run again whenever a file that it read has changed."""

from __future__ import annotations

import importlib.util
import os
import sys
import time as clock
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from strut.cli.answer import CommandAnswer
from strut.cli.console import notes
from strut.cli.exit_status import ERROR_EXIT
from strut.codegen import cache_directory
from strut.errors import ModelError, StrutError

POLL_SECONDS = 0.2
"""Time [s] between looks at the files."""
SETTLE_SECONDS = 0.1
"""Time [s] that a changed file must stay as it is: editors write in several steps."""
WATCHED_SUFFIXES = (".py", ".toml", ".json", ".cdn", ".urdf", ".xml", ".csv", ".stl", ".obj", ".txt")
"""Suffixes of files that people edit and models are made of."""
Stamp = tuple[int, int]
"""When a file was changed last [ns], and its size [bytes]; zeros where it is not there."""


class FilesRead:
    """The files that a command reads, noted while it opens them, with what they were then.

    Python tells its audit hooks of every file that is opened: so includes, meshes and modules are found,
    whoever reads them. Files of Python, of strut and of the cache are left out.
    """

    def __init__(self, given: Iterable[Path]) -> None:
        self.stamps: dict[Path, Stamp] = {}
        self._given = [path.absolute() for path in given]
        self._recording = False
        own = Path(__file__).resolve().parents[1]
        self._elsewhere = [own, Path(sys.prefix), Path(sys.base_prefix), cache_directory()]
        sys.addaudithook(self._hear)

    def record(self, run: Callable[[], CommandAnswer]) -> CommandAnswer:
        """Run a command, and note what it reads; what earlier runs read counts, too: this one may end before
        it comes to that."""
        self.stamps = {path: file_stamp(path) for path in (*self._given, *self.stamps)}
        self._recording = True
        try:
            return run()
        finally:
            self._recording = False

    def changed_files(self) -> list[Path]:
        """Return the files that are not what they were when they were read."""
        return [path for path, stamp in self.stamps.items() if file_stamp(path) != stamp]

    def forget_modules(self) -> None:
        """Let Python read the user's own modules anew."""
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or os.devnull).absolute() in self.stamps:
                del sys.modules[name]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._recording or event != "open" or not isinstance(arguments[0], str):
            return
        name, mode = arguments[0], arguments[1] or "r"
        if any(letter in mode for letter in "wax+"):
            return
        if name.endswith(".pyc"):
            try:
                name = importlib.util.source_from_cache(name)
            except ValueError:
                return
        path = Path(name).absolute()
        if path.suffix.lower() not in WATCHED_SUFFIXES or path in self.stamps:
            return
        if not any(path.is_relative_to(place) for place in self._elsewhere):
            self.stamps[path] = file_stamp(path)


def file_stamp(path: Path) -> Stamp:
    """Return when a file was changed last, and its size."""
    try:
        state = path.stat()
    except OSError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


def repeat_on_change(run: Callable[[], CommandAnswer], given: list[Path]) -> None:
    """Run a command, and again whenever a file that it read has changed, until Ctrl-C. What a user can mend
    is said, and waited for. Ctrl-C while it waits exits as the last run did.

    given: files among the arguments. Raises ModelError where there is none.
    """
    if not given:
        raise ModelError(
            "--watch runs the command again when its file changes, and no file is given here: name a model "
            "file (FILE.toml, FILE.py, FILE.cdn, ...), or leave it out"
        )
    files = FilesRead(given)
    while True:
        code = _run_once(files, run)
        names = ", ".join(path.name for path in files.stamps)
        try:
            notes.print(escape(f"watching {names}: Ctrl-C ends"), soft_wrap=True)
            _wait_for_change(files)
        except KeyboardInterrupt:
            raise typer.Exit(code) from None
        files.forget_modules()


def _run_once(files: FilesRead, run: Callable[[], CommandAnswer]) -> int:
    """Run once and return the exit status; errors are printed, not raised."""
    try:
        files.record(run)
    except typer.Exit as ending:
        return int(ending.exit_code)
    except StrutError as error:
        notes.print(f"[red]error:[/red] {escape(str(error))}", soft_wrap=True)
        return ERROR_EXIT
    return 0


def _wait_for_change(files: FilesRead) -> None:
    """Return when a file has changed and stays as it is."""
    while not files.changed_files():
        clock.sleep(POLL_SECONDS)
    before: list[Stamp] = []
    while before != (now := [file_stamp(path) for path in files.stamps]) or (0, 0) in now:
        before = now
        clock.sleep(SETTLE_SECONDS)


__all__ = ["repeat_on_change"]
