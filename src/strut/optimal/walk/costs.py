"""Costs of transport by name, as expressions of a walker: what it costs to move a weight a distance."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from strut.checks import checked, is_number
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait.transport import COST_MEANINGS, weight
from strut.optimal.totals import Initial, Integral, Jumps, MotionTotal
from strut.optimal.walk.own_cost import OwnCost, check_weight
from strut.optimal.walk.read_walk import lands_softly
from strut.optimal.walk.track import Track
from strut.optimal.walk.travel import distance_travelled
from strut.system import Expression, Packed, Param, System

MIN_IMPACT_ENERGY = 1e-12
"""Energy [J] added under the root of the impact norm, whose slope would be infinite where nothing is lost."""
COST_PART = "part: "
"""What the name of a number begins with that is one of several costs."""

Terms = tuple[ca.SX, tuple[MotionTotal, ...]]
"""An expression, and the integrals and sums over events that it is made of."""
CostFunction = Callable[[System, tuple[str | None, ...], ca.SX], Terms]
"""Of a system, the events that end its phases, and weight by distance [N m]: the terms of a cost."""
CostChoice = str | OwnCost | Track | Mapping[str, float | OwnCost | Track] | Expression
"""What can be minimised: a cost by name, one of one's own (also as an `Integral` or another expression), a
recording to track, or several of these by name, those that have one with their weights."""


@dataclass(frozen=True, eq=False)
class Cost(Packed):
    """A cost to minimise, with the totals it is made of."""

    name: str
    expression: ca.SX
    totals: tuple[MotionTotal, ...]
    parts: tuple[Cost, ...] = ()
    unit: str = ""
    words: str = ""

    @property
    def meaning(self) -> str:
        """What is meant by it, in words."""
        if self.words:
            return self.words
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
    system: System, events: tuple[str | None, ...], amount: Callable[[ca.SX], ca.SX], label: str
) -> Terms:
    feet = [] if system.walk is None else [system.walk.foot_of(event) for event in events if event]
    if any(foot is not None and lands_softly(system, foot) for foot in feet):
        raise ModelError(
            f"nothing is lost at once where '{system.name}' lands: its ground gives way, and the costs "
            f"'energy' and 'paper' count what impacts take; ask for 'positive-work', 'absolute-work' or "
            f"'squared-torque'"
        )
    work = Integral("work", _work(system))
    struck = Jumps(label, {event: amount(impact(system, event)) for event in dict.fromkeys(events) if event})
    return struck.sym + work.sym, (work, struck)


def _paper(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
    spent, totals = _with_impact(system, events, lambda e: ca.sqrt(2 * e + MIN_IMPACT_ENERGY), "impact_norm")
    return _inclination(system) + spent / carried, totals


def _energy(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
    spent, totals = _with_impact(system, events, lambda e: e, "impact_energy")
    return _inclination(system) + spent / carried, totals


def _split(split: str) -> CostFunction:
    def cost(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
        totals = tuple(
            Integral(f"{split}_work_{name}", power, split=split)
            for name, power in system.ledger.supplied.items()
        )
        return sum((t.sym for t in totals), ca.SX(0)) / carried, totals

    return cost


def _electrical(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
    powers = [system.ledger.supplied[name] for name in system.ledger.electrical]
    if not powers:
        raise ModelError(
            f"'{system.name}' draws no electrical power that its ledger knows of: put motors to it, "
            f"actuator.dc_motors(...), or name the powers, Ledger(..., electrical=(...)); of torques ask for "
            f"'positive-work'"
        )
    drawn = Integral("electrical_energy", sum(powers, ca.SX(0)), split="positive")
    return drawn.sym / carried, (drawn,)


def _squared_torque(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
    volts = next((q.name for q in system.u if q.unit == "V"), None)
    if volts is not None:
        raise ModelError(
            f"input '{volts}' of '{system.name}' is a voltage: squared torques are of machines that torques "
            f"drive; ask for 'electrical', or for a cost of your own"
        )
    u = ca.vertcat(*[q.sym for q in system.u], ca.SX(0, 1))
    effort = Integral("squared_torque", ca.dot(u, u) if u.numel() else ca.SX(0))
    return effort.sym / carried, (effort,)


def _per_metre(name: str) -> CostFunction:
    """Return a cost by name that is divided by the distance, not by weight and distance."""

    def cost(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
        return COSTS[name](system, events, distance_travelled(system, events))

    return cost


def _none(system: System, events: tuple[str | None, ...], carried: ca.SX) -> Terms:
    return ca.SX(0), ()


COSTS: dict[str, CostFunction] = {
    "paper": _paper,
    "energy": _energy,
    "positive-work": _split("positive"),
    "absolute-work": _split("absolute"),
    "electrical": _electrical,
    "squared-torque": _squared_torque,
    "absolute-work-per-metre": _per_metre("absolute-work"),
    "squared-torque-per-metre": _per_metre("squared-torque"),
    "none": _none,
}
"""What `optimal` can minimise, of `gait.COST_MEANINGS`."""


def weight_name(cost: str) -> str:
    """Return the name of the parameter by which a cost counts in a sum of several."""
    return "weight_" + re.sub(r"\W", "_", cost)


def add_weight_parameters(system: System, cost: CostChoice) -> System:
    """Return the system with the parameters that a cost needs: the weight of each of several, which can be
    swept, and nothing is compiled anew; and what recordings are stretched to. Raises what is wrong with a
    cost for this system."""
    parts, more = cost_parts(cost), list[Param]()
    for name, part in parts.items():
        if isinstance(part, str):
            _check_cost(part)
            continue
        needed = [] if isinstance(part, float) else [*part.parameters()]
        if isinstance(part, float):
            _check_cost(name)
            check_weight(name, part)
        if isinstance(cost, Mapping):
            size = part if isinstance(part, float) else part.weight
            needed.append(Param(weight_name(name), size, description=f"of the cost {name}"))
        more += [q for q in needed if q.name not in {each.name for each in (*system.p, *more)}]
    ready = system.replace(p=(*system.p, *more)) if more else system
    for part in parts.values():
        if not isinstance(part, (str, float)):
            part.check(ready)
    return ready


def cost_parts(cost: CostChoice) -> dict[str, str | float | OwnCost | Track]:
    """Return the parts of a cost by name: of one cost its name, or itself where it is one's own; of several,
    the weights of those with names, and those of one's own."""
    if isinstance(cost, str):
        return {cost: cost}
    if not isinstance(cost, Mapping):
        own = cost if isinstance(cost, (OwnCost, Track)) else OwnCost(cost)
        return {own.name: own}
    if not cost:
        raise ModelError("the dict of costs is empty: give {'squared-torque': 1.0}, or cost='none'")
    parts: dict[str, str | float | OwnCost | Track] = {}
    for name, part in cost.items():
        own_part = isinstance(part, (OwnCost, Track))
        if not own_part and not is_number(part):
            raise ModelError(
                f"cost '{name}' is {part!r}: give the weight of a cost by name, optimal.OwnCost(expression, "
                "weight=...) or optimal.track(file, weight=...)"
            )
        parts[name] = part.with_name(name) if isinstance(part, (OwnCost, Track)) else float(part)
    return parts


def cost_identity(system: System, cost: CostChoice) -> Any:
    """Return what makes a cost this one, for a system that has its parameters: plain data that is equal in
    every process."""
    if isinstance(cost, str):
        return cost
    parts = cost_parts(cost)
    return {
        name: part if isinstance(part, (str, float)) else part.identity(system)
        for name, part in parts.items()
    }


def cost_units(cost: CostChoice) -> dict[str, str]:
    """Return the units of the numbers of a design that are costs of one's own, by their names there."""
    own = {n: part for n, part in cost_parts(cost).items() if isinstance(part, (OwnCost, Track))}
    if not isinstance(cost, Mapping):
        return dict.fromkeys(["cost"] if own else [], next((p.unit for p in own.values()), ""))
    return {f"{COST_PART}{name}": part.unit for name, part in own.items()}


def without_weights(system: System) -> System:
    """Return the system without the parameters that `add_weight_parameters` gave it. How it moves does not
    depend on them, so what is compiled of it serves for every cost."""
    weights = {weight_name(name) for name in COSTS}
    others = tuple(q for q in system.p if q.name not in weights)
    return system if len(others) == len(system.p) else system.replace(p=others)


def _check_cost(name: str) -> None:
    if name not in COSTS:
        raise UnknownNameError(
            f"there is no cost '{name}': {did_you_mean(name, list(COSTS))}; one of your own is "
            "optimal.OwnCost(expression)"
        )


@checked
def cost_of_transport(system: System, name: CostChoice, events: tuple[str | None, ...]) -> Cost:
    """Return a cost, by name or of one's own, for a motion whose phases end with these events (None: by
    time); the distance is that of all its steps. Several with weights are added, the system having their
    weights as parameters (`add_weight_parameters`)."""
    parts, symbols = list[Cost](), {q.name: q.sym for q in system.p}
    for label, part in cost_parts(name).items():
        if isinstance(part, (str, float)):
            _check_cost(label)
            expression, totals = COSTS[label](
                system, events, weight(system) * distance_travelled(system, events)
            )
            cost = Cost(label, expression, totals)
        else:
            expression, totals = part.terms(system)
            cost = Cost(label, expression, totals, unit=part.unit, words=part.meaning)
            if not isinstance(name, Mapping):
                cost = replace(cost, expression=part.weight * expression)
        names_in_use = {total.name for other in parts for total in other.totals}
        parts.append(rename_totals(cost, names_in_use))
    if not isinstance(name, Mapping):
        return parts[0]
    total = sum((symbols[weight_name(part.name)] * part.expression for part in parts), ca.SX(0))
    return Cost(
        " + ".join(part.name for part in parts),
        total,
        tuple(t for part in parts for t in part.totals),
        tuple(parts),
    )


def rename_totals(cost: Cost, names_in_use: Collection[str]) -> Cost:
    """Return a cost whose integrals and sums have other names than those in use: 'energy' and 'paper'
    both integrate 'work'."""
    expression, totals = cost.expression, list[MotionTotal]()
    for total in cost.totals:
        label = total.name
        if isinstance(total, Initial):  # one symbol for each state
            totals.append(total)
            continue
        while label in {*names_in_use, *[each.name for each in totals]}:
            label = re.sub(r"\W", "_", f"{cost.name}_{label}")
        if label != total.name:
            other = (
                Integral(label, total.rate, total.split, total.phase)
                if isinstance(total, Integral)
                else Jumps(label, total.amount, total.event)
            )
            expression = ca.substitute([expression], [total.sym], [other.sym])[0]
            total = other
        totals.append(total)
    return replace(cost, expression=expression, totals=tuple(totals))


__all__ = [
    "COSTS",
    "Cost",
    "CostChoice",
    "add_weight_parameters",
    "cost_identity",
    "cost_of_transport",
    "impact",
    "without_weights",
]
