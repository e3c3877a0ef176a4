"""Directories and files that nobody else can change: what is loaded as code must come from the user's own
hands.

The rules are those of ssh for its keys: a directory, what is in it and every directory above belongs to the
user or to root, and no one else may write there. A directory above may be open to all if it is sticky, as
/tmp is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from strut.errors import CompileError

REMEDY = "code from there would run with your rights: set STRUT_CACHE to a directory of your own"
"""How a sentence ends that refuses a cache which others can change."""


def user_id() -> int | None:
    """The number of the user; None where a system has no such numbers."""
    getuid: Callable[[], int] | None = getattr(os, "geteuid", None)
    return None if getuid is None else getuid()


def make_private(directory: Path) -> None:
    """Create a directory that only the user can enter; one that exists is left as it is."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def check_private_directory(directory: Path) -> None:
    """Refuse a directory in which others can place or exchange files: raises `CompileError`."""
    if user_id() is None:
        return
    whole = directory.resolve()
    for place in (whole, *whole.parents):
        what = (
            f"the cache directory {directory}"
            if place == whole
            else f"{place}, above the cache directory {directory},"
        )
        status = place.stat()
        _check_owner(what, status)
        sticky = place != whole and bool(status.st_mode & stat.S_ISVTX)
        if _others_may_write(status) and not sticky:
            remedy = (
                f"chmod go-w '{place}' after making sure that all in it is yours, or set STRUT_CACHE to "
                f"another directory"
            )
            raise CompileError(
                f"{what} can be written by others (mode {stat.S_IMODE(status.st_mode):04o}), "
                f"and code from there would run with your rights: {remedy}"
            )


def check_private_file(file: Path) -> None:
    """Refuse a file of the cache that another user made or can change: raises `CompileError`; one that is
    missing passes."""
    if user_id() is None:
        return
    try:
        status = file.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode):
        raise CompileError(
            f"{file} in the cache is no plain file but {_kind(status)}: remove it, and it is built again"
        )
    _check_owner(f"{file} in the cache", status)
    if _others_may_write(status):
        raise CompileError(
            f"{file} in the cache can be written by others (mode {stat.S_IMODE(status.st_mode):04o}), "
            "and would run with your rights: remove it, and it is built again"
        )


def _kind(status: os.stat_result) -> str:
    if stat.S_ISDIR(status.st_mode):
        return "a directory"
    return "a link" if stat.S_ISLNK(status.st_mode) else "something else"


def _check_owner(what: str, status: os.stat_result) -> None:
    if status.st_uid not in (user_id(), 0):
        raise CompileError(f"{what} belongs to user {status.st_uid}, not to you (user {user_id()}); {REMEDY}")


def _others_may_write(status: os.stat_result) -> bool:
    """Everyone, or a group with other members than the owner."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _group_of_one(status)


def _group_of_one(status: os.stat_result) -> bool:
    """The group is the owner's own, of the same name and without other members, as many systems give every
    user one."""
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_name == owner.pw_name and set(group.gr_mem) <= {owner.pw_name}
