"""Weights of a regulator, by Bryson's rule: one over the square of the largest acceptable deviation, and of
the largest acceptable input."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strut.checks import positive
from strut.errors import UnknownNameError, did_you_mean
from strut.system import System

ACCEPTABLE_PART = 0.1
"""[1] Part of the range that states of a unit go through in a step, which by default is acceptable."""

MIN_RANGE = 1e-6
"""Range, in the unit of the state, up to which it does not move: that of a foot which stands is rounding."""


def deviations(plant: System, x: np.ndarray, chosen: Mapping[str, float] | None) -> np.ndarray:
    """Return the largest acceptable deviation of every state: as chosen by name, else `ACCEPTABLE_PART` of
    the largest range that a state of the same unit goes through in a step, or 1 where none of that unit moves
    by more than `MIN_RANGE`. x: states of the step, rows."""
    units = [q.unit for q in plant.x for _ in range(q.size)]
    ranges = np.ptp(x, axis=0)
    largest = {unit: max(r for r, own in zip(ranges, units, strict=True) if own == unit) for unit in units}
    defaults = [ACCEPTABLE_PART * largest[unit] if largest[unit] > MIN_RANGE else 1.0 for unit in units]
    return chosen_values(plant, "x", "deviation", chosen, np.array(defaults))


def chosen_values(
    system: System, group: str, word: str, chosen: Mapping[str, float] | None, defaults: np.ndarray
) -> np.ndarray:
    """Return numbers of a group, defaults where none was chosen by name. word: what one is, in messages."""
    values, labels = defaults.astype(float), list(system.labels(group))
    kind = {"x": "state", "u": "input", "p": "parameter"}[group]
    for name, value in (chosen or {}).items():
        if name not in labels:
            raise UnknownNameError(f"'{name}' is no {kind} of '{system.name}': {did_you_mean(name, labels)}")
        values[labels.index(name)] = positive(f"{word} of '{name}'", value)
    return values


__all__ = ["chosen_values", "deviations"]
