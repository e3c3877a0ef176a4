"""`BatchSummary`: what a population of runs did, in few numbers; summed up where the runs were done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from strut.codegen import ACCOUNT, PopulationAccount
from strut.errors import UnknownNameError, did_you_mean
from strut.simulate.names import Names
from strut.simulate.record import DONE, RUNNING, STATUS, TERMINAL
from strut.tabular import TableTexts, Tabular, one_row


@dataclass(frozen=True)
class MeasureSummary(Tabular):
    """An output at the end of runs that ended well: how many, its mean and standard deviation (0 for one
    run), extremes, and the numbers of the runs that had them (-1 where there is none)."""

    count: int
    mean: float
    deviation: float
    least: float
    least_run: int
    most: float
    most_run: int

    def columns(self) -> dict[str, list[Any]]:
        """Return what it says, as one row."""
        return one_row(self)


@dataclass(frozen=True, eq=False)
class BatchSummary(Tabular):
    """What a population of runs did.

    runs: how many were done. endings: how many ended in which way, as of `Batch.status`. measures: by name.
    wall: how long it took [s]. device: what ran them, as of `Batch`.
    """

    runs: int
    endings: Mapping[str, int]
    measures: Mapping[str, MeasureSummary] = field(repr=False)
    wall: float = 0.0
    interrupted: bool = False
    device: str = "cpu"

    def __getitem__(self, name: str) -> MeasureSummary:
        """One of the measures, by name."""
        if name not in self.measures:
            raise UnknownNameError(f"'{name}' is no measure: {did_you_mean(name, list(self.measures))}")
        return self.measures[name]

    def columns(self) -> dict[str, list[Any]]:
        """Return of every measure its name and its `MeasureSummary`."""
        rows = list(self.measures.values())
        numbers = {f.name: [getattr(each, f.name) for each in rows] for f in fields(MeasureSummary)}
        return {"measure": list(self.measures), **numbers}

    def _card_tables(self) -> TableTexts:
        endings = [(ending, count) for ending, count in self.endings.items()]
        return {**super()._card_tables(), "endings": (("ending", "runs"), endings)}

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count} {ending}" for ending, count in self.endings.items())
        return f"<BatchSummary of {self.runs} runs: {kinds}>"


class PopulationTotal:
    """Takes accounts of some runs after others. columns: names of the measures."""

    def __init__(self, names: Names, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.words = [*STATUS, *names.jumps]
        self.words[RUNNING] = "not run"
        good = {"done", *names.jumps} - set(names.failures)
        self.is_good = np.array(
            [word in good if k >= len(STATUS) else k == DONE for k, word in enumerate(self.words)]
        )
        self.statuses = len(STATUS)
        self.endings = np.zeros(len(self.words), dtype=np.int64)
        self.accounts = np.zeros(len(self.columns), dtype=ACCOUNT)

    def add_account(self, account: PopulationAccount) -> None:
        """Add the runs of an account that a card made."""
        self.endings += account.endings
        self.accounts = merge_accounts(np.concatenate([self.accounts[None], account.accounts]))

    def add_rows(self, room: Mapping[str, Any], first: int) -> None:
        """Add the runs from number `first` on, whose results are here."""
        status, cause, y = (room[name][first:] for name in ("status", "cause", "y"))
        ending = np.where(status == TERMINAL, len(STATUS) + cause, status)
        self.endings += np.bincount(ending, minlength=len(self.words))
        good = np.flatnonzero(self.is_good[ending])
        own = np.zeros((1, len(self.columns)), dtype=ACCOUNT)
        for k in range(len(self.columns)) if len(good) else ():
            values = y[good, -1, k]
            mean, low, high = values.mean(), values.argmin(), values.argmax()
            own[0, k] = (
                *(len(good), mean, ((values - mean) ** 2).sum(), values[low], values[high]),
                *(first + good[low], first + good[high]),
            )
        self.accounts = merge_accounts(np.concatenate([self.accounts[None], own]))

    def summary(self, *, wall: float, interrupted: bool, device: str) -> BatchSummary:
        """Return what was added, with names."""
        endings: dict[str, int] = {}
        for word, count in zip(self.words, self.endings.tolist(), strict=True):
            if count:
                endings[word] = endings.get(word, 0) + count
        measures = {name: _measure(a) for name, a in zip(self.columns, self.accounts, strict=True)}
        runs = sum(count for word, count in endings.items() if word != "not run")
        return BatchSummary(runs, endings, measures, wall=wall, interrupted=interrupted, device=device)


def merge_accounts(accounts: np.ndarray) -> np.ndarray:
    """Return one account of each output from several (`ACCOUNT`, a row each), as if all their runs had been
    in one (Chan's rule). Of equal extremes the run with the least number counts."""
    count = accounts["count"].sum(axis=0)
    weight = np.divide(
        accounts["count"],
        count,
        out=np.zeros_like(accounts["count"]),
        where=np.broadcast_to(count > 0, accounts.shape),
    )
    merged = np.zeros(accounts.shape[1], dtype=ACCOUNT)
    merged["count"], merged["mean"] = count, (weight * accounts["mean"]).sum(axis=0)
    gap = accounts["mean"] - merged["mean"]
    merged["squares"] = (accounts["squares"] + accounts["count"] * gap**2).sum(axis=0)
    for extreme, sign in (("least", 1.0), ("most", -1.0)):
        values = np.where(accounts["count"] > 0, sign * accounts[extreme], np.inf)
        best = values.min(axis=0)
        numbers = np.where((values == best) & (accounts["count"] > 0), accounts[f"{extreme}_run"], 2**62)
        merged[extreme] = np.where(count > 0, sign * best, np.nan)
        merged[f"{extreme}_run"] = np.where(count > 0, numbers.min(axis=0), -1)
    return merged


def _measure(account: np.void) -> MeasureSummary:
    count = int(account["count"])
    return MeasureSummary(
        count=count,
        mean=float(account["mean"]) if count else np.nan,
        deviation=float(np.sqrt(account["squares"] / (count - 1))) if count > 1 else 0.0,
        least=float(account["least"]) if count else np.nan,
        least_run=int(account["least_run"]) if count else -1,
        most=float(account["most"]) if count else np.nan,
        most_run=int(account["most_run"]) if count else -1,
    )


__all__ = ["BatchSummary", "MeasureSummary", "PopulationTotal", "merge_accounts"]
