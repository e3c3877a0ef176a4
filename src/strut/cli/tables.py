"""Tables that fit the terminal: words wrap inside their column, numbers never; what is too wide goes on
below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from strut.cli.answer import number_text
from strut.cli.console import out, terminal_width

GAP = 2
"""[characters] Between columns."""
MIN_TEXT_WIDTH = 12
"""[characters] Narrower than this, a column of words is not made: the table goes on below instead."""
MAX_UNBROKEN_WIDTH = 14
"""[characters] Columns of words that are no wider are not made narrower."""
MAX_WORD_WIDTH = 32
"""[characters] Words up to this are not broken; longer ones are paths."""


@dataclass(frozen=True)
class Column:
    """A column as it is printed: its head, its cells as texts, whether all of these are numbers, and whether
    it stands to the right, as numbers do: most of its cells are some."""

    head: str
    cells: tuple[str, ...]
    numeric: bool
    right: bool

    @property
    def widest_cell(self) -> int:
        """The longest cell [characters]."""
        return max((cell_len(cell) for cell in self.cells), default=0)

    @property
    def natural_width(self) -> int:
        """What it takes to wrap nothing [characters]."""
        return max(cell_len(self.head), self.widest_cell)

    @property
    def least_width(self) -> int:
        """The narrowest that it can be read in [characters]: heads wrap between words, numbers never."""
        head = max((cell_len(word) for word in self.head.split()), default=0)
        word = max((cell_len(word) for cell in self.cells for word in cell.split()), default=0)
        is_short = self.numeric or self.widest_cell <= MAX_UNBROKEN_WIDTH
        cells = self.widest_cell if is_short else max(MIN_TEXT_WIDTH, min(word, MAX_WORD_WIDTH))
        return min(max(head, cells), self.natural_width)


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table on standard output, numbers to the right and as `number_text` writes them; an empty line
    follows. One that is too wide for the terminal is printed in parts, each with the first column."""
    if title:
        out.print(Text(title, style="bold"), soft_wrap=True)
    columns = [_column(head, [row[k] for row in rows]) for k, head in enumerate(heads)]
    for part in _parts(columns, terminal_width()):
        _print_part(part, terminal_width())
        out.print()


def _column(head: str, cells: list[Any]) -> Column:
    texts = tuple(_cell(cell) for cell in cells)
    filled = [text for text in texts if text]
    numbers = [text for text in filled if _is_number(text)]
    return Column(head, texts, bool(numbers) and numbers == filled, 2 * len(numbers) > len(filled))


def _cell(value: Any) -> str:
    if isinstance(value, Real) and not isinstance(value, Integral):
        return number_text(float(value))
    return str(value)


def _is_number(text: str) -> bool:
    """Does a cell count as a number? That which stands for rows left out does."""
    try:
        float(text.rstrip("%"))
    except ValueError:
        return text == "…"
    return True


def _parts(columns: list[Column], width: int | None) -> list[list[Column]]:
    """Split columns into tables that can be printed within a width; the first column begins each."""
    if width is None or not columns:
        return [columns]
    first, parts, part = columns[0], [], [columns[0]]
    for column in columns[1:]:
        needed = sum(each.least_width for each in (*part, column)) + GAP * len(part)
        if needed > width and len(part) > 1:
            parts.append(part)
            part = [first]
        part.append(column)
    return [*parts, part]


def _widths(columns: list[Column], width: int | None) -> list[int]:
    """Return how wide each column is: its natural width, or where that is too much, its least one and a
    share of what is left, as much as it lacks."""
    natural = [each.natural_width for each in columns]
    room = None if width is None else width - GAP * (len(columns) - 1)
    if room is None or sum(natural) <= room:
        return natural
    widths = [each.least_width for each in columns]
    while sum(widths) < room and any(w < n for w, n in zip(widths, natural, strict=True)):
        lacking = max(range(len(columns)), key=lambda k: (natural[k] - widths[k], -k))
        widths[lacking] += 1
    return widths


def _print_part(columns: list[Column], width: int | None) -> None:
    """Print heads in bold, and the rows."""
    widths = _widths(columns, width)
    if any(column.head for column in columns):
        heads = [_wrap(column.head, w) for column, w in zip(columns, widths, strict=True)]
        most = max(len(lines) for lines in heads)
        _print_lines([[""] * (most - len(lines)) + lines for lines in heads], columns, widths, style="bold")
    for k in range(len(columns[0].cells) if columns else 0):
        cells = [_wrap(column.cells[k], w) for column, w in zip(columns, widths, strict=True)]
        most = max(len(lines) for lines in cells)
        _print_lines([lines + [""] * (most - len(lines)) for lines in cells], columns, widths)


def _wrap(text: str, width: int) -> list[str]:
    """Return the lines of a cell."""
    if cell_len(text) <= width and "\n" not in text:
        return [text]
    parts = [textwrap.wrap(line, max(width, 1), break_on_hyphens=False) for line in text.splitlines()]
    return [line for part in parts for line in part] or [""]


def _print_lines(cells: list[list[str]], columns: list[Column], widths: list[int], style: str = "") -> None:
    """Print the lines of one row: numbers to the right, words to the left."""
    for texts in zip(*cells, strict=True):
        padded = [
            " " * (w - cell_len(text)) + text if column.right else text + " " * (w - cell_len(text))
            for text, column, w in zip(texts, columns, widths, strict=True)
        ]
        out.print(Text((" " * GAP).join(padded).rstrip(), style=style), soft_wrap=True)


__all__ = ["table"]
