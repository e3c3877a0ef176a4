"""The spring-loaded inverted pendulum: how animals run, in five numbers (Kieboom, section 2.4, model
2.15)."""

from __future__ import annotations

import math

import casadi as ca

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.system import (
    Discrete,
    Event,
    Foot,
    Ledger,
    Param,
    Scene,
    State,
    System,
    Walk,
    ball,
    place,
    rod,
    slope_floor,
)


@checked
def slip(**values: float) -> System:
    """A point mass on a massless spring leg that is set to a fixed angle of attack before every landing.

    The run ends with 'fell' when the mass reaches the ground, and with 'finished' after `max_steps` steps.
    """
    mass = Param("mass", 80.0, "kg", bounds=(1e-9, 1e6), description="of the body, a point")
    length = Param("length", 1.0, "m", bounds=(1e-9, 1e6), description="of the leg at rest")
    stiffness = Param("stiffness", 20e3, "N/m", bounds=(0, 1e12), description="of the leg")
    attack = Param(
        "attack",
        math.radians(68),
        "rad",
        bounds=(0, math.pi / 2),
        description="angle of the leg from the ground at landing",
    )
    g = Param("g", 9.81, "m/s^2", description="gravity")
    max_steps = Param("max_steps", 24, bounds=(1, 1e9), description="after which it ends")

    x = State("x", 0.0, "m")
    y = State("y", length, "m", description="height of the mass")
    vx = State("vx", 5.0, "m/s")
    vy = State("vy", 0.0, "m/s")
    stance = Discrete("stance", 0, description="1 while the foot is on the ground", internal=True)
    foot = Discrete("foot", 0.0, "m", description="where the foot stands, or last stood")
    steps = Discrete("steps", 0, internal=True)

    leg = ca.hypot(x - foot, y)
    force = stance * stiffness * (length - leg)
    landing_height = length * ca.sin(attack)
    toe = (
        ca.if_else(stance > 0, foot, x + length * ca.cos(attack)),
        ca.if_else(stance > 0, 0, y - landing_height),
    )
    return System(
        "slip",
        x=(x, y, vx, vy),
        z=(stance, foot, steps),
        p=(mass, length, stiffness, attack, g, max_steps),
        flow={x: vx, y: vy, vx: force * (x - foot) / leg / mass, vy: force * y / leg / mass - g},
        events=(
            Event(
                "touchdown",
                landing_height - y,
                when=1 - stance,
                loss={},
                reset={stance: 1, foot: x + length * ca.cos(attack), steps: steps + 1},
            ),
            Event("takeoff", leg - length, when=stance, reset={stance: 0}, loss={}),
            Event(
                "fell",
                -y,
                terminal=True,
                failure=True,
                priority=1,
                description="it fell: the mass reached the ground",
            ),
            Event(
                "finished",
                steps - max_steps + 0.5,
                terminal=True,
                priority=2,
                description="it made max_steps steps",
            ),
        ),
        outputs={"leg": ca.if_else(stance > 0, leg, length), "force": force},
        output_units={"leg": "m", "force": "N"},
        ledger=Ledger(
            stored={
                "kinetic": mass * (vx**2 + vy**2) / 2,
                "gravity": mass * g * y,
                "spring": stance * stiffness * (length - leg) ** 2 / 2,
            }
        ),
        scene=Scene(
            (rod("leg", (x, y), toe, 0.03 * length), ball("mass", (x, y), 0.12 * length)),
            floor=slope_floor(0),
            com=place((x, y)),
            feet={"foot": place(toe)},
        ),
        walk=Walk(
            section="takeoff",
            feet=(Foot(name="foot", lands="touchdown", lifts="takeoff", stands="stance"),),
            progress=("x",),
            weight=mass * g,
            gravity="gravity",
            kinetic="kinetic",
        ),
        scales=("mass", "length", "g"),
        description=SYSTEM_DESCRIPTIONS["slip"],
    ).using(values)
