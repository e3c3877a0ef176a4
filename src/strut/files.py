"""Writing files so that nothing is lost."""

from __future__ import annotations

import errno
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from strut.errors import StorageError

DAMAGED_ARCHIVE = (zipfile.BadZipFile, zlib.error)
"""What Python raises on compressed data that is damaged."""
DAMAGE = (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError, ArithmeticError, MemoryError, *DAMAGED_ARCHIVE)
"""What Python and its readers raise on a file that is not what it says: a place that reads one turns these into `StorageError`."""


def written(path: Path, write: Callable[[Path], None]) -> Path:
    """Write a file that appears whole or not at all: a failure leaves what was there before, and says why."""
    path = path.expanduser()
    if not path.parent.is_dir():
        raise StorageError(f"cannot write {path}: the directory {path.parent} does not exist; create it first")
    try:
        scratch = path.parent / f".{path.name}.{secrets.token_hex(8)}"
        os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; choose a place you can write to") from error
    try:
        write(scratch)
        os.replace(scratch, path)
    except (OSError, RuntimeError) as error:
        if isinstance(error, StorageError):
            raise
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT) or any(
            sign in str(error) for sign in ("No space left", "File too large", "errno = 28", "errno = 27", "quota")
        )
        why = "the disk is full" if full else str(error)
        raise StorageError(f"cannot write {path}: {why}; nothing was changed there, make room and save again") from error
    finally:
        scratch.unlink(missing_ok=True)
    return path


def put(path: Path, content: str | bytes) -> Path:
    """Write text or bytes as a file that appears whole or not at all."""
    data = content.encode("utf-8") if isinstance(content, str) else content

    def write(scratch: Path) -> None:
        scratch.write_bytes(data)

    return written(path, write)
