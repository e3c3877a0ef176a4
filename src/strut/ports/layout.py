"""Where the elements of a drawn graph stand: distances in the picture like those along bonds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MAX_STRESS_NODES = 250
"""Elements that are placed by stress majorisation; more are put in rows."""
STRESS_ROUNDS = 150
"""Iterations of stress majorisation."""
LAYOUT_STARTS = 8
"""Random places to begin from, of which the best result is taken."""


def place_nodes(count: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return a place for each node, two numbers, neighbours about 1 apart: stress majorisation (SMACOF) of
    the distances along edges, the best of several starts."""
    if count > MAX_STRESS_NODES:
        columns = int(np.ceil(np.sqrt(2 * count)))
        return np.array([(k % columns, k // columns) for k in range(count)], dtype=float)
    if count < 2:
        return np.zeros((count, 2))
    distance = _distances(count, edges)
    weights = np.where(distance > 0, 1.0 / np.maximum(distance, 1e-9) ** 2, 0.0)
    random = np.random.default_rng(0)
    spread = np.sqrt(count)
    attempts = [
        _lessen_stress(spread * random.standard_normal((count, 2)), distance, weights)
        for _ in range(LAYOUT_STARTS)
    ]
    best = min(attempts, key=lambda x: float((weights * (_gaps(x) - distance) ** 2).sum()))
    return _lay_flat(best)


def _lessen_stress(x: np.ndarray, distance: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Move places until distances in the picture are as like those asked for as they become: Guttman's
    transform, again and again."""
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(STRESS_ROUNDS):
        gap = _gaps(x)
        ratio = np.where(gap > 1e-9, weights * distance / np.maximum(gap, 1e-9), 0.0)
        x = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ x
    return x


def _gaps(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(x[:, None, :] - x[None, :, :], axis=2))


def _distances(count: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """The number of edges between any two nodes (breadth first); parts that are not joined are far apart."""
    near: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    distance = np.full((count, count), np.sqrt(count) + 1.0)
    for root in range(count):
        seen, queue = {root: 0}, [root]
        for node in queue:
            for other in near[node]:
                if other not in seen:
                    seen[other] = seen[node] + 1
                    queue.append(other)
        for node, steps in seen.items():
            distance[root, node] = steps
    return distance


def _lay_flat(x: np.ndarray) -> np.ndarray:
    """The picture level so that its longest side is level, the first node left."""
    centred = x - x.mean(axis=0)
    if len(x) < 2:
        return np.asarray(centred)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    level = centred @ axes.T
    return np.asarray(level * (-1.0 if level[0, 0] > 0 else 1.0))
