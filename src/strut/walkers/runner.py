"""A planar runner: a torso on two legs with knees, on a base that floats, with a flight in every step."""

from __future__ import annotations

from dataclasses import replace

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import plane, rigid
from strut.mechanism import Mechanism, joints
from strut.system import Param, System
from strut.walkers.straight import slope

KNEE_LIMITS = (0.05, 2.2)
"""[rad] A knee neither overextends nor folds up."""
BEGIN = {"_l": (-0.55, 0.5), "_r": (0.25, 0.9)}
"""[rad] Hip and knee of each leg when a run begins: one in front to land, one behind."""


@checked
def runner(**values: float) -> System:
    """A torso of 20 kg, thighs of 3 kg and shanks of 1 kg on point feet, on rigid ground. Motors turn hips
    and knees. It begins in the air; what its motors do is for a design to find."""
    m = Mechanism("runner", planar=True)
    thigh = Param("thigh", 0.4, "m", bounds=(0.1, 2), description="length of each thigh")
    shank = Param("shank", 0.4, "m", bounds=(0.1, 2), description="length of each shank")
    torso_mass = Param("torso_mass", 20.0, "kg", bounds=(1e-6, 1e3), description="of the torso")
    thigh_mass = Param("thigh_mass", 3.0, "kg", bounds=(1e-6, 1e3), description="of each thigh")
    shank_mass = Param("shank_mass", 1.0, "kg", bounds=(1e-6, 1e3), description="of each shank")
    torso = m.body("torso", torso_mass, (0, 0, 0.25), 1.0)
    m.joint(
        "base", m.world, torso, joints.planar(), initial=(0, 0.82, 0.1), rate=(2.0, 0.0, 0.0), actuated=False
    )
    for side, (hip, knee) in BEGIN.items():
        upper = m.body(f"thigh{side}", thigh_mass, (0, 0, -0.4 * thigh), 0.04)
        m.joint(f"hip{side}", torso, upper, joints.revolute("y"), initial=hip)
        lower = m.body(f"shank{side}", shank_mass, (0, 0, -0.4 * shank), 0.013)
        m.joint(
            f"knee{side}",
            upper,
            lower,
            joints.revolute("y"),
            at=(0, 0, -thigh),
            initial=knee,
            limits=KNEE_LIMITS,
        )
        m.frame(f"foot{side}", lower, (0, 0, -shank))
    m.frame("head", torso, (0, 0, 0.6))
    walker = rigid(
        m,
        ["foot_l", "foot_r"],
        plane(slope(0.0)),
        release="force",
        symmetry="auto",
        fall=("torso", 0.5 * (thigh + shank)),
        description=SYSTEM_DESCRIPTIONS["runner"],
    )
    assert walker.walk is not None
    return walker.replace(walk=replace(walker.walk, flight=True)).using(values)
