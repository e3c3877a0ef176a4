"""A human's step on rigid ground, planned whole: the least squared torque at a speed.

The body is the one with which the swarms of `strut reproduce kieboom-human` walk, toes, ligaments and all;
heel and ball of a foot touch the ground. A step begins where a heel lands: the foot behind leaves from its
ball, the ball of the new foot lands, then its heel rises. Torques, times and postures are found together.

    python examples/human_optimal.py [fine]

Half a minute on a mesh that stays as it is, which the simulator does not follow yet; `fine` splits it until
it does, event by event, in four minutes of processor: toes on springs swing after every landing.
"""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np

from strut import optimal, walkers
from strut.optimal import Design
from strut.studies.human_beyond import force_peaks

PHASES = ("ball_r_release", "ball_l_touchdown", "heel_l_release", "heel_r_touchdown")
"""The events that end the phases of a step that begins with the left heel's landing."""
SPEED, STEP_LENGTH, FRICTION = 1.3, 0.72, 0.8
"""[m/s, m, 1] As the thesis asks, steps as the swarms found them, and their ground."""
COARSE = {"intervals": 8, "control": "linear", "accuracy": None, "cost_accuracy": None, "budget": 0.0}
"""One mesh, which stays as it is."""
FINE = {"intervals": 6, "cost_accuracy": 1e-3, "budget": 400.0}
"""Meshes that become finer, for so long [s]: better inputs may still save a thousandth of the cost."""
MESHES = {"coarse": COARSE, "fine": FINE}
SAMPLING = 1e-3
"""[s] Between values of a force: a force plate has as many."""


def plan_step(**settings: Any) -> Design:
    """Plan a step. settings: of the search, and what is asked otherwise, as of `optimal.design`."""
    asked = {"speed": SPEED, "step_length": STEP_LENGTH, "friction": FRICTION, "phases": PHASES}
    human = walkers.human(ground="holding", assist=0.0)
    return optimal.design(human, cost="squared-torque", **{**asked, **settings})


def sum_of_torques(design: Design) -> float:
    """The mean over the step of the sum of the sizes of all six torques [N m], as swarms make it small."""
    moments = design.result.at(np.arange(0, design.result.duration, SAMPLING))
    return float(np.mean(sum(np.abs(moments[name]) for name in design.system.labels("u"))))


def stride_force(design: Design) -> np.ndarray:
    """What the ground gives one foot over a stride, over the weight: the step in which it stands, then that
    at whose beginning it is behind. Landings are instants, and give it an impulse more."""
    walker, plan = design.planned_system, design.result
    feet = [sum((walker[f"{p}_{side}_normal"] for p in ("heel", "ball")), ca.SX(0)) for side in "lr"]
    f = walker.function("feet", [ca.vertcat(*feet)], clock=False)
    times = np.arange(0, plan.duration, SAMPLING)
    moments = plan.at(times)
    x, u = (np.array([moments[name] for name in walker.labels(group)]) for group in "xu")
    forces = []
    for k, moment in enumerate(times):
        phase = next(each for each in plan.phases if moment <= each.t[-1])
        forces.append(np.array(f(x[:, k], phase.z, u[:, k], plan.p)).ravel() / design.weight)
    return np.array(forces).T.ravel()


def main(mesh: str = "coarse") -> Design:
    """Plan the step and say what it is like."""
    if mesh not in MESHES:
        raise SystemExit(f"the mesh is '{mesh}': say {' or '.join(MESHES)}")
    design = plan_step(**MESHES[mesh])
    force = stride_force(design)
    print(f"{design.speed:.2f} m/s in steps of {design.step_length:.2f} m")
    print(f"{sum_of_torques(design):.1f} N m of torque")
    print(f"a foot stands for {100 * np.count_nonzero(force > 0) / len(force):.0f} % of a stride")
    peaks = ", ".join(f"{peak:.2f}" for peak in force_peaks(force))
    print(f"the ground gives it {peaks} weights at the peaks, and besides that landings in an instant")
    print(*(design.wrong or ("the simulator repeats it",)), sep="\n")
    return design


if __name__ == "__main__":
    main(*sys.argv[1:])
