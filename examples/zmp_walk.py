"""A biped of one's own walks: a torso on two legs of six joints, by a pattern of its zero-moment point.

Seven numbers say how it walks. Preview control says how its centre of mass must move so that the zero-moment
point stays under its feet, inverse kinematics what its joints do, and servos follow that, on ground that
gives way. The table of angles is parameters of the machine: it is compiled once, and every other walk takes
half a second. Run it with `python examples/zmp_walk.py`: it leaves a moving picture.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import strut
from strut import System, contact, control, view
from strut.mechanism import Mechanism, joints
from strut.simulate import Trajectory

HIP_WIDTH, THIGH, SHANK, ANKLE = 0.09, 0.30, 0.30, 0.06
"""[m] From the middle to a hip, of the leg's parts, and from ankle to sole."""
SOLE = ((-0.08, 0.14), (-0.05, 0.05))
"""[m] A foot on the ground, from back to front and from right to left of the ankle."""
BEND = 0.5
"""[rad] Of hips and ankles in the posture from which inverse kinematics begins; knees bend by twice that."""
KP, KD = 4000.0, 100.0
"""[N m/rad, N m s/rad] The gains of the servos."""
PATTERN = control.WalkPattern(
    step_length=0.15,
    step_time=0.6,
    double_support=0.2,
    com_height=0.62,
    sway=0.07,
    clearance=0.04,
    steps=10,
    spread=HIP_WIDTH,
    zmp_ahead=0.03,
)
"""How it walks: 0.25 m/s. The ZMP goes less far to the side than the feet are: servos and ground give way,
and take the mass further than it was told."""
KNOTS = 300
"""Of the longest motion that it can play."""


def biped() -> Mechanism:
    """A torso on two legs: hips that turn about z, x and y, knees about y, ankles about y and x."""
    m = Mechanism("biped")
    torso = m.body("torso", mass=18.0, com=(0, 0, 0.2), inertia=(0.5, 0.4, 0.2))
    m.joint(
        "base",
        m.world,
        torso,
        joints.free(),
        initial=(0, 0, THIGH + SHANK + ANKLE, 0, 0, 0, 1),
        actuated=False,
    )
    for side, sign in (("r", -1), ("l", 1)):
        links = [
            ("hip_yaw", "z", (0, sign * HIP_WIDTH, 0), 0.8, (0, 0, 0), 0.001),
            ("hip_roll", "x", (0, 0, 0), 0.8, (0, 0, 0), 0.001),
            ("hip_pitch", "y", (0, 0, 0), 3.0, (0, 0, -THIGH / 2), 0.025),
            ("knee", "y", (0, 0, -THIGH), 2.0, (0, 0, -SHANK / 2), 0.016),
            ("ankle_pitch", "y", (0, 0, -SHANK), 0.4, (0, 0, 0), 0.0005),
            ("ankle_roll", "x", (0, 0, 0), 0.8, (0.02, 0, -ANKLE / 2), 0.002),
        ]
        carrier = torso
        for joint, axis, at, mass, com, inertia in links:
            link = m.body(f"{side}_{joint}_link", mass=mass, com=com, inertia=(inertia, inertia, inertia))
            m.joint(f"{side}_{joint}", carrier, link, joints.revolute(axis), at=at)
            carrier = link
        m.frame(f"{side}_sole", carrier, (0, 0, -ANKLE))
        corners = [(x, y, -ANKLE) for x in SOLE[0] for y in SOLE[1]]
        for k, corner in enumerate(corners):
            m.frame(f"{side}_corner{k}", carrier, corner)
    return m


def inverse(machine: Mechanism) -> control.LegInverse:
    """Its legs, which begin to search with bent knees."""
    bends = {"hip_pitch": -BEND, "knee": 2 * BEND, "ankle_pitch": -BEND}
    posture = {f"{side}_{joint}": angle for side in "rl" for joint, angle in bends.items()}
    return control.LegInverse(machine, "torso", ("r_sole", "l_sole"), posture)


def walker(machine: Mechanism, player: control.MotionPlayer) -> System:
    """The machine on ground that gives way, with servos that follow the player's table."""
    on_ground = contact.compliant(
        machine,
        [f"{side}_corner{k}" for side in "rl" for k in range(4)],
        law=contact.linear(3e5, 1500.0),
        friction=contact.anchored(3e5, 1500.0, 0.8),
        events=False,
        fall=("torso", 0.35),
    )
    return player.drive(on_ground, kp=KP, kd=KD, follow_rate=True)


def walk(system: System, player: control.MotionPlayer, motion: control.WalkMotion) -> Trajectory:
    """Run it, from where the motion begins to a second after it has ended."""
    return strut.simulate(
        system,
        motion.t[-1] + 1.0,
        x0=motion.begin,
        p=player.table(motion.t, motion.angles()),
        method="rkc",
        step=1e-3,
        ledger=False,
    )


def main(folder: Path | None = None) -> dict[str, Trajectory]:
    """Walk, and walk otherwise without compiling again; with a folder, leave a moving picture there."""
    machine = biped()
    legs = inverse(machine)
    player = control.MotionPlayer(legs.joints, KNOTS)
    system = walker(machine, player)
    runs = {}
    for word, pattern in (
        ("forward", PATTERN),
        ("slowly back", replace(PATTERN, step_length=-0.06, step_time=0.8)),
        ("in place", replace(PATTERN, step_length=0.0)),
    ):
        motion = control.zmp_walk(legs, pattern)
        run = walk(system, player, motion)
        runs[word] = run
        margin = 1e3 * motion.support_margin(SOLE).min()
        print(
            f"{word}: {run.status} after {run.t1:.1f} s, {run['base.x'][-1] - run['base.x'][0]:.3f} m "
            f"(planned {motion.com[-1, 0] - motion.com[0, 0]:.3f}), planned ZMP {margin:.0f} mm inside"
        )
    tilt = 2 * np.hypot(runs["forward"]["base.qx"], runs["forward"]["base.qy"]).max()
    print(f"walking forward the torso tilts by at most {tilt:.3f} rad")
    if folder is not None:
        view.animation(runs["forward"], folder / "zmp_walk.html")
    return runs


if __name__ == "__main__":
    main(folder=Path.cwd())
