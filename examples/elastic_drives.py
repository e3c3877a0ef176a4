"""One walker, three ways to drive it: rigidly, through springs, and with springs beside the motors; springs,
gait and torque found at once.

A compass is to walk on level ground, in steps of 0.35 m at 0.5 m/s, with the least squared torque of its hip
motor, which has to give what the impacts take. A spring beside the motor carries part of the swing of the
legs. A spring between motor and hip does more: the motor rings on it, more than three times in a step, and a
torque that pushes in time with it feeds the walk. What is saved in torque is paid for in work, which goes
into the damper of that spring: so work stands beside torque in what is printed and drawn. COST =
"absolute-work-per-metre" asks for the opposite, and takes minutes. Run it with
`python examples/elastic_drives.py`; it leaves elastic_drives.svg.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from strut import actuator, optimal, view, walkers
from strut.optimal import Design
from strut.view.figures.figure import PALETTE, Line

COST = "squared-torque-per-metre"
ASKED = {"speed": 0.5, "step_length": 0.35, "torque": 100.0}
"""[m/s], [m] and, at most, [N m]"""


def designs() -> dict[str, Design]:
    """The same walk asked of the same walker, driven in each way; constants of springs are free."""
    compass = walkers.compass(slope=0.0)
    designs_found = {}
    for kind in actuator.KINDS:
        walker = actuator.driven(compass, kind)  # again a System: everything else goes on as before
        designs_found[kind] = optimal.design(
            walker, free=actuator.constants(compass, kind), cost=COST, intervals=16, accuracy=1e-9, **ASKED
        )
    return designs_found


def motor(design: Design, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Torque [N m] and rate [rad/s] of the motor over a step."""
    plan = design.result.at(t)
    if "hip_motor" in plan:
        return plan["hip_motor_torque"], plan["hip_motor_rate"]
    return plan["hip_torque"], plan["swing_rate"] - plan["stance_rate"]


def work_per_metre(design: Design) -> float:
    """What the motor gives and takes [J/m]: the integral of the absolute value of its power, over the step's
    length."""
    t = np.linspace(0, design.result.duration, 4001)
    torque, rate = motor(design, t)
    return float(np.trapezoid(np.abs(torque * rate), t) / design.step_length)


def figures(designs_found: dict[str, Design]) -> view.Panels:
    """What the motors do over one step: torque, and the work given and taken until then."""
    torques, works = [], []
    for kind, color in zip(designs_found, PALETTE, strict=False):
        t = np.linspace(0, designs_found[kind].result.duration, 401)
        torque, rate = motor(designs_found[kind], t)
        torques.append(Line(kind, t, torque, color))
        power = np.abs(torque * rate)
        pieces = np.diff(t) * (power[1:] + power[:-1]) / 2
        works.append(Line(kind, t, np.concatenate([[0.0], np.cumsum(pieces)]), color))
    return view.Panels(
        view.Figure(tuple(lines), "time [s]", title)
        for lines, title in ((torques, "motor torque [N m]"), (works, "motor work, given and taken [J]"))
    )


def main(picture: str | Path = "elastic_drives.svg") -> dict[str, Design]:
    designs_found = designs()
    print("a compass on level ground, driven")
    for kind, design in designs_found.items():
        springs = ", ".join(f"{n} {v:.4g} N m/rad" for n, v in design.parameters.items()) or "no spring"
        b = design.replay.balance
        print(
            f"  {kind:8s}  squared torque {design.result.cost:8.4g} N^2 m s, work "
            f"{work_per_metre(design):6.2f} J/m, {springs}"
        )
        print(
            f"  {'':8s}  the motor gives {b.work:.2f} J a step, impact and damper take {b.lost:.2f} and "
            f"{b.dissipated:.2f} J; ",
            end="",
        )
        print("the simulator agrees" if design.ok else "not verified")
    figures(designs_found).save(picture)
    print(f"motors over one step: {picture}")
    return designs_found


if __name__ == "__main__":
    main(*sys.argv[1:])
