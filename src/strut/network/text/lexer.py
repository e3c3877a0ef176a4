"""Splits a text into words (the lexer of the grammar). Keywords are told from names here, in upper or lower
case; annotations are kept for the word that follows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token

from strut.network.text.errors import Mark, Mistake, Source

FLAGS = "in out once integrated discrete"
"""Keywords that are flags of variables."""
STATEMENTS = (
    "include require parse object edge interface polynomial import link-library from to piece defines "
    "integrator node layout at of on "
    "all action delete debug-print apply unapply with when state event terminate any set io within "
    "initial-state context as bidirectional "
    "settings no-self probability"
)
"""Keywords of statements."""
SELECTORS = (
    "templates templates-root applied-templates root debug children parent first last subset edges siblings "
    "unique count name self nodes "
    "imports objects variables actions functions not if ifstr notstr from-set type has-flag has-template "
    "reverse input output inputs "
    "outputs input-name output-name recurse append-context reduce sort xor"
)
"""Keywords that are steps of selectors."""
KEYWORDS = {w: w.upper().replace("-", "_") for w in f"{FLAGS} {STATEMENTS} {SELECTORS}".split()}
"""The kind of word, as the grammar names it, of every keyword."""


def _parenthesised_pattern(depth: int) -> str:
    """Return a pattern of text in parentheses that holds further pairs of them, nested up to a depth."""
    inside = r"[^()\\]|\\."
    for _ in range(depth):
        inside = rf"[^()\\]|\\.|\((?:{inside})*\)"
    return rf"\((?:{inside})*\)"


REFERENCE_KEY = r"(?:\[[^\]\n]*\]|[0-9]+|[^\W\d][\w\u0300-\u036f]*(?:-[^\W\d][\w\u0300-\u036f]*)*)"
"""What stands behind the @ of a reference: a number, a name, or anything in brackets."""
TOKEN_PATTERN = re.compile(
    rf"""
    (?P<SPACE>[\s;]+)
  | (?P<NOTE>\#\#[^\n]*)
  | (?P<COMMENT>\#[^\n]*)
  | (?P<STRING>"(?:[^"\\]|\\.)*")
  | (?P<REGEX>/(?:[^/\\\n]|\\.)+/)
  | (?P<CHOICE>\$\${_parenthesised_pattern(6)})
  | (?P<CALCULATION>\${_parenthesised_pattern(6)})
  | (?P<REFERENCE>@+{REFERENCE_KEY}(?:\[[^\]\n]*\])*)
  | (?P<NUMBER>[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?(?![\w]))
  | (?P<ID>[^\W\d](?:[\w\u0300-\u036f]|-(?=\w))*)
  | (?P<OP>\?\$=|\$=|\?=|\+=|<=|[-=|\[\](){{}}<>,:.+'])
""",
    re.X | re.S,
)
"""One word of any kind, a comment, or space; the name of the group is its kind."""
OPERATORS = {
    "?$=": "SET_ENVIRONMENT_IF_NEW", "$=": "SET_ENVIRONMENT", "?=": "SET_IF_NEW", "+=": "ADDS",
    "<=": "BECOMES", "=": "EQUALS", "|": "BAR", "[": "LSQ", "]": "RSQ", "(": "LPAR", ")": "RPAR",
    "{": "LBRACE", "}": "RBRACE", "<": "LESS", ">": "GREATER", ",": "COMMA", ":": "COLON",
    ".": "DOT", "+": "PLUS", "-": "MINUS", "'": "PRIME",
}  # fmt: skip
"""The kind of word, as the grammar names it, of every operator and bracket."""
UNCLOSED = {
    '"': "a text that begins here is never closed: add '\"'",
    "/": "a pattern that begins here is never closed: add '/'",
}
"""What is wrong where no word begins, but one of these characters stands."""


class Word(Token):
    """A token of lark that knows the text it is from, and the annotation that stands before it."""

    source: Source
    note: str

    @property
    def mark(self) -> Mark:
        """The place where the word begins."""
        return Mark(self.source, self.line or 0, self.column or 0)


def words(source: Source) -> Iterator[Word]:
    """Split a text into words, one after the other. Raises `Mistake` where no word begins."""
    text, at, line, line_start = source.text, 0, 1, 0
    note: list[str] = []
    below = 0
    match = TOKEN_PATTERN.match
    if text.startswith("\ufeff"):
        at = line_start = 1
    while at < len(text):
        token = match(text, at)
        if not token:
            what = UNCLOSED.get(text[at], f"'{text[at]}' is no part of the language")
            raise Mistake(what, Mark(source, line, at - line_start + 1))
        kind, value = token.lastgroup or "", token[0]
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
        at = token.end()


HEADING = re.compile(r"\ufeff?(?:[ \t]*(?:#(?!#)[^\n]*)?\n)*((?:[ \t]*##[^\n]*\n)+)[ \t]*\n")
"""Annotations at the beginning of a text, and the empty line behind them."""


def heading(text: str) -> str:
    """Return the annotation a text begins with, if an empty line follows: it is that of the whole network."""
    match = HEADING.match(text)
    return "\n".join(line.strip()[2:].strip() for line in match[1].splitlines()) if match else ""
