"""`Nsga2`: fronts of several goals at once (NSGA-II of Deb, Pratap, Agarwal and Meyarivan 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, integer
from strut.evolve.fronts import crowding_distances, nondomination_ranks
from strut.evolve.goals import best_first
from strut.evolve.searches.method import SearchState
from strut.evolve.searches.variation import VariationRates, check_rates, children_of, is_copy
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws


@checked
@dataclass(frozen=True)
class Nsga2:
    """NSGA-II: for two or three goals at once, where the trade-off itself is wanted.

    Individuals are ranked by nondomination, those of one front by how far apart their neighbours are
    (crowding distance). Goals before the front are constraints: who is at an earlier one is behind all at the
    front. With one goal it is an elitist genetic algorithm. crossover: the chance that two parents are mixed
    (simulated binary crossover, with `spread`, its distribution index). mutation: the chance of each
    parameter to change, 1 / how many there are unless given (polynomial, with `mutation_spread`).
    """

    population: int = 100
    crossover: float = 0.9
    spread: float = 15.0
    mutation: float | None = None
    mutation_spread: float = 20.0

    takes_fronts = True

    def __post_init__(self) -> None:
        integer("population", self.population, 4)
        check_rates(self.crossover, self.spread, self.mutation, self.mutation_spread)

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Scatter the individuals; the first generation is evaluated as it is."""
        width = len(space)
        return {
            "children": space.first_points(draws.uniform(self.population, width)),
            "x": np.zeros((0, width)),
            "keys": np.zeros((0, 0)),
            "low": space.low,
            "high": space.high,
        }

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return the children of the survivors."""
        return state["children"]

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Keep the best of parents and children, and let them have children."""
        pool_x = np.concatenate([state["x"], x])
        pool_keys = np.concatenate([state["keys"].reshape(-1, keys.shape[1]), keys])
        rank, crowding = standings(pool_keys)
        # a copy of another stays only where there is room: copies take the place of what differs
        rank[is_copy(pool_x)] += len(rank)
        places = np.lexsort((-crowding, rank))[: self.population]
        survivors = pool_x[places]
        winners = survivors[self._winners(pool_keys[places], crowding[places], draws)]
        rates = VariationRates(self.crossover, self.spread, self.mutation, self.mutation_spread)
        children = children_of(winners, state["low"], state["high"], rates, draws)[: self.population]
        return state | {"x": survivors, "keys": pool_keys[places], "children": children}

    def _winners(self, keys: np.ndarray, crowding: np.ndarray, draws: Draws) -> np.ndarray:
        """Return who becomes a parent: everybody meets two others; who dominates wins, else who is less
        crowded, as in Deb's own program (the paper compares ranks, and loses more of the front's ends)."""
        count = len(keys)
        pairs = -(-self.population // 2)
        rounds = -(-4 * pairs // count)
        a, b = draws.orders(rounds, count).reshape(-1)[: 4 * pairs].reshape(-1, 2).T
        second_wins = dominates(keys[b], keys[a]) | (
            ~dominates(keys[a], keys[b]) & (crowding[b] > crowding[a])
        )
        return np.where(second_wins, b, a)


def dominates(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Tell of each pair of keys whether the first dominates the second: is further, or at the last goal
    better in one value and worse in none."""
    further, same = a[:, 0] < b[:, 0], a[:, 0] == b[:, 0]
    return np.asarray(further | (same & (a <= b).all(axis=1) & (a < b).any(axis=1)))


def standings(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank of each individual, less being better, and its crowding distance among those of its
    rank. keys: as of `StagedGoals.keys`; those at the last goal are ranked by nondomination, others behind
    them by their order."""
    rank = np.zeros(len(keys), dtype=int)
    crowding = np.zeros(len(keys))
    last = np.flatnonzero(keys[:, 0] == 1)
    if len(last):
        rank[last] = nondomination_ranks(keys[last, 1:])
        for number in range(int(rank[last].max()) + 1):
            members = last[rank[last] == number]
            crowding[members] = crowding_distances(keys[members, 1:])
    others = np.flatnonzero(keys[:, 0] != 1)
    if len(others):
        order = others[best_first(keys[others])]
        differs = (np.diff(keys[order, :2], axis=0) != 0).any(axis=1) if len(order) > 1 else np.zeros(0, bool)
        begin = int(rank[last].max()) + 1 if len(last) else 0
        rank[order] = begin + np.concatenate([[0], np.cumsum(differs)])
    return rank, crowding
