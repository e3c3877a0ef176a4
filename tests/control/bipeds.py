"""A machine of one's own for tests of whole-body control: a torso on two legs with knees and point feet."""

import numpy as np

from strut import contact, control
from strut.mechanism import Mechanism, joints

THIGH, SHANK, SPREAD, BEND = 0.432, 0.51, 0.15, 0.5


def biped():
    lower = np.arcsin(THIGH * np.sin(BEND) / SHANK)
    height = (THIGH * np.cos(BEND) + SHANK * np.cos(lower)) * np.cos(SPREAD)
    m = Mechanism("biped", planar=True)
    torso = m.body("torso", mass=44.5, com=(0, 0, 0.319), inertia=2.21)
    m.joint("base", m.world, torso, joints.planar(), initial=(0.0, height, 0.0), actuated=False)
    for side, sign in (("r", 1), ("l", -1)):
        thigh = m.body(f"thigh_{side}", mass=8.61, com=(0, 0, -0.185), inertia=0.145)
        shank = m.body(f"shank_{side}", mass=4.2, com=(0, 0, -0.234), inertia=0.107)
        hip, knee = joints.revolute("y"), joints.revolute("y")
        m.joint(f"hip_{side}", torso, thigh, hip, initial=-BEND + SPREAD * sign, limits=(-2.5, 1.5))
        m.joint(
            f"knee_{side}", thigh, shank, knee, at=(0, 0, -THIGH), initial=BEND + lower, limits=(0.1, 3.0)
        )
        m.frame(f"foot_{side}", shank, (0, 0, -SHANK))
    m.push("torso")
    return m


def standing(m, body, **changes):
    """A controller that keeps a biped where it begins."""
    com = body.at(body.com)
    tasks = changes.pop(
        "tasks",
        [
            control.CentreOfMassTask(target=[com[0], com[2]], stiffness=60.0),
            control.OrientationTask(frame="torso", target=0.05),
        ],
    )
    contacts = changes.pop(
        "contacts", [control.PointContact(frame=f"foot_{s}", friction=0.6, max_force=1000.0) for s in "rl"]
    )
    settings = {"every": 1e-3, "torque_limit": 200.0, **changes}
    return control.whole_body(body, tasks=tasks, contacts=contacts, **settings)


def first(body):
    return [float(s.value[0]) for s in body.positions]


def on_ground(m):
    return contact.rigid(m, feet=["foot_r", "foot_l"], friction=0.8)


HALF_SOLE = (0.11, 0.05)
"""[m] Half the length and half the width of the soles of `spatial_biped`."""


def spatial_biped():
    """A torso on two legs in space, each with six joints and a sole of four corners; 58.6 kg."""
    m = Mechanism("biped_in_space")
    bend, leg = 0.5, 0.4
    torso = m.body("torso", 35.0, (0, 0, 0.25), (1.6, 1.4, 0.5))
    height = 2 * leg * np.cos(bend / 2) + 0.05
    m.joint("base", m.world, torso, joints.free(), initial=(0, 0, float(height), 0, 0, 0, 1), actuated=False)
    for side, sign in (("l", 1), ("r", -1)):
        yaw = m.body(f"yaw_{side}", 0.5, (0, 0, 0), (2e-3,) * 3)
        roll = m.body(f"roll_{side}", 0.5, (0, 0, 0), (2e-3,) * 3)
        thigh = m.body(f"thigh_{side}", 6.0, (0, 0, -0.18), (0.09, 0.09, 0.02))
        shank = m.body(f"shank_{side}", 3.5, (0, 0, -0.18), (0.05, 0.05, 0.01))
        ankle = m.body(f"ankle_{side}", 0.3, (0, 0, 0), (1e-3,) * 3)
        foot = m.body(f"foot_{side}", 1.0, (0.02, 0, -0.04), (2e-3, 5e-3, 5e-3))
        m.joint(f"hip_z_{side}", torso, yaw, joints.revolute("z"), at=(0, sign * 0.1, 0))
        m.joint(f"hip_x_{side}", yaw, roll, joints.revolute("x"))
        m.joint(f"hip_y_{side}", roll, thigh, joints.revolute("y"), initial=-bend / 2)
        knee, at = joints.revolute("y"), (0, 0, -leg)
        m.joint(f"knee_{side}", thigh, shank, knee, at=at, initial=bend, limits=(0.05, 2.4))
        m.joint(f"ankle_y_{side}", shank, ankle, joints.revolute("y"), at=at, initial=-bend / 2)
        m.joint(f"ankle_x_{side}", ankle, foot, joints.revolute("x"))
        m.frame(f"sole_{side}", foot, (0.02, 0, -0.05))
        for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
            m.frame(f"sole_{side}_{k}", foot, (0.02 + x * HALF_SOLE[0], y * HALF_SOLE[1], -0.05))
    m.push("torso")
    return m
