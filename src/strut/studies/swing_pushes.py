"""Pushes against the swing foot, one in every swing at a random place: the machine they act on, and their
draws (Kieboom, section 4.2.4).

A swing is what every step needs: the foot passes the hips. Where pushes began at a random moment after a foot
was lifted and ended where it landed, searches came to feet that are up so shortly that they bore a fifth to a
third of the pushes. Nothing here is an event, so that populations run with fixed steps: the time since a foot
passed is a state, and when it did says which draw counts.
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
PASSING_REACH = 0.05
"""[m] Before and behind the hips, between which is the place of a foot at which a push begins; a foot that
stands further behind begins another swing."""
RESET_TIME = 2e-3
"""[s] In which the time since a foot passed is forgotten where it stands behind the hips."""
LONG_AGO = 1.0
"""[s] Since a foot passed that stands in front as a run begins: longer than a push."""
MIN_PASSING_TIME = 1e-6
"""[s] From which on a foot has passed: far below a step."""
DRAWS = ("force", "onset", "duration")
"""What is drawn for every swing."""


def with_swing_pushes(
    walker: System, feet: Mapping[str, tuple[str, ...]], ahead: Mapping[str, ca.SX], count: int
) -> System:
    """Return a walker whose swing feet are pushed backwards: once in a swing, for as long as is drawn, also
    where the foot is pushed back or lands on it.

    walker: with a parameter frequency [Hz], and for each side S inputs foot_S_push_x [N]. feet: by side, 'r'
    and 'l', the contacts of a foot. ahead: by side, how far the foot is in front of the hips [m]. count: of
    draws for each side; swings beyond them begin anew.

    Parameters of side S, a number for each of its swings: push_force_S [N], push_onset_S, the part of the way
    past the hips at which it begins, and push_duration_S [s]. State passed_S: time since the foot was there
    [s]; it is 0 again after the foot stood behind the hips. Outputs: push_S [N].
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
        passed = State(f"passed_{side}", LONG_AGO, "s", description="since the foot was where it is pushed")
        states.append(passed)
        draws = {
            "force": Param(f"push_force_{side}", np.zeros(count), "N"),
            "onset": Param(f"push_onset_{side}", np.full(count, 0.5)),
            "duration": Param(f"push_duration_{side}", np.full(count, MEAN_DURATION), "s"),
        }
        own += draws.values()
        # when it passed does not change until it stands behind, and tells swings apart
        cycle = ca.floor((time - passed.sym) * frequency)
        number = cycle - count * ca.floor(cycle / count)
        force, onset, duration = (_choose(draws[word].sym, number) for word in DRAWS)
        stands_behind = (1 - up) * (ahead[side] < -PASSING_REACH)
        is_there = ahead[side] >= PASSING_REACH * (2 * onset - 1)  # where its push begins
        has_passed = ca.fmax(is_there, passed.sym > MIN_PASSING_TIME)
        flow[passed.name] = ca.if_else(stands_behind, -passed.sym / RESET_TIME, has_passed)
        acts = (1 - stands_behind) * has_passed * (passed.sym < duration)
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
        numbers = MEAN_FORCE, FORCE_DEVIATION, MEAN_DURATION, DURATION_DEVIATION, PASSING_REACH
        return f"pushes of passing feet {self} {numbers}"

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
