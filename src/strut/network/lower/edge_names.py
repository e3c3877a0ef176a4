"""Finds names in edges that mean a variable of the input where that of the output was probably meant."""

from __future__ import annotations

from functools import lru_cache

from strut.network.lower import scope
from strut.network.model import Action, Edge, Variable
from strut.network.text.formula import variable_names

INPUT_PREFIX = "input."
"""What stands before the name of a variable of an edge's input, where it is said."""


@lru_cache(maxsize=4096)
def _twice_named(text: str) -> tuple[str, ...]:
    """Return the names that an expression uses both bare and as those of the input, in order."""
    names = set(variable_names(text)) if INPUT_PREFIX in text else set()
    return tuple(sorted(name for name in names if f"{INPUT_PREFIX}{name}" in names))


def ambiguous_names(edge: Edge) -> list[tuple[str, Action | Variable]]:
    """Return the names that an edge uses twice for the same variable, `x` and `input.x`, where its output has
    one that is called so too, and what uses them: their difference is zero whatever the nodes do."""
    if edge.input is None or edge.output is None or edge.input is edge.output:
        return []
    items: list[Action | Variable] = [*edge.actions.values(), *edge.variables.values()]
    return [
        (name, item)
        for item in items
        for name in _twice_named(item.text)
        if scope.own_variable(edge, name) is None
        and scope.own_variable(edge.input, name) is not None
        and scope.own_variable(edge.output, name) is not None
    ]


__all__ = ["ambiguous_names"]
