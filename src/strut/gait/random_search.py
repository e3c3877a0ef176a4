"""Gaits from random states: Newton's method from many at once."""

from __future__ import annotations

import numpy as np

from strut.gait.gait import Gait
from strut.gait.newton import MAX_EVALUATIONS, Portions, newton
from strut.gait.return_map import ReturnMap
from strut.gait.search_log import STANDING, SearchLog, is_new
from strut.gait.standing import stands_still
from strut.gait.verify import verified_gait

FIRST_SHARE, ROUGH_SHARE, EXACT_SHARE = 0.4, 0.75, 0.6
"""The part of the time left [1] for the first step from every random state, then for the way to fixed points,
then for making them exact; what remains is for replays."""
BLOCK_SIZE = 400
"""Random states that are followed to their gaits at one time: when the time is over, those of earlier blocks
are done."""


def random_starts(step: ReturnMap, count: int, seed: int) -> np.ndarray:
    """Return random free states around the map's own, rows: lengths and angles scaled together, rates (by
    their units) likewise, then each by itself, and moved."""
    random = np.random.default_rng(seed)
    system, y = step.system, step.free(step.start.x)
    units = [q.unit for q in system.x for _ in range(q.size)]
    rate = np.array([units[k].endswith("/s") for k in step.chosen], dtype=bool)
    size = np.where(np.abs(y) > 0, np.abs(y), 0.1 * (1 + np.abs(y).max(initial=0.0)))
    for group in (rate, ~rate):
        if group.any():
            size[group] = np.maximum(size[group], 0.3 * np.abs(y[group]).max())
    together = np.where(
        rate,
        np.exp(random.uniform(np.log(0.1), np.log(2.5), (count, 1))),
        random.uniform(0.1, 1.8, (count, 1)),
    )
    alone = 1 + random.uniform(-0.3, 0.3, (count, len(y)))
    moved: np.ndarray = random.uniform(-0.3, 0.3, (count, len(y))) * size
    states: np.ndarray = y * together * alone + moved * together
    return states


def search_from_random_states(step: ReturnMap, starts: int, seed: int, log: SearchLog) -> list[Gait]:
    """Return all different gaits that Newton finds from random states, the longest period first; one of a
    family."""
    gaits: list[Gait] = []
    log.starts += starts
    states = random_starts(step, starts, seed)
    for begin in range(0, starts, BLOCK_SIZE):
        if begin and log.deadline.is_over:
            break
        block = states[begin : begin + BLOCK_SIZE]
        of_all = f"{begin + 1} to {begin + len(block)} of {starts}" if starts > BLOCK_SIZE else str(starts)
        log.tell(f"Newton's method from random states: {of_all}")
        points = newton_from_many(step, block, log)
        for k, y in enumerate(points):
            if k and log.deadline.is_over:
                break
            log.tell(f"simulating what Newton's method found, {k + 1} of {len(points)}", k / len(points))
            if is_new(y, gaits) and (gait := verified_gait(step, y, log)) is not None:
                gaits.append(gait)
    family = [g for g in gaits if g.neutral]
    own = step.free(step.start.x)
    gaits = [g for g in gaits if not g.neutral] + sorted(
        family, key=lambda g: float(np.linalg.norm(g.y0 - own))
    )[:1]
    return sorted(gaits, key=lambda g: -g.period)


def newton_from_many(
    step: ReturnMap, begin: np.ndarray, log: SearchLog, evaluations: int = MAX_EVALUATIONS
) -> list[np.ndarray]:
    """Return the fixed points that Newton finds from rows of `begin` and from one step after them, but for
    those in which the machine stands still."""
    pairs, owners, row_count = first_steps(step, begin, log)
    log.tried += row_count
    if not len(pairs):
        return []
    words = f"Newton's method from {len(pairs)} states"
    near = newton(
        step,
        pairs,
        evaluations=evaluations,
        rough=True,
        progress=lambda part: log.tell(words, part),
        deadline=log.deadline.part(ROUGH_SHARE),
    )
    log.tried -= len(set(owners[~near.ended].tolist()))
    rows = np.flatnonzero(near.converged)
    standing = np.zeros(len(pairs), bool)
    if len(rows):
        steps = step.many(near.y[rows], rough=True)
        standing[rows] = stands_still(step, near.y[rows], steps, log.usual_period)
        log.refused.update({STANDING: int(standing.sum())} if standing.any() else {})
    log.note(near, standing)
    rows = np.flatnonzero(near.converged & ~standing)
    if not len(rows):
        return []
    exact = newton(
        step,
        near.y[rows],
        progress=lambda part: log.tell(f"making {len(rows)} of them exact", part),
        deadline=log.deadline.part(EXACT_SHARE),
    )
    log.note(exact)
    return list(exact.y[exact.converged])


def first_steps(step: ReturnMap, begin: np.ndarray, log: SearchLog) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the rows of `begin` from which a step can be made, each followed by where it leads; of each of
    these states the row that it is from; and how many rows there was time for."""
    portions, row_count = Portions(), 0
    pairs, owners, periods = [np.zeros((0, begin.shape[1]))], [np.zeros(0, int)], [np.zeros(0)]
    deadline = log.deadline.part(FIRST_SHARE)
    while row_count < len(begin) and not deadline.is_over:
        rows = begin[row_count : row_count + portions.size]
        with portions.time(len(rows)):
            first = step.many(rows, rough=True)
        log.ended.update(str(s) for s in first.status[~first.ok])
        pairs.append(np.stack([rows[first.ok], first.y[first.ok]], axis=1).reshape(-1, begin.shape[1]))
        owners.append(np.repeat(row_count + np.flatnonzero(first.ok), 2))
        periods.append(first.period[first.ok])
        row_count += len(rows)
    log.usual_period = float(np.median(np.concatenate(periods))) if sum(map(len, periods)) else 0.0
    return np.concatenate(pairs), np.concatenate(owners), row_count


__all__ = ["newton_from_many", "random_starts", "search_from_random_states"]
