"""`DesignTask`: what a search for a design is for, the same in all its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strut.optimal.solver.watch import SearchWatch
from strut.optimal.walk.costs import CostChoice
from strut.optimal.walk.goal_field import GoalValue
from strut.optimal.walk.own_limits import OwnLimits
from strut.optimal.walk.reference import ReferenceStep
from strut.system import System

ALONE_ITERATIONS = 200
"""Iterations of the solver at most, on a mesh, of a search for a cost of work alone: one that needs more
seldom ends, and from the optimum with a price on torque it is near."""

FreeParameters = Sequence[str] | Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class DesignTask:
    """What a search is for, the same in all its stages.

    walker: as it is planned for. free: parameters to be found, with or without bounds. cost: a name, one's
    own, or several with weights. reference: what to begin from. settings: of `solve`. watch: shows its
    stages, knows how long it may go on, and the best so far. own: requirements of one's own. in_stages:
    whether a goal that is too far for one search is come to in stages. is_beginning: whether only something
    to begin another search from is looked for, on a coarse mesh: it is neither widened nor verified. guides:
    defaults that only guide, by name, within which a step was found already.
    """

    walker: System
    free: FreeParameters
    cost: CostChoice
    reference: ReferenceStep
    settings: Mapping[str, Any]
    watch: SearchWatch
    own: OwnLimits = field(default_factory=OwnLimits)
    in_stages: bool = True
    is_beginning: bool = False
    guides: Mapping[str, GoalValue] = field(default_factory=dict)

    def to_begin_from(self, cost: CostChoice, watch: SearchWatch) -> DesignTask:
        """Return the task of finding what a search for another cost begins from."""
        coarse = {**self.settings, "accuracy": None, "cost_accuracy": None}
        return replace(self, cost=cost, settings=coarse, watch=watch, is_beginning=True)

    def briefly(self, share: float) -> DesignTask:
        """Return the same task with this part of the budget, few iterations, and without stages."""
        fewest = min(self.settings.get("iterations", ALONE_ITERATIONS), ALONE_ITERATIONS)
        return replace(
            self,
            settings={**self.settings, "iterations": fewest},
            watch=self.watch.with_share(share),
            in_stages=False,
        )


__all__ = ["DesignTask", "FreeParameters"]
