"""`LikeReader`: reads texts that many things share as one expression, each name once for all of them.

Sines and cosines of sums (phases of oscillators) are taken apart by the addition theorems where nodes are
fewer than edges: then they are taken once for each node, and those of parameters once for each run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from strut.network.text.formula import (
    Binary,
    Call,
    Index,
    Matrix,
    Name,
    Number,
    Ternary,
    Tree,
    Unary,
    read_formula,
)
from strut.system import Like, Totals, time

MIN_EDGES_FOR_LOOP = 16
"""The least number of edges with equal texts that become a loop."""
MIN_EDGES_PER_NODE = 4
"""The least number of edges per node at which sines are taken apart, and at which variables of nodes are
computed once for all edges that read them."""


@dataclass(frozen=True)
class LikeColumn:
    """A value for every thing, as one expression of slots.

    fixed: whether it is made of parameters and numbers alone. owners, places: the variable that each thing
    reads, and its place, if the value is a single number of a variable. products: pairs (changing, fixed)
    whose products add up to the value, if it was made so.
    """

    value: ca.SX
    fixed: bool
    owners: Sequence[Variable] | None = None
    places: np.ndarray | None = None
    products: Sequence[tuple[ca.SX, ca.SX]] = ()


class NotVectorisable(Exception):
    """The texts of these edges cannot be read as one expression: each must be read by itself."""


class LikeReader:
    """Reads equal texts of many things as one expression of slots, each name once for all of them.

    things: where the texts stand. table: gives places to what they read. within: variables that are being
    written out, none of which may be made of itself.
    """

    def __init__(
        self, meaning: Meaning, things: Sequence[Object], table: ReadTable, within: tuple[Variable, ...] = ()
    ) -> None:
        self.meaning, self.things, self.table, self.within = meaning, things, table, within
        self.memo: dict[str, LikeColumn] = {}
        self.slots: dict[bytes, tuple[ca.SX, np.ndarray]] = {}

    def like(self, value: ca.SX) -> Like:
        """What was read, as an expression of slots alone. Other symbols in it, such as time, become slots
        that all things read at one place."""
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
        """The symbol that stands for one place for each thing; the same for equal places."""
        key = places.tobytes()
        if key not in self.slots:
            self.slots[key] = (ca.SX.sym(f"s{len(self.slots)}"), places)
        return self.slots[key][0]

    # ---- texts ----

    def text(self, text: str) -> LikeColumn:
        """Read a text. Raises `NotVectorisable`."""
        formula = read_formula(text)
        if formula.rest:
            raise NotVectorisable
        return self.column(formula.tree)

    def column(self, tree: Tree) -> LikeColumn:
        """Read a syntax tree. Raises `NotVectorisable`."""
        if isinstance(tree, Number):
            return LikeColumn(ca.SX(tree.value), True)
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
            v = operand.value
            return LikeColumn({"-": -v, "+": v, "!": v == 0}[tree.operator], operand.fixed)
        if isinstance(tree, Ternary):
            parts = [self.column(t) for t in (tree.condition, tree.yes, tree.no)]
            return LikeColumn(algebra.ternary(*(p.value for p in parts)), all(p.fixed for p in parts))
        if isinstance(tree, Matrix | Index):
            fixed = True

            def resolve(part: Tree) -> ca.SX:
                nonlocal fixed
                part_column = self.column(part)
                fixed = fixed and part_column.fixed
                return part_column.value

            return LikeColumn(evaluate(tree, resolve, self._constant), fixed)
        raise NotVectorisable

    def _constant(self, value: ca.SX) -> float:
        if value.numel() != 1 or not value.is_constant():
            raise NotVectorisable
        return float(value)

    def _binary(self, tree: Binary) -> LikeColumn:
        """Read an operator. Fixed factors go into sums of products, to be multiplied once a run."""
        left, right = self.column(tree.left), self.column(tree.right)
        if tree.operator == "*":
            for one, other in ((left, right), (right, left)):
                if one.fixed and one.value.numel() == 1 and other.products:
                    return _sum_of_products([(a, b * one.value) for a, b in other.products])
        return LikeColumn(algebra.BINARY[tree.operator](left.value, right.value), left.fixed and right.fixed)

    def _call(self, tree: Call) -> LikeColumn:
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
        return LikeColumn(value, all(p.fixed for p in parts))

    def _callers(self, name: str) -> Sequence[Object]:
        """Things that may mean different functions by a name; one of them if there is no function of that
        name anywhere."""
        return self.things if name.rpartition(".")[2] in self.table.functions else self.things[:1]

    def _apply_function(self, tree: Call, functions: set[Function | None]) -> LikeColumn:
        """Read a call of a function of the network, with what it looks up at the caller."""
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
        return LikeColumn(self.meaning.functions.apply(function, [p.value for p in parts], frame), False)

    # ---- names ----

    def _column_of_name(self, name: str) -> LikeColumn:
        """Read a name: a variable of each thing, or what it means where there is no such variable."""
        m = self.meaning
        owners = scope.variables(name, self.things)
        if None in owners:
            if any(owners):
                raise NotVectorisable
            if name == "t":
                return LikeColumn(time, False)
            if name == "dt":
                return LikeColumn(m.time_step().sym, True)
            if name in CONSTANTS:
                return LikeColumn(ca.SX(CONSTANTS[name]), True)
            raise NotVectorisable
        return self.variables([v for v in owners if v is not None])

    def variables(self, owners: Sequence[Variable]) -> LikeColumn:
        """Read one variable for each thing: a parameter, one that is written out or summed up, or a value."""
        m = self.meaning
        different = list(dict.fromkeys(owners))
        if all(v in m.params for v in different):
            return self._read_places(owners, self.table.parameters(different), fixed=True, shape=(1, 1))
        if (
            len(different) >= MIN_EDGES_FOR_LOOP
            and len({v.text for v in different}) == 1
            and all(is_expression(m, v) for v in different)
        ):
            return self._substitute_texts(owners, different)
        if (
            all(is_total(m, v) for v in different)
            and sum(len(m.actions[v]) for v in different) >= MIN_EDGES_FOR_LOOP
        ):
            return self._read_totals(owners, different)
        values = [m.value(v) for v in different]
        if len({value.shape for value in values}) != 1:
            raise NotVectorisable
        fixed = all(v in m.params or value.is_constant() for v, value in zip(different, values, strict=True))
        if len(different) == 1 and values[0].is_constant():
            return LikeColumn(values[0], True)
        places = {v: self.table.variable(v, value) for v, value in zip(different, values, strict=True)}
        return self._read_places(owners, places, fixed=fixed, shape=values[0].shape)

    def _read_places(
        self,
        owners: Sequence[Variable],
        places: Mapping[Variable, Sequence[int]],
        *,
        fixed: bool,
        shape: tuple[int, int],
    ) -> LikeColumn:
        """A column of slots that read the elements of one variable for each thing."""
        columns = (
            np.fromiter((place for v in owners for place in places[v]), dtype=np.int64)
            .reshape(len(owners), -1)
            .T
        )
        value = ca.reshape(ca.vertcat(*[self.slot(np.ascontiguousarray(c)) for c in columns]), *shape)
        return LikeColumn(value, fixed, owners=owners, places=columns[0] if len(columns) == 1 else None)

    def _substitute_texts(self, owners: Sequence[Variable], different: Sequence[Variable]) -> LikeColumn:
        """Read variables with equal texts by what they are made of; computed beforehand where several things
        read one of them."""
        m, table, text = self.meaning, self.table, different[0].text
        within = self._nesting_with(different)
        missing = [v for v in different if v not in table.computed]
        alone = MIN_EDGES_PER_NODE * len(different) > len(owners)
        if missing and not alone:
            inner = LikeReader(m, [v.owner for v in missing], table, within=within)
            column = inner.text(text)
            alone = column.fixed  # computed once for each run anyway
            if not alone:
                table.compute(missing, inner.like(algebra.flat(column.value)), column.value.shape)
        if alone:
            inner = LikeReader(m, [v.owner for v in owners], table, within=within)
            inner.slots = self.slots
            return replace(inner.text(text), owners=None, places=None)
        return self._read_computed(owners, different)

    def _read_totals(self, owners: Sequence[Variable], different: Sequence[Variable]) -> LikeColumn:
        """Read variables that edges add to: for each text of the edges, a sum computed beforehand."""
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
                inner = LikeReader(m, [a.owner for a, _ in actions], table, within=within)
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

    def _read_computed(self, owners: Sequence[Variable], different: Sequence[Variable]) -> LikeColumn:
        """A column of slots that read variables which are computed beforehand."""
        shapes = {self.table.shapes[v] for v in different}
        if len(shapes) != 1:
            raise NotVectorisable
        return self._read_places(owners, self.table.computed, fixed=False, shape=shapes.pop())

    def _nesting_with(self, variables: Sequence[Variable]) -> tuple[Variable, ...]:
        """The variables that are being written out, these included. Raises `NotVectorisable` in a circle."""
        if any(v in self.within for v in variables):
            raise NotVectorisable
        return (*self.within, variables[0])

    # ---- sines ----

    def _split_sine(self, tree: Call) -> LikeColumn | None:
        """Read sin(a - b + c) by the addition theorems, of sines and cosines of a, b and c; None where that
        is not worth it."""
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
        return LikeColumn(sine if tree.name == "sin" else cosine, False)

    def _sine_and_cosine(self, sign: int, part: LikeColumn) -> tuple[ca.SX, ca.SX]:
        """Slots for sine and cosine of a variable, each computed once for each node."""
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


def _sum_of_products(products: Sequence[tuple[ca.SX, ca.SX]]) -> LikeColumn:
    """The column of two products that are added."""
    (a, b), (c, d) = products
    return LikeColumn(a * b + c * d, False, products=products)


def _addends(tree: Tree, sign: int) -> Sequence[tuple[int, Tree]]:
    """The terms of a sum or difference, each with its sign, 1 or -1."""
    if isinstance(tree, Binary) and tree.operator in ("+", "-"):
        return [*_addends(tree.left, sign), *_addends(tree.right, sign if tree.operator == "+" else -sign)]
    if isinstance(tree, Unary) and tree.operator in "+-":
        return _addends(tree.operand, sign if tree.operator == "+" else -sign)
    return [(sign, tree)]
