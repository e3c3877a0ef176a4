"""`strides`: the last stride of a walk leg by leg, from 0 to 100 %, in machines that keep the names of their
legs and in those that exchange them at every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

STEP_POINTS = 101
"""Points of a step that curves over a stride have."""
EXCHANGE_TOLERANCE = 1e-9
"""Relative difference up to which a state after a step is the one that another was before it."""


@dataclass(frozen=True, eq=False)
class Stride:
    """A stride of one leg.

    leg: its name. t: times [s] of its points, grouped by step; the end of one and the beginning of the next
        are two points. percent: where each is in the stride. stance: shares of the stride that the leg
        stands, in percent; rows of begin and end.
    exchanged: for each step, under which name a state of this leg runs.
    """

    leg: str
    t: np.ndarray
    percent: np.ndarray
    stance: np.ndarray
    exchanged: tuple[Mapping[str, str], ...]

    def values(self, run: Trajectory, name: str) -> np.ndarray:
        """A state of the leg over the stride, under the name that it has at the beginning."""
        steps = np.array_split(self.t, len(self.exchanged))
        return np.concatenate(
            [
                _values_inside(run, t, names.get(name, name))
                for t, names in zip(steps, self.exchanged, strict=True)
            ]
        )


def strides(run: Trajectory) -> list[Stride]:
    """Return the last stride of each leg; nothing of a run with fewer than two whole steps.

    Where states change names at every step, as stance and swing do, that is told from the states before and
    after it, and a stride is two steps. Otherwise a stride is from a landing of a foot to its next.
    """
    steps = [event for event in run.events if event.name in run.names.step_events]
    pairs = exchanged_states(run)
    times = [event.t for event in steps]
    if pairs:
        if len(times) < 3:
            return []
        legs = {"first leg": 4, "second leg": 3} if len(times) > 3 else {"first leg": 3}
        return [
            _exchange_stride(leg, times[-back : len(times) - back + 3], pairs) for leg, back in legs.items()
        ]
    by_foot = []
    for foot in run.names.feet:
        landings = [event.t for event in steps if event.name == foot.lands]
        if foot.lands and len(landings) > 1 and landings[-1] > landings[-2]:
            by_foot.append(
                _foot_stride(run, foot.name, (landings[-2], landings[-1]), foot.stands, foot.normal)
            )
    if not by_foot and len(times) > 1 and times[-1] > times[-2]:
        by_foot.append(_foot_stride(run, "", (times[-2], times[-1]), "", ""))
    return by_foot


def exchanged_states(run: Trajectory) -> dict[str, str]:
    """Return the states that every step exchanges, each by the other; nothing where legs keep their names."""
    steps = [event for event in run.events if event.name in run.names.step_events][-6:]
    if not steps:
        return {}
    before = np.array([[event.before[name] for name in run.names.x] for event in steps])
    after = np.array([[event.after[name] for name in run.names.x] for event in steps])
    near = EXCHANGE_TOLERANCE * (1 + np.abs(before).max(axis=0))
    pairs: dict[str, str] = {}
    for i, a in enumerate(run.names.x):
        for j in range(i + 1, len(run.names.x)):
            moved = np.abs(before[:, i] - before[:, j]).min() > 10 * near[i]
            there = np.abs(after[:, i] - before[:, j]).max() <= near[j]
            back = np.abs(after[:, j] - before[:, i]).max() <= near[i]
            b = run.names.x[j]
            if moved and there and back and a not in pairs and b not in pairs:
                pairs |= {a: b, b: a}
    return _with_rates(run, pairs)


def _with_rates(run: Trajectory, pairs: dict[str, str]) -> dict[str, str]:
    """Add the rates of exchanged states (`state_pairs`), which jump where a foot strikes and so are not
    found by their values."""
    from strut.view.figures.plots import state_pairs

    rates = dict(state_pairs(run))
    more = {rates[a]: rates[b] for a, b in pairs.items() if a in rates and b in rates}
    return pairs | more


def _exchange_stride(leg: str, times: list[float], pairs: Mapping[str, str]) -> Stride:
    """A stride of a leg that stands in the first step and swings in the second, from three landings."""
    t = np.concatenate([np.linspace(a, b, STEP_POINTS) for a, b in pairwise(times)])
    percent = 100 * (t - times[0]) / (times[-1] - times[0])
    stands = 100 * (times[1] - times[0]) / (times[2] - times[0])
    return Stride(leg, t, percent, np.array([[0.0, stands]]), ({}, dict(pairs)))


def _foot_stride(run: Trajectory, leg: str, span: tuple[float, float], stands: str, normal: str) -> Stride:
    """A stride between two landings [s] of a foot that keeps its name. stands, normal: names of what is
    positive while it stands, the first that is given; empty where nothing says so."""
    t = np.linspace(*span, 2 * STEP_POINTS)
    percent = 100 * (t - span[0]) / (span[1] - span[0])
    signal = stands or normal
    has_signal = bool(signal) and signal in run.keys()  # noqa: SIM118 a run is no mapping
    on = _values_inside(run, t, signal) > 0 if has_signal else np.zeros(len(t), dtype=bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    stance = np.array([[percent[a], percent[b - 1]] for a, b in edges.reshape(-1, 2)]).reshape(-1, 2)
    return Stride(leg, t, percent, stance, ({},))


def _values_inside(run: Trajectory, t: np.ndarray, name: str) -> np.ndarray:
    """Values inside of an interval that begins after an event and ends before one."""
    room = 1e-9 * (t[-1] - t[0])
    if run.model is None and name in run.names.outputs:  # which it knows at its points alone
        inside = (run.t > t[0] + room) & (run.t < t[-1] - room)
        return np.interp(t, run.t[inside], run[name][inside]) if inside.any() else np.zeros(len(t))
    return np.asarray(run.at(np.clip(t, t[0] + room, t[-1] - room))[name])


__all__ = ["Stride", "exchanged_states", "strides"]
