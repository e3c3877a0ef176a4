"""A CasADi `SX` function as plain C.

Written here rather than taken from CasADi's generator because the text must compile as C99 with every warning on, as
CUDA device code, in float or double, and with the user's own sin and cos. Names in the text are ours; nothing a user
wrote reaches it but numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from strut.errors import CompileError
from strut.system.tables import Tables, literal

SCALARS = {"t"}


def _macro(name: str) -> Callable[..., str]:
    return lambda *a: f"STRUT_{name}({', '.join(a)})"


def arithmetic(number: Callable[[int], str], truth: Callable[[str], str], unequal: str) -> dict[int, Any]:
    """What languages write alike: sums, products, comparisons. number: writes a whole number; truth: makes a number of a
    condition; unequal: the sign between what differs."""
    zero, one, two = number(0), number(1), number(2)

    def infix(symbol: str) -> Callable[..., str]:
        return lambda a, b: f"{a} {symbol} {b}"

    def compared(symbol: str) -> Callable[..., str]:
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
        ca.OP_LT: compared("<"),
        ca.OP_LE: compared("<="),
        ca.OP_EQ: compared("=="),
        ca.OP_NE: compared(unequal),
        ca.OP_NOT: lambda a: truth(f"{a} == {zero}"),
        ca.OP_AND: lambda a, b: truth(f"{a} {unequal} {zero} && {b} {unequal} {zero}"),
        ca.OP_OR: lambda a, b: truth(f"{a} {unequal} {zero} || {b} {unequal} {zero}"),
        ca.OP_LIFT: lambda a, b: a,
    }


OPERATIONS: dict[int, Any] = (
    arithmetic(lambda n: f"R({n})", lambda text: f"(strut_real)({text})", "!=")
    | {
        ca.OP_IF_ELSE_ZERO: lambda a, b: f"{a} != R(0) ? {b} : R(0)",
        ca.OP_SIGN: lambda a: f"strut_sign({a})",
    }
    | {
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
)


def operation_count(f: ca.Function) -> int:
    """Arithmetic operations and function calls; reading inputs and writing outputs is free."""
    free = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ASSIGN}
    return sum(f.instruction_id(k) not in free for k in range(f.n_instructions()))


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


class Prepared:
    """What depends on parameters alone, computed once per run and kept behind them: p[NP], p[NP + 1], ...

    Equal expressions, of whatever function, are one entry.
    """

    def __init__(self, parameters: int) -> None:
        self.parameters = parameters
        self.statements: dict[str, str] = {}  # expression -> local name
        self.slots: dict[str, int] = {}  # local name -> place behind the parameters
        self.count = 0  # places behind the parameters
        self.loops: dict[str, int] = {}  # loop -> its first place
        self.tables = Tables("prepare")

    def hoist(self, text: str) -> str:
        """The local of `prepare` that holds `text`."""
        return self.statements.setdefault(text, f"q{len(self.statements)}")

    def place(self, local: str) -> str:
        """How other functions read a local of `prepare`."""
        return f"p[{self.slot(local)}]"

    def slot(self, local: str) -> int:
        """Where a local of `prepare` is kept, counted from the first parameter."""
        if local not in self.slots:
            self.slots[local] = self.count
            self.count += 1
        return self.parameters + self.slots[local]

    def block(self, text: str, size: int) -> int:
        """Where the first of `size` values is kept, of which the k-th is `text`."""
        key = f"for (int k = 0; k < {size}; k++) p[FIRST + k] = {text};"
        if key not in self.loops:
            self.loops[key] = self.parameters + self.count
            self.count += size
        return self.loops[key]

    def text(self) -> str:
        """The C function `prepare`."""
        body = [f"    const strut_real {name} = {expression};" for expression, name in self.statements.items()]
        body += [f"    p[{self.parameters + slot}] = {name};" for name, slot in self.slots.items()]
        body += [f"    {text.replace('FIRST', str(first))}" for text, first in self.loops.items()]
        body = body or ["    (void)p;"]
        return self.tables.text() + "STRUT_FN void STRUT_(prepare)(strut_real *p)\n{\n" + "\n".join(body) + "\n}\n"


@dataclass(frozen=True)
class _Value:
    """What stands for one of CasADi's work slots: its text, its number if it is a literal, and whether it depends on
    parameters alone (then `local` is its name in `prepare`, or nothing for a bare parameter)."""

    text: str
    number: float | None = None
    fixed: bool = False
    local: str = ""


@dataclass(frozen=True)
class Statement:
    """One assignment: its target, whether that is a new local, the right-hand side, and what it reads."""

    target: str
    local: bool
    expression: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Dialect:
    """How a language writes what CasADi computes: operations, powers (of base, exponent and the exponent's number),
    numbers, entry k of argument j, entry k of result j, and the local of instruction k."""

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
                f"'{where}' uses CasADi operation {operation_name(op)}, which has no {self.name} equivalent here: "
                "rewrite the expression without it"
            )
        return self.operations[op](*arguments)


def operation_name(op: int) -> str:
    """CasADi's own name of an operation."""
    return next((name for name, value in vars(ca).items() if name.startswith("OP_") and value == op), str(op))


def straight_line(f: ca.Function, name: str, dialect: Dialect, prepared: Prepared | None = None, parameters: int = -1) -> list[Statement]:
    """`f` as assignments, one per operation. With `prepared`, what depends on argument number `parameters` alone is left to it."""
    body: list[Statement] = []
    held: dict[int, _Value] = {}

    def read(value: _Value) -> str:
        if value.local and prepared is not None:
            return prepared.place(value.local)
        return value.text

    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            number = f.instruction_constant(k)
            held[o[0]] = _Value(dialect.literal(number), number, fixed=True)
        elif op == ca.OP_INPUT:
            held[o[0]] = _Value(dialect.read(i[0], i[1]), fixed=i[0] == parameters)
        elif op == ca.OP_OUTPUT:
            text = read(held[i[0]])
            body.append(Statement(dialect.write(o[0], o[1]), False, text, (text,)))
        else:
            values = [held[slot] for slot in i]
            if prepared is not None and all(v.fixed for v in values):
                local = prepared.hoist(dialect.operation(op, [v.local or v.text for v in values], values[-1].number, name))
                held[o[0]] = _Value(local, fixed=True, local=local)
                continue
            if prepared is not None and op == ca.OP_DIV and values[1].fixed and values[1].number is None:
                inverse = prepared.hoist(f"R(1) / {values[1].local or values[1].text}")
                op, values = ca.OP_MUL, [values[0], _Value(inverse, fixed=True, local=inverse)]
            arguments = tuple(read(v) for v in values)
            text = dialect.operation(op, list(arguments), values[-1].number, name)
            held[o[0]] = _Value(dialect.local(k))
            body.append(Statement(dialect.local(k), True, text, arguments))
    return body


def c_dialect(inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Dialect:
    """C, for a function of these arguments and results."""
    return Dialect(
        "C",
        OPERATIONS,
        _power,
        literal,
        read=lambda j, k: inputs[j] if inputs[j] in SCALARS else f"{inputs[j]}[{k}]",
        write=lambda j, k: f"out_{outputs[j]}[{k}]",
        local=lambda k: f"a{k}",
    )


def emit(f: ca.Function, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...], prepared: Prepared | None = None) -> str:
    """The C function `name`, equivalent to `f`; outputs are dense, Jacobians column by column. With `prepared`, what
    depends on parameters alone is left to it."""
    written = [f"out_{n}" for n in outputs]
    c = c_dialect(inputs, outputs)
    from strut.system.rolled import rolled

    looped = rolled(f, name, c, inputs, prepared)
    body, size, tables = looped or (straight_line(f, name, c, prepared, inputs.index("p") if "p" in inputs else -1), 0, "")
    if len(body) <= LONGEST:
        shared = [f"strut_real w[{size}];"] if size else []
        return tables + function_text(name, inputs, written, [*shared, *(_line(s) for s in body)])
    return tables + _in_parts(name, inputs, written, body, size)


def nothing(name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> str:
    """The C function `name`, which has no results."""
    return function_text(name, inputs, [f"out_{n}" for n in outputs], [])


def _line(s: Statement) -> str:
    if not s.target:
        return s.expression
    return f"{'const strut_real ' if s.local else ''}{s.target} = {s.expression};"


LONGEST = (
    6000  # statements in one C function; longer ones are split, because a compiler needs far more than twice the time for twice as much
)
PART = (
    4000  # measured: COMAN compiles in half the time and a chain of 50 in a third, at the speed of unsplit code; smaller parts run slower
)


def function_text(name: str, inputs: tuple[str, ...], written: list[str], lines: list[str], more: str = "", kind: str = "STRUT_FN") -> str:
    text = "\n".join(f"    {line}" for line in lines)
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    unused = [f"    (void){n};" for n in (*inputs, *written, *(["w"] if more else [])) if n not in words]
    head = signature(name, list(inputs), written).replace("STRUT_FN", kind, 1)
    return (head[:-1] + more + ")" if more else head) + "\n{\n" + "\n".join([text, *unused]) + "\n}\n"


def _in_parts(name: str, inputs: tuple[str, ...], written: list[str], body: list[Statement], size: int = 0) -> str:
    """A long function as several, which hand on what later ones need in an array behind `size` places that they share."""
    parts = [body[k : k + PART] for k in range(0, len(body), PART)]
    home = {s.target: k for k, part in enumerate(parts) for s in part if s.local}
    needed = [{r for s in part for r in s.reads if home.get(r, k) != k} for k, part in enumerate(parts)]
    slots = {local: size + k for k, local in enumerate(dict.fromkeys(r for reads in needed for r in sorted(reads)))}
    text = ""
    for k, part in enumerate(parts):
        taken = [f"const strut_real {r} = w[{slots[r]}];" for r in sorted(needed[k])]
        given = [f"w[{slots[s.target]}] = {s.target};" for s in part if s.local and s.target in slots]
        text += (
            function_text(f"{name}_part{k}", inputs, written, [*taken, *(_line(s) for s in part), *given], ", strut_real *w", "STRUT_PART")
            + "\n"
        )
    call = ", ".join([*inputs, *written, "w"])
    lines = [f"strut_real w[{max(size + len(slots), 1)}];", *(f"STRUT_({name}_part{k})({call});" for k in range(len(parts)))]
    return text + function_text(name, inputs, written, lines)
