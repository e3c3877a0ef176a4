"""The anthropomorphic rival of linkages: bars along the leg with actuators at hip and knee, driven, measured
and searched as those are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strut import contact, control, evolve, linkage, walkers
from strut.linkage.measures import ACTUATOR_MASS, BAR_DENSITY, PASSIVE_MASS
from strut.studies.exoskeleton_designs import add_stride, control_parameter
from strut.studies.exoskeleton_evaluation import DURATION, METHOD, PEAK_LAG, STEP
from strut.studies.exoskeleton_gait import (
    ANKLE,
    RIGID_FRICTION,
    drive_along_phase,
    machine_values,
    phase_encoding,
)
from strut.studies.exoskeleton_measures import (
    FINE_STEP,
    LONG_DURATION,
    TARGET_SPEED,
    add_stage,
    gait_measures,
    walking_goals,
    worn_measures,
)
from strut.studies.exoskeleton_screening import LEGS, SCREENED_SAMPLES
from strut.studies.exoskeleton_search import GENERATIONS, MAX_VELOCITY, POPULATION, RUNS, SlowSwarm
from strut.system import Param, System
from strut.walkers.human import HUMAN_HEIGHT, SEGMENTS

RIVAL = "anthropomorphic"
"""What the rival is called in tables."""
RIVAL_MOTORS = ("bar_hip", "bar_knee")
"""The rival's actuators, of both legs."""
CUFF_RANGE = (0.2, 1.0)
"""[1] Where a cuff may hold its segment, as the share of it from its upper end."""
RIVAL_FILE = "rival"
"""Name of the file, without its ending, that keeps the rival's search."""
RIVAL_SEED = 1
"""Seed of the rival's search."""


def rival_walker(
    ground: str = "rigid", surface: contact.Ground | None = None, friction: float | None = None
) -> System:
    """Return the human in the rival with its controller, as a machine of tables. ground: 'rigid' or 'soft'.
    surface: of the ground, level unless given. friction: Coulomb's coefficient of rigid ground [1]; None
    holds without limit."""
    return drive_along_phase(
        walkers.anthropomorphic_exoskeleton(ground=ground, surface=surface, friction=friction), RIVAL_MOTORS
    )


def rival_tables() -> control.PhaseTables:
    """Return what turns parameters into numbers of the rival's machine: 19 of each actuator and of the ankle,
    and where its two cuffs are."""
    cuffs = [Param(f"{segment}_cuff", 0.6, bounds=CUFF_RANGE) for segment in ("thigh", "shank")]
    return phase_encoding([*RIVAL_MOTORS, ANKLE], passed=cuffs)


def rival_measures(
    walker: System, duration: float, near_speed: float = TARGET_SPEED, lag: float | None = None
) -> evolve.WalkMeasures:
    """Return the measures of a walk in the rival, the same as of linkages. lag: as of `worn_measures`."""
    return worn_measures(
        walker,
        duration,
        motors=RIVAL_MOTORS,
        attachments=walkers.anthropomorphic_attachments(),
        near_speed=near_speed,
        lag=lag,
    )


def rival_evaluation(
    duration: float = DURATION, *, ground: str = "soft", worn: bool = False, **options: Any
) -> evolve.EncodedEvaluation:
    """Return what evaluates the rival. duration: of a walk [s]. ground: as of
    `walkers.anthropomorphic_exoskeleton`. worn: whether forces between human and machine and peaks are
    measured on soft ground, as of `ExoskeletonEvaluation`; on rigid ground, which has Coulomb's friction of
    `RIGID_FRICTION`, they always are. options: of `simulate_batch`."""
    walker = rival_walker(ground, friction=RIGID_FRICTION if ground == "rigid" else None)
    how: Mapping[str, Any] = options
    if ground == "soft":
        how = {"method": METHOD, "step": STEP, **options}
        if worn:
            measures = rival_measures(walker, duration, lag=PEAK_LAG)
        else:
            measures = gait_measures(walker, duration, motors=RIVAL_MOTORS)
    else:
        measures = rival_measures(walker, duration)
    inner = evolve.of_system(measures.system, duration, measures.expressions, label=RIVAL, **how)
    return evolve.EncodedEvaluation(inner, StrideTables(rival_tables()))


@dataclass(frozen=True, eq=False)
class StrideTables:
    """What turns parameters of a search into numbers of the rival's machine: as `rival_tables`, but that
    references of hip and knee count from an ordinary stride, as those of linkages do."""

    tables: control.PhaseTables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters that it reads."""
        return self.tables.names

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the parameters that it writes."""
        return self.tables.labels

    @property
    def digest(self) -> str:
        """What tells it from others."""
        return f"stride {self.tables.digest}"

    def controls(self, x: np.ndarray) -> np.ndarray:
        """Return parameters whose references count from the reference posture, a row each."""
        stride = linkage.stride_postures(SCREENED_SAMPLES)
        for motor, angles in zip(RIVAL_MOTORS, stride.T, strict=True):
            x = add_stride(self.names, x, motor, np.tile(angles, (len(x), 1)))
        return x

    def rows(self, x: np.ndarray) -> np.ndarray:
        """Return what it writes, a row for each row of what it reads."""
        return self.tables.rows(self.controls(x))


def rival_controls(parameters: Mapping[str, float]) -> dict[str, float]:
    """Return parameters of `rival_tables`, whose references count from the reference posture, from those that
    a search found."""
    encoding = StrideTables(rival_tables())
    row = encoding.controls(np.array([[parameters[name] for name in encoding.names]]))[0]
    return dict(zip(encoding.names, row.tolist(), strict=True))


def rival_machine(parameters: Mapping[str, float]) -> System:
    """Return the human in the rival on soft ground, ready to walk. parameters: as a search found them."""
    return rival_walker("soft").using(machine_values(rival_tables(), rival_controls(parameters)))


def rival_parameters() -> list[evolve.SearchParameter]:
    """Return what is searched of the rival, with bounds; the first population is within those of linkages."""
    parameters = []
    for q in rival_tables().parameters:
        if q.unit:
            joint = q.name.split("_reference")[0].split("_stiffness")[0].split("_damping")[0]
            parameters.append(control_parameter(q, joint, ankle=joint == ANKLE))
        else:
            parameters.append(evolve.SearchParameter(q.name, *q.bounds, group=q.name.partition("_")[0]))
    return parameters


def rival_problem(
    duration: float = DURATION, *, limits: Mapping[str, float] | None = None, **options: Any
) -> evolve.SearchProblem:
    """Return the search for the rival's gait: parameters, walks on soft ground, and the goals of linkages but
    for those that it meets by itself, short bars and no singularity. limits: as of `exoskeleton_problem`.
    options: of `simulate_batch`."""
    # wild gaits are many, and the best are run again with finer steps: no warning of each
    how = {"check_steps": False, **options}
    return evolve.SearchProblem(
        rival_parameters(),
        rival_evaluation(duration, worn=bool(limits), **how),
        walking_goals(duration, limits=limits),
    )


def search_rival(
    folder: Path,
    *,
    generations: int = GENERATIONS,
    runs: int = RUNS,
    population: int = POPULATION,
    seed: int = RIVAL_SEED,
    minutes: float | None = None,
    progress: Callable[[evolve.SideBySideProgress], None] | None = None,
    **options: Any,
) -> evolve.Evolution:
    """Search the rival's gait, or go on with what the folder has in rival.db; as many particles and
    generations as linkages have, unless told. minutes: after which it stops, to be gone on with."""
    searches = evolve.search_side_by_side(
        {RIVAL_FILE: rival_problem(**options)},
        SlowSwarm(population, max_velocity=MAX_VELOCITY),
        generations,
        runs=runs,
        seed=seed,
        folder=folder,
        resume=(folder / f"{RIVAL_FILE}.db").is_file(),
        minutes=minutes,
        progress=progress,
    )
    return searches[RIVAL_FILE]


def rival_run_again(best: evolve.Individual, way: str) -> dict[str, float]:
    """Return the measures of the rival's best that is run again in some way, as `run_again` does it of a
    linkage: 'fine', 'long' or 'rigid'."""
    duration = LONG_DURATION if way == "long" else DURATION
    ground, options = ("rigid", {}) if way == "rigid" else ("soft", {"method": "rk4", "step": FINE_STEP})
    evaluation = rival_evaluation(duration, ground=ground, worn=way == "fine", **options)
    names = evaluation.encoding.names
    row = np.array([[best.parameters[name] for name in names]])
    answer = evaluation.evaluate(names, row, np.zeros(1, dtype=int))
    return add_stage(dict(zip(evaluation.measures, answer.measures[0].tolist(), strict=True)), duration)


def rival_bars() -> np.ndarray:
    """Return the lengths of the rival's bars of one leg [m]: as long as thigh and shank."""
    return np.array([SEGMENTS[segment][1] * HUMAN_HEIGHT for segment in ("thigh", "shank")])


def rival_mass() -> float:
    """Return the mass of the rival of both legs [kg], by the rules of linkages: two actuators, two cuffs,
    which count as passive joints, and two bars of each leg."""
    leg = len(RIVAL_MOTORS) * (ACTUATOR_MASS + PASSIVE_MASS) + BAR_DENSITY * float(rival_bars().sum())
    return LEGS * leg


__all__ = [
    "RIVAL",
    "StrideTables",
    "rival_bars",
    "rival_controls",
    "rival_evaluation",
    "rival_machine",
    "rival_mass",
    "rival_measures",
    "rival_parameters",
    "rival_problem",
    "rival_run_again",
    "rival_tables",
    "rival_walker",
    "search_rival",
]
