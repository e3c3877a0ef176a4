"""`BestSoFar`: how far a run has come: the best individual so far, or the front of all."""

from __future__ import annotations

import numpy as np

from strut.evolve.fronts import hypervolume, is_on_front
from strut.evolve.goals import StagedGoals, best_first
from strut.evolve.store import JobStore


class BestSoFar:
    """The best of all individuals that were added.

    goals: by which they are compared. reference: up to where a front's hypervolume is measured, less being
    better; without one the worst of those first added.
    """

    def __init__(self, goals: StagedGoals, reference: np.ndarray | None = None) -> None:
        self.goals, self.reference = goals, reference
        self.key = np.full(goals.key_width, np.inf)
        self.origin = (0, 0)
        """Generation and place of the best; of a front see `origins`."""
        self.front = np.zeros((0, goals.key_width - 1))
        self.origins = np.zeros((0, 2), dtype=int)

    def add(self, keys: np.ndarray, generation: int) -> None:
        """Add the individuals of a generation, as keys; of equal ones the first stays."""
        first = int(best_first(keys)[0])
        if tuple(keys[first, :2]) < tuple(self.key[:2]):
            self.key, self.origin = keys[first], (generation, first)
        at_front = np.flatnonzero(self.goals.at_front(keys))
        if not len(at_front):
            return
        if self.reference is None:
            self.reference = keys[at_front, 1:].max(axis=0)
        values = np.concatenate([self.front, keys[at_front, 1:]])
        origins = np.concatenate(
            [self.origins, np.column_stack([np.full(len(at_front), generation), at_front])]
        )
        firsts = np.sort(np.unique(values, axis=0, return_index=True)[1])
        places = firsts[is_on_front(values[firsts])]
        self.front, self.origins = values[places], origins[places]

    @property
    def hypervolume(self) -> float:
        """How much the front covers; 0 without one."""
        return 0.0 if self.reference is None else hypervolume(self.front, self.reference)

    @property
    def stage_and_value(self) -> tuple[int, float]:
        """The number of the goal that the best is at, from 1, and its value; of a front its hypervolume."""
        stage, value = self.goals.stage_and_value(self.key)
        return stage, self.hypervolume if len(self.front) else value


def front_reference(store: JobStore, goals: StagedGoals) -> np.ndarray | None:
    """Return the reference point of the hypervolume, the same for all runs of a job, in values of which less
    is better: what the front says, or the worst values of the first generation of the first run that has
    individuals at the front."""
    if goals.front is None:
        return None
    if goals.front.reference is not None:
        return goals.front_values(np.array(goals.front.reference))
    for run in store.runs():
        for number in store.generations(run):
            keys = store.read(run, number).keys
            if keys is not None and goals.at_front(keys).any():
                return np.asarray(keys[goals.at_front(keys), 1:].max(axis=0))
    return None
