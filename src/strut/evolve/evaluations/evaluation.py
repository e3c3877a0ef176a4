"""`Evaluation`: what turns parameters into measures, for a whole population at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from strut.evolve.space import ParameterSpace

OK = "ok"
"""The status of an individual whose measures are all numbers."""
MAX_STATUS_CHARACTERS = 300
"""Characters of what went wrong that are kept."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Measures of a population, a row for each individual, and how each evaluation ended: 'ok', or what went
    wrong."""

    measures: np.ndarray
    status: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GradientRun:
    """Measures of one individual with derivatives. by_searched: derivatives by what is searched, measures in
    rows."""

    measures: np.ndarray
    by_searched: np.ndarray


class Evaluation(Protocol):
    """Evaluates populations. measures: their names."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""

    @property
    def divisible(self) -> bool:
        """Whether a population may be evaluated in parts, so that less is lost when a job is killed."""

    def settings(self) -> dict[str, Any]:
        """Return what it is, as a store keeps it: two evaluations with equal settings are taken for the
        same."""

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where it cannot set one of these parameters within its bounds."""

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Return the measures of individuals, rows of x; a parameter that one does not have is nan.

        seeds: of the random numbers of each.
        """


def check_measures(rows: np.ndarray, status: list[str], names: tuple[str, ...]) -> Evaluated:
    """Return measures with a status for those that are no finite numbers; infinity is none."""
    for k in np.flatnonzero(~np.isfinite(rows).all(axis=1)):
        if status[k] == OK:
            name = names[int(np.flatnonzero(~np.isfinite(rows[k]))[0])]
            status[k] = f"the measure '{name}' is {rows[k][names.index(name)]}"
    rows = np.where(np.array([each == OK for each in status])[:, None], rows, np.nan)
    return Evaluated(rows, tuple(each[:MAX_STATUS_CHARACTERS] for each in status))
