"""`Swarm`: particle swarm optimisation (PSO).

Particles fly, drawn to the best place they have seen themselves and to the best that their neighbours have
seen. Only the order of individuals counts. Velocities follow Shi and Eberhart (inertia w, factors c1, c2);
with w = 0.729 and c = 1.494 this is the constriction form of Clerc and Kennedy, K = 0.729 and phi = 2.05.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, finite, integer, positive
from strut.errors import ValueRangeError
from strut.evolve.goals import best_first, precedes
from strut.evolve.searches.bounds import bounce
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws

REGROUPING_FACTOR = 1.2
"""[1] Range over which a swarm is scattered anew, times `regroup`, over the largest deviation from the best
(6/5 of Evers and Ben Ghalia)."""


@checked
@dataclass(frozen=True)
class Swarm:
    """Particle swarm optimisation: for a first look, rough goals and staged ones.

    population: particles. inertia: w, the part of its velocity that a particle keeps. own_pull, social_pull:
    c1 and c2, towards its own best and that of its neighbours. max_velocity: part of the range that a
    particle may cross in a generation. damping: what is kept of speed when a particle bounces off a bound.
    neighbours: how many on each side of a ring a particle looks at; 0 for all. regroup: when no particle is
    farther from the best than this part of the diagonal, all are scattered anew around it (RegPSO of Evers
    and Ben Ghalia; 1.1e-4 there); 0 for never.
    """

    population: int = 40
    inertia: float = 0.729
    own_pull: float = 1.494
    social_pull: float = 1.494
    max_velocity: float = 0.6
    damping: float = 0.95
    neighbours: int = 0
    regroup: float = 0.0

    def __post_init__(self) -> None:
        integer("population", self.population, 2)
        integer("neighbours", self.neighbours, 0)
        positive("max_velocity", self.max_velocity)
        for name in ("inertia", "own_pull", "social_pull", "damping", "regroup"):
            if finite(name, getattr(self, name)) < 0:
                raise ValueRangeError(f"{name} is {getattr(self, name)}: it cannot be negative")

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Scatter the particles over the first range, with velocities of either sign."""
        shape = (self.population, len(space))
        velocity = (2 * draws.uniform(*shape) - 1) * self.max_velocity * space.span
        return {
            "x": space.first_points(draws.uniform(*shape)),
            "v": velocity,
            "best_x": np.zeros(shape),
            "best_keys": np.full((self.population, 2), np.inf),
            "low": space.low,
            "high": space.high,
        }

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return where the particles are."""
        return state["x"]

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Update what each particle has seen, and move all."""
        better = precedes(keys, state["best_keys"])
        best_x = np.where(better[:, None], x, state["best_x"])
        best_keys = np.where(better[:, None], keys, state["best_keys"])
        attractor = best_x[best_of_neighbours(best_keys, self.neighbours)]
        low, high = state["low"], state["high"]
        moved, velocity = self.move(x, state["v"], best_x, attractor, low, high, draws)
        if self.regroup and _is_gathered(x, best_x[best_first(best_keys)[0]], high - low, self.regroup):
            moved, velocity, best_x, best_keys = self._scatter(best_x, best_keys, x, low, high, draws)
        return state | {"x": moved, "v": velocity, "best_x": best_x, "best_keys": best_keys}

    def move(  # noqa: PLR0917 -- what a particle knows
        self,
        x: np.ndarray,
        v: np.ndarray,
        own: np.ndarray,
        social: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        draws: Draws,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities after a move. own, social: what draws each particle."""
        limit = self.max_velocity * (high - low)
        r1, r2 = draws.uniform(*x.shape), draws.uniform(*x.shape)
        v = self.inertia * v + self.own_pull * r1 * (own - x) + self.social_pull * r2 * (social - x)
        v = np.clip(v, -limit, limit)
        return bounce(x + v, v, low, high, self.damping)

    def _scatter(  # noqa: PLR0917 -- what a swarm knows
        self,
        best_x: np.ndarray,
        best_keys: np.ndarray,
        x: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        draws: Draws,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Scatter the particles around the best, which one of them remembers, in a range that has shrunk as
        the swarm has."""
        first = best_first(best_keys)[0]
        deviation = np.abs(x - best_x[first]).max(axis=0)
        reach = np.minimum(high - low, REGROUPING_FACTOR / self.regroup * deviation)
        scattered = np.clip(best_x[first] + (draws.uniform(*x.shape) - 0.5) * reach, low, high)
        velocity = (2 * draws.uniform(*x.shape) - 1) * self.max_velocity * reach
        keys = np.full_like(best_keys, np.inf)
        keys[first] = best_keys[first]
        return scattered, velocity, best_x, keys


def best_of_neighbours(keys: np.ndarray, neighbours: int) -> np.ndarray:
    """Return for each particle the number of the best among so many on each side of a ring and itself; among
    all where it is 0."""
    count = len(keys)
    rank = np.empty(count, dtype=int)
    rank[best_first(keys)] = np.arange(count)
    if not neighbours or 2 * neighbours + 1 >= count:
        return np.full(count, int(np.argmin(rank)))
    ring = (np.arange(count)[:, None] + np.arange(-neighbours, neighbours + 1)) % count
    return np.asarray(ring[np.arange(count), np.argmin(rank[ring], axis=1)])


def _is_gathered(x: np.ndarray, best: np.ndarray, span: np.ndarray, threshold: float) -> bool:
    """Tell whether all particles are nearer to the best than a part of the diagonal, ranges counting as 1."""
    distance = np.sqrt((((x - best) / span) ** 2).sum(axis=1)).max()
    return bool(distance < threshold * np.sqrt(len(span)))
