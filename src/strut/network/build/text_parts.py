"""Splits a text into its parts: references `@1`, calculations `$(...)`, choices `$$(a,b,c)`, and maps and
reductions behind bars inside braces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from strut.network.text.errors import LimitExceeded, Mistake

MAX_TEXT_DEPTH = 60
"""Levels of braces, maps and references in a text, at most."""
MAX_SHOWN = 60
"""Length of a text that messages quote in full [characters]: it is shorter."""

SPECIAL = re.compile(r"[@${}\\]")
"""A character that makes a text one to be expanded."""
REFERENCE_KEY = re.compile(r"[0-9]+|[^\W\d][\w\u0300-\u036f]*(?:-[^\W\d][\w\u0300-\u036f]*)*")
"""What stands behind the @ of a reference without brackets: a number or a name."""
HIDDEN_CHARACTERS = {c: chr(0xE010 + i) for i, c in enumerate('{},|:*@$"\\')}
"""Characters that take the places of escaped ones, so that the expansion of braces does not see these."""
ESCAPED_CHARACTERS = {v: k for k, v in HIDDEN_CHARACTERS.items()}
"""The escaped character of each that took its place."""
HIDDEN_PATTERN = re.compile(f"[{''.join(ESCAPED_CHARACTERS)}]")
"""A character that took the place of an escaped one."""


@dataclass(frozen=True, slots=True)
class Reference:
    """`@1`, `@@name[2]`: how many levels out (0 for one @), what, the index behind it, and all of it as it is
    written."""

    depth: int
    key: tuple[Part, ...]
    index: tuple[Part, ...] | None
    source_text: str


@dataclass(frozen=True, slots=True)
class Calculation:
    """`$(...)`: a number that is calculated."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`$$(condition, a, b)`: a if the condition is not 0, else b."""

    branches: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """What follows `|` (a map) or `||` (a reduction) inside braces."""

    reduces: bool
    text: str


@dataclass(frozen=True, slots=True)
class JoinedGenerator:
    """`@{...}`: a generator, joined again with commas."""

    text: str


Part = str | Reference | Calculation | Choice | Filter | JoinedGenerator
"""Any part; plain text is a str."""


def closing_index(text: str, at: int, pair: str) -> int:
    """Return the index of the bracket that closes the one at `at`; `pair` is both. Raises `Mistake` if there
    is none."""
    depth, i = 0, at
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 1
        elif c == pair[0]:
            depth += 1
        elif c == pair[1]:
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise Mistake(f"'{pair[0]}' in '{ellipsize(text)}' is never closed: add '{pair[1]}'")


def ellipsize(text: str) -> str:
    """Return the beginning of a text, as errors show it."""
    return text if len(text) < MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


@lru_cache(maxsize=200_000)
def split_text(text: str) -> tuple[Part, ...]:
    """Return the parts of a text, split once. Raises `Mistake` if a bracket is not closed."""
    return tuple(_split(text, 0))


def _split(text: str, depth: int) -> list[Part]:
    """Split a text inside `depth` others. Raises `LimitExceeded` if it nests too deep."""
    if depth > MAX_TEXT_DEPTH:
        raise LimitExceeded(
            f"'{ellipsize(text)}' nests deeper than {MAX_TEXT_DEPTH} levels: write it in steps, with defines"
        )
    parts: list[Part] = []
    i, braces = 0, 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            parts.append(HIDDEN_CHARACTERS.get(text[i + 1], "\\" + text[i + 1]))
            i += 2
        elif c == "@":
            i = _read_reference(text, i, parts, depth)
        elif text.startswith("$$(", i):
            end = closing_index(text, i + 2, "()")
            pieces = _split_at_commas(text[i + 3 : end])
            if len(pieces) != 3:
                raise Mistake(
                    f"'{ellipsize(text[i : end + 1])}' has {len(pieces)} parts: write $$(condition, if so, "
                    f"if not)"
                )
            parts.append(Choice(tuple(tuple(_split(p, depth + 1)) for p in pieces)))
            i = end + 1
        elif text.startswith("$(", i):
            end = closing_index(text, i + 1, "()")
            parts.append(Calculation(tuple(_split(text[i + 2 : end], depth + 1))))
            i = end + 1
        elif c == "|" and braces:
            end = _filter_end(text, i)
            reduces = text.startswith("||", i)
            parts.append(Filter(reduces, text[i + (2 if reduces else 1) : end]))
            i = end
        else:
            braces += (c == "{") - (c == "}")
            following = SPECIAL.search(text, i + 1) if not braces else None
            end = i + 1 if braces else following.start() if following else len(text)
            parts.append(text[i:end])
            i = end
    return parts


def _filter_end(text: str, at: int) -> int:
    """Return the index where a map or reduction ends: at the next bar or the closing brace of its own
    level."""
    i = at + (2 if text.startswith("||", at) else 1)
    depth = 0
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 1
        elif c in "([{":
            depth += 1
        elif depth == 0 and (c in "|}"):
            return i
        elif c in ")]}":
            depth -= 1
        i += 1
    raise Mistake(f"'{{' in '{ellipsize(text)}' is never closed: add '}}'")


def _split_at_commas(text: str) -> list[str]:
    """Return the pieces between commas that stand in no bracket."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            pieces.append(text[start:i])
            start = i + 1
    return [*pieces, text[start:]]


def _read_reference(text: str, at: int, parts: list[Part], depth: int) -> int:
    """Read the reference that begins at `at`, and add it to the parts; return the index behind it."""
    i = at
    while i < len(text) and text[i] == "@":
        i += 1
    level = i - at
    if i < len(text) and text[i] == "{":
        end = closing_index(text, i, "{}")
        parts.append(JoinedGenerator(text[i : end + 1]))
        return end + 1
    if i < len(text) and text[i] == "[":
        end = closing_index(text, i, "[]")
        key = tuple(_split(text[i + 1 : end], depth + 1))
        i = end + 1
        is_number = text[at + level + 1 : end].isdecimal()
    else:
        match = REFERENCE_KEY.match(text, i)
        if not match:
            raise Mistake(
                f"'{ellipsize(text[at : at + 12])}' refers to nothing: write @0, @1 or the name of a define "
                f"behind @"
            )
        key = (match[0],)
        is_number = match[0].isdecimal()
        i = match.end()
    index = None
    if i < len(text) and text[i] == "[":
        end = closing_index(text, i, "[]")
        inside = text[i + 1 : end]
        if not is_number or inside[:1] in ("!", "?", "~", ","):
            index = tuple(_split(inside, depth + 1))
            i = end + 1
    parts.append(Reference(level - 1, key, index, text[at:i]))
    return i


def hide(text: str) -> str:
    """Return a text in which nothing separates or opens: as one element of a list it stays one."""
    return "".join(HIDDEN_CHARACTERS[c] if c in "{},\\" else c for c in text)


def unhide(text: str) -> str:
    """Return a text with hidden characters as what they stand for."""
    return HIDDEN_PATTERN.sub(lambda m: ESCAPED_CHARACTERS[m[0]], text)
