"""Arithmetic as text: "0.43 * thigh_length" to an expression, and back.

Only numbers, names, + - * / **, parentheses and the functions below are known, and comparisons where a
condition is asked for. The text is parsed, never run.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ExpressionError, ModelError, did_you_mean
from strut.system.quantity import Expression, sx

MAX_CONSTANT = 1e300
"""[1] A number beyond it counts as infinite, and is refused."""
MAX_CHARACTERS = 2000
"""Characters of an expression; longer ones are no longer arithmetic that a person wrote."""

NUMBER_AND_UNIT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z%][A-Za-z0-9/^* ]*)")
"""A number with a unit behind it, which is no arithmetic."""

ELEMENTARY = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
"""Functions of one number that have one name in text and in CasADi."""

FUNCTIONS: dict[str, tuple[int, Callable[..., ca.SX]]] = {
    **{name: (1, getattr(ca, name)) for name in ELEMENTARY},
    "abs": (1, ca.fabs),
    "atan2": (2, ca.atan2),
    "min": (2, ca.fmin),
    "max": (2, ca.fmax),
    "deg": (1, lambda a: a * (math.pi / 180)),
}
"""Functions that an expression may call: how many arguments they take, and what they do."""
OPERATORS: dict[type, Callable[[ca.SX, ca.SX], ca.SX]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
"""Operators that an expression may use."""
COMPARISONS: dict[type, Callable[[ca.SX, ca.SX], ca.SX]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
"""Comparisons that a condition may use."""


Functions = Mapping[str, tuple[int, Callable[..., ca.SX]]]
"""Functions by name: how many arguments they take, and what they do."""


@checked
def parse_expression(
    text: str,
    names: Mapping[str, Expression],
    kind: str = "parameter",
    functions: Functions | None = None,
    *,
    conditions: bool = False,
    hint: Callable[[str], str] | None = None,
) -> ca.SX:
    """Return the expression that `text` says, of the quantities in `names`.

    kind: what messages call these quantities. functions: further ones, besides `FUNCTIONS`. conditions:
    comparisons, `and`, `or` and `not` are allowed, too; what holds is 1. hint: what is said of a name that is
    not among them, by default the nearest and what there is.
    """
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"the expression has {len(text)} characters: {MAX_CHARACTERS} are allowed", text[:60] + " ...", 0
        )
    if not text.isascii():
        at = next(k for k, c in enumerate(text) if not c.isascii())
        raise ExpressionError(f"'{text[at]}' is no arithmetic", text, at)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = (getattr(error, "offset", None) or 1) - 1
        raise ExpressionError(
            _with_unit(text.strip()) or "this is no arithmetic", text.strip(), min(column, len(text.strip()))
        ) from None
    try:
        walk = _Walk(
            text.strip(), names, kind, {**FUNCTIONS, **(functions or {})}, conditions=conditions, hint=hint
        )
        expression = ca.densify(walk.value(tree.body))
    except RecursionError:
        raise ExpressionError("this is nested too deeply", text.strip(), 0) from None
    if expression.is_constant() and not np.all(np.isfinite(np.array(ca.DM(expression)))):
        raise ExpressionError("the value is not finite", text.strip(), 0)
    return expression


def _with_unit(text: str) -> str:
    """What to write instead of a number with a unit behind it; nothing if that is not it."""
    match = NUMBER_AND_UNIT.fullmatch(text)
    if not match:
        return ""
    instead = (
        f"deg({match[1]})" if match[2] in ("deg", "degree", "degrees") else "the number alone, in SI units"
    )
    return f"a number has no unit here: write {instead}"


class _Walk:
    """From the nodes that are allowed to an expression; all others are errors that point at themselves."""

    def __init__(
        self,
        text: str,
        names: Mapping[str, Expression],
        kind: str,
        functions: Functions,
        *,
        conditions: bool,
        hint: Callable[[str], str] | None,
    ) -> None:
        self.text, self.names, self.kind, self.functions = text, names, kind, functions
        self.conditions, self.hint = conditions, hint

    def value(self, node: ast.expr) -> ca.SX:
        """The expression that a node says."""
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, (int, float))
            and not isinstance(node.value, bool)
        ):
            return ca.SX(float(node.value) if abs(node.value) < MAX_CONSTANT else math.inf)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = self.value(node.operand)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            a, b = self.value(node.left), self.value(node.right)
            if a.shape != b.shape and 1 not in (a.numel(), b.numel()):
                raise self.error(node, f"vectors of {a.numel()} and {b.numel()} numbers cannot be combined")
            return OPERATORS[type(node.op)](a, b)
        if self.conditions and isinstance(node, (ast.Compare, ast.BoolOp)):
            return self.condition(node)
        if self.conditions and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ca.logic_not(self.value(node.operand))
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Subscript):
            return self.component(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.quantity(node)
        raise self.error(
            node,
            f"'{ast.get_source_segment(self.text, node)}' is not allowed: use numbers, names, + - * / "
            f"** and functions",
        )

    def condition(self, node: ast.Compare | ast.BoolOp) -> ca.SX:
        """A comparison, a < b < c, or several conditions joined by `and` or `or`."""
        if isinstance(node, ast.BoolOp):
            join = ca.logic_and if isinstance(node.op, ast.And) else ca.logic_or
            return functools.reduce(join, [self.value(each) for each in node.values])
        sides = [self.value(each) for each in (node.left, *node.comparators)]
        holds: list[ca.SX] = []
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            if type(operator) not in COMPARISONS:
                raise self.error(node, "only <, <=, > and >= compare here")
            holds.append(COMPARISONS[type(operator)](left, right))
        return functools.reduce(ca.logic_and, holds)

    def quantity(self, node: ast.expr) -> ca.SX:
        """The parameter, or pi, that a name stands for."""
        name = _dotted_name(node)
        if name is None:
            raise self.error(node, f"'{ast.get_source_segment(self.text, node)}' is not allowed here")
        if name in self.names:
            return sx(self.names[name])
        if name == "pi":
            return ca.SX(math.pi)
        hint = did_you_mean(name, [*self.names, "pi"]) if self.hint is None else self.hint(name)
        raise self.error(node, f"'{name}' is no {self.kind}: {hint}")

    def component(self, node: ast.Subscript) -> ca.SX:
        """One component of a vector, v[2]."""
        whole, index = self.value(node.value), node.slice
        if (
            not isinstance(index, ast.Constant)
            or type(index.value) is not int
            or not 0 <= index.value < whole.numel()
        ):
            raise self.error(
                index, f"there is no such component: write a number from 0 to {whole.numel() - 1}"
            )
        return whole[index.value]

    def call(self, node: ast.Call) -> ca.SX:
        """A call of one of `FUNCTIONS`."""
        name = _dotted_name(node.func)
        if name is None or name not in self.functions:
            raise self.error(
                node, f"'{name}' is no function: {did_you_mean(str(name), list(self.functions))}"
            )
        count, function = self.functions[name]
        if len(node.args) != count or node.keywords:
            raise self.error(node, f"{name} takes {count} number{'s' if count > 1 else ''}")
        return function(*[self.value(argument) for argument in node.args])

    def error(self, node: ast.expr, reason: str) -> ExpressionError:
        """An error that points at a node."""
        first = self.text.splitlines()
        column = node.col_offset if len(first) == 1 else 0
        return ExpressionError(reason, first[0] if first else "", column)


def _dotted_name(node: ast.expr) -> str | None:
    """The name that a node says, left.hip as one; None where it is none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _dotted_name(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


# ---- back to text ----

ATOM, POWER, PRODUCT, SUM = 4, 3, 2, 1
"""How tightly a text binds: one that binds less than its place demands gets parentheses."""

CALLS = {getattr(ca, f"OP_{name.upper()}"): name for name in (*ELEMENTARY, "atan2")} | {
    ca.OP_FABS: "abs",
    ca.OP_FMIN: "min",
    ca.OP_FMAX: "max",
}
"""CasADi's operations that are written as calls, by the name they have in text."""


@checked
def write_expression(expression: Any, names: Mapping[str, ca.SX]) -> str:
    """Return a scalar expression as text that `parse_expression` reads. names: the symbols it may have."""
    f = ca.Function("f", [ca.SX(s) for s in names.values()], [sx(expression)])
    labels = list(names)
    sizes = [int(ca.SX(s).numel()) for s in names.values()]
    slots: dict[int, tuple[str, int]] = {}
    result = "0"
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            number = f.instruction_constant(k)
            slots[o[0]] = (number_text(number), ATOM if number >= 0 else PRODUCT)
        elif op == ca.OP_INPUT:
            slots[o[0]] = (labels[i[0]] if sizes[i[0]] == 1 else f"{labels[i[0]]}[{i[1]}]", ATOM)
        elif op == ca.OP_OUTPUT:
            result = slots[i[0]][0]
        else:
            slots[o[0]] = _operation(op, [slots[slot] for slot in i])
            if len(slots[o[0]][0]) > MAX_CHARACTERS:
                raise ModelError(
                    f"an expression has more than {MAX_CHARACTERS} characters when written out: introduce a "
                    f"parameter for part of it"
                )
    return result


def _operation(op: int, values: list[tuple[str, int]]) -> tuple[str, int]:
    """The text of an operation on texts, each with how tightly it binds; and how tightly the result does."""

    def at_least(k: int, level: int) -> str:
        text, binds = values[k]
        return text if binds >= level else f"({text})"

    if op == ca.OP_ADD:
        return f"{at_least(0, SUM)} + {at_least(1, PRODUCT)}", SUM
    if op == ca.OP_SUB:
        return f"{at_least(0, SUM)} - {at_least(1, PRODUCT)}", SUM
    if op in (ca.OP_MUL, ca.OP_DIV):
        return f"{at_least(0, PRODUCT)} {'*' if op == ca.OP_MUL else '/'} {at_least(1, POWER)}", PRODUCT
    if op in (ca.OP_POW, ca.OP_CONSTPOW):
        return f"{at_least(0, ATOM)}**{at_least(1, ATOM)}", POWER
    if op == ca.OP_NEG:
        return f"-{at_least(0, POWER)}", PRODUCT
    if op == ca.OP_SQ:
        return f"{at_least(0, ATOM)}**2", POWER
    if op == ca.OP_TWICE:
        return f"2 * {at_least(0, POWER)}", PRODUCT
    if op == ca.OP_INV:
        return f"1 / {at_least(0, POWER)}", PRODUCT
    if op in CALLS:
        return f"{CALLS[op]}({', '.join(text for text, _ in values)})", ATOM
    raise ModelError(
        "an expression uses an operation that has no text: use + - * / ** and elementary functions"
    )


@checked
def number_text(value: float) -> str:
    """A number, exactly, and short where it is whole."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e6 else repr(value)
