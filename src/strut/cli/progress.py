"""Progress of work that takes longer than two seconds: a bar on the terminal; where standard error is a file,
a pipe or another program, plain lines now and then. Standard output has none of it."""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from strut.cli.console import notes

if TYPE_CHECKING:
    from rich.progress import Progress  # loaded when work takes long: short commands start sooner

AS_LINES = os.environ.get("STRUT_PROGRESS") == "lines"
"""Whether another program reads our progress, as lines."""
QUIET_SECONDS = 0.5 if AS_LINES else 2.0
"""Time [s] that work takes before anything is said of it."""
LINE_SECONDS = 0.5 if AS_LINES else 10.0
"""Time [s] between lines."""
BEAT_SECONDS = 0.2
"""Time [s] between looks at whether something is to be said."""
BAR_WIDTH = 20
"""[characters] Of the bar on a terminal."""


def shows_bar() -> bool:
    """Return whether progress is a bar, on a terminal that can go back in a line; else it is lines."""
    return notes.is_terminal and not notes.is_dumb_terminal and not AS_LINES


class Activity:
    """What a command is doing, shown while it takes long.

    A thread looks now and then, so that also work which tells nothing of itself is seen to go on. What it
    prints it prints under a lock, which a fork waits for: a copy of this process would else find the
    terminal's own locks held by nobody.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.text: str = "working"
        self.fraction: float | None = None
        self.paused = False
        self._began = self._said = 0.0
        self._lines = 0
        self._bar: Progress | None = None
        self._task: Any = None
        self._end: threading.Event | None = None

    @contextmanager
    def show_while(self) -> Iterator[None]:
        """Show progress while the block runs, unless a block around it does."""
        if self._end is not None:
            yield
            return
        self.text, self.fraction, self._lines = "working", None, 0
        self._began = self._said = clock.monotonic()
        self._end = threading.Event()
        heart = threading.Thread(target=self._beat, args=(self._end,), daemon=True)
        heart.start()
        try:
            yield
        finally:
            self._end.set()
            self.hide()
            self._end = None

    def tell(self, text: str, fraction: float | None = None) -> None:
        """Say what is done, and how much of it is done [1], where that is known."""
        with self.lock:
            self.text, self.fraction = text, fraction
            if self._end is not None and not shows_bar():
                self._print_line_if_due()

    def hide(self) -> None:
        """Take the bar away, because something else is printed; it returns if that was not the end."""
        with self.lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
            self._said, self._lines = clock.monotonic(), 0

    def forget(self) -> None:
        """Show nothing more: this is a copy of the process that does."""
        self._end, self._bar = None, None

    def _beat(self, end: threading.Event) -> None:
        while not end.wait(BEAT_SECONDS):
            with self.lock:
                if end.is_set():
                    return
                if self.paused:
                    continue
                if shows_bar():
                    self._refresh_bar()
                else:
                    self._print_line_if_due()

    def _print_line_if_due(self) -> None:
        now = clock.monotonic()
        if now - self._said < (LINE_SECONDS if self._lines else QUIET_SECONDS):
            return
        part = "" if self.fraction is None else f", {self.fraction:.0%}"
        print(f"progress: {self.text}{part}, {now - self._began:.0f} s", file=sys.stderr, flush=True)
        self._said = now
        self._lines += 1

    def _refresh_bar(self) -> None:
        if self._bar is None:
            if clock.monotonic() - self._said < QUIET_SECONDS:
                return
            self._bar = _new_bar()
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        total = None if self.fraction is None else 1.0
        self._bar.update(
            self._task, description=escape(self.text), total=total, completed=self.fraction or 0.0
        )
        self._bar.refresh()


def _new_bar() -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(BAR_WIDTH),
        TimeElapsedColumn(),
        console=notes,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )


ACTIVITY = Activity()
"""That of this process."""


def _after_fork_in_child() -> None:
    ACTIVITY.lock.release()
    ACTIVITY.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=ACTIVITY.lock.acquire,
        after_in_parent=ACTIVITY.lock.release,
        after_in_child=_after_fork_in_child,
    )


def hide_progress() -> None:
    """Take progress away from the terminal, because something else is printed."""
    ACTIVITY.hide()


@contextmanager
def paused_progress() -> Iterator[None]:
    """Show none while the block runs: it waits for a person."""
    ACTIVITY.hide()
    ACTIVITY.paused = True
    try:
        yield
    finally:
        ACTIVITY.paused = False


def tell_progress(text: str, fraction: float | None = None) -> None:
    """Say what a command is doing, and how much of it is done [1], where that is known."""
    ACTIVITY.tell(text, fraction)


def tell_stage(stage: object) -> None:
    """Say which stage a search is in."""
    detail = getattr(stage, "detail", "")
    name = getattr(stage, "name", None)
    ACTIVITY.tell(str(stage) if name is None else f"{name}{f' ({detail})' if detail else ''}")


def time_teller(word: str, begin: float, end: float) -> Callable[[float], None]:
    """Return a function that is told how far in time [s] a run is, from `begin` to `end`."""
    span = end - begin

    def tell(t: float) -> None:
        ACTIVITY.tell(word, min(max((t - begin) / span, 0.0), 1.0) if span > 0 else None)

    return tell


def part_teller(word: str, index: int, count: int) -> Callable[[float], None]:
    """Return a function that is told which fraction of one part is done, of `count` alike parts of which
    `index` are done before it."""
    tell_progress(word, index / count)
    return lambda part: tell_progress(word, (index + part) / count)


__all__ = ["hide_progress", "part_teller", "paused_progress", "tell_progress", "tell_stage", "time_teller"]
