"""Zeno behaviour: does an event happen again and again, in ever shorter intervals?"""

from __future__ import annotations

import numpy as np

SHRINKING_GAPS = 3
"""So many intervals in a row whose sum ends within next to no time are an accumulation."""
CHATTER_COUNT = 256
"""So many short intervals in a row are an accumulation too."""
CHATTER_WEIGHT = 4
"""How often an interval next to zero counts among them."""
NEXT_TO_ZERO = 1 / 64
"""Part of the tolerance below which an interval is next to zero."""


class Accumulation:
    """Watches the intervals between the firings of every guard of a run.

    tolerance: the time [s], by the larger of 1 and the time of the run, that is next to nothing. max_steps:
    the run's; intervals so short that it would not reach its end in these are counted.
    """

    def __init__(self, guards: int, tolerance: float, max_steps: int) -> None:
        self.tolerance, self.max_steps = tolerance, max_steps
        self.fired, self.gap = np.full(guards, -np.inf), np.zeros(guards)
        self.shrinking, self.chatter = np.zeros(guards, dtype=int), np.zeros(guards, dtype=int)

    def fires(self, i: int, t: float, remaining: float) -> bool:
        """Note that guard `i` fires at `t`, with `remaining` time to go [s]; true if its events accumulate
        there."""
        gap, near_zero = t - self.fired[i], self.tolerance * max(1.0, abs(t))
        ratio = gap / self.gap[i] if 0 < self.gap[i] < np.inf else 2.0
        shrinks = ratio < 1 and gap * ratio / (1 - ratio) < near_zero  # the rest of a geometric series
        self.shrinking[i] = self.shrinking[i] + 1 if shrinks else 0
        if gap < NEXT_TO_ZERO * near_zero:
            self.chatter[i] += CHATTER_WEIGHT
        elif gap < near_zero and gap * self.max_steps < remaining:
            self.chatter[i] += 1
        else:
            self.chatter[i] = 0
        self.fired[i], self.gap[i] = t, gap
        return bool(self.shrinking[i] >= SHRINKING_GAPS or self.chatter[i] >= CHATTER_COUNT)
