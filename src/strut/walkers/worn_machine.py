"""What all machines that a human wears have in common: the ground, and the assistance of the trunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strut.contact import Ground, compliant, coulomb, hunt_crossley, rigid
from strut.errors import ModelError, did_you_mean
from strut.mechanism import Mechanism
from strut.system import Expression, Param, System
from strut.walkers.assistance import with_trunk
from strut.walkers.human import FALL_HEIGHT, GROUNDS, SEGMENTS, BodySize

SIDES = ("_r", "_l")
"""Endings of names of the right and the left leg."""
STABILISE = 100.0
"""[1/s] Rate at which drift of loops and feet is pulled back, by default."""
POINTS = ("heel", "ball")
"""Points of each foot by which it stands on the ground."""
GROUND_STIFFNESS = 1e6
"""[N/m^1.5] Stiffness of soft ground: 80 kg on one point sink in by 9 mm."""


def check_ground(ground: str, friction: Expression | None) -> None:
    """Raise ModelError for a ground that is neither 'rigid' nor 'soft', and for a coefficient of friction [1]
    that is given for soft ground."""
    if ground not in GROUNDS:
        raise ModelError(f"ground is '{ground}': {did_you_mean(ground, GROUNDS)}")
    if ground == "soft" and friction is not None:
        raise ModelError("friction is of rigid ground: on soft ground it is a parameter, friction=0.8")


def stand_on_ground(
    m: Mechanism,
    size: BodySize,
    *,
    ground: str,
    surface: Ground | None,
    friction: Expression | None,
    reactions: Sequence[str],
    stabilise: Expression,
    description: str,
) -> System:
    """Return a human in a machine that stands on heels and balls of its feet, its trunk assisted.

    size: of the human. ground, surface, friction, stabilise: as of `walkers.exoskeleton`. reactions: joints
    whose forces are outputs [N]. description: of the system.
    """
    feet = [f"{point}{side}" for side in SIDES for point in POINTS]
    common: dict[str, Any] = {
        "fall": ("trunk", FALL_HEIGHT * size.height.sym),
        "symmetry": "auto",
        "stabilise": stabilise,
        "reactions": reactions,
        "description": description,
    }
    if ground == "rigid":
        walker = rigid(m, feet, surface, friction=friction, **common)
    else:
        walker = compliant(m, feet, surface, **_soft_laws(), events=False, **common)
    _, length, centre, _ = SEGMENTS["trunk"]
    return with_trunk(walker, centre * length * size.height.sym)


def _soft_laws() -> dict[str, Any]:
    """The laws of contact of soft ground, with their parameters, as `contact.compliant` takes them: stiffer
    than the ground of `walkers.human`, whose weight is on more points."""
    stiffness = Param(
        "ground_stiffness", GROUND_STIFFNESS, "N/m^1.5", bounds=(1e3, 1e8), description="of soft ground"
    )
    dissipation = Param(
        "ground_dissipation", 0.7, "s/m", bounds=(0, 10), description="damping of soft ground"
    )
    mu = Param("friction", 0.8, bounds=(0, 5), description="Coulomb's coefficient")
    slow = Param(
        "friction_speed", 0.1, "m/s", bounds=(1e-6, 1), description="below which friction is smoothed"
    )
    return {"law": hunt_crossley(stiffness, dissipation, 1.5), "friction": coulomb(mu, slow)}


__all__ = ["POINTS", "SIDES", "STABILISE", "check_ground", "stand_on_ground"]
