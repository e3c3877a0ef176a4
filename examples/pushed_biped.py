"""A biped of one's own stands, and is pushed: whole-body control in thirty lines.

A torso on two legs with knees and point feet. At every millisecond a quadratic program finds the torques that
best keep its centre of mass in place and its torso upright, within friction and what its motors can give;
program and machine run in compiled code.

    python examples/pushed_biped.py
"""

from __future__ import annotations

import math

import strut
from strut import contact, control
from strut.mechanism import Mechanism, joints

LEG = 0.48
"""[m] Of a thigh, and of a shank."""
HEIGHT = 2 * LEG * math.cos(0.5) * math.cos(0.15)
"""[m] Of the hips."""
PUSH = strut.push("torso", (0.05, 0.15), (150.0, 0.0))
"""[s, N] Forward, at the hips."""

m = Mechanism("biped", planar=True)
torso = m.body("torso", mass=44.5, com=(0, 0, 0.32), inertia=2.2)
m.joint("base", m.world, torso, joints.planar(), initial=(0, HEIGHT, 0), actuated=False)
for side, spread in (("r", 0.15), ("l", -0.15)):
    thigh = m.body(f"thigh_{side}", mass=8.6, com=(0, 0, -0.2), inertia=0.15)
    shank = m.body(f"shank_{side}", mass=4.2, com=(0, 0, -0.2), inertia=0.11)
    m.joint(f"hip_{side}", torso, thigh, joints.revolute("y"), initial=spread - 0.5)
    m.joint(f"knee_{side}", thigh, shank, joints.revolute("y"), at=(0, 0, -LEG), initial=1.0, limits=(0.1, 3))
    m.frame(f"foot_{side}", shank, (0, 0, -LEG))
m.push("torso")

machine = contact.rigid(m, ["foot_r", "foot_l"], friction=0.8)
body = control.BodyModel(m)
x, _, z = body.at(body.com)
controller = control.whole_body(
    body,
    every=1e-3,
    tasks=[
        control.CentreOfMassTask(target=[x, z], stiffness=60.0),
        control.OrientationTask(frame="torso", target=0.05),
    ],
    contacts=[control.PointContact(frame=f"foot_{side}", friction=0.6, max_force=1000.0) for side in "rl"],
    torque_limit=200.0,
    name="stand",
)


def main() -> control.ControlledRun:
    run = controller.run(machine, t=3.0, u=PUSH)
    largest = abs(run["com_error"]).max()
    torque = max(abs(run[name]).max() for name in controller.command)
    print(f"pushed with 15 N s it moves by {100 * largest:.1f} cm and stands: {run}")
    print(f"largest residual of {len(run.samples)} programs: {run.kkt:.1g}; torques up to {torque:.0f} N m")
    return run


if __name__ == "__main__":
    main()
