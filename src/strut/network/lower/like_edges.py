"""Edges that say the same: one expression for all of them, and tables of what each reads.

Sines and cosines of sums (phases of oscillators) are taken apart by the addition theorems where nodes are
fewer than edges: then they are taken once for each node, and those of parameters once for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import casadi as ca
import numpy as np

from strut.network.build.calculation import CONSTANTS
from strut.network.lower import algebra, scope
from strut.network.lower.evaluate import evaluate
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.is_plain import is_expression, is_plain_function, is_total
from strut.network.lower.meaning import Meaning
from strut.network.lower.read_table import ReadTable
from strut.network.model import Action, Function, Object, Variable
from strut.network.text.errors import Mistake
from strut.network.text.formula import Binary, Call, Index, Matrix, Name, Number, Ternary, Tree, Unary, read
from strut.system import Like, Sums, Terms, Totals, time

MIN_EDGES_FOR_LOOP = 16
"""Edges that are worth it."""
MIN_EDGES_PER_NODE = 4
"""Edges for each node from which sines are taken apart, and what nodes say is computed for them."""


@dataclass(frozen=True)
class _Column:
    """A value for every edge, as an expression of slots; `fixed` if made of parameters and numbers alone,
    `places` and `owners` of what each edge reads if it is a single number of a variable, `products` if it is
    a sum of products of something and something fixed."""

    value: ca.SX
    fixed: bool
    owners: Sequence[Variable] | None = None
    places: np.ndarray | None = None
    products: Sequence[tuple[ca.SX, ca.SX]] = ()


class NotVectorisable(Exception):
    """These edges must be looked at one by one."""


def rate_sums(meaning: Meaning) -> Sums | None:
    """The rates of states on which many edges act alike. What cannot be done is left to others."""
    targets = {
        action: v for v, actions in meaning.actions.items() if v in meaning.states for action in actions
    }
    shapes = {v: meaning.shape(v) for v in dict.fromkeys(targets.values())}
    groups: dict[tuple[str, tuple[int, int]], list[Action]] = {}
    for action, v in targets.items():
        if action.rate and not action.index and not action.states:
            groups.setdefault((action.text, shapes[v]), []).append(action)
    collector = _TermCollector(meaning)
    looped_actions: set[Action] = set()
    for (text, shape), actions in groups.items():
        if collector.add(
            [a.owner for a in actions],
            [targets[a] for a in actions],
            partial(_LikeReader.text, text=text),
            shape,
        ):
            looped_actions.update(actions)
    return collector.sums(
        lambda v: meaning.sum_of_actions([a for a in meaning.actions[v] if a not in looped_actions], v)
    )


def output_sums(meaning: Meaning, variables: Sequence[Variable]) -> Sums | None:
    """Those of some variables that many say alike, or to which many edges add alike."""
    groups: dict[tuple[str, ...], list[Variable]] = {}
    for v in variables:
        if is_expression(meaning, v):
            groups.setdefault((v.text,), []).append(v)
        elif is_total(meaning, v):
            groups.setdefault(("", *sorted({a.text for a in meaning.actions[v]})), []).append(v)
    collector = _TermCollector(meaning)
    for variables_alike in groups.values():
        collector.add(
            [v.owner for v in variables_alike],
            variables_alike,
            partial(_LikeReader.variables, owners=variables_alike),
            None,
        )
    return collector.sums(lambda v: ca.SX(*collector.shapes[v]))


class _TermCollector:
    """Like terms on their way to sums."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning, self.table = meaning, ReadTable(meaning)
        self.terms: list[tuple[Sequence[Variable], _LikeReader, ca.SX]] = []
        self.shapes: dict[Variable, tuple[int, int]] = {}

    def add(
        self,
        things: Sequence[Object],
        targets: Sequence[Variable],
        read: Callable[[_LikeReader], _Column],
        shape: tuple[int, int] | None,
    ) -> bool:
        """Add what things say to targets, if it can be read for all at once."""
        if len(things) < MIN_EDGES_FOR_LOOP:
            return False
        before = self.table.checkpoint()
        reader = _LikeReader(self.meaning, things, self.table)
        try:
            value = read(reader).value
            value = value if shape is None else algebra.fit_shape(value, shape, "what edges do")
        except (
            NotVectorisable,
            Mistake,
            RuntimeError,
            NotImplementedError,
        ):  # the last two are CasADi's; one by one, they are told where they belong
            self.table.reset(before)
            return False
        self.shapes.update(dict.fromkeys(targets, value.shape))
        self.terms.append((targets, reader, algebra.flat(value)))
        return True

    def sums(self, own: Callable[[Variable], ca.SX]) -> Sums | None:
        """Everything added, to expressions of the targets' own."""
        if not self.terms:
            return None
        table, names = self.table, self.meaning.names
        owned = {v: algebra.flat(own(v)) for v in self.shapes}
        starts = dict(zip(owned, np.cumsum([0, *(e.numel() for e in owned.values())]).tolist(), strict=False))
        likes = [reader.like(value) for _, reader, value in self.terms]
        terms = []
        for like, (targets, _, _) in zip(likes, self.terms, strict=True):
            rows = np.array([starts[v] for v in targets], dtype=np.int64)
            terms.append(Terms(like.slots, like.results, table.final_places(like.reads), rows))
        computations = [replace(like, reads=table.final_places(like.reads)) for like in table.computations]
        return Sums(
            {names[v]: e for v, e in owned.items()}, table.entries, table.column(), computations, terms
        )


class _LikeReader:
    """Reads the texts of things that say the same, each name once for all of them."""

    def __init__(
        self, meaning: Meaning, things: Sequence[Object], table: ReadTable, within: tuple[Variable, ...] = ()
    ) -> None:
        self.meaning, self.things, self.table, self.within = meaning, things, table, within
        self.memo: dict[str, _Column] = {}
        self.slots: dict[bytes, tuple[ca.SX, np.ndarray]] = {}

    def like(self, value: ca.SX) -> Like:
        """What was read as an expression of its slots alone. Whatever else it is made of, all things read."""
        used = {symbol.element_hash(): symbol for symbol in ca.symvar(value)}
        slots = [
            (slot, places)
            for slot, places in self.slots.values()
            if used.pop(slot.element_hash(), None) is not None
        ]
        for symbol in used.values():
            slot = ca.SX.sym("s")
            value = ca.substitute(value, symbol, slot)
            slots.append((slot, np.full(len(self.things), self.table.expression(symbol), dtype=np.int64)))
        reads = np.array([places for _, places in slots], dtype=np.int64).reshape(
            len(slots), len(self.things)
        )
        return Like(ca.vertcat(*[slot for slot, _ in slots], ca.SX(0, 1)), value, reads)

    def slot(self, places: np.ndarray) -> ca.SX:
        key = places.tobytes()
        if key not in self.slots:
            self.slots[key] = (ca.SX.sym(f"s{len(self.slots)}"), places)
        return self.slots[key][0]

    # ---- texts ----

    def text(self, text: str) -> _Column:
        formula = read(text)
        if formula.rest:
            raise NotVectorisable
        return self.column(formula.tree)

    def column(self, tree: Tree) -> _Column:
        if isinstance(tree, Number):
            return _Column(ca.SX(tree.value), True)
        if isinstance(tree, Name):
            if tree.order:
                raise NotVectorisable
            if tree.name not in self.memo:
                self.memo[tree.name] = self._column_of_name(tree.name)
            return self.memo[tree.name]
        if isinstance(tree, Binary):
            return self._binary(tree)
        if isinstance(tree, Call):
            return self._call(tree)
        if isinstance(tree, Unary):
            operand = self.column(tree.operand)
            sign = {"-": lambda v: -v, "+": lambda v: v, "!": lambda v: v == 0}[tree.operator]
            return _Column(sign(operand.value), operand.fixed)
        if isinstance(tree, Ternary):
            parts = [self.column(t) for t in (tree.condition, tree.yes, tree.no)]
            return _Column(algebra.ternary(*(p.value for p in parts)), all(p.fixed for p in parts))
        if isinstance(tree, Matrix | Index):
            fixed = True

            def resolve(part: Tree) -> ca.SX:
                nonlocal fixed
                part_column = self.column(part)
                fixed = fixed and part_column.fixed
                return part_column.value

            return _Column(evaluate(tree, resolve, self._constant), fixed)
        raise NotVectorisable

    def _constant(self, value: ca.SX) -> float:
        if value.numel() != 1 or not value.is_constant():
            raise NotVectorisable
        return float(value)

    def _binary(self, tree: Binary) -> _Column:
        left, right = self.column(tree.left), self.column(tree.right)
        if tree.operator == "*":
            for one, other in ((left, right), (right, left)):
                if one.fixed and one.value.numel() == 1 and other.products:
                    return _sum_of_products([(a, b * one.value) for a, b in other.products])
        return _Column(algebra.BINARY[tree.operator](left.value, right.value), left.fixed and right.fixed)

    def _call(self, tree: Call) -> _Column:
        if tree.order:
            raise NotVectorisable
        own = {scope.function(tree.name, thing) for thing in self._callers(tree.name)}
        if own != {None}:
            return self._apply_function(tree, own)
        if tree.name in ("sin", "cos") and len(tree.arguments) == 1:
            apart = self._split_sine(tree)
            if apart is not None:
                return apart
        parts = [self.column(t) for t in tree.arguments]
        if tree.name == "index" and len(parts) > 1:
            raise NotVectorisable
        value = (
            None if tree.name == "rand" else algebra.call(tree.name, [p.value for p in parts], self._constant)
        )
        if value is None:
            raise NotVectorisable
        return _Column(value, all(p.fixed for p in parts))

    def _callers(self, name: str) -> Sequence[Object]:
        """Things that may mean different functions by a name; one of them if there is no function of that
        name anywhere."""
        return self.things if name.rpartition(".")[2] in self.table.functions else self.things[:1]

    def _apply_function(self, tree: Call, functions: set[Function | None]) -> _Column:
        """A function of the network's, with what it looks up at the caller."""
        function = functions.pop()
        if functions or function is None or not is_plain_function(function):
            raise NotVectorisable
        parts = [self.column(t) for t in tree.arguments]
        looked_up = {}
        for a in function.implicit:
            name = f"{a.scope}.{a.name}" if a.scope else a.name
            if a.default is None or scope.variable(name, self.things[0]) is not None:
                looked_up[a.name] = self.column(Name(name))
            elif any(scope.variable(name, thing) is not None for thing in self.things):
                raise NotVectorisable
        frame = EvaluationFrame(self.things[0], {n: c.value for n, c in looked_up.items()})
        return _Column(self.meaning.functions.apply(function, [p.value for p in parts], frame), False)

    # ---- names ----

    def _column_of_name(self, name: str) -> _Column:
        m = self.meaning
        owners = scope.variables(name, self.things)
        if None in owners:
            if any(owners):
                raise NotVectorisable
            if name == "t":
                return _Column(time, False)
            if name == "dt":
                return _Column(m.time_step().sym, True)
            if name in CONSTANTS:
                return _Column(ca.SX(CONSTANTS[name]), True)
            raise NotVectorisable
        return self.variables(owners)  # type: ignore[arg-type]

    def variables(self, owners: Sequence[Variable]) -> _Column:
        """The variable of each thing."""
        m = self.meaning
        different = list(dict.fromkeys(owners))
        if all(v in m.params for v in different):
            return self._read_places(owners, self.table.parameters(different), True, (1, 1))
        if (
            len(different) >= MIN_EDGES_FOR_LOOP
            and len({v.text for v in different}) == 1
            and all(is_expression(m, v) for v in different)
        ):
            return self._written_out(owners, different)
        if (
            all(is_total(m, v) for v in different)
            and sum(len(m.actions[v]) for v in different) >= MIN_EDGES_FOR_LOOP
        ):
            return self._total(owners, different)
        values = [m.value(v) for v in different]
        if len({value.shape for value in values}) != 1:
            raise NotVectorisable
        fixed = all(v in m.params or value.is_constant() for v, value in zip(different, values, strict=True))
        if len(different) == 1 and values[0].is_constant():
            return _Column(values[0], True)
        places = {v: self.table.variable(v, value) for v, value in zip(different, values, strict=True)}
        return self._read_places(owners, places, fixed, values[0].shape)

    def _read_places(
        self,
        owners: Sequence[Variable],
        places: Mapping[Variable, Sequence[int]],
        fixed: bool,
        shape: tuple[int, int],
    ) -> _Column:
        columns = (
            np.fromiter((place for v in owners for place in places[v]), dtype=np.int64)
            .reshape(len(owners), -1)
            .T
        )
        value = ca.reshape(ca.vertcat(*[self.slot(np.ascontiguousarray(c)) for c in columns]), *shape)
        return _Column(value, fixed, owners, columns[0] if len(columns) == 1 else None)

    def _written_out(self, owners: Sequence[Variable], different: Sequence[Variable]) -> _Column:
        """A variable in terms of what it is made of; computed beforehand where several edges read it."""
        m, table, text = self.meaning, self.table, different[0].text
        within = self._nesting_with(different)
        missing = [v for v in different if v not in table.computed]
        alone = MIN_EDGES_PER_NODE * len(different) > len(owners)
        if missing and not alone:
            inner = _LikeReader(m, [v.owner for v in missing], table, within)
            column = inner.text(text)
            alone = column.fixed  # computed once for each run anyway
            if not alone:
                table.compute(missing, inner.like(algebra.flat(column.value)), column.value.shape)
        if alone:
            inner = _LikeReader(m, [v.owner for v in owners], table, within)
            inner.slots = self.slots
            return replace(inner.text(text), owners=None, places=None)
        return self._read_computed(owners, different)

    def _total(self, owners: Sequence[Variable], different: Sequence[Variable]) -> _Column:
        """A variable that edges add to: what those that say the same add, summed up beforehand."""
        m, table = self.meaning, self.table
        within = self._nesting_with(different)
        missing = {v: k for k, v in enumerate(v for v in different if v not in table.computed)}
        if missing:
            shapes = {m.formula(v.text, v, EvaluationFrame(v.owner)).shape for v in missing}
            if len(shapes) != 1:
                raise NotVectorisable
            shape = shapes.pop()
            groups: dict[str, list[tuple[Action, int]]] = {}
            for v, k in missing.items():
                for action in m.actions[v]:
                    groups.setdefault(action.text, []).append((action, k))
            places = []
            for text, actions in groups.items():
                inner = _LikeReader(m, [a.owner for a, _ in actions], table, within)
                like = inner.like(
                    algebra.flat(algebra.fit_shape(inner.text(text).value, shape, "what edges do"))
                )
                rows = np.array([k for _, k in actions], dtype=np.int64)
                places.append(table.make(Totals(like.slots, like.results, like.reads, rows, len(missing))))
            slots = [ca.SX.sym(f"s{n}", *shape) for n in range(len(places))]
            added = Like(
                ca.vertcat(*map(ca.vec, slots)), ca.vec(sum(slots[1:], slots[0])), np.concatenate(places)
            )
            table.compute(list(missing), added, shape)
        return self._read_computed(owners, different)

    def _read_computed(self, owners: Sequence[Variable], different: Sequence[Variable]) -> _Column:
        shapes = {self.table.shapes[v] for v in different}
        if len(shapes) != 1:
            raise NotVectorisable
        return self._read_places(owners, self.table.computed, False, shapes.pop())

    def _nesting_with(self, variables: Sequence[Variable]) -> tuple[Variable, ...]:
        """What is being written out, these included; none may be made of itself."""
        if any(v in self.within for v in variables):
            raise NotVectorisable
        return (*self.within, variables[0])

    # ---- sines ----

    def _split_sine(self, tree: Call) -> _Column | None:
        """sin(a - b + c) of sines and cosines of a, b and c."""
        addends = list(_addends(tree.arguments[0], 1))
        parts = [(sign, self.column(t)) for sign, t in addends]
        moving = [(sign, p) for sign, p in parts if not p.fixed]
        if not moving or len(parts) < 2 or len(moving) > 3 or any(p.value.numel() != 1 for _, p in parts):
            return None
        if any(
            p.owners is None or MIN_EDGES_PER_NODE * len(set(p.owners)) > len(self.things) for _, p in moving
        ):
            return None
        still = [p.value if sign > 0 else -p.value for sign, p in parts if p.fixed]
        pairs = [self._sine_and_cosine(sign, p) for sign, p in moving]
        sine, cosine = pairs[0]
        for s, c in pairs[1:]:
            sine, cosine = sine * c + cosine * s, cosine * c - sine * s
        if still:
            angle = sum(still[1:], still[0])
            s, c = ca.sin(angle), ca.cos(angle)
            return _sum_of_products(
                [(sine, c), (cosine, s)] if tree.name == "sin" else [(cosine, c), (sine, -s)]
            )
        return _Column(sine if tree.name == "sin" else cosine, False)

    def _sine_and_cosine(self, sign: int, part: _Column) -> tuple[ca.SX, ca.SX]:
        """Sine and cosine of a variable, computed once for each node."""
        assert part.places is not None
        table = self.table
        missing = table.in_order(p for p in dict.fromkeys(part.places.tolist()) if p not in table.sines)
        if missing:
            angle = ca.SX.sym("angle")
            reads = np.array([missing], dtype=np.int64)
            places = table.make(Like(angle, ca.vertcat(ca.sin(angle), ca.cos(angle)), reads))
            table.sines.update(zip(missing, places.T.tolist(), strict=True))
        pairs = np.array([table.sines[p] for p in part.places.tolist()], dtype=np.int64)
        sine, cosine = (self.slot(np.ascontiguousarray(pairs[:, k])) for k in (0, 1))
        return (sine if sign > 0 else -sine), cosine


def _sum_of_products(products: Sequence[tuple[ca.SX, ca.SX]]) -> _Column:
    (a, b), (c, d) = products
    return _Column(a * b + c * d, False, products=products)


def _addends(tree: Tree, sign: int) -> Sequence[tuple[int, Tree]]:
    if isinstance(tree, Binary) and tree.operator in ("+", "-"):
        return [*_addends(tree.left, sign), *_addends(tree.right, sign if tree.operator == "+" else -sign)]
    if isinstance(tree, Unary) and tree.operator in "+-":
        return _addends(tree.operand, sign if tree.operator == "+" else -sign)
    return [(sign, tree)]
