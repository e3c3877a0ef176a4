"""Is the gait of a worn machine stable? Its multipliers over a stride on soft ground, by differences: a
controller along a phase of time makes every stride a map of states to states (a Poincaré map at phase 0)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strut.simulate import simulate, simulate_batch
from strut.studies.exoskeleton_gait import FREQUENCY
from strut.studies.human_stability import without_contact_times
from strut.system import System, start

SETTLING_STRIDES = 36
"""[1] Strides of walking, 40 s, after which a gait is looked for."""
STABILITY_STEP = 2e-4
"""[s] Step of RK4 of these walks."""
GAIT_STRIDES = (1, 2, 4)
"""[1] Strides after which a gait is asked to repeat, one after the other: one that limps needs two."""
STATE_DIFFERENCE = 1e-6
"""Difference of states for derivatives, to both sides, in the unit of each."""
MAX_RETURN_MISS = 1e-6
"""By how much a stride may end beside its beginning, in the unit of each state, so that it counts as a
gait."""
MAX_CORRECTIONS = 8
"""Chords (Newton's method with the derivative at the first point) that look for a gait, at most."""


@dataclass(frozen=True)
class StrideStability:
    """What is known of a gait. strides: after which it repeats; 0 where a walk comes to no gait. largest: the
    modulus of its largest multiplier over all of these; below 1 what disturbs it fades; nan where there is no
    gait. miss: by how much its last stride ends beside its beginning, in the unit of each state."""

    strides: int
    largest: float
    miss: float

    @property
    def per_stride(self) -> float:
        """The modulus of the largest multiplier over one stride."""
        return float(self.largest ** (1 / self.strides)) if self.strides else np.nan


class StrideMap:
    """What strides of a machine make of its states: a return map of free states, at phase 0.

    strides: of the map, of `period` each [s]. counting: states that only grow, which are left out. step: of
    RK4 [s]."""

    def __init__(
        self, machine: System, period: float, strides: int, counting: Sequence[str], step: float
    ) -> None:
        self.machine, self.duration, self.step = machine, strides * period, step
        labels = machine.labels("x")
        self.free = np.array([k for k, name in enumerate(labels) if name not in counting])
        self.flags = start(machine).z

    def end_states(self, points: np.ndarray) -> np.ndarray:
        """Return free states where strides end that begin with rows of states; nan where one falls."""
        batch = simulate_batch(
            self.machine,
            self.duration,
            x0=points,
            z0=np.tile(self.flags, (len(points), 1)) if len(self.flags) else None,
            method="rk4",
            step=self.step,
            lanes="auto",
            check_steps=False,
        )
        fell = np.array([status != "done" for status in batch.status])
        return np.asarray(np.where(fell[:, None], np.nan, batch.x)[:, self.free])

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """Return the derivative of where strides end by where they begin, by central differences."""
        count = len(self.free)
        apart = np.zeros((count, len(x)))
        apart[np.arange(count), self.free] = STATE_DIFFERENCE
        ends = self.end_states(np.vstack([x + apart, x - apart]))
        return np.asarray((ends[:count] - ends[count:]).T / (2 * STATE_DIFFERENCE))

    def gait_near(self, x: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, float]:
        """Return states near others with which strides begin and end, by chords, and the largest miss."""
        inverse = np.linalg.pinv(slopes - np.eye(len(self.free)))
        miss, best, point = np.inf, x, x.copy()
        for _ in range(MAX_CORRECTIONS):
            change = self.end_states(point[None])[0] - point[self.free]
            if not np.abs(change).max() < miss:
                break
            miss, best = float(np.abs(change).max()), point.copy()
            if miss <= MAX_RETURN_MISS:
                break
            point[self.free] = point[self.free] - inverse @ change
        return best, miss


def stride_stability(
    machine: System,
    *,
    period: float = 1 / FREQUENCY,
    counting: Sequence[str] = ("x",),
    settling: int = SETTLING_STRIDES,
    step: float = STABILITY_STEP,
) -> StrideStability | None:
    """Return how stable the gait is to which a machine comes; None where it falls before.

    period: of the controller, whose phase is a function of time [s]. counting: states that only grow, such as
    the place, which are left out; times of contact are, too. settling: periods until a gait is looked for.
    step: of RK4 [s].

    Links that closures carry have states of their own: what breaks a closure fades by its stabilisation, so
    that these multipliers are next to 0, and the others are those of the closed loops.
    """
    machine = without_contact_times(machine)
    walk = simulate(machine, settling * period, method="rk4", step=step, ledger=False)
    if walk.status != "done":
        return None
    labels = machine.labels("x")
    x = np.array(walk.raw.x_end)
    x[[labels.index(name) for name in counting]] = 0.0
    miss = np.inf
    for strides in GAIT_STRIDES:
        stride_map = StrideMap(machine, period, strides, counting, step)
        slopes = stride_map.slopes(x)
        if not np.isfinite(slopes).all():
            continue
        gait, miss = stride_map.gait_near(x, slopes)
        if miss <= MAX_RETURN_MISS:
            if np.abs(gait - x).max() > STATE_DIFFERENCE:  # derivatives at the gait itself
                slopes = stride_map.slopes(gait)
            return StrideStability(strides, float(np.abs(np.linalg.eigvals(slopes)).max()), miss)
    return StrideStability(0, np.nan, float(miss))


__all__ = ["StrideMap", "StrideStability", "stride_stability"]
