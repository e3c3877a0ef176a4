"""Sums of like terms as loops.

Where a function adds up many terms that differ only in what they read (the edges of a network, the springs of
a net), the C of all of them is one loop and tables of what each reads. Found in CasADi's instructions, so
whoever describes a system need not know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from strut.codegen.c_loops import MIN_OPERATIONS, MIN_TERMS, Kernel, Leaf, Loops, Target
from strut.codegen.c_tables import Tables
from strut.codegen.instructions import AssignmentLine, Dialect
from strut.codegen.prepare import Prepared

MAX_TERM_OPERATIONS = 60
"""Operations of a term that may be part of a loop."""
MAX_LEVELS = 4
"""Loops that wait for others: more levels are the sign of a recursion, which is better off without."""
MIN_INNER_TERMS = 8
"""Terms of a sum that is a loop of its own even inside a term."""
STRAIGHT, UNKNOWN = -1, -2
"""Owners of a value that belongs to no term: one that stays in straight lines, and one not looked at yet."""

Tree = tuple[Any, ...]
"""A value of parameters: an operation and the trees that it takes, or ('n',) a number, ('p',) a parameter."""
LeafKind = tuple[Any, ...]
"""How terms read a leaf: 'literal' and its number; 'number'; 'entry' and the argument; 'fixed' and its tree;
'local'."""


@dataclass
class Graph:
    """The instructions of a function, each value assigned once: its operation and the values it takes."""

    op: list[int] = field(default_factory=list)
    args: list[tuple[int, ...]] = field(default_factory=list)
    number: dict[int, float] = field(default_factory=dict)
    entry: dict[int, tuple[int, int]] = field(default_factory=dict)
    fixed: list[bool] = field(default_factory=list)
    outputs: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, op: int, args: tuple[int, ...], fixed: bool) -> int:
        """Append a value; returns its number."""
        self.op.append(op)
        self.args.append(args)
        self.fixed.append(fixed)
        return len(self.op) - 1


def graph_of(f: ca.Function, fixed: Callable[[int, int], bool]) -> Graph:
    """The graph of a function; `fixed` tells which entries of its arguments are. A quotient by something
    fixed is a product with its inverse, which is computed beforehand."""
    g = Graph()
    value_in_slot: dict[int, int] = {}
    inverse: dict[int, int] = {}
    operation, inputs, outputs = f.instruction_id, f.instruction_input, f.instruction_output
    for k in range(f.n_instructions()):
        op, i, o = operation(k), inputs(k), outputs(k)
        if op == ca.OP_CONST:
            value_in_slot[o[0]] = v = g.add(op, (), True)
            g.number[v] = f.instruction_constant(k)
        elif op == ca.OP_INPUT:
            value_in_slot[o[0]] = v = g.add(op, (), fixed(i[0], i[1]))
            g.entry[v] = (i[0], i[1])
        elif op == ca.OP_OUTPUT:
            g.outputs.append((o[0], o[1], value_in_slot[i[0]]))
        else:
            args = tuple(value_in_slot[slot] for slot in i)
            if op == ca.OP_DIV and g.fixed[args[1]] and not g.fixed[args[0]] and args[1] not in g.number:
                if args[1] not in inverse:
                    inverse[args[1]] = g.add(ca.OP_INV, (args[1],), True)
                op, args = ca.OP_MUL, (args[0], inverse[args[1]])
            value_in_slot[o[0]] = g.add(op, args, all(g.fixed[a] for a in args))
    return g


@dataclass(slots=True)
class Term:
    """One summand: the value, its sign, the sum it belongs to, and what it reads, in the order of its group's
    leaves."""

    value: int
    sign: int
    root: int
    leaves: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class TermShape:
    """What like terms share: operations on earlier results (n >= 0) and leaves (-1 - n), and what kind each
    leaf is."""

    sign: int
    steps: tuple[tuple[int, tuple[int, ...]], ...]
    kinds: tuple[LeafKind, ...]


class LoopFinder:
    """Finds the loops of one function."""

    def __init__(self, graph: Graph) -> None:
        self.g = graph
        self.sums: dict[int, list[Term]] = {}
        self.owner: list[int] = []
        self.terms: list[Term] = []
        self.groups: dict[TermShape, list[Term]] = {}
        self.trees: dict[int, tuple[Tree, list[int]] | None] = {}

    def find(self) -> bool:
        """Are there loops worth it: most of the function?"""
        self._find_sums()
        sizes: dict[int, int] = {}
        for o in self.owner:
            if o >= 0:
                sizes[o] = sizes.get(o, 0) + 1
        for k, term in enumerate(self.terms):
            if sizes.get(k, 0) <= MAX_TERM_OPERATIONS:
                self.groups.setdefault(self._shape(k, term), []).append(term)
        self.groups = {shape: terms for shape, terms in self.groups.items() if len(terms) >= MIN_TERMS}
        rolled = sum((len(shape.steps) + 1) * len(terms) for shape, terms in self.groups.items())
        total = sum(
            op not in (ca.OP_CONST, ca.OP_INPUT) and not fixed
            for op, fixed in zip(self.g.op, self.g.fixed, strict=True)
        )
        return rolled > 0.5 * total

    def _find_sums(self) -> None:
        """a + b - c + d: a sum goes on along its left side, where what is added up so far is used nowhere
        else.

        From the results backwards: a short sum inside a term is part of the term. A value belongs to the term
        of everything that uses it, and to none if several do, or something else.
        """
        g = self.g
        uses = [0] * len(g.op)
        for args in g.args:
            for a in args:
                uses[a] += 1
        for _, _, v in g.outputs:
            uses[v] += 1
        adds = [op in (ca.OP_ADD, ca.OP_SUB) and not fixed for op, fixed in zip(g.op, g.fixed, strict=True)]
        inner = [False] * len(g.op)
        for k, args in enumerate(g.args):
            if adds[k] and adds[args[0]] and uses[args[0]] == 1:
                inner[args[0]] = True
        owner: list[int] = [UNKNOWN] * len(g.op)
        chain = [False] * len(g.op)
        for _, _, v in g.outputs:
            owner[v] = STRAIGHT
        for k in range(len(g.op) - 1, -1, -1):
            if chain[k]:
                continue
            if adds[k] and not inner[k]:
                links, terms = self._chain(k, inner)
                if owner[k] < 0 or len(terms) >= MIN_INNER_TERMS:
                    for v in links:
                        chain[v], owner[v] = True, STRAIGHT
                    for term in terms:
                        v = term.value
                        if g.args[v] and not g.fixed[v] and uses[v] == 1:
                            owner[v] = len(self.terms)
                        else:
                            owner[v] = STRAIGHT
                        self.terms.append(term)
                    self.sums[k] = terms
                    continue
            if owner[k] == UNKNOWN or not g.args[k] or g.fixed[k]:
                owner[k] = STRAIGHT
            for a in g.args[k]:
                owner[a] = owner[k] if owner[a] in (UNKNOWN, owner[k]) else STRAIGHT
        self.owner, self.sums = owner, dict(reversed(self.sums.items()))

    def _chain(self, root: int, inner: list[bool]) -> tuple[list[int], list[Term]]:
        g, links, terms, v = self.g, [], [], root
        while True:
            left, right = g.args[v]
            links.append(v)
            terms.append(Term(right, 1 if g.op[v] == ca.OP_ADD else -1, root))
            if not inner[left]:
                terms.append(Term(left, 1, root))
                return links, terms[::-1]
            v = left

    def _shape(self, number: int, term: Term) -> TermShape:
        g = self.g
        steps: list[tuple[int, tuple[int, ...]]] = []
        kinds: list[LeafKind] = []
        at: dict[int, int] = {}

        def visit(v: int, exponent: bool) -> int:
            if v in at:
                return at[v]
            if self.owner[v] != number:
                at[v] = -1 - len(term.leaves)
                term.leaves.append(v)
                kinds.append(self._kind(v, exponent))
                return at[v]
            power = g.op[v] in (ca.OP_POW, ca.OP_CONSTPOW)
            refs = tuple(visit(a, power and j == 1) for j, a in enumerate(g.args[v]))
            steps.append((g.op[v], refs))
            at[v] = len(steps) - 1
            return at[v]

        visit(term.value, False)
        return TermShape(term.sign, tuple(steps), tuple(kinds))

    def _kind(self, v: int, exponent: bool) -> LeafKind:
        g = self.g
        if v in g.number:
            return ("literal", g.number[v]) if exponent else ("number",)
        if v in g.entry:
            return ("entry", g.entry[v][0])
        return self._fixed_shape(v) if g.fixed[v] else ("local",)

    def _fixed_shape(self, v: int) -> LeafKind:
        """A value of parameters alone: its operations, if they are few, are a loop of `prepare`."""
        if v not in self.trees:
            self.trees[v] = fixed_tree(self.g, v)
        shape = self.trees[v]
        return ("fixed", shape[0] if shape else None)


def fixed_tree(g: Graph, v: int, most: int = 12) -> tuple[Tree, list[int]] | None:
    """The tree of a value of parameters, and its leaves; None if it is large."""
    leaves: list[int] = []
    left = most

    def visit(v: int) -> Tree | None:
        nonlocal left
        if v in g.number or v in g.entry:
            leaves.append(v)
            return ("n",) if v in g.number else ("p",)
        left -= 1
        if left < 0:
            return None
        parts = tuple(visit(a) for a in g.args[v])
        return None if None in parts else (g.op[v], *parts)

    tree = visit(v)
    return (tree, leaves) if tree is not None else None


def roll_loops(
    f: ca.Function, name: str, c: Dialect, inputs: tuple[str, ...], prepared: Prepared | None
) -> tuple[list[AssignmentLine], int, str] | None:
    """`f` as statements, some of them loops; the size of the array `w` that they share; and their tables.
    None if there are no loops worth it."""
    if f.n_instructions() < MIN_OPERATIONS or prepared is None:
        return None
    parameters = inputs.index("p") if "p" in inputs else -1
    graph = graph_of(f, lambda j, _: j == parameters)
    finder = LoopFinder(graph)
    if not finder.find():
        return None
    return _Writer(finder, name, c, inputs, prepared).written()


class _Writer:
    """Writes a function whose loops were found: straight lines, level by level, with the loops between."""

    def __init__(
        self, finder: LoopFinder, name: str, c: Dialect, inputs: tuple[str, ...], prepared: Prepared
    ) -> None:
        self.finder, self.g, self.name, self.c, self.inputs, self.prepared = (
            finder,
            finder.g,
            name,
            c,
            inputs,
            prepared,
        )
        self.tables = Tables(name)
        self.loops = Loops(name, c, self.tables)
        self.place_in_w: dict[int, int] = {}
        self.hoisted: dict[int, str] = {}

    def written(self) -> tuple[list[AssignmentLine], int, str] | None:
        g, finder = self.g, self.finder
        in_loop = {id(t) for terms in finder.groups.values() for t in terms}
        sums = {root: terms for root, terms in finder.sums.items() if any(id(t) in in_loop for t in terms)}
        inside = {k for k, t in enumerate(finder.terms) if id(t) in in_loop}
        skipped = [o in inside for o in finder.owner]
        for root, terms in sums.items():  # the chain of a sum is written anew
            v = root
            for _ in range(len(terms) - 1):
                skipped[v] = v != root
                v = g.args[v][0]
        stage = self._stages(sums, in_loop, skipped)
        if stage is None:
            return None
        loops: dict[tuple[TermShape, int], list[Term]] = {}
        for shape, terms in finder.groups.items():
            for t in terms:
                loops.setdefault((shape, max((stage[v] for v in t.leaves), default=0)), []).append(t)
        places = {root: k for k, root in enumerate(sums)}
        for terms in loops.values():
            for t in terms:
                for v in t.leaves:
                    if not g.fixed[v] and v not in g.entry:
                        self.place_in_w.setdefault(v, len(places) + len(self.place_in_w))
        size = len(places) + len(self.place_in_w)
        written: list[list[AssignmentLine]] = [[] for _ in range(max(stage) + 1)]
        zero = f"for (int r = 0; r < {len(places)}; r++) w[r] = R(0);"
        for k in range(len(g.op)):
            if skipped[k] or g.fixed[k] or not g.args[k]:
                continue
            line = self._sum(k, sums[k], in_loop, places) if k in sums else self._plain(k)
            written[stage[k]].append(line)
            if k in self.place_in_w:
                written[stage[k]].append(
                    AssignmentLine(f"w[{self.place_in_w[k]}]", False, line.target, (line.target,))
                )
        body: list[AssignmentLine] = [AssignmentLine("", False, zero, ())]
        for level, lines in enumerate(written):
            body += lines
            body += [self._loop(shape, terms, places) for (shape, at), terms in loops.items() if at == level]
        for j, e, v in g.outputs:
            text = self._read(v)
            body.append(AssignmentLine(self.c.write(j, e), False, text, (text,)))
        return body, size, self.tables.text()

    def _stages(
        self, sums: dict[int, list[Term]], in_loop: set[int], skipped: list[bool]
    ) -> list[int] | None:
        """After how many levels of loops each value is known."""
        g = self.g
        stage = [0] * len(g.op)
        for k, args in enumerate(g.args):
            if k in sums:
                stage[k] = max(
                    1 + max((stage[v] for v in t.leaves), default=0) if id(t) in in_loop else stage[t.value]
                    for t in sums[k]
                )
                if stage[k] > MAX_LEVELS:
                    return None
            elif args and not g.fixed[k] and not skipped[k]:
                stage[k] = max(stage[a] for a in args)
        return stage

    # ---- straight lines ----

    def _read(self, v: int) -> str:
        g = self.g
        if v in g.number:
            return self.c.literal(g.number[v])
        if v in g.entry:
            return self.c.read(*g.entry[v])
        return self.prepared.place(self._hoist(v)) if g.fixed[v] else self.c.local(v)

    def _hoist(self, v: int) -> str:
        """The local of `prepare` that holds a value of parameters."""
        g = self.g
        if v in g.number or v in g.entry:
            return self._read(v)
        if v not in self.hoisted:
            texts = [self._hoist(a) for a in g.args[v]]
            self.hoisted[v] = self.prepared.hoist(
                self.c.operation(g.op[v], texts, g.number.get(g.args[v][-1]), self.name)
            )
        return self.hoisted[v]

    def _plain(self, v: int) -> AssignmentLine:
        reads = tuple(self._read(a) for a in self.g.args[v])
        return AssignmentLine(
            self.c.local(v),
            True,
            self.c.operation(self.g.op[v], list(reads), self.g.number.get(self.g.args[v][-1]), self.name),
            reads,
        )

    def _sum(self, root: int, terms: list[Term], in_loop: set[int], places: dict[int, int]) -> AssignmentLine:
        """What loops added up, and the rest."""
        others = [t for t in terms if id(t) not in in_loop]
        reads = tuple(self._read(t.value) for t in others)
        text = f"w[{places[root]}]" + "".join(
            f" {'+' if t.sign > 0 else '-'} {r}" for t, r in zip(others, reads, strict=True)
        )
        return AssignmentLine(self.c.local(root), True, text, reads)

    # ---- loops ----

    def _loop(self, shape: TermShape, terms: list[Term], places: dict[int, int]) -> AssignmentLine:
        terms = sorted(terms, key=lambda t: places[t.root])
        leaves = [self._leaf(kind, [t.leaves[n] for t in terms]) for n, kind in enumerate(shape.kinds)]
        result = len(shape.steps) - 1 if shape.steps else -1
        rows = np.array([places[t.root] for t in terms])
        kernel, target = Kernel(shape.steps, leaves, [result]), Target("w", rows, shape.sign)
        return AssignmentLine("", False, self.loops.add_to(target, kernel), ())

    def _leaf(self, kind: LeafKind, values: list[int]) -> Leaf:
        """How a leaf is read."""
        g = self.g
        if kind[0] == "literal":
            return Leaf(literal=kind[1])
        if kind[0] == "number":
            return Leaf(values=np.array([g.number[v] for v in values], dtype=float))
        if kind[0] == "entry":
            name = self.inputs[kind[1]]
            return (
                Leaf(name)
                if self.c.read(kind[1], 0) == name
                else Leaf(name, np.array([g.entry[v][1] for v in values]))
            )
        if kind[0] == "local":
            return Leaf("w", np.array([self.place_in_w[v] for v in values]))
        return Leaf("p", np.array(self._prepared_places(kind[1], values)))

    def _prepared_places(self, tree: Tree | None, values: list[int]) -> list[int]:
        """Where `prepare` puts values of parameters, in a loop of its own if they are many and alike."""
        different = list(dict.fromkeys(values))
        if tree is None or len(different) < MIN_TERMS:
            return [self.prepared.slot(self._hoist(v)) for v in values]
        g, trees = self.g, [self.finder.trees[v] for v in different]
        leaves = [f[1] for f in trees if f is not None]
        reads: list[str] = []

        def text(tree: Tree) -> str:
            if tree[0] in ("n", "p"):
                n = len(reads)
                column = [each[n] for each in leaves]
                numbers = tree[0] == "n"
                reads.append("")
                reads[n] = (
                    self.prepared.tables.number([g.number[v] for v in column], "k")
                    if numbers
                    else f"p[{self.prepared.tables.index([g.entry[v][1] for v in column], 'k')}]"
                )
                return reads[n]
            parts = [text(part) for part in tree[1:]]
            return f"({self.c.operation(tree[0], parts, None, self.name)})"

        first = self.prepared.block(text(tree), len(different))
        at = {v: first + k for k, v in enumerate(different)}
        return [at[v] for v in values]
