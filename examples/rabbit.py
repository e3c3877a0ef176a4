"""RABBIT, a robot with a torso and two legs with knees, on a floating base: described, designed, and run.

Masses, lengths and inertias are those of Westervelt, Grizzle, Chevallereau, Choi and Morris, Feedback Control
of Dynamic Bipedal Robot Locomotion (2007), table 6.3, for the robot of Chevallereau et al. (2003), without
the rotors of its motors. These turn hips and knees; nobody holds the torso, and feet are points. Knees bend
one way only: the plan keeps their limits. Nothing says how it walks: the search begins with an even stride by
inverse kinematics.

    python examples/rabbit.py [DIRECTORY]

How should its hips be driven, and how long should its shanks be? `drive_curves` designs it with motors that
turn the hips themselves, through springs, and with springs beside them, for several speeds and steps of one
length: springs, shanks and gait are found at once. It takes some minutes, and goes on where it was stopped if
its points are kept in a folder:

    python examples/rabbit.py --drives [FILE.svg [FOLDER]]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from strut import Mechanism, Param, actuator, contact, joints, optimal, report, view
from strut.optimal import Design, TradeOff
from strut.system import Expression, System

KNEE_LIMITS = (0.02, 2.0)
"""[rad] A knee neither overextends nor folds up."""
SHANK = 0.4
"""[m] Length of a shank."""
SHANK_BOUNDS = (0.3, 0.5)
"""[m] within which `drive_curves` looks for it."""
HIPS = ("hip_l", "hip_r")
"""The joints whose drives are compared; knees are turned by their motors themselves."""
DRIVE_SPEEDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1)
"""[m/s] of the designs that are compared: near enough to each other that each leads to the next."""
DRIVE_BEGIN = 1.0
"""[m/s] of the design that is found first, from which the others begin: springs in series have several
optima, and of those that were found this one leads to the cheapest at every speed."""
DRIVE_BUDGET = 300.0
"""[s] that the search for each of them may go on."""
DRIVE_STEP = 0.4
"""[m] Length of their steps: a stiff spring would otherwise ask for ever shorter ones."""
DRIVE_INTERVALS = 20
"""Intervals that their meshes begin with: motors behind springs swing faster than legs."""


def robot(shank_length: Expression = SHANK) -> Mechanism:
    """The mechanism: a torso, and twice a thigh, a shank and a point foot. Angles are relative, as motors
    turn. A shank of another length [m] has the same mass, its shape scaled."""
    part = shank_length / SHANK
    m = Mechanism("rabbit", planar=True)
    torso = m.body("torso", mass=12.0, com=(0, 0, 0.24), inertia=1.33)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.78, 0.05), actuated=False)
    for side, hip in (("_l", -0.35), ("_r", 0.15)):
        thigh = m.body(f"thigh{side}", mass=6.8, com=(0, 0, -0.11), inertia=0.47)
        shank = m.body(f"shank{side}", mass=3.2, com=(0, 0, -0.24 * part), inertia=0.20 * part**2)
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
        m.frame(f"foot{side}", shank, (0, 0, -shank_length))
    m.frame("head", torso, (0, 0, 0.63))
    return m


def walker(shank_length: Expression = SHANK) -> System:
    """The robot on rigid ground. Left and right are alike: `symmetry` lets one step be a gait."""
    slope = Param("slope", 0.0, "rad", bounds=(-0.5, 0.5))
    return contact.rigid(
        robot(shank_length), ["foot_l", "foot_r"], contact.plane(slope), symmetry="auto", fall=("torso", 0.4)
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


def driven_walker(kind: str) -> tuple[System, dict[str, tuple[float, float]]]:
    """The robot with a free shank length and hips that are driven as a name of `actuator.KINDS` says; and
    what is free then, with its bounds."""
    plain = walker(Param("shank", SHANK, "m", bounds=SHANK_BOUNDS))
    free = {"shank": SHANK_BOUNDS}
    if kind == "rigid":
        return plain, free
    put_springs = {"series": actuator.series, "parallel": actuator.parallel}[kind]
    springs = {n: ends for n, ends in actuator.constants(plain, kind).items() if n.startswith("hip")}
    return put_springs(plain, HIPS), free | springs


def drive_curves(
    speeds: tuple[float, ...] = DRIVE_SPEEDS,
    kinds: tuple[str, ...] = tuple(actuator.KINDS),
    folder: str | Path | None = None,
) -> dict[str, TradeOff]:
    """Squared torque over speed, by kind of drive, every design begun from its neighbour's. folder: where
    points are kept."""
    curves = {}
    for kind in kinds:
        driven, free = driven_walker(kind)
        options = {"step_length": DRIVE_STEP, "intervals": DRIVE_INTERVALS, "budget": DRIVE_BUDGET}
        curves[kind] = optimal.trade_off(
            driven,
            "speed",
            speeds,
            free=free,
            guess=optimal.design(driven, free, speed=DRIVE_BEGIN, **options),
            workers=1,  # one chain
            file=None if folder is None else Path(folder, f"rabbit_{kind}.sweep"),
            **options,
        )
        for point in curves[kind].points:
            numbers = ", ".join(f"{name} {point.numbers[name]:.4g}" for name in ("cost", *free))
            print(f"{kind:8s} {point.value:.1f} m/s: {numbers if point.ok else point.status}", flush=True)
    return curves


def drive_figure(curves: dict[str, TradeOff]) -> view.Figure:
    """The costs of the drives over speed, of the points that are designs."""
    return replace(report.sweeps_figure(curves, "cost"), y="squared torque [N m s]")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--drives"]:
        place, folder, *_ = [*sys.argv[2:], *(None, None)]
        drive_figure(drive_curves(folder=folder)).save(place or "rabbit_drives.svg")
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else None)
