"""Generic mobility: how many ways a planar pin-jointed linkage can move when its pins are anywhere.

Every body has three velocities, every pin two equations between them, a locked joint a third. The rank of
these equations is the same for all pin positions but exceptional ones, so it is computed for random positions
in a finite field, exactly: no tolerance decides. A wrong answer has a probability below 1e-7 (Schwartz and
Zippel: the degree of a minor over the size of the field).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PRIME = 2**31 - 1
"""The size of the finite field: products of two of its numbers fit into 64 bits."""
SEED = 20140
"""Of the random pin positions."""


def mobility(bodies: int, pins: Sequence[tuple[int, int]], locked: Sequence[int] = ()) -> int:
    """Return how many velocities remain to bodies, the first of which stands still, with pins between pairs
    of them, at random positions. locked: the places of pins that do not turn."""
    if not bodies:
        return 0
    return 3 * (bodies - 1) - rank_in_field(constraint_matrix(bodies, pins, locked))


def constraint_matrix(bodies: int, pins: Sequence[tuple[int, int]], locked: Sequence[int] = ()) -> np.ndarray:
    """Return the equations between the velocities (angular, x, z) of all bodies but the first, for pins at
    random positions of the field: two rows for each pin, and one for each that is locked."""
    rng = np.random.default_rng(SEED)
    positions = rng.integers(1, PRIME, (len(pins), 2))
    rows = np.zeros((2 * len(pins) + len(locked), 3 * bodies), dtype=np.int64)
    for k, ((a, b), (x, z)) in enumerate(zip(pins, positions, strict=True)):
        for body, sign in ((a, 1), (b, -1)):
            rows[2 * k, 3 * body : 3 * body + 2] = sign * z, sign  # velocity along x: v_x + w z
            rows[2 * k + 1, [3 * body, 3 * body + 2]] = -sign * x, sign  # along z: v_z - w x
    for row, pin in enumerate(locked, start=2 * len(pins)):
        a, b = pins[pin]
        rows[row, 3 * a], rows[row, 3 * b] = 1, -1
    return np.asarray(rows[:, 3:] % PRIME)


def rank_in_field(matrix: np.ndarray) -> int:
    """Return the rank of a matrix of integers modulo `PRIME`, by Gaussian elimination."""
    rows, rank = matrix % PRIME, 0
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[rank:, column])
        if not below.size:
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        inverse = pow(int(rows[rank, column]), PRIME - 2, PRIME)
        rows[rank] = rows[rank] * inverse % PRIME
        rows[rank + 1 :] = (rows[rank + 1 :] - rows[rank + 1 :, column, None] * rows[rank] % PRIME) % PRIME
        rank += 1
        if rank == len(rows):
            break
    return rank


__all__ = ["constraint_matrix", "mobility", "rank_in_field"]
