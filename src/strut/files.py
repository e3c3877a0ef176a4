"""Writing files so that nothing is lost."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from strut.errors import StorageError


def written(path: Path, write: Callable[[Path], None]) -> Path:
    """Write a file that appears whole or not at all: a failure leaves what was there before, and says why."""
    path = path.expanduser()
    if not path.parent.is_dir():
        raise StorageError(f"cannot write {path}: the directory {path.parent} does not exist; create it first")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; choose a place you can write to") from error
    scratch = Path(name)
    try:
        write(scratch)
        umask = os.umask(0)
        os.umask(umask)
        scratch.chmod(0o666 & ~umask)
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
