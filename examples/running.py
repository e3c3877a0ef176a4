"""A run: a torso on two legs with knees, a flight in every step, the least squared torque at a speed.

Nothing says how it runs. The search begins with a body that is thrown from one foot to the other, by inverse
kinematics and dynamics; when a foot lets go and when the next one lands is found with the torques. The
simulator replays what was found, and knows nothing of the plan but its inputs.

    python examples/running.py [DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

from strut import optimal, report, walkers
from strut.optimal import Design

SPEED = 2.0
"""[m/s]"""
FLIGHT = 0.1
"""[s] in the air, of every step."""


def main(directory: str | Path | None = None) -> Design:
    """Design the ready-made runner; the same as `strut design runner --speed 2 --flight 0.1`."""
    design = optimal.design(walkers.runner(), speed=SPEED, flight=FLIGHT)
    stance, flight = design.result.phases
    print(f"{design.speed:.2f} m/s, in the air for {flight.duration:.3f} s of every step")
    print(
        f"cost {design.result.cost:.3f} N m s, steps of {design.step_length:.3f} m, "
        f"{stance.duration:.3f} s on the ground"
    )
    for foot in design.replay.foot_loads:
        print(f"friction needed {foot.friction_needed:.2f} under {foot.foot}")
    if design.gait is not None:
        print(f"largest multiplier {abs(design.gait.multipliers[0]):.0f}: a plan without feedback falls")
    for line in design.wrong:
        print(line)
    if directory is not None:
        print(report.design_result(design).folder(directory).directory / "index.html")
    return design


if __name__ == "__main__":
    main(*sys.argv[1:])
