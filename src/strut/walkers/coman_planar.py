"""COMAN's legs in the sagittal plane with short feet, as Kieboom lets it walk (section 4.2, models A.1 and
A.2)."""

from __future__ import annotations

from typing import Any

from strut.catalogue import MECHANISM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import compliant, coulomb, hunt_crossley, plane, rigid
from strut.errors import ModelError, did_you_mean
from strut.mechanism import Mechanism, joints, shapes
from strut.system import Param, System, sx
from strut.walkers.assistance import assist_share, assistance, with_trunk
from strut.walkers.straight import slope

TORSO = (14.4847, (0.00919962, 0, 0.212992), 0.169801)
"""[kg, m, kg m^2] Mass, centre of mass and inertia about y."""
LEG = (  # joint, body, place of the joint in its parent, mass, centre of mass, inertia about y
    ("hip", "thigh", 0.0, 3.61731, (0.000739959, 0, -0.100464), 0.0265146),
    ("knee", "shank", -0.2258, 1.40982, (0.00246127, 0, -0.0859895), 0.00400565),
    ("ankle", "foot", -0.201, 1.39639, (0.00508618, 0, -0.0204323), 0.00263102),
)
"""Of model A.2, from the hip downwards [m, kg, kg m^2]."""
FOOT_LENGTH, HEEL, ANKLE_HEIGHT, TOE_PART = 0.15, 0.03, 0.095, 0.25
"""[m, m, m, 1] Of model A.1: heel behind the ankle, sole below it, and the part of the foot that the toes
would be: contact ends where they begin."""
TOE = FOOT_LENGTH - HEEL - FOOT_LENGTH * TOE_PART
"""[m] In front of the ankle, where contact ends."""
DRAWN_LIMBS = {"thigh": (LEG[1][2], 0.04), "shank": (LEG[2][2], 0.03)}
"""[m, m] Where the capsule of a limb ends in a picture, at its next joint, and its radius, ours."""
SOLE_RADIUS = 0.012
"""[m] Of a foot in a picture, ours."""
HIP_HEIGHT = 0.5268
"""[m] As a run begins, of a leg that is straight: the soles are 5 mm over the ground."""
EFFORT = 30.0
"""[N m] Of every motor."""
FALL_HEIGHT = 0.3
"""[m] Of the hips below which it has fallen; ours, as the thesis prints none."""
FLEXION = {"hip": (0, -1, 0), "knee": (0, 1, 0), "ankle": (0, -1, 0)}
"""The axes of the joints: flexion of hip and knee, and lifting the foot, count as positive."""
GROUNDS = ("rigid", "soft")
"""On what it may stand."""


@checked
def coman_planar_mechanism() -> Mechanism:
    """COMAN's legs and torso in a plane, 27.332 kg, without ground: x, z and pitch of the torso, hip, knee
    and ankle of both sides."""
    m = Mechanism("coman_planar", planar=True)
    at = m.world
    for name, joint, begin in (("x", "x", 0.0), ("z", "z", HIP_HEIGHT)):
        carrier = m.body(f"base_{name}")
        m.joint(name, at, carrier, joints.prismatic(joint), actuated=False, initial=begin)
        at = carrier
    mass, com, inertia = TORSO
    torso = m.body("torso", mass, com, inertia)
    m.joint("pitch", at, torso, joints.revolute("y"), actuated=False)
    m.shape(torso, shapes.capsule((0, 0, 0), (0, 0, 0.4), 0.06))
    for side in ("_r", "_l"):
        above = torso
        for joint, name, place, mass, com, inertia in LEG:
            body = m.body(f"{name}{side}", mass, com, inertia)
            m.joint(
                f"{joint}{side}",
                above,
                body,
                joints.revolute(FLEXION[joint]),
                at=(0, 0, place),
                effort=EFFORT,
            )
            above = body
            if name in DRAWN_LIMBS:
                end, radius = DRAWN_LIMBS[name]
                m.shape(body, shapes.capsule((0, 0, 0), (0, 0, end), radius))
        for point, x in (("heel", -HEEL), ("toe", TOE)):
            m.frame(f"{point}{side}", above, (x, 0, -ANKLE_HEIGHT))
            m.shape(above, shapes.capsule((0, 0, 0), (x, 0, SOLE_RADIUS - ANKLE_HEIGHT), SOLE_RADIUS))
    m.force(assistance("pitch", assist_share()))
    return m


@checked
def coman_planar(
    *, ground: str = "rigid", events: bool = True, pushes: bool = False, **values: Any
) -> System:
    """COMAN's legs and torso in a plane, on heel and toe of short feet; it falls unless its motors act.

    ground: 'rigid', as the thesis has it; 'soft' for Hunt and Crossley's law and Coulomb's friction, without
        events if events=False: for populations. pushes: whether forces from outside act at the ankles, inputs
        foot_r_push_x, foot_r_push_z and those of the left [N]. values: of parameters and states.

    Outputs and endings are those of `human`: speed, assist_torque, assisting; 'fall' and 'topple'.
    """
    if ground not in GROUNDS:
        raise ModelError(f"ground is '{ground}': {did_you_mean(ground, GROUNDS)}")
    if ground == "rigid" and not events:
        raise ModelError("events=False is of soft ground: feet on rigid ground land and leave in events")
    m = coman_planar_mechanism()
    if pushes:
        m.push("foot_r")
        m.push("foot_l")
    mu = Param("friction", 0.8, bounds=(0, 5), description="Coulomb's coefficient")
    feet = [f"{point}{side}" for side in ("_r", "_l") for point in ("heel", "toe")]
    common: dict[str, Any] = {
        "fall": ("torso", FALL_HEIGHT),
        "symmetry": "auto",
        "description": MECHANISM_DESCRIPTIONS["coman-planar"],
    }
    if ground == "rigid":
        walker = rigid(m, feet, plane(slope(0.0)), friction=mu, **common)
    else:
        law = hunt_crossley(
            Param("ground_stiffness", 2e5, "N/m^1.5", bounds=(1e3, 1e8), description="of soft ground"),
            0.7,
            1.5,
        )
        slow = Param("friction_speed", 0.1, "m/s", bounds=(1e-6, 1))
        walker = compliant(
            m, feet, plane(slope(0.0)), law=law, friction=coulomb(mu, slow), events=events, **common
        )
    return with_trunk(walker, sx(TORSO[1][2])).using(values)


__all__ = ["coman_planar", "coman_planar_mechanism"]
