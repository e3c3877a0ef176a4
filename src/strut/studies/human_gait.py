"""The planar human that walks by impedance along a phase, as a search: machine, measures and goals in stages
(Kieboom, section 4.1, tables 4.1 to 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from strut import control, evolve, walkers
from strut.system import System
from strut.walkers.assistance import ASSIST_ANGLE

MODES = ("const", "step", "ppoly")
"""How stiffness and damping go along the phase."""
FREQUENCY = 0.9
"""[Hz] Of the gait."""
TARGET_SPEED = 1.3
"""[m/s] That is asked for."""
DURATION = 10.0
"""[s] Of an evaluation; the thesis prints none."""
STEP = 2.5e-4
"""[s] Of RK4 in the search: at 0.5 ms a fifth of random individuals end by numbers alone."""
POPULATION, GENERATIONS, RUNS = 120, 500, 10
"""Of every search in the thesis."""
JOINTS = {
    "hip": control.PhaseJoint(("hip_r", "hip_l"), (-0.8, 0.8)),
    "knee": control.PhaseJoint(("knee_r", "knee_l"), (-0.1, 1.5)),
    "ankle": control.PhaseJoint(("ankle_r", "ankle_l"), (-0.6, 0.6)),
}
"""What is driven, with the bounds of references (section 4.1.2)."""
FEET = {
    side: tuple(f"{point}_{letter}" for point in ("heel", "arch", "mid", "ball", "tip"))
    for side, letter in (("right", "r"), ("left", "l"))
}
"""The contacts of each foot."""
TORQUES = tuple(f"{joint}_{side}_torque" for joint in JOINTS for side in "rl")
"""The motors."""
NEGLIGIBLE_TIME = 1e-6
"""[s] A time that counts as none: far below a step."""

SPEED_MATCH, SPREAD = 0.95, 0.1
"""[1, m/s] Part of the speed asked for that is enough, and the largest deviation of a steady speed."""
SPEED_MARGIN, SPREAD_MARGIN = 0.005, 0.003
"""[1, m/s] Of a search with margins, in which speed and steadiness are better than asked by so much: twice
what a step of 0.15 ms changes in four of five gaits."""
LEAN_MARGIN = 0.95
"""[1] Of a search with margins, the part of the angle of assistance from which on a trunk counts as
assisted."""


def human_walker(mode: str, *, events: bool = False, **values: Any) -> System:
    """Return the human with its controller. mode: as of `control.phase_impedance`. events: whether contact is
    located. values: of parameters and states."""
    body = walkers.human(events=events)
    return control.phase_impedance(body, JOINTS, mode, frequency=FREQUENCY).using(values)


def human_with(mode: str, parameters: Mapping[str, float]) -> System:
    """Return the human with the controller of some mode and these values of its parameters, as the machine of
    tables, which is compiled once for all modes."""
    return human_walker("table").using(table_values(mode, parameters))


def table_values(mode: str, parameters: Mapping[str, float]) -> dict[str, list[float]]:
    """Return the parameters of the machine of tables that does what these parameters of a mode say."""
    tables = control.phase_tables(JOINTS, mode)
    row = tables.rows(np.array([[parameters[name] for name in tables.names]]))[0]
    values: dict[str, list[float]] = {}
    for label, value in zip(tables.labels, row, strict=True):
        values.setdefault(label.partition("[")[0], []).append(float(value))
    return values


def human_measures(walker: System, duration: float, *, margins: bool = False) -> evolve.WalkMeasures:
    """Return the measures of a walk of so long [s]; the first half is left out. margins: whether the trunk
    counts as assisted a little before it is."""
    assisting = "assisting"
    if margins:
        assisting = "leaning"
        leaning = ca.fabs(walker["pitch"]) > LEAN_MARGIN * ASSIST_ANGLE
        walker = walker.replace(outputs={**walker.outputs, assisting: leaning})
    return evolve.walk_measures(
        walker,
        duration,
        feet=FEET,
        torques=TORQUES,
        near_speed=TARGET_SPEED,
        assisting=assisting,
    )


def human_goals(
    duration: float = DURATION, speed: float = TARGET_SPEED, *, margins: bool = False
) -> list[evolve.SearchGoal]:
    """Return the goals of table 4.2, in their order: not to fall, to be as fast as asked (within 5 %), to be
    steady, unassisted, with a foot on the ground, and with little torque. margins: whether speed and
    steadiness must be a little better than asked, for searches with coarse steps."""
    match = f"min(speed / {speed!r}, {speed!r} / max(speed, 1e-9))"
    least, spread = (SPEED_MATCH + SPEED_MARGIN, SPREAD - SPREAD_MARGIN) if margins else (SPEED_MATCH, SPREAD)
    return [
        evolve.maximise("time", until=f"time > {duration - NEGLIGIBLE_TIME!r}"),
        evolve.maximise(match, until=f"{match} > {least!r}"),
        evolve.minimise("speed_spread", until=f"speed_spread < {spread!r}"),
        evolve.minimise("assist_time", until=f"assist_time < {NEGLIGIBLE_TIME!r}"),
        evolve.minimise("airborne_time", until=f"airborne_time < {NEGLIGIBLE_TIME!r}"),
        evolve.minimise("torque"),
    ]


GOAL_NAMES = ("time", "speed", "steadiness", "assistance", "contact", "torque")
"""The goals, in a word each."""


def human_problems(
    modes: tuple[str, ...] = MODES,
    *,
    scenarios: evolve.Scenarios | None = None,
    margins: bool = False,
    **options: Any,
) -> dict[str, evolve.SearchProblem]:
    """Return the searches by mode. One compiled machine evaluates all of them. scenarios: in each of which
    every individual is run, the worst counts. margins: as of `human_goals` and `human_measures`. options: of
    `simulate_batch`, as device and precision."""
    measures = human_measures(human_walker("table"), DURATION, margins=margins)
    how: Mapping[str, Any] = {"method": "rk4", "step": STEP, **options}
    inner = evolve.of_system(measures.system, DURATION, measures.expressions, label="human", **how)
    problems = {}
    for mode in modes:
        tables = control.phase_tables(JOINTS, mode)
        parameters = [
            evolve.SearchParameter(q.name, *q.bounds, unit=q.unit, group=q.name.partition("_")[0])
            for q in tables.parameters
        ]
        problems[mode] = evolve.SearchProblem(
            parameters,
            evolve.EncodedEvaluation(inner, tables, scenarios),
            human_goals(margins=margins),
            repeats=1 if scenarios is None else scenarios.count,
            combine="mean" if scenarios is None else "worst",
        )
    return problems


__all__ = ["MODES", "human_goals", "human_measures", "human_problems", "human_walker"]
