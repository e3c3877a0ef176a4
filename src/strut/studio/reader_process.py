"""`ReaderProcess`: reads texts in a process of its own, so that a model that takes for ever, or all memory,
ends that process and not the studio."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

MAX_SECONDS = 30.0
"""[s] How long a text may take to be read or run for a preview."""


class ReaderProcess:
    """Answers requests of the page one after the other, each within a time; see `reading.answer`."""

    def __init__(self, cwd: Path, seconds: float = MAX_SECONDS) -> None:
        self.cwd, self.seconds = cwd, seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._answers: Queue[str] = Queue()

    def ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """Return the answer, or a sentence under `error` where there is none. seconds: how long this one may
        take, where it is not as all others."""
        patience = seconds or self.seconds
        with self._lock:
            process = self._live_process()
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                answer: dict[str, Any] = json.loads(self._answers.get(timeout=patience))
            except Empty:
                self._end()
                return {"error": f"this took more than {patience:g} s, and was ended"}
            except (OSError, ValueError):
                self._end()
                return {"error": "the process that reads models ended: the model may need too much memory"}
            return answer

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _live_process(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._answers = Queue()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "strut.studio.reader_process"],
                cwd=self.cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            threading.Thread(target=_collect, args=(self._process.stdout, self._answers), daemon=True).start()
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _collect(lines: IO[str], answers: Queue[str]) -> None:
    for line in lines:
        answers.put(line)
    answers.put("")  # it ended: no JSON


def main() -> None:
    """Answer requests, a line of JSON each, from standard input, until it ends."""
    from strut.studio.reading import answer

    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(reply) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
