"""What rules of the grammar hand to one another: kinds of intermediate results, and how to find them among
the parts of a rule."""

from __future__ import annotations

from typing import Any, TypeVar

from lark import Token

from strut.network.text import statements as s
from strut.network.text.lexer import Word

VALUE_TOKENS = ("STRING", "ID", "NUMBER", "REFERENCE", "CALCULATION", "CHOICE")
"""Kinds of words that stand for a text which is expanded later."""
LIST_TOKENS = ("LSQ", "RSQ", "COMMA")
"""Kinds of words that separate the entries of a list in brackets."""

Part = Any
"""A word, a statement, an intermediate result or None: lark hands all of them over untyped."""
Parts = list[Part]
"""What stands in a rule of the grammar, in order."""
Kind = TypeVar("Kind")


class Flags(tuple[s.Flag, ...]):
    """Flags behind a variable: `| +in, -out`."""

    __slots__ = ()


class StateNames(list[s.Text | None]):
    """Names of discrete states behind `state`."""

    __slots__ = ()


class TemplateList(list[s.Selectors]):
    """Selectors of templates behind a colon."""

    __slots__ = ()


class SelectorList(list[s.Selector | None]):
    """One selector, or several in brackets."""

    __slots__ = ()


class ValueList(list[s.Text | None]):
    """One value, or several in brackets."""

    __slots__ = ()


class Primes(int):
    """The number of primes behind a name."""

    __slots__ = ()


class IndexText(str):
    """An index in brackets behind a name, with its brackets."""

    __slots__ = ()


class ConstraintTexts(tuple[str, tuple[s.Text, ...]]):
    """`(a, b)` or `(a : b)` behind a value: the separator, and the texts."""

    __slots__ = ()


class ImplicitArguments(list[s.ArgumentText]):
    """The second pair of parentheses of a function: what it takes from where it is called."""

    __slots__ = ()


class Label(str):
    """`<name>:` before a step of a selector."""

    __slots__ = ()


def text_of(word: Word) -> s.Text:
    """Return a word as a text, without its quotes."""
    return s.Text(word[1:-1] if word.type == "STRING" else str(word), word.mark)


def is_value(part: Part) -> bool:
    """Is a part a word that stands for a text?"""
    return isinstance(part, Token) and part.type in VALUE_TOKENS


def value_texts(parts: Parts) -> list[s.Text]:
    """Return the texts of all values among the parts of a rule."""
    return [text_of(p) for p in parts if is_value(p)]


def first_of(parts: Parts, kind: type[Kind]) -> Kind | None:
    """Return the first part of a kind, or None."""
    return next((p for p in parts if isinstance(p, kind)), None)


def body_of(parts: Parts) -> list[s.Statement]:
    """Return the statements among the parts of a rule."""
    return [p for p in parts if isinstance(p, s.Statement)]


def head_of(part: Part) -> dict[str, Any]:
    """Return `mark` and `note` of a statement that begins with a part: its place, and the annotation before
    it."""
    while isinstance(part, (list, tuple)) and part:
        part = next((p for p in part if p is not None), None)
    if isinstance(part, s.NameText):
        return {"mark": part.text.mark, "note": part.note}
    return {"mark": part.mark, "note": getattr(part, "note", "")}


def list_entries(parts: Parts) -> Parts:
    """Return the entries of a list in brackets; one that is left out is None."""
    return [p for p in parts if not (isinstance(p, Token) and p.type in LIST_TOKENS)]


def word_kinds(parts: Parts) -> list[str]:
    """Return the kind of each word among the parts of a rule; an empty text where one is no word."""
    return [p.type if isinstance(p, Token) else "" for p in parts]
