"""`refine_mesh`: where the intervals of a solution are to be split, and into how many parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from strut.optimal.solver.result import Solution

MAX_INTERVALS = 400
"""Intervals of a phase at most."""
MAX_PARTS = 4
"""Parts into which an interval is split at most, from one mesh to the next."""
INPUT_AIM = 0.3
"""And what inputs cost too much comes to this part of what is allowed."""
DEFECT_AIM = 0.3
"""Intervals are split such that defects come to this part of the accuracy that is asked."""


def refine_mesh(
    result: Solution, accuracy: float, order: int, least_parts: int = 2
) -> list[np.ndarray] | None:
    """Return the fractions of every phase that its intervals take, split where their defect is too large,
    into as many as the order says and at least `least_parts`, where a requirement does not hold between the
    points, and where inputs cost too much; None where nothing needs it, or can be split any more. Where
    halves were not enough (`least_parts` above 2), intervals that are nearly too inaccurate are halved with
    the others: on the next mesh they would be."""
    meshes, changed = [], False
    for k, (m, d) in enumerate(zip(result.phases, result.defects, strict=True)):
        widths = np.diff(m.t) / m.duration
        size = np.where(np.isfinite(d.size), d.size, 1.0)
        parts = np.clip(np.ceil((size / (DEFECT_AIM * accuracy)) ** (1 / (order + 1))), 1, MAX_PARTS).astype(
            int
        )
        split = (size > accuracy) | result.exceeds_limits(k)
        borderline = (size > DEFECT_AIM * accuracy) & (least_parts > 2) & split.any()
        parts = np.where(split, np.maximum(parts, least_parts), np.where(borderline, 2, 1))
        if result.inputs_too_coarse:
            parts = add_input_parts(parts, input_parts(result)[k])
        if parts.sum() > MAX_INTERVALS:
            parts = np.ones(len(widths), dtype=int)
        changed |= bool((parts > 1).any())
        meshes.append(np.concatenate([np.full(n, w / n) for w, n in zip(widths, parts, strict=True)]))
    return meshes if changed else None


def add_input_parts(parts: np.ndarray, of_inputs: np.ndarray) -> np.ndarray:
    """Return the parts of intervals with those for the sake of inputs: halves where there would be too many,
    none where there still would."""
    for most in (MAX_PARTS, 2):
        together = np.maximum(parts, np.minimum(of_inputs, most))
        if together.sum() <= MAX_INTERVALS:
            return np.asarray(together)
    return parts


def input_parts(result: Solution) -> list[np.ndarray]:
    """Return into how many parts the intervals of every phase are split for the sake of the inputs: those
    that cost most, until what is left of the others is `INPUT_AIM` of what may be."""
    assert result.cost_accuracy is not None
    errors = np.concatenate(result.input_errors)
    allowed = result.cost_accuracy * result.cost_size
    order = np.argsort(errors)
    left = np.cumsum(errors[order])
    chosen = np.zeros(len(errors), dtype=bool)
    chosen[order[left > INPUT_AIM * allowed]] = True
    # Splitting into n leaves at most 1 / n^2: an input that jumps does so in one of the parts.
    part_count = np.clip(np.ceil(np.sqrt(left[-1] / (INPUT_AIM * allowed))), 2, MAX_PARTS)
    parts = np.where(chosen, int(part_count), 1)
    return np.split(parts, np.cumsum([len(part) for part in result.input_errors])[:-1])


def inputs_were_split(result: Solution, fractions: Sequence[np.ndarray]) -> bool:
    """Return whether a finer mesh splits all the intervals of a solution whose inputs cost too much; False
    where none does."""
    if not result.inputs_too_coarse:
        return False
    for m, parts, widths in zip(result.phases, input_parts(result), fractions, strict=True):
        middles = np.cumsum(widths) - widths / 2
        inside = np.searchsorted((m.t - m.t[0]) / m.duration, middles) - 1
        counts = np.bincount(inside, minlength=len(parts))
        if (counts[parts > 1] < 2).any():
            return False
    return True


__all__ = ["inputs_were_split", "refine_mesh"]
