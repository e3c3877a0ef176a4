"""COMAN squats, lifts its arms, and is pushed: a humanoid with a motor and a spring in every joint.

Each joint has a DC motor behind a gear, some a spring, and a servo that asks for a voltage; each foot stands
on five points of ground that gives way, with friction. A squat bends hips, knees and ankles; both arms are
lifted forward, and the ankles bear what that shifts; a push on the chest is answered by the servos alone,
until it is too strong. How far it bends and lifts are parameters: one robot, compiled once, does it all. Run
it with `python examples/coman.py`: it compiles for a minute the first time, and leaves moving pictures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import strut
from strut import Param, System, control, view, walkers
from strut.simulate import Trajectory

BEND, LIFT = 0.15, 1.6
"""[rad] Hips and ankles bend so far to both sides of half a squat; so far the shoulders come up: level."""
PUSH, PUSH_TIME = 60.0, (0.2, 0.3)
"""[N] forwards on the chest; and from when to when [s]."""
STIFF = {"method": "rkc", "step": 1e-3}
"""For ground that is stiff and damped: Runge-Kutta-Chebyshev steps of a millisecond."""


def robot(base: str = "free") -> System:
    """COMAN that squats once in two seconds as far as `bend` says, lifts its arms within one as far as `lift`
    says, and can be pushed; upright, and at rest, where both are zero."""
    bend, lift = Param("bend", 0.0, "rad"), Param("lift", 0.0, "rad")
    references = {joint: wave * bend for joint, wave in walkers.coman_motion("squat", 1.0, 0.5).items()}
    arms = control.minimum_jerk(0.0, -1 * lift, duration=1.0)
    return walkers.coman(
        base=base,
        references={**references, "r_shoulder_sag": arms, "l_shoulder_sag": arms},
        pushed=["chest"],
    )


def squat(coman: System, t: float = 2.0) -> Trajectory:
    """Down, and up again."""
    return strut.simulate(coman, t, p={"bend": BEND}, **STIFF)


def arms_up(coman: System, t: float = 2.0) -> Trajectory:
    """Both arms forward and up, by a move of least jerk, and held there."""
    return strut.simulate(coman, t, p={"lift": LIFT}, **STIFF)


def push(coman: System, t: float = 2.0, force: float = PUSH) -> Trajectory:
    """Standing, and pushed on the chest for a tenth of a second."""
    planar = "y" not in coman.labels("x")
    along = (force, 0.0) if planar else (force, 0.0, 0.0)
    return strut.simulate(coman, t, u=strut.push("chest", PUSH_TIME, along), **STIFF)


def electrical_energy(run: Trajectory) -> float:
    """What all motors drew together [J]."""
    assert run.system is not None
    return sum(float(run.ledger.supplied[entry][-1]) for entry in run.system.ledger.electrical)


def main(base: str = "free", folder: Path | None = None) -> dict[str, Trajectory]:
    """Run all of it and print what is worth knowing; with a folder, leave moving pictures there."""
    coman = robot(base)
    runs = {
        "squat": squat(coman),
        "arms_up": arms_up(coman),
        "push": push(coman),
        "fall": push(coman, force=4 * PUSH),
    }
    for name, run in runs.items():
        print(
            f"{name}: {run.status} after {run.t1:.3g} s, {electrical_energy(run):.1f} J of electrical energy"
        )
        if folder is not None:
            view.page(run, folder / f"coman_{name}.html")
    down, lift, pushed, _ = runs.values()
    print(f"the squat takes the waist down by {1e3 * (down['z'][0] - down['z'].min()):.1f} mm")
    print(f"the arms come up to {-lift['r_shoulder_sag'][-1]:.3f} rad")
    print(f"the push turns the waist by up to {np.abs(pushed['pitch']).max():.3f} rad")
    return runs


if __name__ == "__main__":
    main(folder=Path.cwd())
