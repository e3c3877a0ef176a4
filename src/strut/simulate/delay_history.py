"""What delayed signals were: the counterpart of strut_delay.h in Python."""

from __future__ import annotations

import bisect
from collections.abc import Callable

import numpy as np

from strut.simulate.methods import hermite

READINGS_PER_STEP = 16
"""Into so many parts a step of a method with dense output is divided, to be remembered."""

Signals = Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Reads the delayed signals and their rates [1/s] at a time, a state and its rate."""


class DelayHistory:
    """The delayed signals of a run and their rates, over time.

    delays: how far back each signal is read [s]. begin: when the run began [s]; before, `past` gives the
    signals at a time. signals: reads them of a state.
    """

    def __init__(
        self, delays: np.ndarray, begin: float, signals: Signals, past: Callable[[float], np.ndarray]
    ) -> None:
        self.delays, self.begin, self.signals, self.past = delays, begin, signals, past
        self.rows: list[tuple[float, np.ndarray, np.ndarray]] = []

    def remember(self, t: float, x: np.ndarray, dx: np.ndarray) -> None:
        """Keep the signals at a time, a state and its rate."""
        if len(self.delays):
            self.rows.append((t, *self.signals(t, x, dx)))

    def remember_inside(self, t: float, h: float, poly: np.ndarray, dx: np.ndarray) -> None:
        """Keep the signals inside a step from `t` over `h`, of its dense output; `dx` is the rate of a step
        that takes no time."""
        if not len(self.delays):
            return
        for a in np.arange(1, READINGS_PER_STEP) / READINGS_PER_STEP:
            x = np.asarray(np.polynomial.polynomial.polyval(a, poly))
            slope = np.polynomial.polynomial.polyval(a, np.polynomial.polynomial.polyder(poly))
            self.remember(t + a * h, x, np.asarray(slope) / h if h > 0 else dx)

    def at(self, t: float) -> np.ndarray:
        """The delayed signals that a model sees at time `t`: each as it was its delay ago, by a cubic Hermite
        polynomial."""
        d = np.empty(len(self.delays))
        for i, by in enumerate(self.delays):
            then = t - by
            if then < self.begin or not self.rows:
                d[i] = self.past(then)[i]
                continue
            high = min(
                max(bisect.bisect_right(self.rows, then, key=lambda row: row[0]), 1), len(self.rows) - 1
            )
            t0, s0, r0 = self.rows[max(high - 1, 0)]
            t1, s1, r1 = self.rows[high]
            a = min((then - t0) / (t1 - t0), 1.0) if t1 > t0 else 0.0
            d[i] = np.polyval(hermite(t1 - t0, s0[i], r0[i], s1[i], r1[i])[::-1], a)
        return d
