"""Crossover and mutation within bounds: simulated binary crossover and polynomial mutation (Deb)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import positive
from strut.errors import ValueRangeError
from strut.evolve.streams import Draws

COPY_MUTATION = 3.0
"""[1] How many times more likely parameters of a child change that would be a copy of its parent."""

MIN_DIFFERENCE = 1e-14
"""Part of its range by which two parents differ at least in a parameter that is crossed."""


@dataclass(frozen=True)
class VariationRates:
    """How children differ from their parents: the chance of a pair to be crossed, the distribution index of
    crossover, the chance of each parameter to mutate (1 / how many there are where it is None), and the
    distribution index of mutation."""

    crossover: float
    spread: float
    mutation: float | None
    mutation_spread: float


def check_rates(crossover: float, spread: float, mutation: float | None, mutation_spread: float) -> None:
    """Raise ValueRangeError for rates that are none."""
    positive("spread", spread)
    positive("mutation_spread", mutation_spread)
    for name, value in (("crossover", crossover), ("mutation", mutation)):
        if value is not None and not 0 <= value <= 1:
            raise ValueRangeError(f"{name} is {value}: 0 to 1 is allowed")


def children_of(
    parents: np.ndarray, low: np.ndarray, high: np.ndarray, rates: VariationRates, draws: Draws
) -> np.ndarray:
    """Return two children of each pair of parents, which follow each other."""
    mother, father = parents[::2], parents[1::2]
    crossed = (draws.uniform(len(mother)) < rates.crossover)[:, None]
    one, other = cross_within_bounds(mother, father, low, high, spread=rates.spread, draws=draws)
    children = np.concatenate([np.where(crossed, one, mother), np.where(crossed, other, father)])
    chance = 1 / parents.shape[1] if rates.mutation is None else rates.mutation
    spread = rates.mutation_spread
    changed = mutate_within_bounds(children, low, high, chance=chance, spread=spread, draws=draws)
    # to evaluate a copy of a parent again would teach nothing
    copies = (changed == np.concatenate([mother, father])).all(axis=1)[:, None]
    more = min(1.0, COPY_MUTATION * chance)
    again = mutate_within_bounds(children, low, high, chance=more, spread=spread, draws=draws)
    return np.where(copies, again, changed)


def is_copy(x: np.ndarray) -> np.ndarray:
    """Tell which rows are equal to one before them."""
    originals = np.unique(x, axis=0, return_index=True)[1]
    copies = np.ones(len(x), dtype=bool)
    copies[originals] = False
    return copies


def cross_within_bounds(
    mother: np.ndarray, father: np.ndarray, low: np.ndarray, high: np.ndarray, *, spread: float, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """Return two children of each pair, spread about their parents and never beyond the bounds (simulated
    binary crossover of Deb and Agrawal). A parameter is crossed or kept with equal chance, and then is the
    first or the second child's with equal chance.

    spread: the distribution index; more of it keeps children nearer to their parents.
    """
    first, second = np.minimum(mother, father), np.maximum(mother, father)
    distance = second - first
    crossed = (draws.uniform(*mother.shape) < 0.5) & (distance > MIN_DIFFERENCE * (high - low))
    distance = np.where(crossed, distance, 1.0)
    chance = draws.uniform(*mother.shape)

    def factor(room: np.ndarray) -> np.ndarray:
        """Return by how much children are spread, where there is so much room beyond the parents."""
        alpha = 2 - (1 + 2 * room / distance) ** -(spread + 1)
        inner = (chance * alpha) ** (1 / (spread + 1))
        outer = (1 / (2 - np.minimum(chance * alpha, 2 - 1e-15))) ** (1 / (spread + 1))
        return np.where(chance <= 1 / alpha, inner, outer)

    middle = 0.5 * (first + second)
    lower = middle - 0.5 * factor(np.where(crossed, first - low, 0.0)) * distance
    upper = middle + 0.5 * factor(np.where(crossed, high - second, 0.0)) * distance
    swap = draws.uniform(*mother.shape) < 0.5
    a = np.where(crossed, np.where(swap, upper, lower), mother)
    b = np.where(crossed, np.where(swap, lower, upper), father)
    return np.clip(a, low, high), np.clip(b, low, high)


def mutate_within_bounds(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, chance: float, spread: float, draws: Draws
) -> np.ndarray:
    """Return individuals some of whose parameters have changed, never beyond the bounds (polynomial mutation
    of Deb). chance: of each parameter. spread: the distribution index; more of it changes less."""
    span = high - low
    changed = draws.uniform(*x.shape) < chance
    u = draws.uniform(*x.shape)
    down, up = (x - low) / span, (high - x) / span
    power = 1 / (spread + 1)
    fall = (2 * u + (1 - 2 * u) * (1 - down) ** (spread + 1)) ** power - 1
    rise = 1 - (2 * (1 - u) + (2 * u - 1) * (1 - up) ** (spread + 1)) ** power
    with np.errstate(invalid="ignore"):
        moved = x + np.where(u < 0.5, fall, rise) * span
    return np.asarray(np.clip(np.where(changed, moved, x), low, high))
