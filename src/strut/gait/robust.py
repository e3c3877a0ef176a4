"""How much a gait survives: a step down, a push; and how strongly small disturbances show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strut.checks import checked, finite, integer, number_array, positive, short_repr
from strut.errors import ModelError, ShapeError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.foot_ground import GROUND_LEVEL, feet_on_own_ground, level_after_leaving
from strut.gait.gait import Gait
from strut.gait.lifting import lifting_state
from strut.gait.step_budget import step_budget
from strut.simulate import simulate_batch
from strut.system import start
from strut.tabular import Tabular, one_row

SURVIVED_STEPS = 25
"""Steps after a disturbance by which a walker has survived it."""
MAX_INTEGRATOR_STEPS = 2000
"""Most steps of the integrator for each step of the walker, which takes about a hundred: one that needs more
rattles on the spot, and has not survived."""
TRIALS_PER_ROUND = 32
"""Disturbances tried at once; each round narrows the limit to one interval between two of them."""
TRIALS_AT_ONCE = 8
"""Disturbances of a round that are tried together, the smaller ones first: what is larger than one that was
not survived is not tried."""
TRIALS_BEYOND = 400
"""Disturbances tried beyond the limit."""
STEP_DOUBLINGS = 60
"""Doublings of the number of steps that a sum over all steps takes: a multiplier that has not died out after
2^60 steps is 1 to rounding."""


@dataclass(frozen=True, eq=False)
class Survived(Tabular):
    """The largest disturbance of a kind that a gait survives, with all smaller ones; `beyond` ends as `fell`
    says. Where `largest` is 0, none of those tried is survived, of which `beyond` is the smallest.

    What a gait survives is not always an interval: `again` is the largest of those tried beyond it that is
    survived although smaller ones are not; nan if there is none.
    """

    kind: str
    largest: float
    beyond: float
    fell: str
    unit: str
    again: float = np.nan

    def columns(self) -> dict[str, list[Any]]:
        """Return what it says, as one row."""
        return one_row(self)

    @property
    def less_than(self) -> float | None:
        """Where none of those tried is survived, the smallest of them: what is survived is less. Else
        None."""
        return self.beyond if self.largest == 0 and np.isfinite(self.beyond) else None

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
        if self.less_than is not None:
            least = f"{self.beyond:.6g} {self.unit}".strip()
            return (
                f"{self.kind}: less than {least} is survived: that, the smallest tried, ends by "
                f"{self.fell}{more}"
            )
        return (
            f"{self.kind}: all up to {self.largest:.6g} {self.unit} are survived, {self.beyond:.6g} ends "
            f"by {self.fell}{more}"
        )


@checked
def step_down(
    gait: Gait,
    most: float = 0.2,
    steps: int = SURVIVED_STEPS,
    exact: float = 1e-5,
    *,
    trials_beyond: int = TRIALS_BEYOND,
) -> Survived:
    """The largest step down [m] of the ground that the gait survives, met once.

    most: the largest tried [m]. steps: it must make afterwards. exact: how exactly the limit is wanted [m].
    trials_beyond: how many larger ones are tried.
    The walker begins a step on ground that is higher by so much than the rest; where its walk names
    parameters of a step of the ground, the ground steps down in the middle of the first step; where it has
    heights of the ground under its feet (`contact.uneven`), these change when a foot leaves. Raises
    ModelError where its walk names none of these, nor what lifts it.
    """
    search = _LimitSearch(
        gait, "step down", "m", most=most, steps=steps, exact=exact, trials_beyond=trials_beyond
    )
    return _step_of_ground(search, down=True)


@checked
def step_up(
    gait: Gait,
    most: float = 0.2,
    steps: int = SURVIVED_STEPS,
    exact: float = 1e-5,
    *,
    trials_beyond: int = TRIALS_BEYOND,
) -> Survived:
    """The largest step up [m] of the ground that the gait survives, met once; as `step_down`.

    A swing foot that is then below the ground counts as on it when it comes down onto it: feet that clear the
    ground by little are not stopped by the riser.
    """
    search = _LimitSearch(
        gait, "step up", "m", most=most, steps=steps, exact=exact, trials_beyond=trials_beyond
    )
    return _step_of_ground(search, down=False)


def _step_of_ground(search: _LimitSearch, *, down: bool) -> Survived:
    """The largest step of the ground that is survived."""
    gait = search.gait
    system, walk, sign = gait.system, gait.system.walk, 1.0 if down else -1.0
    if walk is not None and walk.ground_step is not None:
        lower, place = walk.ground_step
        return search.run({("p", lower): sign}, {("p", place): gait.step_length / 2})
    if feet_on_own_ground(system):
        leveled, swinging = level_after_leaving(gait)
        places: list[Place] = [("p", GROUND_LEVEL), *(("z", foot.ground) for foot in swinging)]
        # a foot that has just left lands after it was above the ground, which is higher now
        unarmed: dict[Place, float] = {("z", foot.armed): 0.0 for foot in swinging if foot.armed}
        return replace(search, gait=leveled).run(dict.fromkeys(places, -sign), unarmed)
    lift = lifting_state(system)
    if not down and lift in system.labels("x"):
        raise ModelError(
            f"'{system.name}' cannot step up: lowered by its base '{lift}', a foot would begin inside the "
            f"ground; describe ground with a height of its own under each foot, contact.uneven(ground), for "
            f"contact.rigid, or a step of the ground, contact.stairs, and name its parameters in its walk "
            f"(ground_step)"
        )
    return search.run({("x" if lift in system.labels("x") else "z", lift): sign})


@checked
def push(
    gait: Gait,
    direction: str | Mapping[str, float],
    most: float | None = None,
    steps: int = SURVIVED_STEPS,
    exact: float = 1e-5,
    *,
    trials_beyond: int = TRIALS_BEYOND,
) -> Survived:
    """The largest sudden change of a rate, or along a direction of states, at the beginning of a step that
    the gait survives.

    direction: the name of a state, or how much each of several changes. most: the largest tried, by default
    twice the largest state. steps: it must make afterwards. exact: how exactly the limit is wanted.
    trials_beyond: how many larger ones are tried. Raises
    UnknownNameError for a name that is no state, ValueRangeError for a direction in which nothing changes.
    """
    system = gait.system
    changes = {direction: 1.0} if isinstance(direction, str) else dict(direction)
    for name in changes:
        if name not in gait.x0:
            raise UnknownNameError(
                f"'{name}' is not a state of '{system.name}': {did_you_mean(name, list(gait.x0))}"
            )
    if not any(finite(f"direction['{name}']", value) for name, value in changes.items()):
        raise ValueRangeError(f"the direction of a push is {short_repr(direction)}: something must change")
    size = max(abs(v) for v in gait.x0.values())
    unit = next((q.unit for q in system.x if q.name == next(iter(changes))), "")
    search = _LimitSearch(
        gait,
        "push",
        unit,
        most=2 * size if most is None else most,
        steps=steps,
        exact=exact,
        trials_beyond=trials_beyond,
    )
    return search.run({("x", name): change for name, change in changes.items()})


@checked
def wrong_parameter(
    gait: Gait, name: str, most: float = 0.5, steps: int = SURVIVED_STEPS, exact: float = 1e-3
) -> Survived:
    """The largest error of a parameter, relative to its value, that the gait survives in either direction:
    the machine is another one from the first step on, and all else stays as it was.

    most: the largest tried [1]. steps: it must make. exact: how exactly the limit is wanted [1]. Errors at
    which the parameter would leave its bounds are not tried. Raises UnknownNameError for a name that is no
    parameter, ValueRangeError for a parameter that is zero.
    """
    system = gait.system
    names = [q.name for q in system.p if q.size == 1]
    if name not in names:
        raise UnknownNameError(
            f"'{name}' is no parameter of '{system.name}', or more than one number: "
            f"{did_you_mean(name, names)}"
        )
    parameter = next(q for q in system.p if q.name == name)
    value = float(start(system).p[system.slices("p")[name]][0])
    if value == 0:
        raise ValueRangeError(
            f"parameter '{name}' of '{system.name}' is 0: an error relative to it says nothing"
        )
    low, high = parameter.bounds
    limits = []
    for sign in (1.0, -1.0):
        room = ((high if sign * value > 0 else low) - value) / (sign * value)
        search = _LimitSearch(
            gait,
            f"{name} wrong by a part",
            "",
            most=min(most, room * (1 - 1e-9)),
            steps=steps,
            exact=exact,
            trials_beyond=0,
        )
        if search.most > exact:
            limits.append(search.run({("p", name): sign * value}))
    if not limits:
        raise ValueRangeError(f"parameter '{name}' of '{system.name}' is at its bounds: it cannot be wrong")
    return min(limits, key=lambda each: each.largest)


def survives(
    gait: Gait,
    x: np.ndarray,
    z: np.ndarray,
    p: np.ndarray | None = None,
    *,
    steps: int = SURVIVED_STEPS,
    rtol: float = 1e-8,
    device: str = "cpu",
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which of many states, rows, walk on for `steps` steps at no less than half the gait's pace; and
    how each run ended.

    x, z: the states. p: parameters, a row for all or one each, by default the system's. rtol: relative error
    of the integration. device, progress: where runs are done, and what is called with the fraction of them,
    see `simulate_batch`.
    """
    system, values = gait.system, start(gait.system)
    p = values.p if p is None else p
    batch = simulate_batch(
        system,
        steps * gait.period,
        x0=x,
        z0=z,
        u=values.u,
        p=p,
        device=device,
        rtol=rtol,
        atol=1e-2 * rtol,
        max_steps=step_budget(system, steps * gait.steps * MAX_INTEGRATOR_STEPS),
        progress=progress,
    )
    step_events = {gait.section, *(system.walk.step_events if system.walk is not None else ())}
    step_counts = np.sum([batch.counts[name] for name in step_events], axis=0)
    ran = batch.status == "done"
    fine = ran & (step_counts * 2 >= steps * gait.steps)
    return fine, np.where(ran & ~fine, "stopped", batch.status)


Place = tuple[str, str]
"""Where a disturbance acts: the group, 'x', 'z' or 'p', and the name."""


@dataclass(frozen=True, eq=False)
class _LimitSearch:
    """A search for the largest disturbance of a kind that a gait survives.

    unit: of the disturbance. most: the largest tried. steps: it must make afterwards. exact: how exactly the
    limit is wanted.
    """

    gait: Gait
    kind: str
    unit: str
    most: float
    steps: int
    exact: float
    trials_beyond: int = TRIALS_BEYOND

    def run(
        self, direction: Mapping[Place, float], constant: Mapping[Place, float] | None = None
    ) -> Survived:
        """Narrow the limit down: of many sizes at once, the first that is not survived.

        direction: how much each value changes per size. constant: values that are the same for all sizes.
        """
        positive("most", self.most, self.unit)
        integer("steps", self.steps, 1)
        positive("exact", self.exact)
        begin = self._begin_values(constant or {})
        low, high, fell = 0.0, self.most, ""
        while not fell or high - low > self.exact:
            # at least two: the upper end of an interval is one that was tried
            trials = int(min(TRIALS_PER_ROUND, max(np.ceil((high - low) / self.exact), 2)))
            sizes = np.linspace(low, high, trials + 1)[1:]
            k, why = self._first_fall(begin, direction, sizes)
            if k == len(sizes):
                if not fell:
                    return Survived(self.kind, high, np.inf, "", self.unit)
                break
            fell = why
            low, high = (float(sizes[k - 1]) if k else low), float(sizes[k])
        larger = np.linspace(high, self.most, self.trials_beyond)
        again = larger[self._outcomes(begin, direction, larger)[0]] if len(larger) else larger
        return Survived(
            kind=self.kind,
            largest=low,
            beyond=high,
            fell=fell,
            unit=self.unit,
            again=float(again.max(initial=-np.inf)) if len(again) else np.nan,
        )

    def _first_fall(
        self, begin: Mapping[str, np.ndarray], direction: Mapping[Place, float], sizes: np.ndarray
    ) -> tuple[int, str]:
        """The place of the first size, in rising order, that is not survived, and how its run ended; the
        number of sizes where all are."""
        for first in range(0, len(sizes), TRIALS_AT_ONCE):
            fine, status = self._outcomes(begin, direction, sizes[first : first + TRIALS_AT_ONCE])
            if not fine.all():
                k = int(np.argmin(fine))
                return first + k, str(status[k])
        return len(sizes), ""

    def _begin_values(self, constant: Mapping[Place, float]) -> dict[str, np.ndarray]:
        """States and parameters of the gait, with other values of some, by group."""
        gait = self.gait
        vectors = {
            "x": gait.vector,
            "z": np.array(list(gait.z0.values())),
            "p": start(gait.system).p.copy(),
        }
        for (group, name), value in constant.items():
            vectors[group][gait.system.slices(group)[name]] = value
        return vectors

    def _outcomes(
        self, begin: Mapping[str, np.ndarray], direction: Mapping[Place, float], sizes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which sizes of the disturbance are survived, and how each run ended."""
        rows = {group: np.repeat(vector[None], len(sizes), axis=0) for group, vector in begin.items()}
        for (group, name), change in direction.items():
            rows[group][:, self.gait.system.slices(group)[name]] += change * sizes[:, None]
        return survives(self.gait, rows["x"], rows["z"], rows["p"], steps=self.steps)


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
    for _ in range(STEP_DOUBLINGS):  # of the steps summed over: sum of A^k B B' A'^k
        total, power = total + power @ total @ power.T, power @ power
    return float(np.sqrt(np.trace(C @ total @ C.T)))


@checked
def decay(gait: Gait, size: float = 1e-5, steps: int = 12) -> float:
    """How fast a small disturbance shrinks per step in simulation: for a stable gait about the modulus of its
    largest multiplier. size: of the disturbance, along its eigenvector. steps: over the second half of which
    it is measured. Infinite where the walker falls."""
    positive("size", size)
    integer("steps", steps, 1)
    step = gait.map()
    v = np.real(gait.eigenvectors[:, 0])
    y, norms = gait.y0 + size * v / np.linalg.norm(v), []
    for _ in range(steps):
        after = step(y)
        if not after.ok:
            return float("inf")
        y = after.y
        norms.append(float(np.linalg.norm(y - gait.y0)))
    half = steps // 2
    return float((norms[-1] / norms[half - 1]) ** (1 / (steps - half)))


__all__ = [
    "Survived",
    "decay",
    "push",
    "sensitivity_norm",
    "step_down",
    "step_up",
    "survives",
    "wrong_parameter",
]
