"""`LostShares`: what of a generation waits for a worker, and how often each individual has lost one."""

from __future__ import annotations

import numpy as np

from strut.evolve.evaluations.evaluation import Evaluated

MAX_LOSSES = 5
"""How many workers an individual may lose, alone, before it counts as what killed them."""


class LostShares:
    """Places of a generation that wait. A share whose worker was lost comes back one by one, so that one
    individual that kills its worker is told from its neighbours.

    whole: the generation cannot be divided, and is one share.
    """

    def __init__(self, places: np.ndarray, *, whole: bool = False) -> None:
        self._fresh = places
        self._alone: list[int] = []
        self._losses: dict[int, int] = {}
        self._whole = whole

    @property
    def backlog(self) -> int:
        """How many individuals wait."""
        return len(self._fresh) + len(self._alone)

    @property
    def next_is_suspect(self) -> bool:
        """Whether the next share is one individual that lost its worker twice: where workers fall together,
        it should be evaluated while no other is."""
        return bool(self._alone) and self._losses.get(self._alone[0], 0) >= 2

    def take(self, count: int) -> np.ndarray:
        """Return the places of the next share of so many."""
        if self._alone:
            return np.array([self._alone.pop(0)])
        count = len(self._fresh) if self._whole else count
        share, self._fresh = self._fresh[:count], self._fresh[count:]
        return share

    def put_back(self, places: np.ndarray) -> None:
        """Take back a share that nobody began, as its machine was gone before, or that is tried again."""
        if self._whole:
            self._fresh = places
        else:
            self._alone += places.tolist()

    def give_back(self, places: np.ndarray, width: int) -> Evaluated | None:
        """Take back a share whose worker was lost. Return its failure, of `width` measures, where that
        happened too often; else it waits again, and None is returned."""
        for place in places.tolist():
            self._losses[place] = self._losses.get(place, 0) + 1
        if (len(places) == 1 or self._whole) and self._losses[int(places[0])] >= MAX_LOSSES:
            reason = f"its worker was lost {MAX_LOSSES} times: the evaluation ends the process"
            return Evaluated(np.full((len(places), width), np.nan), (reason,) * len(places))
        self.put_back(places)
        return None
