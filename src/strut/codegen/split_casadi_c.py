"""Long functions in pieces: what a compiler needs for a function grows faster than its length, so generated C
is cut up.

The numbers of a function that is cut are in an array that its pieces share; what it computes is the same.
"""

from __future__ import annotations

import re

MAX_STATEMENTS = 10_000
"""Statements of a function; longer ones are cut."""
PIECE_STATEMENTS = 400
"""Statements of a piece."""
FUNCTION_HEAD = re.compile(r"static int (casadi_f\d+)\(.*\{$")
"""The first line of a function."""
DECLARATION_START = "  casadi_real a"
"""How a line begins that declares the numbers of a function."""
WORK_VARIABLE = re.compile(r"\ba(\d+)\b")
"""One of these numbers."""


def split_long_functions(source: str, long: int = MAX_STATEMENTS, piece: int = PIECE_STATEMENTS) -> str:
    """C as CasADi generates it of scalar expressions, one statement a line, with its long functions cut
    up."""
    lines, out, at = source.split("\n"), list[str](), 0
    while at < len(lines):
        head = FUNCTION_HEAD.match(lines[at])
        if head is None:
            out.append(lines[at])
            at += 1
            continue
        end = lines.index("}", at)
        out += _function(head[1], lines[at : end + 1], long, piece)
        at = end + 1
    return "\n".join(out)


def _function(name: str, lines: list[str], long: int, piece: int) -> list[str]:
    declared = [line for line in lines if line.startswith(DECLARATION_START)]
    body = [line for line in lines[1:-1] if not line.startswith(DECLARATION_START)]
    if len(body) <= long or body[-1] != "  return 0;" or not all(line.endswith(";") for line in body):
        return lines
    size = 1 + max(int(n) for line in declared for n in WORK_VARIABLE.findall(line))
    body = [WORK_VARIABLE.sub(lambda n: f"a[{int(n[1])}]", line) for line in body[:-1]]
    pieces, calls = list[str](), list[str]()
    for k in range(0, len(body), piece):
        part = f"{name}_{k // piece}"
        head = (
            f"static void {part}(const casadi_real** arg, casadi_real** restrict res, casadi_real* "
            f"restrict a) {{"
        )
        pieces += [head, *body[k : k + piece], "}", ""]
        calls.append(f"  {part}(arg, res, a);")
    return [*pieces, lines[0], f"  casadi_real a[{size}];", *calls, "  return 0;", "}"]
