"""The C of functions that are loops over like terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from strut.codegen.c import c_dialect, emit, function_text
from strut.codegen.c_loops import Kernel, Leaf, Loops, Step, Target
from strut.codegen.c_tables import Tables
from strut.codegen.find_loops import Graph, graph_of
from strut.codegen.instructions import straight_line
from strut.codegen.lower_sums import ARGUMENTS, NUMBER, SOURCES, LoopedFunction, P, T
from strut.codegen.prepare import Prepared
from strut.system import Like, Totals


def loop_text(looped: LoopedFunction, name: str, result: str, height: str, prepared: Prepared) -> str:
    """The C function `name`, with all it needs; `height` is how many numbers its one result has."""
    return _Writer(looped, name, result, prepared).text(height)


class _Writer:
    """Writes one function that is loops over like terms."""

    def __init__(self, looped: LoopedFunction, name: str, result: str, prepared: Prepared) -> None:
        self.looped, self.name, self.out, self.prepared = looped, name, f"out_{result}", prepared
        self.tables = Tables(name)
        self.c = c_dialect(ARGUMENTS, (result,))
        self.loops = Loops(name, self.c, self.tables)
        self.index = looped.index.copy()

    def text(self, height: str) -> str:
        """Constants first, then what several terms use, then the terms."""
        low, name = self.looped, self.name
        self._place_constants()
        before, lines = "", [f"for (int r = 0; r < {height}; r++) {self.out}[r] = R(0);"]
        if low.size:
            lines.insert(0, f"strut_real w[{low.size}];")
        first = int(low.before.numel_out(0))
        if first:
            before = emit(low.before, f"{name}_before", ARGUMENTS, ("w",), self.prepared)
            lines.append(f"STRUT_({name}_before)({', '.join(ARGUMENTS)}, w);")
        for like in low.computed:
            last = first + like.size * like.length
            if isinstance(like, Totals):
                lines.append(f"for (int r = {first}; r < {last}; r++) w[r] = R(0);")
                lines += self._adding_loops(like, first + like.rows, "w", like.totals)
            else:
                lines += self._writing_loops(like, first)
            first = last
        for terms in low.terms:
            lines += self._adding_loops(terms, terms.rows, self.out, 1)
        return (
            before
            + self.tables.text()
            + function_text(name, ARGUMENTS, [self.out], lines, kind="STRUT_LOOPS")
        )

    def _writing_loops(self, like: Like, first: int) -> Iterator[str]:
        for chosen, sources in self._split(like):
            kernel = self._kernel(like, chosen, sources)
            to = [first + i * like.count + chosen for i in range(like.size)]
            yield self.loops.write_to("w", to, kernel)

    def _adding_loops(self, like: Like, rows: np.ndarray, into: str, apart: int) -> Iterator[str]:
        for chosen, sources in self._split(like):
            chosen = chosen[np.argsort(rows[chosen], kind="stable")]
            kernel = self._kernel(like, chosen, sources)
            yield self.loops.add_to(Target(into, rows[chosen], apart=apart), kernel)

    def _place_constants(self) -> None:
        """What depends on parameters alone is kept behind them."""
        low = self.looped
        behind = np.flatnonzero((low.source == P) & (low.index < 0))
        if not len(behind):
            return
        c = c_dialect(("p",), ("w",))
        texts = [s.expression for s in straight_line(low.fixed, "fixed", c, self.prepared, 0) if not s.local]
        self.index[behind] = [int(texts[-1 - low.index[k]][2:-1]) for k in behind]

    def _split(self, like: Like) -> Iterator[tuple[np.ndarray, list[int]]]:
        """Those that find what they read in the same vectors."""
        if not len(like.reads):
            yield np.arange(like.count), []
            return
        sources = self.looped.source[like.reads]
        kinds, which = np.unique(sources, axis=1, return_inverse=True)
        for k in range(kinds.shape[1]):
            yield np.flatnonzero(which.ravel() == k), kinds[:, k].tolist()

    # ---- kernels ----

    def _kernel(self, like: Like, chosen: np.ndarray, sources: Sequence[int]) -> Kernel:
        """Results in terms of what is read and of what `prepare` computes: whatever is made of parameters and
        numbers alone."""
        g = graph_of(like.function(), lambda _, slot: sources[slot] in (P, NUMBER))
        reads = [like.reads[slot][chosen] for slot in range(len(sources))]
        steps: list[Step] = []
        leaves: list[Leaf] = []
        results: list[int] = [0] * like.size
        at: dict[int, int] = {}

        def add_leaf(leaf: Leaf) -> int:
            leaves.append(leaf)
            return -len(leaves)

        def visit(v: int) -> int:
            if v not in at:
                if v in g.number:
                    at[v] = add_leaf(Leaf(literal=g.number[v]))
                elif v in g.entry:
                    at[v] = add_leaf(self._leaf(sources[g.entry[v][1]], reads[g.entry[v][1]]))
                elif g.fixed[v]:
                    at[v] = add_leaf(Leaf("p", self._prepared_places(g, v, sources, reads, len(chosen))))
                else:
                    refs = tuple(visit(a) for a in g.args[v])
                    steps.append((g.op[v], refs))
                    at[v] = len(steps) - 1
            return at[v]

        for _, entry, v in sorted(g.outputs, key=lambda output: output[1]):
            results[entry] = visit(v)
        return Kernel(steps, leaves, results)

    def _leaf(self, source: int, reads: np.ndarray) -> Leaf:
        index = self.index[reads]
        if source == NUMBER:
            return Leaf(values=self.looped.numbers[index])
        return Leaf(SOURCES[source]) if source == T else Leaf(SOURCES[source], index)

    def _prepared_places(
        self, g: Graph, v: int, sources: Sequence[int], reads: Sequence[np.ndarray], count: int
    ) -> np.ndarray:
        """Where `prepare` puts something made of parameters and numbers, for every pass; what is equal,
        once."""
        slots = sorted(_slots(g, v))
        if not slots:
            return np.full(count, self.prepared.slot(self.prepared.hoist(self._text(g, v, {}))))
        read = np.array([reads[slot] for slot in slots])
        first, which = _different(read)
        texts = {}
        for slot, places in zip(slots, read[:, first], strict=True):
            leaf = self._leaf(sources[slot], places)
            assert leaf.values is not None
            tables = self.prepared.tables
            texts[slot] = (
                f"p[{tables.index(leaf.values, 'k')}]"
                if leaf.array
                else tables.number(leaf.values.tolist(), "k")
            )
        if len(first) == 1:
            return np.full(count, self.prepared.slot(self.prepared.hoist(self._text(g, v, texts))))
        return self.prepared.block(self._text(g, v, texts), len(first)) + which

    def _text(self, g: Graph, v: int, texts: dict[int, str]) -> str:
        if v in g.number:
            return self.c.literal(g.number[v])
        if v in g.entry:
            return texts[g.entry[v][1]]
        parts = [self._text(g, a, texts) for a in g.args[v]]
        return f"({self.c.operation(g.op[v], parts, g.number.get(g.args[v][-1]), self.name)})"


def _slots(g: Graph, v: int) -> set[int]:
    """The slots that a value is made of."""
    return {g.entry[v][1]} if v in g.entry else set().union(*(_slots(g, a) for a in g.args[v]))


def _different(read: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which columns are different ones, in the order in which they come, and which of these each is."""
    _, first, which = np.unique(read, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[which.ravel()]
