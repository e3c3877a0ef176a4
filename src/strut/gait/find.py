"""`find`, `find_all`: gaits of a walker, from a guess or from none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from strut.checks import checked, integer, seed_number
from strut.errors import NoGaitError
from strut.gait.gait import Gait, spectrum
from strut.gait.newton import newton, newton_from, shoot
from strut.gait.replay import refused
from strut.gait.return_map import ReturnMap, Step
from strut.gait.section import told
from strut.system import System

SAME = 1e-6
"""Fixed points closer than this are one."""
SETTLED = 2e-2
"""A walker whose state changes less than this over a step, relative to it, is near enough for Newton."""
NO_GAIT = "no gait: "
AT_GUESS = 1e-3
"""A gait this near to the guess, relative to 1 + |guess|, is taken for the nearest without looking around."""
NEIGHBOURS = 32
"""States around the guess, nearer than a gait found, from which Newton looks for one that is nearer still."""
NEIGHBOUR_ITERATIONS = 12
"""Of Newton from each of them: one that needs more leads away."""


@checked
def find(
    system: System,
    guess: Any = None,
    section: str | None = None,
    *,
    steps: int = 1,
    starts: int = 200,
    walk: int = 12,
    seed: int = 0,
    z0: Any = None,
) -> Gait:
    """One gait of a walker: that nearest to `guess`; without one, a stable gait if there is any, else that of
    the longest period.

    With a guess, Newton begins there. A gait as near as `AT_GUESS` is the answer, and a guess that is a gait
    already stays as it is. Otherwise Newton begins also where the walker comes to in `walk` steps, and from
    `NEIGHBOURS` states around the guess that are nearer than what was found; of all gaits so found the
    nearest (2-norm of the free states) is returned. Without a guess, Newton begins after `walk` steps from
    the system's own initial state, then there. Where that finds nothing, `starts` random states are tried;
    `starts=0` tries none, nor neighbours. Every gait found is replayed in the simulator; one that does not
    return is none.
    guess: states by name, or all of them. steps: the gait repeats after so many (one that repeats after fewer
    does so too); multiple shooting helps where several are wanted. Raises `NoGaitError`.
    """
    integer("starts", starts, 0)
    integer("walk", walk, 0)
    seed_number(seed)
    step = ReturnMap(system, section, (), steps, guess, z0)
    y = step.free(step.start.x)
    fell: Counter = Counter()
    if guess is None:
        gait, closest = _first_gait(step, y, walk, fell)
        if gait is not None and gait.kind != "unstable":
            return gait
    else:
        gait, closest = _nearest_gait(step, y, walk, min(starts, NEIGHBOURS), seed, fell)
        if gait is not None:
            return gait
    if (
        gait is None
        and steps > 1
        and (first := _orbit(step, y, walk)) is not None
        and (gait := _gait(step, first, fell)) is not None
    ):
        return gait
    gaits, near, more = _search(step, starts, seed) if starts else ([], np.inf, Counter())
    gaits += [gait] if gait is not None else []
    if gaits and guess is not None:
        return min(gaits, key=lambda g: float(np.linalg.norm(g.y0 - y)))
    if gaits:
        return min(gaits, key=lambda g: (g.kind == "unstable", -g.period))
    raise _none(system, step, min(closest, near), fell + more)


def _first_gait(step: ReturnMap, y: np.ndarray, walk: int, fell: Counter) -> tuple[Gait | None, float]:
    """The first gait that Newton finds after some steps of walking or at `y`, and its closest approach."""
    closest = np.inf
    for begin in [*_walked(step, y, walk), y]:
        done, at, size, why = newton_from(step, begin)
        fell.update(why)
        closest = min(closest, size)
        if done is not None and (gait := _gait(step, at, fell, done)) is not None:
            return gait, closest
    return None, closest


def _nearest_gait(
    step: ReturnMap, y: np.ndarray, walk: int, neighbours: int, seed: int, fell: Counter
) -> tuple[Gait | None, float]:
    """The gait nearest to `y` of those that Newton finds from there, from where walking leads, and from
    states around it."""
    done, at, closest, why = newton_from(step, y)
    fell.update(why)
    here = _gait(step, at, fell, done) if done is not None else None
    if here is not None and np.linalg.norm(at - y) <= AT_GUESS * (1 + np.linalg.norm(y)):
        return here, closest
    points = []
    for begin in _walked(step, y, walk):
        done, at, size, why = newton_from(step, begin)
        fell.update(why)
        closest = min(closest, size)
        points += [at] if done is not None else []
    nearest = _nearest_of(step, y, points, here, fell)
    if nearest is not None and neighbours:
        around = _within(y, float(np.linalg.norm(nearest.y0 - y)), neighbours, seed)
        points, *_ = _fixed_points(step, around, NEIGHBOUR_ITERATIONS)
        nearest = _nearest_of(step, y, points, nearest, fell)
    return nearest, closest


def _nearest_of(
    step: ReturnMap, y: np.ndarray, points: list[np.ndarray], known: Gait | None, fell: Counter
) -> Gait | None:
    """The gait nearest to `y` among fixed points and one that is known."""
    for point in sorted(points, key=lambda point: float(np.linalg.norm(point - y))):
        if known is not None and np.linalg.norm(point - y) > np.linalg.norm(known.y0 - y) - SAME * (
            1 + np.linalg.norm(y)
        ):
            return known
        if (gait := _gait(step, point, fell)) is not None:
            return gait
    return known


def _within(y: np.ndarray, radius: float, count: int, seed: int) -> np.ndarray:
    """Random states in the ball around `y`, evenly."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=(count, len(y)))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return y + radius * random.uniform(size=(count, 1)) ** (1 / len(y)) * direction


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
) -> list[Gait]:
    """All gaits that Newton reaches from `starts` random states, the longest period first. Raises
    `NoGaitError` where there is none.

    Of a family of gaits (of a machine that conserves its energy) the one nearest to where the search began
    stands for all.
    """
    integer("starts", starts, 0)
    seed_number(seed)
    step = ReturnMap(system, section, (), steps, guess, z0)
    gaits, closest, fell = _search(step, starts, seed)
    if not gaits:
        raise _none(system, step, closest, fell)
    return gaits


def _walked(step: ReturnMap, y: np.ndarray, walk: int) -> list[np.ndarray]:
    """Where Newton may begin after some steps of walking, if the walker can: where they led to, and after the
    first."""
    reached, now = [], y
    for _ in range(walk):
        done = step(now, rough=True)
        if not done.ok:
            break
        shrunk = np.linalg.norm(done.y - now) < SETTLED * (1 + np.linalg.norm(now))
        now = done.y
        reached.append(now)
        if shrunk:
            break
    return reached[:1] if reached and len(reached) < walk and not shrunk else [*reached[-1:], *reached[:1]]


def _orbit(step: ReturnMap, y: np.ndarray, walk: int) -> np.ndarray | None:
    """The first state of a gait of several steps by multiple shooting, from as many steps of walking."""
    single = ReturnMap(step.system, step.section, (), 1, step.start.x, step.start.z)
    orbit, now = [], y
    for _ in range(walk * step.steps):
        done = single(now)
        if not done.ok:
            break
        now = done.y
        orbit.append(now)
    if len(orbit) < step.steps:
        return None
    found = shoot(single, np.array(orbit[-step.steps :]))
    return None if found is None else found[0]


def random_starts(step: ReturnMap, count: int, seed: int) -> np.ndarray:
    """States around the map's own: angles and rates scaled together and one by one, some moved freely."""
    random = np.random.default_rng(seed)
    system, y = step.system, step.free(step.start.x)
    units = {q.name: q.unit for q in system.x}
    rate = np.array([units[name.split("[")[0]].endswith("/s") for name in step.names])
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
    return y * together * alone + random.uniform(-0.3, 0.3, (count, len(y))) * size * together


def _fixed_points(
    step: ReturnMap, begin: np.ndarray, iterations: int = 80
) -> tuple[list[np.ndarray], float, Counter]:
    """Fixed points that Newton finds from rows of `begin` and from one step after them; the closest approach;
    what ended steps."""
    first = step.many(begin, rough=True)
    fell: Counter = Counter(str(s) for s in first.status[~first.ok])
    begin = np.vstack([begin[first.ok], first.y[first.ok]])
    if not len(begin):
        return [], np.inf, fell
    near = newton(step, begin, iterations, rough=True)
    found = newton(step, near.y[near.converged])
    return list(found.y[found.converged]), min(near.closest, found.closest), fell + near.fell


def _search(step: ReturnMap, starts: int, seed: int) -> tuple[list[Gait], float, Counter]:
    points, closest, fell = _fixed_points(step, random_starts(step, starts, seed))
    gaits: list[Gait] = []
    for y in points:
        if (
            all(np.abs(y - g.y0).max() > SAME * (1 + np.abs(y).max()) for g in gaits)
            and (gait := _gait(step, y, fell)) is not None
        ):
            gaits.append(gait)
    family = [g for g in gaits if g.neutral]
    own = step.free(step.start.x)
    gaits = [g for g in gaits if not g.neutral] + sorted(
        family, key=lambda g: float(np.linalg.norm(g.y0 - own))
    )[:1]
    return sorted(gaits, key=lambda g: -g.period), closest, fell


def _gait(step: ReturnMap, y: np.ndarray, fell: Counter, known: Step | None = None) -> Gait | None:
    """The gait at a fixed point, if the simulator agrees that it is one. `known`: the step from there."""
    done = known or step(y)
    multipliers, vectors = spectrum(done.by_y)
    why, distance = refused(step, y, done.period, float(np.abs(multipliers[0])))
    if why:
        fell[f"{NO_GAIT}{why}"] += 1
        return None
    system = step.system
    return Gait(
        system,
        step.section,
        step.steps,
        dict(zip(system.labels("x"), step.whole(y).tolist(), strict=True)),
        dict(zip(system.labels("z"), step.start.z.tolist(), strict=True)),
        done.period,
        distance,
        float(np.abs(done.y - y).max()),
        done.by_y,
        multipliers,
        vectors,
        step.names,
    )


def _none(system: System, step: ReturnMap, closest: float, fell: Counter) -> NoGaitError:
    """What was sought, how near it came, and why steps ended."""
    known = {
        "done": f"no {step.section} within {step.longest:g} s",
        step.section: "derivatives that are not finite",
    }
    known |= {"too many steps": f"no {step.section}, however long it swung"}
    false = sorted(told(system, name.removeprefix(NO_GAIT)) for name in fell if name.startswith(NO_GAIT))
    ended = [
        (known.get(n) or told(system, n), c) for n, c in fell.most_common(8) if not n.startswith(NO_GAIT)
    ][:5]
    near = (
        f"the closest approach changed the state by {closest:.3g} over a step"
        if np.isfinite(closest)
        else "no step was completed"
    )
    if false:
        near = (
            f"Newton found fixed points that are no gaits, by what the simulator said of them "
            f"({'; '.join(false)})"
        )
    why = (
        f"of all steps tried, these ended early: {', '.join(f'{c} ({n})' for n, c in ended)}"
        if ended
        else "no step ended early"
    )
    values = ", ".join(
        f"{q.name}={float(q.value[0]):.4g}" for q in system.p if isinstance(q.value, np.ndarray)
    )
    flat = next(
        (float(q.value[0]) <= 0 for q in system.p if q.name == "slope" and isinstance(q.value, np.ndarray)),
        False,
    )
    hint = "A walker without motors needs a slope that goes down. " if flat else ""
    return NoGaitError(
        f"no gait of '{system.name}' was found with {values}: {near}; {why}. {hint}Try other parameters, "
        f"another guess, or more starts",
        float(closest),
        dict(fell),
    )


__all__ = ["find", "find_all", "random_starts"]
