"""`find`, `find_all`: gaits of a walker, from a guess or from none."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from strut.checks import checked, integer, positive, seed_number
from strut.gait.gait import Gait
from strut.gait.newton import MAX_EVALUATIONS_OF_ONE, fixed_points, shoot
from strut.gait.random_search import newton_from_many, search_from_random_states
from strut.gait.return_map import ReturnMap
from strut.gait.search_log import (
    SAME_GAIT,
    SearchLog,
    budget_warning,
    no_gait_error,
    search_interrupted,
)
from strut.gait.verify import verified_gait
from strut.system import System

SETTLED_CHANGE = 2e-2
"""Change of the state over a step, relative to 1 + |y|, below which a walker is near enough to a gait for
Newton."""
AT_GUESS = 1e-3
"""A gait this near to the guess, relative to 1 + |guess|, is taken for the nearest without looking around."""
NEIGHBOUR_COUNT = 32
"""States around the guess, nearer than a gait found, from which Newton looks for one that is nearer still."""
NEIGHBOUR_EVALUATIONS = 12
"""Steps that Newton may evaluate from each of them: one that needs more leads away."""
OWN_SHARE = 0.5
"""The part of the budget [1] for Newton's method from where the walker begins and walks to; the rest is for
random states."""


@checked
def find(  # noqa: PLR0913 -- options of a public function, by keyword
    system: System,
    guess: Any = None,
    section: str | None = None,
    *,
    steps: int = 1,
    starts: int = 200,
    walk: int = 12,
    seed: int = 0,
    z0: Any = None,
    events: Sequence[str] | None = None,
    budget: float = math.inf,
    progress: Callable[[str, float | None], None] | None = None,
) -> Gait:
    """One gait of a walker: that nearest to `guess`; without one, a stable gait if there is any, else that of
    the longest period.

    With a guess, Newton begins there. A gait as near as `AT_GUESS` is the answer, and a guess that is a gait
    already stays as it is. Otherwise Newton begins also where the walker comes to in `walk` steps, and from
    `NEIGHBOUR_COUNT` states around the guess that are nearer than what was found; of all gaits so found the
    nearest (2-norm of the free states) is returned. Without a guess, Newton begins after `walk` steps from
    the system's own initial state, then there. Where that finds nothing, `starts` random states are tried;
    `starts=0` tries none, nor neighbours. Every gait found is replayed in the simulator; one that does not
    return is none.
    guess: states by name, or all of them. steps: the gait repeats after so many (one that repeats after fewer
    does so too); multiple shooting helps where several are wanted. events: those that happen in a step,
    where they are known, such as from a run: a step with others is none, and there is less to compile.
    budget: how long the search may work [s], once the map is compiled (see `Deadline`); what it comes to in
    it depends on the computer. Where it ends before all states were tried, `BudgetWarning` is given.
    progress: called with what is done, and which part of it is done [1] where that is known.
    Raises `NoGaitError`; Ctrl-C raises `GaitSearchInterrupted`, which has what was found by then.
    """
    integer("starts", starts, 0)
    integer("walk", walk, 0)
    seed_number(seed)
    log = _new_log(budget, progress)
    with _interruptible(log) as maps:
        maps.append(step := ReturnMap(system, section, steps=steps, x0=guess, z0=z0, events=events))
        y = step.free(step.start.x)
        _begin(step, y, log)
        gaits = _gaits_of_find(step, y, log, guess is not None, starts=starts, walk=walk, seed=seed)
    if not gaits:
        raise no_gait_error(step, log)
    if log.cut_short:
        warnings.warn(budget_warning(log), stacklevel=2)
    if guess is not None:
        return min(gaits, key=lambda g: float(np.linalg.norm(g.y0 - y)))
    return min(gaits, key=lambda g: (g.kind == "unstable", -g.period))


def _gaits_of_find(
    step: ReturnMap, y: np.ndarray, log: SearchLog, guessed: bool, *, starts: int, walk: int, seed: int
) -> list[Gait]:
    """The gaits that `find` chooses from: one alone where it need not look further. guessed: whether `y` is a
    guess."""
    log.tell("Newton's method, from where it begins and walks to")
    log.own_begin = True
    if guessed:
        gait = _nearest_gait(step, y, log, walk=walk, neighbours=min(starts, NEIGHBOUR_COUNT), seed=seed)
        if gait is not None:
            return [gait]
    else:
        gait = _first_gait(step, y, walk, log)
        if gait is not None and gait.kind != "unstable":
            return [gait]
    if (
        gait is None
        and step.steps > 1
        and not log.deadline.is_over
        and (first := _first_state_of_orbit(step, y, walk)) is not None
        and (gait := verified_gait(step, first, log)) is not None
    ):
        return [gait]
    gaits = search_from_random_states(step, starts, seed, log) if starts else []
    return gaits if gait is None else [*gaits, gait]


def _new_log(budget: float, progress: Callable[[str, float | None], None] | None) -> SearchLog:
    """The log of a search that begins."""
    if budget != math.inf:
        positive("budget", budget, "s")
    log = SearchLog(progress=progress, budget=budget)
    log.tell("making the return map")
    return log


def _begin(step: ReturnMap, y: np.ndarray, log: SearchLog) -> None:
    """Begin to count the time of a search that has a budget, once the map is compiled."""
    if log.budget != math.inf:
        step(y, rough=True)
        log.begin_counting(OWN_SHARE)


@contextmanager
def _interruptible(log: SearchLog) -> Iterator[list[ReturnMap]]:
    """Turn Ctrl-C in the block, which puts its map into the list, into `GaitSearchInterrupted`: also one that
    Newton's method saw, and that only ended the search."""
    maps: list[ReturnMap] = []
    interrupt: KeyboardInterrupt | None = None
    try:
        yield maps
    except KeyboardInterrupt as error:
        interrupt = error
    if interrupt is not None or log.deadline.interrupted:
        raise search_interrupted(maps[0] if maps else None, log) from interrupt


def _first_gait(step: ReturnMap, y: np.ndarray, walk: int, log: SearchLog) -> Gait | None:
    """The first gait that Newton finds after some steps of walking, or else at `y`."""
    for begin in [*_states_after_walking(step, y, walk), y]:
        for point in _newton_from(step, begin, log):
            if (gait := verified_gait(step, point, log)) is not None:
                return gait
    return None


def _newton_from(step: ReturnMap, begin: np.ndarray, log: SearchLog) -> list[np.ndarray]:
    """The fixed point that Newton finds from one state, if it finds one."""
    points = fixed_points(step, begin[None], MAX_EVALUATIONS_OF_ONE, deadline=log.own_deadline)
    log.note(points)
    return list(points.y[points.converged])


def _nearest_gait(
    step: ReturnMap, y: np.ndarray, log: SearchLog, *, walk: int, neighbours: int, seed: int
) -> Gait | None:
    """The gait nearest to `y` of those that Newton finds from there, from where walking leads, and from
    states around it."""
    here = None
    for point in _newton_from(step, y, log):
        here = verified_gait(step, point, log)
        if here is not None and np.linalg.norm(point - y) <= AT_GUESS * (1 + np.linalg.norm(y)):
            return here
    points = [
        point for begin in _states_after_walking(step, y, walk) for point in _newton_from(step, begin, log)
    ]
    nearest = _nearest_of(step, y, points, here, log)
    if nearest is not None and neighbours:
        around = _within(y, float(np.linalg.norm(nearest.y0 - y)), neighbours, seed)
        points = newton_from_many(step, around, SearchLog(deadline=log.deadline), NEIGHBOUR_EVALUATIONS)
        nearest = _nearest_of(step, y, points, nearest, log)
    return nearest


def _nearest_of(
    step: ReturnMap, y: np.ndarray, points: list[np.ndarray], own: Gait | None, log: SearchLog
) -> Gait | None:
    """The gait nearest to `y` among fixed points and one that is known already, `own`."""
    for point in sorted(points, key=lambda point: float(np.linalg.norm(point - y))):
        if own is not None and np.linalg.norm(point - y) > np.linalg.norm(own.y0 - y) - SAME_GAIT * (
            1 + np.linalg.norm(y)
        ):
            return own
        if (gait := verified_gait(step, point, log)) is not None:
            return gait
    return own


def _within(y: np.ndarray, radius: float, count: int, seed: int) -> np.ndarray:
    """Random states in the ball of a radius around `y`, evenly."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=(count, len(y)))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    states: np.ndarray = y + radius * random.uniform(size=(count, 1)) ** (1 / len(y)) * direction
    return states


@checked
def find_all(  # noqa: PLR0913 -- options of a public function, by keyword
    system: System,
    section: str | None = None,
    *,
    guess: Any = None,
    steps: int = 1,
    starts: int = 400,
    seed: int = 0,
    z0: Any = None,
    budget: float = math.inf,
    progress: Callable[[str, float | None], None] | None = None,
) -> list[Gait]:
    """All gaits that Newton reaches from `starts` random states, the longest period first. Raises
    `NoGaitError` where there is none.

    Of a family of gaits (of a machine that conserves its energy) the one nearest to where the search began
    stands for all. budget, progress, Ctrl-C: as of `find`.
    """
    integer("starts", starts, 0)
    seed_number(seed)
    log = _new_log(budget, progress)
    with _interruptible(log) as maps:
        maps.append(step := ReturnMap(system, section, steps=steps, x0=guess, z0=z0))
        _begin(step, step.free(step.start.x), log)
        gaits = search_from_random_states(step, starts, seed, log)
    if not gaits:
        raise no_gait_error(step, log)
    if log.cut_short:
        warnings.warn(budget_warning(log), stacklevel=2)
    return gaits


def _states_after_walking(step: ReturnMap, y: np.ndarray, walk: int) -> list[np.ndarray]:
    """Where Newton may begin after some steps of walking, if the walker can: where they led to, and after the
    first."""
    reached, now = [], y
    for _ in range(walk):
        after = step(now, rough=True)
        if not after.ok:
            break
        settled = np.linalg.norm(after.y - now) < SETTLED_CHANGE * (1 + np.linalg.norm(now))
        now = after.y
        reached.append(now)
        if settled:
            break
    return reached[:1] if reached and len(reached) < walk and not settled else [*reached[-1:], *reached[:1]]


def _first_state_of_orbit(step: ReturnMap, y: np.ndarray, walk: int) -> np.ndarray | None:
    """The first state of a gait of several steps by multiple shooting, from as many steps of walking."""
    single = ReturnMap(step.system, step.section, x0=step.start.x, z0=step.start.z)
    states, now = [], y
    for _ in range(walk * step.steps):
        after = single(now)
        if not after.ok:
            break
        now = after.y
        states.append(now)
    if len(states) < step.steps:
        return None
    orbit = shoot(single, np.array(states[-step.steps :]))
    return None if orbit is None else orbit[0]


__all__ = ["find", "find_all"]
