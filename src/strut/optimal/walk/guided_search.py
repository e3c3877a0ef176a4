"""`GuidedSearch`: a step solved within defaults that only guide, within wider ones, and made accurate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strut.optimal.problem import Problem
from strut.optimal.solver.result import Solution
from strut.optimal.solver.solve import solve
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.step_limits import StepLimits
from strut.optimal.walk.widen_guides import decided_by_guides

WIDENING_ITERATIONS = 150
"""Iterations of the solver at most, on a mesh, where it begins from a solution within narrower guides."""
REFINING_ITERATIONS = 80
"""Iterations at most on a finer mesh, within wider guides: it begins at the solution of the last, and one
that needs more seldom ends."""
WIDER_SHARE, REFINED_SHARE = 0.25, 0.75
"""The parts of the time left that a search within wider guides has on the mesh of the last, and on finer
ones: should it fail, the first guides are gone back to."""

MIN_TIME_SHARE = 0.25
"""The part of the budget that must be left to make accurate what lies between the widest guides and the
first."""


@dataclass(frozen=True, eq=False)
class GuidedSearch:
    """Solves one step within other guides. problem_within: the problem of a step within limits, but for its
    speed. as_design: a solution within limits, as the design it is."""

    task: DesignTask
    problem_within: Callable[[StepLimits], Problem]
    as_design: Callable[[StepLimits, Solution], Design]

    def begin(self, limits: StepLimits, guess: object) -> Solution:
        """Return the solution within the limits that a search begins with. Where one of them that only guides
        decides it, it is left as coarse as it is: what wider ones allow comes first."""

        def worth_refining(solution: Solution) -> bool:
            return limits.improves or not decided_by_guides(solution, limits)

        settings = {**self.task.settings, "watch": self.task.watch, "worth_refining": worth_refining}
        return solve(self._problem(limits), guess, **settings)

    def within_wider(self, limits: StepLimits, last: Solution) -> Design | None:
        """Return the design within wider limits, begun from the last solution, on its mesh; None where it
        fails, or the time is over."""
        watch = self.task.watch
        if not watch.may_go_on:
            return None
        watch.tell("within wider guides")
        settings = {
            **self.task.settings,
            "iterations": WIDENING_ITERATIONS,
            "intervals": tuple(len(m.t) - 1 for m in last.phases),
            "watch": watch.until_part(WIDER_SHARE),
        }
        if last.accuracy is None:
            settings |= {"accuracy": None, "cost_accuracy": None}
        solution = solve(self._problem(limits), last, **settings)
        return self.as_design(limits, solution) if solution.ok else None

    def has_time(self) -> bool:
        """Return whether there is time for another design within wider guides, besides the first one."""
        watch = self.task.watch
        return watch.left > MIN_TIME_SHARE * watch.budget

    def refine(self, coarse: Design, *, is_last: bool) -> Design:
        """Return a design made as accurate as is asked. is_last: whether it may have all the time left."""
        is_accurate = coarse.result.accuracy == self.task.settings["accuracy"]
        if is_accurate or not coarse.result.success:
            return coarse
        watch = self.task.watch.until_part(1.0 if is_last else REFINED_SHARE)
        settings = {**self.task.settings, "watch": watch}
        if not is_last:
            settings["iterations"] = REFINING_ITERATIONS
        return self.as_design(coarse.limits, solve(self._problem(coarse.limits), coarse.result, **settings))

    def _problem(self, limits: StepLimits) -> Problem:
        return limits.require(self.problem_within(limits), "speed")


__all__ = ["GuidedSearch"]
