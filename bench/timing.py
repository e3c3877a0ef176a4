"""How time is taken: contenders in turns, so that a machine that slows down slows all of them, and every
timing kept."""

from __future__ import annotations

import statistics
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

LADDER = tuple(10 ** (-k / 2) for k in range(12, 28))
"""Tolerances to try, 1e-6 to about 3e-14 (SciPy allows no tighter) by half decades: fine enough that nobody
is compared at ten times the accuracy of another."""


@dataclass(frozen=True)
class Effort:
    """How long to measure. In each round every contender runs at least once, then until its share of time is
    used up."""

    rounds: int = 5
    share: float = 0.06  # [s] five rounds of it make 0.3 s
    cap: float = 5.0  # [s] of one contender in all; a slow one then gets fewer rounds


FULL, QUICK = Effort(), Effort(rounds=2, share=0.02, cap=1.0)


@dataclass(frozen=True)
class Contender:
    """Something to be timed. Without a `call` its package is not installed, and it is listed but not run."""

    name: str
    setting: str = ""
    call: Callable[[], Any] | None = None
    error: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A contender and its times [s]. `kind` says whether they were measured here, extrapolated, or are
    quoted."""

    name: str
    setting: str = ""
    error: float | None = None
    times: tuple[float, ...] = ()
    note: str = ""
    kind: str = "measured"
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> float | None:
        return min(self.times, default=None)

    @property
    def median(self) -> float | None:
        return statistics.median(self.times) if self.times else None


@dataclass(frozen=True)
class Section:
    """A comparison: what was timed, what its errors are errors of, and rows whose ratios are to the first."""

    title: str
    error_is: str
    rows: tuple[Row, ...]
    remark: str = ""

    def ratio(self, row: Row) -> float | None:
        """Time of `row` over time of the first, best against best: on a shared machine the best is what
        others disturb least."""
        first = self.rows[0].best
        return row.best / first if row.best is not None and first else None


def measure(contenders: Sequence[Contender], effort: Effort) -> tuple[Row, ...]:
    """Warm up each contender once, then time them in turns."""
    times: list[list[float]] = [[] for _ in contenders]
    for contender in contenders:
        if contender.call:
            contender.call()
    for _ in range(effort.rounds):
        for contender, times_taken in zip(contenders, times, strict=True):
            if contender.call and sum(times_taken) < effort.cap:
                times_taken += _turn(contender.call, effort.share)
    return tuple(
        Row(c.name, c.setting, c.error, tuple(times_taken), c.note if c.call else c.note or "not installed")
        for c, times_taken in zip(contenders, times, strict=True)
    )


def _turn(call: Callable[[], Any], share: float) -> list[float]:
    times_taken: list[float] = []
    spent = 0.0
    while not times_taken or spent < share:
        began = clock.perf_counter()
        call()
        times_taken.append(clock.perf_counter() - began)
        spent += times_taken[-1]
    return times_taken


Solve = Callable[[float], Any]


def loosest(name: str, solve: Solve | None, error_of: Callable[[Any], float], target: float) -> Contender:
    """A contender at the loosest tolerance that reaches an error of `target`, and whose next tighter one does
    too: a single rung may be lucky. `solve` takes the tolerance, relative and absolute, and is None for a
        peer that is missing."""
    if solve is None:
        return Contender(name)
    errors = {LADDER[0]: error_of(solve(LADDER[0]))}
    for tolerance, tighter in pairwise(LADDER):
        errors[tighter] = error_of(solve(tighter))
        if max(errors[tolerance], errors[tighter]) <= target:
            return _at(name, solve, tolerance, errors[tolerance])
    best = min(errors, key=lambda tolerance: errors[tolerance])
    return _at(name, solve, best, errors[best], f"never reaches {target:.0e}; shown at its best")


def _at(name: str, solve: Solve, tolerance: float, error: float, note: str = "") -> Contender:
    return Contender(name, f"tol {tolerance:.1e}", lambda: solve(tolerance), error, note)
