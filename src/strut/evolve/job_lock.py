"""`JobLock`: who runs a job, for others to see: whether it runs, waits, was stopped or was killed.

Beside the file of a job, RUN.db, stands RUN.db.lock as long as a process runs it: a lock of the operating
system, which a killed process loses. Its time is renewed every other second, for those who look from another
machine. RUN.db.state says how the job is, with the number of the process and its machine, and RUN.db.request
what is asked of it: to pause or to stop.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:  # Windows has no such locks: there, signs of life tell who runs
    fcntl = None  # type: ignore[assignment]  # not on this system

from strut.checks import checked
from strut.errors import ModelError, StorageError
from strut.files import put

BEAT_SECONDS = 2.0
"""Time [s] between two signs of life."""
SILENCE_SECONDS = 15.0
"""Time [s] without a sign of life after which a job on another machine counts as killed."""
LOCK_SECONDS = 0.5
"""Time [s] for which a lock is tried: one who looks holds it for an instant."""
Request = Literal["pause", "stop", "go on"]
"""What may be asked of a job that runs."""
PAUSE_LOOK_SECONDS = 0.1
"""Time [s] between two looks of a paused job whether it may go on."""


@dataclass(frozen=True)
class JobState:
    """How a job is. word: 'running', 'paused', 'stopped' (it can be resumed), 'killed' (so can it) or
    'finished'. pid, host: of the process that runs it, or did when it was killed; 0 and empty where there is
    none."""

    word: str
    pid: int = 0
    host: str = ""


class JobLock:
    """Held by the process that runs a job. path: the job's file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file, self._request = _lock_file(path), _request_file(path)
        self._lock = FileLock(self._file)
        try:
            self._lock.acquire(timeout=LOCK_SECONDS)
        except Timeout:
            raise StorageError(f"{path} is in use: {_describe_holder(path)} runs this job") from None
        except OSError as error:
            raise StorageError(f"cannot write {self._file}: {error.strerror or error}") from error
        self._request.unlink(missing_ok=True)
        self.write_state("running")
        self._end = threading.Event()
        self._heart = threading.Thread(target=self._beat, daemon=True)
        self._heart.start()

    def write_state(self, word: str) -> None:
        """Say how the job is, 'running' or 'paused'."""
        about = {"state": word, "pid": os.getpid(), "host": socket.gethostname()}
        put(_state_file(self.path), json.dumps(about))

    def request(self) -> str:
        """Return what is asked of the job: 'pause', 'stop', or nothing."""
        try:
            return self._request.read_text().strip()
        except OSError:
            return ""

    def wait_while_paused(self) -> bool:
        """Return at once, or after a pause when it may go on; True where it is to stop."""
        if self.request() == "pause":
            self.write_state("paused")
            while self.request() == "pause":
                clock.sleep(PAUSE_LOOK_SECONDS)
            self.write_state("running")
        return self.request() == "stop"

    def release(self) -> None:
        """Let others run the job."""
        self._end.set()
        self._heart.join()
        for file in (self._request, _state_file(self.path), self._file):
            file.unlink(missing_ok=True)
        self._lock.release()

    def _beat(self) -> None:
        while not self._end.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):
                os.utime(self._file)


@checked
def job_state(path: str | Path, *, finished: bool) -> JobState:
    """Return how the job of a file is. finished: whether all its runs came to their end."""
    if finished:
        return JobState("finished")
    path = Path(path).expanduser()
    file = _lock_file(path)
    if not file.exists():
        return JobState("stopped")
    about = _read_holder(path)
    word, host = str(about.get("state", "running")), str(about.get("host", ""))
    pid = about["pid"] if isinstance(about.get("pid"), int) else 0
    if fcntl is not None and host in ("", socket.gethostname()):
        return JobState(word if _is_held(file) else "killed", pid, host)
    try:
        silent = clock.time() - file.stat().st_mtime
    except OSError:
        return JobState("stopped")
    return JobState(word if silent < SILENCE_SECONDS else "killed", pid, host)


def request_of_job(path: Path, request: Request) -> None:
    """Ask a job that runs to pause, to go on or to stop; it does so after the shares that are under way.
    Raises ModelError where it does not run."""
    state = job_state(path, finished=False)
    if state.word not in ("running", "paused"):
        raise ModelError(f"{path} is {state.word}: only a job that runs can be asked to {request}")
    file = _request_file(path)
    if request == "go on":
        file.unlink(missing_ok=True)
        return
    put(file, request)


@checked
def wait_for_state(path: str | Path, words: tuple[str, ...], seconds: float) -> JobState:
    """Return how a job is as soon as it is one of `words`, or else after so many seconds."""
    until = clock.monotonic() + seconds
    while True:
        state = job_state(path, finished=False)
        if state.word in words or clock.monotonic() > until:
            return state
        clock.sleep(PAUSE_LOOK_SECONDS)


def _lock_file(path: Path) -> Path:
    if not path.name:
        raise StorageError(f"'{path}' is no file of a job: give RUN.db")
    return path.with_name(f"{path.name}.lock")


def _request_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.request")


def _state_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.state")


def _read_holder(path: Path) -> dict[str, Any]:
    """Return what the holder of a job's lock wrote; nothing where that is damaged or not there yet."""
    try:
        about = json.loads(_state_file(path).read_text())
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _describe_holder(path: Path) -> str:
    about = _read_holder(path)
    return (
        f"process {about['pid']} on {about['host']}" if {"pid", "host"} <= about.keys() else "another process"
    )


def _is_held(file: Path) -> bool:
    """Tell whether a process holds a lock, by trying for an instant to share it."""
    try:
        handle = os.open(file, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
