"""Tells which variables and functions are given by their texts alone, so that many can be read at once."""

from __future__ import annotations

from strut.network.lower import scope
from strut.network.lower.meaning import Meaning
from strut.network.model import Function, Node, Variable
from strut.network.text.formula import Call, Derivative, Name, Number, Operator, read_formula


def is_expression(m: Meaning, v: Variable) -> bool:
    """Whether a variable is given by its text alone: nothing acts on it, and it is no quantity."""
    return v not in m.actions and _is_plain(m, v)


def is_total(m: Meaning, v: Variable) -> bool:
    """Whether a variable is the sum of what edges add to it, in all states and to all of its elements."""
    actions = m.actions.get(v)
    return (
        bool(actions)
        and all(not a.rate and a.adds and not a.index and not a.states for a in actions or ())
        and _is_plain(m, v)
    )


def _is_plain(m: Meaning, v: Variable) -> bool:
    """Whether a variable is no quantity of the system, and has no constraint, flag or file."""
    if (
        v in m.params
        or v.flags - {"out"}
        or v.constraint is not None
        or (isinstance(v.owner, Node) and v.owner.table is not None)
    ):
        return False
    return not (v in m.states or v in m.discrete or v in m.inputs or v in m.future_states)


def is_plain_function(function: Function) -> bool:
    """Whether a function is made of numbers, arguments, variables and functions alone: without polynomials,
    derivatives, operators in brackets and random numbers."""
    seen: set[Function] = set()
    functions = [function]
    while functions:
        each = functions.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.pieces:
            return False
        texts = [each.text, *(a.default for a in (*each.arguments, *each.implicit) if a.default is not None)]
        waiting: list[object] = [read_formula(text).tree for text in texts]
        while waiting:
            part = waiting.pop()
            if isinstance(part, tuple):
                waiting.extend(part)
            elif (
                isinstance(part, Operator | Derivative)
                or getattr(part, "order", 0) > 0
                or (isinstance(part, Call) and part.name == "rand")
            ):
                return False
            elif part is not None and not isinstance(part, Number | Name | str | int | float):
                waiting.extend(getattr(part, slot) for slot in part.__slots__)  # type: ignore[attr-defined]  # trees have slots
                called = scope.function(part.name, each.owner) if isinstance(part, Call) else None
                functions.extend([called] if called is not None else [])
    return True
