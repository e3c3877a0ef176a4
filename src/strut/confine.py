"""Files that a model names: only in the model's own folder, and in folders that the user gives."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from strut.errors import StorageError

Roots = Iterable[str | os.PathLike[str]]
"""Folders from which a model may read, besides its own."""


def resolve_roots(roots: Roots) -> tuple[Path, ...]:
    """Return the folders with all links followed; raise `StorageError` for one that is no folder."""
    if isinstance(roots, (str, bytes, os.PathLike)):
        raise StorageError(f"roots is {roots!r}: give a list of folders, roots=[{str(roots)!r}]")
    folders = []
    for root in roots:
        try:
            folder = Path(root).expanduser().resolve()
            is_folder = folder.is_dir()
        except (TypeError, ValueError, OSError, RuntimeError) as error:
            raise StorageError(f"the root {root!r} is no folder ({error})") from error
        if not is_folder:
            raise StorageError(f"the root '{root}' is no folder: give one that exists")
        folders.append(folder)
    return tuple(folders)


def is_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Does the path, all links followed, lie in one of these folders, which are whole already?"""
    whole = path.resolve()
    return any(whole.is_relative_to(folder) for folder in folders)


def resolve_inside(path: Path, folder: Path, roots: Iterable[Path], what: str) -> Path:
    """The path, all links followed, if it lies in the model's folder or in a root; else `StorageError`, which
    says how to allow it. `what` begins the error: "oscillators.cdn includes 'x'". Nothing of the file is
    read."""
    if not is_inside(path, (folder.resolve(), *roots)):
        raise StorageError(f"{what}, {outside(path, folder)}")
    return path.resolve()


def outside(path: Path, folder: Path) -> str:
    """What to say of a path that leaves the folder of a model."""
    return (
        f"which leads outside of the model's folder {folder.resolve()}: if you trust it, give its folder, "
        f"roots=['{path.resolve().parent}'] in Python or --root on the command line"
    )
