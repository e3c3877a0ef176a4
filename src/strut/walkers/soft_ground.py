"""Ground that gives way, for humans in machines: without events, for populations and fixed steps."""

from __future__ import annotations

from typing import Any

from strut.contact import coulomb, hunt_crossley
from strut.system import Param

GROUND_STIFFNESS = 1e6
"""[N/m^1.5] Of soft ground: 80 kg on one point sink in by 9 mm."""


def soft_ground() -> dict[str, Any]:
    """Return the laws of contact of soft ground, with their parameters, as `contact.compliant` takes them:
    stiffer than the ground of `walkers.human`, whose weight is on more points."""
    stiffness = Param("ground_stiffness", GROUND_STIFFNESS, "N/m^1.5", bounds=(1e3, 1e8))
    dissipation = Param("ground_dissipation", 0.7, "s/m", bounds=(0, 10))
    mu = Param("friction", 0.8, bounds=(0, 5), description="Coulomb's coefficient")
    slow = Param(
        "friction_speed", 0.1, "m/s", bounds=(1e-6, 1), description="below which friction is smoothed"
    )
    return {"law": hunt_crossley(stiffness, dissipation, 1.5), "friction": coulomb(mu, slow)}


__all__ = ["soft_ground"]
