"""Calculations inside texts, `$(...)`: constants and functions, no variables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.network.lower import algebra
from strut.network.lower.evaluate import arguments, evaluate
from strut.network.text.errors import Mistake, NetworkError, NetworkProblem
from strut.network.text.formula import Binary, Call, Name, Number, Tree, Unary, read

CONSTANTS = {
    **dict.fromkeys(("pi", "PI", "π"), math.pi),
    **dict.fromkeys(("e", "E"), math.e),
    **dict.fromkeys(("NaN", "nan", "NAN"), math.nan),
    **dict.fromkeys(("Inf", "INF", "inf", "∞"), math.inf),
}
PLAIN: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


@lru_cache(maxsize=100_000)
def calculate(text: str) -> float:
    """The number that a text stands for."""
    if not text.strip():
        return 0.0
    shape = _NUMBER.split(text)
    plain = _shape(tuple(shape[::2]))
    if plain is not None:
        return _plainly(plain, shape[1::2])
    try:
        tree = read(text).tree
        quick = _quick(tree)
        if quick is not None:
            return quick
        found = constant(tree)
    except Mistake as mistake:
        raise Mistake(f"cannot calculate '{text}': {mistake}") from mistake
    if found.numel() != 1:
        raise Mistake(
            f"cannot calculate '{text}': it is {algebra.shape_text(found)}, a single number is needed"
        )
    return float(found)


_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])")
_HOLE = "number__"


@lru_cache(maxsize=10_000)
def _shape(around: tuple[str, ...]) -> Tree | None:
    """Plain arithmetic with holes for its numbers, of what stands around these: thousands of texts differ in
    nothing else. None if it is more than that."""
    text = around[0] + "".join(f"{_HOLE}{k}{after}" for k, after in enumerate(around[1:]))
    if text.count(_HOLE) != len(around) - 1:
        return None
    try:
        formula = read(text)
    except Mistake:
        return None
    return formula.tree if not formula.rest and _is_plain(formula.tree) else None


def _is_plain(tree: Tree) -> bool:
    if isinstance(tree, Binary):
        return tree.operator in PLAIN and _is_plain(tree.left) and _is_plain(tree.right)
    if isinstance(tree, Unary):
        return tree.operator == "-" and _is_plain(tree.operand)
    return isinstance(tree, Name) and not tree.order and tree.name.startswith(_HOLE)


def _plainly(tree: Tree, numbers: list[str]) -> float:
    if isinstance(tree, Binary):
        return PLAIN[tree.operator](_plainly(tree.left, numbers), _plainly(tree.right, numbers))
    if isinstance(tree, Unary):
        return -_plainly(tree.operand, numbers)
    assert isinstance(tree, Name)
    return float(numbers[int(tree.name[len(_HOLE) :])])


def _quick(tree: Tree) -> float | None:
    """Plain arithmetic without the machinery."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Binary) and tree.operator in PLAIN:
        a, b = _quick(tree.left), _quick(tree.right)
        return None if a is None or b is None else PLAIN[tree.operator](a, b)
    if isinstance(tree, Unary) and tree.operator == "-":
        a = _quick(tree.operand)
        return None if a is None else -a
    return CONSTANTS.get(tree.name) if isinstance(tree, Name) and not tree.order else None


def constant(tree: Tree) -> ca.SX:
    """The value of a tree without variables."""

    def resolve(t: Tree) -> ca.SX:
        if isinstance(t, Name):
            if t.name in CONSTANTS and not t.order:
                return ca.SX(CONSTANTS[t.name])
            raise Mistake(
                f"'{t.name}' is a variable or unknown: only numbers and functions can be calculated with here"
            )
        if isinstance(t, Call) and not t.order:
            found = algebra.call(t.name, arguments(t, resolve, _number), _number)
            if found is not None:
                return found
        raise Mistake(
            f"there is no function '{t.name}' here"
            if isinstance(t, Call)
            else "operators like dt[...] need variables"
        )

    return evaluate(tree, resolve, _number)


@checked
def evaluated(text: str) -> np.ndarray:
    """The matrix that an expression without variables stands for."""
    try:
        return np.array(ca.DM(constant(read(text).tree)))
    except Mistake as mistake:
        raise NetworkError([NetworkProblem(f"cannot calculate '{text}': {mistake}")]) from mistake


def _number(m: ca.SX) -> float:
    if not m.is_constant() or m.numel() != 1:
        raise Mistake("a number that is known beforehand is needed")
    return float(m)
