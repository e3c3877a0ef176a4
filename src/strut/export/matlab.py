"""A labelled function as a MATLAB function that a person can read; Octave runs it too.

A set of parameters is a struct with a field for each; every other argument is a vector or matrix. What the
real numbers cannot answer, the root of -1, is NaN as in C, not a complex number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca

from strut.codegen import Dialect, arithmetic, straight_line
from strut.export.identifiers import comment, distinct
from strut.system import Entry, Port, PortedFunction
from strut.version import VERSION


def _call(name: str) -> Callable[..., str]:
    return lambda *a: f"{name}({', '.join(a)})"


def _real(name: str) -> Callable[..., str]:
    return lambda *a: f"strut_real({name}({', '.join(a)}))"


OPERATIONS: dict[int, Any] = arithmetic(str, lambda text: f"double({text})", "~=") | {
    ca.OP_IF_ELSE_ZERO: _call("strut_if"),
    ca.OP_SIGN: _call("sign"),
    ca.OP_SIN: _call("sin"),
    ca.OP_COS: _call("cos"),
    ca.OP_TAN: _call("tan"),
    ca.OP_ASIN: _real("asin"),
    ca.OP_ACOS: _real("acos"),
    ca.OP_ATAN: _call("atan"),
    ca.OP_ATAN2: _call("atan2"),
    ca.OP_SINH: _call("sinh"),
    ca.OP_COSH: _call("cosh"),
    ca.OP_TANH: _call("tanh"),
    ca.OP_ASINH: _call("asinh"),
    ca.OP_ACOSH: _real("acosh"),
    ca.OP_ATANH: _real("atanh"),
    ca.OP_EXP: _call("exp"),
    ca.OP_EXPM1: _call("expm1"),
    ca.OP_LOG: _real("log"),
    ca.OP_LOG1P: _real("log1p"),
    ca.OP_SQRT: _real("sqrt"),
    ca.OP_HYPOT: _call("hypot"),
    ca.OP_ERF: _call("erf"),
    ca.OP_FLOOR: _call("floor"),
    ca.OP_CEIL: _call("ceil"),
    ca.OP_FMOD: _call("rem"),
    ca.OP_REMAINDER: _call("strut_remainder"),
    ca.OP_FABS: _call("abs"),
    ca.OP_FMIN: _call("min"),
    ca.OP_FMAX: _call("max"),
    ca.OP_COPYSIGN: _call("strut_copysign"),
}

LOCAL_FUNCTIONS = {
    "strut_real": """function y = strut_real(y)
% What has no real value is NaN.
  if ~isreal(y), y = NaN; end
end
""",
    "strut_if": """function y = strut_if(condition, a)
% `a` if the condition holds, else zero, whatever `a` is.
  if condition ~= 0, y = a; else, y = 0; end
end
""",
    "strut_copysign": """function y = strut_copysign(a, b)
% The size of `a` with the sign of `b`, that of zero included.
  if b < 0 || (b == 0 && 1 / b < 0), y = -abs(a); else, y = abs(a); end
end
""",
    "strut_remainder": """function y = strut_remainder(a, b)
% a - n b, n the whole number nearest to a / b, the even one of two.
  b = abs(b);
  y = abs(rem(a, 2 * b));
  if 2 * y > b
    y = y - b;
    if 2 * y >= b, y = y - b; end
  end
  if a < 0, y = -y; end
end
""",
}
"""Local functions, written behind a function that uses them."""


def literal(value: float) -> str:
    """A number as MATLAB reads it back, without loss."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "(-Inf)"
    text = repr(float(value)).removesuffix(".0")
    return f"({text})" if text.startswith("-") else text


def _power(base: str, exponent: str, constant: float | None) -> str:
    if constant is not None and constant in (2.0, 3.0, 4.0):
        return " * ".join([base] * int(constant))
    return f"strut_real({base} ^ {exponent})"


def fields(port: Port) -> list[tuple[str, str, int]]:
    """Field, name and size of every quantity in a set of parameters."""
    sizes = port.sizes or tuple((e.name, 1) for e in port.entries)
    return [
        (word, name, size)
        for word, (name, size) in zip(distinct(name for name, _ in sizes), sizes, strict=True)
    ]


class _Names:
    """The words a function uses: its arguments and results, and a local for every entry it reads."""

    def __init__(self, f: PortedFunction) -> None:
        words = distinct(p.name for p in (*f.inputs, *f.outputs))
        self.inputs, self.outputs = words[: len(f.inputs)], words[len(f.inputs) :]
        self.f, self.read = f, dict[tuple[int, int], str]()
        labels = [
            (j, k, f"{self.inputs[j]}_{e.name}")
            for j, p in enumerate(f.inputs)
            for k, e in enumerate(p.entries)
        ]
        local_words = distinct((label for _, _, label in labels), taken=words)
        self.local = {(j, k): word for (j, k, _), word in zip(labels, local_words, strict=True)}

    def input(self, j: int, k: int) -> str:
        port, word = self.f.inputs[j], self.inputs[j]
        if not port.entries:
            return f"{word}({_place(port, k)})"
        if port.name == "t" and len(port.entries) == 1:
            return word
        return self.read.setdefault((j, k), self.local[j, k])

    def output(self, j: int, k: int) -> str:
        return f"{self.outputs[j]}({_place(self.f.outputs[j], k)})"

    def unpacking_lines(self) -> Iterator[str]:
        """A line for every entry that is read, in order."""
        for (j, k), word in sorted(self.read.items()):
            port = self.f.inputs[j]
            source = (
                f"{self.inputs[j]}({k + 1})" if port.values is None else f"{self.inputs[j]}.{_field(port, k)}"
            )
            yield f"{word} = {source};{_entry_comment(Entry('', port.entries[k].unit))}"


def _place(port: Port, k: int) -> str:
    """The index of number k, counted column by column from 0."""
    rows, columns = port.rows_columns
    return f"{k + 1}" if columns == 1 else f"{k % rows + 1}, {k // rows + 1}"


def _field(port: Port, k: int) -> str:
    for word, _, size in fields(port):
        if k < size:
            return word if size == 1 else f"{word}({k + 1})"
        k -= size
    raise IndexError(k)


def _entry_comment(entry: Entry, named: bool = True) -> str:
    """A comment behind a line: name, unit and what more there is to say."""
    parts = (
        entry.name if named else "",
        f"[{entry.unit}]" if entry.unit else "",
        f"({entry.note})" if entry.note else "",
    )
    text = " ".join(part for part in parts if part)
    return f"  % {comment(text)}" if text else ""


def body_text(f: PortedFunction, name: str) -> tuple[str, str]:
    """The signature of a function, and its body."""
    words = _Names(f)
    dialect = Dialect("MATLAB", OPERATIONS, _power, literal, words.input, words.output, lambda k: f"w{k}")
    statements = straight_line(f.function, f.name, dialect)
    entries = {words.output(j, k): e for j, p in enumerate(f.outputs) for k, e in enumerate(p.entries)}
    results = words.outputs[0] if len(words.outputs) == 1 else f"[{', '.join(words.outputs)}]"
    signature = f"{results} = {name}({', '.join(words.inputs)})"
    lines = list(words.unpacking_lines())
    for word, port in zip(words.outputs, f.outputs, strict=True):
        lines.append(f"{word} = zeros({port.rows_columns[0]}, {port.rows_columns[1]});")
    for s in statements:
        if s.local:
            lines.append(f"{s.target} = {s.expression};")
        elif s.expression != "0":
            entry = entries.get(s.target)
            remark = "" if entry is None else _entry_comment(Entry(entry.name, entry.unit))
            lines.append(f"{s.target} = {s.expression};{remark}")
    return signature, "\n".join(f"  {line}" for line in lines)


def local_functions(text: str) -> str:
    """The local functions that a text uses."""
    return "".join(f"\n{code}" for name, code in LOCAL_FUNCTIONS.items() if re.search(rf"\b{name}\(", text))


def function_text(f: PortedFunction, name: str, parameters: str = "") -> str:
    """The function file NAME.m, equivalent to `f`; `parameters` is the function that gives default
    parameters."""
    signature, body = body_text(f, name)
    head = header(name, f.note, [signature, *_ports_text(f, parameters), "", f"{f.operations} operations."])
    return f"function {signature}\n{head}{body}\nend\n{local_functions(body)}"


def header(name: str, note: str, lines: list[str]) -> str:
    """The comment that MATLAB's help shows."""
    text = [f"%{name.upper()}  {comment(note)}", "%", *(f"%   {comment(line)}".rstrip() for line in lines)]
    return "\n".join([*text, f"%   Written by strut {VERSION}. Regenerate rather than edit.", "", ""])


def _ports_text(f: PortedFunction, parameters: str) -> Iterator[str]:
    words = _Names(f)
    for title, names, ports in (("Arguments", words.inputs, f.inputs), ("Results", words.outputs, f.outputs)):
        yield ""
        yield title
        for word, port in zip(names, ports, strict=True):
            rows, columns = port.rows_columns
            if port.values is None:
                yield (
                    f"  {word}  {port.note}, {rows} x {columns}"
                    if port.name != "t"
                    else f"  {word}  {port.note} [s]"
                )
            else:
                yield f"  {word}  {port.note}, a struct" + (
                    f" as {parameters}() gives it" if parameters else ""
                )
            if port.name != "t":
                for k, entry in enumerate(port.entries):
                    place = f"{k + 1}" if port.values is None else _field(port, k)
                    remark = _entry_comment(entry, named=place != entry.name)
                    yield f"      {place}{remark.replace('  %', '')}"


def parameters_text(port: Port, name: str) -> str:
    """The function file that returns the default parameters as a struct."""
    assert port.values is not None
    lines, at = [], 0
    for word, label, size in fields(port):
        values = [literal(v) for v in port.values[at : at + size]]
        entry = Entry(label, port.entries[at].unit, port.entries[at].note) if size else Entry(label)
        value = values[0] if size == 1 else f"[{'; '.join(values)}]"
        lines.append(f"  p.{word} = {value};{_entry_comment(entry, named=word != label)}")
        at += size
    head = header(name, "Default parameters, a struct.", [f"p = {name}()", ""])
    return f"function p = {name}()\n{head}" + "\n".join(["  p = struct();", *lines]) + "\nend\n"
