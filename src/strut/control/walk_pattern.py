"""`WalkPattern`: a straight walk in a few numbers, and what follows from them over time: where the feet are,
where the zero-moment point (ZMP) shall be, and how the centre of mass must move for it.

The centre of mass keeps its height, and moves as ZMP preview control of a cart-table says (Kajita et al.
2003, `ZmpPreview`). While both feet are down the ZMP goes from the old to the new stance foot, else it stays;
a swinging foot goes forward by a quintic and up by a bump, level all the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from strut.checks import checked, finite, integer, positive
from strut.control.inverted_pendulum import GRAVITY
from strut.control.preview import WHOLE_SLACK, ZmpPreview
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean

MAX_PERIOD = 0.01
"""[s] Longest period of the preview controller's samples."""
SIDES = ("right", "left")
"""The feet, in the order in which everything here has them."""
SIDE_SIGNS = np.array([-1.0, 1.0])
"""[1] Where each foot stands beside the middle: y points left."""


@checked
@dataclass(frozen=True, kw_only=True)
class WalkPattern:
    """A straight walk along x, from standing to standing, in seven numbers.

    step_length: from one footfall to the next [m]; negative walks back, zero steps in place.
    step_time: from one footfall to the next [s].
    double_support: part of a step in which both feet are down, 0 < ... < 1.
    com_height: of the centre of mass over the ground, all the time [m].
    sway: how far beside the middle the ZMP is while one foot stands [m].
    clearance: how high a swinging foot is lifted [m].
    trunk_pitch: how far the base leans forward [rad].

    And what is given rather than tuned:

    steps: how many there are; the last one brings the feet side by side.
    spread: how far beside the middle each foot stands [m].
    zmp_ahead: how far in front of the foot's frame the ZMP is while that foot stands [m]: the middle of the
        sole, usually.
    first: the foot that swings first, 'right' or 'left'. wait: standing before the first step, and after the
        last [s]; the first one must be long enough for the mass to begin to move before the ZMP does.
    g: [m/s^2].
    """

    step_length: float
    step_time: float
    double_support: float
    com_height: float
    sway: float
    clearance: float
    trunk_pitch: float = 0.0
    steps: int = 10
    spread: float
    zmp_ahead: float = 0.0
    first: str = "left"
    wait: float = 1.0
    g: float = GRAVITY

    def __post_init__(self) -> None:
        for name, unit in (("step_time", "s"), ("com_height", "m"), ("spread", "m"), ("g", "m/s^2")):
            positive(f"{name} of a walk", getattr(self, name), unit)
        for name, unit in (("step_length", "m"), ("trunk_pitch", "rad"), ("zmp_ahead", "m")):
            finite(f"{name} of a walk", getattr(self, name), unit)
        for name in ("sway", "clearance", "wait"):
            if not 0 <= finite(f"{name} of a walk", getattr(self, name)) < math.inf:
                raise ValueRangeError(
                    f"{name} of a walk is {getattr(self, name):g}: zero or a positive number is needed"
                )
        if not 0 < finite("double_support of a walk", self.double_support) < 1:
            raise ValueRangeError(
                f"double_support of a walk is {self.double_support:g}: it is the part of a step in which "
                f"both feet are down, more than 0 and less than 1"
            )
        integer("steps of a walk", self.steps, 1)
        if self.first not in SIDES:
            raise UnknownNameError(
                f"a walk begins with no foot '{self.first}': {did_you_mean(self.first, list(SIDES))}"
            )

    @property
    def duration(self) -> float:
        """The whole walk, from standing to standing [s]: waits, steps, and the last shift of the load."""
        return 2 * self.wait + (self.steps + self.double_support) * self.step_time

    @cached_property
    def swings(self) -> tuple[FootSwing, ...]:
        """The swings, in order."""
        at = np.zeros(2)
        swings = []
        side = SIDES.index(self.first)
        for k in range(self.steps):
            # the last one comes to rest beside the foot that stands
            target = self.step_length * (k + 1 if k + 1 < self.steps else k)
            begin = self.wait + (k + self.double_support) * self.step_time
            swings.append(
                FootSwing(
                    side=side,
                    begin=begin,
                    end=self.wait + (k + 1) * self.step_time,
                    start=float(at[side]),
                    target=target,
                )
            )
            at[side] = target
            side = 1 - side
        return tuple(swings)

    def feet(self, t: np.ndarray) -> np.ndarray:
        """Where the feet are at times [s]: x, y, z [m], of right and left, an array of len(t) x 2 x 3."""
        places = np.zeros((len(t), 2, 3))
        places[:, :, 1] = self.spread * SIDE_SIGNS
        for swing in self.swings:
            s = np.clip((t - swing.begin) / (swing.end - swing.begin), 0.0, 1.0)
            forward = s**3 * (10 - 15 * s + 6 * s**2)
            places[:, swing.side, 0] += (swing.target - swing.start) * forward
            places[:, swing.side, 2] += self.clearance * 64 * (s * (1 - s)) ** 3
        return places

    def feet_down(self, t: np.ndarray) -> np.ndarray:
        """Which feet are down at times [s], right and left, an array of len(t) x 2."""
        down = np.ones((len(t), 2), dtype=bool)
        for swing in self.swings:
            down[:, swing.side] &= ~((t > swing.begin) & (t < swing.end))
        return down

    def zmp_reference(self, t: np.ndarray) -> np.ndarray:
        """Where the ZMP shall be at times [s]: x and y [m]."""
        times, places = [0.0], [np.array([self.zmp_ahead, 0.0])]
        stand_x = np.zeros(2)
        for swing in self.swings:
            other = 1 - swing.side
            under_stance = np.array([stand_x[other] + self.zmp_ahead, self.sway * SIDE_SIGNS[other]])
            # the load goes over to the other foot before this one swings, and stays there until it has landed
            times += [swing.begin - self.double_support * self.step_time, swing.begin, swing.end]
            places += [places[-1], under_stance, under_stance]
            stand_x[swing.side] = swing.target
        times.append(times[-1] + self.double_support * self.step_time)
        places.append(np.array([stand_x.mean() + self.zmp_ahead, 0.0]))
        return np.column_stack([np.interp(t, times, np.array(places)[:, k]) for k in (0, 1)])

    @cached_property
    def preview(self) -> ZmpPreview:
        """The preview controller of the centre of mass."""
        every = self.step_time / math.ceil(self.step_time / MAX_PERIOD)
        return ZmpPreview(height=self.com_height, every=every, g=self.g)

    @cached_property
    def cart(self) -> WalkingCart:
        """The motion of the centre of mass, by preview control."""
        every = self.preview.every
        return self.plan_cart(self.zmp_reference(every * np.arange(_count_samples(self.duration, every))))

    def plan_cart(self, zmp: np.ndarray) -> WalkingCart:
        """Return how a mass moves whose ZMP follows a reference, from rest.

        zmp: x and y [m], a row for each sample of `preview`.
        """
        plans = [self.preview.plan(zmp[:, k], start=(zmp[0, k], 0.0, 0.0)) for k in (0, 1)]
        place, velocity, acceleration = (
            np.column_stack([plan.states[:, k] for plan in plans]) for k in range(3)
        )
        return WalkingCart(plans[0].t, place, velocity, acceleration)


def _count_samples(duration: float, every: float) -> int:
    """Return how many samples reach from 0 to a duration, or just beyond."""
    return math.ceil(duration / every - WHOLE_SLACK) + 1


@dataclass(frozen=True)
class FootSwing:
    """A swing of a foot. side: 0 right, 1 left. begin, end: [s]. start, target: places along x [m]."""

    side: int
    begin: float
    end: float
    start: float
    target: float


@dataclass(frozen=True, eq=False)
class WalkingCart:
    """A mass of constant height over time, x and y in columns. t: [s]. place, velocity, acceleration: [m,
    m/s, m/s^2]."""

    t: np.ndarray
    place: np.ndarray = field(repr=False)
    velocity: np.ndarray = field(repr=False)
    acceleration: np.ndarray = field(repr=False)

    def place_at(self, t: np.ndarray) -> np.ndarray:
        """The mass at times [s]: over a sample its jerk is constant, so this is exact."""
        k = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        d = (t - self.t[k])[:, None]
        jerk = (self.acceleration[k + 1] - self.acceleration[k]) / (self.t[k + 1] - self.t[k])[:, None]
        return np.asarray(
            self.place[k] + d * (self.velocity[k] + d * (self.acceleration[k] / 2 + d * jerk / 6))
        )


__all__ = ["SIDES", "FootSwing", "WalkPattern", "WalkingCart"]
