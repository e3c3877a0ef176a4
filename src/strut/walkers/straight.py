"""Walkers with two straight legs that change names at every step: the compass gait, and the one on curved
feet."""

from __future__ import annotations

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import Between, Legs, arc, plane, stepping
from strut.mechanism import Mechanism, joints, shapes
from strut.mechanism.parts import Body
from strut.system import Expression, Param, System

ANGLE = (0.0, -1.0, 0.0)
"""Angles of legs are from the vertical, positive where the foot is in front of the hip."""
SWAP = {"stance": "swing", "swing": "stance"}


def slope(value: float) -> Param:
    """The parameter `slope` of the ground [rad], with a value."""
    return Param("slope", value, "rad", bounds=(-0.5, 0.5), description="of the ground, positive downhill")


def on_foot(m: Mechanism) -> Body:
    """A place for the stance foot: carried along x and z, and held there while it stands."""
    heel, foot = m.body("heel"), m.body("foot")
    m.joint("foot_x", m.world, heel, joints.prismatic("x"), actuated=False)
    m.joint("foot_z", heel, foot, joints.prismatic("z"), actuated=False)
    return foot


def level(m: Mechanism, name: str, leg: Body, angle: str, *, at: Expression, mass: Expression = 0.0) -> Body:
    """Add a body that does not turn with its leg: angles counted from it are angles from the vertical.

    angle: the joint of the leg. at: where on the leg it sits [m]. mass: of the body [kg].
    """
    body = m.body(name, mass)
    m.joint(f"{name}_level", leg, body, joints.gear(angle, -1.0, of=joints.revolute(ANGLE)), at=at)
    return body


def hip_drive() -> Between:
    """A motor, a spring and a damper between the legs, the last two zero unless set."""
    return Between(
        "hip",
        {"swing": 1, "stance": -1},
        Param("hip_spring", 0.0, "N m/rad", bounds=(0, 1e3), description="between the legs"),
        Param("hip_damping", 0.0, "N m s/rad", bounds=(0, 1e3), description="between the legs"),
    )


@checked
def compass(**values: float) -> System:
    """Goswami's compass gait: straight legs, point feet, a mass at the hip and one in each leg."""
    m = Mechanism("compass", planar=True)
    a = Param("a", 0.5, "m", bounds=(1e-3, 10), description="foot to centre of mass of a leg")
    b = Param("b", 0.5, "m", bounds=(1e-3, 10), description="centre of mass of a leg to hip")
    leg_mass = Param("leg_mass", 5.0, "kg", bounds=(1e-6, 1e3), description="of each leg")
    hip_mass = Param("hip_mass", 10.0, "kg", bounds=(0, 1e3), description="at the hip")
    stance = m.body("stance_leg", leg_mass, (0, 0, a))
    m.joint(
        "stance",
        on_foot(m),
        stance,
        joints.revolute(ANGLE),
        initial=0.218668802939,
        rate=-1.092383589884,
        actuated=False,
    )
    hip = level(m, "hip", stance, "stance", at=(0, 0, a + b), mass=hip_mass)
    swing = m.body("swing_leg", leg_mass, (0, 0, -b))
    m.joint(
        "swing",
        hip,
        swing,
        joints.revolute(ANGLE),
        initial=-0.323388558059,
        rate=-0.377373948907,
        actuated=False,
    )
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -a - b))
    legs = Legs(
        ("foot_x", "foot_z"),
        "stance_foot",
        "swing_foot",
        SWAP,
        "hip",
        0.75 * (a + b),
        [hip_drive()],
        margin=0.02 * (a + b),
    )
    return stepping(m, legs, plane(slope(0.05235987755982988)), SYSTEM_DESCRIPTIONS["compass"]).using(values)


@checked
def round_foot(**values: float) -> System:
    """Straight legs that roll on arcs."""
    m = Mechanism("round_foot", planar=True, g=Param("g", 1.0, "m/s^2", description="gravity"))
    radius = Param("radius", 0.2, "m", bounds=(0, 10), description="of the feet")
    centre = Param(
        "centre", 1.0, "m", bounds=(1e-3, 10), description="hip to the centre of the arc, along the leg"
    )
    com = Param(
        "com", 0.5, "m", bounds=(0, 10), description="hip to the centre of mass of a leg, along the leg"
    )
    leg_mass = Param("leg_mass", 0.5, "kg", bounds=(1e-6, 1e3), description="of each leg")
    leg_inertia = Param(
        "leg_inertia", 0.02, "kg m^2", bounds=(0, 1e3), description="of each leg, about its centre of mass"
    )
    hip_mass = Param("hip_mass", 1.0, "kg", bounds=(0, 1e3), description="at the hip")
    stance = m.body("stance_leg", leg_mass, (0, 0, centre - com), leg_inertia)
    m.joint(
        "stance",
        on_foot(m),
        stance,
        joints.revolute(ANGLE),
        initial=0.179438283253,
        rate=-0.239010987813,
        actuated=False,
    )
    hip = level(m, "hip", stance, "stance", at=(0, 0, centre), mass=hip_mass)
    swing = m.body("swing_leg", leg_mass, (0, 0, -com), leg_inertia)
    m.joint(
        "swing",
        hip,
        swing,
        joints.revolute(ANGLE),
        initial=-0.199438283253,
        rate=-0.187613981468,
        actuated=False,
    )
    m.frame("stance_arc", stance)
    m.frame("swing_arc", swing, (0, 0, -centre))
    m.shape(
        stance,
        shapes.capsule((0, 0, -0.9 * radius), (0, 0, centre), 0.04),
        shapes.arc(radius, begin=-0.6, finish=0.6),
    )
    m.shape(
        swing,
        shapes.capsule((0, 0, 0), (0, 0, -centre - 0.9 * radius), 0.04),
        shapes.arc(radius, at=(0, 0, -centre), begin=-0.6, finish=0.6),
    )
    m.shape(hip, shapes.sphere(0.08))
    feet = (arc("stance_arc", radius), arc("swing_arc", radius))
    legs = Legs(
        ("foot_x", "foot_z"),
        *feet,
        SWAP,
        "hip",
        0.75 * (centre + radius),
        [hip_drive()],
        margin=0.02 * (centre + radius),
    )
    walker = stepping(m, legs, plane(slope(0.01)), SYSTEM_DESCRIPTIONS["round-foot"])
    return walker.replace(scales=("hip_mass", "centre", "g")).using(values)
