"""A CasADi `SX` function as plain C.

Written here rather than taken from CasADi's generator because the text must compile as C99 with every warning
on, as CUDA device code, in float or double, and with the user's own sin and cos. Names in the text are ours;
nothing a user wrote reaches it but numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import casadi as ca

from strut.codegen.c_tables import literal
from strut.codegen.find_loops import roll_loops
from strut.codegen.instructions import AssignmentLine, Dialect, arithmetic, straight_line
from strut.codegen.lifetimes import shorten_lifetimes
from strut.codegen.prepare import Prepared

SCALARS = {"t"}
"""Arguments that are one number, passed by value."""


def _macro(name: str) -> Callable[..., str]:
    return lambda *a: f"STRUT_{name}({', '.join(a)})"


OPERATIONS: dict[int, Any] = (
    arithmetic(lambda n: f"R({n})", lambda text: f"(strut_real)({text})", "!=")
    | {
        ca.OP_SIGN: lambda a: f"strut_sign({a})",
        ca.OP_INV: lambda a: f"STRUT_INVERSE({a})",
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
            "IF_ELSE_ZERO",
        )
    }
)


def _power(base: str, exponent: str, constant: float | None) -> str:
    """Small whole and half powers by multiplication and square root: pow() costs ten times as much."""
    if constant is not None and constant in (2.0, 3.0, 4.0):
        return " * ".join([base] * int(constant))
    if constant in (0.5, 1.5, -0.5, -1.5):
        root = f"STRUT_SQRT({base})" if abs(constant) == 0.5 else f"({base} * STRUT_SQRT({base}))"
        return root if constant > 0 else f"STRUT_INVERSE({root})"
    return f"STRUT_POW({base}, {exponent})"


def signature(name: str, inputs: list[str], outputs: list[str]) -> str:
    """The first line of a C function: numbers in `SCALARS` by value, other arguments and results by
    pointer."""
    arguments = [f"strut_real {n}" if n in SCALARS else f"const strut_real *{n}" for n in inputs]
    arguments += [f"strut_real *STRUT_RESTRICT {n}" for n in outputs]
    return f"STRUT_FN void STRUT_({name})({', '.join(arguments)})"


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


def emit(
    f: ca.Function,
    name: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    prepared: Prepared | None = None,
    *,
    for_many: bool = False,
) -> str:
    """The C function `name`, equivalent to `f`; outputs are dense, Jacobians column by column. With
    `prepared`, what depends on parameters alone is left to it. for_many: it is for the lanes of a core or the
    threads of a card, where divisions and values that wait for their use cost most; its rounding may differ
    from that of other texts."""
    written = [f"out_{n}" for n in outputs]
    c = c_dialect(inputs, outputs)
    looped = roll_loops(f, name, c, inputs, prepared)
    body, size, tables = looped or (
        straight_line(
            f, name, c, prepared, inputs.index("p") if "p" in inputs else -1, share_inverses=for_many
        ),
        0,
        "",
    )
    if for_many and not looped:
        body = shorten_lifetimes(body)
    if len(body) <= MAX_STATEMENTS:
        shared = [f"strut_real w[{size}];"] if size else []
        return tables + function_text(name, inputs, written, [*shared, *(_line(s) for s in body)])
    return tables + _in_parts(name, inputs, written, body, size)


def empty_function(name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> str:
    """The C function `name`, which has no results."""
    return function_text(name, inputs, [f"out_{n}" for n in outputs], [])


def _line(s: AssignmentLine) -> str:
    if not s.target:
        return s.expression
    return f"{'const strut_real ' if s.local else ''}{s.target} = {s.expression};"


MAX_STATEMENTS = 6000
"""Statements of one C function. Longer ones are split: a compiler needs far more than twice the time for
twice as much."""
PART_STATEMENTS = 4000
"""Statements of a part of a function that is split. Measured: COMAN compiles in half the time and a chain of
50 in a third, at the speed of unsplit code; smaller parts run slower."""


def function_text(
    name: str,
    inputs: tuple[str, ...],
    written: list[str],
    lines: list[str],
    *,
    more: str = "",
    kind: str = "STRUT_FN",
) -> str:
    """A whole C function from the lines of its body.

    written: names of its results. more: further arguments, as they stand behind the others. kind: the macro
    of its linkage. Arguments that the body does not use are marked, so that no compiler warns.
    """
    text = "\n".join(f"    {line}" for line in lines)
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    unused = [f"    (void){n};" for n in (*inputs, *written, *(["w"] if more else [])) if n not in words]
    head = signature(name, list(inputs), written).replace("STRUT_FN", kind, 1)
    return (head[:-1] + more + ")" if more else head) + "\n{\n" + "\n".join([text, *unused]) + "\n}\n"


def _in_parts(
    name: str, inputs: tuple[str, ...], written: list[str], body: list[AssignmentLine], size: int = 0
) -> str:
    """A long function as several, which hand on what later ones need in an array behind `size` places that
    they share."""
    parts = [body[k : k + PART_STATEMENTS] for k in range(0, len(body), PART_STATEMENTS)]
    home = {s.target: k for k, part in enumerate(parts) for s in part if s.local}
    needed = [{r for s in part for r in s.reads if home.get(r, k) != k} for k, part in enumerate(parts)]
    slots = {
        local: size + k for k, local in enumerate(dict.fromkeys(r for reads in needed for r in sorted(reads)))
    }
    text = ""
    for k, part in enumerate(parts):
        loads = [f"const strut_real {r} = w[{slots[r]}];" for r in sorted(needed[k])]
        stores = [f"w[{slots[s.target]}] = {s.target};" for s in part if s.local and s.target in slots]
        text += (
            function_text(
                f"{name}_part{k}",
                inputs,
                written,
                [*loads, *(_line(s) for s in part), *stores],
                more=", strut_real *w",
                kind="STRUT_PART",
            )
            + "\n"
        )
    call = ", ".join([*inputs, *written, "w"])
    lines = [
        f"strut_real w[{max(size + len(slots), 1)}];",
        *(f"STRUT_({name}_part{k})({call});" for k in range(len(parts))),
    ]
    return text + function_text(name, inputs, written, lines)
