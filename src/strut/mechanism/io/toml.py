"""Tables of a TOML file that know where they stand, so that every mistake can be pointed at."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from math import inf, isfinite
from pathlib import Path
from typing import Any

import casadi as ca

from strut.errors import ExpressionError, ModelError, did_you_mean
from strut.system import Expression, parse_expression

HEADER = re.compile(r"^\s*\[\[?\s*(.+?)\s*\]\]?\s*(#.*)?$")
"""A line that begins a table, [a.b] or [[a.b]]."""
KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
"""A line that begins with a key, a.b = ..."""
REQUIRED = object()
"""The default of a key that must be there."""


def check_toml(text: str, where: str, error: tomllib.TOMLDecodeError) -> str:
    """A message for text that is not TOML, with the line and a caret."""
    place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    lines = text.splitlines()
    if not place or int(place[1]) > len(lines):
        return f"{where} is not TOML: {error}"
    line, column = int(place[1]), int(place[2])
    return (
        f"{where}, line {line}, is not TOML: {str(error).split(' (at')[0]}\n    {lines[line - 1]}\n    "
        f"{' ' * (column - 1)}^"
    )


class TomlTable:
    """A table of a model file. Reading a key marks it as known; `refuse_unknown_keys` refuses the others."""

    def __init__(
        self, data: Mapping[str, Any], path: tuple[str, ...], source: str, where: str, names: dict[str, Any]
    ) -> None:
        self.data, self.path, self.source, self.where, self.names = data, path, source, where, names
        self.folder: Path | None = None  # that of the file; None where a text was read
        self.place: int | None = None  # which of several [[tables]] of one name; None where there is one
        self.known: list[str] = []

    # ---- reading ----

    def take(self, key: str, default: Any = REQUIRED) -> Any:
        """The value of a key, as TOML has it; the default, or an error without one, where it is not there."""
        if key not in self.known:
            self.known.append(key)
        if key in self.data:
            return self.data[key]
        if default is REQUIRED:
            near = difflib.get_close_matches(key, [each for each in self.data if each not in self.known], n=1)
            raise self.error(f"'{key}' is missing" + (f": is '{near[0]}' meant for it?" if near else ""))
        return default

    def word(self, key: str, default: Any = REQUIRED) -> str:
        """A text."""
        value = self.take(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} is {value!r}: a text in quotes is needed", key)
        return value

    def words(self, key: str) -> list[str]:
        """A list of texts; empty if it is not there."""
        value = self.take(key, [])
        if not isinstance(value, list) or any(not isinstance(entry, str) for entry in value):
            raise self.error(f"{key} is {value!r}: a list of texts in quotes is needed", key)
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self.error(f"{key} is {value!r}: true or false is needed", key)
        return value

    def choice(self, key: str, allowed: list[str]) -> str:
        """One of the words in `allowed`; an error suggests the nearest."""
        value = self.word(key)
        if value not in allowed:
            raise self.error(f"{key} is '{value}': {did_you_mean(value, allowed)}", key, value)
        return value

    def number(self, key: str, default: Any = REQUIRED, more: Mapping[str, Expression] | None = None) -> Any:
        """A number, or an expression of parameters."""
        value = self.take(key, default)
        return value if key not in self.data else self._one(value, key, more)

    def end(self, key: str) -> Any:
        """A number, an expression of parameters, or an infinity: the end of a range."""
        value = self.take(key)
        return value if value in (-inf, inf) else self.number(key)

    def numbers(self, key: str, default: Any = REQUIRED) -> Any:
        """A number, or a list of numbers; each may be an expression."""
        value = self.take(key, default)
        if key not in self.data:
            return value
        return [self._one(v, key) for v in value] if isinstance(value, list) else self._value(value, key)

    def vector(self, key: str) -> Any:
        """Three numbers, or an expression of vectors; zero if it is not there."""
        value = self.take(key, [0, 0, 0])
        if isinstance(value, str):
            expression = self._value(value, key)
            if ca.SX(expression).numel() == 3:
                return expression
        if not isinstance(value, list) or len(value) != 3:
            raise self.error(f"{key} is {value!r}: three numbers are needed", key)
        return ca.vertcat(*[ca.SX(self._one(v, key)) for v in value])

    def matrix(self, key: str) -> ca.SX:
        """A matrix of three rows of three numbers."""
        value = self.take(key)
        if len(value) != 3 or any(len(row) != 3 for row in value):
            raise self.error(f"{key} is {value!r}: three rows of three numbers are needed", key)
        return ca.densify(
            ca.vertcat(*[ca.horzcat(*[ca.SX(self._one(v, key)) for v in row]) for row in value])
        )

    def axis(self, key: str) -> Any:
        """An axis: 'x', '-z', or three numbers."""
        value = self.take(key)
        if isinstance(value, str):
            return value
        if not isinstance(value, list) or len(value) != 3 or any(type(v) not in (int, float) for v in value):
            raise self.error(f"{key} is {value!r}: write 'x', '-y' or three numbers", key)
        return tuple(self._value(v, key) for v in value)

    def entry(self, value: Any, key: str, more: Mapping[str, Expression] | None = None) -> Any:
        """One number of a list, or an expression of parameters and of `more`."""
        return self._one(value, key, more)

    def _one(self, value: Any, key: str, more: Mapping[str, Expression] | None = None) -> Any:
        """A number, or an expression of one number."""
        number = self._value(value, key, more)
        if isinstance(number, ca.SX) and number.numel() != 1:
            raise self.error(
                f"{key} is a vector of {number.numel()} numbers: one is needed here", key, str(value)
            )
        return number

    def _value(self, value: Any, key: str, more: Mapping[str, Expression] | None = None) -> Any:
        """A finite number, or the expression that a text says."""
        if type(value) in (int, float):
            if not isfinite(value):
                raise self.error(f"{key} is {value}: a finite number is needed", key, str(value))
            return float(value)
        if not isinstance(value, str):
            raise self.error(f"{key} is {value!r}: a number, or an expression in quotes, is needed", key)
        try:
            expression = parse_expression(value, {**self.names, **(more or {})})
        except ExpressionError as error:
            raise self.error(f"{key}: {error.reason}", key, value.strip(), error) from None
        return float(expression) if expression.is_constant() and expression.numel() == 1 else expression

    # ---- tables in tables ----

    def table(self, key: str) -> TomlTable | None:
        """The table in this one under a key; None where it is not there."""
        value = self.take(key, None)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(f"{key} is {value!r}: a table is needed", key)
        return self._inner(value, key)

    def tables(self, key: str, bare: bool = False) -> Iterator[tuple[str, Any]]:
        """The tables in the table `key`, by name; with `bare` numbers may stand in place of tables."""
        outer = self.table(key)
        for name, value in (outer.data if outer else {}).items():
            assert outer is not None
            if bare and type(value) in (int, float):
                yield name, float(value)
            elif isinstance(value, dict):
                yield name, outer._inner(value, name)
            else:
                raise outer.error(f"{name} is {value!r}: a table is needed, [{key}.{name}]", name)

    def list_of_tables(self, key: str) -> Iterator[TomlTable]:
        """The tables in a list, [{ ... }, { ... }]; none where it is not there."""
        value = self.take(key, [])
        if not isinstance(value, list) or any(not isinstance(entry, dict) for entry in value):
            raise self.error(f"{key} is no list of tables, [{{ ... }}]", key)
        for k, entry in enumerate(value):
            inner = self._inner(entry, key)
            inner.place = k
            yield inner

    def _inner(self, data: Mapping[str, Any], key: str) -> TomlTable:
        """A table inside of this one."""
        inner = TomlTable(data, (*self.path, key), self.source, self.where, self.names)
        inner.folder, inner.place = self.folder, self.place
        return inner

    def refuse_unknown_keys(self) -> None:
        """Raise ModelError for a key that nothing has read."""
        for key in self.data:
            if key not in self.known:
                raise self.error(f"'{key}' is unknown here: {did_you_mean(key, self.known)}", key, key)

    # ---- mistakes ----

    def error(
        self, message: str, key: str = "", needle: str = "", expression: ExpressionError | None = None
    ) -> ModelError:
        """A message with file, line, table and, where a text is to blame, the line with a caret below it."""
        path = (*self.path, key) if key else self.path
        line, column = self._find(path, needle)
        place = f"{self.where}, line {line}: " if line else f"{self.where}: "
        text = place + (f"[{'.'.join(self.path)}] " if self.path else "") + message
        if line and needle and column >= 0:
            text += (
                f"\n    {self.source.splitlines()[line - 1]}\n    "
                f"{' ' * (column + (expression.column if expression else 0))}^"
            )
        elif expression is not None:
            text += f"\n    {expression.text}\n    {' ' * expression.column}^"
        return ModelError(text)

    def _find(self, path: tuple[str, ...], needle: str) -> tuple[int, int]:
        """Line (from 1, 0 if not found) and column of `needle` in the value at `path`."""
        header: tuple[str, ...] = ()
        inside, first = False, 0
        repeats = 0  # of [[tables]] of the name, those before this line
        for number, line in enumerate(self.source.splitlines(), 1):
            if (match := HEADER.match(line)) and not _in_array(line):
                header = _parts(match[1])
                if line.lstrip().startswith("[[") and header == self.path[: len(header)]:
                    repeats += 1
                inside = bool(path) and header == path and self._is_place(repeats)
            elif match := KEY.match(line):
                here = (*header, *_parts(match[1]))
                inside = (
                    bool(path)
                    and here == path[: len(here)]
                    and len(here) >= min(len(path), len(header) + 1)
                    and self._is_place(repeats)
                )
            if inside:
                first = first or number
                if needle and needle in line:
                    return number, line.index(needle)
        return first, -1

    def _is_place(self, repeats: int) -> bool:
        """Is this the right one of several [[tables]]? A list in brackets, [{ ... }, { ... }], has no such
        lines."""
        return self.place is None or repeats in (0, self.place + 1)


def _in_array(line: str) -> bool:
    """A row of an array, rather than the head of a table."""
    return line.rstrip().endswith(",") or "=" in line.split("#")[0]


def _parts(text: str) -> tuple[str, ...]:
    """The keys in a dotted one, quotes taken off."""
    return tuple(a or b or c for a, b, c in re.findall(r"""([\w-]+)|"([^"]*)"|'([^']*)'""", text))
