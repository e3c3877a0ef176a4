"""COMAN in a plane that walks by impedance along a phase, as a search: machine, starts, measures and goals in
stages (Kieboom, section 4.2, table 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from strut import control, evolve, walkers
from strut.system import System
from strut.walkers.assistance import ASSIST_ANGLE
from strut.walkers.coman_planar import ANKLE_HEIGHT, EFFORT, FOOT_LENGTH, HEEL, LEG, TOE_PART

MODES = ("const", "step", "ppoly")
"""How stiffness and damping go along the phase."""
DURATION = 10.0
"""[s] Of an evaluation; the thesis prints none."""
STEP = 2e-4
"""[s] Of RK4 in the search."""
POPULATION, GENERATIONS, RUNS = 120, 500, 10
"""Of every search in the thesis."""
FREQUENCY_RANGE = (0.4, 1.2)
"""[Hz] Of the gait, which is searched."""
MIN_SPEED = 0.3
"""[m/s] That is asked for."""
MAX_JOINT_RATE = 6.0
"""[rad/s] Of the motors."""
MAX_STIFFNESS, MAX_DAMPING = 1500.0, 30.0
"""[N m/rad, N m s/rad] Of the joints."""
GROUND_STIFFNESS = 1e6
"""[N/m^1.5] Of the soft ground on which it learns: about a millimetre under its weight. The thesis has hard
contacts."""
JOINTS = {
    name: control.PhaseJoint((f"{name}_r", f"{name}_l"), bounds, MAX_STIFFNESS, MAX_DAMPING)
    for name, bounds in (("hip", (-0.8, 0.8)), ("knee", (-0.1, 1.5)), ("ankle", (-0.6, 0.6)))
}
"""What is driven; bounds of references are those of the human."""
FEET = {side: (f"heel_{side[0]}", f"toe_{side[0]}") for side in ("right", "left")}
"""The contacts of each foot."""
TORQUES = tuple(f"{joint}_{side}_torque" for joint in JOINTS for side in "rl")
"""The motors."""
POSTURE = {
    "pitch": 0.02,
    "hip_r": 0.3,
    "hip_l": -0.15,
    "knee_r": 0.15,
    "knee_l": 0.25,
    "ankle_r": -0.05,
    "ankle_l": 0.2,
}
"""[rad] As a run begins: the right leg in front. Ours, as the thesis prints none."""
START_SPEED = 0.4
"""[m/s] As a run begins, ours."""
NEGLIGIBLE_TIME = 1e-6
"""[s] A time that counts as none: far below a step."""
LEAST_SPEED = 1e-9
"""[m/s] By which a power is divided, at least."""
SPEED_MARGIN = 0.003
"""[m/s] By which a search with margins is faster than asked."""
LEAN_MARGIN = 0.95
"""[1] Of a search with margins, the part of the angle of assistance from which on the trunk counts as
assisted."""
GOAL_NAMES = ("time", "speed", "assistance", "cost")
"""The goals, in a word each."""
LIMITED_GOAL_NAMES = ("time", "speed", "assistance", "joint rates", "cost")
"""The goals of a search whose joints may be no faster than their motors."""


def hip_height(posture: Mapping[str, float]) -> float:
    """Return the height of the hips over the lowest point of the feet [m]."""
    lowest = np.inf
    for side in ("_r", "_l"):
        angle, z = -posture["pitch"], 0.0  # angle: of a segment, positive forwards
        for joint, sign in (("hip", 1), ("knee", -1)):
            angle += sign * posture[joint + side]
            length = LEG[1][2] if joint == "hip" else LEG[2][2]
            z += length * np.cos(angle)
        angle += posture["ankle" + side]
        for along in (-HEEL, FOOT_LENGTH - HEEL - FOOT_LENGTH * TOE_PART):
            lowest = min(lowest, z + along * np.sin(angle) - ANKLE_HEIGHT * np.cos(angle))
    return float(-lowest)


def _starts() -> evolve.FixedScenarios:
    """Return the starts from which every individual walks, the worst of which counts."""
    rows = []
    for speed, lean in ((START_SPEED, 0.0), (0.25, -0.05), (0.55, 0.04)):
        legs = {joint: POSTURE[joint] + lean for joint in ("hip_r", "hip_l")}  # they are where they were
        posture = {**POSTURE, **legs, "pitch": POSTURE["pitch"] + lean}
        rows.append({"x_rate": speed, "pitch": posture["pitch"], **legs, "z": hip_height(posture)})
    return evolve.FixedScenarios({name: tuple(row[name] for row in rows) for name in rows[0]})


STARTS = _starts()
"""[m/s, rad, m] From which every individual walks, the worst of them counts: a gait that does not attract its
neighbours does not come about from all of them."""


@lru_cache(maxsize=8)
def coman_walker(mode: str, *, ground: str = "soft", events: bool = False, pushes: bool = False) -> System:
    """Return COMAN with its controller. mode, ground, events, pushes: as of `control.phase_impedance` and
    `walkers.coman_planar`."""
    values = {"ground_stiffness": GROUND_STIFFNESS} if ground == "soft" else {}
    body = walkers.coman_planar(ground=ground, events=events, pushes=pushes, **values)
    posture = {**POSTURE, "z": hip_height(POSTURE), "x_rate": START_SPEED}
    frequency = float(np.mean(FREQUENCY_RANGE))
    return control.phase_impedance(body, JOINTS, mode, frequency=frequency, limit=EFFORT).using(posture)


@dataclass(frozen=True, eq=False)
class FrequencyTables:
    """Turns the parameters of a mode and the frequency into those of the machine of tables. tables: of the
    mode."""

    tables: control.PhaseTables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters of the mode, then the frequency."""
        return (*self.tables.names, "frequency")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of what is written."""
        return (*self.tables.labels, "frequency")

    @property
    def digest(self) -> str:
        """What tells it from others."""
        return f"{self.tables.digest} and frequency"

    def rows(self, x: np.ndarray) -> np.ndarray:
        """Return tables and frequency, a row for each row of parameters."""
        return np.hstack([self.tables.rows(x[:, :-1]), x[:, -1:]])


def coman_measures(walker: System, duration: float, *, margins: bool = False) -> evolve.WalkMeasures:
    """Return the measures of a walk of so long [s], with cost, the sum of the sizes of all powers over the
    speed [J/m], and fast_time, for how long a joint is faster than its motor may be [s]; the first half is
    left out. margins: whether the trunk counts as assisted a little
    before it is."""
    limit = (LEAN_MARGIN if margins else 1.0) * ASSIST_ANGLE
    slow = ca.SX(1)
    for name in TORQUES:
        slow = slow * (ca.fabs(walker[name.replace("torque", "rate")]) <= MAX_JOINT_RATE)
    outputs = {"leaning": ca.fabs(walker["pitch"]) > limit, "too_fast": 1 - slow}
    measured = evolve.walk_measures(
        walker.replace(outputs={**walker.outputs, **outputs}),
        duration,
        feet=FEET,
        torques=TORQUES,
        near_speed=START_SPEED,
        assisting="leaning",
    )
    own = measured.expressions
    further = {
        "cost": f"({own['power_absolute']}) / max({own['speed']}, {LEAST_SPEED!r})",
        "fast_time": f"integral_after(too_fast, {duration / 2!r})",
    }
    return evolve.WalkMeasures(measured.system, {**own, **further})


def coman_goals(
    duration: float = DURATION, *, margins: bool = False, limits: bool = False
) -> list[evolve.SearchGoal]:
    """Return the goals of table 4.5, in their order: not to fall, to walk at 0.3 m/s at least, unassisted,
    and with little work over the distance [J/m], the sizes of all powers counted. margins: whether it must
    be a little faster, for searches with coarse steps. limits: whether, before the last goal, no joint may be
    faster than its motor."""
    least = MIN_SPEED + (SPEED_MARGIN if margins else 0.0)
    slow = [evolve.minimise("fast_time", until=f"fast_time < {NEGLIGIBLE_TIME!r}")] if limits else []
    return [
        evolve.maximise("time", until=f"time > {duration - NEGLIGIBLE_TIME!r}"),
        evolve.maximise("speed", until=f"speed > {least!r}"),
        evolve.minimise("assist_time", until=f"assist_time < {NEGLIGIBLE_TIME!r}"),
        *slow,
        evolve.minimise("cost"),
    ]


def coman_parameters(tables: control.PhaseTables) -> list[evolve.SearchParameter]:
    """Return what a search chooses: the parameters of a mode, and the frequency."""
    own = [
        evolve.SearchParameter(q.name, *q.bounds, unit=q.unit, group=q.name.partition("_")[0])
        for q in tables.parameters
    ]
    return [*own, evolve.SearchParameter("frequency", *FREQUENCY_RANGE, unit="Hz")]


def coman_problems(
    walker: System,
    scenarios: evolve.Scenarios,
    modes: tuple[str, ...] = MODES,
    *,
    limits: bool = False,
    **options: Any,
) -> dict[str, evolve.SearchProblem]:
    """Return the searches by mode. One compiled machine evaluates all of them. walker: of the mode 'table'.
    scenarios: in each of which every individual is run, the worst counts. limits: as of `coman_goals`.
    options: of `simulate_batch`."""
    measures = coman_measures(walker, DURATION, margins=True)
    how: Mapping[str, Any] = {"method": "rk4", "step": STEP, **options}
    inner = evolve.of_system(measures.system, DURATION, measures.expressions, label=walker.name, **how)
    problems = {}
    for mode in modes:
        tables = control.phase_tables(JOINTS, mode)
        problems[mode] = evolve.SearchProblem(
            coman_parameters(tables),
            evolve.EncodedEvaluation(inner, FrequencyTables(tables), scenarios),
            coman_goals(margins=True, limits=limits),
            repeats=scenarios.count,
            combine="worst",
        )
    return problems


__all__ = ["MODES", "coman_goals", "coman_measures", "coman_problems", "coman_walker"]
