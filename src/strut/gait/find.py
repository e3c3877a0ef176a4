"""`find`, `find_all`: gaits of a walker, from a guess or from none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.checks import checked, integer, seed_number
from strut.errors import NoGaitError
from strut.gait.gait import Gait, spectrum
from strut.gait.newton import (
    MAX_EVALUATIONS,
    MAX_EVALUATIONS_OF_ONE,
    FixedPoints,
    fixed_points,
    shoot,
)
from strut.gait.replay import why_no_gait
from strut.gait.return_map import ReturnMap
from strut.gait.section import explain_status
from strut.system import System

SAME_GAIT = 1e-6
"""Distance, relative to 1 + |y|, below which two fixed points are one."""
SETTLED_CHANGE = 2e-2
"""Change of the state over a step, relative to 1 + |y|, below which a walker is near enough to a gait for
Newton."""
AT_GUESS = 1e-3
"""A gait this near to the guess, relative to 1 + |guess|, is taken for the nearest without looking around."""
NEIGHBOUR_COUNT = 32
"""States around the guess, nearer than a gait found, from which Newton looks for one that is nearer still."""
NEIGHBOUR_EVALUATIONS = 12
"""Steps that Newton may evaluate from each of them: one that needs more leads away."""


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
    progress: called with what is done, and which part of it is done [1] where that is known.
    Raises `NoGaitError`.
    """
    integer("starts", starts, 0)
    integer("walk", walk, 0)
    seed_number(seed)
    log = SearchLog(progress=progress)
    log.tell("making the return map")
    step = ReturnMap(system, section, steps=steps, x0=guess, z0=z0, events=events)
    y = step.free(step.start.x)
    log.tell("Newton's method, from where it begins and walks to")
    if guess is None:
        gait = _first_gait(step, y, walk, log)
        if gait is not None and gait.kind != "unstable":
            return gait
    else:
        gait = _nearest_gait(step, y, log, walk=walk, neighbours=min(starts, NEIGHBOUR_COUNT), seed=seed)
        if gait is not None:
            return gait
    if (
        gait is None
        and steps > 1
        and (first := _first_state_of_orbit(step, y, walk)) is not None
        and (gait := _gait(step, first, log)) is not None
    ):
        return gait
    gaits = _search(step, starts, seed, log) if starts else []
    gaits += [gait] if gait is not None else []
    if gaits and guess is not None:
        return min(gaits, key=lambda g: float(np.linalg.norm(g.y0 - y)))
    if gaits:
        return min(gaits, key=lambda g: (g.kind == "unstable", -g.period))
    raise _no_gait_error(step, log)


@dataclass
class SearchLog:
    """What a search has seen, for the error if it finds nothing.

    closest: the smallest change of the free states over a step, 2-norm. ended: how often each reason ended a
        step. refused: how often the simulator had each reason to say that a fixed point is no gait.
    progress: who is told how far it is, if somebody is.
    """

    closest: float = np.inf
    ended: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    progress: Callable[[str, float | None], None] | None = None

    def tell(self, text: str, part: float | None = None) -> None:
        """Say what is done, and which part of it is done [1] where that is known."""
        if self.progress is not None:
            self.progress(text, part)

    def note(self, points: FixedPoints) -> None:
        """Add what Newton's method saw."""
        self.closest = min(self.closest, points.closest)
        self.ended.update(points.fell)


def _first_gait(step: ReturnMap, y: np.ndarray, walk: int, log: SearchLog) -> Gait | None:
    """The first gait that Newton finds after some steps of walking, or else at `y`."""
    for begin in [*_states_after_walking(step, y, walk), y]:
        for point in _newton_from(step, begin, log):
            if (gait := _gait(step, point, log)) is not None:
                return gait
    return None


def _newton_from(step: ReturnMap, begin: np.ndarray, log: SearchLog) -> list[np.ndarray]:
    """The fixed point that Newton finds from one state, if it finds one."""
    points = fixed_points(step, begin[None], MAX_EVALUATIONS_OF_ONE, leap=True)
    log.note(points)
    return list(points.y[points.converged])


def _nearest_gait(
    step: ReturnMap, y: np.ndarray, log: SearchLog, *, walk: int, neighbours: int, seed: int
) -> Gait | None:
    """The gait nearest to `y` of those that Newton finds from there, from where walking leads, and from
    states around it."""
    here = None
    for point in _newton_from(step, y, log):
        here = _gait(step, point, log)
        if here is not None and np.linalg.norm(point - y) <= AT_GUESS * (1 + np.linalg.norm(y)):
            return here
    points = [
        point for begin in _states_after_walking(step, y, walk) for point in _newton_from(step, begin, log)
    ]
    nearest = _nearest_of(step, y, points, here, log)
    if nearest is not None and neighbours:
        around = _within(y, float(np.linalg.norm(nearest.y0 - y)), neighbours, seed)
        points = _newton_from_many(step, around, SearchLog(), NEIGHBOUR_EVALUATIONS)
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
        if (gait := _gait(step, point, log)) is not None:
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
def find_all(
    system: System,
    section: str | None = None,
    *,
    guess: Any = None,
    steps: int = 1,
    starts: int = 400,
    seed: int = 0,
    z0: Any = None,
    progress: Callable[[str, float | None], None] | None = None,
) -> list[Gait]:
    """All gaits that Newton reaches from `starts` random states, the longest period first. Raises
    `NoGaitError` where there is none.

    Of a family of gaits (of a machine that conserves its energy) the one nearest to where the search began
    stands for all. progress: as of `find`.
    """
    integer("starts", starts, 0)
    seed_number(seed)
    log = SearchLog(progress=progress)
    log.tell("making the return map")
    step = ReturnMap(system, section, steps=steps, x0=guess, z0=z0)
    gaits = _search(step, starts, seed, log)
    if not gaits:
        raise _no_gait_error(step, log)
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


def random_starts(step: ReturnMap, count: int, seed: int) -> np.ndarray:
    """Random free states around the map's own, rows: lengths and angles scaled together, rates (by their
    units) likewise, then each by itself, and moved."""
    random = np.random.default_rng(seed)
    system, y = step.system, step.free(step.start.x)
    units = [q.unit for q in system.x for _ in range(q.size)]
    rate = np.array([units[k].endswith("/s") for k in step.chosen], dtype=bool)
    size = np.where(np.abs(y) > 0, np.abs(y), 0.1 * (1 + np.abs(y).max(initial=0.0)))
    for group in (rate, ~rate):
        if group.any():
            size[group] = np.maximum(size[group], 0.3 * np.abs(y[group]).max())
    together = np.where(
        rate,
        np.exp(random.uniform(np.log(0.1), np.log(2.5), (count, 1))),
        random.uniform(0.1, 1.8, (count, 1)),
    )
    alone = 1 + random.uniform(-0.3, 0.3, (count, len(y)))
    moved: np.ndarray = random.uniform(-0.3, 0.3, (count, len(y))) * size
    states: np.ndarray = y * together * alone + moved * together
    return states


def _newton_from_many(
    step: ReturnMap, begin: np.ndarray, log: SearchLog, evaluations: int = MAX_EVALUATIONS
) -> list[np.ndarray]:
    """Fixed points that Newton finds from rows of `begin` and from one step after them."""
    first = step.many(begin, rough=True)
    log.ended.update(str(s) for s in first.status[~first.ok])
    begin = np.vstack([begin[first.ok], first.y[first.ok]])
    if not len(begin):
        return []
    points = fixed_points(
        step,
        begin,
        evaluations,
        progress=lambda part: log.tell(f"Newton's method from {len(begin)} states", part),
    )
    log.note(points)
    return list(points.y[points.converged])


def _search(step: ReturnMap, starts: int, seed: int, log: SearchLog) -> list[Gait]:
    """All different gaits that Newton finds from random states, the longest period first; one of a family."""
    gaits: list[Gait] = []
    log.tell(f"Newton's method from {starts} random states")
    points = _newton_from_many(step, random_starts(step, starts, seed), log)
    for k, y in enumerate(points):
        log.tell(f"simulating what Newton's method found, {k + 1} of {len(points)}", k / len(points))
        if (
            all(np.abs(y - g.y0).max() > SAME_GAIT * (1 + np.abs(y).max()) for g in gaits)
            and (gait := _gait(step, y, log)) is not None
        ):
            gaits.append(gait)
    family = [g for g in gaits if g.neutral]
    own = step.free(step.start.x)
    gaits = [g for g in gaits if not g.neutral] + sorted(
        family, key=lambda g: float(np.linalg.norm(g.y0 - own))
    )[:1]
    return sorted(gaits, key=lambda g: -g.period)


def _gait(step: ReturnMap, y: np.ndarray, log: SearchLog) -> Gait | None:
    """The gait at a fixed point, if the simulator agrees that it is one."""
    once = step(y)
    multipliers, vectors = spectrum(once.by_y)
    why, distance = why_no_gait(step, y, once.period, float(np.linalg.norm(once.by_y, 2)))
    if why:
        log.refused[why] += 1
        return None
    system = step.system
    return Gait(
        system=system,
        section=step.section,
        steps=step.steps,
        x0=dict(zip(system.labels("x"), step.whole(y).tolist(), strict=True)),
        z0=dict(zip(system.labels("z"), step.start.z.tolist(), strict=True)),
        period=once.period,
        step_length=distance,
        residual=float(np.abs(once.y - y).max()),
        jacobian=once.by_y,
        multipliers=multipliers,
        eigenvectors=vectors,
        names=step.names,
    )


def _no_gait_error(step: ReturnMap, log: SearchLog) -> NoGaitError:
    """The error that says what was sought, how near it came, and why steps ended."""
    system = step.system
    words = {
        "done": f"no {step.section} within {step.longest:g} s",
        step.section: "derivatives that are not finite",
        "too many steps": f"no {step.section}, however long it swung",
    }
    ended = [(words.get(n) or explain_status(system, n), c) for n, c in log.ended.most_common(5)]
    near = (
        f"the closest approach changed the state by {log.closest:.3g} over a step"
        if np.isfinite(log.closest)
        else "no step was completed"
    )
    if log.refused:
        reasons = sorted(explain_status(system, reason) for reason in log.refused)
        near = (
            f"Newton found fixed points that are no gaits, by what the simulator said of them "
            f"({'; '.join(reasons)})"
        )
    why = (
        f"of all steps tried, these ended early: {', '.join(f'{c} ({n})' for n, c in ended)}"
        if ended
        else "no step ended early"
    )
    values = {q.name: float(q.value[0]) for q in system.p if isinstance(q.value, np.ndarray)}
    slope = "" if system.walk is None else system.walk.slope
    hint = ""
    if values.get(slope, 1.0) <= 0:
        hint = (
            "Its motors give what they were set to, nothing by default: how to drive them, "
            "strut design (optimal.design) finds. "
            if system.u
            else "A walker without motors needs a slope that goes down. "
        )
    return NoGaitError(
        f"no gait of '{system.name}' was found with "
        f"{', '.join(f'{name}={value:.4g}' for name, value in values.items())}: {near}; {why}. {hint}"
        f"Try other parameters, another guess, or more starts",
        float(log.closest),
        {**log.ended, **{f"no gait: {reason}": count for reason, count in log.refused.items()}},
    )


__all__ = ["find", "find_all", "random_starts"]
