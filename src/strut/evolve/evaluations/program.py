"""Evaluation by an external program: a line of JSON in, a line of JSON out, for simulators of others."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import selectors
import signal
import subprocess
import threading
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np

from strut.checks import checked, integer, positive, short_repr
from strut.errors import ModelError, StrutError
from strut.evolve.evaluations.evaluation import OK, Evaluated, check_measures
from strut.evolve.space import ParameterSpace

MAX_ANSWER_BYTES = 1 << 20
"""Bytes of an answer, at most; what is longer is no answer."""
READ_BYTES = 1 << 16
"""Bytes that are read at once."""
MAX_ERROR_CHARACTERS = 200
"""Characters of what a program said on its error output that a message shows."""


@checked
@dataclass(frozen=True)
class ProgramEvaluation:
    """Evaluates individuals by a program that stays and answers requests.

    command: the program and its arguments; no shell reads them. measures: names of what it returns. limit:
    how long an answer may take [s]. retries: how often an individual is tried again after the program
    crashed, hung or said something else. workers: how many run at a time; all cores unless given. They stay
    from one generation to the next.

    It reads a line {"id": 7, "parameters": {"hip": 0.3}, "seed": 5} and writes a line
    {"id": 7, "measures": {"speed": 1.2}}, or {"id": 7, "failure": "fell at once"}. A parameter that an
    individual does not have is left out.
    """

    command: tuple[str, ...]
    measures: tuple[str, ...]
    limit: float = 60.0
    retries: int = 2
    workers: int | None = None

    def __post_init__(self) -> None:
        if not self.command or not self.measures:
            raise ModelError(
                "an external program needs a command and the names of its measures: "
                "of_program(['python', 'simulator.py'], ['speed'])"
            )
        positive("limit", self.limit, "s")
        integer("retries", self.retries, 0)

    @property
    def divisible(self) -> bool:
        """Individuals are evaluated one by one."""
        return True

    def settings(self) -> dict[str, Any]:
        """Return the command, what it measures, and from when on it counts as failed. How many run at a time
        changes nothing and is left out."""
        return {
            "kind": "program",
            "command": list(self.command),
            "measures": list(self.measures),
            "limit": self.limit,
            "retries": self.retries,
        }

    def check(self, space: ParameterSpace) -> None:
        """A program is asked nothing before it runs."""

    @cached_property
    def _idle(self) -> list[_Conversation]:
        """Programs that run and wait for the next generation."""
        return []

    def __getstate__(self) -> dict[str, Any]:
        """A copy for another process has no programs of its own yet."""
        return {name: value for name, value in self.__dict__.items() if name != "_idle"}

    def close(self) -> None:
        """End the programs that wait for the next generation."""
        while self._idle:
            self._idle.pop().stop()

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Give each worker one individual at a time."""
        tasks: queue.SimpleQueue[int] = queue.SimpleQueue()
        for k in range(len(x)):
            tasks.put(k)
        rows, status = np.full((len(x), len(self.measures)), np.nan), [OK] * len(x)

        def work() -> None:
            try:
                program = self._idle.pop()
            except IndexError:
                program = _Conversation(self.command, self.limit)
            try:
                while True:
                    try:
                        k = tasks.get_nowait()
                    except queue.Empty:
                        self._idle.append(program)
                        return
                    present = ~np.isnan(x[k])
                    values = {
                        name: float(v) for name, v, has in zip(names, x[k], present, strict=True) if has
                    }
                    request = {"id": k, "parameters": values, "seed": int(seeds[k])}
                    rows[k], status[k] = self._ask(program, request)
            except BaseException:
                program.stop()
                raise

        count = max(1, min(len(x), self.workers or os.cpu_count() or 1))
        threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return check_measures(rows, status, self.measures)

    def _ask(self, program: _Conversation, request: dict[str, Any]) -> tuple[Any, str]:
        """Return the measures of one individual, or what went wrong the last time that it was tried."""
        reason = ""
        for _ in range(1 + self.retries):
            try:
                answer = program.answer(request)
            except _NoAnswerError as error:
                reason = str(error)
                program.stop()
                continue
            if "failure" in answer:
                return np.nan, str(answer["failure"]) or "the program reports a failure"
            try:
                return [float(answer["measures"][name]) for name in self.measures], OK
            except (KeyError, TypeError, ValueError):
                return np.nan, f"the program answered {short_repr(answer)}, without {list(self.measures)}"
        return np.nan, f"{reason} ({1 + self.retries} tries)"


class _NoAnswerError(StrutError):
    """The program crashed, hung or said something that is no answer."""


class _Conversation:
    """One process of a program; started when it is first asked, and again after it was stopped."""

    def __init__(self, command: Sequence[str], limit: float) -> None:
        self.command, self.limit = list(command), limit
        self.process: subprocess.Popen[bytes] | None = None
        self.error_tail = bytearray()

    def __del__(self) -> None:
        self.stop()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the program's answer to a request, or raise `_NoAnswerError`."""
        process = self.process or self._begin()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            raise _NoAnswerError(self._describe_end()) from None
        line = self._line(process.stdout)
        try:
            answer = json.loads(line)
        except ValueError:
            raise _NoAnswerError(f"the program said {short_repr(line.decode(errors='replace'))}") from None
        if not isinstance(answer, dict) or answer.get("id") != request["id"]:
            raise _NoAnswerError(f"the program answered {short_repr(answer)} to request {request['id']}")
        return answer

    def stop(self) -> None:
        """End the program with everything that it started."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was still to be written has no reader any more
                    pipe.close()
        self.process = None

    def _begin(self) -> subprocess.Popen[bytes]:
        """Start the program, and a thread that reads its error output."""
        try:
            # A session of its own: what it starts ends with it.
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise _NoAnswerError(f"'{self.command[0]}' cannot be started: {error.strerror}") from None
        self.error_tail = bytearray()
        threading.Thread(target=self._drain, args=(self.process.stderr, self.error_tail), daemon=True).start()
        return self.process

    @staticmethod
    def _drain(pipe: IO[bytes], tail: bytearray) -> None:
        """Read the error output, so that the program never waits for a reader; keep its end."""
        try:
            while part := os.read(pipe.fileno(), READ_BYTES):
                tail += part
                del tail[: -4 * MAX_ERROR_CHARACTERS]
        except (OSError, ValueError):
            return

    def _line(self, pipe: IO[bytes]) -> bytes:
        """Return the next line that the program writes within the limit."""
        until, line = clock.monotonic() + self.limit, b""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                left = until - clock.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _NoAnswerError(f"no answer within {self.limit:g} s")
                part = os.read(pipe.fileno(), READ_BYTES)
                if not part:
                    raise _NoAnswerError(self._describe_end())
                line += part
                if len(line) > MAX_ANSWER_BYTES:
                    raise _NoAnswerError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
        return line.split(b"\n")[0] if line.count(b"\n") > 1 else line

    def _describe_end(self) -> str:
        """Return how the program ended, with the end of what it complained of."""
        assert self.process is not None
        code = self.process.wait()
        clock.sleep(0.01)  # for the last of its error output
        # the last line alone: equal failures are counted together
        lines = self.error_tail.decode(errors="replace").strip().splitlines() or [""]
        complaint = lines[-1][-MAX_ERROR_CHARACTERS:]
        return f"the program ended with {code}" + (f": {complaint}" if complaint else "")


@checked
def of_program(
    command: Sequence[str],
    measures: Sequence[str],
    *,
    limit: float = 60.0,
    retries: int = 2,
    workers: int | None = None,
) -> ProgramEvaluation:
    """Return the evaluation by an external program: see `ProgramEvaluation`."""
    return ProgramEvaluation(tuple(command), tuple(measures), limit, retries, workers)
