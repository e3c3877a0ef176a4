"""What becomes of individuals that leave the bounds."""

from __future__ import annotations

import numpy as np

MAX_BOUNCES = 10
"""Times that a particle bounces in one move; after them it is put on the bound."""


def bounce(
    x: np.ndarray, v: np.ndarray, low: np.ndarray, high: np.ndarray, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities after particles have bounced off the bounds that they passed.

    damping: the part of speed, and of the distance beyond the bound, that is kept.
    """
    x, v = x.copy(), v.copy()
    for _ in range(MAX_BOUNCES):
        below, above = x < low, x > high
        if not (below | above).any():
            break
        x = np.where(below, low + damping * (low - x), np.where(above, high - damping * (x - high), x))
        v = np.where(below | above, -damping * v, v)
    return np.clip(x, low, high), v


def reflect(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return points folded back into the bounds, as by mirrors."""
    span = high - low
    beyond = np.mod(x - low, 2 * span)
    return np.asarray(low + np.where(beyond > span, 2 * span - beyond, beyond))
