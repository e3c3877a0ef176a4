"""`find`, `find_all`: gaits of a walker, from a guess or from none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from strut.checks import checked, integer, seed_number
from strut.errors import NoGaitError
from strut.gait.gait import Gait, spectrum
from strut.gait.map import ReturnMap, Step
from strut.gait.newton import newton, newton_from, shoot
from strut.gait.replay import refused
from strut.gait.shape import told
from strut.system.system import System

SAME = 1e-6
"""Fixed points closer than this are one."""
SETTLED = 2e-2
"""A walker whose state changes less than this over a step, relative to it, is near enough for Newton."""
NO_GAIT = "no gait: "


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
    """One gait of a walker: that nearest to `guess`; without one, a stable gait if there is any, else that of the longest period.

    The walker walks `walk` steps from the guess, and Newton goes on from there; where it falls, Newton begins at the guess, and if that
    fails too, at `starts` random states around it, if there are any. Every gait found is replayed in the simulator; one that does not
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
    closest = np.inf
    for begin in _walked(step, y, walk):
        done, at, size, why = newton_from(step, begin)
        fell.update(why)
        closest = min(closest, size)
        if done is not None and (gait := _gait(step, at, fell, done)) is not None:
            if guess is not None or gait.kind != "unstable":
                return gait
            break
    else:
        gait = None
    if gait is None and steps > 1 and (first := _orbit(step, y, walk)) is not None and (gait := _gait(step, first, fell)) is not None:
        return gait
    gaits, near, more = _search(step, starts, seed) if starts else ([], np.inf, Counter())
    gaits += [gait] if gait is not None else []
    if gaits:
        return min(gaits, key=lambda g: (g.kind == "unstable", -g.period))
    raise _none(system, step, min(closest, near), fell + more)


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
    """All gaits that Newton reaches from `starts` random states, the longest period first. Raises `NoGaitError` where there is none.

    Of a family of gaits (of a machine that conserves its energy) the one nearest to where the search began stands for all.
    """
    integer("starts", starts, 0)
    seed_number(seed)
    step = ReturnMap(system, section, (), steps, guess, z0)
    gaits, closest, fell = _search(step, starts, seed)
    if not gaits:
        raise _none(system, step, closest, fell)
    return gaits


def _walked(step: ReturnMap, y: np.ndarray, walk: int) -> list[np.ndarray]:
    """Where Newton may begin: after some steps of walking if the walker can, and at the guess itself."""
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
    return [*reached[:1], y] if reached and len(reached) < walk and not shrunk else [*reached[-1:], *reached[:1], y]


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
    together = np.where(rate, np.exp(random.uniform(np.log(0.1), np.log(2.5), (count, 1))), random.uniform(0.1, 1.8, (count, 1)))
    alone = 1 + random.uniform(-0.3, 0.3, (count, len(y)))
    return y * together * alone + random.uniform(-0.3, 0.3, (count, len(y))) * size * together


def _search(step: ReturnMap, starts: int, seed: int) -> tuple[list[Gait], float, Counter]:
    begin = random_starts(step, starts, seed)
    first = step.many(begin, rough=True)
    fell: Counter = Counter(str(s) for s in first.status[~first.ok])
    begin = np.vstack([begin[first.ok], first.y[first.ok]])
    if not len(begin):
        return [], np.inf, fell
    near = newton(step, begin, rough=True)
    found = newton(step, near.y[near.converged])
    fell += near.fell
    gaits: list[Gait] = []
    for y in found.y[found.converged]:
        if all(np.abs(y - g.y0).max() > SAME * (1 + np.abs(y).max()) for g in gaits) and (gait := _gait(step, y, fell)) is not None:
            gaits.append(gait)
    family = [g for g in gaits if g.neutral]
    own = step.free(step.start.x)
    gaits = [g for g in gaits if not g.neutral] + sorted(family, key=lambda g: float(np.linalg.norm(g.y0 - own)))[:1]
    return sorted(gaits, key=lambda g: -g.period), min(near.closest, found.closest), fell


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
    known = {"done": f"no {step.section} within {step.longest:g} s", step.section: "derivatives that are not finite"}
    known |= {"too many steps": f"no {step.section}, however long it swung"}
    false = sorted(told(system, name.removeprefix(NO_GAIT)) for name in fell if name.startswith(NO_GAIT))
    ended = [(known.get(n) or told(system, n), c) for n, c in fell.most_common(8) if not n.startswith(NO_GAIT)][:5]
    near = f"the closest approach changed the state by {closest:.3g} over a step" if np.isfinite(closest) else "no step was completed"
    if false:
        near = f"Newton found fixed points that are no gaits, by what the simulator said of them ({'; '.join(false)})"
    why = f"of all steps tried, these ended early: {', '.join(f'{c} ({n})' for n, c in ended)}" if ended else "no step ended early"
    values = ", ".join(f"{q.name}={float(q.value[0]):.4g}" for q in system.p if isinstance(q.value, np.ndarray))
    flat = next((float(q.value[0]) <= 0 for q in system.p if q.name == "slope" and isinstance(q.value, np.ndarray)), False)
    hint = "A walker without motors needs a slope that goes down. " if flat else ""
    return NoGaitError(
        f"no gait of '{system.name}' was found with {values}: {near}; {why}. {hint}Try other parameters, another guess, or more starts",
        float(closest),
        dict(fell),
    )


__all__ = ["find", "find_all", "random_starts"]
