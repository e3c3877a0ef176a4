"""`SearchMethod`: what every search does: ask for a population, be told how good it was.

A search keeps nothing in itself: all it knows is a `SearchState`, arrays by name, that goes into the store
after every generation, so that a search which was killed goes on from it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws

SearchState = dict[str, np.ndarray]
"""All that a search knows, by name."""


class SearchMethod(Protocol):
    """A way to search. Individuals are rows, parameters columns; a parameter that an individual does not have
    is nan. One whose class says `takes_fronts = True` understands keys of several goals at once."""

    @property
    def population(self) -> int:
        """How many individuals a generation has."""

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Return what is known before the first of so many generations."""

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return the population to be evaluated."""

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Return what is known after a population was evaluated.

        keys: as of `StagedGoals.keys`, less is better.
        """
