"""`find`, `find_all`: gaits of a walker, from a guess or from none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from strut.errors import NoGaitError
from strut.gait.gait import RETURNS, Gait, replay, spectrum
from strut.gait.map import ReturnMap, Step
from strut.gait.newton import newton, newton_from, shoot
from strut.system.system import System
from strut.system.values import start

SAME = 1e-6
"""Fixed points closer than this are one."""
SETTLED = 2e-2
"""A walker whose state changes less than this over a step, relative to it, is near enough for Newton."""
NO_GAIT = "no gait: "
STANDS = 1e-6
"""A step shorter than this [m], or than this [s], is no step."""


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
    fails too, at `starts` random states around it. Every gait found is replayed in the simulator; one that does not return is none.
    guess: states by name, or all of them. steps: the gait repeats after so many (one that repeats after fewer
    does so too); multiple shooting helps where several are wanted. Raises `NoGaitError`.
    """
    step = ReturnMap(system, section, (), steps, guess, z0)
    y = step.free(step.start.x)
    fell: Counter = Counter()
    closest = np.inf
    for begin in _walked(step, y, walk):
        done, at, size, why = newton_from(step, begin)
        fell.update(why)
        closest = min(closest, size)
        if done is not None and (gait := _gait(step, at, fell, done)) is not None:
            if guess is not None or gait.stable:
                return gait
            break
    else:
        gait = None
    if gait is None and steps > 1 and (first := _orbit(step, y, walk)) is not None and (gait := _gait(step, first, fell)) is not None:
        return gait
    gaits, near, more = _search(step, starts, seed)
    gaits += [gait] if gait is not None else []
    if gaits:
        return min(gaits, key=lambda g: (not g.stable, -g.period))
    raise _none(system, step, min(closest, near), fell + more)


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
    """All gaits that Newton reaches from `starts` random states, the longest period first. Raises `NoGaitError` where there is none."""
    step = ReturnMap(system, section, (), steps, guess, z0)
    gaits, closest, fell = _search(step, starts, seed)
    if not gaits:
        raise _none(system, step, closest, fell)
    return gaits


def _walked(step: ReturnMap, y: np.ndarray, walk: int) -> list[np.ndarray]:
    """Where Newton may begin: after some steps of walking if the walker can, and at the guess itself."""
    reached, now = [], y
    for _ in range(walk):
        done = step(now)
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
    first = step.many(begin)
    fell: Counter = Counter(str(s) for s in first.status[~first.ok])
    begin = np.vstack([begin[first.ok], first.y[first.ok]])
    if not len(begin):
        return [], np.inf, fell
    found = newton(step, begin)
    fell += found.fell
    gaits: list[Gait] = []
    for y in found.y[found.converged]:
        if all(np.abs(y - g.y0).max() > SAME * (1 + np.abs(y).max()) for g in gaits) and (gait := _gait(step, y, fell)) is not None:
            gaits.append(gait)
    return sorted(gaits, key=lambda g: -g.period), found.closest, fell


def _gait(step: ReturnMap, y: np.ndarray, fell: Counter, known: Step | None = None) -> Gait | None:
    """The gait at a fixed point, if the simulator agrees that it is one. `known`: the step from there."""
    done = known or step(y)
    system = step.system
    x0 = step.whole(y)
    multipliers, vectors = spectrum(done.by_y)
    gait = Gait(
        system,
        step.section,
        step.steps,
        dict(zip(system.labels("x"), map(float, x0), strict=True)),
        dict(zip(system.labels("z"), map(float, step.start.z), strict=True)),
        done.period,
        float(np.abs(done.y - y).max()),
        done.by_y,
        multipliers,
        vectors,
        step.names,
    )
    why = _spurious(step, gait)
    if why:
        fell[f"{NO_GAIT}{why}"] += 1
        return None
    return gait


def _spurious(step: ReturnMap, gait: Gait) -> str:
    """Why a fixed point is no gait; empty if it is one."""
    run = gait.trajectory
    if run.status != "done":
        return run.status
    if not gait.period > STANDS or gait.step_length < STANDS:
        return "stood still"
    if not len(run.events):
        return "made no step"
    # the state it ended in, discrete states included, must make the next step like the first
    x, z = run.raw.x_end[: step.nx].copy(), run.raw.z_end.copy()
    if step.system.symmetry and gait.steps % 2:
        x, z = exchanged(step.system, x, z)
    again = replay(step.system, x, z, gait.period)
    if again.status != "done":
        return again.status
    y, grown = step.free(again.raw.x_end[: step.nx]), max(1.0, float(np.abs(gait.multipliers[0])) ** 2)
    if step.system.symmetry and gait.steps % 2:
        y = step.free(exchanged(step.system, again.raw.x_end[: step.nx], again.raw.z_end)[0])
    return "" if np.abs(y - gait.y0).max() < RETURNS * grown * (1 + np.abs(gait.y0).max()) else "the second step was another"


def exchanged(system: System, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same moment with left and right exchanged."""
    import casadi as ca

    from strut.system.quantity import sx

    if "gait-mirror" not in system.cache:
        groups = [ca.vertcat(*[q.sym for q in getattr(system, g)], ca.SX(0, 1)) for g in "xzp"]
        new = [ca.vertcat(*[sx(system.symmetry.get(q.name, q.sym)) for q in getattr(system, g)], ca.SX(0, 1)) for g in "xz"]
        system.cache["gait-mirror"] = ca.Function("mirror", groups, [ca.densify(e) for e in new])
    a, b = system.cache["gait-mirror"](x, z, start(system).p)
    return np.array(a).reshape(-1), np.array(b).reshape(-1)


def _none(system: System, step: ReturnMap, closest: float, fell: Counter) -> NoGaitError:
    told = {"done": f"no {step.section} in {step.longest:g} s", step.section: "derivatives that are not finite"}
    false = {name.removeprefix(NO_GAIT) for name in fell if name.startswith(NO_GAIT)}
    reasons = ", ".join(f"{told.get(n, n)} ({c})" for n, c in fell.most_common(5) if not n.startswith(NO_GAIT)) or "nothing"
    near = f"the closest approach changed the state by {closest:.3g} over a step" if np.isfinite(closest) else "no step was completed"
    if false:
        near = f"Newton found fixed points that are no gaits: {', '.join(sorted(false))} in the simulator"
    values = ", ".join(f"{q.name}={float(q.value[0]):.4g}" for q in system.p if isinstance(q.value, np.ndarray))
    return NoGaitError(
        f"no gait of '{system.name}' was found with {values}: {near}; steps ended by {reasons}. "
        "Give another guess, more starts=..., or other parameters",
        float(closest),
        dict(fell),
    )


__all__ = ["exchanged", "find", "find_all", "random_starts"]
