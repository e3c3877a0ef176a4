"""Random numbers that depend on where they are used and on nothing else.

Each draw is keyed by seed, run, generation and purpose (a counter-based generator, Philox): a search that was
killed draws the same numbers when it goes on, and how many workers there are changes none of them. Uniform
numbers are made of raw 64-bit words and normal ones by the Box-Muller transform, because NumPy promises the
words to stay the same from version to version and its distributions not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from strut.checks import integer, seed_number


class Purpose(IntEnum):
    """What numbers of a generation are drawn for."""

    BEGIN = 0
    ASK = 1
    TELL = 2
    EVALUATE = 3
    CONFIRM = 4


class Draws:
    """Numbers for one purpose of one generation, in the order in which they are asked for."""

    def __init__(self, seed: int, run: int, generation: int, purpose: Purpose) -> None:
        key = np.array([seed, run], dtype=np.uint64)
        counter = np.array([0, 0, int(purpose), generation], dtype=np.uint64)
        self._bits = np.random.Philox(key=key, counter=counter)

    def words(self, count: int) -> np.ndarray:
        """Return whole numbers of 64 random bits."""
        return np.atleast_1d(np.asarray(self._bits.random_raw(count), dtype=np.uint64))

    def uniform(self, *shape: int) -> np.ndarray:
        """Return numbers from 0 to below 1, all equally likely."""
        return ((self.words(math.prod(shape)) >> np.uint64(11)) * 2.0**-53).reshape(shape)

    def normal(self, *shape: int) -> np.ndarray:
        """Return normally distributed numbers with mean 0 and deviation 1 (Box-Muller)."""
        pairs = -(-math.prod(shape) // 2)
        radius = np.sqrt(-2 * np.log1p(-self.uniform(pairs)))
        angle = 2 * math.pi * self.uniform(pairs)
        both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
        return both[: math.prod(shape)].reshape(shape)

    def integers(self, below: int, *shape: int) -> np.ndarray:
        """Return whole numbers from 0 to below a bound, all equally likely."""
        return np.asarray(np.minimum((self.uniform(*shape) * below).astype(int), below - 1))

    def orders(self, rows: int, count: int) -> np.ndarray:
        """Return in each row the numbers from 0 to below `count` in a random order."""
        return np.argsort(self.uniform(rows, count), axis=1, kind="stable")


@dataclass(frozen=True)
class RandomStream:
    """All random numbers of one run of a job."""

    seed: int
    run: int = 0

    def __post_init__(self) -> None:
        seed_number(self.seed)
        integer("run", self.run, 0)

    def draws(self, generation: int, purpose: Purpose) -> Draws:
        """Return the numbers for a purpose of a generation, from the first on."""
        return Draws(self.seed, self.run, generation, purpose)

    def seeds(
        self, generation: int, individuals: int, repeats: int, purpose: Purpose = Purpose.EVALUATE
    ) -> np.ndarray:
        """Return a seed for each repeat of the evaluation of each individual: repeats in columns."""
        words = self.draws(generation, purpose).words(individuals * repeats)
        return (words >> np.uint64(1)).reshape(individuals, repeats)
