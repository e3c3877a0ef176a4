"""`continue_to_goal`: from a gait to a goal: slope, stair and speed together, in steps as long as can be.

A passive gait is the optimum, without torque, of its own slope and speed, on ground without stairs. Where a
goal is too far from it for one search, slope, stair and speed are moved from there to what is asked (a
homotopy), each search warm from the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.gait import Gait
from strut.gait.transport import has_slope, on_slope
from strut.optimal.problem import Problem
from strut.optimal.solver.result import Solution
from strut.optimal.walk.costs import Cost
from strut.optimal.walk.design import Design
from strut.optimal.walk.frozen_branch import gait_parameters
from strut.optimal.walk.goal_field import GoalValue, as_bounds
from strut.optimal.walk.goal_requirements import require_speed
from strut.optimal.walk.read_walk import slope_of
from strut.optimal.walk.stairs import on_stairs, stair_rise

FIRST_STEP = 0.25
"""The first step, as a part of the way."""
GROWTH = 1.5
"""By this factor the next step is longer than one that succeeded."""
MIN_STEP = 1 / 32
"""A step that fails is halved, down to this part of the way."""
STAGE_ITERATIONS = 40
"""Iterations of the solver at most, for a step on the way: one that needs more is too long."""

NEAR_OPTIMUM = {
    "mu_init": 1e-5,
    "bound_push": 1e-7,
    "bound_frac": 1e-7,
    "slack_bound_push": 1e-7,
    "slack_bound_frac": 1e-7,
}
"""Options of IPOPT for a search that begins at a gait, next to an optimum: its usual barrier would push the
motion far away from it."""
SPEED_STAGES = 4
"""Stages in which the speed is brought to what is asked, where no gait is known."""

SolveStage = Callable[..., Solution | None]
"""Solves a problem on the way, from a guess; takes further settings of `solve`. None where the time is
over."""


def continue_to_goal(
    problem: Problem, gait: Gait, speed: GoalValue | None, solve_stage: SolveStage
) -> Solution | None:
    """Return the solution at the slope and the speed that are asked, or None where no step leads further.

    problem: without a requirement on its speed; its system has the slope that is asked. gait: to begin from,
    on its own slope. speed: number or bounds [m/s], None where none is asked.
    """
    walker = problem.system
    slopes = (
        (slope_of(walker, gait_parameters(walker, gait)), slope_of(walker)) if has_slope(walker) else None
    )

    rise = stair_rise(walker)

    def stage(part: float) -> Problem:
        ground = walker
        if slopes is not None:
            ground = on_slope(ground, slopes[0] + part * (slopes[1] - slopes[0]))
        if rise:
            ground = on_stairs(ground, part * rise)
        there = replace(problem, system=ground)
        if speed is None:
            return there
        low, high = as_bounds(speed)
        asked = min(max(gait.speed, low), high)
        return require_speed(there, gait.speed + part * (asked - gait.speed), 0.0)

    best = solve_stage(stage(0.0), gait, options=NEAR_OPTIMUM)
    reached, step = 0.0, FIRST_STEP
    while best is not None and best.success and reached < 1.0:
        part = min(reached + step, 1.0)
        nearer = solve_stage(stage(part), best, iterations=STAGE_ITERATIONS)
        if nearer is None or (not nearer.success and part - reached <= MIN_STEP):
            return None
        if nearer.success:
            best, reached, step = nearer, part, GROWTH * step
        else:
            step = (part - reached) / 2
    return best if best is not None and best.success else None


def continue_to_speed(
    problem: Problem, guess: object, speed: GoalValue, solve_stage: SolveStage
) -> Solution | None:
    """Return the solution at a speed, from that to which a guess leads, in `SPEED_STAGES`; the nearest there
    is; None where there is none."""
    start = solve_stage(problem, guess)
    if start is None or not start.success:
        return None
    (low, high), now = as_bounds(speed), Design(start, Cost("", ca.SX(0), ())).speed
    for stage in np.linspace(now, min(max(now, low), high), SPEED_STAGES + 1)[1:-1]:
        nearer = solve_stage(require_speed(problem, float(stage), 0.0), start)
        if nearer is None or not nearer.success:
            break
        start = nearer
    return start


__all__ = ["continue_to_goal", "continue_to_speed"]
