"""The terminal: standard output and standard error, tables for people and JSON for machines."""

from __future__ import annotations

import json
import logging
import math
from numbers import Integral, Real
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

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


def as_json(value: Any) -> None:
    """Print one JSON document on standard output; what JSON cannot say (nan, inf) becomes null."""
    import numpy as np  # here, because `strut list` starts sooner without it

    def plain(item: Any) -> Any:
        if isinstance(item, dict):
            return {str(k): plain(v) for k, v in item.items()}
        if isinstance(item, (list, tuple, np.ndarray)):
            return [plain(v) for v in item]
        if isinstance(item, (float, np.floating)):
            return float(item) if math.isfinite(item) else None
        if isinstance(item, (np.integer, np.bool_)):
            return item.item()
        return item

    print(json.dumps(plain(value), indent=1))


def table(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Print a table on standard output; numbers stand to the right."""
    rich_table = Table(
        title=escape(title) or None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for k, column in enumerate(columns):
        rich_table.add_column(
            escape(column), justify="left" if k == 0 or (rows and isinstance(rows[0][k], str)) else "right"
        )
    for row in rows:
        rich_table.add_row(*[escape(_cell(cell)) for cell in row])
    out.print(rich_table)
    out.print()


def _cell(value: Any) -> str:
    is_fraction = isinstance(value, Real) and not isinstance(value, Integral)
    return f"{value:.9g}" if is_fraction else str(value)
