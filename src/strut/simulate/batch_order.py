"""In which order a card does the runs of a batch: such that neighbours of a start are done together.

The threads of a warp take runs together and go through them step by step, and those whose runs do different
things, or end earlier, wait for the others.
"""

from __future__ import annotations

import numpy as np

from strut.simulate.batch_task import BatchTask

MAX_CELLS = 2**16
"""Cells of starts, at most: their numbers are sorted by their digits, which is quick."""
RUNS_PER_CELL = 32
"""Runs of a cell, about: as many as a warp has threads."""
MAX_CELL_COLUMNS = 8
"""Quantities by which starts are put into cells, at most: with two halves of each that makes 256 cells."""
SAMPLE_RUNS = 4096
"""Runs of which it is seen whether they lie beside their neighbours."""


def neighbours_together(task: BatchTask, begin: int, end: int) -> np.ndarray | None:
    """Return an order of the runs from one number to before another in which those that begin alike follow
    each other, by their numbers from 0. None where they do already, or where all begin alike.

    Runs are put into cells, boxes over the states, inputs and parameters that differ, and done cell by cell.
    """
    columns = _columns_that_differ(task, begin, end)
    if not columns:
        return None
    bins = max(2, int(min(MAX_CELLS, (end - begin) / RUNS_PER_CELL) ** (1 / len(columns))))
    some = np.linspace(0, end - begin - 2, SAMPLE_RUNS).astype(np.int64)
    one, next_one = _cells(columns, bins, some), _cells(columns, bins, some + 1)
    if np.mean(np.abs(next_one - one) <= 1) > 0.5:
        return None
    cells = _cells(columns, bins, slice(None)).astype(np.uint16)
    return np.argsort(cells, kind="stable").astype(np.int32)


Column = tuple[np.ndarray, float, float]
"""A quantity of all runs, with its least and its largest value."""


def _columns_that_differ(task: BatchTask, begin: int, end: int) -> list[Column]:
    """What the runs begin with, by quantities, where not all have the same."""
    values, columns = task.values, []
    for rows, width in zip((values.x, values.z, values.u, values.p), task.row_widths, strict=True):
        for column in rows[begin:end].T if width else ():
            low, high = float(column.min()), float(column.max())
            if np.isfinite(high - low) and high > low:
                columns.append((column, low, high))
    return columns[:MAX_CELL_COLUMNS]


def _cells(columns: list[Column], bins: int, runs: np.ndarray | slice) -> np.ndarray:
    """The numbers of the cells of some runs, with so many bins along each quantity."""
    number: np.ndarray = np.zeros(1, dtype=np.int64)
    for column, low, high in columns:
        bin_number = ((column[runs] - low) * (bins / (high - low))).astype(np.int64)
        number = number * bins + np.minimum(bin_number, bins - 1)
    return number


__all__ = ["neighbours_together"]
