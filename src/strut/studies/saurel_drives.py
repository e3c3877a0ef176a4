"""One step of Saurel's walkers driven rigidly, by springs in series and by springs in parallel: the problem, and how it is solved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.actuator import constants, driven, drives
from strut.optimal import Design, Guess, Integral, Problem, cost_of_transport, distance, walking
from strut.optimal.costs import Cost
from strut.optimal.result import Result
from strut.studies.saurel_walks import FRICTION, LINEAR, MOST, WARM, guess, resumed
from strut.system.quantity import Param
from strut.system.system import System
from strut.walkers.saurel import saurel_a, saurel_e

WORK, TORQUE = "absolute-work-per-metre", "squared-torque-per-metre"
LENGTHS = (0.6, 1.0)
"""Of a step [m]: five of the twelve published steps are 0.6 exactly, which so must be a bound; the upper one is the paper's."""
DURATIONS = (0.4, 1.0)
"""Of a step [s]; published are 0.47 to 0.90, and free. Our choice."""
PRICE = 1e-4
"""Of squared torque [J/(N m)^2/s] beside work, which alone would not care how large torques are as long as nothing moves. Our choice."""
EVENTS = ("heel_strike",)
INTERVALS = 9
COARSE, FINE = 4, 8
"""Collocation points of an interval, first and then."""
ACCURACY = 1e-7
RATES, ANGLES = 40.0, 1.5
"""Bounds of rates [rad/s] and angles [rad]."""
MODELS: dict[str, Callable[[], System]] = {"M_A": saurel_a, "M_E": saurel_e}


@dataclass(frozen=True, eq=False)
class Driven:
    """A solved step: of which model, driven how, at which cost."""

    model: str
    drive: str
    cost: str
    result: Result = field(repr=False)
    seconds: float
    """In the solver, all meshes together."""

    @cached_property
    def design(self) -> Design:
        return Design(self.result, Cost(self.cost, self.result.problem.objective, self.result.problem.totals))

    @property
    def value(self) -> float:
        """What was to be small, integrated anew: [J/m], or [N^2 m s]."""
        integrated = self.result.integrated
        names = [n for n in integrated if (n == "squared_torque" if self.cost == TORQUE else n.startswith("absolute_work"))]
        return float(sum(integrated[n] for n in names)) / self.design.step_length

    @property
    def ok(self) -> bool:
        return self.result.ok and self.design.replay.ok


def problem(model: str, drive: str, cost: str, slope: tuple[float, float] | None = None) -> Problem:
    """One step that repeats, torques included, as cheap as there is for the distance. slope: bounds, where it is free [rad]."""
    rigid = MODELS[model]()
    system = driven(rigid, drive)
    p = walking(system, EVENTS, DURATIONS, LENGTHS, MOST, FRICTION).resuming(resumed(system))
    p = p.within({name: (-RATES, RATES) if name.endswith("_rate") else (-ANGLES, ANGLES) for name in system.labels("x")})
    p = p.free(**constants(rigid, drive))
    if slope is not None:
        p = p.free(slope=slope)
    wanted, torque = (cost_of_transport(system, name, EVENTS) for name in (cost, TORQUE))
    return p.minimise(wanted.expression + PRICE * torque.expression if cost == WORK else wanted.expression)


def begin(p: Problem, model: str, step: float = 0.65, random: np.random.Generator | None = None) -> dict[str, Any]:
    """Legs that swing evenly, motors with them."""
    found = guess(p.system, step, random)
    found["duration"] = sum(found["duration"])
    rigid = MODELS[model]()
    labels = rigid.labels("x")
    for d in drives(rigid):
        f = ca.Function("f", [ca.vertcat(*[q.sym for q in rigid.x])], [d.angle, d.rate])
        ends = [[float(e) for e in f([found[n][k] for n in labels])] for k in (0, 1)]
        if f"{d.name}_motor" in found:
            found[f"{d.name}_motor"], found[f"{d.name}_motor_rate"] = ([end[k] for end in ends] for k in (0, 1))
    return found
