"""`StepLimits`: all that a step must keep, asked or by default, and how it is put on walker, problem and
solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from strut.optimal.problem import Problem
from strut.optimal.solver.result import Solution
from strut.optimal.solver.watch import SearchWatch
from strut.optimal.walk.goal_field import GoalField, GoalValue, UsualStep, goal_fields
from strut.optimal.walk.own_limits import OwnLimits
from strut.optimal.walk.replay import Replay
from strut.optimal.walk.step_goal import StepGoal
from strut.system import System


@dataclass(frozen=True, eq=False)
class StepLimits:
    """What a step must keep. goal: what was asked. defaults: by name, what was not asked and is kept all the
    same, so that it can be told from what was asked. own: requirements of one's own."""

    goal: StepGoal = field(default_factory=StepGoal)
    defaults: Mapping[str, GoalValue] = field(default_factory=dict)
    own: OwnLimits = field(default_factory=OwnLimits)

    @property
    def fields(self) -> dict[str, GoalField]:
        """What can be asked, by name."""
        return goal_fields(self.goal)

    def __getitem__(self, name: str) -> GoalValue | None:
        """Return what is asked by a name, else its default, else None."""
        return self.goal.asked_values().get(name, self.defaults.get(name))

    def with_defaults(self, **values: GoalValue) -> StepLimits:
        """Return the same limits with other defaults of these names."""
        return replace(self, defaults={**self.defaults, **values})

    def is_guide(self, name: str) -> bool:
        """Return whether a name is that of a default that only guides a search: nobody asked for it."""
        return name in self.defaults and self.fields[name].guide

    @property
    def guides(self) -> dict[str, GoalValue]:
        """The defaults that only guide a search, by name."""
        return {name: value for name, value in self.defaults.items() if self.is_guide(name)}

    def require(self, problem: Problem, name: str, foot_margin: float = 0.0) -> Problem:
        """Return the problem with the requirement of this name, where there is a value for it."""
        each, value = self.fields[name], self[name]
        value = each.widest if value is None else value
        if each.on_problem is None or value is None:
            return problem
        return each.on_problem(problem, value, foot_margin)

    def improve(self, solution: Solution, watch: SearchWatch) -> Solution:
        """Return a solution that also meets what no problem can require, such as stability. watch: of the
        search; it has its budget, and is told its stages."""
        for name, each in self.fields.items():
            value = self[name]
            if each.on_solution is not None and value is not None and solution.success:
                solution = each.on_solution(solution, value, watch)
        return solution

    def broken(self, replay: Replay) -> list[str]:
        """Return sentences that say which limits the simulator shows not to be kept."""
        reasons: list[str] = []
        for name, each in self.fields.items():
            value = self[name]
            if each.broken is not None and value is not None:
                reasons += each.broken(replay, value)
        return reasons

    @property
    def improves(self) -> bool:
        """Whether something is asked that only an `improve`d solution meets."""
        return any(
            each.on_solution is not None and self[name] is not None for name, each in self.fields.items()
        )

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return for tables: name, value, unit and whether it was asked or is a default."""
        asked = self.goal.asked_values()
        return [
            (name.replace("_", " "), value_text(value), each.unit, "asked" if name in asked else "default")
            for name, each in self.fields.items()
            if (value := self[name]) is not None
        ] + self.own.rows()

    def data(self) -> dict[str, dict[str, object]]:
        """Return for JSON: 'asked' and 'default', values by name."""
        return {"asked": {**self.goal.asked_values(), **self.own.data()}, "default": dict(self.defaults)}


def value_text(value: GoalValue) -> str:
    """Return a number, LOW to HIGH, or NAME: NUMBER of several, as people read it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {number:.6g}" for name, number in value.items())
    return " to ".join(f"{number:.6g}" for number in (value if isinstance(value, tuple) else (value,)))


def adapt_walker(walker: System, goal: StepGoal) -> System:
    """Return the walker on which a goal is pursued: on another slope, where one is asked."""
    for name, value in goal.asked_values().items():
        change = goal_fields(goal)[name].on_walker
        walker = walker if change is None else change(walker, value)
    return walker


def complete_limits(goal: StepGoal, walker: System, reference: UsualStep) -> StepLimits:
    """Return what is asked, with a default for everything else that has one for this walker and reference."""
    asked = goal.asked_values()
    defaults = {
        name: value
        for name, each in goal_fields(goal).items()
        if name not in asked
        and each.default is not None
        and (value := each.default(walker, reference, asked)) is not None
    }
    return StepLimits(goal, defaults)


__all__ = ["StepLimits", "adapt_walker", "complete_limits"]
