"""What studies share that search several modes side by side in one folder: whether it has the searches, how
far they are, and populations of known solutions to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from strut import evolve
from strut.errors import ModelError
from strut.evolve.streams import Purpose, RandomStream

MUTATION = 0.1
"""[1] Part of its range by which a parameter of a mutated solution is moved, at most, either way."""
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


def mutated_populations(
    problem: evolve.SearchProblem, known: np.ndarray, *, runs: int, population: int, seed: int
) -> np.ndarray:
    """Return first populations, runs x individuals x parameters: all known solutions, a row each, and
    mutated ones besides; as many of the known as there is room for."""
    space = problem.space
    populations = []
    for run in range(runs):
        draws = RandomStream(seed, run).draws(0, Purpose.CONFIRM)  # for which such a search has no use
        chosen = known[:population]
        rest = population - len(chosen)
        copies = known[np.arange(rest) % len(known)]
        moved = copies + MUTATION * space.span * (2 * draws.uniform(rest, len(space)) - 1)
        populations.append(np.clip(np.vstack([chosen, moved]), space.low, space.high))
    return np.array(populations)


__all__ = ["MUTATION", "has_searches", "mutated_populations", "progress_text"]
