"""`Study`: published numbers beside ours, with a remark where they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One quantity: what was published, what strut finds, and why they differ if they do."""

    quantity: str
    published: str
    ours: str
    remark: str = ""


@dataclass(frozen=True)
class Study:
    """A published result that strut computes anew. source: where it was published."""

    name: str
    title: str
    source: str
    rows: Callable[[], list[Row]]
