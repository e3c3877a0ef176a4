"""Evaluates syntax trees to CasADi expressions: operators, functions of the language, matrices and indices.

What names stand for is asked from the caller.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from strut.network.lower import algebra
from strut.network.lower.whole_numbers import whole
from strut.network.text.formula import Binary, Call, Index, Matrix, Number, Range, Ternary, Tree, Unary

Resolve = Callable[[Tree], ca.SX]
"""What names, calls of unknown functions and operators in brackets mean."""
Constant = Callable[[ca.SX], float]
"""The number an expression stands for, where one must be known."""


def evaluate(tree: Tree, resolve: Resolve, constant: Constant) -> ca.SX:
    """Evaluate a syntax tree to an expression.

    resolve: evaluates what is no plain arithmetic: names, functions of the network, operators in brackets.
    constant: gives the number of an expression that must be known, such as an index. Raises `Mistake`.
    """
    if isinstance(tree, Number):
        return ca.SX(tree.value)
    if isinstance(tree, Binary):
        return _chain(tree, resolve, constant)
    if isinstance(tree, Unary):
        operand = evaluate(tree.operand, resolve, constant)
        return -operand if tree.operator == "-" else operand if tree.operator == "+" else operand == 0
    if isinstance(tree, Ternary):
        return algebra.ternary(*(evaluate(t, resolve, constant) for t in (tree.condition, tree.yes, tree.no)))
    if isinstance(tree, Matrix):
        return algebra.stack([[evaluate(t, resolve, constant) for t in row] for row in tree.rows])
    if isinstance(tree, Index):
        return algebra.index(
            evaluate(tree.of, resolve, constant), [_position(t, resolve, constant) for t in tree.at], constant
        )
    if isinstance(tree, Call) and not tree.order and tree.name == "index" and len(tree.arguments) > 1:
        of, *at = tree.arguments
        return algebra.index(
            evaluate(of, resolve, constant), [_position(t, resolve, constant) for t in at], constant
        )
    return resolve(tree)


def _chain(tree: Binary, resolve: Resolve, constant: Constant) -> ca.SX:
    """Evaluate a + b + c + ... in a loop: a sum of thousands must not recurse as deep."""
    chain: list[Binary] = []
    left: Tree = tree
    while isinstance(left, Binary):
        chain.append(left)
        left = left.left
    result = evaluate(left, resolve, constant)
    for each in reversed(chain):
        result = algebra.BINARY[each.operator](result, evaluate(each.right, resolve, constant))
    return result


def _position(tree: Tree, resolve: Resolve, constant: Constant) -> ca.SX | tuple[int, int | None, int] | None:
    """An index: an expression, a range (begin, end, step), or None for everything."""
    if isinstance(tree, Range):
        if tree.start is None and tree.stop is None:
            return None

        def number(part: Tree) -> int:
            return whole(constant(evaluate(part, resolve, constant)))

        return (
            0 if tree.start is None else number(tree.start),
            None if tree.stop is None else number(tree.stop),
            1 if tree.step is None else number(tree.step),
        )
    return evaluate(tree, resolve, constant)


def arguments(call: Call, resolve: Resolve, constant: Constant) -> list[ca.SX]:
    """Evaluate the arguments of a call; see `evaluate`."""
    return [evaluate(t, resolve, constant) for t in call.arguments]
