"""Costs of transport by name, as expressions of a walker: what it costs to move a weight a distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.transport import COST_MEANINGS, distance, weight
from strut.optimal.problem import Integral, Jumps
from strut.system import Packed, Param, System

MIN_IMPACT_ENERGY = 1e-12
"""Energy [J] added under the root of the impact norm, whose slope would be infinite where nothing is lost."""


Terms = tuple[ca.SX, tuple[Integral | Jumps, ...]]
"""An expression, and the integrals and sums over events that it is made of."""
CostFunction = Callable[[System, tuple[str, ...], ca.SX], Terms]
"""Of a system, the events that end its phases, and weight by distance [N m]: the terms of a cost."""


@dataclass(frozen=True, eq=False)
class Cost(Packed):
    """A cost to minimise, with the totals it is made of."""

    name: str
    expression: ca.SX
    totals: tuple[Integral | Jumps, ...]
    parts: tuple[Cost, ...] = ()

    @property
    def meaning(self) -> str:
        """What is meant by it, in words."""
        if self.parts:
            return (
                "; and ".join(f"{part.name}: {part.meaning}" for part in self.parts)
                + "; each times its weight"
            )
        return COST_MEANINGS[self.name]


@checked
def impact(system: System, event: str) -> ca.SX:
    """Return the energy that an event takes [J]: what is stored before less what is stored after. For an
    inelastic impact it is half the squared change of velocity in the metric of the masses."""
    stored = ca.vertcat(*system.ledger.stored.values(), ca.SX(0, 1))
    if not stored.numel():
        raise ModelError(
            f"system '{system.name}' keeps no account of energy: what an impact takes is unknown"
        )
    total = ca.sum1(stored)
    return total - system.after(event, total)


def _work(system: System) -> ca.SX:
    return (
        ca.sum1(ca.vertcat(*system.ledger.supplied.values(), ca.SX(0, 1)))
        if system.ledger.supplied
        else ca.SX(0)
    )


def _inclination(system: System) -> ca.SX:
    return ca.sin(system[system.walk.slope]) if system.walk is not None and system.walk.slope else ca.SX(0)


def _with_impact(
    system: System, events: tuple[str, ...], amount: Callable[[ca.SX], ca.SX], label: str
) -> Terms:
    work = Integral("work", _work(system))
    struck = Jumps(label, {event: amount(impact(system, event)) for event in dict.fromkeys(events)})
    return struck.sym + work.sym, (work, struck)


def _paper(system: System, events: tuple[str, ...], carried: ca.SX) -> Terms:
    spent, totals = _with_impact(system, events, lambda e: ca.sqrt(2 * e + MIN_IMPACT_ENERGY), "impact_norm")
    return _inclination(system) + spent / carried, totals


def _energy(system: System, events: tuple[str, ...], carried: ca.SX) -> Terms:
    spent, totals = _with_impact(system, events, lambda e: e, "impact_energy")
    return _inclination(system) + spent / carried, totals


def _split(split: str) -> CostFunction:
    def cost(system: System, events: tuple[str, ...], carried: ca.SX) -> Terms:
        totals = tuple(
            Integral(f"{split}_work_{name}", power, split=split)
            for name, power in system.ledger.supplied.items()
        )
        return sum((t.sym for t in totals), ca.SX(0)) / carried, totals

    return cost


def _squared_torque(system: System, events: tuple[str, ...], carried: ca.SX) -> Terms:
    u = ca.vertcat(*[q.sym for q in system.u], ca.SX(0, 1))
    effort = Integral("squared_torque", ca.dot(u, u) if u.numel() else ca.SX(0))
    return effort.sym / carried, (effort,)


def _per_metre(name: str) -> CostFunction:
    """Return a cost by name that is divided by the distance, not by weight and distance."""

    def cost(system: System, events: tuple[str, ...], carried: ca.SX) -> Terms:
        return COSTS[name](system, events, distance(system, events[-1]))

    return cost


def _none(system: System, events: tuple[str, ...], carried: ca.SX) -> Terms:
    return ca.SX(0), ()


COSTS: dict[str, CostFunction] = {
    "paper": _paper,
    "energy": _energy,
    "positive-work": _split("positive"),
    "absolute-work": _split("absolute"),
    "squared-torque": _squared_torque,
    "absolute-work-per-metre": _per_metre("absolute-work"),
    "squared-torque-per-metre": _per_metre("squared-torque"),
    "none": _none,
}
"""What `optimal` can minimise, of `gait.COST_MEANINGS`."""


def weight_name(cost: str) -> str:
    """Return the name of the parameter by which a cost counts in a sum of several."""
    return f"weight_{cost.replace('-', '_')}"


def add_weight_parameters(system: System, cost: str | Mapping[str, float]) -> System:
    """Return the system with a parameter for the weight of each cost, where there are several: it can be
    swept, and nothing is compiled anew."""
    if isinstance(cost, str):
        return system
    names = {q.name for q in system.p}
    for name, w in cost.items():
        _check_cost(name)
        if not (math.isfinite(w) and w >= 0):
            raise ValueRangeError(f"the weight of cost '{name}' is {w}: it must not be negative")
    more = [
        Param(weight_name(n), float(w), description=f"of the cost {n}")
        for n, w in cost.items()
        if weight_name(n) not in names
    ]
    return system.replace(p=(*system.p, *more)) if more else system


def without_weights(system: System) -> System:
    """Return the system without the parameters that `add_weight_parameters` gave it. How it moves does not
    depend on them, so what is compiled of it serves for every cost."""
    weights = {weight_name(name) for name in COSTS}
    others = tuple(q for q in system.p if q.name not in weights)
    return system if len(others) == len(system.p) else system.replace(p=others)


def _check_cost(name: str) -> None:
    if name not in COSTS:
        raise UnknownNameError(f"there is no cost '{name}': {did_you_mean(name, list(COSTS))}")


@checked
def cost_of_transport(system: System, name: str | Mapping[str, float], events: tuple[str, ...]) -> Cost:
    """Return a cost by name, for a motion whose phases end with these events; the distance is that of the
    last one. Several with weights are added, the system having their weights as parameters
    (`add_weight_parameters`)."""
    if not isinstance(name, str):
        parts = [cost_of_transport(system, each, events) for each in name]
        symbols = {q.name: q.sym for q in system.p}
        total = sum((symbols[weight_name(part.name)] * part.expression for part in parts), ca.SX(0))
        return Cost(
            " + ".join(part.name for part in parts),
            total,
            tuple(t for part in parts for t in part.totals),
            tuple(parts),
        )
    _check_cost(name)
    expression, totals = COSTS[name](system, events, weight(system) * distance(system, events[-1]))
    return Cost(name, expression, totals)


__all__ = ["COSTS", "Cost", "add_weight_parameters", "cost_of_transport", "impact", "without_weights"]
