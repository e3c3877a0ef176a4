"""`ParameterSpace`: what a search may change, by name, and within which bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from strut.checks import checked, finite, ordered_pair, short_repr
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean


@checked
@dataclass(frozen=True)
class SearchParameter:
    """A number that a search may choose.

    low, high: bounds. unit: for tables and pictures. first: bounds of the first population, the whole range
    unless given. group: a word under which parameters are shown together.
    """

    name: str
    low: float
    high: float
    unit: str = ""
    first: tuple[float, float] | None = None
    group: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise ModelError("a parameter has no name: give it one")
        low, high = finite(f"low of '{self.name}'", self.low), finite(f"high of '{self.name}'", self.high)
        if not low < high:
            raise ValueRangeError(
                f"'{self.name}' may be from {low:g} to {high:g}: the lower bound must be below the upper"
            )
        if self.first is not None:
            first = ordered_pair(f"first of '{self.name}'", self.first)
            if not low <= first[0] <= first[1] <= high:
                raise ValueRangeError(
                    f"the first population has '{self.name}' from {first[0]:g} to {first[1]:g}: its bounds "
                    f"are {low:g} to {high:g}"
                )


@checked
@dataclass(frozen=True)
class ParameterSpace:
    """All parameters of a search, in order."""

    parameters: tuple[SearchParameter, ...]
    place: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ModelError("there is no parameter to search: give at least one")
        places: dict[str, int] = {}
        for k, parameter in enumerate(self.parameters):
            if parameter.name in places:
                raise ModelError(f"the parameter '{parameter.name}' is there twice: names must differ")
            places[parameter.name] = k
        object.__setattr__(self, "place", places)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters' names."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def low(self) -> np.ndarray:
        """Lower bounds."""
        return np.array([float(parameter.low) for parameter in self.parameters])

    @cached_property
    def high(self) -> np.ndarray:
        """Upper bounds."""
        return np.array([float(parameter.high) for parameter in self.parameters])

    @property
    def span(self) -> np.ndarray:
        """How far each may go."""
        return np.asarray(self.high - self.low)

    def __len__(self) -> int:
        return len(self.parameters)

    def first_points(self, uniform: np.ndarray) -> np.ndarray:
        """Return a first population, a row each, from numbers between 0 and 1."""
        bounds = [each.first or (each.low, each.high) for each in self.parameters]
        low, high = np.array(bounds, dtype=float).T
        return np.asarray(low + uniform * (high - low))

    def places(self, names: Iterable[str], what: str) -> np.ndarray:
        """Return where parameters of these names stand. what: whose they are, for the message."""
        unknown = [name for name in names if name not in self.place]
        if unknown:
            raise UnknownNameError(
                f"{what} has the parameter '{unknown[0]}', which is not searched: "
                f"{did_you_mean(unknown[0], self.names)}"
            )
        return np.array([self.place[name] for name in names], dtype=int)


def space_of(parameters: Any) -> ParameterSpace:
    """Return the space that a user gave: by name (low, high), or a sequence of `SearchParameter`."""
    if isinstance(parameters, ParameterSpace):
        return parameters
    if isinstance(parameters, Mapping):
        return ParameterSpace(tuple(_parameter(str(name), value) for name, value in parameters.items()))
    if isinstance(parameters, Sequence) and all(isinstance(each, SearchParameter) for each in parameters):
        return ParameterSpace(tuple(parameters))
    raise ModelError(
        f"parameters is {short_repr(parameters)}: give a dictionary of (low, high) by name, or a list of "
        "SearchParameter"
    )


def _parameter(name: str, value: Any) -> SearchParameter:
    """Return a parameter from (low, high)."""
    if isinstance(value, SearchParameter):
        return value
    low, high = ordered_pair(f"the bounds of '{name}'", value)
    return SearchParameter(name, low, high)
