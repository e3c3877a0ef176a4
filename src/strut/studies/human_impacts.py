"""What would make the ground push back as smoothly as it does on people? The human's search with one thing
changed: softer ground, softer ankles, another last goal, or a goal that the force be smooth.

How smooth a force is, one number says: its total variation, the sum of all its rises and falls. Two smooth
peaks of 1.1 weights with a valley of 0.75 between them have 2.9 weights; a peak of four weights alone has
eight. A foot stands once in a stride, so that these are numbers of a stride.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut import control, evolve
from strut.studies.human_gait import (
    DURATION,
    FEET,
    FREQUENCY,
    JOINTS,
    POPULATION,
    human_goals,
    human_measures,
    human_walker,
)
from strut.studies.human_refinement import REFINED_STEP, REFINED_VELOCITY, STARTS
from strut.studies.known_gaits import known_gait
from strut.studies.mode_searches import has_searches, mutated_populations
from strut.studies.nested_modes import embed_populations
from strut.system import State, System

WEIGHT = 70.0 * 9.81
"""[N] Weight of the human."""
OVERLOAD_LIMIT = 1.2
"""[1] Force of a foot, in weights, beyond which it counts as overload."""
FORCE_LAG = 5e-3
"""[s] Time constant of the lag by which rises and falls of a force are told: what is faster counts less."""
SMOOTH_VARIATION = 4.0
"""[1] Total variation of a foot's force over a stride, in weights, that is asked of a smooth one: a third
more than two peaks of 1.1 weights with a valley of 0.75 have."""
PAD_STIFFNESS, PAD_DISSIPATION = 3e4, 1.5
"""[N/m^1.5, s/m] Stiffness and dissipation of a sole with a pad under it: three times as deep under the
weight, and twice the damping."""
SOFT_ANKLE = {"ankle": 400.0}
"""[N m/rad] Bound of the stiffness of an ankle that is soft: a thirtieth of what searches may take."""
SOFT_JOINTS = {"hip": 1500.0, "knee": 400.0, "ankle": 400.0}
"""[N m/rad] Bounds of the stiffness of joints that are soft."""
IMPACT_MODES = ("const", "ppoly")
"""Modes in which variations are searched: that with the fewest parameters, and that with most."""
IMPACT_RUNS, IMPACT_GENERATIONS, IMPACT_SEED = 4, 200, 3
"""Runs, generations and seed of the search of every variation in each mode."""
FIRST_GAIT = "human-const-first"
"""The known gait that all variations begin with, and mutations of it."""
GROUND_PARAMETERS = ("ground_stiffness", "ground_dissipation")
"""Parameters of the ground."""


@dataclass(frozen=True)
class Variation:
    """What is changed in a search. words: in a few. pad: whether soles are soft. stiffness: by joint, other
    bounds of it [N m/rad]. smooth: whether forces must be smooth before the last goal counts. last: what that
    makes small."""

    words: str
    pad: bool = False
    stiffness: Mapping[str, float] = field(default_factory=dict)
    smooth: bool = False
    last: str = "torque"


VARIATIONS = {
    "torque": Variation("the goals as they are"),
    "power": Variation("little power in place of little torque", last="power_absolute"),
    "pad": Variation("soft soles", pad=True),
    "ankle": Variation("soft ankles", stiffness=SOFT_ANKLE),
    "smooth": Variation("a goal of smooth forces", smooth=True),
    "smooth_pad": Variation("this and soft soles", smooth=True, pad=True),
    "smooth_ankle": Variation("this and soft ankles", smooth=True, stiffness=SOFT_ANKLE),
    "smooth_joints": Variation("this and soft joints", smooth=True, stiffness=SOFT_JOINTS),
    "smooth_all": Variation("this, soft joints and soft soles", smooth=True, pad=True, stiffness=SOFT_JOINTS),
}
"""What is tried, by name."""


def with_force_lags(walker: System) -> System:
    """Return the human with states that lag behind the forces of its feet, and the outputs variation_rate,
    rises and falls of both forces over the weight [1/s], and overload, what they are beyond 1.2 weights."""
    states, flow = [], {}
    rate, overload = ca.SX(0), ca.SX(0)
    for side, contacts in FEET.items():
        force = sum((walker[f"{contact}_normal"] for contact in contacts), ca.SX(0)) / WEIGHT
        lag = State(f"{side}_force_lag", 0.0, description="the foot's force over the weight, a little later")
        states.append(lag)
        flow[lag.name] = (force - lag.sym) / FORCE_LAG
        rate = rate + ca.fabs(flow[lag.name])
        overload = overload + ca.fmax(force - OVERLOAD_LIMIT, 0)
    return walker.replace(
        x=(*walker.x, *states),
        flow={**dict(walker.flow), **flow},
        outputs={**walker.outputs, "variation_rate": rate, "overload": overload},
        symmetry={},
    )


def impact_measures(walker: System, duration: float = DURATION) -> evolve.WalkMeasures:
    """Return the measures of a walk, with variation, the total variation of a foot's force over a stride, in
    weights, and overload, the mean of what forces are beyond 1.2 weights. walker: of `with_force_lags`."""
    measured = human_measures(walker, duration, margins=True)
    half = duration / 2
    stances = 2 * FREQUENCY * half  # of both feet: each stands once in a stride
    further = {
        "variation": f"integral_after(variation_rate, {half!r}) / {stances!r}",
        "overload": f"integral_after(overload, {half!r}) / {half!r}",
    }
    return evolve.WalkMeasures(measured.system, {**measured.expressions, **further})


def impact_goals(variation: Variation) -> list[evolve.SearchGoal]:
    """Return the goals of a variation: those of the human, before the last that forces be smooth where that
    is asked, and what is made small at last."""
    *before, _ = human_goals(margins=True)
    smooth = [evolve.minimise("variation", until=f"variation < {SMOOTH_VARIATION!r}")]
    return [*before, *(smooth if variation.smooth else []), evolve.minimise(variation.last)]


def impact_problems(modes: tuple[str, ...], **options: Any) -> dict[str, evolve.SearchProblem]:
    """Return the searches by 'VARIATION_MODE', all of one compiled machine. options: of `simulate_batch`."""
    measures = impact_measures(with_force_lags(human_walker("table")))
    how: Mapping[str, Any] = {"method": "rk4", "step": REFINED_STEP, **options}
    inner = evolve.of_system(measures.system, DURATION, measures.expressions, label="human", **how)
    ground = {q.name: np.asarray(q.value).item() for q in inner.system.p if q.name in GROUND_PARAMETERS}
    problems = {}
    for name, variation in VARIATIONS.items():
        values = (
            dict(zip(GROUND_PARAMETERS, (PAD_STIFFNESS, PAD_DISSIPATION), strict=True))
            if variation.pad
            else ground
        )
        count = STARTS.count
        scenarios = evolve.FixedScenarios(
            {**STARTS.values, **{key: (value,) * count for key, value in values.items()}}
        )
        soft = {
            joint: replace(JOINTS[joint], stiffness=bound) for joint, bound in variation.stiffness.items()
        }
        joints = {**JOINTS, **soft}
        for mode in modes:
            tables = control.phase_tables(joints, mode)
            problems[search_name(name, mode)] = evolve.SearchProblem(
                [
                    evolve.SearchParameter(q.name, *q.bounds, unit=q.unit, group=q.name.partition("_")[0])
                    for q in tables.parameters
                ],
                evolve.EncodedEvaluation(inner, tables, scenarios),
                impact_goals(variation),
                repeats=count,
                combine="worst",
            )
    return problems


def search_name(variation: str, mode: str) -> str:
    """Return the name of the search of a variation in some mode."""
    return f"{variation}_{mode}"


def search_impacts(
    folder: Path,
    *,
    way: dict[str, Any],
    modes: tuple[str, ...] = IMPACT_MODES,
    runs: int = IMPACT_RUNS,
    generations: int = IMPACT_GENERATIONS,
    seed: int = IMPACT_SEED,
    minutes: float | None = None,
    progress: Callable[[evolve.SideBySideProgress], None] | None = None,
) -> dict[str, evolve.Evolution]:
    """Search all variations from the known gait `FIRST_GAIT` and mutations of it, or go on with what the
    folder has. modes: const among them. way: options of `simulate_batch`."""
    problems = impact_problems(modes, **way)
    constant = problems[search_name("torque", "const")]
    first_gait = known_gait(FIRST_GAIT).parameters
    row = np.array([[first_gait[name] for name in constant.space.names]])
    populations = mutated_populations(constant, row, runs=runs, population=POPULATION, seed=seed)
    first = {}
    for name, problem in problems.items():
        begin = populations
        if name.rpartition("_")[2] != "const":
            begin = embed_populations(constant, problem, populations, seed=seed)
        first[name] = np.clip(begin, problem.space.low, problem.space.high)
    return evolve.search_side_by_side(
        problems,
        evolve.Swarm(POPULATION, max_velocity=REFINED_VELOCITY),
        generations,
        runs=runs,
        seed=seed,
        folder=folder,
        resume=has_searches(folder, tuple(problems)),
        first=first,
        minutes=minutes,
        progress=progress,
    )


__all__ = [
    "VARIATIONS",
    "Variation",
    "impact_goals",
    "impact_measures",
    "impact_problems",
    "search_impacts",
    "search_name",
]
