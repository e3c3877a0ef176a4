"""`SweepRun`: the points of a sweep, solved in chains from neighbour to neighbour, on several processes."""

from __future__ import annotations

import hashlib
import math
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import is_number
from strut.errors import StrutError, ValueRangeError
from strut.gait import Gait
from strut.gait.section import default_section
from strut.interrupts import reveal_interrupts
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import INTERRUPTED
from strut.optimal.solver.starts import can_fork
from strut.optimal.walk.check_walker import check_walker
from strut.optimal.walk.costs import COST_PART, CostChoice, cost_identity
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_search import design
from strut.optimal.walk.design_task import FreeParameters
from strut.optimal.walk.goal_field import as_number, goal_fields
from strut.optimal.walk.own_limits import OwnLimits, read_own_limits
from strut.optimal.walk.read_walk import stands_in_turn
from strut.optimal.walk.reference import find_passive_gait, gait_of
from strut.optimal.walk.step_goal import SWEPT_UNITS, StepGoal
from strut.optimal.walk.step_limits import adapt_walker
from strut.optimal.walk.sweep_file import SweepFile, SweepPoint, pack_motion
from strut.system import System, hold_disturbances, parameters, time

POLL_INTERVAL = 0.1
"""How often progress of processes is looked at [s]."""
MIN_CHAIN_TO_HALVE = 4
"""Points of a chain that is worth halving for another worker."""
ERROR_TIMEOUT = 1.0
"""How long the error of a process that stopped is waited for [s]."""
OWN = ("require", "within")
"""Options that are requirements of one's own: a file knows them by their content."""
DECIDES = "a default decides: "
"""Stands before a limit that nobody asked for and that decides a point."""
TOUCHED = "a default is touched: "
"""Stands before one that a point comes to, and that hardly matters."""
Progress = Callable[[int, int], None]
"""Is told how many points of how many there are."""


@dataclass(frozen=True, eq=False)
class SweepTask:
    """What is solved at every value of a sweep: `design` with these arguments, begun from `gait`, which is
    found with them."""

    walker: System
    name: str
    free: FreeParameters
    cost: CostChoice
    options: dict[str, Any]
    gait: Gait | None = field(init=False)
    own: OwnLimits = field(init=False)

    def __post_init__(self) -> None:
        own = {n: self.options[n] for n in OWN if n in self.options}
        object.__setattr__(self, "own", read_own_limits(self.walker, **own))
        object.__setattr__(self, "gait", self._find_gait())

    def _find_gait(self) -> Gait | None:
        """Return the gait that all points begin from, so that what is usual, and the phases, are the same for
        all."""
        given_gait = self.options.pop("like", None) or gait_of(self.options.get("guess"))
        if given_gait is not None or self.options.get("guess") is not None:
            return given_gait
        asked = {name: value for name, value in self.options.items() if name in goal_fields(StepGoal)}
        walker = adapt_walker(self.walker, StepGoal(**asked))
        section = self.options.get("section") or default_section(walker)
        check_walker(hold_disturbances(walker), section)
        # One that stands on its feet in turn begins from an even stride at every value.
        return None if stands_in_turn(walker, section) else find_passive_gait(walker, section)

    def first_value(self, values: Sequence[float]) -> float:
        """Return the value that is solved first: the one nearest to that of a design that is given as guess;
        else the one in the middle."""
        guess, own = self.options.get("guess"), None
        if isinstance(guess, Design) and self.name in SWEPT_UNITS:
            own = guess.limits[self.name]
        elif isinstance(guess, Design):
            own = dict(zip(guess.system.labels("p"), parameters(guess.system), strict=True)).get(self.name)
        if own is None or not is_number(own):
            return values[len(values) // 2]
        return min(values, key=lambda value: abs(value - as_number(own)))

    def description(self) -> dict[str, Any]:
        """Return what makes this sweep this one, in words and by the content of the model."""
        w = self.walker
        parts = [
            *[w.flow[q.name] for q in w.x],
            *[ca.vec(ca.SX(e)) for event in w.events for e in (event.guard, *event.reset.values())],
        ]
        model = ca.Function(
            "model", [time, *w.vectors()], [ca.vertcat(*[ca.vec(ca.SX(e)) for e in parts])]
        ).serialize()
        free = (
            {n: list(b) for n, b in self.free.items()} if isinstance(self.free, Mapping) else list(self.free)
        )
        return {
            "sweep": self.name,
            "walker": w.name,
            "model": hashlib.sha256(model.encode()).hexdigest()[:16],
            "parameters": {q.name: np.asarray(q.value).tolist() for q in w.p if q.name != self.name},
            "free": free,
            "cost": cost_identity(w, self.cost),
            "own": self.own.identity(w),
            "options": {n: repr(v) for n, v in self.options.items() if n not in ("guess", "budget", *OWN)},
        }

    def solve(self, value: float, guess: Guess | None) -> Design:
        """Return the design at a value, begun from a guess if there is one."""
        options, walker = dict(self.options), self.walker
        if self.name in SWEPT_UNITS:
            options[self.name] = value
        else:
            walker = walker.using({self.name: value})
        if guess is not None:
            options["guess"] = guess
        return design(walker, self.free, self.cost, **options | {"like": self.gait, "price_torque": False})

    def solve_point(self, value: float, guesses: Sequence[Guess | None], file: SweepFile) -> SweepPoint:
        """Return the point at a value, from the first guess that leads to a design that is believed, or from
        the first of all; and keep it in the file."""
        best: tuple[SweepPoint, bytes] | None = None
        for guess in guesses:
            there = self.solve(value, guess)
            if there.result.is_interrupted:
                raise KeyboardInterrupt  # the point is not solved: the file goes on with it
            point = SweepPoint(
                value=value,
                ok=there.ok,
                status=point_status(there),
                numbers=point_numbers(there),
                plan=there.guess(),
                active_limits=tuple(there.active_limits),
            )
            if best is None or (point.ok and not best[0].ok):
                best = (point, pack_motion(there.result))
            if point.ok:
                break
        assert best is not None
        file.put(*best)
        return best[0]

    def solve_chain(
        self,
        values: Sequence[float],
        begin: Guess | None,
        file: SweepFile,
        report: Callable[[], None] = lambda: None,
    ) -> None:
        """Solve points one after the other, each from the one before, whose sensitivities say where the next
        one is; what the file has is not solved again. report: is called after every point."""
        guess, there, parent = begin, file.points(), os.getppid()
        for value in values:
            if os.getppid() != parent:
                return  # whoever asked was killed; what is solved is kept
            point = there.get(value) or self.solve_point(
                value, [guess, *([begin] if begin is not guess else [])], file
            )
            guess = point.plan if point.ok else guess
            report()


def point_status(there: Design) -> str:
    """Return what a point says of itself: what is wrong with it; else how it was solved, and which limits
    decide it, or are touched, that nobody asked for."""
    defaults = [
        f"{DECIDES if each.decides else TOUCHED}{each.sentence}"
        for each in there.active_limits
        if each.source == "default"
    ]
    return "; ".join(there.wrong or (there.result.status, *defaults))


def point_numbers(there: Design) -> dict[str, float]:
    """Return the numbers of a design that a point keeps, by name: those that are finite."""
    balance, gait = there.replay.balance, there.gait
    numbers = {
        "cost": there.result.cost,
        **there.parameters,
        "speed": there.speed,
        "step length": there.step_length,
        "step time": there.result.duration,
        "lost in impacts": balance.lost,
        "work of the motors": balance.work,
        "defect": there.result.defect,
    }
    numbers |= {COST_PART + name: value for name, value in there.parts().items()}
    if gait is not None:
        numbers["largest multiplier"] = float(abs(gait.multipliers[0]))
    return {name: float(v) for name, v in numbers.items() if math.isfinite(v)}


@dataclass(frozen=True, eq=False)
class SweepRun:
    """The work of a sweep: a task at all of `values` (in order), its points kept in a file, on at most
    `workers` processes. progress: is told how far it is."""

    task: SweepTask
    file: SweepFile
    values: Sequence[float]
    workers: int
    progress: Progress | None = None

    def solve_all_or_interrupted(self) -> tuple[dict[float, SweepPoint], bool]:
        """Return the points by value, and whether Ctrl-C came before all of them were solved."""
        try:
            with reveal_interrupts():
                return self.solve_all(), False
        except KeyboardInterrupt:
            return self.file.points(), True

    def solve_all(self) -> dict[float, SweepPoint]:
        """Return every point, by value: the middle one first, then outwards from it, then failures again."""
        self._report()
        there = self.file.points()
        good = [v for v in self.values if v in there and there[v].ok]
        middle = self.task.first_value(self.values)
        # What a stopped sweep has already is a better beginning than nothing.
        if good:
            first = there[min(good, key=lambda v: abs(v - middle))]
        else:
            first = self.task.solve_point(middle, [None], self.file)
        self._report()
        at = self.values.index(first.value)
        ways = [list(reversed(self.values[:at])), list(self.values[at + 1 :])]
        chains = halve_chains([way for way in ways if any(v not in there for v in way)], self.workers)
        begin = first.plan if first.ok else None
        if min(self.workers, len(chains)) < 2 or not can_fork():
            self._solve_in_turn(chains, begin)
        else:
            self._solve_in_parallel(chains, begin)
        self._retry_failures()
        points = self.file.points()
        self._report()
        return points

    def _report(self) -> None:
        """Tell how many points of how many there are."""
        if self.progress is not None:
            values = set(self.values)
            self.progress(len(values & set(self.file.points())), len(values))

    def _solve_in_turn(self, chains: list[list[float]], begin: Guess | None) -> None:
        """Solve chains one after the other, and report after every point."""
        for chain in chains:
            self.task.solve_chain(chain, begin, self.file, self._report)

    def _solve_in_parallel(self, chains: list[list[float]], begin: Guess | None) -> None:
        """Solve chains on processes of their own, at most `workers` at a time."""
        # Systems are expressions, which only a copy of this process has.
        context = multiprocessing.get_context("fork")
        errors = context.Queue()
        waiting = list(chains)
        running: list[Any] = []
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    arguments = (self, waiting.pop(0), begin, errors)
                    child = context.Process(target=_solve_chain_in_child, args=arguments, daemon=True)
                    child.start()
                    running.append(child)
                running[0].join(POLL_INTERVAL)
                ended = [child for child in running if not child.is_alive()]
                running = [child for child in running if child.is_alive()]
                if any(child.exitcode for child in ended):
                    raise ValueRangeError(
                        errors.get(timeout=ERROR_TIMEOUT)
                        if not errors.empty()
                        else "a process of the sweep stopped: run it again to go on"
                    )
                self._report()
        finally:
            for child in running:
                child.terminate()
                child.join()

    def _retry_failures(self) -> None:
        """Solve points that failed once more, from their nearest good neighbours."""
        there = self.file.points()
        for value in [v for v in self.values if not there[v].ok]:
            good = sorted((v for v in self.values if there[v].ok), key=lambda v: abs(v - value))[:2]
            if good:
                point = self.task.solve_point(value, [there[v].plan for v in good], self.file)
                there = {**there, value: point} if point.ok else there
            self._report()


def missing_point(value: float) -> SweepPoint:
    """Return the point that stands for one that Ctrl-C left unsolved."""
    return SweepPoint(value=value, ok=False, status=INTERRUPTED, numbers={})


def halve_chains(chains: list[list[float]], workers: int) -> list[list[float]]:
    """Return the chains, the longest of them halved until there is one for each worker, or they are short."""
    while chains and len(chains) < workers and max(map(len, chains)) >= MIN_CHAIN_TO_HALVE:
        longest = max(chains, key=len)
        at = chains.index(longest)
        half = len(longest) // 2
        chains[at : at + 1] = [longest[:half], longest[half:]]
    return chains


def _solve_chain_in_child(run: SweepRun, chain: list[float], begin: Guess | None, errors: Any) -> None:
    """Solve a chain in a process of its own; what goes wrong is put into the queue `errors`."""
    try:
        with reveal_interrupts():
            run.task.solve_chain(chain, begin, run.file)
    except KeyboardInterrupt:
        return  # whoever asked says so
    except StrutError as error:
        errors.put(str(error))
        raise SystemExit(1) from error


__all__ = ["SweepRun", "SweepTask", "missing_point"]
