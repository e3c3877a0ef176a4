"""Who asked a requirement of a step: a goal by its name and option, a default, the user, or every step."""

from __future__ import annotations

from strut.optimal.solver.result import Solution
from strut.optimal.walk.active_limits import KEPT_ALWAYS, added_by_fields
from strut.optimal.walk.step_limits import StepLimits


def limit_origins(solution: Solution, limits: StepLimits | None) -> dict[str, str]:
    """Return who asked each requirement of a problem, by its name, in words that say what a user would
    change; empty without limits of a step, or of a search that did not fail."""
    if limits is None or solution.success:
        return {}
    origins = {r.name: KEPT_ALWAYS for r in solution.problem.requirements}
    origins |= {each.name: "required by you" for each in limits.own.require}
    asked = limits.goal.asked_values()
    for name, (requirements, _) in added_by_fields(solution.problem, limits).items():
        option = f"{name}, {limits.fields[name].flag}"
        words = f"asked by {option}" if name in asked else f"by default, unless you ask {option}"
        origins |= dict.fromkeys(requirements, words)
    return origins


__all__ = ["limit_origins"]
