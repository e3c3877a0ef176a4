"""Reads expressions as people write them into a tree, by precedence climbing; nothing is evaluated here.

x^2 + sin(t)    [1, 2; 3, 4] * v    c ? a : b    m[0:2, 1]    dt[e, 2]()    f(x)'    aᵀ    ẋ
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from strut.network.text.errors import Mistake

MAX_BRACKET_DEPTH = 100
"""Levels of brackets and operators in an expression, at most: reading recurses."""
MAX_FORMULA = 300_000
"""Length of an expression, at most [characters]: reading takes up to ten seconds for a million."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, perhaps of another node: `x`, `input.x`, `child.x`; `order` counts primes."""

    name: str
    order: int = 0


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `+x`, `!x`."""

    operator: str
    operand: Tree


@dataclass(frozen=True, slots=True)
class Binary:
    """`a + b` and the like; `operator` is a key of `BINARY_PRECEDENCE`."""

    operator: str
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Ternary:
    """`condition ? yes : no`."""

    condition: Tree
    yes: Tree
    no: Tree


@dataclass(frozen=True, slots=True)
class Matrix:
    """`[1, 2; 3, 4]`, row by row."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Range:
    """`a:b` or `a:step:b` in an index; what is left out is None."""

    start: Tree | None
    stop: Tree | None
    step: Tree | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """`m[0:2, 1]`: entries of a value, one index or range for each dimension."""

    of: Tree
    at: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """`f(a, b)`, `child.f(a)`; `order` counts primes."""

    name: str
    arguments: tuple[Tree, ...]
    order: int = 0


@dataclass(frozen=True, slots=True)
class Operator:
    """`dt[e, 2]()`, `pdiff[f; x](a)`: what stands in brackets, part by part, and the values."""

    name: str
    brackets: tuple[tuple[Tree, ...], ...]
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Derivative:
    """`(e)'`: the time derivative of an expression that is no plain variable, `order` times."""

    of: Tree
    order: int


Tree = Number | Name | Unary | Binary | Ternary | Matrix | Range | Index | Call | Operator | Derivative
"""Any expression."""

BRACKET_OPERATORS = {"dt", "diff", "pdiff", "∂", "delayed", "simplify", "linsolve"}
"""Names that take expressions in brackets, before their values in parentheses."""
TOKEN_PATTERN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[√∑∏∂∞]
      | (?:(?!ᵀ)[^\W\d²])(?:(?![ᵀ²])[\w\u0300-\u036f])*
        (?:\.(?:(?!ᵀ)[^\W\d²])(?:(?![ᵀ²])[\w\u0300-\u036f])*)*)
  | (?P<op>\*\*|<=|>=|==|!=|&&|\|\||\.\*|[-+*/%^<>!?:,;()\[\]'∙·÷ᵀ²])
)""",
    re.X,
)
"""One number, name or operator, and the blanks before it."""
BINARY_PRECEDENCE = {
    "||": (1, False),
    "&&": (2, False),
    **dict.fromkeys(("==", "!="), (3, False)),
    **dict.fromkeys(("<", ">", "<=", ">="), (4, False)),
    **dict.fromkeys(("+", "-"), (5, False)),
    **dict.fromkeys(("*", "/", "%", ".*"), (6, False)),
    "^": (8, True),
}
"""Of each operator, how strongly it binds, and whether it is right associative."""
OPERATOR_SYNONYMS = {"**": "^", "∙": "*", "·": "*", "÷": "/"}
"""Other ways to write an operator."""
UNARY_PRECEDENCE = 7
"""How strongly signs and `!` bind: less than a power, more than a product."""


class FormulaError(Mistake):
    """An expression that cannot be read; `place` is the index of the character where reading stopped."""

    def __init__(self, message: str, place: int) -> None:
        self.place = place
        super().__init__(message)


@dataclass(frozen=True)
class Formula:
    """A tree, the text it was read from, and the `rest` of that text, which follows a complete expression."""

    text: str
    tree: Tree
    rest: str = ""


@lru_cache(maxsize=100_000)
def read_formula(text: str) -> Formula:
    """Read the text of an expression into a tree, once for each text.

    A complete expression may be followed by further text if that begins with a value or a bracket; it is kept
    as `rest`. Raises `FormulaError` if the text cannot be read, or is too long.
    """
    if len(text) > MAX_FORMULA:
        raise FormulaError(
            f"an expression has {len(text)} characters, {MAX_FORMULA} are the most: write it in steps, or as "
            f"edges",
            0,
        )
    reader = _FormulaReader(text)
    if reader.kind == "end":
        raise FormulaError("an expression is needed, and there is none", 0)
    tree = reader.expression(0)
    rest = text[reader.start :].strip() if reader.kind != "end" else ""
    if rest and not (reader.kind in ("number", "name") or reader.value in ("(", "[", ")", "]")):
        raise FormulaError(f"'{reader.value}' is not expected here", reader.start)
    return Formula(text, tree, rest)


def dots(name: str) -> tuple[str, int]:
    """Return a name without the dots on its first letter, and the order of derivative they mean: ẏ is y', ÿ
    is y''."""
    if not name or (name[0].isascii() and (len(name) == 1 or name[1].isascii())):
        return name, 0
    first = unicodedata.normalize("NFD", name[0])
    letters, marks = first[0], first[1:]
    rest = name[1:]
    while rest and rest[0] in "\u0307\u0308":
        marks, rest = marks + rest[0], rest[1:]
    order = marks.count("\u0307") + 2 * marks.count("\u0308")
    other_marks = "".join(m for m in marks if m not in "\u0307\u0308")
    return (unicodedata.normalize("NFC", letters + other_marks) + rest, order) if order else (name, 0)


CLOSING_BRACKETS = {"(": ")", "[": "]"}
"""The closing bracket of each opening one."""
NEEDS_VALUE_AFTER = tuple("+-*/^%<>=!&|?:")
"""Last characters of a text that ends in the middle of an operation: a value is missing before any bracket
is."""


class _FormulaReader:
    """Reads one text, a token at a time.

    kind, value, start: the token that is looked at ("number", "name", "op" or "end"), its text, and the index
        where it begins. at: the index behind it. space: do blanks stand before it? open: brackets that are
        not closed yet. depth: levels of `expression` that are entered.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.kind, self.value, self.start, self.space = "", "", 0, False
        self.open: list[str] = []
        self.advance()

    def advance(self) -> None:
        """Look at the next token."""
        if self.kind == "op" and self.value in CLOSING_BRACKETS:
            self.open.append(self.value)
        elif self.kind == "op" and self.open and self.value == CLOSING_BRACKETS[self.open[-1]]:
            self.open.pop()
        end = self.at
        while end < len(self.text) and self.text[end].isspace():
            end += 1
        self.space = end > self.at
        if end >= len(self.text):
            self.kind, self.value, self.start, self.at = "end", "the end", len(self.text), end
            return
        token = TOKEN_PATTERN.match(self.text, self.at)
        if not token or token.end() == self.at:
            raise FormulaError(f"'{self.text[end]}' is no part of an expression", end)
        self.kind = token.lastgroup or ""
        self.value = token[self.kind]
        self.start = token.start(self.kind)
        self.at = token.end()

    def take(self, value: str) -> bool:
        """Pass an operator or a bracket, if it stands here. Does it?"""
        if self.kind == "op" and self.value == value:
            self.advance()
            return True
        return False

    def expect(self, value: str, otherwise: str = "") -> None:
        """Pass an operator or a bracket; raise if another token stands here."""
        if not self.take(value):
            self.check_closed()
            needed = f"'{value}' or '{otherwise}'" if otherwise else f"'{value}'"
            raise FormulaError(f"{needed} is needed where '{self.value}' stands", self.start)

    def check_closed(self) -> None:
        """Raise if the text ends inside brackets: that is what is wrong, whatever else could follow."""
        if self.kind == "end" and self.open:
            opening = self.open[-1]
            closing = CLOSING_BRACKETS[opening]
            raise FormulaError(
                f"'{closing}' is needed at the end: the '{opening}' before it is never closed",
                self.start,
            )

    def expression(self, binds: int) -> Tree:
        """Read operands and those operators that bind more strongly than `binds` (precedence climbing)."""
        self.depth += 1
        if self.depth > MAX_BRACKET_DEPTH:
            raise FormulaError(
                f"an expression nests deeper than {MAX_BRACKET_DEPTH} levels: write it in steps", self.start
            )
        left = self.prefix()
        while self.kind == "op":
            operator = OPERATOR_SYNONYMS.get(self.value, self.value)
            if operator == "?" and binds == 0:
                self.advance()
                yes = self.expression(0)
                self.expect(":")
                left = Ternary(left, yes, self.expression(0))
                continue
            strength, right_associative = BINARY_PRECEDENCE.get(operator, (0, False))
            if not strength or strength <= binds:
                break
            self.advance()
            left = Binary(operator, left, self.expression(strength - 1 if right_associative else strength))
        self.depth -= 1
        return left

    def prefix(self) -> Tree:
        """Read a value with its signs."""
        if self.kind == "op" and self.value in "-+!":
            operator = self.value
            self.advance()
            return Unary(operator, self.expression(UNARY_PRECEDENCE - 1))
        return self.postfix(self.primary())

    def postfix(self, tree: Tree) -> Tree:
        """Read what stands behind a value: primes, transposition, a square, indices."""
        while self.kind == "op":
            if self.value == "'":
                self.advance()
                tree = _time_derivative(tree)
            elif self.value == "ᵀ":
                self.advance()
                tree = Call("transpose", (tree,))
            elif self.value == "²":
                self.advance()
                tree = Binary("^", tree, Number(2.0))
            elif self.value == "[":
                self.advance()
                tree = Index(tree, self.indices())
            else:
                break
        return tree

    def primary(self) -> Tree:
        """Read a number, a name, a call, a matrix, or an expression in parentheses."""
        if self.kind == "number":
            value = float(self.value)
            self.advance()
            return Number(value)
        if self.kind == "name":
            return self.name_or_call()
        if self.take("("):
            inside = self.expression(0)
            self.expect(")")
            return inside
        if self.take("["):
            return self.matrix()
        if self.kind == "end":
            if self.text.rstrip()[-1:] not in NEEDS_VALUE_AFTER:
                self.check_closed()
            raise FormulaError("the expression ends where a value is needed", self.start)
        raise FormulaError(f"a value is needed where '{self.value}' stands", self.start)

    def name_or_call(self) -> Tree:
        """Read a name and what makes it a call or an operator."""
        head, dot, last = self.value.rpartition(".")
        last, order = dots(last)
        name = head + dot + last
        self.advance()
        if name in BRACKET_OPERATORS and self.kind == "op" and self.value == "[":
            return self.operator(name)
        if name in "√∑∏" and not (self.kind == "op" and self.value == "("):
            return Call(name, (self.prefix(),))
        if self.take("("):
            return Call(name, self.values(")"), order)
        return Name(name, order)

    def values(self, end: str) -> tuple[Tree, ...]:
        """Read expressions between commas, up to a closing bracket."""
        values: list[Tree] = []
        while not self.take(end):
            if values:
                self.expect(",", end)
            values.append(self.expression(0))
        return tuple(values)

    def operator(self, name: str) -> Tree:
        """Read the brackets and the values of an operator: `pdiff[f; x](a)`."""
        self.expect("[")
        parts: list[tuple[Tree, ...]] = []
        part: list[Tree] = []
        while not self.take("]"):
            if self.take(";"):
                parts.append(tuple(part))
                part = []
                continue
            if part:
                self.expect(",", "]")
            part.append(self.expression(0))
        parts.append(tuple(part))
        arguments = self.values(")") if self.take("(") else ()
        return Operator("pdiff" if name == "∂" else name, tuple(parts), arguments)

    def matrix(self) -> Tree:
        """Read a matrix behind its opening bracket; commas may be left out."""
        rows: list[tuple[Tree, ...]] = []
        row: list[Tree] = []
        while not self.take("]"):
            if self.take(";"):
                if row:
                    rows.append(tuple(row))
                row = []
            elif self.take(","):
                continue
            else:
                row.append(self.expression(0))
        if row:
            rows.append(tuple(row))
        return Matrix(tuple(rows))

    def indices(self) -> tuple[Tree, ...]:
        """Read indices and ranges up to the closing bracket."""
        indices: list[Tree] = []
        while not self.take("]"):
            if indices:
                self.expect(",", "]")
            indices.append(self.index())
        return tuple(indices)

    def index(self) -> Tree:
        """Read one index, or a range `a:b`, `a:step:b`, whose parts may be left out."""
        parts: list[Tree | None] = [None if self.kind == "op" and self.value == ":" else self.expression(0)]
        while self.take(":"):
            parts.append(None if self.kind == "op" and self.value in (":", ",", "]") else self.expression(0))
        if len(parts) == 1 and parts[0] is not None:
            return parts[0]
        if len(parts) > 3:
            raise FormulaError("a range has a beginning, a step and an end, not more", self.start)
        return Range(parts[0], parts[-1], parts[1] if len(parts) == 3 else None)


def _time_derivative(tree: Tree) -> Tree:
    """Return the time derivative of a tree, one order higher where it is one already."""
    if isinstance(tree, Name):
        return Name(tree.name, tree.order + 1)
    if isinstance(tree, Call) and tree.name not in ("transpose",):
        return Call(tree.name, tree.arguments, tree.order + 1)
    return Derivative(tree.of, tree.order + 1) if isinstance(tree, Derivative) else Derivative(tree, 1)


def variable_names(text: str) -> list[str]:
    """Return the names of variables in an expression, without those that have primes; none if it cannot be
    read."""
    try:
        tree = read_formula(text).tree
    except Mistake:
        return []
    names: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Name):
            if not each.order:
                names.append(each.name)
        elif isinstance(each, tuple):
            waiting.extend(each)
        elif not isinstance(each, (Number, str, int, float, Operator)) and each is not None:
            # all that is left are trees, and these have slots
            waiting.extend(getattr(each, slot) for slot in each.__slots__)  # type: ignore[attr-defined]  # trees have slots, texts and numbers were left out above
    return names
