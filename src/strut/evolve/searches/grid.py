"""`Grid`: every combination of evenly spaced values, in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, integer
from strut.errors import ModelError
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws

MAX_GRID_POINTS = 10**9
"""Points of a grid, at most: more are a mistake."""


@checked
@dataclass(frozen=True)
class Grid:
    """All points of a grid, the last parameter varying fastest: for maps of one or two parameters.

    points: how many values each parameter has, its bounds among them. population: evaluated at once.
    """

    points: int = 11
    population: int = 1000

    takes_fronts = True

    def __post_init__(self) -> None:
        integer("points", self.points, 2)
        integer("population", self.population, 1)

    def generations_needed(self, space: ParameterSpace) -> int:
        """Return in how many generations all points are evaluated."""
        return -(-self._count(space) // self.population)

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Begin at the lower bounds."""
        self._count(space)
        return {"next": np.zeros(1, dtype=np.int64), "low": space.low, "high": space.high}

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return the next points; none where all were evaluated."""
        low, high = state["low"], state["high"]
        first = int(state["next"][0])
        number = np.arange(first, min(first + self.population, self.points ** len(low)))
        weights = self.points ** np.arange(len(low) - 1, -1, -1, dtype=np.int64)
        places = number[:, None] // weights % self.points
        return np.asarray(low + places * (high - low) / (self.points - 1))

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Go on behind the last point."""
        return state | {"next": state["next"] + len(x)}

    def _count(self, space: ParameterSpace) -> int:
        """Return how many points there are; raises ModelError for too many."""
        count = int(self.points ** len(space))
        if count > MAX_GRID_POINTS:
            raise ModelError(
                f"{self.points} values of {len(space)} parameters are {count:.3g} points: "
                f"{MAX_GRID_POINTS:.0e} are allowed; take fewer values, or another search"
            )
        return count
