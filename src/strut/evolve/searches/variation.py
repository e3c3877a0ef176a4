"""Crossover and mutation within bounds: simulated binary crossover and polynomial mutation (Deb)."""

from __future__ import annotations

import numpy as np

from strut.evolve.streams import Draws

MIN_DIFFERENCE = 1e-14
"""Part of its range by which two parents differ at least in a parameter that is crossed."""


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
