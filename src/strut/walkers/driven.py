"""Duindam's compass as he searches its gaits: on its stance foot, with a torque for every angle."""

from __future__ import annotations

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import Between, Legs, plane, stepping
from strut.mechanism import Mechanism, joints
from strut.system import Param, System
from strut.walkers.straight import ANGLE, SWAP, hip_drive, level, on_foot, slope

SLOPE_3_DEG = 0.05235987755982988
"""[rad] Three degrees: the slope on which this walker walks."""


@checked
def compass_driven(**values: float) -> System:
    """The compass gait with motors in the hip and in the stance ankle, and a spring and a damper in the hip:
    any motion of its legs is possible, and torques are what it needs. Two legs with their mass in the middle,
    point feet."""
    m = Mechanism("compass_driven", planar=True, g=Param("g", 9.8, "m/s^2", description="gravity"))
    length = Param("leg_length", 1.0, "m", bounds=(0.1, 10), description="length of a leg")
    mass = Param("leg_mass", 1.0, "kg", bounds=(1e-6, 1e3), description="in the middle of each leg")
    hip_mass = Param("hip_mass", 5.0, "kg", bounds=(0, 1e3), description="at the hip")
    stance = m.body("stance_leg", mass, (0, 0, length / 2))
    m.joint(
        "stance",
        on_foot(m),
        stance,
        joints.revolute(ANGLE),
        initial=0.299294 - SLOPE_3_DEG,
        rate=-1.072963,
        actuated=False,
    )
    hip = level(m, "hip", stance, "stance", at=(0, 0, length), mass=hip_mass)
    swing = m.body("swing_leg", mass, (0, 0, -length / 2))
    m.joint(
        "swing",
        hip,
        swing,
        joints.revolute(ANGLE),
        initial=-0.299294 - SLOPE_3_DEG,
        rate=-0.364556,
        actuated=False,
    )
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -length))
    drives = [hip_drive(), Between("ankle", {"stance": 1.0})]
    legs = Legs(
        ("foot_x", "foot_z"),
        "stance_foot",
        "swing_foot",
        SWAP,
        "hip",
        0.75 * length,
        drives,
        margin=0.02 * length,
    )
    return stepping(m, legs, plane(slope(SLOPE_3_DEG)), SYSTEM_DESCRIPTIONS["compass-driven"]).using(values)
