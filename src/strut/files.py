"""Writing files so that nothing is lost: every file that strut saves goes through here."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: there, scratch files of killed saves stay
    fcntl = None  # type: ignore[assignment]  # not on this system

from strut.errors import StorageError

DAMAGED_ARCHIVE = (zipfile.BadZipFile, zlib.error)
"""What Python raises on compressed data that is damaged."""
DAMAGE = (
    OSError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    MemoryError,
    *DAMAGED_ARCHIVE,
)
"""What Python and its readers raise on a file that is not what it says: a place that reads one turns these
into `StorageError`."""
WRITTEN_LISTENERS: list[Callable[[Path], None]] = []
"""Functions that are told of every file that was written whole: the command line announces them."""


def write_whole(path: Path, write: Callable[[Path], None]) -> Path:
    """Write a file that appears whole or not at all: a failure leaves what was there before, and says why.

    write: fills a scratch file beside the target, which then takes the target's place; it is on the disk
    before, and its new name after. Scratch files of saves of the same file that were killed are removed.
    """
    path = path.expanduser()
    if not path.parent.is_dir():
        raise StorageError(
            f"cannot write {path}: the directory {path.parent} does not exist; create it first"
        )
    try:
        _remove_stale(path)
        scratch, handle = _scratch_file(path)
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror}; choose a place you can write to"
        ) from error
    try:
        write(scratch)
        _synchronise(scratch)
        os.replace(scratch, path)
        _synchronise_directory(path.parent)
    except (OSError, RuntimeError) as error:
        if isinstance(error, StorageError):
            raise
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT) or any(
            sign in str(error)
            for sign in ("No space left", "File too large", "errno = 28", "errno = 27", "quota")
        )
        why = "the disk is full" if full else str(error)
        raise StorageError(
            f"cannot write {path}: {why}; nothing was changed there, make room and save again"
        ) from error
    finally:
        os.close(handle)
        scratch.unlink(missing_ok=True)
    for listener in WRITTEN_LISTENERS:
        listener(path)
    return path


def _scratch_file(path: Path) -> tuple[Path, int]:
    """A new file beside `path` with a name that only we give, and an open handle that holds its lock: as long
    as the lock is held, whoever writes it is alive."""
    while True:
        scratch = path.parent / f".{path.name}.{secrets.token_hex(8)}.strut"
        handle = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            return scratch, handle
        with contextlib.suppress(OSError):  # a file system without locks: what is killed there stays
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return scratch, handle
        os.close(handle)  # taken for a stale one between its creation and its lock: once more


def _remove_stale(path: Path) -> None:
    """Remove scratch files of `path` whose writers are gone."""
    if fcntl is None:
        return
    try:
        stale = _scratch_files(path)
    except OSError:  # a directory that can be written and not listed
        return
    for left in stale:
        with contextlib.suppress(OSError):  # another process removes it, or writes it: either is fine
            handle = os.open(left, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


def _scratch_files(path: Path) -> list[Path]:
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.strut")
    with os.scandir(path.parent) as entries:
        return [path.parent / entry.name for entry in entries if ours.fullmatch(entry.name)]


def _synchronise(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _synchronise_directory(directory: Path) -> None:
    """Wait until the names in a directory are on the disk, where the system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):  # some file systems cannot; the file itself is complete
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def put(path: Path, content: str | bytes) -> Path:
    """Write text or bytes as a file that appears whole or not at all."""
    data = content.encode("utf-8") if isinstance(content, str) else content

    def write(scratch: Path) -> None:
        scratch.write_bytes(data)

    return write_whole(path, write)
