"""Words of the language. Keywords are told from names here, in any case; annotations are kept for what
follows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token

from strut.network.text.errors import Mark, Mistake, Source

FLAGS = "in out once integrated discrete"
STATEMENTS = (
    "include require parse object edge interface polynomial import link-library from to piece defines "
    "integrator node layout at of on "
    "all action delete debug-print apply unapply with when state event terminate any set io within "
    "initial-state context as bidirectional "
    "settings no-self probability"
)
SELECTORS = (
    "templates templates-root applied-templates root debug children parent first last subset edges siblings "
    "unique count name self nodes "
    "imports objects variables actions functions not if ifstr notstr from-set type has-flag has-template "
    "reverse input output inputs "
    "outputs input-name output-name recurse append-context reduce sort xor"
)
KEYWORDS = {w: w.upper().replace("-", "_") for w in f"{FLAGS} {STATEMENTS} {SELECTORS}".split()}


def _parenthesised_pattern(depth: int) -> str:
    """Text between parentheses, themselves in pairs up to a depth."""
    inside = r"[^()\\]|\\."
    for _ in range(depth):
        inside = rf"[^()\\]|\\.|\((?:{inside})*\)"
    return rf"\((?:{inside})*\)"


KEY = r"(?:\[[^\]\n]*\]|[0-9]+|[^\W\d][\w\u0300-\u036f]*(?:-[^\W\d][\w\u0300-\u036f]*)*)"
TOKEN_PATTERN = re.compile(
    rf"""
    (?P<SPACE>[\s;]+)
  | (?P<NOTE>\#\#[^\n]*)
  | (?P<COMMENT>\#[^\n]*)
  | (?P<STRING>"(?:[^"\\]|\\.)*")
  | (?P<REGEX>/(?:[^/\\\n]|\\.)+/)
  | (?P<CHOICE>\$\${_parenthesised_pattern(6)})
  | (?P<CALCULATION>\${_parenthesised_pattern(6)})
  | (?P<REFERENCE>@+{KEY}(?:\[[^\]\n]*\])*)
  | (?P<NUMBER>[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?(?![\w]))
  | (?P<ID>[^\W\d](?:[\w\u0300-\u036f]|-(?=\w))*)
  | (?P<OP>\?\$=|\$=|\?=|\+=|<=|[-=|\[\](){{}}<>,:.+'])
""",
    re.X | re.S,
)
OPERATORS = {
    "?$=": "SET_ENVIRONMENT_IF_NEW", "$=": "SET_ENVIRONMENT", "?=": "SET_IF_NEW", "+=": "ADDS",
    "<=": "BECOMES", "=": "EQUALS", "|": "BAR", "[": "LSQ", "]": "RSQ", "(": "LPAR", ")": "RPAR",
    "{": "LBRACE", "}": "RBRACE", "<": "LESS", ">": "GREATER", ",": "COMMA", ":": "COLON",
    ".": "DOT", "+": "PLUS", "-": "MINUS", "'": "PRIME",
}  # fmt: skip
UNCLOSED = {
    '"': "a text that begins here is never closed: add '\"'",
    "/": "a pattern that begins here is never closed: add '/'",
}


class Word(Token):
    """A word that knows its text, and the annotation that stands before it."""

    source: Source
    note: str

    @property
    def mark(self) -> Mark:
        return Mark(self.source, self.line or 0, self.column or 0)


def words(source: Source) -> Iterator[Word]:
    """The words of a text."""
    text, at, line, line_start = source.text, 0, 1, 0
    note: list[str] = []
    below = 0
    match = TOKEN_PATTERN.match
    if text.startswith("\ufeff"):
        at = line_start = 1
    while at < len(text):
        found = match(text, at)
        if not found:
            what = UNCLOSED.get(text[at], f"'{text[at]}' is no part of the language")
            raise Mistake(what, Mark(source, line, at - line_start + 1))
        kind, value = found.lastgroup or "", found[0]
        if kind == "NOTE":
            if line > below:
                note = []
            note.append(value[2:].strip())
            below = line + 1
        elif kind not in ("SPACE", "COMMENT"):
            if kind == "ID":
                kind = KEYWORDS.get(value.lower(), "ID")
            elif kind == "OP":
                kind = OPERATORS[value]
            word = Word(kind, value, at, line, at - line_start + 1)
            word.source, word.note = source, ""
            if note:
                word.note = "\n".join(note)
                note = []
            yield word
        if "\n" in value:
            line += value.count("\n")
            line_start = at + value.rindex("\n") + 1
        at = found.end()


HEADING = re.compile(r"\ufeff?(?:[ \t]*(?:#(?!#)[^\n]*)?\n)*((?:[ \t]*##[^\n]*\n)+)[ \t]*\n")


def heading(text: str) -> str:
    """The annotation a text begins with, if an empty line follows: it is that of the whole network."""
    found = HEADING.match(text)
    return "\n".join(line.strip()[2:].strip() for line in found[1].splitlines()) if found else ""
