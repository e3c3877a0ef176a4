"""Loops in C over tables: of what each pass reads, and where its results go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strut.codegen.c_tables import Tables
from strut.codegen.instructions import Dialect


@dataclass(frozen=True)
class Leaf:
    """What every pass reads: the number `literal`; or entry values[k] of `array`; or, with neither, the number values[k]."""

    array: str = ""
    values: np.ndarray | None = None
    literal: float | None = None


Step = tuple[int, tuple[int, ...]]
"""An operation on results of earlier steps (n >= 0) and on leaves (-1 - n)."""


class Loops:
    """Writes the loops of one function."""

    def __init__(self, name: str, dialect: Dialect, tables: Tables) -> None:
        self.name, self.c, self.tables = name, dialect, tables

    def added(
        self,
        steps: Sequence[Step],
        leaves: Sequence[Leaf],
        results: Sequence[int],
        rows: np.ndarray,
        into: str,
        sign: int = 1,
        apart: int = 1,
    ) -> str:
        """Results (references as in steps) added to places rows[k], rows[k] + apart, ... of an array. Rows must ascend."""
        count = len(rows)
        starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        if len(starts) == count:
            return self._each(steps, leaves, results, [rows + apart * i for i in range(len(results))], into, "+=" if sign > 0 else "-=")
        where = np.searchsorted(starts, np.arange(count), side="right") - 1
        names, outer, inner = self._reads(leaves, starts, where)
        inner += self._steps(steps, leaves, names)
        begin, end = (self.tables.index(each, "r") for each in (starts, np.r_[starts[1:], count]))
        sums = ["sum"] if len(results) == 1 else [f"sum{i}" for i in range(len(results))]
        return "\n    ".join(
            [
                f"for (int r = 0; r < {len(starts)}; r++) {{ /* {count} like terms */",
                *(f"    strut_real {each} = R(0);" for each in sums),
                *(f"    {line}" for line in outer),
                f"    for (int k = {begin}; k < {end}; k++) {{",
                *(f"        {line}" for line in inner),
                *(f"        {each} {'+' if sign > 0 else '-'}= {_named(r, names)};" for each, r in zip(sums, results, strict=True)),
                "    }",
                *(f"    {into}[{self.tables.index(rows[starts] + apart * i, 'r')}] += {each};" for i, each in enumerate(sums)),
                "}",
            ]
        )

    def written(self, steps: Sequence[Step], leaves: Sequence[Leaf], results: Sequence[int], to: Sequence[np.ndarray], into: str) -> str:
        """Result i put into places to[i] of an array."""
        return self._each(steps, leaves, results, to, into, "=")

    def _each(
        self, steps: Sequence[Step], leaves: Sequence[Leaf], results: Sequence[int], to: Sequence[np.ndarray], into: str, sign: str
    ) -> str:
        count = len(to[0])
        names, _, inner = self._reads(leaves, np.arange(count), None)
        inner += self._steps(steps, leaves, names)
        inner += [f"{into}[{self.tables.index(at, 'k')}] {sign} {_named(r, names)};" for at, r in zip(to, results, strict=True)]
        lines = [f"for (int k = 0; k < {count}; k++) {{ /* like terms */", *(f"    {line}" for line in inner), "}"]
        return "\n    ".join(lines)

    def _reads(self, leaves: Sequence[Leaf], starts: np.ndarray, where: np.ndarray | None) -> tuple[list[str], list[str], list[str]]:
        """Names of leaves, and the lines that read them once a row and in every pass."""
        names: list[str] = []
        outer: list[str] = []
        inner: list[str] = []
        for n, leaf in enumerate(leaves):
            if leaf.literal is not None:
                names.append(self.c.literal(leaf.literal))
                continue
            values = leaf.values
            if values is None:
                names.append(leaf.array)
                continue
            per_row = where is not None and bool(np.array_equal(values[starts][where], values, equal_nan=values.dtype.kind == "f"))
            by, picked = ("r", values[starts]) if per_row else ("k", values)
            text = f"{leaf.array}[{self.tables.index(picked, by)}]" if leaf.array else self.tables.number(picked.tolist(), by)
            if not leaf.array and "[" not in text:
                names.append(text)
                continue
            (outer if per_row else inner).append(f"const strut_real b{n} = {text};")
            names.append(f"b{n}")
        return names, outer, inner

    def _steps(self, steps: Sequence[Step], leaves: Sequence[Leaf], names: Sequence[str]) -> list[str]:
        lines = []
        for n, (op, refs) in enumerate(steps):
            last = leaves[-1 - refs[-1]].literal if refs[-1] < 0 else None
            lines.append(f"const strut_real c{n} = {self.c.operation(op, [_named(r, names) for r in refs], last, self.name)};")
        return lines


def _named(reference: int, names: Sequence[str]) -> str:
    return f"c{reference}" if reference >= 0 else names[-1 - reference]
