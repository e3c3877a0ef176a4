"""The terminal: standard output for results, standard error for what is said beside them."""

from __future__ import annotations

import logging
import os

from rich.console import Console
from rich.markup import escape

out = Console(highlight=False, emoji=False)
notes = Console(stderr=True, highlight=False, emoji=False)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        notes.print(escape(record.getMessage()), soft_wrap=True)


def log_to_stderr() -> None:
    """Print what strut logs on standard error: work that takes long."""
    log = logging.getLogger("strut")
    if not any(isinstance(handler, _Notes) for handler in log.handlers):
        log.addHandler(_Notes())
    log.setLevel(logging.INFO)


def terminal_width() -> int | None:
    """Return how many characters a line of standard output may have: as COLUMNS says, or the terminal; None
    for a file or a pipe, whose lines may have any length."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return out.size.width if out.is_terminal else None
