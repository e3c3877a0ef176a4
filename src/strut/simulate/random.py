"""The random stream of a run, number for number the one of the C runtime (strut_math.h)."""

from __future__ import annotations

import math

UINT64_MASK = (1 << 64) - 1
"""The 64 bits of an unsigned integer, all set."""
SPLITMIX_INCREMENT = 0x9E3779B97F4A7C15
"""2^64 by the golden ratio: what splitmix64 adds from number to number."""


def mix(a: int) -> int:
    """Mix the bits of a number: splitmix64."""
    a = (a + SPLITMIX_INCREMENT) & UINT64_MASK
    a = ((a ^ (a >> 30)) * 0xBF58476D1CE4E5B9) & UINT64_MASK
    a = ((a ^ (a >> 27)) * 0x94D049BB133111EB) & UINT64_MASK
    return a ^ (a >> 31)


class Stream:
    """The random numbers of run `run` of a batch with seed `seed`."""

    def __init__(self, seed: int, run: int = 0) -> None:
        self.stream = mix(mix(seed & UINT64_MASK) ^ run)
        self.draws = 0

    def uniform(self) -> float:
        """The next number, uniform from 0 to before 1."""
        bits = mix((self.stream + self.draws * SPLITMIX_INCREMENT) & UINT64_MASK)
        self.draws += 1
        return (bits >> 11) * 2.0**-53

    def normal(self) -> float:
        """The next number of the standard normal distribution (Box-Muller)."""
        a, b = 1 - self.uniform(), self.uniform()
        return math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)
