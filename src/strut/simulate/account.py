"""The energy account of a run: every joule stored, supplied, dissipated or lost, and the residual of the balance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Account:
    """Energies [J] over the trajectory's times, by name.

    stored: at each time. supplied, dissipated, lost: since the beginning, each positive in its own direction.
    """

    t: np.ndarray = field(repr=False)
    stored: Mapping[str, np.ndarray]
    supplied: Mapping[str, np.ndarray]
    dissipated: Mapping[str, np.ndarray]
    lost: Mapping[str, np.ndarray]

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
        return change - self._total(self.supplied) + self._total(self.dissipated) + self._total(self.lost)

    @property
    def residual(self) -> float:
        """The largest imbalance [J]. A model whose residual is not small is wrong, or is integrated too coarsely."""
        return float(np.max(np.abs(self.imbalance), initial=0.0)) if self.stored else 0.0

    @property
    def turnover(self) -> float:
        """The energy that moved [J]: the scale for the residual."""
        moved = [np.ptp(e) for entries in (self.stored, self.supplied, self.dissipated, self.lost) for e in entries.values()]
        return float(max(moved, default=0.0))

    @property
    def relative(self) -> float:
        """The residual as a fraction of the turnover."""
        return self.residual / self.turnover if self.turnover > 0 else self.residual

    def summary(self) -> dict[str, float]:
        """Totals over the run [J], signed as they changed the stored energy."""
        rows = {f"{name} (stored)": float(e[-1] - e[0]) for name, e in self.stored.items()}
        rows |= {f"{name} (supplied)": float(e[-1]) for name, e in self.supplied.items()}
        rows |= {f"{name} (dissipated)": float(-e[-1]) for name, e in self.dissipated.items()}
        rows |= {f"{name} (lost in events)": float(-e[-1]) for name, e in self.lost.items()}
        return rows | {"residual": self.residual}
