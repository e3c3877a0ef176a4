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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strut.checks import checked
from strut.errors import ModelError
from strut.interrupts import reveal_interrupts
from strut.optimal.problem import bounds_name
from strut.optimal.solver.replicas import JointOptimum, solve_replicas
from strut.optimal.solver.result import INTERRUPTED
from strut.optimal.solver.watch import MIN_ROUND, SearchStage, SearchWatch, StageProgress
from strut.optimal.walk.active_limits import ActiveLimit
from strut.optimal.walk.costs import CostChoice, add_weight_parameters
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_search import design
from strut.optimal.walk.robust_result import RobustDesign, Scenario
from strut.system import System

JOINT_SETTINGS: dict[str, Any] = {"tol": 1e-9, "max_iter": 500}
"""Options of IPOPT for all replicas together, where nothing else is asked."""


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
    return tuple(_walks(walker, scenarios, cost, guesses=guesses, **options))


def _walks(
    walker: System,
    scenarios: Sequence[Scenario],
    cost: CostChoice,
    *,
    guesses: Sequence[Any],
    **options: Any,
) -> Iterator[Design]:
    """Yield the walks of `walks_in`, one after another; raises `KeyboardInterrupt` where one is
    interrupted."""
    guess: Any = options.pop("guess", None)
    for k, scenario in enumerate(scenarios):
        begin = guesses[k] if guesses else guess
        asked = {**options, **scenario.goal(), **({} if begin is None else {"guess": begin})}
        there = design(scenario.walker(walker), (), cost, **asked | {"price_torque": False})
        if there.result.is_interrupted:
            raise KeyboardInterrupt
        yield there
        guess = there if there.ok else guess


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

    Ctrl-C returns what there is, with the status 'interrupted'; where there is nothing yet,
    `KeyboardInterrupt` is raised.
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
    designs: list[Design] = []
    together: JointOptimum | None = None
    try:
        with reveal_interrupts():
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
            rest = {name: value for name, value in options.items() if name != "guess"}
            rest |= {"like": alone[0].passive, "guesses": together.guesses}
            for walk in _walks(walker.using(together.parameters), worlds, cost, **rest):
                designs.append(walk)
    except KeyboardInterrupt:
        if not alone:
            raise
    is_whole = len(designs) == len(worlds)
    return RobustDesign(
        parameters={} if together is None else together.parameters,
        scenarios=worlds,
        designs=tuple(designs),
        alone=tuple(alone),
        success=together is not None and together.success and is_whole,
        status=together.status if together is not None and is_whole else INTERRUPTED,
        iterations=0 if together is None else together.iterations,
        kkt={} if together is None else together.kkt,
        parameter_limits=() if together is None else find_parameter_limits(together, walker),
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


__all__ = ["SearchStage", "robust_design", "walks_in"]
