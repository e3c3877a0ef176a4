"""From text to statements, with lark. A mistake does not end the reading: what follows the statement it is in
is read too."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from lark import Lark, UnexpectedToken
from lark.lexer import Lexer
from lark.parsers.lalr_analysis import Shift

from strut.network.text.check_formulas import formula_problems
from strut.network.text.errors import MAX_PROBLEMS, Mistake, NetworkError, NetworkProblem, Source
from strut.network.text.lexer import KEYWORDS, OPERATORS, Word, words
from strut.network.text.statements import Statement
from strut.network.text.transformer import Statements

TOKEN_WORDS = {
    **{kind: f"'{word}'" for word, kind in KEYWORDS.items()},
    **{kind: f"'{op}'" for op, kind in OPERATORS.items()},
}
TOKEN_WORDS |= {
    "STRING": "a text in quotes",
    "ID": "a name",
    "NUMBER": "a number",
    "$END": "the end",
    "REGEX": "a pattern",
}
MIN_LIKENESS_EXPECTED = 0.5
"""How like a word that may stand here one must be to be taken for it misspelt; 1 is equal (difflib's
ratio)."""
MIN_LIKENESS_ANY = 0.7
"""The same for a word that could be any of the language."""
MAX_BLOCK_DEPTH = 150
"""Blocks nest no deeper."""


class _NoLexer(Lexer):
    """lark is given words, not text."""

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Word]:
        yield from ()


@cache
def _grammar() -> Lark:
    text = resources.files("strut.network.text").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        lexer=_NoLexer,
        keep_all_tokens=True,
        maybe_placeholders=True,
        transformer=Statements(),
    )


class _StatementReader:
    """Feeds words to the parser; after a mistake it looks for the next statement."""

    def __init__(self) -> None:
        self.state = _grammar().parse_interactive("").parser_state
        self.table = self.state.parse_conf.states
        self.problems: list[NetworkProblem] = []
        self.depth = 0
        self.skip_depth: int | None = None
        self.last: Word | None = None

    def take(self, word: Word) -> None:
        fresh = self.last is None or word.line != self.last.line
        previous, self.last = self.last, word
        before = self.depth
        self.depth += (word.type == "LBRACE") - (word.type == "RBRACE")
        if self.depth > MAX_BLOCK_DEPTH:
            raise Mistake(f"blocks nest deeper than {MAX_BLOCK_DEPTH} levels", word.mark)
        if self.skip_depth is not None:
            ends = word.type == "RBRACE" and self.depth < self.skip_depth
            begins = (
                fresh
                and before == self.skip_depth
                and word.type in self.table[self.state.position]
                and word.type != "RBRACE"
            )
            if not (ends or begins):
                return
            self.skip_depth = None
        try:
            self.state.feed_token(word)
        except UnexpectedToken as error:
            self.problems.append(
                _misspelt_word(error.expected or set(), word, previous) or _unexpected_word(error, word)
            )
            left = self._unwind()
            if word.type == "RBRACE" and not left and self._fits(word):
                self.state.feed_token(word)
            else:
                self.skip_depth = max(before - left, 0)

    def _fits(self, word: Word) -> bool:
        try:
            self.state.copy(deepcopy_values=False).feed_token(word)
        except UnexpectedToken:
            return False
        return True

    def _unwind(self) -> int:
        """Give up what was begun since the last place where a statement may stand. How many blocks are left
        by that?"""
        state, left = self.state, 0
        while len(state.state_stack) > 1 and not self._may_begin(self.table[state.position]):
            state.state_stack.pop()
            given_up = state.value_stack.pop()
            left += isinstance(given_up, Word) and given_up.type == "LBRACE"
        return left

    @staticmethod
    def _may_begin(row: dict) -> bool:
        """A statement may begin where 'node' is not the end of something else."""
        return row.get("NODE", (None,))[0] is Shift and ("RBRACE" in row or "$END" in row)

    def end(self, source: Source) -> list[Statement]:
        if self.problems:  # of what could be read, expressions can be checked: they depend on nothing else
            raise NetworkError([*self.problems, *formula_problems(self.state.value_stack)])
        last = self.last
        word = Word(
            "$END", "", last.start_pos if last else 0, last.line if last else 1, last.column if last else 1
        )
        word.source = source
        try:
            return self.state.feed_token(word, True)
        except UnexpectedToken as error:
            raise NetworkError([_unexpected_word(error, word)]) from error


def parse(source: Source) -> list[Statement]:
    """The statements of a text; a `NetworkError` lists everything that cannot be read."""
    reader = _StatementReader()
    try:
        for word in words(source):
            reader.take(word)
            if len(reader.problems) >= MAX_PROBLEMS:
                break
    except Mistake as mistake:
        reader.problems.append(mistake.problem)
    return reader.end(source)


@lru_cache(maxsize=64)
def parse_once(source: Source) -> list[Statement]:
    """The same, for files that may be read again: nobody changes statements."""
    return parse(source)


def _unexpected_word(error: UnexpectedToken, word: Word) -> NetworkProblem:
    expected = error.expected or set()
    if word.type == "$END":
        return NetworkProblem(
            "the text ends in the middle of something: a closing '}' may be missing", word.mark
        )
    what = f"'{word.value if len(word.value) < 40 else word.value[:37] + '...'}' is not expected here"
    if 0 < len(expected) <= 6:
        what += f": {' or '.join(sorted(TOKEN_WORDS.get(e, e.lower()) for e in expected))} may stand here"
    elif word.type in KEYWORDS.values() and "STRING" in expected:
        what += f': it is a word of the language; as a name, write it in quotes, "{word.value}"'
    return NetworkProblem(what, word.mark)


def _misspelt_word(expected: set[str], word: Word, previous: Word | None) -> NetworkProblem | None:
    """The problem if a word is nearly one of the language: one that may stand here, or the one before, which
    was taken for a name and is followed by what follows no name."""
    near = difflib.get_close_matches(
        word.lower(), [k for k, kind in KEYWORDS.items() if kind in expected], 1, MIN_LIKENESS_EXPECTED
    )
    if word.type == "ID" and near:
        return NetworkProblem(f"'{word}' is not expected here: did you mean '{near[0]}'?", word.mark)
    if previous is not None and previous.type == "ID":
        near = difflib.get_close_matches(previous.lower(), list(KEYWORDS), 1, MIN_LIKENESS_ANY)
        if near:
            return NetworkProblem(
                f"'{previous}' is no word of the language: did you mean '{near[0]}'?", previous.mark
            )
    return None
