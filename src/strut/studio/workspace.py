"""`Workspace`: the folder that a studio works in: its models, which are plain files, and its results."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from strut.confine import is_inside
from strut.errors import StorageError, UnknownNameError
from strut.files import put

MODEL_SUFFIXES = (".cdn", ".toml", ".urdf", ".xml")
"""Suffixes of models, which are data: they may be run from the page."""
TEXT_SUFFIXES = (*MODEL_SUFFIXES, ".py")
"""Suffixes of files that may be edited. Python is a program: the page never runs it."""
RESULTS = "results"
"""Folder of results, in that of the models."""
MAX_BYTES = 2_000_000
"""Size [bytes] beyond which a text is not edited in a page."""
MAX_FILES = 2000
"""How many files of a folder are listed at most."""


@dataclass(frozen=True)
class TextFile:
    """A file as it was read: its text, and a version that another text does not have."""

    name: str
    text: str
    version: str


class ConflictError(StorageError):
    """A file was changed by someone else since it was read; nothing was written."""

    def __init__(self, name: str, now: TextFile | None = None) -> None:
        super().__init__(f"'{name}' was changed elsewhere since it was opened here: nothing was written")
        self.now = now


class Workspace:
    """A folder of models. Only files in it are read and written, and only texts of models."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().resolve()
        if not self.folder.is_dir():
            raise StorageError(f"there is no folder {self.folder}: make it first, or give another")

    @property
    def results(self) -> Path:
        """Where results are."""
        return self.folder / RESULTS

    def names(self) -> list[str]:
        """Return the files that can be edited, by their paths from the folder; hidden ones and results are
        left out."""
        names: list[str] = []
        folders = [self.folder]
        while folders and len(names) <= MAX_FILES:
            here = folders.pop()
            for path in sorted(here.iterdir(), key=lambda each: each.name.lower()):
                if path.name.startswith(".") or path == self.results or not is_inside(path, [self.folder]):
                    continue
                if path.is_dir() and not path.is_symlink():
                    folders.append(path)
                elif path.suffix in TEXT_SUFFIXES and path.is_file():
                    names.append(path.relative_to(self.folder).as_posix())
        return sorted(names, key=lambda name: (name.count("/"), name.lower()))

    def path(self, name: str) -> Path:
        """Return where a file is or will be; raise where it lies outside of the folder or is no text."""
        relative = Path(name)
        if (
            not name
            or "\0" in name
            or relative.is_absolute()
            or any(part.startswith((".", "-")) for part in relative.parts)
        ):
            raise StorageError(f"'{name}' is no file of this studio: give a path inside of its folder")
        path = self.folder / relative
        if not is_inside(path, [self.folder]):
            raise StorageError(f"'{name}' leads outside of the folder of this studio")
        if path.suffix not in TEXT_SUFFIXES:
            raise StorageError(f"'{name}' cannot be edited: texts end in {', '.join(TEXT_SUFFIXES)}")
        return path

    def read(self, name: str) -> TextFile:
        """Return a file's text."""
        path = self.path(name)
        if not path.is_file():
            raise UnknownNameError(f"there is no file '{name}' in {self.folder.name}")
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise StorageError(f"'{name}' has {len(data)} bytes: more than {MAX_BYTES} are not edited here")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise StorageError(f"'{name}' is no text in UTF-8: byte {error.start} is none") from error
        return TextFile(name, text, _version(data))

    def save(self, name: str, text: str, version: str) -> TextFile:
        """Write a file whole, if it is still the version that was read; else raise `ConflictError`.

        version: of the text that was read; an empty one for a file that must not be there yet.
        """
        path = self.path(name)
        data = text.encode("utf-8")
        if len(data) > MAX_BYTES:
            raise StorageError(f"'{name}' would have {len(data)} bytes: at most {MAX_BYTES} are kept")
        now = self.read(name) if path.is_file() else None
        if (now.version if now else "") != version and (now is None or now.text != text):
            raise ConflictError(name, now)
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, data)
        return TextFile(name, text, _version(data))


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
