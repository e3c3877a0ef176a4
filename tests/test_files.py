"""Saving: whole or not at all, on the disk, and without litter."""

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import strut
from strut import files
from strut.errors import StorageError

SOURCE = Path(strut.__file__).parent
SLOW_SAVE = """
import sys, time
from pathlib import Path
from strut.files import write_whole

def write(scratch):
    scratch.write_text("half of")
    print("writing", flush=True)
    time.sleep(60)

write_whole(Path(sys.argv[1]), write)
"""


def names(directory):
    return sorted(p.name for p in directory.iterdir())


@pytest.fixture
def saving(tmp_path):
    """A process in the middle of saving `run.csv`."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-c", SLOW_SAVE, str(tmp_path / "run.csv")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        yield process
        process.kill()


def test_what_a_killed_save_leaves_is_removed_by_the_next(tmp_path, saving):
    others = [
        ".run.csv.swp",
        ".run.csv.0123456789abcdef",
        ".other.csv.0123456789abcdef.strut",
        "run.csv.strut",
    ]
    for name in others:
        (tmp_path / name).write_text("not ours, or of another file")
    saving.send_signal(signal.SIGKILL)
    saving.wait()
    assert len(names(tmp_path)) == len(others) + 1
    files.put(tmp_path / "run.csv", "whole")
    assert names(tmp_path) == sorted([*others, "run.csv"])
    assert (tmp_path / "run.csv").read_text() == "whole"


def test_a_save_that_goes_on_elsewhere_is_left_alone(tmp_path, saving):
    files.put(tmp_path / "run.csv", "whole")
    scratch = [name for name in names(tmp_path) if name.endswith(".strut")]
    assert len(scratch) == 1
    assert (tmp_path / scratch[0]).read_text() == "half of"


def test_content_is_on_the_disk_before_the_name_and_the_name_before_we_return(tmp_path, monkeypatch):
    done = []
    replace, synchronise = os.replace, os.fsync

    def fsync(handle):
        done.append("directory" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        synchronise(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("replace"), replace(a, b)))
    files.put(tmp_path / "a.txt", "text")
    assert done == ["file", "replace", "directory"]


def test_a_disk_that_fails_when_content_is_forced_out_changes_nothing(tmp_path, monkeypatch):
    files.put(tmp_path / "a.txt", "before")

    def fails(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(StorageError, match="the disk is full; nothing was changed there"):
        files.put(tmp_path / "a.txt", "after")
    assert (tmp_path / "a.txt").read_text() == "before"
    assert names(tmp_path) == ["a.txt"]


def test_many_at_once(tmp_path):
    """Savers of one file neither disturb one another nor leave anything."""
    from concurrent.futures import ThreadPoolExecutor

    def save(k):
        files.write_whole(
            tmp_path / "a.txt", lambda scratch: (scratch.write_text(f"{k}" * 1000), time.sleep(0.001))
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(40)))
    assert names(tmp_path) == ["a.txt"]
    assert len((tmp_path / "a.txt").read_text()) in (1000, 2000)


WRITES = {"write_text", "write_bytes", "replace", "rename", "savefig", "savez", "savez_compressed", "mkstemp"}
ALLOWED = {
    "files.py": {"replace"},
    "codegen/cache.py": {"write_text", "replace"},  # the cache: sealed by checksums, built under a lock
}
"""Where a file may be written otherwise: in the helper, and where a damaged file is noticed and made again."""


def test_every_save_goes_through_one_function():
    """Calls that write a file by its path, other than inside a function that `write_whole` hands a scratch file."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in WRITES
            ):
                owner = ast.unparse(node.func.value)
                whole = node.func.attr not in ("replace", "rename") or owner == "os"
                if whole and owner not in ("scratch", "path", "drawn", "np"):
                    found.setdefault(str(path.relative_to(SOURCE)), set()).add(node.func.attr)
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "open"
                and "w" in "".join(map(ast.unparse, node.args[1:2]))
            ):
                found.setdefault(str(path.relative_to(SOURCE)), set()).add("open")
    assert {
        name: kinds - ALLOWED.get(name, set())
        for name, kinds in found.items()
        if kinds - ALLOWED.get(name, set())
    } == {}
