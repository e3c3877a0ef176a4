"""`sharpen`: a plan solved again with smaller defects, where the simulator drifts away from it."""

from __future__ import annotations

from dataclasses import replace

from strut.optimal.solver.solve import solve
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_task import DesignTask

MAX_DEFECT = 1e-7
"""Collocation defects of a plan, relative to 1 + |state|: the energy balance of a step, whose errors an
unstable gait magnifies, is then closed to 1e-6."""
SHARP_DEFECTS = (1e-9, 1e-11)
"""Smaller defects that are tried, one after the other, where a replay drifts away from its plan."""
SHARP_TOLERANCE = 1e-11
"""The solver's tolerance where these are tried."""
LARGE_MULTIPLIER = 1e3
"""The smallest defect is tried for gaits that magnify a disturbance by at least this factor in a step."""
SHARP_COST_RISE = 1e-3
"""A sharper plan that costs more by this, relative to the size of the cost, is another motion, and a worse
one."""


def sharpen(best: Design, task: DesignTask) -> Design:
    """Return a design solved again with smaller defects, where the simulator does not join its plan even
    interval by interval; the same one where that is not needed, or does not help.

    Not of solutions that were improved after solving, nor where another accuracy was asked for, nor beyond
    the time that the search has.
    """
    watch = task.watch
    watch.tell("replaying the plan in the simulator")
    if best.limits.improves or not best.result.ok or task.settings["accuracy"] != MAX_DEFECT:
        return best
    problem = best.result.problem
    for defect in SHARP_DEFECTS:
        if not best.drifts or not watch.may_go_on:
            break
        gentle = best.gait is None or abs(best.gait.multipliers[0]) < LARGE_MULTIPLIER
        if defect < SHARP_DEFECTS[0] and gentle:
            break
        watch.tell("sharpening the plan", f"defects of {defect:g}")
        own_mesh = tuple(len(m.t) - 1 for m in best.result.phases)  # a coarse one would be refined again
        sharper = {
            **task.settings,
            "intervals": own_mesh,
            "accuracy": defect,
            "tolerance": SHARP_TOLERANCE,
            "watch": watch.aside(),
        }
        solution = replace(solve(problem, best.result, **sharper), accuracy=MAX_DEFECT)
        other = replace(best, result=solution)
        dearer = solution.cost > best.result.cost + SHARP_COST_RISE * best.result.cost_size
        best = other if other.ok and not dearer else best
        watch.best = best.result
    return best


__all__ = ["MAX_DEFECT", "sharpen"]
