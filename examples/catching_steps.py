"""A biped in space is pushed, and catches itself by steps.

A torso on two legs of six joints, each with a sole of four corners. While it stands, whole-body control keeps
its centre of mass between the feet; where the push carries the extrapolated centre of mass (the capture
point) out of the soles, a foot goes to where that will be. Standing still, it survives 25 N s; by steps twice
as much and more. Compiling machine and controller takes a minute, once.

    python examples/catching_steps.py
"""

from __future__ import annotations

import math

import numpy as np

import strut
from strut import contact, control
from strut.mechanism import Mechanism, joints

LEG, BEND = 0.4, 0.5
"""[m] Of a thigh, and of a shank; [rad] of the knees."""
IMPULSE = 55.0
"""[N s] Of the push, forward, over 0.1 s."""
CORNERS = ((0.13, 0.05), (0.13, -0.05), (-0.09, 0.05), (-0.09, -0.05))
"""[m] Of a sole, from below the ankle."""

m = Mechanism("biped_in_space")
torso = m.body("torso", mass=35.0, com=(0, 0, 0.25), inertia=(1.6, 1.4, 0.5))
height = 2 * LEG * math.cos(BEND / 2) + 0.05
m.joint("base", m.world, torso, joints.free(), initial=(0, 0, height, 0, 0, 0, 1), actuated=False)
for side, sign in (("l", 1), ("r", -1)):
    yaw, roll = (m.body(f"{name}_{side}", 0.5, (0, 0, 0), (2e-3,) * 3) for name in ("yaw", "roll"))
    thigh = m.body(f"thigh_{side}", 6.0, (0, 0, -0.18), (0.09, 0.09, 0.02))
    shank = m.body(f"shank_{side}", 3.5, (0, 0, -0.18), (0.05, 0.05, 0.01))
    ankle = m.body(f"ankle_{side}", 0.3, (0, 0, 0), (1e-3,) * 3)
    foot = m.body(f"foot_{side}", 1.0, (0.02, 0, -0.04), (2e-3, 5e-3, 5e-3))
    m.joint(f"hip_z_{side}", torso, yaw, joints.revolute("z"), at=(0, sign * 0.1, 0))
    m.joint(f"hip_x_{side}", yaw, roll, joints.revolute("x"))
    m.joint(f"hip_y_{side}", roll, thigh, joints.revolute("y"), initial=-BEND / 2)
    knee, below = joints.revolute("y"), (0, 0, -LEG)
    m.joint(f"knee_{side}", thigh, shank, knee, at=below, initial=BEND, limits=(0.05, 2.4))
    m.joint(f"ankle_y_{side}", shank, ankle, joints.revolute("y"), at=below, initial=-BEND / 2)
    m.joint(f"ankle_x_{side}", ankle, foot, joints.revolute("x"))
    m.frame(f"sole_{side}", foot, (0.02, 0, -0.05))
    for k, (x, y) in enumerate(CORNERS):
        m.frame(f"sole_{side}_{k}", foot, (x, y, -0.05))
m.push("torso")

soles = {f"sole_{side}": [f"sole_{side}_{k}" for k in range(len(CORNERS))] for side in "lr"}
feet = [corner for corners in soles.values() for corner in corners]
controller = control.capture_stepping(
    control.BodyModel(m),
    soles=soles,
    chest="torso",
    stepping=control.CaptureStepping(step_time=0.3, swing_height=0.06, longest=0.5, narrowest=0.16),
    gains=control.CaptureGains(torque_limit=200.0, force_limit=800.0),
)


def main() -> control.ControlledRun:
    machine = contact.time_stepped(m, feet, friction=0.8, fall=("torso", 0.4))
    shove = strut.push("torso", (0.3, 0.4), (10 * IMPULSE, 0.0, 0.0))
    both = (controller.using(leave=100.0), controller)  # the first never leaves where it stands
    standing, stepping = (each.run(machine, t=4.0, u=shove) for each in both)
    com, steps = stepping["com"], int(np.nanmax(stepping["steps"]))
    way, word = com[-1, 0] - com[0, 0], "step" if steps == 1 else "steps"
    print(f"pushed with {IMPULSE:.0f} N s it stands {way:.2f} m ahead, after {steps} {word}")
    print(f"without steps: {standing.trajectory.status} at {standing.trajectory.t1:.2f} s; {stepping}")
    return stepping


if __name__ == "__main__":
    main()
