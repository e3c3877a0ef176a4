"""CasADi expressions as SymPy expressions, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca

from strut.errors import ModelError
from strut.extras import optional_module

MAX_DENOMINATOR = 16
"""Numbers that are a fraction with at most this denominator, exactly, are written as one."""


def sympy_module() -> Any:
    """SymPy, which an extra installs."""
    return optional_module("sympy", "equations to read")


def _operations(sp: Any) -> dict[int, Callable[..., Any]]:
    """What each operation of CasADi is in SymPy."""
    elementary = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
    table: dict[int, Callable[..., Any]] = {
        getattr(ca, f"OP_{name.upper()}"): getattr(sp, name) for name in elementary
    }
    table |= {
        ca.OP_ADD: lambda a, b: a + b,
        ca.OP_SUB: lambda a, b: a - b,
        ca.OP_MUL: lambda a, b: a * b,
        ca.OP_DIV: lambda a, b: a / b,
        ca.OP_NEG: lambda a: -a,
        ca.OP_SQ: lambda a: a**2,
        ca.OP_TWICE: lambda a: 2 * a,
        ca.OP_INV: lambda a: 1 / a,
        ca.OP_POW: lambda a, b: a**b,
        ca.OP_CONSTPOW: lambda a, b: a**b,
        ca.OP_ASSIGN: lambda a: a,
        ca.OP_FABS: sp.Abs,
        ca.OP_SIGN: sp.sign,
        ca.OP_FLOOR: sp.floor,
        ca.OP_CEIL: sp.ceiling,
        ca.OP_FMIN: sp.Min,
        ca.OP_FMAX: sp.Max,
        ca.OP_ATAN2: sp.atan2,
        ca.OP_HYPOT: lambda a, b: sp.sqrt(a**2 + b**2),
        ca.OP_LT: lambda a, b: _one_if(sp, sp.Lt(a, b)),
        ca.OP_LE: lambda a, b: _one_if(sp, sp.Le(a, b)),
        ca.OP_EQ: lambda a, b: _one_if(sp, sp.Eq(a, b)),
        ca.OP_NE: lambda a, b: _one_if(sp, sp.Ne(a, b)),
        ca.OP_NOT: lambda a: 1 - a,
        ca.OP_AND: lambda a, b: a * b,
        ca.OP_OR: lambda a, b: a + b - a * b,
        ca.OP_IF_ELSE_ZERO: lambda a, b: a * b if a.is_number else sp.Piecewise((b, sp.Ne(a, 0)), (0, True)),
    }
    return table


def _one_if(sp: Any, condition: Any) -> Any:
    return sp.Piecewise((1, condition), (0, True))


def _number(sp: Any, value: float) -> Any:
    """A number: a whole one or a simple fraction where it is exactly that, else with the digits it is printed
    with, fifteen of them at most."""
    scaled = [n for n in range(1, MAX_DENOMINATOR + 1) if float(value * n).is_integer()]
    if scaled and abs(value) < 1e9 and int(value * scaled[0]) / scaled[0] == value:
        return sp.Rational(int(value * scaled[0]), scaled[0])
    return sp.Float(repr(value))


def to_sympy(
    expressions: Sequence[ca.SX], symbols: Mapping[str, tuple[ca.SX, Sequence[Any]]]
) -> list[list[Any]]:
    """Turn expressions into SymPy, each a list of its components.

    symbols: by any name, a symbol of CasADi and what stands for each of its components in SymPy.
    """
    sp = sympy_module()
    operations = _operations(sp)
    arguments = [symbol for symbol, _ in symbols.values()]
    f = ca.Function("f", arguments, [ca.densify(ca.SX(e)) for e in expressions])
    stands = [list(components) for _, components in symbols.values()]
    slots: dict[int, Any] = {}
    results: list[list[Any]] = [[sp.Integer(0)] * e.numel() for e in (ca.SX(x) for x in expressions)]
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            slots[o[0]] = _number(sp, f.instruction_constant(k))
        elif op == ca.OP_INPUT:
            slots[o[0]] = stands[i[0]][i[1]]
        elif op == ca.OP_OUTPUT:
            results[o[0]][o[1]] = slots[i[0]]
        elif op in operations:
            slots[o[0]] = operations[op](*[slots[slot] for slot in i])
        else:
            raise ModelError(
                f"operation {op} of CasADi has no form in SymPy: use + - * / ** and elementary functions"
            )
    return results
