"""`Study`: published numbers beside ours, with a remark where they differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal

from strut.errors import ValueRangeError
from strut.html import card
from strut.tabular import Tabular

ROUNDING = 1e-9
"""Part of half a digit by which a number may miss it through rounding alone."""


@dataclass(frozen=True)
class Row:
    """One quantity: what was published, what strut finds, and why they differ if they do."""

    quantity: str
    published: str
    ours: str
    remark: str = ""


@dataclass(frozen=True)
class Plot:
    """Curves over a parameter, as plain numbers: what a page of a study draws. nan breaks a curve."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    curves: Mapping[str, Sequence[float]]
    log_x: bool = False


def _no_plots() -> Sequence[Plot]:
    """What a study draws that has tables alone."""
    return ()


@dataclass(frozen=True)
class Study(Tabular):
    """A published result that strut computes anew. source: where it was published. plots: what its page draws
    besides the table."""

    name: str
    title: str
    source: str
    rows: Callable[[], list[Row]]
    plots: Callable[[], Sequence[Plot]] = _no_plots

    def columns(self) -> dict[str, list[str]]:
        """Compute the study, and return quantity, published, ours and remark of every row."""
        rows = self.rows()
        return {f.name: [getattr(row, f.name) for row in rows] for f in fields(Row)}

    def _repr_html_(self) -> str:
        """In a notebook: what it is; computing it may take minutes."""
        return card(f"Study {self.name}", f"{self.title}. {self.source}", {})


def cost_verdict(published: str, ours: float) -> str:
    """Return whether a cost is what was published, in its digits, or better or worse than it, and by how
    much: "worse than published by 12 %".

    published: the number as it is printed, whose last digit says how exactly it is known. ours: not rounded.
    """
    printed = Decimal(published)
    exponent = printed.as_tuple().exponent
    if not isinstance(exponent, int) or printed <= 0:
        raise ValueRangeError(f"published is '{published}': give a positive number, as it is printed")
    if not math.isfinite(ours):
        return f"not found ({ours})"
    value = float(printed)
    if abs(ours - value) <= 0.5 * 10.0**exponent * (1 + ROUNDING):
        return "as published"
    word = "worse" if ours > value else "better"
    return f"{word} than published by {100 * abs(ours / value - 1):.3g} %"
