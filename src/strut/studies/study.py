"""`Study`: published numbers beside ours, with a remark where they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from strut.html import card
from strut.tabular import Tabular


@dataclass(frozen=True)
class Row:
    """One quantity: what was published, what strut finds, and why they differ if they do."""

    quantity: str
    published: str
    ours: str
    remark: str = ""


@dataclass(frozen=True)
class Study(Tabular):
    """A published result that strut computes anew. source: where it was published."""

    name: str
    title: str
    source: str
    rows: Callable[[], list[Row]]

    def columns(self) -> dict[str, list[str]]:
        """Compute the study, and return quantity, published, ours and remark of every row."""
        rows = self.rows()
        return {f.name: [getattr(row, f.name) for row in rows] for f in fields(Row)}

    def _repr_html_(self) -> str:
        """In a notebook: what it is; computing it may take minutes."""
        return card(f"Study {self.name}", f"{self.title}. {self.source}", {})
