"""Parses a text into statements, with lark's LALR parser. A mistake does not end the reading: the parser
drops the statement it is in, and goes on with the next (panic-mode recovery)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
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
"""How messages call the kinds of words."""
MIN_LIKENESS_EXPECTED = 0.5
"""How similar a word must be to one that may stand here to be taken for it misspelt; 1 is equal (difflib's
ratio)."""
MIN_LIKENESS_ANY = 0.7
"""How similar a word must be to any of the language to be taken for it misspelt; 1 is equal (difflib's
ratio)."""
MAX_BLOCK_DEPTH = 150
"""Levels of blocks in a text, at most: running them recurses."""
MAX_WORD_SHOWN = 40
"""Length of a word that is quoted in full, at most [characters]."""
MAX_EXPECTED_SHOWN = 6
"""Number of words that a message lists as possible, at most."""


class _NoLexer(Lexer):
    """A lexer that gives lark no words: `_StatementReader` feeds them."""

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Word]:
        yield from ()


@cache
def _grammar() -> Lark:
    """Return the parser of the language, made once."""
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
    """Feeds words to the parser; after a mistake it looks for the next statement.

    depth: blocks that are open. skip_depth: after a mistake, the number of open blocks at which the next
        statement may begin; None while all is well. last: the word before.
    """

    def __init__(self) -> None:
        self.state = _grammar().parse_interactive("").parser_state
        self.table = self.state.parse_conf.states
        self.problems: list[NetworkProblem] = []
        self.depth = 0
        self.skip_depth: int | None = None
        self.last: Word | None = None

    def take(self, word: Word) -> None:
        """Feed one word, or skip it after a mistake. Raises `Mistake` where blocks nest too deep."""
        begins_line = self.last is None or word.line != self.last.line
        previous, self.last = self.last, word
        before = self.depth
        self.depth += (word.type == "LBRACE") - (word.type == "RBRACE")
        if self.depth > MAX_BLOCK_DEPTH:
            raise Mistake(f"blocks nest deeper than {MAX_BLOCK_DEPTH} levels", word.mark)
        # after a mistake: words are skipped until the block ends, or a statement begins on a new line of it
        if self.skip_depth is not None:
            ends = word.type == "RBRACE" and self.depth < self.skip_depth
            begins = (
                begins_line
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
            # drop the statement; a brace that closes the block around it is no part of the mistake
            left = self._unwind()
            if word.type == "RBRACE" and not left and self._fits(word):
                self.state.feed_token(word)
            else:
                self.skip_depth = max(before - left, 0)

    def _fits(self, word: Word) -> bool:
        """Does the parser accept a word here?"""
        try:
            self.state.copy(deepcopy_values=False).feed_token(word)
        except UnexpectedToken:
            return False
        return True

    def _unwind(self) -> int:
        """Drop what was begun since the last place where a statement may stand; return how many blocks are
        left by that."""
        state, left = self.state, 0
        while len(state.state_stack) > 1 and not self._may_begin(self.table[state.position]):
            state.state_stack.pop()
            dropped = state.value_stack.pop()
            left += isinstance(dropped, Word) and dropped.type == "LBRACE"
        return left

    @staticmethod
    def _may_begin(row: Mapping[str, tuple[Any, ...]]) -> bool:
        """May a statement begin where the parser's table has this row? It may where 'node' is shifted, and so
        does not end something else."""
        return row.get("NODE", (None,))[0] is Shift and ("RBRACE" in row or "$END" in row)

    def end(self, source: Source) -> list[Statement]:
        """Return all statements. Raises `NetworkError` after mistakes, and if the text ends too early."""
        if self.problems:  # of what could be read, expressions can be checked: they depend on nothing else
            raise NetworkError([*self.problems, *formula_problems(self.state.value_stack)])
        last = self.last
        word = Word(
            "$END", "", last.start_pos if last else 0, last.line if last else 1, last.column if last else 1
        )
        word.source = source
        try:
            statements: list[Statement] = self.state.feed_token(word, True)
            return statements
        except UnexpectedToken as error:
            raise NetworkError([_unexpected_word(error, word)]) from error


def parse(source: Source) -> list[Statement]:
    """Return the statements of a text. Raises `NetworkError`, which lists everything that cannot be read."""
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
    """Return the statements of a text that may be read again, and keep them: nobody changes statements."""
    return parse(source)


def _unexpected_word(error: UnexpectedToken, word: Word) -> NetworkProblem:
    """Return the problem of a word that may not stand where it does."""
    expected = error.expected or set()
    if word.type == "$END":
        return NetworkProblem(
            "the text ends in the middle of something: a closing '}' may be missing", word.mark
        )
    short = word.value if len(word.value) < MAX_WORD_SHOWN else word.value[: MAX_WORD_SHOWN - 3] + "..."
    what = f"'{short}' is not expected here"
    if 0 < len(expected) <= MAX_EXPECTED_SHOWN:
        what += f": {' or '.join(sorted(TOKEN_WORDS.get(e, e.lower()) for e in expected))} may stand here"
    elif word.type in KEYWORDS.values() and "STRING" in expected:
        what += f': it is a word of the language; as a name, write it in quotes, "{word.value}"'
    return NetworkProblem(what, word.mark)


def _misspelt_word(expected: set[str], word: Word, previous: Word | None) -> NetworkProblem | None:
    """Return the problem if a word is nearly one of the language, else None.

    That is a word that may stand here, or the `previous` one, which was taken for a name and is followed by
    what follows no name.
    """
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
