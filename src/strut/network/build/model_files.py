"""Finds files that models name, and reads texts and tables of numbers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from strut.confine import Roots, resolve_inside, resolve_roots
from strut.errors import StorageError
from strut.network.lower.whole_numbers import whole
from strut.network.text.errors import Mistake, Source

MAX_FILE_SIZE = 50_000_000
"""Size of a file that is read, at most [bytes]."""


@dataclass(frozen=True)
class NumberTable:
    """Columns of numbers over time [s]: `values` has a row for each time and a column for each name."""

    names: tuple[str, ...]
    time: np.ndarray
    values: np.ndarray


class ModelFiles:
    """Finds files: beside the one that names them, where one is, in given roots and CODYN_IMPORT_PATH, and in
    our own library.

    model: the file of the whole network. What lies neither in its folder, nor in a root, nor in the library
        is not read.
    """

    def __init__(self, model: str = "", roots: Roots = ()) -> None:
        self.folder = Path(model).parent
        self.library = Path(str(resources.files("strut.network"))) / "library"
        self.roots = resolve_roots(roots)
        self.roots += tuple(
            Path(p).resolve() for p in os.environ.get("CODYN_IMPORT_PATH", "").split(":") if p
        )

    def find(self, path: str, beside: str = "") -> Path:
        """Return where a file is; `beside` is the file that names it. Raises `Mistake` if it is nowhere, or
        where nothing may be read."""
        try:
            relative = Path(os.path.expanduser(path.strip()))
            places = [Path(beside).parent, Path(), *self.roots] if not relative.is_absolute() else [Path()]
            for place in places:
                if _is_file(file := place / relative):
                    resolve_inside(
                        file, self.folder, (*self.roots, self.library.resolve()), f"'{path}' is named"
                    )
                    return file
            own = self.library / relative
            if not relative.is_absolute() and ".." not in relative.parts and _is_file(own):
                return own
        except StorageError as error:
            raise Mistake(str(error)) from error
        except (
            OSError,
            ValueError,
            RuntimeError,
        ) as error:  # a path too long, with a zero in it, or of a user who is not there
            raise Mistake(f"'{path[:80]}' is no path of a file") from error
        raise Mistake(
            f"there is no file '{path}': looked beside {beside or 'the model'}, here, in CODYN_IMPORT_PATH "
            f"and in the library"
        )

    def source(self, path: str, beside: str) -> Source:
        """Return the text of a file that another one names."""
        return read_source(self.find(path, beside))

    def columns(self, path: Path, settings: Mapping[str, str]) -> list[str]:
        """Return the names of the columns of a table."""
        return list(read_table(path, settings).names)


def _is_file(path: Path) -> bool:
    """Is there a file? A path that no file can have is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # no system has files of such names
        return False


def read_source(path: Path) -> Source:
    """Read a file as text. Raises `Mistake` if it cannot be read, is too long, or is no text in UTF-8."""
    try:
        if path.stat().st_size > MAX_FILE_SIZE:
            raise Mistake(f"{path} is longer than {MAX_FILE_SIZE} bytes: no model is")
        return Source(str(path), path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Mistake(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Mistake(f"cannot read {path}: it is no text in UTF-8") from error


def read_table(path: Path, settings: Mapping[str, str]) -> NumberTable:
    """Read a table of numbers, its columns separated by tabs, commas or blanks; a first line may name them.

    settings: "dt" is the time between rows [s]; without it, a column named t or time has the times, or the
        one whose number is "time-column" (from 0). Raises `Mistake` if it is no such table.
    """
    rows = [
        line.replace(",", " ").replace("\t", " ").split()
        for line in read_source(path).text.splitlines()
        if line.strip() and line.strip()[0] != "#"
    ]
    if not rows:
        raise Mistake(f"{path} has no rows")
    names = [f"column{k}" for k in range(len(rows[0]))]
    try:
        [float(word) for word in rows[0]]
    except ValueError:
        names, rows = rows[0], rows[1:]
    try:
        values = np.array([[float(word) for word in row] for row in rows])
    except ValueError as error:
        raise Mistake(f"{path} is no table of numbers: every row needs {len(names)} of them") from error
    if values.ndim != 2 or values.shape[1] != len(names):
        raise Mistake(f"{path} is no table of numbers: every row needs {len(names)} of them")
    dt = float(settings.get("dt", "0") or 0)
    if dt > 0:
        return NumberTable(tuple(names), dt * np.arange(len(values)), values)
    time_columns = [k for k, n in enumerate(names) if n.lower() in ("t", "time")]
    column = time_columns[0] if time_columns else whole(settings.get("time-column", "0") or 0)
    if not 0 <= column < len(names):
        raise Mistake(f"{path} has {len(names)} columns: there is no column {column} of times")
    names[column] = "time"
    if np.any(np.diff(values[:, column]) <= 0):
        raise Mistake(f"the times in {path} do not increase")
    return NumberTable(tuple(names), values[:, column], values)
