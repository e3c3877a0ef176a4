"""What the particles of a swarm remember at the end of a job: a population to begin another search with."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.evolve.goals import best_first
from strut.evolve.store import JobStore


@checked
def load_personal_bests(path: str | Path) -> np.ndarray:
    """Return the best place that each particle of each run of a swarm has seen, as far as the job has come:
    runs x particles x parameters, the best particle of a run first.

    path: the file of a job of `Swarm`. Raises `ModelError` where a run has no generation, or the search
    remembers no places.
    """
    place = Path(path).expanduser()
    with closing(JobStore(place, read_only=True)) as store:
        populations = []
        for run in range(int(store.spec["runs"])):
            states = [store.read(run, number).state for number in store.generations(run)]
            state = next((each for each in reversed(states) if each is not None), None)
            if state is None:
                raise ModelError(f"run {run} of {place} has no generation that is done: search first")
            if "best_x" not in state:
                raise ModelError(f"{place} is not of a swarm: its search remembers no places")
            populations.append(state["best_x"][best_first(state["best_keys"])])
    return np.array(populations)


__all__ = ["load_personal_bests"]
