"""`DifferentialEvolution`: individuals move by differences of others (Storn and Price, DE/rand/1/bin)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, integer, positive
from strut.errors import ValueRangeError
from strut.evolve.goals import best_first, precedes
from strut.evolve.searches.bounds import reflect
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws

MIN_POPULATION = 4
"""Individuals that a mutant is made of: itself and three others."""


@checked
@dataclass(frozen=True)
class DifferentialEvolution:
    """Differential evolution: robust on smooth goals with several optima; slower than CMA-ES on one.

    scale: F, the part of a difference that is added. crossover: CR, the chance of each parameter to come from
    the mutant. towards_best: mutants begin at the best individual (best/1) instead of a random one.
    """

    population: int = 40
    scale: float = 0.5
    crossover: float = 0.9
    towards_best: bool = False

    def __post_init__(self) -> None:
        integer("population", self.population, MIN_POPULATION)
        positive("scale", self.scale)
        if not 0 <= self.crossover <= 1:
            raise ValueRangeError(f"crossover is {self.crossover}: 0 to 1 is allowed")

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Scatter the individuals; the first generation is evaluated as it is."""
        x = space.first_points(draws.uniform(self.population, len(space)))
        keys = np.full((self.population, 2), np.inf)
        return {"x": x, "keys": keys, "low": space.low, "high": space.high, "begun": np.array([False])}

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return for each individual a rival: a mutant with which it has been crossed."""
        x = state["x"]
        if not state["begun"][0]:
            return x
        count, width = x.shape
        a, b, c = _three_others(count, draws)
        base = x[best_first(state["keys"])[0]] if self.towards_best else x[a]
        mutant = reflect(base + self.scale * (x[b] - x[c]), state["low"], state["high"])
        crossed = draws.uniform(count, width) < self.crossover
        crossed[np.arange(count), draws.integers(width, count)] = True
        return np.where(crossed, mutant, x)

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Keep of each pair the better; a rival that is equal replaces the older."""
        better = ~precedes(state["keys"], keys)[:, None]
        return state | {
            "x": np.where(better, x, state["x"]),
            "keys": np.where(better, keys, state["keys"]),
            "begun": np.array([True]),
        }


def _three_others(count: int, draws: Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each individual the numbers of three others, different from each other and from its own."""
    chosen_so_far = np.arange(count)[:, None]
    for k in range(3):
        # a number among those left, counted past the ones before it
        chosen = draws.integers(count - 1 - k, count)
        for place in np.sort(chosen_so_far, axis=1).T:
            chosen = chosen + (chosen >= place)
        chosen_so_far = np.column_stack([chosen_so_far, chosen])
    return chosen_so_far[:, 1], chosen_so_far[:, 2], chosen_so_far[:, 3]
