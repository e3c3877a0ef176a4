"""Domains of physics: which effort and which flow make a power, and in which units."""

from __future__ import annotations

from dataclasses import dataclass

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.ports.dimensions import dimensions


@dataclass(frozen=True)
class Domain:
    """A domain of physics: effort times flow is power [W].

    effort, flow: what they are called. effort_unit, flow_unit: in SI; empty where a vector's components have
    several. momentum_unit, displacement_unit: of their integrals over time. has_momentum: whether anything
    stores the integral of effort; heat does not. size: components of a bond unless an element says another.
    """

    name: str
    effort: str
    flow: str
    effort_unit: str
    flow_unit: str
    momentum_unit: str
    displacement_unit: str
    has_momentum: bool = True
    size: int = 1

    def check_unit(self, unit: str, what: str, role: str) -> None:
        """Raise ModelError where a unit is not that of a `role` here: 'inertia' (effort s / flow),
        'stiffness' (effort / displacement), 'capacity', 'resistance' (effort / flow), 'conductance', 'effort'
        or 'flow'. An empty unit, or one of a domain of several units, is not checked."""
        if unit and self.effort_unit:
            effort, flow, displacement = self.effort_unit, self.flow_unit, self.displacement_unit
            dividends = {
                "inertia": (self.momentum_unit, flow),
                "stiffness": (effort, displacement),
                "capacity": (displacement, effort),
                "resistance": (effort, flow),
                "conductance": (flow, effort),
                "effort": (effort, ""),
                "flow": (flow, ""),
            }
            check_ratio(unit, *dividends[role], what)


def check_ratio(unit: str, above: str, below: str, what: str) -> None:
    """Raise ModelError where `unit` is not that of `above` divided by `below`."""
    try:
        own = dimensions(unit)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from error
    top, bottom = dimensions(above), dimensions(below)
    if tuple(o + b for o, b in zip(own, bottom, strict=True)) != top:
        needed = f"({above})/({below})" if below else above
        raise ModelError(f"{what} is in {unit}: a quantity in {needed} is needed here")


DOMAINS = {
    domain.name: domain
    for domain in (
        Domain("translation", "force", "velocity", "N", "m/s", "N s", "m"),
        Domain("rotation", "torque", "angular velocity", "N m", "rad/s", "N m s", "rad"),
        Domain("spatial", "wrench", "twist", "", "", "", "", size=6),
        Domain("electrical", "voltage", "current", "V", "A", "V s", "A s"),
        Domain("magnetic", "magnetomotive force", "flux rate", "A", "V", "A s", "V s", has_momentum=False),
        Domain("hydraulic", "pressure", "volume flow", "Pa", "m^3/s", "Pa s", "m^3"),
        Domain("thermal", "temperature", "entropy flow", "K", "W/K", "K s", "J/K", has_momentum=False),
    )
}
"""Domains by name. The units of wrench and twist differ between their components, so they are not checked."""


def find_domain(domain: str | Domain, where: str) -> Domain:
    """Return a domain by its name; an error begins with `where`."""
    if isinstance(domain, Domain):
        return domain
    if domain not in DOMAINS:
        raise UnknownNameError(f"{where}: domain '{domain}': {did_you_mean(domain, list(DOMAINS))}")
    return DOMAINS[domain]
