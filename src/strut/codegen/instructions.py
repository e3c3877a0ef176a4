"""A CasADi `SX` function as assignments, one per instruction, in the words of any language: `Dialect` says
how it writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from strut.codegen.prepare import Prepared
from strut.errors import CompileError


def arithmetic(number: Callable[[int], str], truth: Callable[[str], str], unequal: str) -> dict[int, Any]:
    """What languages write alike: sums, products, comparisons. number: writes a whole number; truth: makes a
    number of a condition; unequal: the sign between what differs."""
    zero, one, two = number(0), number(1), number(2)

    def infix(symbol: str) -> Callable[..., str]:
        return lambda a, b: f"{a} {symbol} {b}"

    def comparison(symbol: str) -> Callable[..., str]:
        return lambda a, b: truth(f"{a} {symbol} {b}")

    return {
        ca.OP_ASSIGN: lambda a: a,
        ca.OP_ADD: infix("+"),
        ca.OP_SUB: infix("-"),
        ca.OP_MUL: infix("*"),
        ca.OP_DIV: infix("/"),
        ca.OP_NEG: lambda a: f"-{a}",
        ca.OP_INV: lambda a: f"{one} / {a}",
        ca.OP_SQ: lambda a: f"{a} * {a}",
        ca.OP_TWICE: lambda a: f"{two} * {a}",
        ca.OP_LT: comparison("<"),
        ca.OP_LE: comparison("<="),
        ca.OP_EQ: comparison("=="),
        ca.OP_NE: comparison(unequal),
        ca.OP_NOT: lambda a: truth(f"{a} == {zero}"),
        ca.OP_AND: lambda a, b: truth(f"{a} {unequal} {zero} && {b} {unequal} {zero}"),
        ca.OP_OR: lambda a, b: truth(f"{a} {unequal} {zero} || {b} {unequal} {zero}"),
        ca.OP_LIFT: lambda a, b: a,
    }


@dataclass(frozen=True)
class _Value:
    """What stands for one of CasADi's work slots: its text, its number if it is a literal, and whether it
    depends on parameters alone (then `local` is its name in `prepare`, or nothing for a bare parameter)."""

    text: str
    number: float | None = None
    fixed: bool = False
    local: str = ""


@dataclass(frozen=True)
class AssignmentLine:
    """One assignment: its target, whether that is a new local, the right-hand side, and what it reads."""

    target: str
    local: bool
    expression: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Dialect:
    """How a language writes what CasADi computes: operations, powers (of base, exponent and the exponent's
    number), numbers, entry k of argument j, entry k of result j, and the local of instruction k."""

    name: str
    operations: Mapping[int, Callable[..., str]]
    power: Callable[[str, str, float | None], str]
    literal: Callable[[float], str]
    read: Callable[[int, int], str]
    write: Callable[[int, int], str]
    local: Callable[[int], str]

    def operation(self, op: int, arguments: list[str], last: float | None, where: str) -> str:
        """The right-hand side; `last` is the last argument's number, `where` the function that needs it."""
        if op in (ca.OP_POW, ca.OP_CONSTPOW):
            return self.power(arguments[0], arguments[1], last)
        if op not in self.operations:
            raise CompileError(
                f"'{where}' uses CasADi operation {operation_name(op)}, which has no {self.name} equivalent "
                f"here: "
                "rewrite the expression without it"
            )
        return self.operations[op](*arguments)


def operation_name(op: int) -> str:
    """CasADi's own name of an operation."""
    return next((name for name, value in vars(ca).items() if name.startswith("OP_") and value == op), str(op))


def straight_line(
    f: ca.Function,
    name: str,
    dialect: Dialect,
    prepared: Prepared | None = None,
    parameters: int = -1,
    *,
    share_inverses: bool = False,
) -> list[AssignmentLine]:
    """`f` as assignments, one per operation. With `prepared`, what depends on argument number `parameters`
    alone is left to it. share_inverses: what is divided by one value is multiplied by its inverse, which is
    computed once; CasADi makes divisions of such products."""
    body: list[AssignmentLine] = []
    value_in_slot: dict[int, _Value] = {}
    inverse_of: dict[str, _Value] = {}

    def inverse(divisor: _Value, k: int) -> _Value:
        if divisor.text not in inverse_of:
            inverse_of[divisor.text] = _Value(f"{dialect.local(k)}_inverse")
            text = dialect.operation(ca.OP_INV, [divisor.text], None, name)
            body.append(AssignmentLine(inverse_of[divisor.text].text, True, text, (divisor.text,)))
        return inverse_of[divisor.text]

    def read(value: _Value) -> str:
        if value.local and prepared is not None:
            return prepared.place(value.local)
        return value.text

    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            number = f.instruction_constant(k)
            value_in_slot[o[0]] = _Value(dialect.literal(number), number, fixed=True)
        elif op == ca.OP_INPUT:
            value_in_slot[o[0]] = _Value(dialect.read(i[0], i[1]), fixed=i[0] == parameters)
        elif op == ca.OP_OUTPUT:
            text = read(value_in_slot[i[0]])
            body.append(AssignmentLine(dialect.write(o[0], o[1]), False, text, (text,)))
        else:
            values = [value_in_slot[slot] for slot in i]
            if prepared is not None and all(v.fixed for v in values):
                local = prepared.hoist(
                    dialect.operation(op, [v.local or v.text for v in values], values[-1].number, name)
                )
                value_in_slot[o[0]] = _Value(local, fixed=True, local=local)
                continue
            if prepared is not None and op == ca.OP_DIV and values[1].fixed and values[1].number is None:
                fixed = prepared.hoist(f"R(1) / {values[1].local or values[1].text}")
                op, values = ca.OP_MUL, [values[0], _Value(fixed, fixed=True, local=fixed)]
            elif share_inverses and op == ca.OP_INV:
                value_in_slot[o[0]] = inverse(values[0], k)
                continue
            elif share_inverses and op == ca.OP_DIV and values[1].number is None:
                op, values = ca.OP_MUL, [values[0], inverse(values[1], k)]
            arguments = tuple(read(v) for v in values)
            text = dialect.operation(op, list(arguments), values[-1].number, name)
            value_in_slot[o[0]] = _Value(dialect.local(k))
            body.append(AssignmentLine(dialect.local(k), True, text, arguments))
    return body
