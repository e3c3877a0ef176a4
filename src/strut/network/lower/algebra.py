"""The operators and functions of the language on matrices of fixed shape (CasADi `SX`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from strut.network.lower.whole_numbers import whole
from strut.network.text.errors import Mistake

Matrix = ca.SX
BinaryOperation = Callable[[Matrix, Matrix], Matrix]


def shape_text(m: Matrix) -> str:
    """The shape of a matrix as error messages write it, such as '2×3'."""
    return f"{m.shape[0]}×{m.shape[1]}"


def flat(m: Matrix) -> Matrix:
    """The elements of a matrix as one column, column by column."""
    return ca.reshape(m, m.numel(), 1)


def broadcast(a: Matrix, b: Matrix, what: str) -> tuple[Matrix, Matrix]:
    """Bring two operands to one shape (broadcasting).

    A scalar goes with anything, a row or a column with a matrix that it fits, and a matrix with one that has
    as many elements. what: the operator, for the message. Raises `Mistake` where the shapes do not fit.
    """
    if a.shape == b.shape or a.numel() == 1 or b.numel() == 1:
        if a.numel() == 1 and b.numel() != 1:
            a = ca.repmat(a, *b.shape)
        elif b.numel() == 1 and a.numel() != 1:
            b = ca.repmat(b, *a.shape)
        return a, b
    for one, other, swapped in ((a, b, False), (b, a, True)):
        (r, c), (n, m) = one.shape, other.shape
        wide = (
            ca.repmat(one, n, 1) if r == 1 and c == m else ca.repmat(one, 1, m) if c == 1 and r == n else None
        )
        if wide is not None:
            return (b, wide)[::-1] if not swapped else (a, wide)
    if a.numel() == b.numel():
        return ca.reshape(a, *b.shape), b
    raise Mistake(
        f"the shapes of '{what}' do not fit: {shape_text(a)} on the left, {shape_text(b)} on the right"
    )


def _elementwise(operation: BinaryOperation, what: str) -> BinaryOperation:
    """An operation element by element, of operands that are broadcast first."""

    def apply(a: Matrix, b: Matrix) -> Matrix:
        return operation(*broadcast(a, b, what))

    return apply


def times(a: Matrix, b: Matrix) -> Matrix:
    """Multiply matrices where the inner sizes agree, else element by element."""
    return (
        ca.mtimes(a, b)
        if a.shape[1] == b.shape[0] and a.numel() != 1 and b.numel() != 1
        else _elementwise(lambda x, y: x * y, "*")(a, b)
    )


def modulo(a: Matrix, b: Matrix) -> Matrix:
    """The remainder of a divided by b, never negative."""
    rest = ca.fmod(a, b)
    return rest + (rest < 0) * ca.fabs(b)


def cycle(x: Matrix, low: Matrix, high: Matrix) -> Matrix:
    """Wrap x around into the interval from low to high."""
    span = high - low
    return ca.if_else(
        x > high, low + ca.fmod(x - low, span), ca.if_else(x < low, high - ca.fmod(low - x, span), x)
    )


BINARY: dict[str, BinaryOperation] = {
    "+": _elementwise(lambda a, b: a + b, "+"),
    "-": _elementwise(lambda a, b: a - b, "-"),
    "*": times,
    ".*": _elementwise(lambda a, b: a * b, ".*"),
    "/": _elementwise(lambda a, b: a / b, "/"),
    "%": _elementwise(modulo, "%"),
    "^": _elementwise(lambda a, b: a**b, "^"),
    "<": _elementwise(lambda a, b: a < b, "<"),
    ">": _elementwise(lambda a, b: a > b, ">"),
    "<=": _elementwise(lambda a, b: a <= b, "<="),
    ">=": _elementwise(lambda a, b: a >= b, ">="),
    "==": _elementwise(lambda a, b: a == b, "=="),
    "!=": _elementwise(lambda a, b: a != b, "!="),
    "&&": _elementwise(lambda a, b: ca.logic_and(a != 0, b != 0), "&&"),
    "||": _elementwise(lambda a, b: ca.logic_or(a != 0, b != 0), "||"),
}
"""Operators between two operands, by the way they are written."""


def ternary(condition: Matrix, yes: Matrix, no: Matrix) -> Matrix:
    """Choose `yes` where a condition is not 0, else `no`. Raises `Mistake` where their shapes differ."""
    if condition.numel() != 1:
        raise Mistake(f"the condition of '? :' is {shape_text(condition)}: a single number is needed")
    if yes.shape != no.shape:
        raise Mistake(f"both sides of '? :' need one shape: they are {shape_text(yes)} and {shape_text(no)}")
    if condition.is_constant():
        return yes if float(condition) != 0 else no
    return ca.if_else(condition != 0, yes, no)


def stack(rows: list[list[Matrix]]) -> Matrix:
    """Put blocks together to one matrix, row by row. Raises `Mistake` where their sizes do not fit."""
    row_blocks = []
    for row in rows:
        heights = {m.shape[0] for m in row}
        if len(heights) > 1:
            raise Mistake(
                f"in a row of a matrix stand {' and '.join(shape_text(m) for m in row)}: they need "
                f"equally many rows"
            )
        row_blocks.append(ca.horzcat(*row))
    widths = {m.shape[1] for m in row_blocks}
    if len(widths) > 1:
        raise Mistake(
            f"the rows of a matrix are {' and '.join(shape_text(m) for m in row_blocks)}: "
            "they need equally many columns"
        )
    return ca.vertcat(*row_blocks) if row_blocks else ca.SX(0, 0)


# ---- functions ----


def sign(x: Matrix) -> Matrix:
    """1 where x is 0 or positive, else -1: the sign of the original, which has no 0."""
    return 2 * (x >= 0) - 1


def round_half_away(x: Matrix) -> Matrix:
    """Round to the nearest whole number, halves away from zero."""
    return sign(x) * ca.floor(ca.fabs(x) + 0.5)


def log10(x: Matrix) -> Matrix:
    """The logarithm to base 10, exact at powers of ten. There it is corrected by what rounding left, taken as
    a constant (whole steps of 2⁻⁷⁰), so that the derivative is that of the logarithm everywhere."""
    about = ca.log10(x)
    power = ca.floor(about + 0.5)
    exact = ca.logic_and(x > 0, ca.fabs(ca.power(10.0, power) - x) <= 2.0**-52 * x)
    return about + ca.if_else(exact, ca.floor((power - about) * 2.0**70) * 2.0**-70, 0)


UNARY: dict[str, Callable[[Matrix], Matrix]] = {
    **{
        n: getattr(ca, n)
        for n in (
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "sqrt",
            "exp",
            "erf",
            "floor",
            "ceil",
        )
    },
    **{n: getattr(ca, n) for n in ("asinh", "acosh", "atanh")},
    "√": ca.sqrt,
    "ln": ca.log,
    "log10": log10,
    "abs": ca.fabs,
    "invsqrt": lambda x: 1 / ca.sqrt(x),
    "exp2": lambda x: 2**x,
    "sign": sign,
    "round": round_half_away,
}
"""Functions of one argument, element by element, by their names in the language."""
BINARY_FUNCTIONS: dict[str, BinaryOperation] = {
    "atan2": _elementwise(ca.atan2, "atan2"),
    "pow": _elementwise(lambda a, b: a**b, "pow"),
    "csign": _elementwise(lambda x, y: ca.fabs(x) * sign(y), "csign"),
}
"""Functions of two arguments, element by element, by their names in the language."""


def _fold(operation: BinaryOperation) -> Callable[[Matrix], Matrix]:
    """An operation over all elements of a matrix, pair by pair, so that the expression is not deep."""

    def fold(m: Matrix) -> Matrix:
        if m.numel() == 0:
            raise Mistake("an empty matrix has no smallest, largest or product")
        elements = ca.vertsplit(ca.densify(flat(m)))
        while len(elements) > 1:
            elements = [
                operation(*elements[i : i + 2]) if i + 1 < len(elements) else elements[i]
                for i in range(0, len(elements), 2)
            ]
        return elements[0]

    return fold


REDUCERS: dict[str, tuple[Callable[[Matrix], Matrix], BinaryOperation]] = {
    "min": (_fold(ca.fmin), ca.fmin),
    "max": (_fold(ca.fmax), ca.fmax),
    "sum": (lambda m: ca.sum1(flat(m)), lambda a, b: a + b),
    "product": (_fold(lambda a, b: a * b), lambda a, b: a * b),
    "hypot": (lambda m: ca.sqrt(ca.sumsqr(m)), ca.hypot),
    "sqsum": (ca.sumsqr, lambda a, b: a * a + b * b),
}
"""Functions of all elements of one matrix, or of two matrices element by element."""
REDUCERS |= {"∑": REDUCERS["sum"], "∏": REDUCERS["product"]}


def call(name: str, arguments: list[Matrix], constant: Callable[[Matrix], float]) -> Matrix | None:
    """Apply a function of the language; None if there is none of that name.

    constant: gives the number of an expression that must be known beforehand. Raises `Mistake` where the
    number of arguments or their shapes do not fit.
    """
    n = len(arguments)

    def check_count(*counts: int) -> None:
        if n not in counts:
            raise Mistake(f"{name} takes {' or '.join(map(str, counts))} argument(s), not {n}")

    if name in UNARY:
        check_count(1)
        return UNARY[name](arguments[0])
    if name in BINARY_FUNCTIONS:
        check_count(2)
        return BINARY_FUNCTIONS[name](*arguments)
    if name in REDUCERS:
        check_count(1, 2)
        alone, together = REDUCERS[name]
        return alone(arguments[0]) if n == 1 else _elementwise(together, name)(*arguments)
    if name in ("lerp", "clip", "cycle"):
        check_count(3)
        x, a, b = arguments
        x, a = broadcast(x, a, name)
        x, b = broadcast(x, b, name)
        a, x = broadcast(a, x, name)
        if name == "lerp":
            return a + (b - a) * x
        return ca.fmin(ca.fmax(x, a), b) if name == "clip" else cycle(x, a, b)
    from strut.network.lower import linear_algebra as linear

    return linear.call(name, arguments, constant, check_count)


# ---- indices ----


def index(
    m: Matrix, at: list[Matrix | tuple[int, int | None, int] | None], constant: Callable[[Matrix], float]
) -> Matrix:
    """Select elements of a matrix: `m[i]` (column by column) or `m[r, c]`.

    at: one index or two, each a number, a list, a range (begin, end, step) or everything (None). Two lists of
    one shape are pairs; a column of rows and a row of columns are a block. constant: gives the number of an
    index. Raises `Mistake` where an index is outside.
    """
    if len(at) == 1:
        return _linear_index(m, at[0], constant)
    if len(at) != 2:
        raise Mistake(f"a matrix has rows and columns: {len(at)} indices are too many")
    rows, columns = at
    lists = [isinstance(i, ca.SX) and i.numel() != 1 for i in at]
    if all(lists):
        assert isinstance(rows, ca.SX)
        assert isinstance(columns, ca.SX)
        if rows.shape[1] == 1 and columns.shape[0] == 1:
            return m[_positions(rows, m.shape[0], constant), _positions(columns, m.shape[1], constant)]
        if rows.numel() != columns.numel():
            raise Mistake(
                f"an index has {rows.numel()} rows and {columns.numel()} columns: pairs are needed, or a "
                f"column [0; 1] and a row [0, 1]"
            )
        picked = [
            m[_check_index(r, m.shape[0]), _check_index(c, m.shape[1])]
            for r, c in zip(_numbers(rows, constant), _numbers(columns, constant), strict=True)
        ]
        return ca.reshape(ca.vertcat(*picked), *rows.shape)
    dynamic = [isinstance(i, ca.SX) and i.numel() == 1 and not i.is_constant() for i in at]
    if (
        any(dynamic)
        and isinstance(rows, ca.SX)
        and isinstance(columns, ca.SX)
        and rows.numel() == columns.numel() == 1
    ):
        return _linear_index(m, rows + columns * m.shape[0], constant)
    r = _positions(rows, m.shape[0], constant)
    c = _positions(columns, m.shape[1], constant)
    return m[r, c]


def _linear_index(m: Matrix, at: Any, constant: Callable[[Matrix], float]) -> Matrix:
    """Select elements by one index, counted column by column; a number that changes chooses while running."""
    if at is None:
        return ca.reshape(m, 1, m.numel())
    if isinstance(at, tuple):
        elements_at = flat(m)[_positions(at, m.numel(), constant)]
        return elements_at if m.shape[1] == 1 else elements_at.T
    if at.numel() == 1 and not at.is_constant():
        if m.numel() > 1000:
            raise Mistake(
                f"an index that changes chooses from {m.numel()} elements: at most 1000 are possible"
            )
        elements = ca.vertsplit(ca.densify(flat(m)))
        result = elements[-1]
        for k in range(len(elements) - 2, -1, -1):
            result = ca.if_else(at < k + 0.5, elements[k], result)
        return result
    numbers = [_check_index(k, m.numel()) for k in _numbers(at, constant)]
    return ca.reshape(flat(m)[numbers], *at.shape)


def _numbers(m: Matrix, constant: Callable[[Matrix], float]) -> list[int]:
    return [whole(constant(e)) for e in ca.vertsplit(ca.densify(flat(m)))]


def _check_index(k: int, size: int) -> int:
    """The index itself, if there is an element at it; else raises `Mistake`."""
    if not 0 <= k < size:
        raise Mistake(f"index {k} is outside: there are {size}, counted from 0")
    return k


def _positions(at: Any, size: int, constant: Callable[[Matrix], float]) -> list[int]:
    """The whole numbers that an index stands for, among `size` rows, columns or elements."""
    if at is None:
        return list(range(size))
    if isinstance(at, tuple):
        begin, end, step = at
        end = size if end is None else end
        if step == 0:
            raise Mistake("a range has a step of 0")
        positions = range(begin, end, step)
        for k in (*positions[:1], *positions[-1:]):
            _check_index(k, size)
        return list(positions)
    return [_check_index(k, size) for k in _numbers(at, constant)]


def value(m: Matrix) -> np.ndarray:
    """The numbers of a constant matrix."""
    return np.array(ca.DM(m))


def fit_shape(m: Matrix, shape: tuple[int, int], what: str) -> Matrix:
    """Bring a value into the shape that is needed: one number is repeated, as many elements are reshaped.

    what: names the value in the message. Raises `Mistake` where it does not fit.
    """
    if m.shape == shape:
        return m
    if m.numel() == 1:
        return ca.repmat(m, *shape)
    if m.numel() == shape[0] * shape[1]:
        return ca.reshape(m, *shape)
    raise Mistake(f"{what} is {shape_text(m)}: {shape[0]}×{shape[1]} is needed")
