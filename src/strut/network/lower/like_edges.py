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
from strut.network.lower.read_table import Pool
from strut.network.model import Action, Function, Object, Variable
from strut.network.text.errors import Mistake
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
from strut.system import Like, Sums, Terms, Totals, time

LEAST = 16
"""Edges that are worth it."""
CROWDED = 4
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


class Unlike(Exception):
    """These edges must be looked at one by one."""


def rates(meaning: Meaning) -> Sums | None:
    """The rates of states on which many edges act alike. What cannot be done is left to others."""
    targets = {
        action: v for v, actions in meaning.actions.items() if v in meaning.states for action in actions
    }
    shapes = {v: meaning.shape(v) for v in dict.fromkeys(targets.values())}
    groups: dict[tuple[str, tuple[int, int]], list[Action]] = {}
    for action, v in targets.items():
        if action.rate and not action.index and not action.states:
            groups.setdefault((action.text, shapes[v]), []).append(action)
    gathered = _Gathered(meaning)
    done: set[Action] = set()
    for (text, shape), actions in groups.items():
        if gathered.add(
            [a.owner for a in actions], [targets[a] for a in actions], partial(_Alike.text, text=text), shape
        ):
            done.update(actions)
    return gathered.sums(lambda v: meaning.added([a for a in meaning.actions[v] if a not in done], v))


def outputs(meaning: Meaning, variables: Sequence[Variable]) -> Sums | None:
    """Those of some variables that many say alike, or to which many edges add alike."""
    groups: dict[tuple[str, ...], list[Variable]] = {}
    for v in variables:
        if is_expression(meaning, v):
            groups.setdefault((v.text,), []).append(v)
        elif is_total(meaning, v):
            groups.setdefault(("", *sorted({a.text for a in meaning.actions[v]})), []).append(v)
    gathered = _Gathered(meaning)
    for alike in groups.values():
        gathered.add([v.owner for v in alike], alike, partial(_Alike.variables, found=alike), None)
    return gathered.sums(lambda v: ca.SX(*gathered.shapes[v]))


class _Gathered:
    """Like terms on their way to sums."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning, self.pool = meaning, Pool(meaning)
        self.found: list[tuple[Sequence[Variable], _Alike, ca.SX]] = []
        self.shapes: dict[Variable, tuple[int, int]] = {}

    def add(
        self,
        things: Sequence[Object],
        targets: Sequence[Variable],
        read: Callable[[_Alike], _Column],
        shape: tuple[int, int] | None,
    ) -> bool:
        """Add what things say to targets, if it can be read for all at once."""
        if len(things) < LEAST:
            return False
        before = self.pool.mark()
        alike = _Alike(self.meaning, things, self.pool)
        try:
            value = read(alike).value
            value = value if shape is None else algebra.fitted(value, shape, "what edges do")
        except (
            Unlike,
            Mistake,
            RuntimeError,
            NotImplementedError,
        ):  # the last two are CasADi's; one by one, they are told where they belong
            self.pool.reset(before)
            return False
        self.shapes.update(dict.fromkeys(targets, value.shape))
        self.found.append((targets, alike, algebra.flat(value)))
        return True

    def sums(self, own: Callable[[Variable], ca.SX]) -> Sums | None:
        """Everything added, to expressions of the targets' own."""
        if not self.found:
            return None
        pool, names = self.pool, self.meaning.names
        owned = {v: algebra.flat(own(v)) for v in self.shapes}
        starts = dict(zip(owned, np.cumsum([0, *(e.numel() for e in owned.values())]).tolist(), strict=False))
        likes = [alike.like(value) for _, alike, value in self.found]
        terms = []
        for like, (targets, _, _) in zip(likes, self.found, strict=True):
            rows = np.array([starts[v] for v in targets], dtype=np.int64)
            terms.append(Terms(like.slots, like.results, pool.final(like.reads), rows))
        made = [replace(like, reads=pool.final(like.reads)) for like in pool.made]
        return Sums({names[v]: e for v, e in owned.items()}, pool.entries, pool.column(), made, terms)


class _Alike:
    """Reads the texts of things that say the same, each name once for all of them."""

    def __init__(
        self, meaning: Meaning, things: Sequence[Object], pool: Pool, within: tuple[Variable, ...] = ()
    ) -> None:
        self.meaning, self.things, self.pool, self.within = meaning, things, pool, within
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
            slots.append((slot, np.full(len(self.things), self.pool.expression(symbol), dtype=np.int64)))
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
        formula = read_formula(text)
        if formula.rest:
            raise Unlike
        return self.column(formula.tree)

    def column(self, tree: Tree) -> _Column:
        if isinstance(tree, Number):
            return _Column(ca.SX(tree.value), True)
        if isinstance(tree, Name):
            if tree.order:
                raise Unlike
            if tree.name not in self.memo:
                self.memo[tree.name] = self._named(tree.name)
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
                found = self.column(part)
                fixed = fixed and found.fixed
                return found.value

            return _Column(evaluate(tree, resolve, self._constant), fixed)
        raise Unlike

    def _constant(self, value: ca.SX) -> float:
        if value.numel() != 1 or not value.is_constant():
            raise Unlike
        return float(value)

    def _binary(self, tree: Binary) -> _Column:
        left, right = self.column(tree.left), self.column(tree.right)
        if tree.operator == "*":
            for one, other in ((left, right), (right, left)):
                if one.fixed and one.value.numel() == 1 and other.products:
                    return _summed([(a, b * one.value) for a, b in other.products])
        return _Column(algebra.BINARY[tree.operator](left.value, right.value), left.fixed and right.fixed)

    def _call(self, tree: Call) -> _Column:
        if tree.order:
            raise Unlike
        own = {scope.function(tree.name, thing) for thing in self._callers(tree.name)}
        if own != {None}:
            return self._applied(tree, own)
        if tree.name in ("sin", "cos") and len(tree.arguments) == 1:
            apart = self._apart(tree)
            if apart is not None:
                return apart
        parts = [self.column(t) for t in tree.arguments]
        if tree.name == "index" and len(parts) > 1:
            raise Unlike
        value = (
            None if tree.name == "rand" else algebra.call(tree.name, [p.value for p in parts], self._constant)
        )
        if value is None:
            raise Unlike
        return _Column(value, all(p.fixed for p in parts))

    def _callers(self, name: str) -> Sequence[Object]:
        """Things that may mean different functions by a name; one of them if there is no function of that
        name anywhere."""
        return self.things if name.rpartition(".")[2] in self.pool.functions else self.things[:1]

    def _applied(self, tree: Call, functions: set[Function | None]) -> _Column:
        """A function of the network's, with what it looks up at the caller."""
        function = functions.pop()
        if functions or function is None or not is_plain_function(function):
            raise Unlike
        parts = [self.column(t) for t in tree.arguments]
        looked_up = {}
        for a in function.implicit:
            name = f"{a.scope}.{a.name}" if a.scope else a.name
            if a.default is None or scope.variable(name, self.things[0]) is not None:
                looked_up[a.name] = self.column(Name(name))
            elif any(scope.variable(name, thing) is not None for thing in self.things):
                raise Unlike
        frame = EvaluationFrame(self.things[0], {n: c.value for n, c in looked_up.items()})
        return _Column(self.meaning.functions.apply(function, [p.value for p in parts], frame), False)

    # ---- names ----

    def _named(self, name: str) -> _Column:
        m = self.meaning
        owners = scope.variables(name, self.things)
        if None in owners:
            if any(owners):
                raise Unlike
            if name == "t":
                return _Column(time, False)
            if name == "dt":
                return _Column(m.time_step().sym, True)
            if name in CONSTANTS:
                return _Column(ca.SX(CONSTANTS[name]), True)
            raise Unlike
        return self.variables(owners)  # type: ignore[arg-type]

    def variables(self, found: Sequence[Variable]) -> _Column:
        """The variable of each thing."""
        m = self.meaning
        different = list(dict.fromkeys(found))
        if all(v in m.params for v in different):
            return self._reading(found, self.pool.parameters(different), True, (1, 1))
        if (
            len(different) >= LEAST
            and len({v.text for v in different}) == 1
            and all(is_expression(m, v) for v in different)
        ):
            return self._written_out(found, different)
        if all(is_total(m, v) for v in different) and sum(len(m.actions[v]) for v in different) >= LEAST:
            return self._total(found, different)
        values = [m.value(v) for v in different]
        if len({value.shape for value in values}) != 1:
            raise Unlike
        fixed = all(v in m.params or value.is_constant() for v, value in zip(different, values, strict=True))
        if len(different) == 1 and values[0].is_constant():
            return _Column(values[0], True)
        places = {v: self.pool.variable(v, value) for v, value in zip(different, values, strict=True)}
        return self._reading(found, places, fixed, values[0].shape)

    def _reading(
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
        m, pool, text = self.meaning, self.pool, different[0].text
        within = self._deeper(different)
        missing = [v for v in different if v not in pool.computed]
        alone = CROWDED * len(different) > len(owners)
        if missing and not alone:
            inner = _Alike(m, [v.owner for v in missing], pool, within)
            column = inner.text(text)
            alone = column.fixed  # computed once for each run anyway
            if not alone:
                pool.compute(missing, inner.like(algebra.flat(column.value)), column.value.shape)
        if alone:
            inner = _Alike(m, [v.owner for v in owners], pool, within)
            inner.slots = self.slots
            return replace(inner.text(text), owners=None, places=None)
        return self._computed(owners, different)

    def _total(self, owners: Sequence[Variable], different: Sequence[Variable]) -> _Column:
        """A variable that edges add to: what those that say the same add, summed up beforehand."""
        m, pool = self.meaning, self.pool
        within = self._deeper(different)
        missing = {v: k for k, v in enumerate(v for v in different if v not in pool.computed)}
        if missing:
            shapes = {m.formula(v.text, v, EvaluationFrame(v.owner)).shape for v in missing}
            if len(shapes) != 1:
                raise Unlike
            shape = shapes.pop()
            groups: dict[str, list[tuple[Action, int]]] = {}
            for v, k in missing.items():
                for action in m.actions[v]:
                    groups.setdefault(action.text, []).append((action, k))
            places = []
            for text, actions in groups.items():
                inner = _Alike(m, [a.owner for a, _ in actions], pool, within)
                like = inner.like(
                    algebra.flat(algebra.fitted(inner.text(text).value, shape, "what edges do"))
                )
                rows = np.array([k for _, k in actions], dtype=np.int64)
                places.append(pool.make(Totals(like.slots, like.results, like.reads, rows, len(missing))))
            slots = [ca.SX.sym(f"s{n}", *shape) for n in range(len(places))]
            added = Like(
                ca.vertcat(*map(ca.vec, slots)), ca.vec(sum(slots[1:], slots[0])), np.concatenate(places)
            )
            pool.compute(list(missing), added, shape)
        return self._computed(owners, different)

    def _computed(self, owners: Sequence[Variable], different: Sequence[Variable]) -> _Column:
        shapes = {self.pool.shapes[v] for v in different}
        if len(shapes) != 1:
            raise Unlike
        return self._reading(owners, self.pool.computed, False, shapes.pop())

    def _deeper(self, variables: Sequence[Variable]) -> tuple[Variable, ...]:
        """What is being written out, these included; none may be made of itself."""
        if any(v in self.within for v in variables):
            raise Unlike
        return (*self.within, variables[0])

    # ---- sines ----

    def _apart(self, tree: Call) -> _Column | None:
        """sin(a - b + c) of sines and cosines of a, b and c."""
        addends = list(_addends(tree.arguments[0], 1))
        parts = [(sign, self.column(t)) for sign, t in addends]
        moving = [(sign, p) for sign, p in parts if not p.fixed]
        if not moving or len(parts) < 2 or len(moving) > 3 or any(p.value.numel() != 1 for _, p in parts):
            return None
        if any(p.owners is None or CROWDED * len(set(p.owners)) > len(self.things) for _, p in moving):
            return None
        still = [p.value if sign > 0 else -p.value for sign, p in parts if p.fixed]
        pairs = [self._turned(sign, p) for sign, p in moving]
        sine, cosine = pairs[0]
        for s, c in pairs[1:]:
            sine, cosine = sine * c + cosine * s, cosine * c - sine * s
        if still:
            angle = sum(still[1:], still[0])
            s, c = ca.sin(angle), ca.cos(angle)
            return _summed([(sine, c), (cosine, s)] if tree.name == "sin" else [(cosine, c), (sine, -s)])
        return _Column(sine if tree.name == "sin" else cosine, False)

    def _turned(self, sign: int, part: _Column) -> tuple[ca.SX, ca.SX]:
        """Sine and cosine of a variable, computed once for each node."""
        assert part.places is not None
        pool = self.pool
        missing = pool.in_order(p for p in dict.fromkeys(part.places.tolist()) if p not in pool.turned)
        if missing:
            angle = ca.SX.sym("angle")
            reads = np.array([missing], dtype=np.int64)
            made = pool.make(Like(angle, ca.vertcat(ca.sin(angle), ca.cos(angle)), reads))
            pool.turned.update(zip(missing, made.T.tolist(), strict=True))
        pairs = np.array([pool.turned[p] for p in part.places.tolist()], dtype=np.int64)
        sine, cosine = (self.slot(np.ascontiguousarray(pairs[:, k])) for k in (0, 1))
        return (sine if sign > 0 else -sine), cosine


def _summed(products: Sequence[tuple[ca.SX, ca.SX]]) -> _Column:
    (a, b), (c, d) = products
    return _Column(a * b + c * d, False, products=products)


def _addends(tree: Tree, sign: int) -> Sequence[tuple[int, Tree]]:
    if isinstance(tree, Binary) and tree.operator in ("+", "-"):
        return [*_addends(tree.left, sign), *_addends(tree.right, sign if tree.operator == "+" else -sign)]
    if isinstance(tree, Unary) and tree.operator in "+-":
        return _addends(tree.operand, sign if tree.operator == "+" else -sign)
    return [(sign, tree)]
