"""`robust_design`: a machine for several worlds: slopes, loads, steady pushes or parameters that are not as
they were meant.

Every scenario is a replica of the step, with its own motion, its own plan and every limit kept; all share
the machine, its free parameters, and what is minimised is the expected cost. The machine is chosen before it
is known which world it will be in; how it walks, and by which plan, after. So what one gets is a machine, and
a plan for each scenario; a control law that must serve all of them is made of parameters of the system
(gains, set points, coefficients of a torque over time), which are free and shared like others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strut.checks import checked, is_number
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.problem import bounds_name
from strut.optimal.solver.replicas import JointOptimum, solve_replicas
from strut.optimal.solver.watch import MIN_ROUND, SearchStage, SearchWatch, StageProgress
from strut.optimal.walk.active_limits import ActiveLimit
from strut.optimal.walk.costs import CostChoice, add_weight_parameters
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_search import design
from strut.optimal.walk.goal_field import goal_fields
from strut.optimal.walk.step_goal import StepGoal
from strut.system import System, hold_disturbances
from strut.tabular import Tabular

JOINT_SETTINGS: dict[str, Any] = {"tol": 1e-9, "max_iter": 500}
"""Options of IPOPT for all replicas together, where nothing else is asked."""


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
class RobustDesign(Tabular):
    """A machine for several scenarios, and how it walks in each.

    parameters: those that were free and are shared. scenarios, designs: the worlds, and in each the walk of
        this machine, verified by itself. alone: the designs that knew their world beforehand.
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
    def expected_cost(self) -> float:
        """The weighted mean of the costs."""
        return expected_cost(self.scenarios, self.designs)

    @property
    def least_cost(self) -> float:
        """The weighted mean of the costs of machines that were made for one scenario each. No machine has a
        lower expected cost, as far as these are the best ones: optima are local, and `doubts` says which of
        them are not ok."""
        return expected_cost(self.scenarios, self.alone)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is wrong with machines that were made for one scenario each, in sentences."""
        return tuple(
            f"the machine for {scenario.label} alone, which is compared with: {why}"
            for scenario, own in zip(self.scenarios, self.alone, strict=True)
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
            for scenario, each in zip(self.scenarios, self.designs, strict=True)
            for limit in each.active_limits
        ]

    @property
    def wrong(self) -> tuple[str, ...]:
        """What keeps it from being `ok`, in sentences."""
        own = () if self.success else (f"the replicas together: {self.status}",)
        sentences = [
            f"{scenario.label}: {why}"
            for scenario, each in zip(self.scenarios, self.designs, strict=True)
            for why in each.wrong
        ]
        return (*own, *sentences)

    @property
    def cost_text(self) -> str:
        """The expected cost, beside that of machines for one scenario each, in words."""
        return (
            f"expected cost {self.expected_cost:.6g}; {self.least_cost:.6g} with a machine for each "
            f"scenario, below which no single one gets if these are the best"
        )

    def columns(self) -> dict[str, list[object]]:
        """Return the scenarios with weight, cost, the cost of a machine of its own, and the verdict."""
        return {
            "scenario": [each.label for each in self.scenarios],
            "weight": [each.weight for each in self.scenarios],
            "cost": [each.result.cost for each in self.designs],
            "cost of a machine of its own": [each.result.cost for each in self.alone],
            "verdict": [each.verdict for each in self.designs],
        }

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
                {"changes": dict(scenario.changes), "weight": scenario.weight, "alone": own.result.cost}
                | each.data()
                for scenario, each, own in zip(self.scenarios, self.designs, self.alone, strict=True)
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
    """Return the weighted mean of the costs of designs."""
    total = sum(each.weight for each in scenarios)
    return sum(s.weight * d.result.cost for s, d in zip(scenarios, designs, strict=True)) / total


@checked
def walks_in(
    walker: System,
    scenarios: Sequence[Scenario],
    cost: CostChoice = "squared-torque",
    *,
    guesses: Sequence[Any] = (),
    **options: Any,
) -> tuple[Design, ...]:
    """Return how a machine as it is walks in every scenario: a `Design` each, nothing free.

    guesses: to begin from, one for each; by default each begins from the last that was `ok`. options: of
    `design`, but for price_torque.
    """
    refuse_price(options, "the walks of one machine")
    designs: list[Design] = []
    guess: Any = options.pop("guess", None)
    for k, scenario in enumerate(scenarios):
        begin = guesses[k] if guesses else guess
        asked = {**options, **scenario.goal(), **({} if begin is None else {"guess": begin})}
        designs.append(design(scenario.walker(walker), (), cost, **asked | {"price_torque": False}))
        if designs[-1].result.is_interrupted:
            raise KeyboardInterrupt
        guess = designs[-1] if designs[-1].ok else guess
    return tuple(designs)


def refuse_price(options: Mapping[str, Any], what: str) -> None:
    """Raise `ModelError` where a price on torque is asked: costs that are compared would differ."""
    if options.get("price_torque"):
        raise ModelError(
            f"price_torque=True cannot be asked of {what}: the price may differ from one to the next, and so "
            f"would what their costs mean; give the cost a little squared torque by hand"
        )


@checked
def robust_design(
    walker: System,
    free: str | Sequence[str] | Mapping[str, tuple[float, float]],
    cost: CostChoice = "squared-torque",
    *,
    scenarios: Sequence[Scenario | Mapping[str, float]],
    progress: StageProgress | None = None,
    **options: Any,
) -> RobustDesign:
    """Find the machine with the least expected cost over scenarios.

    free, cost: as `design` has them; what is free is shared by all scenarios. scenarios: a `Scenario` each,
        or what differs in it, by name, all as likely. progress: is told every stage. options: further ones of
        `design`, for all scenarios.

    tolerance, iterations, backend and options also hold for all replicas together, and budget [s], where it
    is given, for their solver.

    First every scenario is designed for by itself; then all replicas are solved as one nonlinear program,
    and last how the machine walks is found anew in each and verified. Raises `ModelError` where a scenario
    alone has no solution, with what is wrong.
    """
    if options.get("stability") is not None:
        raise ModelError(
            "stability cannot be asked of a robust design: the replicas do not bound multipliers; design "
            "first, then stabilise each walk, optimal.stabilise(walk.result, ...)"
        )
    refuse_price(options, "a robust design")
    worlds = tuple(each if isinstance(each, Scenario) else Scenario(dict(each)) for each in scenarios)
    names = [free] if isinstance(free, str) else list(free)
    if len(worlds) < 2 or not names:
        raise ModelError(
            f"a robust design shares free parameters between scenarios: it has {len(worlds)} scenarios and "
            f"{len(names)} free parameters, at least 2 and 1 are needed"
        )
    for world in worlds:
        if doubles := [name for name in world.changes if name in names]:
            raise ModelError(f"'{doubles[0]}' is free and changed by a scenario: leave it out of one of them")
    watch = SearchWatch(progress=progress)
    walker = add_weight_parameters(walker, cost)
    alone: list[Design] = []
    for world in worlds:
        watch.tell("a machine for one scenario", world.label)
        begin = {} if not alone or "guess" in options else {"guess": alone[-1]}
        asked = {**options, **world.goal(), **begin}
        there = design(world.walker(walker), free, cost, **asked | {"price_torque": False})
        if there.result.is_interrupted:
            raise KeyboardInterrupt
        if not there.result.success:
            raise ModelError(
                f"no machine walks in the scenario '{world.label}' even if it is made for it: "
                f"{'; '.join(there.wrong)}; ask for less there"
            )
        alone.append(there)
    watch.tell("all scenarios together", f"{len(worlds)} replicas")
    together = solve_replicas(
        [each.result for each in alone],
        weights=[world.weight for world in worlds],
        settings=joint_settings(options),
        backend=options.get("backend"),
    )
    watch.tell("the machine in every scenario")
    machine = walker.using(together.parameters)
    rest = {name: value for name, value in options.items() if name != "guess"}
    designs = walks_in(machine, worlds, cost, guesses=together.guesses, like=alone[0].passive, **rest)
    return RobustDesign(
        parameters=together.parameters,
        scenarios=worlds,
        designs=designs,
        alone=tuple(alone),
        success=together.success,
        status=together.status,
        iterations=together.iterations,
        kkt=together.kkt,
        parameter_limits=find_parameter_limits(together, walker),
    )


def joint_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of IPOPT for all replicas together, of those of `design`."""
    names = {"tolerance": "tol", "iterations": "max_iter"}
    asked = {of_solver: options[name] for name, of_solver in names.items() if name in options}
    if math.isfinite(budget := options.get("budget", math.inf)):
        asked["max_wall_time"] = max(budget, MIN_ROUND)
    return {**JOINT_SETTINGS, **asked, **options.get("options", {})}


def find_parameter_limits(together: JointOptimum, walker: System) -> tuple[ActiveLimit, ...]:
    """Return the bounds of shared parameters that decide the expected cost."""
    quantities = {bounds_name(q.name): q for q in walker.p}
    limits = []
    for group in together.multipliers:
        quantity = quantities[group.name]
        for side in group.active_sides(together.cost, together.scale):
            own = quantity.bounds[0 if side == "low" else 1]
            limits.append(
                ActiveLimit(
                    name=group.name,
                    side=side,
                    value=group.bound(side),
                    unit=quantity.unit,
                    source="model" if own == group.bound(side) else "asked",
                    slope=group.slope(side),
                )
            )
    return tuple(limits)


__all__ = ["RobustDesign", "Scenario", "SearchStage", "robust_design", "walks_in"]
