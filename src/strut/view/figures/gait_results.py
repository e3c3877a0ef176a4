"""What figures of gaits ask of results, as protocols: this room draws what the room of gaits finds, and does
not import it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from strut.system import System


@runtime_checkable
class HasMultipliers(Protocol):
    """A gait, or a design: what has multipliers."""

    @property
    def multipliers(self) -> np.ndarray:
        """Complex numbers."""


class GaitOfBasin(Protocol):
    """The gait to which a basin belongs."""

    @property
    def system(self) -> System:
        """The walker."""

    @property
    def x0(self) -> Mapping[str, float]:
        """Its state after a step, by name."""


@runtime_checkable
class DrawnBasin(Protocol):
    """A basin of `gait.basin`: over two states, in which words runs from their values end."""

    @property
    def outcomes(self) -> Mapping[str, int]:
        """How many runs ended in each word."""

    @property
    def label(self) -> np.ndarray:
        """A word for each pair of values: first by second."""

    @property
    def first(self) -> np.ndarray:
        """Values of the first state."""

    @property
    def second(self) -> np.ndarray:
        """Values of the second state."""

    @property
    def names(self) -> tuple[str, str]:
        """The names of both states."""

    @property
    def gait(self) -> GaitOfBasin:
        """The gait."""


class PointOfBranch(Protocol):
    """A gait of a branch."""

    @property
    def y(self) -> np.ndarray:
        """Its free states."""

    @property
    def period(self) -> float:
        """Its duration [s]."""


class SpecialPoint(Protocol):
    """A fold, a doubling: where a branch changes."""

    @property
    def kind(self) -> str:
        """In a word."""

    @property
    def at(self) -> float:
        """The parameter there."""

    @property
    def point(self) -> PointOfBranch:
        """The gait there."""


@runtime_checkable
class DrawnBranch(Protocol):
    """A branch of `gait.follow`: gaits over a parameter."""

    @property
    def system(self) -> System:
        """The walker."""

    @property
    def name(self) -> str:
        """The parameter."""

    @property
    def names(self) -> Sequence[str]:
        """Of the free states."""

    @property
    def steps(self) -> int:
        """In a period."""

    @property
    def parameter(self) -> np.ndarray:
        """Its values along the branch."""

    @property
    def stable(self) -> np.ndarray:
        """Whether each gait is stable."""

    @property
    def bifurcations(self) -> Sequence[SpecialPoint]:
        """Special points, in order."""

    def values_after_steps(self, name: str) -> Sequence[np.ndarray]:
        """A quantity along the branch, after each step of a period."""


__all__ = ["DrawnBasin", "DrawnBranch", "HasMultipliers"]
