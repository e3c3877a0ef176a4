"""Fronts of several goals at once: who is dominated, how crowded it is, and how much a front covers.

Values are rows with a goal in each column, less being better in all. One row dominates another where it is
better in a goal and worse in none (Pareto).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np

from strut.checks import checked, number_array
from strut.errors import ShapeError

MAX_FRONT_GOALS = 3
"""Goals of a front: with more nearly every individual is on it, and crowding says little."""
CHUNK_ROWS = 512
"""Rows that are compared with all others at once."""


def nondomination_ranks(values: np.ndarray) -> np.ndarray:
    """Return the number of the front that each row is on: 0 where nothing dominates it, 1 where only rows of
    front 0 do, and so on (nondominated sorting of Deb)."""
    if values.shape[1] == 2:
        return _ranks_of_pairs(values)
    dominated_by = np.vstack([np.zeros((0, len(values)), dtype=bool), *_dominators(values)])
    dominators_left = dominated_by.sum(axis=1)
    rank = np.full(len(values), -1)
    for number in range(len(values)):
        front = np.flatnonzero((dominators_left == 0) & (rank < 0))
        if not len(front):
            break
        rank[front] = number
        dominators_left -= dominated_by[:, front].sum(axis=1)
    return rank


def _ranks_of_pairs(values: np.ndarray) -> np.ndarray:
    """Return the ranks for two goals: going through the first, a row is behind every front whose last row has
    a second value that is not above its own."""
    rank = np.empty(len(values), dtype=int)
    least_second: list[float] = []
    order = np.lexsort((values[:, 1], values[:, 0]))
    before, own = (np.inf, np.inf), 0
    for place, first, second in zip(order.tolist(), *values[order].T.tolist(), strict=True):
        if (first, second) != before:  # one that is equal to the last is on its front
            own = bisect_right(least_second, second)
            if own == len(least_second):
                least_second.append(second)
            else:
                least_second[own] = second
            before = (first, second)
        rank[place] = own
    return rank


def is_on_front(values: np.ndarray) -> np.ndarray:
    """Tell of each row whether nothing dominates it; equal rows do not dominate each other."""
    if values.shape[1] == 2:
        order = np.lexsort((values[:, 1], values[:, 0]))
        first, second = values[order].T
        least_before = np.minimum.accumulate(np.concatenate([[np.inf], second[:-1]]))
        on = second < least_before
        # one that is equal to the row before it shares its fate
        same = np.concatenate([[False], (np.diff(first) == 0) & (np.diff(second) == 0)])
        owner = np.maximum.accumulate(np.where(same, 0, np.arange(len(on))))
        answer = np.empty(len(on), dtype=bool)
        answer[order] = on[owner]
        return answer
    return ~np.concatenate([part.any(axis=1) for part in _dominators(values)] or [np.zeros(0, bool)])


def _dominators(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield for some rows at a time which of all rows dominate them, in columns."""
    for begin in range(0, len(values), CHUNK_ROWS):
        own = values[begin : begin + CHUNK_ROWS]
        no_worse = np.ones((len(own), len(values)), dtype=bool)
        better = np.zeros_like(no_worse)
        for column, limit in zip(values.T, own.T, strict=True):
            no_worse &= column <= limit[:, None]
            better |= column < limit[:, None]
        yield no_worse & better


def crowding_distances(values: np.ndarray) -> np.ndarray:
    """Return for each row of one front how far apart its neighbours are, summed over goals, each counted from
    0 to 1; infinite at the ends (Deb)."""
    count = len(values)
    total = np.zeros(count)
    for column in values.T:
        order = np.argsort(column, kind="stable")
        span = column[order[-1]] - column[order[0]]
        total[order[[0, -1]]] = np.inf
        if count > 2 and span > 0:
            total[order[1:-1]] += (column[order[2:]] - column[order[:-2]]) / span
    return total


@checked
def hypervolume(values: np.ndarray, reference: np.ndarray) -> float:
    """Return how much of the space of goals the rows dominate, up to a reference point, which is worse than
    all that count: the measure of Zitzler and Thiele, in the product of the goals' units."""
    values, reference = number_array("values", values, (0, 1, 2)), number_array("reference", reference)
    if values.ndim != 2 or reference.shape != values.shape[1:] or not 2 <= len(reference) <= MAX_FRONT_GOALS:
        raise ShapeError(
            f"hypervolume has values of shape {values.shape} and a reference of shape {reference.shape}: "
            f"rows of 2 to {MAX_FRONT_GOALS} goals and as many numbers are needed"
        )
    inside = values[(values < reference).all(axis=1)]
    if not len(inside):
        return 0.0
    inside = inside[is_on_front(inside)]
    if inside.shape[1] == 2:
        first, second = inside[np.lexsort((inside[:, 1], inside[:, 0]))].T
        width = np.concatenate([first[1:], reference[:1]]) - first
        return float((width * (reference[1] - second)).sum())
    return _volume(inside[np.argsort(inside[:, 2], kind="stable")], reference)


def _volume(rows: np.ndarray, reference: np.ndarray) -> float:
    """Return the volume that rows of three goals dominate, in ascending order of the third: the area of the
    first two, a staircase that grows from row to row, times how far it is to the next row (Beume)."""
    end_x, end_y, end_z = reference.tolist()
    xs, ys = [-np.inf, end_x], [end_y, -np.inf]  # corners of the staircase: x ascends, y falls
    area = volume = 0.0
    heights = [*rows[1:, 2].tolist(), end_z]
    for (x, y, z), upper in zip(rows.tolist(), heights, strict=True):
        begin = bisect_right(xs, x) - 1
        if ys[begin] > y:
            # corners behind x that are not below y lie within the new one
            end = begin + 1
            while ys[end] >= y:
                end += 1
            edge, height = x, ys[begin]
            for k in range(begin + 1, end):
                area += (xs[k] - edge) * (height - y)
                edge, height = xs[k], ys[k]
            area += (xs[end] - edge) * (height - y)
            first = bisect_left(xs, x)
            xs[first:end], ys[first:end] = [x], [y]
        volume += area * (upper - z)
    return volume


def compromise(values: np.ndarray) -> int:
    """Return the row that is nearest to the best of each goal, goals counting from 0 to 1 over the rows."""
    span = np.ptp(values, axis=0)
    scaled = (values - values.min(axis=0)) / np.where(span > 0, span, 1.0)
    return int(np.argmin((scaled**2).sum(axis=1)))
