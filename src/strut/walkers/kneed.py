"""A walker with knees that lock when they are straight."""

from __future__ import annotations

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import Legs, Lock, plane, stepping
from strut.mechanism import Mechanism, joints
from strut.system import Param, System
from strut.walkers.straight import ANGLE, hip_drive, level, on_foot, slope


@checked
def kneed(**values: float) -> System:
    """Thighs and shanks on point feet. The stance knee is locked; the swing knee bends after heel strike,
    locks plastically when it is straight, and stays locked through the next heel strike."""
    m = Mechanism("kneed", planar=True)
    a1 = Param("a1", 0.375, "m", bounds=(1e-3, 10), description="foot to centre of mass of the shank")
    b1 = Param("b1", 0.125, "m", bounds=(1e-3, 10), description="centre of mass of the shank to knee")
    a2 = Param("a2", 0.175, "m", bounds=(1e-3, 10), description="knee to centre of mass of the thigh")
    b2 = Param("b2", 0.325, "m", bounds=(1e-3, 10), description="centre of mass of the thigh to hip")
    hip_mass = Param("hip_mass", 0.5, "kg", bounds=(0, 1e3), description="at the hip")
    thigh_mass = Param("thigh_mass", 0.5, "kg", bounds=(1e-6, 1e3), description="of each thigh")
    shank_mass = Param("shank_mass", 0.05, "kg", bounds=(1e-6, 1e3), description="of each shank")
    shank = m.body("stance_shank", shank_mass, (0, 0, a1))
    m.joint(
        "stance",
        on_foot(m),
        shank,
        joints.revolute(ANGLE),
        initial=0.188185460253,
        rate=-1.109587331177,
        actuated=False,
    )
    thigh = m.body("stance_thigh", thigh_mass, (0, 0, a2))
    m.joint("stance_knee", shank, thigh, joints.fixed(), at=(0, 0, a1 + b1))
    hip = level(m, "hip", thigh, "stance", at=(0, 0, a2 + b2), mass=hip_mass)
    thigh2 = m.body("swing_thigh", thigh_mass, (0, 0, -b2))
    m.joint(
        "swing",
        hip,
        thigh2,
        joints.revolute(ANGLE),
        initial=-0.288985460253,
        rate=-0.057148106338,
        actuated=False,
    )
    knee = level(m, "knee", thigh2, "swing", at=(0, 0, -a2 - b2))
    shank2 = m.body("swing_shank", shank_mass, (0, 0, -b1))
    m.joint(
        "shank",
        knee,
        shank2,
        joints.revolute(ANGLE),
        initial=-0.288985460253,
        rate=-0.057148106338,
        actuated=False,
    )
    m.frame("stance_foot", shank)
    m.frame("swing_foot", shank2, (0, 0, -a1 - b1))
    legs = Legs(
        ("foot_x", "foot_z"),
        "stance_foot",
        "swing_foot",
        {"stance": "swing", "swing": "stance", "shank": "stance"},
        "hip",
        0.75 * (a1 + b1 + a2 + b2),
        [hip_drive()],
        [Lock("knee_strike", "swing", "shank")],
        margin=0.02 * (a1 + b1 + a2 + b2),
    )
    return stepping(m, legs, plane(slope(0.0504)), SYSTEM_DESCRIPTIONS["kneed"]).using(values)
