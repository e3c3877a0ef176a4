"""Robust design: a spring for slopes that are not known yet, against the spring that is best on level ground.

A compass with torque in its hip walks at 0.5 m/s. Its spring is chosen once: for level ground, or for the
least expected cost over slopes from 2 degrees uphill to 2 degrees downhill, as replicas in one problem. Then
the ground is drawn at random. Either machine plans for the slope it meets, within the torque that its motor
has, and the event-driven simulator repeats that plan or does not, and says at what cost. Uphill the stiff
spring of the nominal machine is in the way: its motor is too weak for the steepest slope that is drawn.

Then neither knows its slope: both follow their plan for level ground, held by the same regulator, for twenty
steps on each of a hundred random slopes, or fall. Run it with `python examples/robust.py`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strut import control, optimal, simulate, walkers
from strut.optimal import Design, RobustDesign, Scenario

COST = "squared-torque"
FREE = {"hip_spring": (0.0, 300.0)}
"""[N m/rad]"""
SPEED, TORQUE = 0.5, 55.0
"""[m/s], and what the motor gives at most [N m]"""
STEEPEST = math.radians(2.0)
SEED = 1
EFFORTS = (10.0, 30.0)
"""[N m] What the regulator may spend on an acceptable deviation: a softer loop and a harder one."""
STEPS, DRAWS = 20, 100
"""Steps of each walk, and random slopes that are walked."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Both machines on the same random slopes. slopes: [rad], positive downhill."""

    nominal: Design
    robust: RobustDesign
    slopes: np.ndarray
    nominal_walks: Sequence[Design]
    robust_walks: Sequence[Design]


def count_walks(walks: Sequence[Design]) -> int:
    """How many are believed: solved within all limits, and repeated by the simulator."""
    return sum(walk.ok for walk in walks)


def main(count: int = 12) -> Trial:
    """Try both machines on so many random slopes."""
    walker = walkers.compass(slope=0.0)
    asked = {"speed": SPEED, "torque": TORQUE}
    nominal = optimal.design(walker, FREE, COST, **asked)
    planned = [Scenario({"slope": slope}) for slope in np.linspace(-STEEPEST, STEEPEST, 3)]
    robust = optimal.robust_design(walker, FREE, COST, scenarios=planned, **asked)
    slopes = np.sort(np.random.default_rng(SEED).uniform(-STEEPEST, STEEPEST, count))
    ground = [Scenario({"slope": slope}) for slope in slopes]
    level = nominal.result.cost
    print(f"nominal: hip_spring {nominal.parameters['hip_spring']:.1f} N m/rad, on level ground {level:.3f}")
    paid = robust.designs[1].result.cost
    print(f"robust: hip_spring {robust.parameters['hip_spring']:.1f} N m/rad, on level ground {paid:.3f}")
    walks = {
        name: optimal.walks_in(walker.using(parameters), ground, COST, guess=nominal, **asked)
        for name, parameters in (("nominal", nominal.parameters), ("robust", robust.parameters))
    }
    both = [k for k in range(count) if all(each[k].ok for each in walks.values())]
    for name, each in walks.items():
        mean = float(np.mean([each[k].result.cost for k in both]))
        walked = count_walks(each)
        print(f"{name}: walks on {walked} of {count} random slopes; mean cost {mean:.3f} where both walk")
        for slope, walk in zip(slopes, each, strict=True):
            if not walk.ok:
                print(f"{name}: not on {math.degrees(slope):.2f} deg: {walk.wrong[0]}")
    return Trial(nominal, robust, slopes, walks["nominal"], walks["robust"])


@dataclass(frozen=True)
class HeldWalks:
    """One machine on random slopes that it does not know. walked: on which it made all steps. costs: squared
    torque over weight and distance [N m s]."""

    walked: np.ndarray
    costs: np.ndarray


def walk_held(design: Design, slopes: np.ndarray, effort: float) -> HeldWalks:
    """Hold a design along its steps by `control.lqr`, and let it walk `STEPS` steps on each slope."""
    with warnings.catch_warnings():
        # In its first moments the loop may ask for more than the motor has: then it gets what there is.
        warnings.simplefilter("ignore", control.EffortWarning)
        held = control.lqr(design, effort={"hip_torque": effort})
    walked, costs = [], []
    for slope in slopes:
        begin = {"x0": held.gait.x0, "z0": held.gait.z0}
        run = simulate(held.system.using({"slope": slope}), t=STEPS * held.gait.period, **begin)
        asked = run["hip_torque_planned"] + run["hip_torque_feedback"]
        heat = np.trapezoid(np.clip(asked, -TORQUE, TORQUE) ** 2, run.t)
        walked.append(run.status == "done")
        costs.append(heat / (design.weight * (run["com_x"][-1] - run["com_x"][0])))
    return HeldWalks(np.array(walked), np.array(costs))


def compare_held(trial: Trial, count: int = DRAWS) -> dict[float, dict[str, HeldWalks]]:
    """Walk both machines on the same random slopes, by their plans for level ground and regulators of the
    same weights; by what the regulator may spend."""
    slopes = np.random.default_rng(SEED).uniform(-STEEPEST, STEEPEST, count)
    plans = {"nominal": trial.nominal, "robust": trial.robust.designs[1]}
    outcomes = {}
    for effort in EFFORTS:
        here = {name: walk_held(plan, slopes, effort) for name, plan in plans.items()}
        both = here["nominal"].walked & here["robust"].walked
        for name, walks in here.items():
            walked, mean = walks.walked.sum(), walks.costs[both].mean()
            print(
                f"{name}, held with {effort:g} N m: {walked} of {count} random slopes walked for {STEPS} "
                f"steps, {count - walked} falls; mean cost {mean:.3f} where both walk"
            )
        outcomes[effort] = here
    return outcomes


if __name__ == "__main__":
    compare_held(main())
