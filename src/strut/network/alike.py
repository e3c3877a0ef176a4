"""Edges that say the same: their expressions are made all at once, one column with an entry for each edge.

Sines and cosines of sums (phases of oscillators) are taken apart by the addition theorems where nodes are fewer than edges: then
they are taken once for each node, and those of parameters once for each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from strut.network import algebra, scope
from strut.network.errors import Mistake
from strut.network.formula import Binary, Call, Name, Number, Ternary, Tree, Unary, read
from strut.network.meaning import Meaning
from strut.network.model import Action, Node, Object, Variable
from strut.system.quantity import time

LEAST = 16
"""Edges that are worth a column."""
CROWDED = 4
"""Edges for each node from which sines are taken apart."""


@dataclass(frozen=True)
class _Column:
    """A value for every edge; `fixed` if made of parameters and numbers alone, `owners` if it is a variable, `products` if it
    is a sum of products of something and something fixed."""

    value: ca.SX
    fixed: bool
    owners: Sequence[Variable] | None = None
    products: Sequence[tuple[ca.SX, ca.SX]] = ()


class Unlike(Exception):
    """These edges must be looked at one by one."""


def rates(meaning: Meaning, things: Sequence[Object]) -> None:
    """Find the rates of states on which many edges act alike, all at once. What cannot be done is left to others."""
    targets = {action: v for v, actions in meaning.actions.items() if v in meaning.states for action in actions}
    functions = {name for thing in things if isinstance(thing, Node) for name in thing.functions}
    groups: dict[str, list[Action]] = {}
    for action in targets:
        if action.rate and not action.index and not action.states:
            groups.setdefault(action.text, []).append(action)
    columns: list[tuple[list[Action], ca.SX]] = []
    for text, actions in groups.items():
        if len(actions) < LEAST or any(meaning.states[v].size != 1 for v in {targets[a] for a in actions}):
            continue
        try:
            found = _Alike(meaning, actions, functions).column(read(text).tree).value
        except (Unlike, Mistake):
            continue
        columns.append((actions, found if found.numel() == len(actions) else ca.repmat(found, len(actions), 1)))
    if not columns:
        return
    done = {a for actions, _ in columns for a in actions}
    states = list(dict.fromkeys(targets[a] for actions, _ in columns for a in actions))
    total = ca.densify(ca.vertcat(*[meaning.added([a for a in meaning.actions[v] if a not in done], v) for v in states]))
    row = {v: k for k, v in enumerate(states)}
    for actions, column in columns:
        rows = [row[targets[a]] for a in actions]
        pattern = ca.Sparsity.triplet(len(states), len(actions), rows, list(range(len(actions))))
        total = ca.mac(ca.SX(ca.DM(pattern, 1)), ca.densify(column), total)
    for v, rate in zip(states, ca.vertsplit(total), strict=True):
        meaning.rates.setdefault(v, rate)


class _Alike:
    def __init__(self, meaning: Meaning, actions: Sequence[Action], functions: set[str]) -> None:
        self.meaning, self.actions, self.functions = meaning, actions, functions
        self.memo: dict[str, _Column] = {}

    def column(self, tree: Tree) -> _Column:
        if isinstance(tree, Number):
            return _Column(ca.SX(tree.value), True)
        if isinstance(tree, Name):
            if tree.order:
                raise Unlike
            if tree.name not in self.memo:
                self.memo[tree.name] = self._named(tree.name)
            return self.memo[tree.name]
        if isinstance(tree, Unary):
            operand = self.column(tree.operand)
            sign = {"-": lambda v: -v, "+": lambda v: v, "!": lambda v: v == 0}[tree.operator]
            return _Column(sign(operand.value), operand.fixed)
        if isinstance(tree, Binary):
            return self._binary(tree)
        if isinstance(tree, Ternary):
            parts = [self.column(t) for t in (tree.condition, tree.yes, tree.no)]
            return _Column(ca.if_else(parts[0].value != 0, parts[1].value, parts[2].value), all(p.fixed for p in parts))
        if isinstance(tree, Call) and not tree.order and tree.name not in self.functions:
            return self._call(tree)
        raise Unlike

    def _named(self, name: str) -> _Column:
        m = self.meaning
        owners = [scope.variable(name, action.owner) for action in self.actions]
        if None in owners:
            if name == "t" and not any(owners):
                return _Column(time, False)
            raise Unlike
        found: list[Variable] = owners  # type: ignore[assignment]
        different = {v: m.value(v) for v in dict.fromkeys(found)}
        if any(value.numel() != 1 for value in different.values()):
            raise Unlike
        fixed = all(v in m.params or value.is_constant() for v, value in different.items())
        if len(different) == 1:
            return _Column(next(iter(different.values())), fixed, found)
        return _Column(ca.vertcat(*[different[v] for v in found]), fixed, found)

    def _binary(self, tree: Binary) -> _Column:
        left, right = self.column(tree.left), self.column(tree.right)
        if tree.operator == "*":
            for one, other in ((left, right), (right, left)):
                if one.fixed and other.products:
                    return _summed([(a, b * one.value) for a, b in other.products])
        return _Column(algebra.BINARY[tree.operator](left.value, right.value), left.fixed and right.fixed)

    def _call(self, tree: Call) -> _Column:
        if tree.name in ("sin", "cos") and len(tree.arguments) == 1:
            apart = self._apart(tree)
            if apart is not None:
                return apart
        parts = [self.column(t) for t in tree.arguments]
        fixed = all(p.fixed for p in parts)
        if tree.name in algebra.UNARY and len(parts) == 1:
            return _Column(algebra.UNARY[tree.name](parts[0].value), fixed)
        if tree.name in algebra.BINARY_FUNCTIONS and len(parts) == 2:
            return _Column(algebra.BINARY_FUNCTIONS[tree.name](parts[0].value, parts[1].value), fixed)
        if tree.name in ("min", "max") and len(parts) == 2:
            return _Column(algebra.REDUCERS[tree.name][1](*algebra.alike(parts[0].value, parts[1].value, tree.name)), fixed)
        raise Unlike

    def _apart(self, tree: Call) -> _Column | None:
        """sin(a - b + c) of sines and cosines of a, b and c."""
        addends = list(_addends(tree.arguments[0], 1))
        parts = [(sign, self.column(t)) for sign, t in addends]
        moving = [(sign, p) for sign, p in parts if not p.fixed]
        if not moving or len(parts) < 2 or len(moving) > 3:
            return None
        if any(p.owners is None or CROWDED * len(set(p.owners)) > len(self.actions) for _, p in moving):
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
        """Sine and cosine of a variable, one for each node."""
        assert part.owners is not None
        different = {v: k for k, v in enumerate(dict.fromkeys(part.owners))}
        turned = self.meaning.turned
        for v in different:
            if v not in turned:
                turned[v] = (ca.sin(self.meaning.value(v)), ca.cos(self.meaning.value(v)))
        places = [different[v] for v in part.owners]
        sines, cosines = (ca.vertcat(*[turned[v][k] for v in different])[places] for k in (0, 1))
        return (sines if sign > 0 else -sines), cosines


def _summed(products: Sequence[tuple[ca.SX, ca.SX]]) -> _Column:
    (a, b), (c, d) = products
    return _Column(a * b + c * d, False, products=products)


def _addends(tree: Tree, sign: int) -> Sequence[tuple[int, Tree]]:
    if isinstance(tree, Binary) and tree.operator in ("+", "-"):
        return [*_addends(tree.left, sign), *_addends(tree.right, sign if tree.operator == "+" else -sign)]
    if isinstance(tree, Unary) and tree.operator in "+-":
        return _addends(tree.operand, sign if tree.operator == "+" else -sign)
    return [(sign, tree)]
