"""`BoundMultipliers`: what the bounds of a solved problem cost, limit by limit (Lagrange multipliers)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from strut.optimal.nlp.nlp import Transcribed

ACTIVE_DISTANCE = 1e-4
"""A limit is touched where a value is nearer to it than this part of the largest value, or of the limit."""
ACTIVE_EFFECT = 1e-4
"""A limit that is touched is active where moving it by its size would change the cost by at least this part
of it."""
EFFECT_FLOOR = 1e-7
"""Changes of the cost, relative to its scale, below which no limit is active: multipliers are exact to about
the solver's tolerance, 1e-9."""
SIDES = ("low", "high", "equal")
"""What a limit can be: a smallest value, a largest, or the only one."""


@dataclass(frozen=True, eq=False)
class BoundMultipliers:
    """A limit at all places of the mesh at which it holds.

    name: of a requirement; 'bounds of NAME' of a state, input or parameter; 'NAME at the beginning', 'NAME at
        the end', 'duration of PHASE' or 'EVENT comes in its direction'.
    phase: index of the phase of each place. place: the part of the phase that is over there, 0 to 1.
    value, low, high: there. multiplier: of Lagrange, positive where the upper bound presses, negative where
        the lower one does.
    """

    name: str
    phase: np.ndarray = field(repr=False)
    place: np.ndarray = field(repr=False)
    value: np.ndarray = field(repr=False)
    low: np.ndarray = field(repr=False)
    high: np.ndarray = field(repr=False)
    multiplier: np.ndarray = field(repr=False)

    def size(self, side: str) -> float:
        """Return the largest of all values, and of the bounds of a side, in size; 1 where all are zero."""
        every = np.abs(np.concatenate([self.value, self.high if side == "high" else self.low]))
        return float(every[np.isfinite(every)].max(initial=0.0)) or 1.0

    def presses(self, side: str) -> np.ndarray:
        """Return at which places a side ('low', 'high' or 'equal') is what presses."""
        equal: np.ndarray = np.equal(self.low, self.high)
        if side == "equal":
            return equal
        of_side: np.ndarray = np.greater(self.multiplier if side == "high" else -self.multiplier, 0) & ~equal
        return of_side

    def bound(self, side: str) -> float:
        """Return the bound of a side; where it differs from place to place, that of the place where it
        presses most."""
        at = np.abs(np.where(self.presses(side), self.multiplier, 0.0)).argmax()
        return float((self.high if side == "high" else self.low)[at])

    def slope(self, side: str) -> float:
        """Return by how much the cost grows, in its unit, for each unit by which a bound is moved up at all
        places at once."""
        return -float(self.multiplier[self.presses(side)].sum())

    def distance(self, side: str) -> float:
        """Return how near the values come to a side."""
        gaps = self.high - self.value if side == "high" else self.value - self.low
        return float(gaps[self.presses(side)].min(initial=np.inf))

    def touched_sides(self) -> list[str]:
        """Return the sides that values come to, however little these press."""
        return [side for side in SIDES if self.distance(side) <= ACTIVE_DISTANCE * self.size(side)]

    def active_sides(self, cost: float, scale: float = 1.0) -> list[str]:
        """Return the sides that decide the cost: they are touched, and moving them changes it. scale: of the
        cost, in its unit."""
        least = max(ACTIVE_EFFECT * abs(cost), EFFECT_FLOOR * scale)
        return [side for side in self.touched_sides() if abs(self.slope(side)) * self.size(side) >= least]


def collect_multipliers(
    mesh: Transcribed, values: np.ndarray, multipliers: np.ndarray
) -> tuple[BoundMultipliers, ...]:
    """Return the multipliers of all limits of a mesh that have bounds, by limit.

    values, multipliers: of all unknowns, then of all rows but the cost.
    """
    count = len(mesh.unknowns.names)
    low = np.array([*mesh.unknowns.low, *mesh.rows.low[1:]])
    high = np.array([*mesh.unknowns.high, *mesh.rows.high[1:]])
    indices: dict[str, list[int]] = {}
    places: dict[int, tuple[int, float]] = {}
    for offset, block in ((0, mesh.unknowns.limits), (count - 1, mesh.rows.limits)):
        for at, limit in block.items():
            if np.isfinite(low[at + offset]) or np.isfinite(high[at + offset]):
                indices.setdefault(limit.limit, []).append(at + offset)
                places[at + offset] = (limit.phase, limit.place)
    return tuple(
        _group(name, chosen, places, (values, low, high, multipliers)) for name, chosen in indices.items()
    )


def _group(
    name: str, chosen: Sequence[int], places: Mapping[int, tuple[int, float]], columns: Sequence[np.ndarray]
) -> BoundMultipliers:
    """Return one limit: the chosen entries of values, lower and upper bounds and multipliers."""
    value, low, high, multiplier = (column[list(chosen)] for column in columns)
    return BoundMultipliers(
        name=name,
        phase=np.array([places[at][0] for at in chosen]),
        place=np.array([places[at][1] for at in chosen]),
        value=value,
        low=low,
        high=high,
        multiplier=multiplier,
    )


__all__ = ["SIDES", "BoundMultipliers", "collect_multipliers"]
