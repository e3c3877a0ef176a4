"""One step of each of Saurel's walkers as an optimal control problem: the settings of the paper, and how it
is solved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.actuator import drives
from strut.actuator.exchange import after_event
from strut.gait import distance, weight
from strut.optimal import Design, Integral, Jumps, Problem, impact, step_problem
from strut.optimal.solver.result import Solution
from strut.optimal.walk.costs import Cost
from strut.system import System, time
from strut.walkers.saurel import saurel_a, saurel_b, saurel_c, saurel_d, saurel_e

STEP_TIME = 0.8
"""Duration of every step [s]."""
STEP_LENGTHS = (0.4, 1.0)
"""Bounds of the length of a step [m]."""
FRICTION = 0.7
"""Coefficient of friction that the feet must not exceed; the paper has a cone and does not say which."""
MAX_TORQUE = 200.0
"""Largest torque of every motor [N m]."""
PRICE = 3e-4
"""Price of squared torques [1/((N m)^2 s)], beside the cost of transport: the paper's cost alone asks for
ever larger ones."""
TORQUE_PRICE_FACTORS = {"neck": 10.0, "shoulder": 10.0}
"""Factors of the price of squared torques, of motors that are weaker."""
MAX_ANGLE, MAX_RATE = 1.5, 12.0
"""Bounds of every angle [rad] and rate [rad/s]."""
CLEARANCE = 0.01
"""Height of a foot whose leg bends, in the middle of the swing, at least [m]."""
CONSTRAINT_SLACK = 1e-3
"""Slack [m] of a constraint that meets an equation at the end of its phase: without it the solver would have
to weigh both."""
KNEE_ANGLES = (0.0, 2.5)
"""Bounds of the bend of a knee [rad]."""
NECK_ANGLES = (-0.5, 0.5)
"""Bounds of the angle of a neck [rad]."""
EVENTS = ("passes", "heel_strike")
"""A step is solved in two phases, until the swing foot is in front and until it lands: the simulator lets no
foot land before."""
INTERVALS = (4, 5)
"""Intervals of the mesh in each phase: nine, as in the paper, to begin with."""
COARSE, FINE = 4, 8
"""Collocation points of an interval: for the first solution, and for the last."""
COARSE_TOLERANCE = 1e-4
"""The solver's tolerance for the first solution, from which the last begins."""
LINEAR_SOLVER = {"mumps_permuting_scaling": 0, "mumps_pivtol": 1e-4}
"""Options of IPOPT's linear solver: the many points of an interval make it exchange rows where it need not;
seven times faster, and steadier."""
WARM_START = {
    **LINEAR_SOLVER,
    "mu_init": 1e-6,
    "bound_push": 1e-8,
    "bound_frac": 1e-8,
    "slack_bound_push": 1e-8,
    "slack_bound_frac": 1e-8,
}
"""Options of IPOPT, from a solution on a coarser mesh."""


@dataclass(frozen=True)
class Case:
    """A column of Saurel's table. passive: springs and dampers instead of motors. published: cost of
    transport, step length [m], iterations, time [s]; corrected: the cost of the author's thesis, where it
    differs. accuracy, tolerance, fine, intervals: defects, solver, points and intervals of the last mesh; a
        knee that is held by torque alone magnifies errors a million times in a step. price: of squared
        torques. backend: 'native' where C is compiled before the first solution; see `Problem.solve`."""

    name: str
    make: Callable[[], System]
    published: tuple[float, float, int, float]
    mass: float
    passive: bool = False
    corrected: float | None = None
    accuracy: float = 1e-8
    tolerance: float = 1e-8
    fine: int = FINE
    price: float = PRICE
    backend: str | None = None
    intervals: tuple[int, int] = INTERVALS


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("M_A", saurel_a, (0.1007, 0.56, 56, 2.8), 33.1),
        Case(
            "M_B",
            saurel_b,
            (0.0544, 0.85, 40, 2.9),
            33.1,
            tolerance=1e-9,
            fine=9,
            price=4e-4,
            backend="native",
            intervals=(5, 7),
        ),
        Case("M_C active", saurel_c, (0.0618, 0.40, 76, 2.6), 60.3),
        Case(
            "M_C passive",
            lambda: saurel_c(driven=False),
            (0.2796, 0.40, 9, 1.2),
            60.3,
            passive=True,
            corrected=0.0499,
        ),
        Case("M_D", saurel_d, (0.0621, 0.40, 66, 4.1), 60.3),
        Case("M_E", saurel_e, (0.0651, 0.41, 108, 7.6), 65.9, fine=7),
    )
}
"""Every row of table 1, by its name."""


@dataclass(frozen=True, eq=False)
class SaurelWalk:
    """A solved case. coarse: the first solution. result: on the mesh that is accurate enough."""

    case: Case
    coarse: Solution = field(repr=False)
    result: Solution = field(repr=False)

    @cached_property
    def design(self) -> Design:
        """The step as a design, which replays it in the simulator."""
        return Design(self.result, Cost("saurel", self.result.problem.objective, self.result.problem.totals))

    @property
    def cost_of_transport(self) -> float:
        """Saurel's equation 9 with the energy of the impact: on a step that repeats, twice that energy over
        weight and distance."""
        return 2 * self.design.energy_lost / (self.design.weight * self.design.step_length)

    @property
    def printed_cost(self) -> float:
        """Saurel's equation 9 as it is printed: the impact counts by the norm of its jump in the metric of
        the mass matrix, the root of twice its energy."""
        work = math.sqrt(2 * self.design.energy_lost) + self.design.energy_lost
        return work / (self.design.weight * self.design.step_length)

    @property
    def peak_torque(self) -> float:
        """The largest torque of a motor [N m]."""
        return max((float(abs(m.w).max()) for m in self.result.phases if m.w.size), default=0.0)

    @property
    def friction_needed(self) -> float:
        """The coefficient of friction that the stance foot needs, in the simulator."""
        return max(load.friction_needed for load in self.design.replay.foot_loads)

    @property
    def work(self) -> float:
        """What motors and dampers give on balance [J], integrated anew."""
        return self.result.accurate_totals["work"]

    @property
    def fallen(self) -> float:
        """What gravity gives [J]."""
        slope = next(float(q.value[0]) for q in self.design.system.p if q.name == "slope")
        return self.design.weight * self.design.step_length * math.sin(slope)

    @property
    def energy_imbalance(self) -> float:
        """What is missing of: given by gravity and motors = lost in the impact, relative to the largest; of
        the plan, integrated anew."""
        lost = self.design.energy_lost
        return abs(self.fallen + self.work - lost) / max(self.fallen, lost, abs(self.work))

    @property
    def seconds(self) -> float:
        """In the solver, all meshes together."""
        return float(self.coarse.times["solve"] + self.result.times["solve"])

    @property
    def processor(self) -> float:
        """The same, on the processor [s]."""
        return float(self.coarse.times["cpu"] + self.result.times["cpu"])

    @property
    def iterations(self) -> int:
        """Of the solver, on both meshes."""
        return self.coarse.iterations + self.result.iterations

    @property
    def ok(self) -> bool:
        """Is it solved, and does the simulator make the same step?"""
        return self.result.ok and self.design.replay.ok


def repeated_torques(system: System) -> dict[str, str]:
    """Return which torque every torque begins a step with: that of the other side at the end of the last, as
    in the paper."""
    motors = drives(system)
    places = after_event(system, motors, system.event(EVENTS[-1]))
    return {
        d.input.name: ("-" if sign < 0 else "") + motors[j].input.name
        for d, (j, sign) in zip(motors, places, strict=True)
    }


def problem(
    system: System,
    price: float = PRICE,
    torque: float = MAX_TORQUE,
    step_length: tuple[float, float] = STEP_LENGTHS,
) -> Problem:
    """Pose the search for one step of a walker: as little lost in the impact as there is, for the
    distance."""
    section = EVENTS[-1]
    p = step_problem(
        system, EVENTS, duration=STEP_TIME, step_length=step_length, torque=torque, friction=FRICTION
    ).resume(repeated_torques(system))
    states = set(system.labels("x"))
    widest = {name: MAX_RATE if name.endswith("_rate") else MAX_ANGLE for name in states}
    p = p.within({name: (-bound, bound) for name, bound in widest.items()})
    if "shank" in states:
        rises = CLEARANCE * ca.sin(math.pi * time / STEP_TIME) ** 2
        p = p.require("the swing foot clears the ground", system["clearance"] - rises, low=-CONSTRAINT_SLACK)
        p = p.require("the stance knee bends", system["thigh"] - system["stance"], *KNEE_ANGLES)
        p = p.require("the swing knee bends", system["swing"] - system["shank"], *KNEE_ANGLES)
    if "head_angle" in states:
        p = p.require("the neck nods", system["head_angle"] - system["torso"], *NECK_ANGLES)
    lost = Jumps("impact_energy", {section: impact(system, section)})
    spent = Integral("squared_torque", sum((_dear(n) * system[n] ** 2 for n in system.labels("u")), ca.SX(0)))
    powers = [*system.ledger.supplied.values(), *[-e for e in system.ledger.dissipated.values()]]
    work = Integral("work", sum(powers, ca.SX(0)))
    p = p.require("work of the motors", work.sym, at="end")
    return p.minimise(2 * lost.sym / (weight(system) * distance(system, section)) + price * spent.sym)


def _dear(torque: str) -> float:
    return next((factor for part, factor in TORQUE_PRICE_FACTORS.items() if part in torque), 1.0)


def guess(
    system: System, step: float = 0.5, random: np.random.Generator | None = None, spread: float = 0.1
) -> dict[str, Any]:
    """Return a guess: legs that swing evenly between the ends of a step, everything else at rest; `random`
    moves the ends of every line by `spread`."""
    leg = next(float(q.value[0]) for q in system.p if q.name == "stature") * 0.865 / 1.77
    slope = next(float(q.value[0]) for q in system.p if q.name == "slope")
    half = math.asin(step / 2 / leg)
    values: dict[str, Any] = {"duration": (0.4 * STEP_TIME, 0.6 * STEP_TIME)}
    swings = {"stance": 1, "thigh": 1, "swing": -1, "shank": -1}
    for name in system.labels("x"):
        sign = swings.get(name.removesuffix("_rate"), 0)
        ends = np.array([half - slope, -half - slope][::sign] if sign else [0.0, 0.0])
        if name.endswith("_rate"):
            ends = np.full(2, -2 * sign * half / STEP_TIME)
        values[name] = ends + (
            spread * (1 + np.abs(ends)) * random.standard_normal(2) if random is not None else 0.0
        )
    if "shank" in values:
        low, high = values["shank"]
        values["shank"] = lambda s: low + (high - low) * s - 0.6 * math.sin(math.pi * s)
    return values


def walk(case: Case, begin: Any = None, **changes: Any) -> SaurelWalk:
    """Solve a case: first on nine intervals with few points, then from there with as many as accuracy
    takes."""
    system = case.make()
    asked = problem(system, **{"price": case.price, **changes})
    if case.passive:
        asked = asked.free(hip_spring=(0.0, 2000.0), hip_damping=(0.0, 200.0), hip_rest=(-1.0, 1.0))
    return solve_case(case, asked, guess(system) if begin is None else begin)


def solve_case(case: Case, asked: Problem, begin: Any) -> SaurelWalk:
    """Solve a case on a coarse mesh from a guess, then on one that is accurate enough."""
    how: dict[str, Any] = {"control": "cubic", "iterations": 300, "backend": case.backend}
    coarse = asked.solve(
        begin,
        accuracy=None,
        tolerance=COARSE_TOLERANCE,
        stages=COARSE,
        intervals=case.intervals,
        options=dict(LINEAR_SOLVER),
        **how,
    )
    result = asked.solve(
        coarse,
        accuracy=case.accuracy,
        cost_accuracy=None,
        tolerance=case.tolerance,
        stages=case.fine,
        intervals=case.intervals,
        options=dict(WARM_START),
        **how,
    )
    return SaurelWalk(case, coarse, result)


__all__ = ["CASES", "Case", "SaurelWalk", "guess", "problem", "repeated_torques", "solve_case", "walk"]
