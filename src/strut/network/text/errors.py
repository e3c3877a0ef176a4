"""Mistakes in a network, and where they stand: file, line, column, a caret, and the expansion that led
there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from strut.errors import ModelError

MAX_PROBLEMS = 20
"""More problems are not collected: what follows is mostly their consequence."""
MAX_MESSAGE = 800
"""What is said about one mistake is not longer [characters]; the middle is left out."""


MAX_WORD = 120
"""No word in it is longer [characters]."""
MAX_TRAIL = 8
"""So many of the steps that led to a mistake are named, the first and the last."""
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD + 1},}}")


def shorten(text: str) -> str:
    """A text as long as can be read: long words and, if it is still too long, the whole lose their middle."""
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
    """A text and what it is called."""

    name: str
    text: str = field(repr=False)
    lines: list[str] = field(init=False, repr=False, compare=False, default_factory=list)

    def line(self, number: int) -> str:
        if not self.lines:
            self.lines.extend(self.text.splitlines() or [""])
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text."""

    source: Source
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def picture(self) -> str:
        """The line, and a caret below the place."""
        text = self.source.line(self.line)
        start = max(0, self.column - 100)
        shown = text[start : start + 140].replace("\t", " ")
        return f"    {shown}\n    {' ' * (self.column - 1 - start)}^"


@dataclass(frozen=True)
class NetworkProblem:
    """One mistake: what, where, and through which steps it came about."""

    message: str
    mark: Mark | None = None
    trail: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shorten(self.message))
        object.__setattr__(self, "trail", tuple(shorten(step) for step in self.trail))

    def steps(self) -> tuple[str, ...]:
        """What led here, at most `MAX_TRAIL` steps of it."""
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


def _place(problem: NetworkProblem) -> tuple[bool, bool, str, int, int]:
    """Sorts mistakes by place: those of the model itself before those of what it includes, which they may
    cause."""
    mark, included = (
        problem.mark,
        any(step.startswith(("included from", "imported from")) for step in problem.trail),
    )
    return (
        (True, included, "", 0, 0)
        if mark is None
        else (False, included, mark.source.name, mark.line, mark.column)
    )


class NetworkError(ModelError):
    """A network is wrong; `problems` lists every mistake found."""

    def __init__(self, problems: Sequence[NetworkProblem]) -> None:
        self.problems = tuple(sorted(problems, key=_place))
        super().__init__("\n".join(str(p) for p in self.problems[:MAX_PROBLEMS]))


class Mistake(ModelError):
    """One mistake on its way up: whoever knows the place adds it."""

    def __init__(self, message: str, mark: Mark | None = None, trail: tuple[str, ...] = ()) -> None:
        self.problem = NetworkProblem(message, mark, trail)
        super().__init__(self.problem.message)

    def at(self, mark: Mark | None, *trail: str) -> Mistake:
        """The same mistake, at this place if it has none yet."""
        p = self.problem
        self.problem = replace(
            p, mark=p.mark or mark, trail=(*p.trail, *(step for step in trail if step not in p.trail))
        )
        return self


class LimitExceeded(Mistake):
    """A limit was reached; nothing further is tried."""


class MissingExpansion(Mistake):
    """A text refers to an expansion that does not exist."""
