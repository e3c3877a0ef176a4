"""A table in a CSV file as a page: its columns over the first one, or its cells where the last column is a
word."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from strut.checks import checked
from strut.errors import StorageError
from strut.view.figures.figure import PALETTE, Figure, Line
from strut.view.figures.gait_plots import basin
from strut.view.pages.report import Report

MAX_ROWS = 200
"""Rows of a table in the page at most: the first ones."""


@checked
def table_report(path: str | Path, asked: str = "") -> Report:
    """A CSV file with a line of names as a page: a figure per column over the first one; of two columns of
    numbers and one of words,
    as of a basin, a picture of cells. A table knows no units: those are in the .h5 or .json that it was saved
        with. asked: the command that was given.
    """
    place = Path(path)
    head, rows = read_table(place)
    remarks = f"{len(rows):,} rows of {place.name}. A table has no units."
    report = Report(place.stem, remarks=remarks, asked=asked)
    numbers = [_numbers([row[k] for row in rows]) for k in range(len(head))]
    report.section("Plots")
    if len(head) == 3 and numbers[0] is not None and numbers[1] is not None and numbers[2] is None:
        report.figures(_cells(head, numbers[0], numbers[1], [row[2] for row in rows]))
    elif numbers[0] is not None:
        x = numbers[0]
        lines = [(head[k], y) for k, y in enumerate(numbers[1:], start=1) if y is not None]
        figures = [
            Figure((Line(name, x, y, PALETTE[k % len(PALETTE)]),), head[0], name, legend=False)
            for k, (name, y) in enumerate(lines)
        ]
        report.figures(*figures, beside=len(figures) > 2)
    report.section("Table")
    text_rows = [
        [cell if (y := numbers[k]) is None else f"{y[n]:.9g}" for k, cell in enumerate(row)]
        for n, row in enumerate(rows[:MAX_ROWS])
    ]
    report.table(
        head, text_rows, tuple(k for k, y in enumerate(numbers) if y is not None), long=len(text_rows) > 20
    )
    if len(rows) > MAX_ROWS:
        report.note(f"and {len(rows) - MAX_ROWS:,} more, not listed")
    return report


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read the line of names and the cells of a CSV file. Raises StorageError for what is no such table."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    if not rows or any(len(row) != len(head) for row in rows):
        raise StorageError(
            f"cannot read {path}: a table has a line of names and then as many cells in every row"
        )
    return head, rows


def _numbers(cells: list[str]) -> np.ndarray | None:
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        return None


def _cells(head: list[str], x: np.ndarray, y: np.ndarray, words: list[str]) -> Figure:
    columns, rows = np.unique(x), np.unique(y)
    kinds = sorted(set(words), key=lambda word: (word != "walks", word))
    grid = np.full((len(rows), len(columns)), np.nan)
    grid[np.searchsorted(rows, y), np.searchsorted(columns, x)] = [kinds.index(word) for word in words]
    return basin(grid, columns, rows, head[0], head[1], names=dict(enumerate(kinds)))
