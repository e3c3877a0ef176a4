"""The driven, damped pendulum: the smallest machine with an energy account."""

from __future__ import annotations

import casadi as ca

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.system import Input, Ledger, Param, Scene, State, System, ball, hinge, rod


@checked
def pendulum(**values: float) -> System:
    """A point mass on a rod, hanging at angle 0 and swinging in the x-z plane, with damping and a motor at
    the pivot."""
    angle = State("angle", 1.0, "rad", description="from hanging straight down")
    rate = State("rate", 0.0, "rad/s")
    mass = Param("mass", 1.0, "kg", bounds=(0, 1e6), description="of the bob")
    length = Param("length", 1.0, "m", bounds=(1e-6, 1e6), description="of the rod")
    damping = Param("damping", 0.0, "N m s/rad", bounds=(0, 1e9), description="of the pivot")
    g = Param("g", 9.81, "m/s^2", description="gravity")
    torque = Input("torque", 0.0, "N m", description="of the motor at the pivot")

    inertia = mass * length**2
    weight = mass * g * length
    tip = (length * ca.sin(angle), -length * ca.cos(angle))
    return System(
        "pendulum",
        x=(angle, rate),
        u=(torque,),
        p=(mass, length, damping, g),
        flow={angle: rate, rate: (torque - damping * rate - weight * ca.sin(angle)) / inertia},
        outputs={"tip_x": tip[0], "tip_z": tip[1]},
        output_units={"tip_x": "m", "tip_z": "m"},
        ledger=Ledger(
            stored={"kinetic": inertia * rate**2 / 2, "gravity": weight * (1 - ca.cos(angle))},
            supplied={"motor": torque * rate},
            dissipated={"damper": damping * rate**2},
        ),
        scene=Scene(
            (rod("rod", (0, 0), tip, 0.02 * length), ball("bob", tip, 0.08 * length)),
            hinges=(hinge("pivot", (0, 0)),),
            points={"tip": ("tip_x", "tip_z")},
        ),
        description=SYSTEM_DESCRIPTIONS["pendulum"],
    ).using(values)
