"""The rimless wheel: the simplest thing that walks."""

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

DRAWN_SPOKES = 16
"""In pictures; a wheel with fewer is drawn over itself."""


@checked
def rimless_wheel(**values: float) -> System:
    """Massless spokes around a point mass, rolling down a slope one spoke at a time.

    Between impacts an inverted pendulum about the spoke on the ground; at impact the next spoke takes over
    and only the velocity along its circle survives. Rolling steadily it leaves each impact with
    rate^2 = 4 (g/l) sin(alpha) sin(slope) c^2 / (1 - c^2), alpha = pi / spokes, c = cos(2 alpha).
    """
    mass = Param("mass", 1.0, "kg", bounds=(0, 1e6), description="at the hub")
    length = Param("length", 1.0, "m", bounds=(1e-6, 1e6), description="of a spoke")
    spokes = Param("spokes", 8, bounds=(3, 1000), description="how many there are")
    slope = Param(
        "slope",
        0.08,
        "rad",
        bounds=(-math.pi / 2, math.pi / 2),
        description="positive downhill in the direction of walking",
    )
    g = Param("g", 9.81, "m/s^2", description="gravity")
    half = ca.pi / spokes

    angle = State(
        "angle", slope - half, "rad", description="of the stance spoke from the vertical, forward positive"
    )
    rate = State("rate", 1.0, "rad/s")
    foot = Discrete("foot", 0.0, "m", description="distance of the stance foot along the slope")
    steps = Discrete("steps", 0, internal=True)

    speed_ratio = ca.cos(2 * half)
    lost = mass * (length * rate) ** 2 / 2 * (1 - speed_ratio**2)

    def strike(name: str, guard: ca.SX, sign: int) -> Event:
        return Event(
            name,
            guard=guard,
            loss={"impact": lost},
            reset={
                angle: angle - sign * 2 * half,
                rate: speed_ratio * rate,
                steps: steps + sign,
                foot: foot + sign * 2 * length * ca.sin(half),
            },
        )

    hub_height = length * ca.cos(angle) - foot * ca.sin(slope)
    hub = (foot * ca.cos(slope) + length * ca.sin(angle), hub_height)
    foot_place = (foot * ca.cos(slope), -foot * ca.sin(slope))
    turns = [angle + 2 * half * k for k in range(DRAWN_SPOKES)]
    drawn = [
        rod("spoke", hub, (hub[0] - length * ca.sin(a), hub[1] - length * ca.cos(a)), 0.02 * length)
        for a in turns
    ]
    return System(
        "rimless_wheel",
        x=(angle, rate),
        z=(foot, steps),
        p=(mass, length, spokes, slope, g),
        flow={angle: rate, rate: g / length * ca.sin(angle)},
        events=(
            strike("heel_strike", angle - slope - half, 1),
            strike("back_strike", slope - half - angle, -1),
        ),
        outputs={
            "hub_x": hub[0],
            "hub_z": hub[1],
            "foot_x": foot_place[0],
            "foot_z": foot_place[1],
            "speed": length * rate * ca.cos(angle),
        },
        output_units={"hub_x": "m", "hub_z": "m", "foot_x": "m", "foot_z": "m", "speed": "m/s"},
        ledger=Ledger(stored={"kinetic": mass * (length * rate) ** 2 / 2, "gravity": mass * g * hub_height}),
        scene=Scene(
            (ball("hub", hub, 0.1 * length), *drawn),
            floor=slope_floor(slope),
            com=place(hub),
            feet={"spoke": place(foot_place)},
            points={"hub": ("hub_x", "hub_z"), "foot": ("foot_x", "foot_z")},
        ),
        walk=Walk(
            section="heel_strike",
            feet=(Foot(name="spoke", lands="heel_strike"),),
            progress=("foot",),
            slope="slope",
            weight=mass * g,
            gravity="gravity",
            kinetic="kinetic",
        ),
        description=SYSTEM_DESCRIPTIONS["rimless-wheel"],
    ).using(values)
