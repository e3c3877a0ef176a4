"""A walker in space that falls to the side, and the same one when its feet go where its hip tips to; then a
push, a line to follow, and a corner.

    python examples/foot_placement.py
"""

from __future__ import annotations

import numpy as np

import strut
from strut import control, gait, walkers
from strut.simulate import Trajectory

NOMINAL = {"pitch_rate": 2.0}
"""[rad/s] The speed at which gaits are looked for."""
CORNER = 5.0
"""[s] When the line of walking turns."""


def main() -> Trajectory:
    """Compare multipliers, then walk around a corner."""
    walker = walkers.point_3d()
    steady = control.foot_placement(
        walker,
        "swing_roll",
        rate=walker["roll_rate"],
        gain=0.3,
        at="midstance",
        position=walker["hip_sideways"],
        position_gain=0.3,
    )
    before, after = (gait.find(machine, NOMINAL) for machine in (walker, steady))
    lateral = max(abs(m) for m in after.multipliers if abs(m - 1) > 1e-6)
    print(f"largest lateral multiplier {abs(before.multipliers[0]):.3f} before, {lateral:.3f} after")
    # a quarter of what is missing of the course at every step, to the left after the corner
    course = np.pi / 4 * (strut.time > CORNER)
    law = {"turn": 0.25 * (course - steady["heading"]) * steady["side"]}
    turning = control.step_feedback(steady, law, at="midstance", limits={"turn": 0.15})
    run = strut.simulate(turning, t=10.0, x0={"roll_rate": 0.3})  # pushed to the side as it begins
    print(f"after 10 s it walks at {np.degrees(run['heading'][-1]):.1f} degrees, {run.status}")
    return run


if __name__ == "__main__":
    main()
