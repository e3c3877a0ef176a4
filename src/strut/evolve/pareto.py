"""`ParetoFront`: the individuals of which none is better than another in all goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from strut.evolve.individual import Individual
from strut.tabular import Tabular


@dataclass(frozen=True, eq=False)
class ParetoFront(Tabular):
    """What can be had of several goals at once: to be better in one, another must get worse.

    individuals: in the order of the first goal, best first. goals: the value of each goal by what it says,
    such as 'minimise cost'. hypervolume: how much of the space of goals they dominate, up to `reference`, in
    the product of the goals' units.
    """

    individuals: tuple[Individual, ...]
    goals: Mapping[str, np.ndarray]
    hypervolume: float
    reference: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.individuals)

    def columns(self) -> dict[str, np.ndarray]:
        """Return goals, parameters and measures, a row for each individual; a parameter that one does not
        have is nan."""
        names = list(dict.fromkeys(name for each in self.individuals for name in each.parameters))
        columns = dict(self.goals)
        columns |= {
            name: np.array([each.parameters.get(name, np.nan) for each in self.individuals]) for name in names
        }
        measures = self.individuals[0].measures
        columns |= {name: np.array([each.measures[name] for each in self.individuals]) for name in measures}
        return columns

    def __repr__(self) -> str:
        what = " and ".join(self.goals)
        return f"<ParetoFront of {len(self)} individuals: {what}, hypervolume {self.hypervolume:.6g}>"
