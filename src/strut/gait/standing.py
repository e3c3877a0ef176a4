"""Which states that nearly return are no steps: a foot that touches the ground again at once."""

from __future__ import annotations

import numpy as np

from strut.gait.replay import MIN_STEP, replay
from strut.gait.return_map import ReturnMap, Steps

SHORT_STEP = 0.1
"""Duration of a step, as a part of the usual one [1], below which it is asked how far it leads."""
STANDING_RATIO = 10.0
"""Largest distance of a short step [m] per change of a state over it, at which the state changes so little
because the step is so short: with its duration both go to zero."""


def stands_still(step: ReturnMap, y: np.ndarray, steps: Steps, usual_period: float) -> np.ndarray:
    """Return in which rows a machine stands where it is, rather than makes a step.

    y: free states, rows that nearly return. steps: where one step of the map leads from them. usual_period:
    how long a step of this machine takes [s], about. Newton's method comes to many such states where a foot
    may land again as soon as it left: the residual is small there for any state.
    """
    standing = np.asarray(steps.period < MIN_STEP)
    change = np.abs(steps.y - y).max(axis=1, initial=0.0)
    for k in np.flatnonzero(~standing & (steps.period < SHORT_STEP * usual_period)):
        end = replay(step, step.whole(y[k]), step.start.z, float(steps.period[k]))
        standing[k] = bool(abs(end.distance) <= STANDING_RATIO * change[k])
    return standing


__all__ = ["stands_still"]
