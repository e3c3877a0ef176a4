"""A step over something: a walker with knees leaves its passive gait, lifts its foot over an obstacle, and is
back a step later.

The motion does not repeat: it begins and ends in the state of the gait, and the torque of the hip that does
it is as small as can be. Run it with `python examples/step_over.py`; it writes step_over.html, the walk in
motion.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from strut import gait, optimal, simulate, view, walkers

HEIGHT = 0.05
"""Of what the foot steps over [m]: nearly three times what the passive gait clears."""
STEPS = 2


def plan_steps() -> optimal.Solution:
    walker = walkers.kneed()
    passive = gait.find(walker)
    effort = optimal.Integral("effort", walker["hip_torque"] ** 2)
    step = ("passes", "knee_strike", "heel_strike")
    problem = optimal.step_problem(
        walker,
        step * STEPS,
        torque=2.0,
        friction=0.9,
        clearance=0.0,
        foot_margin=0.01,
        like=passive,
        periodic=False,
    )
    problem = problem.begin(passive.x0).minimise(effort)
    problem = problem.require(
        "the foot is over it", "clearance", low=HEIGHT, at="end", phase=problem.phases[0].name
    )
    for name, value in passive.x0.items():
        problem = problem.require(f"{name} as in the gait", walker[name], equal=value, at="after")
    run = simulate(
        walker, t=STEPS * passive.period * (1 + 1e-9), x0=passive.x0, z0=passive.z0
    )  # to begin from
    return problem.solve(run, control="cubic", intervals=8, accuracy=1e-8)


def main(page: Path = Path("step_over.html")) -> optimal.Replay:
    plan = plan_steps()
    again = optimal.replay(plan)
    print(
        f"effort {plan.cost:.4g} N2 m2 s, torque at most {np.abs(plan['hip_torque']).max():.3g} N m, "
        f"{plan.iterations} iterations"
    )
    for strike in [e for e in again.run.events if e.name == "passes"]:
        print(
            f"  at {strike.t:.3f} s the foot passes {again.run.at(strike.t)['clearance'] * 100:.2f} cm above "
            f"the ground"
        )
    print(
        f"the simulator {'agrees' if again.ok else 'does not agree'}; energy balance "
        f"{again.balance.relative:.1g}"
    )
    view.page(again.run, page)
    print(f"wrote {page}")
    return again


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
