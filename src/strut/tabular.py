"""`Tabular`: results as tables: a pandas DataFrame, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from strut.extras import optional_module
from strut.html import card

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, Any]
"""Columns of a table by name, all of the same length."""
TableTexts = Mapping[str, tuple[Sequence[str], Sequence[Sequence[object]]]]
"""Tables of a card by name: their head, and their rows."""
Entry = TypeVar("Entry")
MAX_CARD_ROWS = 12
"""Rows of a long table that a notebook shows, spread over all of them."""


def dataframe(columns: Columns) -> pd.DataFrame:
    """Return columns as a pandas DataFrame. Raises `MissingExtraError` where pandas is not installed."""
    return optional_module("pandas", "to_dataframe").DataFrame(dict(columns))


def name_value_unit(rows: Sequence[tuple[Any, Any, Any]]) -> dict[str, list[Any]]:
    """Return rows of name, value and unit as columns."""
    return {label: [row[k] for row in rows] for k, label in enumerate(("name", "value", "unit"))}


def one_row(result: Any) -> dict[str, list[Any]]:
    """Return the fields of a dataclass as columns of one row."""
    return {f.name: [getattr(result, f.name)] for f in fields(result)}


class Tabular:
    """A result that is a table: what inherits it says its `columns`."""

    def columns(self) -> Columns:
        """Return the columns of the table, by name."""
        raise NotImplementedError(f"{type(self).__name__} does not say its columns")

    def to_dataframe(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame."""
        return dataframe(self.columns())

    def _card_tables(self) -> TableTexts:
        """Return the tables that a notebook shows, as texts: the columns, of a long table some rows."""
        columns = self.columns()
        count = min((len(column) for column in columns.values()), default=0)
        places = np.unique(np.linspace(0, count - 1, min(count, MAX_CARD_ROWS)).astype(int))
        rows = [[_text(column[k]) for column in columns.values()] for k in places.tolist()]
        label = f"{len(rows)} of {count} rows" if len(rows) < count else "rows"
        return {label: (list(columns), rows)}

    def _card_title(self) -> str:
        """Return what stands over the tables of a notebook, and behind a colon what is said of it."""
        text = repr(self)
        return text if text.startswith("<") else type(self).__name__

    def _repr_html_(self) -> str:
        """In a notebook."""
        title, _, about = self._card_title().strip("<>").partition(": ")
        return card(title, about, self._card_tables())


class TabularTuple(tuple[Entry, ...], Tabular):
    """Several things of one kind that are a table: dataclasses, a row each. In everything else a tuple."""

    __slots__ = ()

    def _card_title(self) -> str:
        return type(self[0]).__name__ if self else "none"

    def columns(self) -> dict[str, list[Any]]:
        """Return the fields of all, and what their sentences say where they have some."""
        if not self:
            return {}
        names = [f.name for f in fields(self[0])]  # type: ignore[arg-type]  # entries are dataclasses
        names += ["sentence"] if hasattr(self[0], "sentence") else []
        return {name: [getattr(each, name) for each in self] for name in names}


def _text(value: Any) -> str:
    """Return an entry of a table as people read it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return "" if value is None else str(value)


__all__ = ["Columns", "TableTexts", "Tabular", "TabularTuple", "dataframe", "name_value_unit", "one_row"]
