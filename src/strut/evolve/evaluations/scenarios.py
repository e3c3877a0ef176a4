"""Scenarios: other starts, loads or disturbances in which each individual is run besides its own parameters,
so that what is found holds in all of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from strut.checks import checked, finite
from strut.errors import ModelError


class Scenarios(Protocol):
    """What sets parameters or initial states of a system, repeat by repeat. labels: of what it sets. digest:
    the same for scenarios that do the same."""

    @property
    def count(self) -> int:
        """How many there are: an individual is repeated as often, or a multiple of it."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the parameters and states that it sets."""

    @property
    def digest(self) -> str:
        """What tells it from others."""

    def rows(self, places: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return what is set, a row for each run. places: the number of its scenario, from 0. seeds: of its
        random numbers."""


@checked
@dataclass(frozen=True)
class FixedScenarios:
    """Scenarios that are always the same. values: by the name of a parameter, or of a state as a run begins,
    a number for each scenario."""

    values: Mapping[str, Sequence[float]]

    def __post_init__(self) -> None:
        lengths = {name: len(numbers) for name, numbers in self.values.items()}
        if not lengths or not all(lengths.values()):
            raise ModelError("scenarios set nothing: give numbers by name, {'x_rate': [1.3, 1.1]}")
        first = next(iter(lengths))
        for name, length in lengths.items():
            if length != lengths[first]:
                raise ModelError(
                    f"scenarios have {lengths[first]} values of '{first}' and {length} of '{name}': give as "
                    "many of each"
                )
            for number in self.values[name]:
                finite(f"a value of '{name}'", number)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(next(iter(self.values.values())))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of what is set."""
        return tuple(self.values)

    @property
    def digest(self) -> str:
        """What tells these from others."""
        text = json.dumps([[name, [float(v) for v in each]] for name, each in self.values.items()])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def rows(self, places: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return the values of some scenarios, a row each."""
        table = np.array([list(each) for each in self.values.values()], dtype=float).T
        return np.asarray(table[places])


__all__ = ["FixedScenarios", "Scenarios"]
