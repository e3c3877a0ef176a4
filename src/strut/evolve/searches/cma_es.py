"""`CmaEs`: covariance matrix adaptation (Hansen), by the library `cmaes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.checks import checked, integer, positive
from strut.evolve.goals import best_first
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws
from strut.extras import optional_module

MAX_RESAMPLES = 10
"""How often an individual that leaves the bounds is drawn again; then it is put on them. In twenty
parameters hardly any of the first are inside, and more draws only take time."""
ATTRIBUTE_PREFIX = "cma."
"""What those names of a state begin with that are the library's own attributes."""


@checked
@dataclass(frozen=True)
class CmaEs:
    """CMA-ES: the first choice for up to a hundred parameters of one smooth basin, also where they are
    strongly coupled; only the order of individuals counts.

    population: Hansen advises 4 + 3 log(parameters), and more where there are many optima. sigma: first
    deviation, as part of the range.
    """

    population: int = 20
    sigma: float = 0.3

    def __post_init__(self) -> None:
        integer("population", self.population, 2)
        positive("sigma", self.sigma)

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Begin at a random point of the first range; parameters count from 0 to 1."""
        start = (space.first_points(draws.uniform(1, len(space)))[0] - space.low) / space.span
        return {"low": space.low, "high": space.high} | _state_of(self._make(start))

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return a population from the present distribution; what leaves the bounds is drawn again, or
        put on them."""
        optimiser = self._restore(state)
        optimiser._rng = np.random.RandomState(draws.words(1).astype(np.uint32))
        x = np.array([optimiser.ask() for _ in range(self.population)])
        low, high = state["low"], state["high"]
        return np.asarray(np.clip(low + x * (high - low), low, high))

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Adapt mean, covariance and step to the order of the individuals."""
        optimiser = self._restore(state)
        scaled = (x - state["low"]) / (state["high"] - state["low"])
        optimiser.tell([(scaled[place], float(rank)) for rank, place in enumerate(best_first(keys))])
        return {name: state[name] for name in ("low", "high")} | _state_of(optimiser)

    def _make(self, mean: np.ndarray) -> Any:
        """Return the library's optimiser, at its first generation."""
        bounds = np.tile([0.0, 1.0], (len(mean), 1))
        return optional_module("cmaes", "the search 'cma-es'").CMA(
            mean=mean,
            sigma=self.sigma,
            bounds=bounds,
            n_max_resampling=MAX_RESAMPLES,
            population_size=self.population,
            seed=0,
        )

    def _restore(self, state: SearchState) -> Any:
        """Return the library's optimiser as a state says it was."""
        optimiser = self._make(np.full(len(state["low"]), 0.5))
        own = {
            name.removeprefix(ATTRIBUTE_PREFIX): value.item() if value.ndim == 0 else value.copy()
            for name, value in state.items()
            if name.startswith(ATTRIBUTE_PREFIX)
        }
        optimiser.__setstate__(optimiser.__getstate__() | {"_B": None, "_D": None} | own)
        return optimiser


def _state_of(optimiser: Any) -> SearchState:
    """Return what the library would pickle, as arrays; not its history of values, whose memory it leaves as
    it was, and which only its own test for an end reads."""
    attributes = optimiser.__getstate__().items()
    parts = {name: value for name, value in attributes if value is not None and name != "_funhist_values"}
    return {ATTRIBUTE_PREFIX + name: np.asarray(value) for name, value in parts.items()}
