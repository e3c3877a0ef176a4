"""`Branch`: gaits over a parameter, and the `Bifurcation`s at which they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.bifurcation_tests import BranchPoint
from strut.gait.find import find
from strut.gait.gait import Gait
from strut.gait.return_map import ReturnMap
from strut.simulate import SavedResult
from strut.system import System
from strut.tabular import TableTexts, Tabular


@dataclass(frozen=True, eq=False)
class Bifurcation(Tabular):
    """Where a branch changes: `kind` is 'fold' (it turns back), 'doubling' (a multiplier is -1) or 'torus' (a
    pair leaves the unit circle); `at` is the parameter's value there."""

    kind: str
    at: float
    point: BranchPoint = field(repr=False)
    branch: Branch = field(repr=False)

    doubled: ClassVar[Callable[..., Branch]]
    """`doubled_branch`, the branch of gaits that begins at a doubling; the room's `__init__` attaches it."""

    def columns(self) -> dict[str, list[Any]]:
        """Return its kind, and of the gait there the parameter, the period [s] and the largest multiplier."""
        largest = float(np.abs(self.point.multipliers).max())
        return {
            "kind": [self.kind],
            self.branch.name: [self.at],
            "period": [self.point.period],
            "largest multiplier": [largest],
        }


@dataclass(frozen=True, eq=False)
class Branch(SavedResult, Tabular):
    """Gaits over a parameter, in order along the branch.

    name: of the parameter. section, steps: of its gaits. names: of their free states. z0: their discrete
        states just after the section. points: see `BranchPoint`. ended: why the branch goes no further.
    roots: the kind of each bifurcation, and the gait there.
    """

    system: System = field(repr=False)
    name: str
    section: str
    steps: int
    names: tuple[str, ...]
    z0: np.ndarray = field(repr=False)
    points: tuple[BranchPoint, ...] = field(repr=False)
    ended: str = ""
    roots: list[tuple[str, BranchPoint]] = field(default_factory=list, repr=False)

    @property
    def parameter(self) -> np.ndarray:
        """The parameter's values."""
        return np.array([p.value for p in self.points])

    @property
    def stable(self) -> np.ndarray:
        """Whether each point is stable."""
        return np.array([p.stable for p in self.points])

    @property
    def period(self) -> np.ndarray:
        """The periods [s] of all steps of a gait."""
        return np.array([p.period for p in self.points])

    @property
    def multipliers(self) -> np.ndarray:
        """A row per point, the largest first."""
        return np.array([p.multipliers for p in self.points])

    @cached_property
    def bifurcations(self) -> tuple[Bifurcation, ...]:
        """Where the branch changes, in order along it."""
        return tuple(Bifurcation(kind, point.value, point, self) for kind, point in self.roots)

    def values(self, name: str) -> np.ndarray:
        """A free state just after the section, or 'period', over the points."""
        if name == "period":
            return self.period
        if name not in self.names:
            raise UnknownNameError(
                f"the branch has no '{name}': {did_you_mean(name, ['period', *self.names])}"
            )
        return np.array([p.y[self.names.index(name)] for p in self.points])

    def values_after_steps(self, name: str) -> list[np.ndarray]:
        """A free state after each of the steps that a gait repeats after, over the points: an array per step.
        Of 'period', how long each of these steps takes [s]; their order is that of the states before them."""
        first = self.values(name)
        if self.steps == 1:
            return [first]
        y, p = np.array([point.y for point in self.points]), self.parameter[:, None]
        later = [
            ReturnMap(self.system, self.section, (self.name,), steps=n, z0=self.z0)
            for n in range(1, self.steps)
        ]
        if name == "period":
            ends = [np.zeros(len(first)), *(np.asarray(step.many(y, p).period) for step in later), first]
            return list(np.diff(ends, axis=0))
        k = self.names.index(name)
        return [first, *(np.asarray(step.many(y, p).y[:, k]) for step in later)]

    def gait(self, value: float, occurrence: int = 0) -> Gait:
        """The gait where the parameter has this value; after a fold there may be several, the first is
        `occurrence` 0."""
        v = self.parameter
        crossed = [k for k in range(len(v) - 1) if (v[k] - value) * (v[k + 1] - value) <= 0]
        if len(crossed) <= occurrence:
            often = {0: "never", 1: "once"}.get(len(crossed), f"{len(crossed)} times")
            raise ValueRangeError(
                f"the branch passes {self.name} = {value:g} {often}: it goes from {v.min():g} to {v.max():g}"
            )
        k = crossed[occurrence]
        a = (value - v[k]) / (v[k + 1] - v[k]) if v[k + 1] != v[k] else 0.0
        y = (1 - a) * self.points[k].y + a * self.points[k + 1].y
        step = ReturnMap(self.system, self.section, steps=self.steps)
        return find(
            self.system.using({self.name: value}),
            step.whole(y),
            self.section,
            steps=self.steps,
            walk=0,
            starts=0,
            z0=self.z0,
        )

    def __len__(self) -> int:
        return len(self.points)

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every gait the parameter, period [s], modulus of the largest multiplier, whether it is
        stable, and its free states."""
        return {
            self.name: self.parameter,
            "period": self.period,
            "largest multiplier": np.array([np.abs(p.multipliers).max(initial=0.0) for p in self.points]),
            "stable": self.stable,
            **{name: self.values(name) for name in self.names},
        }

    def _card_tables(self) -> TableTexts:
        where = [(b.kind, f"{b.at:.9g}") for b in self.bifurcations]
        return {**super()._card_tables(), "bifurcations": (("kind", self.name), where)}

    def __repr__(self) -> str:
        v = self.parameter
        marks = ", ".join(f"{b.kind} at {b.at:.6g}" for b in self.bifurcations) or "no bifurcation"
        return (
            f"<Branch of {self.system.name}: {len(v)} gaits, {self.name} {v[0]:.6g} to {v[-1]:.6g}, "
            f"{marks}; {self.ended}>"
        )


__all__ = ["Bifurcation", "Branch"]
