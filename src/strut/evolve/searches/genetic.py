"""`GeneticAlgorithm`: tournaments, crossover and mutation of real numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, integer, positive
from strut.errors import ValueRangeError
from strut.evolve.goals import best_first
from strut.evolve.searches.bounds import reflect
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws


@checked
@dataclass(frozen=True)
class GeneticAlgorithm:
    """A genetic algorithm of real numbers: for rugged goals, where neighbours say little.

    tournament: how many meet for each place of a parent. crossover: the chance that a child mixes two
    parents (simulated binary crossover of Deb and Agrawal, with `spread`, its distribution index). mutation:
    the chance of each parameter to change, 1 / how many there are unless given; step: the deviation of a
    change, as part of the range. elite: how many of the best survive.
    """

    population: int = 60
    tournament: int = 2
    crossover: float = 0.9
    spread: float = 15.0
    mutation: float | None = None
    step: float = 0.1
    elite: int = 2

    def __post_init__(self) -> None:
        integer("population", self.population, 4)
        integer("tournament", self.tournament, 1, self.population)
        integer("elite", self.elite, 0, self.population - 1)
        positive("step", self.step)
        positive("spread", self.spread)
        for name in ("crossover", "mutation"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueRangeError(f"{name} is {value}: 0 to 1 is allowed")

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Scatter the individuals; the first generation is evaluated as it is."""
        x = space.first_points(draws.uniform(self.population, len(space)))
        return {
            "children": x,
            "elite_x": np.zeros((0, len(space))),
            "elite_keys": np.zeros((0, 2)),
            "low": space.low,
            "high": space.high,
        }

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return the children of the last generation."""
        return state["children"]

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Let the best of the past in, choose parents by tournament, and make children."""
        pool_x, pool_keys = (
            np.concatenate([state["elite_x"], x]),
            np.concatenate([state["elite_keys"], keys]),
        )
        order = best_first(pool_keys)
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order))
        entrants = draws.integers(len(order), 2 * self.population, self.tournament)
        winners = entrants[np.arange(len(entrants)), np.argmin(rank[entrants], axis=1)]
        mother, father = pool_x[winners[: self.population]], pool_x[winners[self.population :]]
        low, high = state["low"], state["high"]
        children = reflect(self._mutate(self._cross(mother, father, draws), high - low, draws), low, high)
        elite = order[: self.elite]
        return state | {"children": children, "elite_x": pool_x[elite], "elite_keys": pool_keys[elite]}

    def _cross(self, mother: np.ndarray, father: np.ndarray, draws: Draws) -> np.ndarray:
        """Return children of pairs, spread about their parents as in binary crossover (SBX)."""
        u = draws.uniform(*mother.shape)
        power = 1 / (self.spread + 1)
        beta = np.where(u < 0.5, (2 * u) ** power, (1 / (2 * (1 - u))) ** power)
        mixed = 0.5 * ((1 + beta) * mother + (1 - beta) * father)
        crossed = draws.uniform(len(mother)) < self.crossover
        return np.where(crossed[:, None] & (draws.uniform(*mother.shape) < 0.5), mixed, mother)

    def _mutate(self, x: np.ndarray, span: np.ndarray, draws: Draws) -> np.ndarray:
        """Return individuals some of whose parameters have changed."""
        chance = 1 / x.shape[1] if self.mutation is None else self.mutation
        changed = draws.uniform(*x.shape) < chance
        return np.where(changed, x + self.step * span * draws.normal(*x.shape), x)
