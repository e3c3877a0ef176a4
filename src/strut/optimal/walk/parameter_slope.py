"""`ParameterSlope`: what a unit more of a parameter of the machine would cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from strut.checks import checked
from strut.optimal.solver.bound_multipliers import EFFECT_FLOOR
from strut.optimal.solver.result import Solution
from strut.optimal.walk.active_limits import UNIT_NAMES


@checked
@dataclass(frozen=True)
class ParameterSlope:
    """How the least cost depends on a parameter that is not free.

    name, value, unit: of the parameter. slope: by how much the cost grows for each unit of it, everything
    else about the walk found anew.
    """

    name: str
    value: float
    unit: str
    slope: float

    @property
    def effect(self) -> float:
        """By how much the cost would change if the parameter changed by its own size, or, of one that is 0,
        by 1."""
        return abs(self.slope) * (abs(self.value) or 1.0)

    @property
    def sentence(self) -> str:
        """What a unit more would cost or save."""
        one = UNIT_NAMES.get(self.unit, f"1 {self.unit}".rstrip())
        word = "cost" if self.slope > 0 else "save"
        return f"{one} more of {self.name} would {word} {abs(self.slope):.3g}, at this rate"

    def data(self) -> dict[str, Any]:
        """Return for JSON: its fields, and its sentence."""
        return {**asdict(self), "sentence": self.sentence}


def no_slopes_reason(solution: Solution) -> str:
    """Return why nothing is said of what parameters cost, in words, where `find_parameter_slopes` returns
    nothing."""
    if not solution.success or solution.is_interrupted:
        return "what parameters cost is known of an optimum, and the search ended without one"
    if solution.optimum is None:
        return (
            "what parameters cost is read from multipliers, which are not known of a motion that was made "
            "stable: ask without stability"
        )
    names = [name for name in solution.problem.system.labels("p") if name not in solution.parameters]
    if not names:
        return "every parameter is free: none is left whose cost could be said"
    return f"none of the {len(names)} parameters that stay changes the cost"


def find_parameter_slopes(solution: Solution) -> tuple[ParameterSlope, ...]:
    """Return what every parameter that is not free costs, those that matter most first; none where the
    search failed, or ended with a motion whose multipliers are not known."""
    if not solution.success or solution.optimum is None:
        return ()
    system = solution.problem.system
    units = [q.unit for q in system.p for _ in range(q.size)]
    values = np.concatenate([np.ravel(q.value) for q in system.p] or [np.empty(0)])
    slopes = [
        ParameterSlope(
            name=name,
            value=float(value),
            unit="" if system.dimensionless else unit,
            slope=solution.cost_slopes[name],
        )
        for name, value, unit in zip(system.labels("p"), values, units, strict=True)
        if name in solution.cost_slopes
    ]
    effective = [each for each in slopes if each.effect >= EFFECT_FLOOR * solution.cost_scale]
    return tuple(sorted(effective, key=lambda each: -each.effect))


__all__ = ["ParameterSlope", "find_parameter_slopes", "no_slopes_reason"]
