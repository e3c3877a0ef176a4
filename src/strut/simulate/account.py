"""The energy account of a run: every joule stored, supplied, dissipated or lost, and the residual of the
balance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from strut.errors import UnknownNameError, did_you_mean
from strut.tabular import TableTexts, Tabular


class Entries(dict[str, np.ndarray]):
    """Energies [J] by name; a name that is not there is answered with those that are."""

    def __missing__(self, name: str) -> np.ndarray:
        raise UnknownNameError(
            f"there is no '{name}' in this part of the energy account: {did_you_mean(str(name), list(self))}"
        )


RESOLUTION_BOUNDS = (1e-8, 1e-6)
"""Smallest and largest resolution of an account, as fractions of its turnover: what is smaller is rounding,
what is larger is not."""


CHANNEL_WORDS = {
    "stored": "stored",
    "supplied": "supplied",
    "dissipated": "dissipated",
    "lost": "lost in events",
}
"""Kinds of channels of an account, and what each is called in a label."""


@dataclass(frozen=True, eq=False)
class Account(Tabular):
    """Energies [J] over the trajectory's times, by name.

    stored: at each time. supplied, dissipated, lost: since the beginning, each positive in its own direction.
    """

    t: np.ndarray = field(repr=False)
    stored: Mapping[str, np.ndarray]
    supplied: Mapping[str, np.ndarray]
    dissipated: Mapping[str, np.ndarray]
    lost: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        for part in ("stored", "supplied", "dissipated", "lost"):
            object.__setattr__(self, part, Entries(getattr(self, part)))

    def __repr__(self) -> str:
        if not len(self.t):
            return "energy account of no time"
        rows = {name: f"{value:+.6g}" for name, value in self.summary().items()}
        wide, long = max(map(len, rows)), max(map(len, rows.values()))
        head = f"energy account, changes from {self.t[0]:g} to {self.t[-1]:g} s [J]"
        return "\n".join([head, *(f"  {name:<{wide}}  {value:>{long}}" for name, value in rows.items())])

    def columns(self) -> dict[str, np.ndarray]:
        """Return time [s], every channel [J] by its label, and the imbalance [J]."""
        channels = {label: getattr(self, kind)[name] for label, (kind, name) in self.channels().items()}
        return {"t": self.t, **channels, "imbalance": self.imbalance}

    def _card_tables(self) -> TableTexts:
        rows = [(name, f"{value:+.6g}") for name, value in self.summary().items()] if len(self.t) else []
        return {"changes": (("where", "energy [J]"), rows)}

    def _total(self, entries: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.sum(list(entries.values()), axis=0) if entries else np.zeros(len(self.t))

    @property
    def energy(self) -> np.ndarray:
        """All stored energy [J]."""
        return self._total(self.stored)

    @property
    def imbalance(self) -> np.ndarray:
        """What the books cannot explain [J]: stored - stored(0) - supplied + dissipated + lost."""
        change = self.energy - (self.energy[0] if len(self.t) else 0.0)
        spent_totals = self._total(self.dissipated), self._total(self.lost)
        return np.asarray(change - self._total(self.supplied) + spent_totals[0] + spent_totals[1])

    @property
    def residual(self) -> float:
        """The largest imbalance [J]. A model whose residual is not small is wrong, or is integrated too
        coarsely."""
        return float(np.max(np.abs(self.imbalance), initial=0.0)) if self.stored else 0.0

    @property
    def turnover(self) -> float:
        """The energy that moved [J]: the scale for the residual."""
        moved = [
            np.ptp(e)
            for entries in (self.stored, self.supplied, self.dissipated, self.lost)
            for e in entries.values()
        ]
        return float(max(moved, default=0.0))

    @property
    def relative(self) -> float:
        """The residual as a fraction of the turnover."""
        return self.residual / self.turnover if self.turnover > 0 else self.residual

    @property
    def resolution(self) -> float:
        """Energies below this [J] cannot be told from rounding: the residual, within `RESOLUTION_BOUNDS` of
        the turnover."""
        least, most = (part * self.turnover for part in RESOLUTION_BOUNDS)
        return min(max(self.residual, least), most)

    def rounded_summary(self) -> dict[str, float]:
        """`summary` to be shown: what is below the resolution is 0. The residual stays as it is."""
        rows = self.summary()
        return {n: 0.0 if n != "residual" and abs(v) <= self.resolution else v for n, v in rows.items()}

    def channels(self) -> dict[str, tuple[str, str]]:
        """Kind ('stored', 'supplied', 'dissipated' or 'lost') and name of every channel, by its label in
        `summary` and in an account of steps."""
        return {
            f"{name} ({word})": (kind, name)
            for kind, word in CHANNEL_WORDS.items()
            for name in getattr(self, kind)
        }

    def summary(self) -> dict[str, float]:
        """Totals over the run [J], signed as they changed the stored energy."""
        totals = {
            "stored": {name: float(e[-1] - e[0]) for name, e in self.stored.items()},
            "supplied": {name: float(e[-1]) for name, e in self.supplied.items()},
            "dissipated": {name: float(-e[-1]) for name, e in self.dissipated.items()},
            "lost": {name: float(-e[-1]) for name, e in self.lost.items()},
        }
        rows = {label: totals[kind][name] for label, (kind, name) in self.channels().items()}
        return rows | {"residual": self.residual}
