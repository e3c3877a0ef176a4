"""How much a gait survives: a step down, a push; and how strongly small disturbances show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked, finite, integer, number_array, positive, short_repr
from strut.errors import ModelError, ShapeError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.gait import Gait
from strut.simulate import simulate_batch
from strut.system import System, start, sx

STEPS = 25
"""A walker that makes so many steps after a disturbance has survived it."""
TRIALS = 32
"""Disturbances tried at once; each round narrows the limit to one interval between two of them."""
BEYOND = 400
"""Disturbances tried beyond the limit."""
DOUBLINGS = 60
"""2^60 steps: a multiplier that has not died out by then is 1 to rounding."""


@dataclass(frozen=True, eq=False)
class Survived:
    """The largest disturbance of a kind that a gait survives, with all smaller ones; `beyond` ends as `fell`
    says.

    What a gait survives is not always an interval: `again` is the largest of those tried beyond it that is
    survived although smaller ones are not; nan if there is none.
    """

    kind: str
    largest: float
    beyond: float
    fell: str
    unit: str
    again: float = np.nan

    def __str__(self) -> str:
        if not np.isfinite(self.beyond):
            return (
                f"{self.kind}: all up to {self.largest:.6g} {self.unit} are survived, and no larger one "
                f"was tried"
            )
        more = (
            f"; some larger ones are survived again, up to {self.again:.6g} {self.unit}"
            if np.isfinite(self.again)
            else ""
        )
        return (
            f"{self.kind}: all up to {self.largest:.6g} {self.unit} are survived, {self.beyond:.6g} ends "
            f"by {self.fell}{more}"
        )


@checked
def step_down(gait: Gait, most: float = 0.2, steps: int = STEPS, exact: float = 1e-5) -> Survived:
    """The largest step down [m] of the ground that the gait survives, met once; `most` is the largest tried.

    The walker begins a step on ground that is higher by so much than the rest; where its walk names
    parameters of a step of the ground, the ground steps down in the middle of the first step.
    """
    system = gait.system
    walk = system.walk
    if walk is not None and walk.ground_step is not None:
        lower, place = walk.ground_step
        there = {("p", place): gait.step_length / 2}
        return _limit(gait, "step down", {("p", lower): 1.0}, most, steps, exact, "m", there)
    if walk is not None and walk.lift and _matters(system, walk.lift):
        group = "x" if walk.lift in system.labels("x") else "z"
        return _limit(gait, "step down", {(group, walk.lift): 1.0}, most, steps, exact, "m")
    raise ModelError(
        f"'{system.name}' cannot step down: its walk names no state that lifts it over the ground (lift) and "
        f"that its landings depend on, "
        "nor parameters of a step of the ground (ground_step)"
    )


def _matters(system: System, name: str) -> bool:
    """Does anything that happens depend on it? The ground of some models goes wherever the foot is."""
    return any(bool(ca.depends_on(sx(e.guard), system[name])) for e in system.events)


@checked
def push(
    gait: Gait,
    direction: str | Mapping[str, float],
    most: float | None = None,
    steps: int = STEPS,
    exact: float = 1e-5,
) -> Survived:
    """The largest sudden change of a rate, or along a direction of states, at the beginning of a step that
    the gait survives."""
    system = gait.system
    given = {direction: 1.0} if isinstance(direction, str) else dict(direction)
    for name in given:
        if name not in gait.x0:
            raise UnknownNameError(
                f"'{name}' is not a state of '{system.name}': {did_you_mean(name, list(gait.x0))}"
            )
    if not any(finite(f"direction['{name}']", value) for name, value in given.items()):
        raise ValueRangeError(f"the direction of a push is {short_repr(direction)}: something must change")
    size = max(abs(v) for v in gait.x0.values())
    unit = next((q.unit for q in system.x if q.name == next(iter(given))), "")
    return _limit(
        gait,
        "push",
        {("x", n): v for n, v in given.items()},
        2 * size if most is None else most,
        steps,
        exact,
        unit,
    )


def survives(
    gait: Gait,
    x: np.ndarray,
    z: np.ndarray,
    p: np.ndarray | None = None,
    steps: int = STEPS,
    rtol: float = 1e-8,
) -> tuple[np.ndarray, np.ndarray]:
    """Which of many states, rows, walk on for `steps` steps at no less than half the gait's pace; and how
    each run ended."""
    system, values = gait.system, start(gait.system)
    p = values.p if p is None else p
    done = simulate_batch(
        system, steps * gait.period, x0=x, z0=z, u=values.u, p=p, rtol=rtol, atol=1e-2 * rtol
    )
    feet = {gait.section, *(system.walk.step_events if system.walk is not None else ())}
    taken = np.sum([done.counts[name] for name in feet], axis=0)
    ran = done.status == "done"
    fine = ran & (taken * 2 >= steps * gait.steps)
    return fine, np.where(ran & ~fine, "stopped", done.status)


def _limit(
    gait: Gait,
    kind: str,
    direction: Mapping[tuple[str, str], float],
    most: float,
    steps: int,
    exact: float,
    unit: str,
    fixed: Mapping[tuple[str, str], float] | None = None,
) -> Survived:
    """Narrow the limit down: of many sizes at once, the first that is not survived."""
    positive("most", most, unit)
    integer("steps", steps, 1)
    positive("exact", exact)
    system, values = gait.system, start(gait.system)
    own = {"x": gait.vector, "z": np.array(list(gait.z0.values())), "p": values.p.copy()}
    for (group, name), value in (fixed or {}).items():
        own[group][system.slices(group)[name]] = value

    def tried(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        begun = {group: np.repeat(vector[None], len(sizes), axis=0) for group, vector in own.items()}
        for (group, name), weight in direction.items():
            begun[group][:, system.slices(group)[name]] += weight * sizes[:, None]
        return survives(gait, begun["x"], begun["z"], begun["p"], steps)

    low, high, fell = 0.0, most, ""
    while not fell or high - low > exact:
        sizes = np.linspace(low, high, TRIALS + 1)[1:]
        fine, status = tried(sizes)
        if fine.all():
            if not fell:
                return Survived(kind, high, np.inf, "", unit)
            break
        k = int(np.argmin(fine))
        fell = str(status[k])
        low, high = (float(sizes[k - 1]) if k else low), float(sizes[k])
    larger = np.linspace(high, most, BEYOND)
    again = larger[tried(larger)[0]]
    return Survived(kind, low, high, fell, unit, float(again.max(initial=-np.inf)) if len(again) else np.nan)


@checked
def sensitivity_norm(gait: Gait, disturbance: np.ndarray, indicator: np.ndarray) -> float:
    """Gait sensitivity norm (Hobbelen and Wisse): the H2 norm from a disturbance of the state after a step, a
    matrix with a column for each, to an indicator, a matrix with a row for each, over all steps that follow.
    Infinite for an unstable gait."""
    if not gait.stable:
        return float("inf")
    axes = (0, 1, 2)
    B, C = (
        np.atleast_2d(number_array("disturbance", disturbance, axes)),
        np.atleast_2d(number_array("indicator", indicator, axes)),
    )
    size = len(gait.jacobian)
    if B.shape[0] != size or C.shape[1] != size:
        raise ShapeError(
            f"the disturbance has the shape {B.shape} and the indicator {C.shape}: of '{gait.system.name}', "
            f"{size} rows and {size} "
            f"columns are needed, for {', '.join(gait.names)}"
        )
    total, power = B @ B.T, gait.jacobian
    for _ in range(DOUBLINGS):  # of the steps summed over: sum of A^k B B' A'^k
        total, power = total + power @ total @ power.T, power @ power
    return float(np.trace(C @ total @ C.T)) ** 0.5


@checked
def decay(gait: Gait, size: float = 1e-5, steps: int = 12) -> float:
    """How fast a small disturbance shrinks per step in simulation: for a stable gait about the modulus of its
    largest multiplier."""
    positive("size", size)
    integer("steps", steps, 1)
    step = gait.map()
    v = np.real(gait.eigenvectors[:, 0])
    y, norms = gait.y0 + size * v / np.linalg.norm(v), []
    for _ in range(steps):
        done = step(y)
        if not done.ok:
            return float("inf")
        y = done.y
        norms.append(float(np.linalg.norm(y - gait.y0)))
    half = steps // 2
    return float((norms[-1] / norms[half - 1]) ** (1 / (steps - half)))


__all__ = ["Survived", "decay", "push", "sensitivity_norm", "step_down", "survives"]
