"""What studies share that search several modes side by side in one folder: whether it has the searches, and
how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from strut import evolve
from strut.errors import ModelError

MIN_ELAPSED_TIME = 1e-9
"""[s] By which a number of evaluations is divided, at least."""


def has_searches(folder: Path, modes: Sequence[str]) -> bool:
    """Tell whether a folder has the searches of all modes, MODE.db; raises `ModelError` where it has a part
    of them."""
    there = [(folder / f"{mode}.db").is_file() for mode in modes]
    if any(there) and not all(there):
        missing = modes[there.index(False)]
        raise ModelError(f"{folder} has a part of the searches and no {missing}.db: give an empty one")
    return all(there)


def progress_text(at: evolve.SideBySideProgress, goal_names: Sequence[str]) -> str:
    """Return how far searches are, as a line: of each mode how many runs are at the furthest goal, and the
    best."""
    parts = []
    for mode, counts in at.stages.items():
        furthest = max((k for k, count in enumerate(counts) if count), default=0)
        parts.append(f"{mode}: {counts[furthest]} at {goal_names[furthest]}, best {at.bests[mode]:.4g}")
    rate = at.individuals / max(at.seconds, MIN_ELAPSED_TIME)
    return (
        f"generation {at.generation + 1}/{at.generations}, {at.seconds:.2f} s ({rate:.0f} evaluations/s): "
        + "; ".join(parts)
    )


__all__ = ["has_searches", "progress_text"]
