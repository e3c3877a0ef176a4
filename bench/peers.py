"""The others, each behind an import that may fail, and SciPy's usual way of running a hybrid system."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def optional(module: str) -> Any | None:
    """The module, or None where it is not installed (or cannot load): a missing peer is a line in the table,
    not an error."""
    try:
        return importlib.import_module(module)
    except (ImportError, OSError):
        return None


scipy = optional("scipy.integrate")
sundae = optional("sksundae.cvode")
mujoco = optional("mujoco")
rollout = optional("mujoco.rollout")

Rate = Callable[[float, Any], Any]
Leap = Callable[[int, float, np.ndarray], tuple[np.ndarray, "Mode"] | None]
Mode = tuple[Rate, Sequence[Callable[[float, Any], float]]]
"""What holds between events: a rate, and guards that end it by rising through zero."""


def rising(guard: Callable[[float, Any], float]) -> Callable[[float, Any], float]:
    """Marks a guard the way solve_ivp wants it: it ends the run, when rising."""
    guard.terminal, guard.direction = True, 1.0  # type: ignore[attr-defined]
    return guard


def scipy_hybrid(
    mode: Mode, x0: Sequence[float], t_end: float, leap: Leap, *, tolerance: float, method: str = "DOP853"
) -> tuple[float, int]:
    """A hybrid system as one does it with SciPy: solve_ivp to a terminal event, reset, and again, in a Python
    loop.

    `leap(k, t, x)` is asked at every event which state and mode follow event k, and answers None to stop.
    Returns when the last event was, and how many there were.
    """
    assert scipy is not None
    t, x, last, count = 0.0, np.asarray(x0, dtype=float), 0.0, 0
    while True:
        rate, guards = mode
        piece = scipy.solve_ivp(
            rate, (t, t_end), x, method=method, events=guards, rtol=tolerance, atol=tolerance
        )
        if piece.status != 1:
            return last, count
        which = next(k for k, times in enumerate(piece.t_events) if len(times))
        t = last = float(piece.t_events[which][-1])
        count += 1
        after = leap(which, t, piece.y_events[which][-1])
        if after is None:
            return last, count
        x, mode = after
