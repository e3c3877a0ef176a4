"""Recordings in CSV files: a clock in the first column, and what was recorded beside it, with units."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from strut.errors import StorageError, ValueRangeError
from strut.files import DAMAGE
from strut.units import to_si

HEADER = re.compile(r"\s*([^\[\]()]*?)\s*(?:[\[(]\s*([^\[\]()]*?)\s*[\])])?\s*")
"""The head of a column: a name, and a unit in brackets."""
DEGREES_ENDING = "_deg"
"""What the name of a column in degrees may end with."""


@dataclass(frozen=True, eq=False)
class RecordedColumn:
    """A column of a recording. label: as the file has it. name: without a unit. unit: SI, or empty where the
    file says none. values: in that unit."""

    label: str
    name: str
    unit: str
    values: np.ndarray = field(repr=False)


def read_recording(file: str | Path) -> tuple[str, np.ndarray, tuple[RecordedColumn, ...]]:
    """Read a recording: the head of its first column, that column as it stands, and the others in SI units.

    file: CSV, its first line the names of the columns, with units in brackets. Raises StorageError for a file
    that cannot be read, and ValueRangeError for one with holes, texts, or columns of one name.
    """
    head, rows = _read_csv(Path(file))
    numbers = np.array([_numbers(file, k, head, row) for k, row in rows])
    columns = []
    for k, label in enumerate(head[1:], 1):
        column_name, unit = name_and_unit(file, label)
        try:
            factor, si = to_si(unit)
        except ValueRangeError as error:
            raise ValueRangeError(f"{file}, column '{label}': {error}") from None
        columns.append(RecordedColumn(label, column_name, si, factor * numbers[:, k]))
    names = [each.name for each in columns]
    for each in names:
        if names.count(each) > 1:
            raise ValueRangeError(f"{file} has two columns for '{each}': leave one out")
    return head[0], numbers[:, 0], tuple(columns)


def _read_csv(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the head of a CSV file, and its rows with the numbers of their lines."""
    try:
        lines = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (*DAMAGE, csv.Error) as error:
        raise StorageError(f"cannot read the recording {path}: {error}") from error
    rows = [(k, row) for k, row in enumerate(lines, 1) if any(cell.strip() for cell in row)]
    if not rows or len(rows[0][1]) < 2:
        raise ValueRangeError(
            f"{path} has no columns: its first line must be their names, 'time,hip [deg],knee [deg]'"
        )
    if len(rows) < 3:
        raise ValueRangeError(f"{path} has {len(rows) - 1} row(s) of numbers: a recording needs at least 2")
    return [cell.strip() for cell in rows[0][1]], rows[1:]


def _numbers(file: str | Path, line: int, head: list[str], row: list[str]) -> list[float]:
    """Return a row as numbers."""
    if len(row) != len(head):
        raise ValueRangeError(f"{file}, line {line}, has {len(row)} cells: its head has {len(head)} columns")
    numbers = []
    for label, cell in zip(head, row, strict=True):
        try:
            value = float(cell)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise ValueRangeError(f"{file}, line {line}, column '{label}': '{cell}' is no finite number")
        numbers.append(value)
    return numbers


def name_and_unit(file: str | Path, label: str) -> tuple[str, str]:
    """Return name and unit of the head of a column: hip, hip [deg], hip (deg), hip_deg."""
    match = HEADER.fullmatch(label)
    if not match or not match[1]:
        raise ValueRangeError(f"{file}: '{label}' is no head of a column: write NAME or NAME [UNIT]")
    if match[2] is None and match[1].endswith(DEGREES_ENDING):
        return match[1].removesuffix(DEGREES_ENDING), "deg"
    return match[1], match[2] or ""


__all__ = ["RecordedColumn", "name_and_unit", "read_recording"]
