"""`ActiveLimit`: a limit that decides the answer, asked or not, and what moving it would change.

What it would save is its Lagrange multiplier, summed over the places of the mesh at which it presses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.optimal.problem import Problem, bounds_name
from strut.optimal.solver.bound_multipliers import ACTIVE_EFFECT, EFFECT_FLOOR, BoundMultipliers
from strut.optimal.solver.limit_units import unit_of
from strut.optimal.solver.result import Solution
from strut.optimal.walk.goal_field import as_number
from strut.optimal.walk.hold_feet import friction_limit
from strut.optimal.walk.step_limits import StepLimits
from strut.system import System, time

UNIT_NAMES = {
    "m": "a metre",
    "m/s": "a metre per second",
    "s": "a second",
    "N": "a newton",
    "N m": "a newton metre",
    "N m/rad": "a newton metre per radian",
    "N/m": "a newton per metre",
    "rad": "a radian",
    "rad/s": "a radian per second",
    "m/s^2": "a metre per second squared",
    "kg": "a kilogram",
}
"""One of a unit, in words; of others, '1 UNIT'."""
KEPT_ALWAYS = "which every such motion keeps"
"""What is said of a limit of the source 'step'."""
SIDE_WORDS = {"low": "at least", "high": "at most", "equal": "exactly"}
"""What a limit asks, in words."""


@checked
@dataclass(frozen=True)
class ActiveLimit:
    """A limit that decides the answer.

    name: of what was asked of a step ('step length'), of a requirement, or 'bounds of NAME' of a state, input
        or parameter.
    side: 'low', 'high', or 'equal' where one value is allowed. value: the limit. unit: its.
    source: 'asked'; 'default', what nobody asked; 'model', bounds of the machine; or 'step', what any step
        must keep.
    slope: by how much the cost grows for each unit by which the limit is moved up.
    field: of `StepGoal`, where it is one.
    decides: whether moving it by its size would change the cost by 1e-4 of it or more. A default that only
        guides the search is named also where it is merely touched, as by a torque that peaks for an instant.
    """

    name: str
    side: str
    value: float
    unit: str
    source: str
    slope: float
    field: str = ""
    decides: bool = True

    @property
    def sentence(self) -> str:
        """What it asks, of whom, and what would be saved by moving it."""
        unit = f" {self.unit}" if self.unit else ""
        one = UNIT_NAMES.get(self.unit, f"1{unit}")
        less = self.side == "low" or (self.side == "equal" and self.slope > 0)
        hardly = "" if self.decides else "it is touched and hardly matters, "
        bound = f"{SIDE_WORDS[self.side]} {self.value:.4g}{unit}"
        # What every step keeps is named by a clause, 'the swing foot is above the ground', or by a noun.
        clause = f", {bound}, {KEPT_ALWAYS}" if self.source == "step" else f" is {bound} ({self.source})"
        return (
            f"{self.name}{clause}: {hardly}{one} "
            f"{'less' if less else 'more'} would save {abs(self.slope):.3g}, at this rate"
        )

    def data(self) -> dict[str, Any]:
        """Return for JSON: its fields, and its sentence."""
        return {**asdict(self), "sentence": self.sentence}


def find_active_limits(solution: Solution, limits: StepLimits) -> tuple[ActiveLimit, ...]:
    """Return all limits that decide a solution, and defaults that only guide where they are touched at all,
    those that matter most first; none where it failed."""
    if not solution.success:
        return ()
    problem, asked = solution.problem, limits.goal.asked_values()
    groups = {group.name: group for group in solution.multipliers}
    active: list[ActiveLimit] = []
    for name, (requirements, inputs) in added_by_fields(problem, limits).items():
        of_model = name == "friction" and friction_limit(problem.system) is not None
        source = "asked" if name in asked else "model" if of_model else "default"
        common = {"unit": limits.fields[name].unit, "source": source, "field": name}
        touched = limits.is_guide(name)
        inside = [r for r in requirements if _has_limit_inside(problem, r)]
        if inside:
            active += _limit_inside(solution, name, as_number(limits[name] or 0.0), inside, common)
        for label in inputs:
            if _bounds_are(groups.get(bounds_name(label)), limits.own.within.get(label)):
                continue  # one's own bounds are narrower
            if group := groups.pop(bounds_name(label), None):
                size = {**common, "name": f"{name} of {label}"}
                active += _limit_of_size(solution, group, size, touched=touched)
        for each in requirements:
            group = groups.pop(each, None)
            if group is not None and each not in inside:
                display_name = name.replace("_", " ") if len(requirements) == 1 else each
                display = {**common, "name": display_name}
                active += _limits_of(solution, group, display, touched=touched)
    units = {
        **{r.name: r.unit for r in problem.requirements},
        **{bounds_name(label): unit for label, unit in _units(problem.system).items()},
    }
    own = {bounds_name(q.name): q.bounds for q in problem.system.p}
    own_limits = {each.name for each in limits.own.require} | {
        bounds_name(label) for label in limits.own.within
    }
    for each, group in groups.items():
        chosen = problem.parameters.get(each.removeprefix(bounds_name("")))
        source = "model" if each in units and each.startswith(bounds_name("")) else "step"
        if each in own_limits or (each in own and chosen is not None and chosen != own[each]):
            source = "asked"
        active += _limits_of(
            solution,
            group,
            {"name": each, "unit": units.get(each) or unit_of(problem, each), "source": source},
        )
    if problem.system.dimensionless:
        active = [replace(each, unit="") for each in active]
    return tuple(sorted(active, key=lambda each: -abs(each.slope) * (abs(each.value) or 1.0)))


def added_by_fields(problem: Problem, limits: StepLimits) -> dict[str, tuple[list[str], list[str]]]:
    """Return what each field of the goal puts on a problem: names of requirements, and inputs that it
    bounds."""
    bare = replace(problem, requirements=(), limits={})
    added = {name: limits.require(bare, name) for name in limits.fields}
    return {
        name: (list(dict.fromkeys(r.name for r in each.requirements)), list(each.limits))
        for name, each in added.items()
    }


def _bounds_are(group: BoundMultipliers | None, pair: tuple[float, float] | None) -> bool:
    """Return whether the bounds of something are these, wherever it has some."""
    if group is None or pair is None:
        return False
    return bool(np.isin(group.low, [pair[0], -np.inf]).all() and np.isin(group.high, [pair[1], np.inf]).all())


def _units(system: System) -> dict[str, str]:
    """Return the unit of every component of states and inputs, and of every parameter."""
    units = {q.name: q.unit for q in system.p}
    for group in "xu":
        quantities = [q for q in getattr(system, group) for _ in range(q.size)]
        units |= {label: q.unit for label, q in zip(system.labels(group), quantities, strict=True)}
    return units


def _limits_of(
    solution: Solution, group: BoundMultipliers, common: Mapping[str, Any], *, touched: bool = False
) -> list[ActiveLimit]:
    """Return the active sides of a limit that is the bound of something; those that are merely `touched`,
    too, where that is asked."""
    active = group.active_sides(solution.cost, solution.cost_scale)
    return [
        ActiveLimit(
            side=side,
            value=group.bound(side),
            slope=group.slope(side),
            decides=side in active,
            **common,
        )
        for side in (group.touched_sides() if touched else active)
    ]


def _limit_of_size(
    solution: Solution, group: BoundMultipliers, common: Mapping[str, Any], *, touched: bool
) -> list[ActiveLimit]:
    """Return a limit on the size of something, where it is active, or where it is `touched`: both of its
    sides at once."""
    active = group.active_sides(solution.cost, solution.cost_scale)
    sides = active or (group.touched_sides() if touched else [])
    if not sides:
        return []
    slope = group.slope("high") - group.slope("low")
    value = abs(group.bound(sides[0]))
    return [ActiveLimit(side="high", value=value, slope=slope, decides=bool(active), **common)]


def _has_limit_inside(problem: Problem, name: str) -> bool:
    return any(r.name == name and r.per_limit is not None for r in problem.requirements)


def _limit_inside(
    solution: Solution, name: str, value: float, requirements: list[str], common: Mapping[str, Any]
) -> list[ActiveLimit]:
    """Return a limit that stands inside of expressions, such as a coefficient of friction, where it is
    active: the multipliers of all of them, each by the derivative of its expression by the limit."""
    groups = [group for group in solution.multipliers if group.name in requirements]
    if not any(group.active_sides(solution.cost, solution.cost_scale) for group in groups):
        return []
    slope = sum(_slope_inside(solution, group) for group in groups)
    if abs(slope * value) < max(ACTIVE_EFFECT * abs(solution.cost), EFFECT_FLOOR * solution.cost_scale):
        return []
    return [ActiveLimit(name=name, side="high", value=value, slope=slope, **common)]


def _slope_inside(solution: Solution, group: BoundMultipliers) -> float:
    """Return the sum, over all places, of multiplier by derivative of the expression by its limit."""
    slope = 0.0
    for k, m in enumerate(solution.phases):
        here = group.phase == k
        r = (
            next(
                r for r in solution.problem.requirements if r.name == group.name and r.phase in (None, m.name)
            )
            if here.any()
            else None
        )
        if r is None or r.per_limit is None:
            continue
        f = ca.Function("per_limit", [time, *solution.problem.system.vectors()], [r.per_limit])
        t = m.t[0] + m.duration * group.place[here]
        still = [np.repeat(part[:, None], len(t), axis=1) for part in (m.z, solution.p)]
        factors = np.array(f(t[None], m.states(t).T, still[0], m.inputs(t).T, still[1])).reshape(-1)
        slope += float(group.multiplier[here] @ factors)
    return slope


__all__ = ["ActiveLimit", "find_active_limits"]
