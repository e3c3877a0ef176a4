"""`check_finite`: numbers that are infinite or not a number end a command, before they pass for results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import typer

from strut.cli.answer import complain


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
    complain(
        f"'{name}' is {kind} at t = {t[row]:.9g} s: what follows means nothing; the model divides by zero, "
        f"leaves the domain of a root or logarithm, or diverges (try a shorter step)"
    )
    raise typer.Exit(1)
