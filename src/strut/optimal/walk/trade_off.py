"""`trade_off`: designs over a speed, a parameter or the weight of a cost, each begun from its neighbour, in
parallel, and kept."""

from __future__ import annotations

import hashlib
import math
import multiprocessing
import os
import sys
import tempfile
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import StrutError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait
from strut.gait.section import default_section
from strut.gait.transport import has_slope, inclined
from strut.optimal.solver.guess import Guess
from strut.optimal.walk.costs import weighed
from strut.optimal.walk.design import COST_RESOLUTION, Design
from strut.optimal.walk.design_search import design, like_of, passive
from strut.optimal.walk.sweep_file import SweepFile, SweepPoint, packed
from strut.system import System, time

ASKED = {"speed": "m/s", "slope": "rad", "step_length": "m", "duration": "s", "torque": "N m", "friction": ""}
ASKED |= {"clearance": "m", "stability": ""}
"""What of `design` can be swept, besides parameters; with units."""
COST_PART = "part: "
"""What the name of a number begins with that is one of several costs."""
POLL = 0.1
"""How often progress is looked at [s]."""
NOTHING_BESIDE = 1e-6
"""Numbers of a sweep below this part of the largest of their kind are what solver and integrator leave: they
are shown as 0."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class TradeOff:
    """Designs over a value. name: of what was varied; unit: its unit. points: in the order of their
    values."""

    name: str
    unit: str
    points: tuple[SweepPoint, ...]
    wall: float
    file: Path | None
    units: Mapping[str, str] = field(repr=False, default_factory=dict)
    again: Callable[[float, Guess | None], Design] | None = field(repr=False, default=None)

    @property
    def ok(self) -> bool:
        return all(point.ok for point in self.points)

    @property
    def values(self) -> np.ndarray:
        return np.array([point.value for point in self.points])

    def __getitem__(self, quantity: str) -> np.ndarray:
        """A number of every point, by name; nan where there is none."""
        known = dict.fromkeys(name for point in self.points for name in point.numbers)
        if quantity not in known:
            raise UnknownNameError(f"the sweep has no '{quantity}': {did_you_mean(quantity, list(known))}")
        return np.array([point.numbers.get(quantity, math.nan) for point in self.points])

    @property
    def cost_parts(self) -> dict[str, str]:
        """The names of the numbers that are one of several costs, by the name of the cost."""
        names = dict.fromkeys(name for point in self.points for name in point.numbers)
        return {name.removeprefix(COST_PART): name for name in names if name.startswith(COST_PART)}

    def design(self, value: float) -> Design:
        """The whole design nearest to a value, solved once more from where it was found."""
        if self.again is None:
            raise ValueRangeError("this trade-off has lost its problem: sweep again to get whole designs")
        point = min(self.points, key=lambda each: abs(each.value - value))
        return self.again(point.value, point.plan)

    def rows(self, rounded: bool = True) -> tuple[list[str], list[list[object]]]:
        """A table: its head, and a row for each point. rounded: what is nothing beside the other rows of its
        column is 0."""
        names = [
            n
            for n in dict.fromkeys(name for point in self.points for name in point.numbers)
            if n != self.name
        ]
        head = [
            _titled(self.name, self.unit),
            "ok",
            "stable",
            *[_titled(n, self.units.get(n, "")) for n in names],
        ]
        columns = [_without_rounding(self[n]) if rounded and n != "defect" else self[n] for n in names]
        stable = {True: "yes", False: "no", None: "no gait"}
        body: list[list[object]] = [
            [p.value, "yes" if p.ok else "no", stable[p.stable], *[float(column[k]) for column in columns]]
            for k, p in enumerate(self.points)
        ]
        return head, body

    def data(self) -> dict[str, Any]:
        """What `strut design --sweep --json` prints."""
        points = [
            {"value": p.value, "ok": p.ok, "stable": p.stable, "status": p.status, **p.numbers}
            for p in self.points
        ]
        return {"name": self.name, "unit": self.unit, "points": points, "wall": self.wall}

    def __repr__(self) -> str:
        good = sum(point.ok for point in self.points)
        return f"<TradeOff over {self.name}: {good} of {len(self.points)} points ok, {self.wall:.3g} s>"


def _titled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _without_rounding(column: np.ndarray) -> np.ndarray:
    """A column with 0 for what is `NOTHING_BESIDE` of its largest value, or less."""
    largest = float(np.max(np.abs(column[np.isfinite(column)]), initial=0.0))
    return np.where(np.abs(column) <= max(NOTHING_BESIDE * largest, COST_RESOLUTION), 0.0, column)


@checked
def trade_off(
    walker: System,
    name: str,
    values: Sequence[float],
    free: Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: str | Mapping[str, float] = "squared-torque",
    *,
    file: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> TradeOff:
    """Design a walker for every value of something.

    name: 'speed', 'slope', 'step_length', 'duration', 'torque', 'friction' or 'stability' (see `design`), a
        parameter of the walker, or the weight of a cost: with cost={"squared-torque": 1, "energy": 1} it has
            parameters weight_squared_torque and weight_energy.
    values: in any order. The one in the middle is solved first, the others from their neighbours, in chains
        on `workers` processes (as many as there are cores unless given; where processes cannot fork, one
        after another). A point that fails is tried again from the other side.
    file: SQLite, where every point is kept as soon as it is found. A sweep that is asked for again with the
        same file goes on.
    progress: is told how many points of how many there are. free, cost, options: as for `design`.
    """
    began = clock.perf_counter()
    walker = weighed(walker, cost)
    known = {q.name: q.unit for q in walker.p}
    if name not in ASKED and name not in known:
        raise UnknownNameError(
            f"there is nothing called '{name}' to sweep: {did_you_mean(name, [*ASKED, *known])}"
        )
    if name in free:
        raise ValueRangeError(f"'{name}' is swept and free: leave it out of what is free")
    if name in options:
        raise ValueRangeError(f"'{name}' is swept and given as {options[name]!r}: leave one out")
    ordered = sorted({float(v) for v in values})
    if not ordered or not np.isfinite(ordered).all():
        raise ValueRangeError(f"a sweep over '{name}' needs finite values: it was given {list(values)}")
    work = _Work(walker, name, free, cost, options)
    with tempfile.TemporaryDirectory(prefix="strut-") as scratch:
        kept = SweepFile(Path(file) if file is not None else Path(scratch) / "sweep.sqlite", work.asked())
        tell = _Told(kept, ordered, progress)
        _run(work, kept, ordered, workers or os.cpu_count() or 1, tell)
        points = kept.points()
        tell()
        found = tuple(points[v] for v in ordered)
    units = {
        "speed": "m/s",
        "step length": "m",
        "step time": "s",
        "lost in impacts": "J",
        "work of the motors": "J",
        **known,
    }
    unit = ASKED.get(name, known.get(name, ""))
    return TradeOff(
        name,
        unit,
        found,
        clock.perf_counter() - began,
        Path(file) if file is not None else None,
        units,
        work.solve,
    )


class _Work:
    """One point after the other."""

    def __init__(self, walker: System, name: str, free: Any, cost: Any, options: dict[str, Any]) -> None:
        self.walker, self.name, self.free, self.cost, self.options = walker, name, free, cost, options
        self.like = self._like()

    def _like(self) -> Gait | None:
        """The gait that all points begin from, so that what is usual, and the phases, are the same for
        all."""
        given = self.options.pop("like", None) or like_of(self.options.get("guess"))
        if given is not None or self.options.get("guess") is not None:
            return given
        slope = self.options.get("slope")
        walker = self.walker if slope is None or not has_slope(self.walker) else inclined(self.walker, slope)
        return passive(walker, self.options.get("section") or default_section(walker))

    def asked(self) -> dict[str, Any]:
        """What makes this sweep this one, in words and by the content of the model."""
        w = self.walker
        groups = w.vectors()
        parts = [
            *[w.flow[q.name] for q in w.x],
            *[ca.vec(ca.SX(e)) for event in w.events for e in (event.guard, *event.reset.values())],
        ]
        model = ca.Function(
            "model", [time, *groups], [ca.vertcat(*[ca.vec(ca.SX(e)) for e in parts])]
        ).serialize()
        free = (
            {n: list(b) for n, b in self.free.items()} if isinstance(self.free, Mapping) else list(self.free)
        )
        others = {n: repr(v) for n, v in self.options.items() if n != "guess"}
        fixed = {q.name: np.asarray(q.value).tolist() for q in w.p if q.name != self.name}
        return {
            "sweep": self.name,
            "walker": w.name,
            "model": hashlib.sha256(model.encode()).hexdigest()[:16],
            "parameters": fixed,
            "free": free,
            "cost": dict(self.cost) if isinstance(self.cost, Mapping) else self.cost,
            "options": others,
        }

    def solve(self, value: float, guess: Guess | None) -> Design:
        options = dict(self.options)
        walker = self.walker
        if self.name in ASKED:
            options[self.name] = value
        else:
            walker = walker.using({self.name: value})
        if guess is not None:
            options["guess"] = guess
        return design(walker, self.free, self.cost, **options | {"like": self.like})

    def point(self, value: float, guesses: Sequence[Guess | None], kept: SweepFile) -> SweepPoint:
        """A point, from the first guess that leads to one."""
        best: tuple[SweepPoint, bytes] | None = None
        for guess in guesses:
            made = self.solve(value, guess)
            found = (
                SweepPoint(
                    value, made.ok, "; ".join(made.wrong) or made.result.status, numbers(made), made.guess()
                ),
                packed(made.result),
            )
            if best is None or (found[0].ok and not best[0].ok):
                best = found
            if made.ok:
                break
        assert best is not None
        kept.put(*best)
        return best[0]

    def chain(self, values: Sequence[float], begin: Guess | None, kept: SweepFile) -> None:
        """Points one after the other, each from the one before."""
        guess, there, parent = begin, kept.points(), os.getppid()
        for value in values:
            if os.getppid() != parent:
                return  # whoever asked was killed; what is done is kept
            point = there.get(value) or self.point(
                value, [guess, *([begin] if begin is not guess else [])], kept
            )
            guess = point.plan if point.ok else guess


def numbers(made: Design) -> dict[str, float]:
    """What a point keeps of a design."""
    balance, gait = made.replay.balance, made.gait
    found = {
        "cost": made.result.cost,
        **made.parameters,
        "speed": made.speed,
        "step length": made.step_length,
        "step time": made.result.duration,
        "lost in impacts": balance.lost,
        "work of the motors": balance.work,
        "defect": made.result.defect,
    }
    found |= {COST_PART + name: value for name, value in made.parts().items()}
    if gait is not None:
        found["largest multiplier"] = float(abs(gait.multipliers[0]))
    return {name: float(v) for name, v in found.items() if math.isfinite(v)}


class _Told:
    def __init__(self, kept: SweepFile, values: Sequence[float], progress: Progress | None) -> None:
        self.kept, self.values, self.progress = kept, set(values), progress

    def __call__(self) -> None:
        if self.progress is not None:
            self.progress(len(self.values & set(self.kept.points())), len(self.values))


def _run(work: _Work, kept: SweepFile, values: Sequence[float], workers: int, tell: _Told) -> None:
    tell()
    there = kept.points()
    good = [v for v in values if v in there and there[v].ok]
    middle = values[len(values) // 2]
    first = there[min(good, key=lambda v: abs(v - middle))] if good else work.point(middle, [None], kept)
    tell()
    at = values.index(first.value)
    ways = [list(reversed(values[:at])), list(values[at + 1 :])]
    chains = _cut([way for way in ways if any(v not in there for v in way)], workers)
    begin = first.plan if first.ok else None
    if min(workers, len(chains)) < 2 or not _forks():
        for chain in chains:
            for k, value in enumerate(chain):
                last = kept.points().get(chain[k - 1]) if k else None
                work.chain([value], last.plan if last is not None and last.ok else begin, kept)
                tell()
    else:
        _parallel(work, kept, chains, begin, workers, tell)
    _mend(work, kept, values, tell)


def _cut(chains: list[list[float]], workers: int) -> list[list[float]]:
    """The longest chains halved until there is one for each worker, or they are short."""
    while chains and len(chains) < workers and max(map(len, chains)) >= 4:
        longest = max(chains, key=len)
        at = chains.index(longest)
        half = len(longest) // 2
        chains[at : at + 1] = [longest[:half], longest[half:]]
    return chains


def _forks() -> bool:
    return sys.platform.startswith("linux") and "fork" in multiprocessing.get_all_start_methods()


def _child(work: _Work, kept: SweepFile, chain: list[float], begin: Guess | None, said: Any) -> None:
    try:
        work.chain(chain, begin, kept)
    except KeyboardInterrupt:
        return  # whoever asked says so
    except StrutError as error:
        said.put(str(error))
        raise SystemExit(1) from error


def _parallel(
    work: _Work, kept: SweepFile, chains: list[list[float]], begin: Guess | None, workers: int, tell: _Told
) -> None:
    context = multiprocessing.get_context(
        "fork"
    )  # systems are expressions, which only a copy of this process has
    said = context.Queue()
    waiting = list(chains)
    running: list[Any] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                child = context.Process(
                    target=_child, args=(work, kept, waiting.pop(0), begin, said), daemon=True
                )
                child.start()
                running.append(child)
            running[0].join(POLL)
            ended = [child for child in running if not child.is_alive()]
            running = [child for child in running if child.is_alive()]
            if any(child.exitcode for child in ended):
                raise ValueRangeError(
                    said.get(timeout=1.0)
                    if not said.empty()
                    else "a process of the sweep stopped: run it again to go on"
                )
            tell()
    finally:
        for child in running:
            child.terminate()
            child.join()


def _mend(work: _Work, kept: SweepFile, values: Sequence[float], tell: _Told) -> None:
    """Points that failed, once more from their nearest neighbours."""
    there = kept.points()
    for value in [v for v in values if not there[v].ok]:
        near = sorted((v for v in values if there[v].ok), key=lambda v: abs(v - value))[:2]
        tried = work.point(value, [there[v].plan for v in near], kept) if near else there[value]
        if tried.ok:
            there = {**there, value: replace(tried)}
        tell()


__all__ = ["TradeOff", "trade_off"]
