"""The energy account step by step: what each channel did between one landing and the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from strut.simulate.account import Account
from strut.simulate.event_log import EventLog
from strut.tabular import Tabular


@dataclass(frozen=True, eq=False)
class StepLedger(Tabular):
    """What happened to the energy [J] in every step, signed as it changed what is stored.

    begin, end: of the steps [s]; a step ends with the event that ends it, whose loss is part of it.
    changes: by channel, named as in `Account.summary`, an array over the steps. kinds: 'stored', 'supplied',
        'dissipated' or 'lost', by channel.
    residual: what the step's balance leaves unexplained. whole: whether the step was ended by an event; the
        last may not be.
    """

    events: tuple[str, ...]
    begin: np.ndarray
    end: np.ndarray
    whole: np.ndarray
    changes: Mapping[str, np.ndarray]
    kinds: Mapping[str, str] = field(repr=False)
    residual: np.ndarray = field(repr=False)

    def __len__(self) -> int:
        return len(self.begin)

    def columns(self) -> dict[str, np.ndarray]:
        """Return begin and end [s] of every step, whether it is whole, the changes [J] by channel, and the
        residual [J]."""
        times = {"begin": self.begin, "end": self.end, "whole": self.whole}
        return {**times, **self.changes, "residual": self.residual}

    def active_channels(self, part: float = 1e-12) -> list[str]:
        """The names of the channels that did something: more than this part of the largest change."""
        most = {name: float(np.max(np.abs(values), initial=0.0)) for name, values in self.changes.items()}
        return [name for name, size in most.items() if size > part * max(most.values(), default=0.0)]

    def total(self, kind: str) -> np.ndarray:
        """The changes [J] of all channels of one kind together, over the steps."""
        changes = [v for name, v in self.changes.items() if self.kinds[name] == kind]
        return np.asarray(np.sum(changes or [np.zeros(len(self))], axis=0))


def step_ledger(
    events: EventLog, account: Account, *, ended_by: tuple[str, ...], jumps_before: np.ndarray
) -> StepLedger:
    """Divide the account of a run into its steps, which together are the run; see `Trajectory.steps`.

    events: of the run. account: its energies at all of its points. ended_by: the names of the events that end
        a step. jumps_before: at every point, how many jumps came before it.
    """
    jumps = [int(row) for name, row in zip(events.names, events.rows, strict=True) if name in ended_by]
    after = np.searchsorted(
        jumps_before, np.array(jumps, dtype=int) + 1
    )  # the first point that has the event behind it
    rows = np.unique(np.concatenate([[0], after]))
    whole = np.ones(len(rows) - 1, dtype=bool)
    last = len(account.t) - 1
    if account.t[last] > account.t[rows[-1]]:
        rows, whole = np.append(rows, last), np.append(whole, False)
    signs = {"stored": 1.0, "supplied": 1.0, "dissipated": -1.0, "lost": -1.0}
    changes, kinds = {}, {}
    for label, (kind, name) in account.channels().items():
        changes[label] = signs[kind] * np.diff(getattr(account, kind)[name][rows]) + 0.0
        kinds[label] = kind
    return StepLedger(
        events=ended_by,
        begin=account.t[rows[:-1]],
        end=account.t[rows[1:]],
        whole=whole,
        changes=changes,
        kinds=kinds,
        residual=np.diff(account.imbalance[rows]),
    )
