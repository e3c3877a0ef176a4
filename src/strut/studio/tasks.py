"""`Tasks`: commands that a studio started, each in a process and a folder of its own. They end by themselves
where the studio ends first, and are found again when it is started anew."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strut.errors import StorageError, UnknownNameError
from strut.files import put
from strut.simulate.live_result import live_place
from strut.studio.forms import CommandForm

TASK_FILE, OUTPUT_FILE, END_FILE = "task.json", "output.txt", "end.json"
"""In the folder of a task: what was asked, what it printed, and how it ended."""
CANCEL_FILE, PID_FILE = "cancel", "pid"
"""In the folder of a task: there where it was asked to end, and the number of its process."""
DESIGN_FILE = "design.h5"
"""In the folder of a design: all of it."""
INTERRUPTED_EXIT = 130
"""What a command exits with that was interrupted."""
MAX_OUTPUT = 20_000
"""[bytes] How much of what a task printed is shown: its end."""
MAX_FILES_NAMED = 4
"""Files that are named of what a cancelled task left, at most."""
PROGRESS_MARK = "progress: "
"""Begins a line that says how far a task is."""


@dataclass(frozen=True)
class StartedTask:
    """A command that was started.

    state: running, done, failed, cancelled or lost (its process is gone and left no word). command: as one
    would type it. began: [s] since 1970. seconds: that it took, or has taken so far. progress: its last word
    while it runs. ending: of one that was cancelled, what is kept of it, in a sentence. output: the end of
    what it printed. pages: files that a browser can show, the main one first.
    """

    name: str
    command: str
    subject: str
    state: str
    began: float
    seconds: float
    progress: str
    ending: str
    output: str
    pages: tuple[str, ...]


class Tasks:
    """Starts, follows and ends tasks, in a folder of results."""

    def __init__(self, folder: Path, cwd: Path) -> None:
        self.folder, self.cwd = folder, cwd
        self._lock = threading.Lock()
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, form: CommandForm, subject: str, values: dict[str, Any]) -> str:
        """Start a command; return the name of the task, which is that of its folder."""

        def words(place: str) -> list[str]:
            return form.words(subject, values, f"{place}/result{form.suffix}" if form.suffix else place)

        return self._start(form.command, subject, words)

    def compare(self, names: list[str]) -> str:
        """Start a page that compares what tasks found; return the name of its task."""
        files = [self._data(name) for name in names]

        def words(place: str) -> list[str]:
            return ["view", *files, f"--output={place}/index.html", "--no-open"]

        return self._start("compare", "-".join(names), words)

    def _start(self, command_name: str, subject: str, words_for: Callable[[str], list[str]]) -> str:
        """Start a process. words_for: the command for a folder; raises before anything is made."""
        with self._lock:
            name = self._new_name(command_name, subject)
            place = self.folder / name
            words = words_for(place.relative_to(self.cwd).as_posix())
            place.mkdir(parents=True)
            command = shlex.join(["strut", *words])
            put(
                place / TASK_FILE,
                json.dumps({"command": command, "subject": subject, "words": words, "began": clock.time()}),
            )
            with (place / OUTPUT_FILE).open("wb") as printed:
                self._children[name] = subprocess.Popen(
                    [sys.executable, "-m", "strut.studio.runner", str(place), *words],
                    cwd=self.cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env={**os.environ, "STRUT_PROGRESS": "lines", "COLUMNS": "100", "NO_COLOR": "1"},
                )
        return name

    def cancel(self, name: str) -> None:
        """Interrupt a task, so that it keeps what it has; one that was interrupted before is killed."""
        place = self._place(name)
        asked = place / CANCEL_FILE
        again = asked.exists()
        asked.touch()
        pid = _number(place / PID_FILE)
        if pid and self._is_alive(name, pid):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL if again else signal.SIGINT)

    def list(self) -> list[StartedTask]:
        """Return all tasks, the latest first."""
        if not self.folder.is_dir():
            return []
        names = [path.name for path in self.folder.iterdir() if (path / TASK_FILE).is_file()]
        tasks = [task for name in names if (task := self._read(name)) is not None]
        return sorted(tasks, key=lambda task: task.began, reverse=True)

    def file(self, name: str, inside: str) -> Path:
        """Return a file of a task's folder; raise where it is not in it."""
        place = self._place(name)
        path = (place / inside).resolve()
        if not path.is_relative_to(place.resolve()) or not path.is_file():
            raise UnknownNameError(f"the task '{name}' has no file '{inside}'")
        return path

    def close(self) -> None:
        """Forget the processes that were started here; they go on."""
        self._children.clear()

    # ---- one task ----

    def _new_name(self, command: str, subject: str) -> str:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(subject).stem).strip("-") or "model"
        number = 1
        while (self.folder / f"{command}-{stem}-{number}").exists():
            number += 1
        return f"{command}-{stem}-{number}"

    def _data(self, name: str) -> str:
        """The file of a task that pages are made of, from the folder of the models."""
        place = self._place(name)
        results = [path for path in place.glob("*.json") if path.name not in (TASK_FILE, END_FILE)]
        data = min(
            [*results, *place.glob("*.h5")],
            key=lambda path: (path.suffix != ".json", path.name),
            default=None,
        )
        if data is None:
            raise UnknownNameError(
                f"'{name}' has nothing to compare: runs, gaits and designs that ended have"
            )
        return data.relative_to(self.cwd).as_posix()

    def _place(self, name: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or not (self.folder / name / TASK_FILE).is_file():
            raise UnknownNameError(f"there is no task '{name}'")
        return self.folder / name

    def _is_alive(self, name: str, pid: int) -> bool:
        child = self._children.get(name)
        if child is not None:
            return child.poll() is None
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            with contextlib.suppress(OSError):
                os.kill(pid, 0)
                return not Path("/proc").is_dir()  # elsewhere than on Linux: whoever has the number now
            return False
        return b"strut.studio.runner" in command and name.encode() in command

    def _read(self, name: str) -> StartedTask | None:
        place = self.folder / name
        try:
            asked = json.loads((place / TASK_FILE).read_text("utf-8"))
            command, subject, began = str(asked["command"]), str(asked["subject"]), float(asked["began"])
        except (OSError, ValueError, KeyError, TypeError):
            return None  # half written by another, or not ours
        end = _end(place)
        child = self._children.get(name)
        if child is not None and child.poll() is not None and end is None:
            end = _end(place)  # written while we looked
        state = _state(place, end, self._is_running(name, place))
        printed = _tail(place / OUTPUT_FILE)
        lines = printed.splitlines()
        progress = [line.removeprefix(PROGRESS_MARK) for line in lines if line.startswith(PROGRESS_MARK)]
        text = "\n".join(line for line in lines if not line.startswith(PROGRESS_MARK))
        seconds = (end["ended"] if end else clock.time()) - began
        return StartedTask(
            name=name,
            command=command,
            subject=subject,
            state=state,
            began=began,
            seconds=max(seconds, 0.0),
            progress=progress[-1] if progress and state == "running" else "",
            ending=self._cancelled_text(place) if state == "cancelled" else "",
            output=text,
            pages=_pages(place),
        )

    def _is_running(self, name: str, place: Path) -> bool:
        child = self._children.get(name)
        if child is not None:
            return child.poll() is None
        pid = _number(place / PID_FILE)
        return bool(pid) and self._is_alive(name, pid)

    def _cancelled_text(self, place: Path) -> str:
        """Say what is kept of a task that was cancelled."""
        own = (TASK_FILE, OUTPUT_FILE, END_FILE, CANCEL_FILE, PID_FILE)
        files = sorted(path.name for path in place.iterdir() if path.name not in own)
        if not files:
            return "It was cancelled before it had anything to keep; what it said is below."
        more = f" and {len(files) - MAX_FILES_NAMED} more" if len(files) > MAX_FILES_NAMED else ""
        names = ", ".join(files[:MAX_FILES_NAMED]) + more
        return f"It was cancelled; what it had by then is kept in {place.relative_to(self.cwd)}: {names}."


def _state(place: Path, end: dict[str, float] | None, running: bool) -> str:
    if end is None and running:
        return "running"
    if (place / CANCEL_FILE).exists():
        return "cancelled"
    if end is None:
        return "lost"
    return "done" if end["code"] == 0 else "failed"


def _end(place: Path) -> dict[str, float] | None:
    try:
        end = json.loads((place / END_FILE).read_text("utf-8"))
        return {"code": int(end["code"]), "ended": float(end["ended"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _number(path: Path) -> int:
    try:
        return int(path.read_text("utf-8"))
    except (OSError, ValueError):
        return 0


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - MAX_OUTPUT))
            return file.read().decode("utf-8", "replace")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def _pages(place: Path) -> tuple[str, ...]:
    """The pages in a task's folder, the main one first, live pages of others last."""
    paths = list(place.rglob("*.html"))
    live_pages = {live_place(path) for path in paths}

    def order(path: Path) -> tuple[bool, int, bool, str]:
        name = path.relative_to(place).as_posix()
        return name != "index.html", name.count("/"), path in live_pages, name

    return tuple(path.relative_to(place).as_posix() for path in sorted(paths, key=order))
