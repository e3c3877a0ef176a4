"""Van der Pol's oscillator: a limit cycle, gentle or stiff by one number."""

from __future__ import annotations

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.system import Param, State, System


@checked
def van_der_pol(**values: float) -> System:
    """x'' = mu (1 - x^2) x' - x. With mu = 5 (Kieboom, model 2.12) its period is 11.61223 s."""
    position = State("position", 1.0)
    velocity = State("velocity", 0.0)
    mu = Param("mu", 5.0, bounds=(0, 1e9), description="strength of the nonlinear damping; stiff when large")
    return System(
        "van_der_pol",
        x=(position, velocity),
        p=(mu,),
        flow={position: velocity, velocity: mu * (1 - position**2) * velocity - position},
        description=SYSTEM_DESCRIPTIONS["van-der-pol"],
    ).using(values)
