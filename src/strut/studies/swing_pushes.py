"""Pushes against the swing foot, one in every swing at a random moment: the machine they act on, and their
draws (Kieboom, section 4.2.4).

Nothing here is an event, so that populations run with fixed steps: a foot's time in the air is a state, and
when it was lifted says which draw counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.system import Param, State, System, join, time

MEAN_FORCE, FORCE_DEVIATION = 80.0, 5.0
"""[N] Of a push; the thesis says horizontal, the direction is ours: backwards, as of an obstacle."""
MEAN_DURATION, DURATION_DEVIATION = 0.15, 0.05
"""[s] Of a push."""
MIN_DURATION = 0.02
"""[s] Of a push, at least: of a normal distribution a few would be negative."""
SWING_SHARE = 0.5
"""[1] Part of the cycle over which onsets are drawn, from when a foot is lifted: about a swing."""
LANDING_TIME = 2e-3
"""[s] In which the time in the air is forgotten after a landing."""
MIN_AIR_TIME = 0.02
"""[s] A foot must be in the air before it is pushed: as it rolls, it may leave the ground for a moment."""
DRAWS = ("force", "onset", "duration")
"""What is drawn for every swing."""


def with_swing_pushes(walker: System, feet: Mapping[str, tuple[str, ...]], count: int) -> System:
    """Return a walker whose swing feet are pushed backwards.

    walker: with a parameter frequency [Hz], and for each side S inputs foot_S_push_x [N]. feet: by side, 'r'
    and 'l', the contacts of a foot. count: of draws for each side; swings beyond them begin anew.

    Parameters of side S, a number for each of its swings: push_force_S [N], push_onset_S, the part of a swing
    after which it begins, and push_duration_S [s]. State air_S: time in the air [s]. Outputs: push_S [N].
    """
    frequency = walker["frequency"]
    states: list[State] = []
    flow: dict[str, ca.SX] = {}
    own: list[Param] = []
    connect: dict[str, ca.SX] = {}
    outputs: dict[str, ca.SX] = {}
    for side, contacts in feet.items():
        up = ca.SX(1)
        for contact in contacts:
            up = up * (walker[f"{contact}_gap"] > 0)
        air = State(f"air_{side}", 0.0, "s", description="time in the air")
        states.append(air)
        flow[air.name] = ca.if_else(up, 1, -air.sym / LANDING_TIME)
        draws = {
            "force": Param(f"push_force_{side}", np.zeros(count), "N"),
            "onset": Param(f"push_onset_{side}", np.full(count, 0.5)),
            "duration": Param(f"push_duration_{side}", np.full(count, MEAN_DURATION), "s"),
        }
        own += draws.values()
        # when it was lifted does not change while it is in the air, and tells swings apart
        cycle = ca.floor((time - air.sym) * frequency)
        number = cycle - count * ca.floor(cycle / count)
        force, onset, duration = (_choose(draws[word].sym, number) for word in DRAWS)
        begin = ca.fmax(onset * SWING_SHARE / frequency, MIN_AIR_TIME)
        acts = up * (air.sym >= begin) * (air.sym < begin + duration)
        connect[f"foot_{side}_push_x"] = -force * acts
        connect[f"foot_{side}_push_z"] = ca.SX(0)
        outputs[f"push_{side}"] = -force * acts
    extended = walker.replace(
        x=(*walker.x, *states), flow={**dict(walker.flow), **flow}, p=(*walker.p, *own), symmetry={}
    )
    return join(walker.name, extended, connect=connect, outputs=outputs, description=walker.description)


def _choose(values: ca.SX, number: ca.SX) -> ca.SX:
    """The component of a vector that a number says."""
    return sum(((number == k) * values[k] for k in range(values.numel())), ca.SX(0))


@dataclass(frozen=True)
class SwingPushes:
    """Draws of pushes, other ones for every individual and every evaluation, in several seeds. sides: of the
    walker. swings: of each side that have draws. count: how many seeds, the worst of which counts."""

    sides: tuple[str, ...] = ("r", "l")
    swings: int = 12
    count: int = 3

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the parameters that are drawn."""
        return tuple(
            f"push_{word}_{side}[{k}]" for side in self.sides for word in DRAWS for k in range(self.swings)
        )

    @property
    def digest(self) -> str:
        """What tells these draws from others."""
        return f"swing pushes {self} {MEAN_FORCE} {FORCE_DEVIATION} {MEAN_DURATION} {DURATION_DEVIATION}"

    def rows(self, places: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return the draws of some runs, a row each, from the seed of each."""
        parts = []
        for k in range(len(self.sides)):
            u = uniform_numbers(seeds, 5 * self.swings, 5 * self.swings * k)
            radius, turn, second_radius, second_turn, onset = np.split(u, 5, axis=1)
            force = MEAN_FORCE + FORCE_DEVIATION * _normal(radius, turn)
            duration = MEAN_DURATION + DURATION_DEVIATION * _normal(second_radius, second_turn)
            parts += [force, onset, np.maximum(duration, MIN_DURATION)]
        return np.hstack(parts)


def _normal(radius: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Normally distributed numbers from two uniform ones (Box-Muller)."""
    return np.asarray(np.sqrt(-2 * np.log1p(-radius)) * np.cos(2 * np.pi * turn))


def uniform_numbers(seeds: np.ndarray, count: int, first: int = 0) -> np.ndarray:
    """Return numbers from 0 to below 1, so many for each seed, those from some number on: SplitMix64, which
    needs no generator for each of thousands of seeds."""
    steps = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):  # it counts modulo 2^64
        z = np.asarray(seeds, dtype=np.uint64)[:, None] + steps * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53)


__all__ = ["SwingPushes", "uniform_numbers", "with_swing_pushes"]
