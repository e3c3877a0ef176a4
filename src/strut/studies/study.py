"""`Study`: published numbers beside ours, with a remark where they differ."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Protocol

from strut.errors import ValueRangeError
from strut.html import card
from strut.simulate import Trajectory
from strut.tabular import Tabular

ROUNDING = 1e-9
"""Part of half a digit by which a number may miss it through rounding alone."""
SECONDS_PER_MINUTE = 60.0
"""[s] In a minute."""


@dataclass(frozen=True)
class Row:
    """One quantity: what was published, what strut finds, and why they differ if they do."""

    quantity: str
    published: str
    ours: str
    remark: str = ""


@dataclass(frozen=True)
class Plot:
    """Curves over a parameter, as plain numbers: what a page of a study draws. nan breaks a curve. band: what
    is usual, lower and upper values; remark: under the title, such as where these come from."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    curves: Mapping[str, Sequence[float]]
    log_x: bool = False
    band: tuple[Sequence[float], Sequence[float]] | None = None
    remark: str = ""


@dataclass(frozen=True)
class ColourMap:
    """Values over a grid, as plain numbers: `values` by row (y) and column (x). points: what is marked in it,
    by name, each its x and y."""

    title: str
    x_label: str
    y_label: str
    value_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: Sequence[Sequence[float]]
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True)
class Picture:
    """A drawing of a study's page: the text of one or several SVG images, side by side, under a title."""

    title: str
    svg: str


def _no_pictures() -> Sequence[Picture]:
    """What a study draws that has curves alone."""
    return ()


def _no_plots() -> Sequence[Plot]:
    """What a study draws that has tables alone."""
    return ()


def _no_film() -> Trajectory | None:
    """What a study shows in motion that has curves alone."""
    return None


@dataclass(frozen=True)
class Study(Tabular):
    """A published result that strut computes anew. source: where it was published. plots: what its page draws
    besides the table; pictures: drawings, which come after the curves; film: a run that it shows in motion,
    before them. rows_with_progress: the same rows of a study that takes minutes, computed by what says a line
    at a time what it is at."""

    name: str
    title: str
    source: str
    rows: Callable[[], list[Row]]
    plots: Callable[[], Sequence[Plot]] = _no_plots
    pictures: Callable[[], Sequence[Picture]] = _no_pictures
    film: Callable[[], Trajectory | None] = _no_film
    rows_with_progress: Callable[[Callable[[str], None]], list[Row]] | None = None

    def columns(self) -> dict[str, list[str]]:
        """Compute the study, and return quantity, published, ours and remark of every row."""
        rows = self.rows()
        return {f.name: [getattr(row, f.name) for row in rows] for f in fields(Row)}

    def _repr_html_(self) -> str:
        """In a notebook: what it is; computing it may take minutes."""
        return card(f"Study {self.name}", f"{self.title}. {self.source}", {})


@dataclass(frozen=True)
class SearchOrder:
    """What is asked of a study that searches.

    folder: where everything is kept; a search goes on with what is there. runs, generations, population: of
    each search; None for as many as were published. parts: of a study that has several, how many, from the
    first; None for all. trials: of a study that counts these. seed: of its random numbers; None for its own.
    peak_power: of one actuator, at most [W]; peak_force: at one place between human and machine, at most
    [N]; None for no such goal. only: of what is searched, names; all unless given. keep: what of a known
    design stays as it is. device, precision, crew: where and how individuals are run, as of
    `simulate_batch`; step: of integration [s], None for the study's own; a search is gone on with as it was
    begun. minutes: after which the search stops, to be gone on with; None for no end. search: False for what
    was found before, searched no further. verify: whether what was found is run again more exactly, compared
    and told.
    """

    folder: Path
    runs: int | None = None
    generations: int | None = None
    parts: int | None = None
    trials: int | None = None
    population: int | None = None
    seed: int | None = None
    device: str = "cpu"
    precision: str = "double"
    crew: int | str = "auto"
    step: float | None = None
    minutes: float | None = None
    peak_power: float | None = None
    peak_force: float | None = None
    only: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    search: bool = True
    verify: bool = True

    @property
    def limits(self) -> dict[str, float]:
        """By measure what peaks may be at most [W, N]: goals before the last one."""
        own = {"peak_power": self.peak_power, "peak_interaction": self.peak_force}
        return {name: limit for name, limit in own.items() if limit is not None}

    def minutes_left(self, began: float, share: float = 1.0) -> float | None:
        """Return how many minutes of those that were asked for are left, at most 0 where they are over; None
        where there is no end. began: `time.monotonic()` of when the study began [s]. share: which part of
        the minutes may be used [1]."""
        if self.minutes is None:
            return None
        return share * self.minutes - (clock.monotonic() - began) / SECONDS_PER_MINUTE


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What a study knows after it searched: rows, curves, and a run to be shown as a moving picture, if there
    is one; maps of what it searched; drawings; films: runs that move beside each other, by title. later_rows:
    computes rows that take long, such as multipliers; a page is written without them first."""

    rows: list[Row]
    plots: Sequence[Plot] = ()
    film: Trajectory | None = None
    maps: Sequence[ColourMap] = ()
    pictures: Sequence[Picture] = ()
    films: Mapping[str, Trajectory] = field(default_factory=dict)
    later_rows: Callable[[], list[Row]] | None = None

    def with_later_rows(self) -> SearchOutcome:
        """Return the same with the rows that take long, computed."""
        if self.later_rows is None:
            return self
        return replace(self, rows=[*self.rows, *self.later_rows()], later_rows=None)


class CompilableEvaluation(Protocol):
    """What evaluates individuals by runs that a card can do."""

    def compile_for(self, capability: str) -> list[Path]:
        """Compile what runs on a card of a compute capability, and return the files."""


@dataclass(frozen=True)
class SearchStudy(Study):
    """A study that searches for long, and goes on with what it has. carry_out: does what is asked, and says
    how far it is, a line at a time. takes: what of a `SearchOrder` may be said of it, besides what all
    take. parts: how many its search has, one after the other. evaluations: with what it evaluates, all that
    an order needs, to be compiled for a card of another machine."""

    carry_out: Callable[[SearchOrder, Callable[[str], None]], SearchOutcome] | None = None
    takes: tuple[str, ...] = ("runs", "generations", "device", "precision", "crew", "step")
    parts: int = 1
    evaluations: Callable[[SearchOrder], Sequence[CompilableEvaluation]] | None = None


def cost_verdict(published: str, ours: float) -> str:
    """Return whether a cost is what was published, in its digits, or better or worse than it, and by how
    much: "worse than published by 12 %".

    published: the number as it is printed, whose last digit says how exactly it is known. ours: not rounded.
    """
    printed = Decimal(published)
    exponent = printed.as_tuple().exponent
    if not isinstance(exponent, int) or printed <= 0:
        raise ValueRangeError(f"published is '{published}': give a positive number, as it is printed")
    if not math.isfinite(ours):
        return f"not found ({ours})"
    value = float(printed)
    if abs(ours - value) <= 0.5 * 10.0**exponent * (1 + ROUNDING):
        return "as published"
    word = "worse" if ours > value else "better"
    return f"{word} than published by {100 * abs(ours / value - 1):.3g} %"
