"""One step of Saurel's walkers driven rigidly, by springs in series and by springs in parallel: the problem,
and how it is solved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.actuator import constants, driven, drives
from strut.optimal import Design, Problem, cost_of_transport, step_problem
from strut.optimal.solver.result import Solution
from strut.optimal.walk.costs import Cost
from strut.studies.saurel_walks import (
    FRICTION,
    LINEAR_SOLVER,
    MAX_TORQUE,
    WARM_START,
    guess,
    repeated_torques,
)
from strut.system import System
from strut.walkers.saurel import saurel_a, saurel_e

WORK, TORQUE = "absolute-work-per-metre", "squared-torque-per-metre"
"""The two costs, by their names in `gait.COST_MEANINGS`."""
STEP_LENGTHS = (0.6, 1.0)
"""Bounds of the length of a step [m]: six of the twelve published steps are 0.6 exactly, which so must be a
bound; the upper one is the paper's."""
DURATIONS = (0.4, 1.0)
"""Bounds of the duration of a step [s]; published are 0.47 to 0.90, and free. Our choice."""
PRICE = 1e-4
"""Price of squared torque [J/(N m)^2/s] beside work, which alone would not care how large torques are as long
as nothing moves. Our choice."""
SLOPE = 0.05
"""Slope of the ground, downhill [rad], as in the paper; the thesis does not say it again."""
EVENTS = ("heel_strike",)
"""The event that ends the one phase of a step."""
INTERVALS = 18
"""Intervals of the mesh."""
COARSE, FINE = 4, 6
"""Collocation points of an interval: for the first solution, and for the last."""
ACCURACY = 1e-7
"""Largest collocation defect of a solution that is refined."""
MAX_RATE, MAX_ANGLE = 40.0, 1.5
"""Bounds of rates [rad/s] and of angles [rad], in size."""
SCALES = {WORK: 1e-1, TORQUE: 1e-3}
"""Factors of the costs in the solver, so that its tolerances mean what they should."""
SAME_COST = 1e-3
"""Relative difference of costs below which two solutions count as one step."""
MAX_REFINED = 4
"""Solutions that are refined at most, the cheapest first, until the simulator agrees with one."""
MODELS_REFINED_FULLY = ("M_A",)
"""Models that are solved so quickly that all of these are refined, and the best is kept."""
SPRING_GUESSES = (5.0, 250.0)
"""Range of guesses of springs [N m/rad]."""
STARTS = {("M_A", WORK): 8, ("M_A", TORQUE): 6, ("M_E", WORK): 1, ("M_E", TORQUE): 12}
"""Guesses to begin from, by model and cost, every other one with springs of its own; work of the whole body
is slow to solve for, and begins from the step of least squared torque."""
Bounds = Mapping[str, tuple[float, float]]
USUAL_BOUNDS: Bounds = {}
"""No bounds other than those of `problem`."""
MODELS: dict[str, Callable[[], System]] = {"M_A": saurel_a, "M_E": saurel_e}
"""The walkers, by their names in the thesis."""


@dataclass(frozen=True, eq=False)
class Driven:
    """A solved step: of which model, driven how, at which cost. seconds: in the solver, all starts and meshes
    together. costs_of_starts: what the starts led to, of those that were solved. refused: how many cheaper
    steps the simulator did not make."""

    model: str
    drive: str
    cost: str
    result: Solution = field(repr=False)
    seconds: float
    costs_of_starts: tuple[float, ...] = ()
    refused: int = 0

    @cached_property
    def design(self) -> Design:
        """The step as a design, which replays it in the simulator."""
        return Design(self.result, Cost(self.cost, self.result.problem.objective, self.result.problem.totals))

    @property
    def value(self) -> float:
        """What was to be small, integrated anew: [J/m], or [N^2 m s]."""
        integrated = self.result.accurate_totals
        names = [
            n
            for n in integrated
            if (n == "squared_torque" if self.cost == TORQUE else n.startswith("absolute_work"))
        ]
        return float(sum(integrated[n] for n in names)) / self.design.step_length

    @property
    def springs(self) -> dict[str, float]:
        """Constants that were found: [N m/rad], and angles of rest [rad]."""
        return {n: v for n, v in self.result.parameters.items() if n != "slope" and self.drive != "rigid"}

    @property
    def turns(self) -> int:
        """How often, in a step, the motor of the first series drive turns round."""
        name = next((n for n in self.result.problem.system.labels("x") if n.endswith("_motor_rate")), None)
        if name is None:
            return 0
        rate = self.result.at(np.linspace(0, self.result.duration, 1001))[name]
        return int(np.count_nonzero(np.diff(np.sign(rate))))

    @property
    def ok(self) -> bool:
        """Is it solved, and does the simulator make the same step?"""
        return self.result.ok and self.design.replay.ok


def problem(
    model: str,
    drive: str,
    cost: str,
    *,
    slope: tuple[float, float] = (SLOPE, SLOPE),
    step_length: tuple[float, float] = STEP_LENGTHS,
    duration: tuple[float, float] = DURATIONS,
) -> Problem:
    """Pose the search for one step that repeats, torques included, as cheap as there is for the distance.
    Bounds: of the slope [rad], the step [m], its duration [s]. A rigid drive is one with springs beside its
    motors that are held at zero, so that nothing is compiled twice."""
    rigid = MODELS[model]()
    system = driven(rigid, drive)
    system = system.using({q.name: 0.0 for q in system.p if q.name.endswith("_series_damping")})
    p = step_problem(
        system, EVENTS, duration=duration, step_length=step_length, torque=MAX_TORQUE, friction=FRICTION
    ).resume(repeated_torques(system))
    p = p.within(
        {
            name: (-MAX_RATE, MAX_RATE) if name.endswith("_rate") else (-MAX_ANGLE, MAX_ANGLE)
            for name in system.labels("x")
        }
    )
    springs = (
        dict.fromkeys(constants(rigid, "parallel"), (0.0, 0.0))
        if drive == "rigid"
        else constants(rigid, drive)
    )
    p = p.free(**springs, slope=slope)
    main_cost, torque = (cost_of_transport(system, name, EVENTS) for name in (cost, TORQUE))
    price = main_cost.expression + PRICE * torque.expression if cost == WORK else main_cost.expression
    return p.minimise(SCALES[cost] * price)


def begin(
    p: Problem, model: str, step: float, random: np.random.Generator | None = None, springs: bool = False
) -> dict[str, Any]:
    """Return a guess: legs that swing evenly, and motors with them; `random` moves the ends of all lines, the
    slope where it is free, and `springs`."""
    values = guess(p.system, step, random)
    values["duration"] = sum(values["duration"])
    rigid = MODELS[model]()
    for d in drives(rigid):
        if f"{d.name}_motor" in values:
            f = ca.Function("motor", [ca.vertcat(*[q.sym for q in rigid.x])], [d.angle, d.rate])
            ends = [[float(e) for e in f([values[n][k] for n in rigid.labels("x")])] for k in (0, 1)]
            values |= {
                f"{d.name}_motor{what}": [end[k] for end in ends] for k, what in enumerate(("", "_rate"))
            }
    for name, (low, high) in p.parameters.items():
        if low < high and random is not None and (springs or name == "slope"):
            inside = (
                SPRING_GUESSES
                if name.endswith("_spring")
                else (0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high)
            )
            values[name] = random.uniform(*inside)
    return values


def walk(
    model: str,
    drive: str,
    cost: str,
    bounds: Bounds = USUAL_BOUNDS,
    first: Sequence[Solution] = (),
    *,
    starts: int = 0,
) -> Driven:
    """Find the best step that the simulator makes, too: from several guesses, and from those in `first`, on
    few points; then with as many as accuracy takes. What the problem does not know is that a foot which has
    passed the other must not touch the ground on its way. bounds: other ones, of `problem`. starts: how many
    guesses, if not as many as usual."""
    asked = problem(model, drive, cost, **bounds)
    longest = bounds.get("step_length", STEP_LENGTHS)
    how: dict[str, Any] = {"control": "cubic", "iterations": 300, "intervals": INTERVALS}
    tried = []
    for k in range(starts or STARTS[model, cost]):
        random = np.random.default_rng(k // 2)
        step = float(np.clip(random.uniform(0.6, 0.9), *longest))
        tried.append(begin(asked, model, step, random if k else None, springs=k % 2 == 1))
    attempts: list[tuple[Any, dict[str, Any]]] = [
        *[(g, LINEAR_SOLVER) for g in tried],
        *[(r, options) for r in first for options in (LINEAR_SOLVER, WARM_START)],
    ]
    rough = [
        asked.solve(g, accuracy=None, tolerance=1e-6, stages=COARSE, options=dict(options), **how)
        for g, options in attempts
    ]
    seconds = sum(r.times["solve"] for r in rough)
    solved = sorted((r for r in rough if r.success), key=lambda r: r.cost)
    costs = tuple(r.cost / SCALES[cost] for r in solved)
    walks: list[Driven] = []
    for r in _different(solved) or rough[:1]:
        fine = r
        for options in (WARM_START, LINEAR_SOLVER) if r.success else ():
            fine = asked.solve(
                r,
                accuracy=ACCURACY,
                cost_accuracy=None,
                tolerance=1e-8,
                stages=FINE,
                options=dict(options),
                **{**how, "iterations": 600},
            )
            seconds += fine.times["solve"]
            if fine.success:
                break
        walks.append(Driven(model, drive, cost, fine, seconds, costs, sum(not each.ok for each in walks)))
        if walks[-1].ok and model not in MODELS_REFINED_FULLY:
            break
    good = [each for each in walks if each.ok]
    return replace(min(good, key=lambda each: each.value) if good else walks[0], seconds=seconds)


def _different(results: list[Solution]) -> list[Solution]:
    """Of results in order of their costs, one of each; the best few."""
    distinct: list[Solution] = []
    for r in results:
        if not distinct or abs(r.cost - distinct[-1].cost) > SAME_COST * (SAME_COST + abs(r.cost)):
            distinct.append(r)
    return distinct[:MAX_REFINED]
