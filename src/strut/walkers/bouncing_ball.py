"""The bouncing ball: events with a closed form, and infinitely many of them in finite time."""

from __future__ import annotations

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.system import Discrete, Event, Ledger, Param, Scene, State, System, ball, slope_floor


@checked
def bouncing_ball(**values: float) -> System:
    """A ball falling on a floor at height 0; every bounce returns the fraction `restitution` of its speed."""
    height = State("height", 1.0, "m")
    velocity = State("velocity", 0.0, "m/s")
    bounces = Discrete("bounces", 0)
    mass = Param("mass", 1.0, "kg", bounds=(0, 1e6), description="of the ball")
    restitution = Param(
        "restitution", 0.8, bounds=(0, 1), description="speed after a bounce over that before"
    )
    g = Param("g", 9.81, "m/s^2", description="gravity")

    bounce = Event(
        "bounce",
        guard=height,
        direction="down",
        reset={velocity: -restitution * velocity, bounces: bounces + 1},
        loss={"bounce": (1 - restitution**2) * mass * velocity**2 / 2},
    )
    return System(
        "bouncing_ball",
        x=(height, velocity),
        z=(bounces,),
        p=(mass, restitution, g),
        flow={height: velocity, velocity: -g},
        events=(bounce,),
        ledger=Ledger(stored={"kinetic": mass * velocity**2 / 2, "gravity": mass * g * height}),
        scene=Scene((ball("ball", (0, height + 0.05), 0.05),), floor=slope_floor(0)),
        description=SYSTEM_DESCRIPTIONS["bouncing-ball"],
    ).using(values)
