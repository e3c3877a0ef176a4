"""`ParticleFilter`: reinforcement learning by a particle filter (RLPF, Kormushev and Caldwell 2012).

Every trial stays a particle; better ones are drawn more often, and what is drawn is tried again with noise
that shrinks. Nothing is thrown away, so several good regions may live on; with a hundred trials usually one
does. The paper weighs returns themselves; here ranks are weighed, so that goals in stages and of any unit can
be used.
"""

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
class ParticleFilter:
    """Reinforcement learning by a particle filter: for a hundred costly trials, as on a robot.

    population: trials per generation. first: random trials before it begins to learn. power: how strongly
    better trials are preferred. noise, last_noise: deviation of what is tried, as part of the range, at first
    and in the last generation, shrinking evenly in ratio.
    """

    population: int = 5
    first: int = 20
    power: float = 4.0
    noise: float = 0.2
    last_noise: float = 0.01

    def __post_init__(self) -> None:
        integer("population", self.population, 1)
        integer("first", self.first, 1)
        for name in ("power", "noise", "last_noise"):
            positive(name, getattr(self, name))
        if self.last_noise > self.noise:
            raise ValueRangeError(f"last_noise is {self.last_noise}: it cannot be above noise, {self.noise}")

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Begin without any particle."""
        return {
            "x": np.zeros((0, len(space))),
            "keys": np.zeros((0, 2)),
            "first": space.first_points(draws.uniform(self.first, len(space))),
            "low": space.low,
            "high": space.high,
            "generations": np.array([generations]),
            "k": np.zeros(1, dtype=np.int64),
        }

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return random trials at first, then variations of drawn particles."""
        tried = len(state["x"])
        if tried < self.first:
            return state["first"][tried : tried + self.population]
        low, high = state["low"], state["high"]
        weight = np.empty(tried)
        weight[best_first(state["keys"])] = (1 - np.arange(tried) / tried) ** self.power
        drawn = np.searchsorted(np.cumsum(weight) / weight.sum(), draws.uniform(self.population))
        parents = state["x"][np.minimum(drawn, tried - 1)]
        begin = -(-self.first // self.population)
        left = max(int(state["generations"][0]) - 1 - begin, 1)
        progress = min(max((int(state["k"][0]) - begin) / left, 0.0), 1.0)
        noise = self.noise * (self.last_noise / self.noise) ** progress
        return reflect(parents + noise * (high - low) * draws.normal(*parents.shape), low, high)

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Add the trials to the particles."""
        return state | {
            "x": np.concatenate([state["x"], x]),
            "keys": np.concatenate([state["keys"], keys]),
            "k": state["k"] + 1,
        }
