"""`RobustDesign`: a machine for several worlds, each a `Scenario`, and how it walks in each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strut.checks import checked, is_number
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.solver.result import INTERRUPTED
from strut.optimal.walk.active_limits import ActiveLimit
from strut.optimal.walk.design import Design
from strut.optimal.walk.goal_field import goal_fields
from strut.optimal.walk.step_goal import StepGoal
from strut.simulate import SavedResult
from strut.system import System, hold_disturbances
from strut.tabular import Tabular


@checked
@dataclass(frozen=True)
class Scenario:
    """One of the worlds that a machine should do well in.

    changes: what differs in it, by name: what is asked of a step (slope [rad], speed [m/s], ...), a parameter
        of the machine that is not free, as it may come out, or a disturbance of `Mechanism.push`, held all
        along [N]. weight: how often it is met, relative to others.
    """

    changes: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise ValueRangeError(f"a scenario has the weight {self.weight:g}: it must be positive")
        for name, value in self.changes.items():
            if not is_number(value):
                raise ValueRangeError(f"'{name}' of a scenario is {value!r}: a number is needed")

    @property
    def label(self) -> str:
        """What differs, as text."""
        return ", ".join(f"{name} {value:.4g}" for name, value in self.changes.items()) or "as it is"

    def walker(self, walker: System) -> System:
        """Return the walker in this world."""
        ready = hold_disturbances(walker)
        names = [name for name in self.changes if name not in goal_fields(StepGoal)]
        allowed_names = [*ready.labels("p"), *goal_fields(StepGoal)]
        for name in names:
            if name not in ready.labels("p"):
                raise UnknownNameError(
                    f"a scenario changes '{name}', which is nothing asked of a step, and no parameter or "
                    f"disturbance of '{walker.name}': {did_you_mean(name, allowed_names)}"
                )
        return ready.using({name: self.changes[name] for name in names}) if names else walker

    def goal(self) -> dict[str, float]:
        """Return what is asked of a step in this world."""
        return {name: value for name, value in self.changes.items() if name in goal_fields(StepGoal)}


@checked
@dataclass(frozen=True, eq=False)
class RobustDesign(SavedResult, Tabular):
    """A machine for several scenarios, and how it walks in each.

    parameters: those that were free and are shared. scenarios, designs: the worlds, and in each the walk of
        this machine, verified by itself. alone: the designs that knew their world beforehand. Where Ctrl-C
        ended the search (`is_interrupted`), there are as many as were found, those of the first scenarios.
    ok: the conditions of an optimum hold for all replicas together, and every design is `ok`. doubts: what
        keeps machines made for one scenario from being believed, which are only compared with.
    status: what the solver said. iterations: of it, for all replicas together. kkt: how well the conditions
        of an optimum hold, relative to the scales of unknowns, constraints and cost.
    parameter_limits: bounds of shared parameters that decide the answer; every design has its own
        `active_limits`.
    """

    parameters: Mapping[str, float]
    scenarios: tuple[Scenario, ...]
    designs: tuple[Design, ...] = field(repr=False)
    alone: tuple[Design, ...] = field(repr=False)
    success: bool
    status: str
    iterations: int
    kkt: Mapping[str, float] = field(repr=False, default_factory=dict)
    parameter_limits: tuple[ActiveLimit, ...] = field(repr=False, default=())

    @property
    def ok(self) -> bool:
        """Whether it is an optimum, and every walk is believed."""
        return self.success and all(each.ok for each in self.designs)

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.status == INTERRUPTED

    @property
    def system(self) -> System:
        """The machine in the first scenario; where it was not found, the one for that scenario alone."""
        return (self.designs or self.alone)[0].system

    @property
    def expected_cost(self) -> float:
        """The weighted mean of the costs; nan where a walk was not found."""
        return expected_cost(self.scenarios, self.designs)

    @property
    def least_cost(self) -> float:
        """The weighted mean of the costs of machines that were made for one scenario each. No machine has a
        lower expected cost, as far as these are the best ones: optima are local, and `doubts` says which of
        them are not ok. nan where one was not found."""
        return expected_cost(self.scenarios, self.alone)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is wrong with machines that were made for one scenario each, in sentences."""
        return tuple(
            f"the machine for {scenario.label} alone, which is compared with: {why}"
            for scenario, own in zip(self.scenarios, self.alone, strict=False)
            for why in own.wrong
        )

    @property
    def limit_sentences(self) -> tuple[str, ...]:
        """Which limits decide the answer: of shared parameters, and in every scenario."""
        own = [f"{scenario.label}: {each.sentence}" for scenario, each in self._active_limits()]
        return (*[each.sentence for each in self.parameter_limits], *own)

    def _active_limits(self) -> list[tuple[Scenario, ActiveLimit]]:
        return [
            (scenario, limit)
            for scenario, each in zip(self.scenarios, self.designs, strict=False)
            for limit in each.active_limits
        ]

    @property
    def wrong(self) -> tuple[str, ...]:
        """What keeps it from being `ok`, in sentences."""
        own = () if self.success else (f"the replicas together: {self.status}",)
        if self.is_interrupted:
            count = len(self.scenarios)
            own = (
                f"{INTERRUPTED}: of {count} machines for one scenario {len(self.alone)} were found, and of "
                f"the walks of one machine in all of them {len(self.designs)}",
            )
        sentences = [
            f"{scenario.label}: {why}"
            for scenario, each in zip(self.scenarios, self.designs, strict=False)
            for why in each.wrong
        ]
        return (*own, *sentences)

    @property
    def cost_text(self) -> str:
        """The expected cost, beside that of machines for one scenario each, in words."""
        if self.is_interrupted:
            return "no expected cost: not every walk was found"
        return (
            f"expected cost {self.expected_cost:.6g}; {self.least_cost:.6g} with a machine for each "
            f"scenario, below which no single one gets if these are the best"
        )

    def columns(self) -> dict[str, list[object]]:
        """Return the scenarios with weight, cost, the cost of a machine of its own, and the verdict; nan and
        'interrupted' of what was not found."""
        missing = len(self.scenarios) - len(self.designs)
        return {
            "scenario": [each.label for each in self.scenarios],
            "weight": [each.weight for each in self.scenarios],
            "cost": self._costs(self.designs),
            "cost of a machine of its own": self._costs(self.alone),
            "verdict": [*[each.verdict for each in self.designs], *[INTERRUPTED] * missing],
        }

    def _costs(self, designs: Sequence[Design]) -> list[object]:
        """Return the cost in every scenario, nan where there is none."""
        costs: list[object] = [each.result.cost for each in designs]
        return costs + [math.nan] * (len(self.scenarios) - len(costs))

    def table(self) -> str:
        """Return parameters and scenarios as text."""
        rows = list(zip(*self.columns().values(), strict=True))
        lines = [f"{name} {value:.6g}" for name, value in self.parameters.items()]
        lines += [f"{label}: cost {cost:.6g} ({own:.6g} alone), {word}" for label, _, cost, own, word in rows]
        lines.append(self.cost_text)
        return "\n".join(lines)

    def data(self) -> dict[str, Any]:
        """Return what `strut design --robust ... --json` prints."""
        return {
            "ok": self.ok,
            "status": self.status,
            "wrong": list(self.wrong),
            "parameters": dict(self.parameters),
            "expected_cost": self.expected_cost,
            "least_cost": self.least_cost,
            "iterations": self.iterations,
            "kkt": dict(self.kkt),
            "doubts": list(self.doubts),
            "parameter_limits": [each.data() for each in self.parameter_limits],
            "scenarios": [
                {"changes": dict(scenario.changes), "weight": scenario.weight, "alone": own}
                | (self.designs[k].data() if k < len(self.designs) else {})
                for k, (scenario, own) in enumerate(zip(self.scenarios, self._costs(self.alone), strict=True))
            ],
        }

    def __repr__(self) -> str:
        values = ", ".join(f"{n} {v:.4g}" for n, v in self.parameters.items())
        good = "ok" if self.ok else f"not ok ({self.status})"
        return (
            f"<RobustDesign for {len(self.scenarios)} scenarios: {good}, expected cost "
            f"{self.expected_cost:.5g}, {values}>"
        )


def expected_cost(scenarios: Sequence[Scenario], designs: Sequence[Design]) -> float:
    """Return the weighted mean of the costs of designs; nan where a scenario has none."""
    if len(designs) < len(scenarios):
        return math.nan
    total = sum(each.weight for each in scenarios)
    return sum(s.weight * d.result.cost for s, d in zip(scenarios, designs, strict=True)) / total


__all__ = ["RobustDesign", "Scenario", "expected_cost"]
