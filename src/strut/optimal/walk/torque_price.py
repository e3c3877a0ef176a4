"""`TorquePrice`: a little squared torque beside a cost of work, where that alone has no optimum to be found.

Work has no price on torque: with enough motors there are steps that cost next to nothing, ever shorter ones
with ever larger torques, and which of them a solver reports is chance. A price on squared torque (Tikhonov
regularisation) makes one of them the best. It is lowered in stages, and what is left of it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strut.checks import checked
from strut.gait.transport import weight_of
from strut.optimal.walk.active_limits import ActiveLimit
from strut.optimal.walk.costs import CostChoice
from strut.optimal.walk.reference import ReferenceStep
from strut.system import System

PRICED_WITH = {
    "paper": "squared-torque",
    "energy": "squared-torque",
    "positive-work": "squared-torque",
    "absolute-work": "squared-torque",
    "absolute-work-per-metre": "squared-torque-per-metre",
}
"""Costs in which torques themselves cost nothing, and the cost that is put beside each."""
PRICE_STAGES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""Prices that are tried, one after the other, each from the solution of the last: what it costs to hold a
torque of weight by step length all along, as a cost of transport."""
MAX_PRICE = 1000.0
"""The highest price, as above, that is tried where the first of these leads to nothing."""
NEVER_NEGATIVE = {"positive-work", "absolute-work", "absolute-work-per-metre"}
"""Costs that no motion has less than zero of."""
NO_WORK = 1e-6
"""Work over weight and distance up to which a motion is taken to need none."""


@checked
@dataclass(frozen=True)
class TorquePrice(ActiveLimit):
    """Squared torque beside a cost of work: a default that decides the answer. value: its weight in the cost.
    slope: the squared torque. work: what is left of the work, over weight and distance; of a cost that may
    be negative, None."""

    cost: str = ""
    work: float | None = None

    @property
    def is_free_of_work(self) -> bool:
        """Whether the motion needs no work: no lower price leads to less of it."""
        return self.work is not None and self.work <= NO_WORK

    @property
    def sentence(self) -> str:
        """What stands beside the cost, and why."""
        beside = f"{self.value:.3g} of {self.name} stands beside {self.cost} ({self.source})"
        if self.is_free_of_work:
            return f"{beside}: it chooses among motions that need no work, less than which none can need"
        return (
            f"{beside}: of that alone no design was found that is ok; "
            f"of the cost it is {self.value * self.slope:.3g}"
        )


def priced_cost(cost: str, price: float) -> dict[str, float]:
    """Return a cost of work with squared torque beside it, as `design` takes it."""
    return {cost: 1.0, PRICED_WITH[cost]: price}


def price_unit(walker: System, reference: ReferenceStep) -> float | None:
    """Return the weight of squared torque by which a torque of weight by usual step length, held all along a
    step of usual duration, costs a cost of transport of 1 [1/(N m s)]; None where nothing is usual."""
    length, period = reference.step_length, reference.period
    if length is None or period is None or not length > 0 or not period > 0:
        return None
    return 1.0 / (weight_of(walker) * length * period)


def can_be_priced(walker: System, cost: CostChoice) -> bool:
    """Return whether a cost is one of work alone, and the walker has motors."""
    return bool(walker.u) and isinstance(cost, str) and cost in PRICED_WITH


def torque_price(cost: str, price: float, parts: Mapping[str, float], weight: float) -> TorquePrice:
    """Return the price as a default that decides. parts: what each part of the cost comes to. weight: of the
    walker [N]."""
    beside = PRICED_WITH[cost]
    scale = weight if cost.endswith("per-metre") else 1.0
    return TorquePrice(
        name=beside.replace("-", " "),
        side="equal",
        value=price,
        unit="",
        source="default",
        slope=parts[beside],
        cost=cost,
        work=parts[cost] / scale if cost in NEVER_NEGATIVE else None,
    )


__all__ = [
    "MAX_PRICE",
    "PRICED_WITH",
    "PRICE_STAGES",
    "TorquePrice",
    "can_be_priced",
    "price_unit",
    "priced_cost",
    "torque_price",
]
