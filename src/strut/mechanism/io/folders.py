"""Which files a model of others may name: those in its own folder, and in folders that the user trusts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from strut.confine import is_inside, resolve_roots
from strut.errors import ModelError

MAX_LEVELS_ABOVE = 3
"""Levels above a model's folder up to which a folder is suggested as a root."""


class Folders:
    """The folder of a model, and `roots`, further ones that may be read. A path that leads out of all of
    them, by '..', by being absolute or by a link, is refused before anything there is looked at."""

    def __init__(self, file: str | Path | None, roots: Sequence[str | Path] = ()) -> None:
        self.where = str(file) if file is not None else "MJCF"
        self.allowed = list(resolve_roots(roots))
        self.home = (
            Path(file).resolve().parent if file is not None else (self.allowed[0] if self.allowed else None)
        )
        if self.home is not None:
            self.allowed.insert(0, self.home)

    def path(self, name: str, what: str, beside: Path | None = None) -> Path:
        """The whole path of what the model calls `name`, counted from `beside`, or else from the model's
        folder."""
        if self.home is None:
            raise ModelError(
                f"{self.where}: {what} is in the file '{name}', and a model given as text has no folder: "
                f"load its file with "
                "mjcf.load, or give parse the folder, roots=['FOLDER']"
            )
        if "\0" in name or not name:
            raise ModelError(f"{self.where}: {what} names no file")
        try:
            whole = os.path.normpath(
                (beside or self.home) / name.replace("\\", "/")
            )  # '..' first, as MuJoCo does, then links
            target = Path(whole).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a circle of links, a name too long
            raise ModelError(f"{self.where}: {what} is in '{name[:60]}', which is no path") from error
        if not is_inside(target, self.allowed):
            folder = self.suggest(target)
            raise ModelError(
                f"{self.where}: {what} is in '{name}', which is outside of the model's folder: if you trust "
                f"it, name the folder "
                f"that may be read too, roots=['{folder}'] or --root {folder}"
            )
        return target

    def suggest(self, target: Path) -> Path:
        """A root that would hold a file: the folder above it and the model where that is near, else its
        own."""
        assert self.home is not None
        try:
            above = Path(os.path.commonpath([self.home, target]))
        except ValueError:  # on another drive
            return target.parent
        near = len(self.home.relative_to(above).parts) <= MAX_LEVELS_ABOVE and above != Path(above.anchor)
        return above if near else target.parent

    def find(self, name: str, what: str, beside: Path | None = None) -> Path:
        """The path of a file that exists, checked as `path` does."""
        file_path = self.path(name, what, beside)
        try:
            there = file_path.is_file()
        except OSError:
            there = False
        if not there:
            raise ModelError(f"{self.where}: {what} is in '{name}', and there is no such file: {file_path}")
        return file_path
