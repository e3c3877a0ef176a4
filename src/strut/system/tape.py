"""Expressions as arrays of numbers: every operation, what it works on, and the constants; for files.

CasADi's own serialisation may name functions of other libraries, and its reader trusts what it reads. A tape
holds sums, products and the like alone, and is checked entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError

INPUT, CONSTANT = "input", "constant"
"""Nodes of a tape that are no operation."""
OPERATIONS = {
    name.removeprefix("OP_").lower(): getattr(ca, name)
    for name in (
        *("OP_ASSIGN", "OP_ADD", "OP_SUB", "OP_MUL", "OP_DIV", "OP_NEG", "OP_EXP", "OP_LOG", "OP_POW"),
        *("OP_CONSTPOW", "OP_SQRT", "OP_SQ", "OP_TWICE", "OP_SIN", "OP_COS", "OP_TAN", "OP_ASIN"),
        *("OP_ACOS", "OP_ATAN", "OP_LT", "OP_LE", "OP_EQ", "OP_NE", "OP_NOT", "OP_AND", "OP_OR"),
        *("OP_FLOOR", "OP_CEIL", "OP_FMOD", "OP_FABS", "OP_SIGN", "OP_COPYSIGN", "OP_IF_ELSE_ZERO"),
        *("OP_ERF", "OP_FMIN", "OP_FMAX", "OP_INV", "OP_SINH", "OP_COSH", "OP_TANH", "OP_ASINH"),
        *("OP_ACOSH", "OP_ATANH", "OP_ATAN2", "OP_HYPOT", "OP_LOG1P", "OP_EXPM1", "OP_LIFT"),
    )
    if hasattr(ca, name)
}
"""Operations that a tape may have, by name: those of CasADi whose arguments are numbers."""
BINARY = frozenset(
    (
        *("add", "sub", "mul", "div", "pow", "constpow", "lt", "le", "eq", "ne", "and", "or"),
        *("fmod", "copysign", "if_else_zero", "fmin", "fmax", "atan2", "hypot", "lift"),
    )
)
"""Those of them that have two arguments; the others have one."""
WORDS = (INPUT, CONSTANT, *OPERATIONS)
"""What a node can be, by its number on a tape written by this version."""

MAX_SIDE = 10_000_000
"""Rows or columns of an expression, at most; more are declared only to exhaust memory."""


@checked
@dataclass(frozen=True, eq=False)
class ExpressionTape:
    """Expressions of `inputs` symbols, as arrays.

    words: what a number in `nodes` stands for. nodes: a row each: number of its word, first and second
        argument; arguments are earlier rows, of an input the number of its symbol, of a constant the place in
        `constants`; 0 where there is none.
    shapes: of every expression, rows and columns and how many entries are not zero by structure. places: of
        these entries, row and column and the node that is the value.
    """

    words: tuple[str, ...]
    nodes: np.ndarray
    constants: np.ndarray
    shapes: np.ndarray
    places: np.ndarray
    inputs: int

    def same(self, other: ExpressionTape) -> bool:
        """Say whether both compute the same numbers by the same operations."""
        return self.words == other.words and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name == "constants")
            for name in ("nodes", "constants", "shapes", "places")
        )


def record_tape(symbols: Sequence[ca.SX], expressions: Sequence[ca.SX]) -> ExpressionTape:
    """Return expressions of symbols, single ones, as a tape. Raises ModelError for one that a tape cannot
    hold: one that calls a function."""
    f = ca.Function("expressions", [ca.vertcat(*symbols, ca.SX(0, 1))], list(expressions))
    number = {OPERATIONS[word]: k for k, word in enumerate(WORDS) if word in OPERATIONS}
    nodes: list[tuple[int, int, int]] = []
    constants: list[float] = []
    node_in_slot: dict[int, int] = {}
    results: list[list[int]] = [[0] * f.nnz_out(k) for k in range(f.n_out())]
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            results[o[0]][o[1]] = node_in_slot[i[0]]
            continue
        if op == ca.OP_CONST:
            row = (1, len(constants), 0)
            constants.append(float(f.instruction_constant(k)))
        elif op == ca.OP_INPUT:
            row = (0, i[1], 0)
        elif op in number:
            arguments = [node_in_slot[slot] for slot in i]
            row = (number[op], arguments[0], arguments[1] if len(arguments) > 1 else 0)
        else:
            raise ModelError(
                f"an expression uses operation {op} of CasADi, which no file can hold: rewrite it with "
                f"{', '.join(sorted(OPERATIONS))}"
            )
        node_in_slot[o[0]] = len(nodes)
        nodes.append(row)
    shapes = [(*e.shape, len(values)) for e, values in zip(expressions, results, strict=True)]
    places = [
        place
        for k, values in enumerate(results)
        for place in zip(*f.sparsity_out(k).get_triplet(), values, strict=True)
    ]
    return ExpressionTape(
        words=WORDS,
        nodes=np.array(nodes, dtype=np.int64).reshape(-1, 3),
        constants=np.array(constants),
        shapes=np.array(shapes, dtype=np.int64).reshape(-1, 3),
        places=np.array(places, dtype=np.int64).reshape(-1, 3),
        inputs=len(symbols),
    )


def play_tape(tape: ExpressionTape, symbols: Sequence[ca.SX]) -> list[ca.SX]:
    """Return the expressions of a tape, of these symbols. Raises ValueError for a tape that is damaged."""
    values: list[ca.SX] = []
    for k, (word_number, a, b) in enumerate(tape.nodes.tolist()):
        word = tape.words[word_number]
        if word == INPUT:
            values.append(_entry(symbols, a, len(symbols)))
        elif word == CONSTANT:
            values.append(ca.SX(float(_entry(tape.constants, a, len(tape.constants)))))
        elif word not in OPERATIONS:
            raise ValueError(f"an expression has the operation '{word}', which this version does not know")
        elif word in BINARY:
            values.append(ca.SX.binary(OPERATIONS[word], _entry(values, a, k), _entry(values, b, k)))
        else:
            values.append(ca.SX.unary(OPERATIONS[word], _entry(values, a, k)))
    expressions, at = [], 0
    for rows, columns, count in tape.shapes.tolist():
        sides_fit = 0 <= rows <= MAX_SIDE and 0 <= columns <= MAX_SIDE
        if not (sides_fit and 0 <= count <= len(tape.places) - at):
            raise ValueError(f"an expression has {rows} rows, {columns} columns and {count} entries")
        entries = tape.places[at : at + count].tolist()
        at += count
        pattern = ca.Sparsity.triplet(rows, columns, [e[0] for e in entries], [e[1] for e in entries])
        nonzeros = ca.vertcat(*[_entry(values, e[2], len(values)) for e in entries], ca.SX(0, 1))
        expressions.append(ca.SX(pattern, nonzeros))
    return expressions


def _entry(items: Sequence[ca.SX] | np.ndarray, k: int, count: int) -> ca.SX:
    """Return item k of the first `count`, or raise ValueError."""
    if not 0 <= k < count:
        raise ValueError(f"an expression reads entry {k} of {count}")
    return items[k]


__all__ = ["ExpressionTape", "play_tape", "record_tape"]
