"""Conditions of events as guards: numbers that become positive when a condition begins to hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from strut.network.text.errors import Mistake
from strut.network.text.formula import Binary, Tree

EQUALITY_TOLERANCE = 1e-9
"""Two numbers count as equal, where an event says no more."""
MAX_ALTERNATIVES = 64
"""One condition has no more alternatives."""


@dataclass(frozen=True)
class Guard:
    """A number that becomes positive ('up'), or changes its sign ('both')."""

    expression: ca.SX
    direction: str = "up"


def guards(
    condition: Tree, value: Callable[[Tree], ca.SX], flows: Callable[[ca.SX], bool], near: float | None
) -> list[Guard]:
    """One guard for each of the alternatives: either of them makes the event happen.

    flows: does an expression change between events? What does not is compared exactly.
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
    """A condition as alternatives, each of comparisons that hold together."""
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
    """A number that is positive while a comparison holds."""
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
    z = difference(comparison, value)
    if comparison.operator == "==":
        z = (EQUALITY_TOLERANCE if near is None else near) - ca.fabs(z)
    if flows(z):
        return z
    return ca.if_else(z > 0 if comparison.operator in ("<", ">") else z >= 0, 1, -1)
