"""`GeneticAlgorithm`: tournaments, crossover and mutation of real numbers; the best of parents and children
stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, integer
from strut.evolve.goals import best_first
from strut.evolve.searches.method import SearchState
from strut.evolve.searches.variation import VariationRates, check_rates, children_of, is_copy
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws


@checked
@dataclass(frozen=True)
class GeneticAlgorithm:
    """A genetic algorithm of real numbers: for rugged goals, where neighbours say little.

    tournament: how many meet for each place of a parent. crossover: the chance that two parents are mixed
    (simulated binary crossover of Deb and Agrawal, with `spread`, its distribution index). mutation: the
    chance of each parameter to change, 1 / how many there are unless given (polynomial, with
    `mutation_spread`; more of it changes less). Of parents and children the best survive.
    """

    population: int = 60
    tournament: int = 2
    crossover: float = 0.9
    spread: float = 15.0
    mutation: float | None = None
    mutation_spread: float = 20.0

    def __post_init__(self) -> None:
        integer("population", self.population, 4)
        integer("tournament", self.tournament, 1, self.population)
        check_rates(self.crossover, self.spread, self.mutation, self.mutation_spread)

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Scatter the individuals; the first generation is evaluated as it is."""
        return {
            "children": space.first_points(draws.uniform(self.population, len(space))),
            "x": np.zeros((0, len(space))),
            "keys": np.zeros((0, 2)),
            "low": space.low,
            "high": space.high,
        }

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return the children of the survivors."""
        return state["children"]

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Keep the best of parents and children, choose parents by tournament, and make children."""
        pool_x, pool_keys = np.concatenate([state["x"], x]), np.concatenate([state["keys"], keys])
        order = best_first(pool_keys)
        # a copy of another stays only where there is room: copies take the place of what differs
        copies = is_copy(pool_x[order])
        survivors = np.concatenate([order[~copies], order[copies]])[: self.population]
        pairs = -(-self.population // 2)
        entrants = draws.integers(len(survivors), 2 * pairs, self.tournament)
        parents = pool_x[survivors[entrants.min(axis=1)]]  # survivors stand in their order
        rates = VariationRates(self.crossover, self.spread, self.mutation, self.mutation_spread)
        children = children_of(parents, state["low"], state["high"], rates, draws)[: self.population]
        return state | {"children": children, "x": pool_x[survivors], "keys": pool_keys[survivors]}
