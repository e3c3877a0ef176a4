"""`EventLog`: the events of a run in order, each with the state before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from strut.errors import UnknownNameError, did_you_mean
from strut.simulate.names import Names
from strut.simulate.record import Raw
from strut.tabular import Tabular


@dataclass(frozen=True)
class Occurrence:
    """One event of a run: its name, its time [s], and the state before and after by name."""

    name: str
    t: float
    before: Mapping[str, float]
    after: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class EventLog(Tabular):
    """The events of a run, in order.

    names, t: of each event, its name and time [s]. labels: the names of the run. raw: its record, of which
        the events are the jumps `rows`.
    """

    names: tuple[str, ...]
    t: np.ndarray
    labels: Names = field(repr=False)
    raw: Raw = field(repr=False)
    rows: np.ndarray = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Occurrence:
        raw, k = self.raw, self.rows[index]
        both = (*self.labels.x, *self.labels.z)
        return Occurrence(
            self.names[index],
            float(self.t[index]),
            dict(zip(both, (*raw.x_before[k], *raw.z_before[k]), strict=True)),
            dict(zip(both, (*raw.x_after[k], *raw.z_after[k]), strict=True)),
        )

    def __iter__(self) -> Iterator[Occurrence]:
        return (self[k] for k in range(len(self)))

    def columns(self) -> dict[str, Sequence[str] | np.ndarray]:
        """Return name and time [s] of every event, and what it made of states and discrete states."""
        raw, both = self.raw, (*self.labels.x, *self.labels.z)
        before = np.hstack([raw.x_before[self.rows], raw.z_before[self.rows]])
        after = np.hstack([raw.x_after[self.rows], raw.z_after[self.rows]])
        return {
            "event": self.names,
            "t": self.t,
            **{f"{name} before": before[:, k] for k, name in enumerate(both)},
            **{f"{name} after": after[:, k] for k, name in enumerate(both)},
        }

    def times(self, name: str) -> np.ndarray:
        """When the event called `name` happened [s]."""
        names = sorted(set(self.labels.jumps))
        if name not in names:
            raise UnknownNameError(f"there is no event '{name}': {did_you_mean(name, names)}")
        return self.t[[n == name for n in self.names]]

    def counts(self) -> dict[str, int]:
        """How often each event happened, by name."""
        return {name: self.names.count(name) for name in dict.fromkeys(self.names)}


def event_log(names: Names, raw: Raw, *, clocked: bool) -> EventLog:
    """The log of a run's events, or of what its clocks triggered."""
    rows = np.array([k for k, j in enumerate(raw.jump) if names.clocked[j] == clocked], dtype=int)
    return EventLog(
        names=tuple(names.jumps[raw.jump[k]] for k in rows),
        t=raw.jump_t[rows],
        labels=names,
        raw=raw,
        rows=rows,
    )
