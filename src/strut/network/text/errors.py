"""Mistakes in a network, and where they stand: file, line, column, a caret, and the expansion that led
there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from strut.errors import ModelError

MAX_PROBLEMS = 20
"""Number of problems that are collected, at most: what follows is mostly their consequence."""
MAX_MESSAGE = 800
"""Length of one message, at most [characters]; of a longer one the middle is left out."""
MAX_WORD = 120
"""Length of one word in a message, at most [characters]."""
MAX_TRAIL = 8
"""Number of steps that are named on the way to a mistake, at most: the first and the last."""
MAX_SNIPPET = 140
"""Length of a line that is shown above a caret, at most [characters]."""
SNIPPET_BEFORE = 100
"""Length of what is shown of a long line before its caret, at most [characters]."""
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD + 1},}}")


def shorten(text: str) -> str:
    """Return a text with the middle of long words left out and, if it is still too long, its own middle."""
    if len(text) <= MAX_WORD:
        return text
    text = _LONG_WORD.sub(lambda word: f"{word[0][: MAX_WORD // 2]}...{word[0][-MAX_WORD // 4 :]}", text)
    return (
        text
        if len(text) <= MAX_MESSAGE
        else f"{text[: MAX_MESSAGE * 2 // 3]} [...] {text[-MAX_MESSAGE // 4 :]}"
    )


@dataclass(frozen=True)
class Source:
    """A text, the name of the file it is from, and its lines, which are split when one is asked for."""

    name: str
    text: str = field(repr=False)
    lines: list[str] = field(init=False, repr=False, compare=False, default_factory=list)

    def line(self, number: int) -> str:
        """Return a line by its number, which counts from 1; empty if there is none."""
        if not self.lines:
            self.lines.extend(self.text.splitlines() or [""])
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text: line and column count from 1."""

    source: Source
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def picture(self) -> str:
        """Return the line of text, or a part of it, and a caret below the place."""
        text = self.source.line(self.line)
        start = max(0, self.column - SNIPPET_BEFORE)
        snippet = text[start : start + MAX_SNIPPET].replace("\t", " ")
        return f"    {snippet}\n    {' ' * (self.column - 1 - start)}^"


@dataclass(frozen=True)
class NetworkProblem:
    """One mistake: a message, its place, and the steps of expansion and inclusion that led there."""

    message: str
    mark: Mark | None = None
    trail: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shorten(self.message))
        object.__setattr__(self, "trail", tuple(shorten(step) for step in self.trail))

    def steps(self) -> tuple[str, ...]:
        """Return the steps that led here, at most `MAX_TRAIL` of them."""
        left_out = len(self.trail) - MAX_TRAIL
        if left_out <= 1:
            return self.trail
        half = MAX_TRAIL // 2
        return (*self.trail[:half], f"... {left_out} more ...", *self.trail[-half:])

    def __str__(self) -> str:
        if self.mark is None:
            return "\n".join([self.message, *(f"  {step}" for step in self.steps())])
        return "\n".join(
            [f"{self.mark}: {self.message}", self.mark.picture(), *(f"  {step}" for step in self.steps())]
        )


def _place_key(problem: NetworkProblem) -> tuple[bool, bool, str, int, int]:
    """Return a key that sorts mistakes by place: those of the model itself come before those of what it
    includes, which they may cause."""
    mark = problem.mark
    included = any(step.startswith(("included from", "imported from")) for step in problem.trail)
    if mark is None:
        return (True, included, "", 0, 0)
    return (False, included, mark.source.name, mark.line, mark.column)


class NetworkError(ModelError):
    """A network cannot be read or built; `problems` lists every mistake, sorted by place."""

    def __init__(self, problems: Sequence[NetworkProblem]) -> None:
        self.problems = tuple(sorted(problems, key=_place_key))
        super().__init__("\n".join(str(p) for p in self.problems[:MAX_PROBLEMS]))


class Mistake(ModelError):
    """One mistake, raised where it is seen; callers that know its place add it with `at`."""

    def __init__(self, message: str, mark: Mark | None = None, trail: tuple[str, ...] = ()) -> None:
        self.problem = NetworkProblem(message, mark, trail)
        super().__init__(self.problem.message)

    def at(self, mark: Mark | None, *trail: str) -> Mistake:
        """Give the mistake a place, if it has none yet, and further steps of its trail; return it."""
        p = self.problem
        self.problem = replace(
            p, mark=p.mark or mark, trail=(*p.trail, *(step for step in trail if step not in p.trail))
        )
        return self


class LimitExceeded(Mistake):
    """A model exceeds a limit of size or depth; building stops at once."""


class MissingExpansion(Mistake):
    """A text refers to an expansion that does not exist."""
