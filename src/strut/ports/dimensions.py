"""Dimensions of units: 'N m s/rad' as powers of kilogram, metre, second, ampere and kelvin."""

from __future__ import annotations

import re

from strut.errors import ModelError, did_you_mean

Dimensions = tuple[int, ...]
"""Powers of kg, m, s, A and K; angles have none."""

UNIT_DIMENSIONS: dict[str, Dimensions] = {
    "1": (0, 0, 0, 0, 0),
    "rad": (0, 0, 0, 0, 0),
    "kg": (1, 0, 0, 0, 0),
    "m": (0, 1, 0, 0, 0),
    "s": (0, 0, 1, 0, 0),
    "A": (0, 0, 0, 1, 0),
    "K": (0, 0, 0, 0, 1),
    "Hz": (0, 0, -1, 0, 0),
    "N": (1, 1, -2, 0, 0),
    "J": (1, 2, -2, 0, 0),
    "W": (1, 2, -3, 0, 0),
    "Pa": (1, -1, -2, 0, 0),
    "V": (1, 2, -3, -1, 0),
    "C": (0, 0, 1, 1, 0),
    "Ohm": (1, 2, -3, -2, 0),
    "F": (-1, -2, 4, 2, 0),
    "H": (1, 2, -2, -2, 0),
    "Wb": (1, 2, -2, -1, 0),
    "T": (1, 0, -2, -1, 0),
}
"""The dimensions of units that have a name."""
_WORD = re.compile(r"([A-Za-z]+|1)(?:\^(-?\d+))?")


def dimensions(unit: str) -> Dimensions:
    """Return the dimensions of a unit as people write it: words with powers, a space or a dot between
    factors; every slash divides by the one factor behind it, or by those in brackets behind it."""
    powers = [0] * len(UNIT_DIMENSIONS["1"])
    for sign, factor in _factors(unit.replace("·", " ").replace("*", " ")):
        for word in factor.split():
            match = _WORD.fullmatch(word)
            if not match or match[1] not in UNIT_DIMENSIONS:
                raise ModelError(
                    f"the unit '{unit}' has '{word}': {did_you_mean(word, list(UNIT_DIMENSIONS))}"
                )
            for k, power in enumerate(UNIT_DIMENSIONS[match[1]]):
                powers[k] += sign * int(match[2] or 1) * power
    return tuple(powers)


def _factors(unit: str) -> list[tuple[int, str]]:
    """The factors of a unit, each with 1 or -1: whether it stands above or below the line."""
    factors = []
    for k, part in enumerate(re.split(r"/", unit)):
        behind = part.strip()
        if k == 0:
            factors.append((1, behind.strip("()")))
        elif behind.startswith("("):
            inside, _, rest = behind[1:].partition(")")
            factors += [(-1, inside), (1, rest)]
        else:
            first, _, rest = behind.partition(" ")
            factors += [(-1, first), (1, rest)]
    return factors
