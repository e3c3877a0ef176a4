"""Evaluates expressions without variables, such as `$(...)` inside texts: numbers, constants and
functions."""

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
from strut.network.text.formula import Binary, Call, Name, Number, Tree, Unary, read_formula

CONSTANTS = {
    **dict.fromkeys(("pi", "PI", "π"), math.pi),
    **dict.fromkeys(("e", "E"), math.e),
    **dict.fromkeys(("NaN", "nan", "NAN"), math.nan),
    **dict.fromkeys(("Inf", "INF", "inf", "∞"), math.inf),
}
"""Names that stand for numbers in every expression."""
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
"""Operators that are calculated directly, without CasADi."""


@lru_cache(maxsize=100_000)
def calculate(text: str) -> float:
    """Return the number that a text stands for; an empty one stands for 0.

    Raises `Mistake` if it cannot be read, has variables, or is a matrix.
    """
    if not text.strip():
        return 0.0
    pieces = _NUMBER.split(text)  # what stands around numbers, and the numbers, in turn
    skeleton = _arithmetic_skeleton(tuple(pieces[::2]))
    if skeleton is not None:
        return _fill_numbers(skeleton, pieces[1::2])
    try:
        tree = read_formula(text).tree
        number = _arithmetic_value(tree)
        if number is not None:
            return number
        value = constant_value(tree)
    except Mistake as mistake:
        raise Mistake(f"cannot calculate '{text}': {mistake}") from mistake
    if value.numel() != 1:
        raise Mistake(
            f"cannot calculate '{text}': it is {algebra.shape_text(value)}, a single number is needed"
        )
    return float(value)


_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])")
"""A number without a sign or an exponent that stands alone."""
_HOLE = "number__"
"""How names begin that take the places of numbers in a skeleton."""


@lru_cache(maxsize=10_000)
def _arithmetic_skeleton(around: tuple[str, ...]) -> Tree | None:
    """Return the tree of a text with names for its numbers, None if it is more than plain arithmetic.

    around: what stands before, between and behind the numbers. Thousands of texts differ in nothing but their
        numbers: their skeleton is read once.
    """
    text = around[0] + "".join(f"{_HOLE}{k}{after}" for k, after in enumerate(around[1:]))
    if text.count(_HOLE) != len(around) - 1:
        return None
    try:
        formula = read_formula(text)
    except Mistake:
        return None
    return formula.tree if not formula.rest and _is_arithmetic(formula.tree) else None


def _is_arithmetic(tree: Tree) -> bool:
    """Has a skeleton nothing but holes, sums, differences, products and minus signs?"""
    if isinstance(tree, Binary):
        return tree.operator in ARITHMETIC and _is_arithmetic(tree.left) and _is_arithmetic(tree.right)
    if isinstance(tree, Unary):
        return tree.operator == "-" and _is_arithmetic(tree.operand)
    return isinstance(tree, Name) and not tree.order and tree.name.startswith(_HOLE)


def _fill_numbers(tree: Tree, numbers: list[str]) -> float:
    """Return the value of a skeleton with these numbers."""
    if isinstance(tree, Binary):
        return ARITHMETIC[tree.operator](
            _fill_numbers(tree.left, numbers), _fill_numbers(tree.right, numbers)
        )
    if isinstance(tree, Unary):
        return -_fill_numbers(tree.operand, numbers)
    assert isinstance(tree, Name)
    return float(numbers[int(tree.name[len(_HOLE) :])])


def _arithmetic_value(tree: Tree) -> float | None:
    """Return the value of plain arithmetic with numbers and constants, None if a tree is more than that."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Binary) and tree.operator in ARITHMETIC:
        a, b = _arithmetic_value(tree.left), _arithmetic_value(tree.right)
        return None if a is None or b is None else ARITHMETIC[tree.operator](a, b)
    if isinstance(tree, Unary) and tree.operator == "-":
        a = _arithmetic_value(tree.operand)
        return None if a is None else -a
    return CONSTANTS.get(tree.name) if isinstance(tree, Name) and not tree.order else None


def constant_value(tree: Tree) -> ca.SX:
    """Return the value of a tree without variables. Raises `Mistake` if it has some."""

    def resolve(t: Tree) -> ca.SX:
        if isinstance(t, Name):
            if t.name in CONSTANTS and not t.order:
                return ca.SX(CONSTANTS[t.name])
            raise Mistake(
                f"'{t.name}' is a variable or unknown: only numbers and functions can be calculated with here"
            )
        if isinstance(t, Call) and not t.order:
            value = algebra.call(t.name, arguments(t, resolve, _number), _number)
            if value is not None:
                return value
        raise Mistake(
            f"there is no function '{t.name}' here"
            if isinstance(t, Call)
            else "operators like dt[...] need variables"
        )

    return evaluate(tree, resolve, _number)


@checked
def evaluate_expression(text: str) -> np.ndarray:
    """Return the matrix that an expression without variables stands for. Raises `NetworkError` if it cannot
    be calculated."""
    try:
        return np.array(ca.DM(constant_value(read_formula(text).tree)))
    except Mistake as mistake:
        raise NetworkError([NetworkProblem(f"cannot calculate '{text}': {mistake}")]) from mistake


def _number(m: ca.SX) -> float:
    """Return the number that an expression is. Raises `Mistake` if it is none."""
    if not m.is_constant() or m.numel() != 1:
        raise Mistake("a number that is known beforehand is needed")
    return float(m)
