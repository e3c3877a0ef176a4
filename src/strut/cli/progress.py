"""Bars and lines on standard error for work that takes long."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from strut.cli.console import notes

AS_LINES = os.environ.get("STRUT_PROGRESS") == "lines"
"""Whether another program reads our progress, as lines."""
LINE_SECONDS = 0.5
"""Time [s] between such lines of a run."""


def _print_line(text: str) -> None:
    print(f"progress: {text}", file=sys.stderr, flush=True)


@contextmanager
def stage_line() -> Iterator[Callable[[object], None]]:
    """A line on standard error that says which stage a search is in; nothing where that is no terminal,
    unless whoever reads it asks for lines."""
    if AS_LINES:
        yield lambda stage: _print_line(str(stage))
        return
    if not notes.is_terminal:
        yield lambda _: None
        return
    with notes.status("searching") as line:
        yield lambda stage: line.update(escape(str(stage)))


@contextmanager
def progress_bar(begin: float, end: float) -> Any:
    """A bar on standard error for work that takes long; nothing at all for work that does not."""
    started, bar, task = time.perf_counter(), None, None
    printed = started

    def report(t: float) -> None:
        nonlocal bar, task, printed
        if AS_LINES and time.perf_counter() - printed > LINE_SECONDS:
            printed = time.perf_counter()
            _print_line(f"{(t - begin) / (end - begin):.0%} simulated")
        if bar is None and time.perf_counter() - started > 0.5 and notes.is_terminal:
            bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeRemainingColumn(),
                console=notes,
                transient=True,
            )
            bar.start()
            task = bar.add_task("simulating", total=end - begin)
        if bar is not None and task is not None:
            bar.update(task, completed=t - begin)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()
