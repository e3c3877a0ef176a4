"""What figures draw of a run: its points and, where these are few, its dense output in between; never too
many."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from strut.simulate.account import Account

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

MAX_POINTS = 8000
"""Points of a drawn curve at most: several per pixel. A longer one keeps the least and the greatest value of
every interval, so no peak is lost."""

MIN_INTERVALS = 1000
"""Intervals of the run that a curve has at least, so that none is longer than about a pixel."""

MIN_PIECES = 8
"""Pieces into which a step is cut at least where points are few: to look smooth when one zooms in."""


def curves(trajectory: Trajectory, labels: Iterable[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the times and values to draw, by label. An event contributes two points; outputs of a run loaded
    without its system stay at the points."""
    points, inner = trajectory.table(), _between(trajectory)
    between = trajectory.table(inner) if len(inner) else {}
    t, order = _merge_times(trajectory.t, inner)
    return {
        label: (t, np.concatenate([points[label], between[label]])[order])
        if label in between
        else (trajectory.t, points[label])
        for label in labels
    }


def account(trajectory: Trajectory) -> Account:
    """Return the energy account [J] at the times of `curves`: a ball's energies change most between its
    bounces."""
    books, inner = trajectory.ledger, _between(trajectory)
    if trajectory.model is None or not len(inner):
        return books
    between = trajectory.ledger_at(inner)
    t, order = _merge_times(books.t, inner)

    def longer(kind: str) -> dict[str, np.ndarray]:
        mine, more = getattr(books, kind), getattr(between, kind)
        return {name: np.concatenate([mine[name], more[name]])[order] for name in mine}

    return Account(t, longer("stored"), longer("supplied"), longer("dissipated"), longer("lost"))


def drawn_indices(values: np.ndarray, most: int = MAX_POINTS) -> np.ndarray:
    """Return the indices of the points of a curve to draw: all, or where there are more than `most`, the
    least and the greatest of every interval."""
    n = len(values)
    if n <= most:
        return np.arange(n)
    edges = np.linspace(0, n, most // 2 + 1).astype(int)
    extremes = [a + k for a, b in pairwise(edges) for k in (np.argmin(values[a:b]), np.argmax(values[a:b]))]
    return np.unique([0, *extremes, n - 1])


def _between(trajectory: Trajectory) -> np.ndarray:
    """Times between the points of a run that has few."""
    t = trajectory.t
    if not 1 < len(t) <= MAX_POINTS // 4 or trajectory.t1 <= trajectory.t0:
        return np.empty(0)
    least = min(MIN_PIECES, MAX_POINTS // (2 * len(t)))
    pieces = np.maximum(np.ceil(np.diff(t) * MIN_INTERVALS / (trajectory.t1 - trajectory.t0)), least).astype(
        int
    )
    inner = np.concatenate(
        [np.linspace(a, b, k + 1)[1:-1] for (a, b), k in zip(pairwise(t), pieces, strict=True)]
    )
    return inner[~np.isin(inner, t)]  # none within an event


def _merge_times(t: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort two rows of times into one; returns it and the order."""
    every = np.concatenate([t, inner])
    order = np.argsort(every, kind="stable")
    return every[order], order
