"""The parts of a text: references `@1`, calculations `$(...)`, choices `$$(a,b,c)`, and what maps and reduces
behind bars inside braces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from strut.network.text.errors import LimitExceeded, Mistake

MAX_TEXT_DEPTH = 60
"""Braces, maps and references nest no deeper."""

SPECIAL = re.compile(r"[@${}\\]")
KEY = re.compile(r"[0-9]+|[^\W\d][\w\u0300-\u036f]*(?:-[^\W\d][\w\u0300-\u036f]*)*")
LITERAL = {c: chr(0xE010 + i) for i, c in enumerate('{},|:*@$"\\')}
"""Characters that were escaped stand for themselves: here they hide from the expansion of braces."""
UNHIDE = {v: k for k, v in LITERAL.items()}
UNHIDE_RE = re.compile(f"[{''.join(UNHIDE)}]")


@dataclass(frozen=True, slots=True)
class Reference:
    """`@1`, `@@name[2]`: levels out, what, and the index behind it."""

    depth: int
    key: tuple[Part, ...]
    index: tuple[Part, ...] | None
    source_text: str


@dataclass(frozen=True, slots=True)
class Calculation:
    """`$(...)`."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`$$(condition, a, b)`."""

    branches: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """What follows `|` (a map) or `||` (a reduction) inside braces."""

    reduces: bool
    text: str


@dataclass(frozen=True, slots=True)
class Joined:
    """`@{...}`: a generator, joined again with commas."""

    text: str


Part = str | Reference | Calculation | Choice | Filter | Joined


def closing_index(text: str, at: int, pair: str) -> int:
    """Where the bracket that opens at `at` closes."""
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
    """The beginning of a text, as errors show it."""
    return text if len(text) < 60 else text[:57] + "..."


@lru_cache(maxsize=200_000)
def split(text: str) -> tuple[Part, ...]:
    """The parts of a text."""
    return tuple(_split(text, 0))


def _split(text: str, depth: int) -> list[Part]:
    if depth > MAX_TEXT_DEPTH:
        raise LimitExceeded(
            f"'{ellipsize(text)}' nests deeper than {MAX_TEXT_DEPTH} levels: write it in steps, with defines"
        )
    parts: list[Part] = []
    i, braces = 0, 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            parts.append(LITERAL.get(text[i + 1], "\\" + text[i + 1]))
            i += 2
        elif c == "@":
            i = _reference(text, i, parts, depth)
        elif text.startswith("$$(", i):
            end = closing_index(text, i + 2, "()")
            pieces = _commas(text[i + 3 : end])
            if len(pieces) != 3:
                raise Mistake(
                    f"'{ellipsize(text[i : end + 1])}' has {len(pieces)} parts: write $$(condition, if so, if "
                    f"not)"
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
    """Where a map or reduction ends: at the next bar or the closing brace of its own level."""
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


def _commas(text: str) -> list[str]:
    """Pieces between commas that stand in no bracket."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            pieces.append(text[start:i])
            start = i + 1
    return [*pieces, text[start:]]


def _reference(text: str, at: int, parts: list[Part], depth: int) -> int:
    i = at
    while i < len(text) and text[i] == "@":
        i += 1
    level = i - at
    if i < len(text) and text[i] == "{":
        end = closing_index(text, i, "{}")
        parts.append(Joined(text[i : end + 1]))
        return end + 1
    if i < len(text) and text[i] == "[":
        end = closing_index(text, i, "[]")
        key = tuple(_split(text[i + 1 : end], depth + 1))
        i = end + 1
        numbered = text[at + level + 1 : end].isdecimal()
    else:
        found = KEY.match(text, i)
        if not found:
            raise Mistake(
                f"'{ellipsize(text[at : at + 12])}' refers to nothing: write @0, @1 or the name of a define "
                f"behind @"
            )
        key = (found[0],)
        numbered = found[0].isdecimal()
        i = found.end()
    index = None
    if i < len(text) and text[i] == "[":
        end = closing_index(text, i, "[]")
        inside = text[i + 1 : end]
        if not numbered or inside[:1] in ("!", "?", "~", ","):
            index = tuple(_split(inside, depth + 1))
            i = end + 1
    parts.append(Reference(level - 1, key, index, text[at:i]))
    return i


def hide(text: str) -> str:
    """A text in which nothing separates or opens: as one element of a list it stays one."""
    return "".join(LITERAL[c] if c in "{},\\" else c for c in text)


def unhide(text: str) -> str:
    """Hidden characters as what they stand for."""
    return UNHIDE_RE.sub(lambda m: UNHIDE[m[0]], text)
