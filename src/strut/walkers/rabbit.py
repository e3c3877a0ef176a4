"""RABBIT: a torso on two legs with knees that motors turn, on its stance foot (Chevallereau et al. 2003)."""

from __future__ import annotations

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import Legs, plane, stepping
from strut.mechanism import Mechanism, joints
from strut.system import Param, System
from strut.walkers.straight import on_foot, slope

KNEE_LIMITS = (0.02, 2.0)
"""[rad] A knee neither overextends nor folds up."""
BACKWARDS = (0.0, -1.0, 0.0)
"""The axis of the joints of the stance leg, counted from the foot upwards: angles are those of the other leg,
which are counted downwards."""


@checked
def rabbit(**values: float) -> System:
    """A torso of 12 kg, thighs of 6.8 kg and shanks of 3.2 kg on point feet, with the masses, lengths and
    inertias of Westervelt et al., Feedback Control of Dynamic Bipedal Robot Locomotion (2007), table 6.3,
    without the rotors of the motors. Motors turn hips and knees; nobody holds the foot."""
    m = Mechanism("rabbit", planar=True)
    thigh = Param("thigh", 0.4, "m", bounds=(0.1, 2), description="length of each thigh")
    shank = Param("shank", 0.4, "m", bounds=(0.1, 2), description="length of each shank")
    torso_mass = Param("torso_mass", 12.0, "kg", bounds=(1e-6, 1e3), description="of the torso")
    thigh_mass = Param("thigh_mass", 6.8, "kg", bounds=(1e-6, 1e3), description="of each thigh")
    shank_mass = Param("shank_mass", 3.2, "kg", bounds=(1e-6, 1e3), description="of each shank")
    # The stance leg is told from its foot upwards, the other from the hip downwards: equal angles on both.
    lower = m.body("stance_shank", shank_mass, (0, 0, shank - 0.24), 0.20)
    m.joint("stance", on_foot(m), lower, joints.revolute("y"), initial=-0.05, rate=0.9, actuated=False)
    upper = m.body("stance_thigh", thigh_mass, (0, 0, thigh - 0.11), 0.47)
    bend = joints.revolute(BACKWARDS)
    m.joint("stance_knee", lower, upper, bend, at=(0, 0, shank), initial=0.2, limits=KNEE_LIMITS)
    torso = m.body("torso", torso_mass, (0, 0, 0.24), 1.33)
    m.joint("stance_hip", upper, torso, bend, at=(0, 0, thigh), initial=-0.3)
    upper2 = m.body("swing_thigh", thigh_mass, (0, 0, -0.11), 0.47)
    m.joint("swing_hip", torso, upper2, joints.revolute("y"), initial=0.15)
    lower2 = m.body("swing_shank", shank_mass, (0, 0, -0.24), 0.20)
    knee = joints.revolute("y")
    m.joint("swing_knee", upper2, lower2, knee, at=(0, 0, -thigh), initial=0.25, limits=KNEE_LIMITS)
    m.frame("stance_foot", lower)
    m.frame("swing_foot", lower2, (0, 0, -shank))
    m.frame("head", torso, (0, 0, 0.63))
    legs = Legs(
        base=("foot_x", "foot_z"),
        stance="stance_foot",
        swing="swing_foot",
        swap="auto",
        hip="torso",
        fall=0.6 * (thigh + shank),
    )
    return stepping(m, legs, plane(slope(0.0)), SYSTEM_DESCRIPTIONS["rabbit"]).using(values)
