"""RABBIT, a robot with a torso and two legs with knees, on a floating base: described, designed, and run.

Masses, lengths and inertias are those of Westervelt, Grizzle, Chevallereau, Choi and Morris, Feedback Control
of Dynamic Bipedal Robot Locomotion (2007), table 6.3, for the robot of Chevallereau et al. (2003), without
the rotors of its motors. These turn hips and knees; nobody holds the torso, and feet are points. Knees bend
one way only: the plan keeps their limits. Nothing says how it walks: the search begins with an even stride by
inverse kinematics.

    python examples/rabbit.py [DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

from strut import Mechanism, Param, contact, joints, optimal, report
from strut.optimal import Design
from strut.system import System

KNEE_LIMITS = (0.02, 2.0)
"""[rad] A knee neither overextends nor folds up."""


def robot() -> Mechanism:
    """The mechanism: a torso, and twice a thigh, a shank and a point foot. Angles are relative, as motors
    turn."""
    m = Mechanism("rabbit", planar=True)
    torso = m.body("torso", mass=12.0, com=(0, 0, 0.24), inertia=1.33)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.78, 0.05), actuated=False)
    for side, hip in (("_l", -0.35), ("_r", 0.15)):
        thigh = m.body(f"thigh{side}", mass=6.8, com=(0, 0, -0.11), inertia=0.47)
        shank = m.body(f"shank{side}", mass=3.2, com=(0, 0, -0.24), inertia=0.20)
        m.joint(f"hip{side}", torso, thigh, joints.revolute("y"), initial=hip)
        m.joint(
            f"knee{side}",
            thigh,
            shank,
            joints.revolute("y"),
            at=(0, 0, -0.4),
            initial=0.2,
            limits=KNEE_LIMITS,
        )
        m.frame(f"foot{side}", shank, (0, 0, -0.4))
    m.frame("head", torso, (0, 0, 0.63))
    return m


def walker() -> System:
    """The robot on rigid ground. Left and right are alike: `symmetry` lets one step be a gait."""
    slope = Param("slope", 0.0, "rad", bounds=(-0.5, 0.5))
    return contact.rigid(
        robot(), ["foot_l", "foot_r"], contact.plane(slope), symmetry="auto", fall=("torso", 0.4)
    )


def main(directory: str | Path | None = None, speed: float = 0.6) -> Design:
    """Least squared torque at a speed [m/s] on level ground."""
    design = optimal.design(walker(), cost="squared-torque", speed=speed)
    print(
        f"cost {design.result.cost:.4f} N m s at {design.speed:.2f} m/s, a step of {design.step_length:.3f} m"
    )
    if design.gait is None:
        print(f"no gait: {design.replay.no_gait}")
    else:
        print(f"largest multiplier {abs(design.gait.multipliers[0]):.0f}: a plan without feedback falls")
    for line in design.wrong:
        print(line)
    if directory is not None:
        print(report.design_result(design).folder(directory).directory / "index.html")
    return design


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
