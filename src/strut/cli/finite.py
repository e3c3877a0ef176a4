"""`check_finite`: numbers that are infinite or not a number end a command, before they pass for results; and
`without_nan`: JSON without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import typer
from rich.markup import escape

from strut.cli.console import notes


def check_finite(t: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
    """Say which column is the first that is not finite, and when, and end the command with status 1; pass if
    none is."""
    first: tuple[int, str] | None = None
    for name, values in columns.items():
        wrong = np.flatnonzero(~np.isfinite(np.asarray(values, dtype=float).reshape(len(t), -1)).all(axis=1))
        if len(wrong) and (first is None or wrong[0] < first[0]):
            first = (int(wrong[0]), name)
    if first is None:
        return
    row, name = first
    value = np.asarray(columns[name], dtype=float).reshape(len(t), -1)[row]
    kind = "not a number" if np.isnan(value).any() else "infinite"
    notes.print(
        f"[red]'{escape(name)}' is {kind} at t = {t[row]:.9g} s[/red]: what follows means nothing; the model "
        f"divides by zero, leaves the "
        "domain of a root or logarithm, or diverges (try a shorter step)",
        soft_wrap=True,
        highlight=False,
    )
    raise typer.Exit(1)


def without_nan(item: Any) -> Any:
    """Return data for JSON, None for numbers that are not finite."""
    if isinstance(item, dict):
        return {k: without_nan(v) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return [without_nan(v) for v in item]
    return None if isinstance(item, float) and not np.isfinite(item) else item
