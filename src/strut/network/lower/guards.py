"""Turns conditions of events into guards: numbers that become positive when a condition begins to hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from strut.network.text.errors import Mistake
from strut.network.text.formula import Binary, Tree

EQUALITY_TOLERANCE = 1e-9
"""How close two numbers must be for `==` of an event without `within`, in their own unit."""
MAX_ALTERNATIVES = 64
"""How many alternatives (`||`) the condition of one event may have."""


@dataclass(frozen=True)
class Guard:
    """A number that becomes positive ('up'), or changes its sign ('both')."""

    expression: ca.SX
    direction: str = "up"


def guards(
    condition: Tree, value: Callable[[Tree], ca.SX], flows: Callable[[ca.SX], bool], near: float | None
) -> list[Guard]:
    """The guards of a condition, one for each alternative: any of them makes the event happen.

    value: evaluates a tree. flows: whether an expression changes between events; what does not is compared
    exactly. near: how close numbers must be for `==`; None: `EQUALITY_TOLERANCE`. Raises `Mistake` where the
    condition is not made of comparisons.
    """
    event_guards = []
    for together in alternatives(condition):
        if len(together) == 1 and together[0].operator == "==":
            z = difference(together[0], value)
            if flows(z):
                event_guards.append(Guard(z, "both"))
                continue
        expression = None
        for comparison in together:
            z = _comparison_guard(comparison, value, flows, near)
            expression = z if expression is None else ca.fmin(expression, z)
        assert expression is not None
        event_guards.append(Guard(expression))
    return event_guards


def alternatives(tree: Tree) -> list[list[Binary]]:
    """The disjunctive normal form of a condition: alternatives, each of comparisons that hold together."""
    if isinstance(tree, Binary) and tree.operator == "||":
        both = alternatives(tree.left) + alternatives(tree.right)
    elif isinstance(tree, Binary) and tree.operator == "&&":
        both = [a + b for a in alternatives(tree.left) for b in alternatives(tree.right)]
    elif isinstance(tree, Binary) and tree.operator in ("<", ">", "<=", ">=", "=="):
        both = [[tree]]
    else:
        raise Mistake(
            "the condition of an event is made of < > <= >= == and of && ||, so that its moment can be found"
        )
    if len(both) > MAX_ALTERNATIVES:
        raise Mistake(f"the condition has more than {MAX_ALTERNATIVES} alternatives: use several events")
    return both


def difference(comparison: Binary, value: Callable[[Tree], ca.SX]) -> ca.SX:
    """The difference of both sides of a comparison, positive while it holds."""
    left, right = value(comparison.left), value(comparison.right)
    if left.numel() != 1 or right.numel() != 1:
        raise Mistake(
            f"the condition compares {left.shape[0]}×{left.shape[1]} with {right.shape[0]}×{right.shape[1]}: "
            f"single numbers are needed"
        )
    return right - left if comparison.operator in ("<", "<=") else left - right


def _comparison_guard(
    comparison: Binary, value: Callable[[Tree], ca.SX], flows: Callable[[ca.SX], bool], near: float | None
) -> ca.SX:
    """A number that is positive while a comparison holds; 1 or -1 where it changes at events only."""
    z = difference(comparison, value)
    if comparison.operator == "==":
        z = (EQUALITY_TOLERANCE if near is None else near) - ca.fabs(z)
    if flows(z):
        return z
    return ca.if_else(z > 0 if comparison.operator in ("<", ">") else z >= 0, 1, -1)
