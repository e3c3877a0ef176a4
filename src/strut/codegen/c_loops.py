"""Loops in C over tables: of what each pass reads, and where its results go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from strut.codegen.c_tables import Tables
from strut.codegen.instructions import Dialect


@dataclass(frozen=True)
class Leaf:
    """What every pass reads: the number `literal`; or entry values[k] of `array`; or, with neither, the
    number values[k]."""

    array: str = ""
    values: np.ndarray | None = None
    literal: float | None = None


MIN_OPERATIONS = 400
"""Operations of a function, or of its like terms, below which loops are not worth it."""
MIN_TERMS = 48
"""Like terms that make a loop."""
MIN_RUN = 8
"""Terms that read neighbours, on average, which are worth a loop of their own without tables of indices."""
SUM_LANES = 4
"""Sums that such a loop keeps side by side: a compiler may not reorder one, but can do several at once."""

Step = tuple[int, tuple[int, ...]]
"""An operation on results of earlier steps (n >= 0) and on leaves (-1 - n)."""


@dataclass(frozen=True)
class Kernel:
    """What like terms do: the steps of a loop, its leaves, and which of both are the results (references as
    in steps)."""

    steps: Sequence[Step]
    leaves: Sequence[Leaf]
    results: Sequence[int]


@dataclass(frozen=True)
class Target:
    """Where sums go: result i of the k-th term to place rows[k] + apart * i of an array. Rows ascend.

    sign: 1 adds, -1 subtracts.
    """

    array: str
    rows: np.ndarray
    sign: int = 1
    apart: int = 1

    @property
    def adds(self) -> str:
        """The C operator that adds a term."""
        return "+=" if self.sign > 0 else "-="


class Loops:
    """Writes the loops of one function."""

    def __init__(self, name: str, dialect: Dialect, tables: Tables) -> None:
        self.name, self.c, self.tables = name, dialect, tables

    def add_to(self, target: Target, kernel: Kernel) -> str:
        """C that adds the results of every pass to the places of a target."""
        rows, results, count = target.rows, kernel.results, len(target.rows)
        starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        # every term has a row of its own: nothing to sum up first
        if len(starts) == count:
            places = [rows + target.apart * i for i in range(len(results))]
            return self._each(kernel, places, target.array, target.adds)
        where = np.searchsorted(starts, np.arange(count), side="right") - 1
        begins = _run_begins(kernel.leaves, starts, where)
        if count >= MIN_RUN * len(begins):
            return self._add_in_runs(target, kernel, starts, where, begins)
        # one sum per row, over the passes from `begin` to `end`
        names, outer, inner = self._reads(kernel.leaves, starts, where)
        inner += self._steps(kernel, names)
        begin, end = (self.tables.index(each, "r") for each in (starts, np.r_[starts[1:], count]))
        sums = ["sum"] if len(results) == 1 else [f"sum{i}" for i in range(len(results))]
        return "\n    ".join(
            [
                f"for (int r = 0; r < {len(starts)}; r++) {{ /* {count} like terms */",
                *(f"    strut_real {each} = R(0);" for each in sums),
                *(f"    {line}" for line in outer),
                f"    for (int k = {begin}; k < {end}; k++) {{",
                *(f"        {line}" for line in inner),
                *(
                    f"        {each} {target.adds} {_reference_text(r, names)};"
                    for each, r in zip(sums, results, strict=True)
                ),
                "    }",
                *(f"    {self._row(target, starts, i)} += {each};" for i, each in enumerate(sums)),
                "}",
            ]
        )

    def _row(self, target: Target, starts: np.ndarray, i: int) -> str:
        """The place of result i in row `r`."""
        return f"{target.array}[{self.tables.index(target.rows[starts] + target.apart * i, 'r')}]"

    def _add_in_runs(
        self, target: Target, kernel: Kernel, starts: np.ndarray, where: np.ndarray, begins: np.ndarray
    ) -> str:
        """The same where terms read neighbours for a while: each run is a loop that compilers can
        vectorise."""
        count, leaves = len(target.rows), kernel.leaves
        first_run = np.searchsorted(begins, starts)
        ends = np.r_[first_run[1:], len(begins)]
        run, last_run = (self.tables.index(each, "r") for each in (first_run, ends))
        begin, length = (self.tables.index(each, "q") for each in (begins, np.diff(np.r_[begins, count])))
        # pointers to where a run begins to read: inside it, leaves are neighbours
        moved = {
            n: f"{leaf.array} + ({self.tables.index(leaf.values[begins], 'q')})"
            for n, leaf in enumerate(leaves)
            if leaf.values is not None and leaf.array and not _per_row(leaf.values, starts, where)
        }
        lines = [
            f"for (int r = 0; r < {len(starts)}; r++) {{ /* {count} like terms, in {len(begins)} runs */"
        ]
        sums = range(len(kernel.results))
        lines += [
            f"    strut_real sum{i} = R(0), lanes{i}[{SUM_LANES}] = {{{', '.join(['R(0)'] * SUM_LANES)}}};"
            for i in sums
        ]
        names, outer, read = self._reads(leaves, starts, where, "begin + k", moved)
        counted = any("begin" in line for line in read)
        lines += [
            *(f"    {line}" for line in outer),
            f"    for (int q = {run}; q < {last_run}; q++) {{",
            f"        const int {f'begin = {begin}, ' if counted else ''}length = {length};",
            *(f"        const strut_real *from{n} = {text};" for n, text in moved.items()),
            "        int k = 0;",
            f"        for (; k + {SUM_LANES} <= length; k += {SUM_LANES}) "
            f"for (int l = 0; l < {SUM_LANES}; l++) {{",
        ]
        # several lanes at once, then what is left of the run one by one
        for by, sum_of in (("k + l", "lanes{}[l]"), ("k", "sum{}")):
            if by == "k":
                lines.append("        for (; k < length; k++) {")
            _, _, inner = self._reads(leaves, starts, where, f"begin + {by}", moved)
            inner += self._steps(kernel, names)
            inner += [
                f"{sum_of.format(i)} {target.adds} {_reference_text(r, names)};"
                for i, r in enumerate(kernel.results)
            ]
            lines += [*(f"            {line}" for line in inner), "        }"]
        lines.append("    }")
        for i in sums:
            total = " + ".join(f"lanes{i}[{n}]" for n in range(SUM_LANES))
            lines.append(f"    {self._row(target, starts, i)} += sum{i} + ({total});")
        return "\n    ".join([*lines, "}"])

    def write_to(self, array: str, places: Sequence[np.ndarray], kernel: Kernel) -> str:
        """C that puts result i of the k-th pass into entry places[i][k] of an array."""
        return self._each(kernel, places, array, "=")

    def _each(self, kernel: Kernel, places: Sequence[np.ndarray], array: str, sign: str) -> str:
        """A loop whose every pass assigns (sign '=') or adds its results."""
        count = len(places[0])
        names, _, inner = self._reads(kernel.leaves, np.arange(count), None)
        inner += self._steps(kernel, names)
        inner += [
            f"{array}[{self.tables.index(at, 'k')}] {sign} {_reference_text(r, names)};"
            for at, r in zip(places, kernel.results, strict=True)
        ]
        lines = [
            f"for (int k = 0; k < {count}; k++) {{ /* like terms */",
            *(f"    {line}" for line in inner),
            "}",
        ]
        return "\n    ".join(lines)

    def _reads(
        self,
        leaves: Sequence[Leaf],
        starts: np.ndarray,
        where: np.ndarray | None,
        by: str = "k",
        moved: Mapping[int, str] | None = None,
    ) -> tuple[list[str], list[str], list[str]]:
        """Names of leaves, and the lines that read them once a row and in every pass, which `by` counts; in a
        run, from where the leaf is moved to."""
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
            per_row = where is not None and _per_row(values, starts, where)
            count, picked = ("r", values[starts]) if per_row else (by, values)
            if moved is not None and n in moved:
                text = f"from{n}[{by.removeprefix('begin + ')}]"
            elif leaf.array:
                text = f"{leaf.array}[{self.tables.index(picked, count)}]"
            else:
                text = self.tables.number(picked.tolist(), count)
            if not leaf.array and "[" not in text:
                names.append(text)
                continue
            (outer if per_row else inner).append(f"const strut_real b{n} = {text};")
            names.append(f"b{n}")
        return names, outer, inner

    def _steps(self, kernel: Kernel, names: Sequence[str]) -> list[str]:
        """The lines that do the steps; `names` are those of the leaves."""
        lines = []
        for n, (op, refs) in enumerate(kernel.steps):
            last = kernel.leaves[-1 - refs[-1]].literal if refs[-1] < 0 else None
            lines.append(
                f"const strut_real c{n} = "
                f"{self.c.operation(op, [_reference_text(r, names) for r in refs], last, self.name)};"
            )
        return lines


def _per_row(values: np.ndarray, starts: np.ndarray, where: np.ndarray) -> bool:
    """Does a leaf have one value for each row?"""
    return bool(np.array_equal(values[starts][where], values, equal_nan=values.dtype.kind == "f"))


def _run_begins(leaves: Sequence[Leaf], starts: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Where runs begin: with every row, and where a leaf does not read the neighbour of what it read
    before."""
    begins = np.zeros(len(where), dtype=bool)
    begins[starts] = True
    for leaf in leaves:
        if leaf.values is not None and leaf.array and not _per_row(leaf.values, starts, where):
            begins[1:] |= np.diff(leaf.values) != 1
    return np.flatnonzero(begins)


def _reference_text(reference: int, names: Sequence[str]) -> str:
    """The local of a step, or the name of a leaf."""
    return f"c{reference}" if reference >= 0 else names[-1 - reference]
