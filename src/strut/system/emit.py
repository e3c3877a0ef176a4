"""A CasADi `SX` function as plain C.

Written here rather than taken from CasADi's generator because the text must compile as C99 with every warning on, as
CUDA device code, in float or double, and with the user's own sin and cos. Names in the text are ours; nothing a user
wrote reaches it but numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca

from strut.errors import CompileError

SCALARS = {"t"}


def _macro(name: str) -> Callable[..., str]:
    return lambda *a: f"STRUT_{name}({', '.join(a)})"


def _infix(symbol: str) -> Callable[..., str]:
    return lambda a, b: f"{a} {symbol} {b}"


def _truth(symbol: str) -> Callable[..., str]:
    return lambda a, b: f"(strut_real)({a} {symbol} {b})"


OPERATIONS: dict[int, Any] = {
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_ADD: _infix("+"),
    ca.OP_SUB: _infix("-"),
    ca.OP_MUL: _infix("*"),
    ca.OP_DIV: _infix("/"),
    ca.OP_NEG: lambda a: f"-{a}",
    ca.OP_INV: lambda a: f"R(1) / {a}",
    ca.OP_SQ: lambda a: f"{a} * {a}",
    ca.OP_TWICE: lambda a: f"R(2) * {a}",
    ca.OP_LT: _truth("<"),
    ca.OP_LE: _truth("<="),
    ca.OP_EQ: _truth("=="),
    ca.OP_NE: _truth("!="),
    ca.OP_NOT: lambda a: f"(strut_real)({a} == R(0))",
    ca.OP_AND: lambda a, b: f"(strut_real)({a} != R(0) && {b} != R(0))",
    ca.OP_OR: lambda a, b: f"(strut_real)({a} != R(0) || {b} != R(0))",
    ca.OP_IF_ELSE_ZERO: lambda a, b: f"{a} != R(0) ? {b} : R(0)",
    ca.OP_SIGN: lambda a: f"strut_sign({a})",
    ca.OP_LIFT: lambda a, b: a,
} | {
    getattr(ca, f"OP_{name}"): _macro(name)
    for name in (
        "SIN",
        "COS",
        "TAN",
        "ASIN",
        "ACOS",
        "ATAN",
        "ATAN2",
        "SINH",
        "COSH",
        "TANH",
        "ASINH",
        "ACOSH",
        "ATANH",
        "EXP",
        "EXPM1",
        "LOG",
        "LOG1P",
        "SQRT",
        "HYPOT",
        "ERF",
        "FLOOR",
        "CEIL",
        "FMOD",
        "REMAINDER",
        "FABS",
        "FMIN",
        "FMAX",
        "COPYSIGN",
    )
}


def operation_count(f: ca.Function) -> int:
    """Arithmetic operations and function calls; reading inputs and writing outputs is free."""
    free = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ASSIGN}
    return sum(f.instruction_id(k) not in free for k in range(f.n_instructions()))


def literal(value: float) -> str:
    if math.isnan(value):
        return "STRUT_NAN"
    if math.isinf(value):
        return "STRUT_INF" if value > 0 else "-STRUT_INF"
    return f"R({float(value)!r})"


def _power(base: str, exponent: str, constant: float | None) -> str:
    """Small whole and half powers by multiplication and square root: pow() costs ten times as much."""
    if constant is not None and constant in (2.0, 3.0, 4.0):
        return " * ".join([base] * int(constant))
    if constant in (0.5, 1.5, -0.5, -1.5):
        root = f"STRUT_SQRT({base})" if abs(constant) == 0.5 else f"({base} * STRUT_SQRT({base}))"
        return root if constant > 0 else f"R(1) / {root}"
    return f"STRUT_POW({base}, {exponent})"


def signature(name: str, inputs: list[str], outputs: list[str]) -> str:
    arguments = [f"strut_real {n}" if n in SCALARS else f"const strut_real *{n}" for n in inputs]
    arguments += [f"strut_real *STRUT_RESTRICT {n}" for n in outputs]
    return f"STRUT_FN void STRUT_({name})({', '.join(arguments)})"


def emit(f: ca.Function, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> str:
    """The C function `name`, equivalent to `f`; outputs are dense, Jacobians column by column."""
    written = [f"out_{n}" for n in outputs]
    body: list[str] = []
    used: set[str] = set()
    held: dict[int, str] = {}  # what stands for each of CasADi's work slots: a local, an input or a literal
    constants: dict[int, float] = {}
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            constants[o[0]] = f.instruction_constant(k)
            held[o[0]] = literal(constants[o[0]])
            continue
        if op == ca.OP_INPUT:
            source = inputs[i[0]]
            used.add(source)
            held[o[0]] = source if source in SCALARS else f"{source}[{i[1]}]"
            constants.pop(o[0], None)
            continue
        if op == ca.OP_OUTPUT:
            body.append(f"    {written[o[0]]}[{o[1]}] = {held[i[0]]};")
            used.add(written[o[0]])
            continue
        arguments = [held[slot] for slot in i]
        if op in (ca.OP_POW, ca.OP_CONSTPOW):
            text = _power(arguments[0], arguments[1], constants.get(i[1]))
        elif op in OPERATIONS:
            text = OPERATIONS[op](*arguments)
        else:
            raise CompileError(f"'{name}' uses CasADi operation {op}, which has no C equivalent here: rewrite the expression without it")
        body.append(f"    const strut_real a{k} = {text};")
        held[o[0]] = f"a{k}"
        constants.pop(o[0], None)
    body += [f"    (void){n};" for n in (*inputs, *written) if n not in used]
    return signature(name, list(inputs), written) + "\n{\n" + "\n".join(body) + "\n}\n"
