"""Matches patterns of selectors (regular expressions) with bounded work: one that backtracks can take longer
than the universe is old.

Plain patterns on short names are left to `re`. All others are translated into instructions and followed by a
backtracking search that never visits the same instruction at the same place twice (as RE2's bit-state
matcher), which finds the same match and the same groups, in steps of at most the length of the pattern times
that of the name. Only where a repetition ends with an empty turn, as `(a*)*` does, its group is the turn
before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants as op
from re import _parser
from typing import Any

from strut.network.text.errors import LimitExceeded, Mistake

MAX_PATTERN = 2000
"""Length of a pattern, at most [characters], and number of its instructions once its repetitions are written
out."""
MAX_PLAIN_CHOICES = 3
"""Number of choices (repetitions of a character, alternatives) that a plain pattern has, at most: it
backtracks at most with the cube of the name's length."""
MAX_PLAIN_NAME = 64
"""Length of a name that `re` matches with a plain pattern, at most [characters]."""
MAX_STEPS = 2_000_000
"""Number of steps that all searches of one network take together, at most."""
MAX_PATTERN_SHOWN = 60
"""Length of a pattern in a message, at most [characters]."""

Code = list[tuple[Any, ...]]
"""Instructions: ("one", test), ("split", first, second), ("jump", to), ("save", slot), ("at", is it the
beginning?), ("match",)."""
Test = Callable[[str], bool]
"""Does a character match?"""
_SINGLE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
"""Parts of a pattern that match one character."""
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
"""Classes of characters, as patterns."""


@dataclass
class StepBudget:
    """How many steps the searches of one network may still take."""

    left: int = field(default=MAX_STEPS)


@dataclass(frozen=True)
class Pattern:
    """A pattern: compiled by `re`, and as instructions for those that could take long there.

    plain: `re` matches short names quickly. code: None if the pattern cannot be translated.
    """

    text: str
    plain: bool
    compiled: re.Pattern[str]
    code: Code | None

    @property
    def short(self) -> str:
        """The beginning of its text, as errors show it."""
        return self.text[:MAX_PATTERN_SHOWN]

    def groups(self, name: str, budget: StepBudget) -> tuple[str, ...] | None:
        """Return the whole match and its groups if the pattern fits all of a name, else None.

        Raises `Mistake` if that could take forever, and `LimitExceeded` if the budget is spent.
        """
        if self.plain and len(name) <= MAX_PLAIN_NAME:
            match = self.compiled.fullmatch(name)
            return None if match is None else (match[0], *(g or "" for g in match.groups()))
        if self.code is None:
            raise Mistake(
                f"the pattern /{self.short}/ looks ahead or back, or refers to what it found, among more "
                f"than {MAX_PLAIN_CHOICES} "
                f"choices or in a name of more than {MAX_PLAIN_NAME} characters, which can take forever: "
                f"write it plainer"
            )
        return _search(self, self.code, name, budget)


@lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Compile the text between slashes, once. Raises `Mistake` if it is no pattern, or too long."""
    short = text[:MAX_PATTERN_SHOWN]
    if len(text) > MAX_PATTERN:
        raise Mistake(f"the pattern /{short}.../ has {len(text)} characters: {MAX_PATTERN} are the most")
    written = text.replace("\\/", "/")
    try:
        compiled = re.compile(written)
        tree = _parser.parse(written)
        choices = _choices(tree)
        code = _code(tree) if compiled.flags == re.UNICODE else None
    except (re.error, OverflowError) as error:
        raise Mistake(f"/{short}/ is no pattern: {error}") from error
    except RecursionError as error:
        raise Mistake(f"/{short}/ is no pattern: it nests too deep") from error
    return Pattern(
        text, plain=choices is not None and choices <= MAX_PLAIN_CHOICES, compiled=compiled, code=code
    )


class _Untranslatable(Exception):
    """A pattern has a part that no instruction stands for."""


def _choices(tree: Any) -> int | None:
    """Return the number of choices a pattern leaves; None where something repeats that is more than one
    character."""
    total = 0
    for kind, value in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, body = value
            if len(body) != 1 or body[0][0] not in _SINGLE:
                return None
            total += least != most
            continue
        inner: list[Any] = []
        if kind is op.BRANCH:
            inner = value[1]
            total += 1
        elif kind is op.SUBPATTERN:
            inner = [value[-1]]
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            inner = [value[1]]
        elif kind not in (*_SINGLE, op.AT, op.GROUPREF):
            return None
        for each in inner:
            count = _choices(each)
            if count is None:
                return None
            total += count
    return total


# ---- translation into instructions ----


def _code(tree: Any) -> Code | None:
    """Translate a pattern that `re` parsed into instructions; None if it has a part that none stands for."""
    code: Code = []
    try:
        _translate(tree, code)
    except _Untranslatable:
        return None
    code.append(("match",))
    return code


def _translate(tree: Any, code: Code) -> None:
    """Append the instructions of a parsed pattern."""
    for kind, value in tree:
        if len(code) > MAX_PATTERN:
            raise Mistake(
                f"a pattern is made of more than {MAX_PATTERN} parts once its repetitions are written out: "
                f"write it plainer"
            )
        if kind in _SINGLE:
            code.append(("one", _character_test(kind, value)))
        elif kind is op.BRANCH:
            _translate_branches(value[1], code)
        elif kind is op.SUBPATTERN:
            group, added, removed, body = value
            if added or removed:
                raise _Untranslatable
            if group is not None:
                code.append(("save", 2 * group))
            _translate(body, code)
            if group is not None:
                code.append(("save", 2 * group + 1))
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            _translate_repeat(value, kind is op.MAX_REPEAT, code)
        elif kind is op.AT and value in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            code.append(("at", True))
        elif kind is op.AT and value in (op.AT_END, op.AT_END_STRING):
            code.append(("at", False))
        else:
            raise _Untranslatable


def _translate_branches(bodies: list[Any], code: Code) -> None:
    """Append the instructions of alternatives, `a|b`: the first is tried first."""
    ends = []
    for body in bodies[:-1]:
        split = len(code)
        code.append(("split", split + 1, 0))
        _translate(body, code)
        ends.append(len(code))
        code.append(("jump", 0))
        code[split] = ("split", split + 1, len(code))
    _translate(bodies[-1], code)
    for end in ends:
        code[end] = ("jump", len(code))


def _translate_repeat(value: Any, greedy: bool, code: Code) -> None:
    """Append the instructions of a repetition; a greedy one tries another turn before what follows."""
    least, most, body = value

    def split(at: int, inside: int, after: int) -> None:
        code[at] = ("split", inside, after) if greedy else ("split", after, inside)

    for _ in range(least):
        _translate(body, code)
    if most is op.MAXREPEAT:
        begin = len(code)
        code.append(())
        _translate(body, code)
        code.append(("jump", begin))
        split(begin, begin + 1, len(code))
        return
    splits = []
    for _ in range(most - least):
        splits.append(len(code))
        code.append(())
        _translate(body, code)
    for at in splits:
        split(at, at + 1, len(code))


def _character_test(kind: Any, value: Any) -> Test:
    """Return the test of a part that matches one character."""
    if kind is op.LITERAL:
        return _equals(chr(value))
    if kind is op.NOT_LITERAL:
        unwanted = chr(value)
        return lambda c: c != unwanted
    if kind is op.ANY:
        return lambda c: c != "\n"
    tests: list[Test] = []
    negated = False
    for part, what in value:
        if part is op.NEGATE:
            negated = True
        elif part is op.LITERAL:
            tests.append(_equals(chr(what)))
        elif part is op.RANGE:
            tests.append(_between(what[0], what[1]))
        elif part is op.CATEGORY and what in _CATEGORIES:
            tests.append(_of_category(re.compile(_CATEGORIES[what])))
        else:
            raise _Untranslatable
    return lambda c: any(test(c) for test in tests) is not negated


def _equals(character: str) -> Test:
    return lambda c: c == character


def _between(low: int, high: int) -> Test:
    return lambda c: low <= ord(c) <= high


def _of_category(category: re.Pattern[str]) -> Test:
    return lambda c: category.match(c) is not None


def _search(of: Pattern, code: Code, name: str, budget: StepBudget) -> tuple[str, ...] | None:
    """Search by backtracking with memory: an instruction that failed at a place is not tried there again.
    Return the whole name and the groups, or None."""
    end, visited = len(name), set()
    # where each group begins and ends; what is still to be tried, or to be undone, last in first out
    slots: list[int | None] = [None] * (2 * of.compiled.groups + 2)
    waiting: list[tuple[Any, ...]] = [(0, 0)]
    while waiting:
        item = waiting.pop()
        if len(item) == 3:  # a group is what it was before this was tried
            slots[item[0]] = item[1]
            continue
        at, place = item
        while True:
            key = at * (end + 1) + place
            if key in visited:
                break
            visited.add(key)
            budget.left -= 1
            if budget.left < 0:
                raise LimitExceeded(
                    f"patterns take more than {MAX_STEPS} steps, /{of.short}/ among them: write it plainer"
                )
            step = code[at]
            kind = step[0]
            if kind == "one":
                if place >= end or not step[1](name[place]):
                    break
                at, place = at + 1, place + 1
            elif kind == "split":
                waiting.append((step[2], place))
                at = step[1]
            elif kind == "jump":
                at = step[1]
            elif kind == "save":
                waiting.append((step[1], slots[step[1]], None))
                slots[step[1]] = place
                at += 1
            elif kind == "at":
                if place != (0 if step[1] else end):
                    break
                at += 1
            else:
                if place != end:
                    break
                pairs = zip(slots[2::2], slots[3::2], strict=True)
                return (name, *("" if a is None or b is None else name[a:b] for a, b in pairs))
    return None
