"""The second part of searches for human gaits: they go on with finer steps, from other starts besides and
with margins, so that what they find is a gait of the body, not of its integration.

The first part takes steps of 0.25 ms, at which speeds of gaits are wrong by 0.6 % in the median and by 2 % in
one of five; minimising walks to the edge of every goal, so that most bests broke one when they were run
exactly. At 0.15 ms these errors are 0.02 % and 0.2 %.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.studies.human_gait import MODES, POPULATION, human_problems
from strut.studies.mode_searches import has_searches
from strut.studies.nested_modes import embed_populations

REFINED_FOLDER = "fine"
"""Where the second part is kept, in the folder of the first."""
REFINED_STEP = 1.5e-4
"""[s] Of RK4 in the second part."""
REFINED_GENERATIONS = 250
"""Of the second part."""
REFINED_VELOCITY = 0.1
"""[1] Part of the range that a particle of the second part crosses in a generation, at most: it begins where
the first part has been."""
STARTS = evolve.FixedScenarios(
    {
        "x_rate": (1.3, 1.05, 1.5),
        "pitch": (0.03, -0.04, 0.07),
        "hip_r": (0.4, 0.33, 0.44),
        "hip_l": (-0.25, -0.32, -0.21),
    }
)
"""[m/s, rad] From which every individual walks in the second part, the worst of them counts: a gait that does
not attract its neighbours does not come about from all of them. The trunk leans, the legs are where they
were."""
REFINED_SEED = 2
"""Seed of the second part, and of the third."""
NESTED_FOLDER = "nested"
"""Where the third part is kept, in the folder of the first."""
NESTED_GENERATIONS = 150
"""Generations of the third part."""


def refine_searches(
    folder: Path,
    *,
    way: dict[str, Any],
    generations: int | None = None,
    minutes: float | None = None,
    progress: Callable[[evolve.SideBySideProgress], None] | None = None,
) -> dict[str, evolve.Evolution]:
    """Go on with the searches in a folder as their second part, from the personal bests of all particles; or
    with what there is of it. way: options of `simulate_batch`."""
    place = folder / REFINED_FOLDER
    first = {mode: evolve.load_personal_bests(folder / f"{mode}.db") for mode in MODES}
    return evolve.search_side_by_side(
        human_problems(scenarios=STARTS, margins=True, **{"step": REFINED_STEP, **way}),
        evolve.Swarm(POPULATION, max_velocity=REFINED_VELOCITY),
        generations or REFINED_GENERATIONS,
        runs=len(first[MODES[0]]),
        seed=REFINED_SEED,
        folder=place,
        resume=all((place / f"{mode}.db").is_file() for mode in MODES),
        first=first,
        minutes=minutes,
        progress=progress,
    )


def nest_searches(
    place: Path,
    constant: np.ndarray,
    *,
    way: dict[str, Any],
    generations: int | None = None,
    minutes: float | None = None,
    progress: Callable[[evolve.SideBySideProgress], None] | None = None,
) -> dict[str, evolve.Evolution]:
    """Search all modes from the same gaits of mode const, or go on with what a folder has of it: what does an
    impedance save that changes along the phase? Modes that begin anywhere come to other gaits, whose torques
    differ more than that. constant: first populations, runs x individuals x parameters. way: options of
    `simulate_batch`."""
    problems = human_problems(scenarios=STARTS, margins=True, **{"step": REFINED_STEP, **way})
    first = {
        mode: constant
        if mode == "const"
        else embed_populations(problems["const"], problems[mode], constant, seed=REFINED_SEED)
        for mode in MODES
    }
    return evolve.search_side_by_side(
        problems,
        evolve.Swarm(POPULATION, max_velocity=REFINED_VELOCITY),
        generations or NESTED_GENERATIONS,
        runs=len(constant),
        seed=REFINED_SEED,
        folder=place,
        resume=has_searches(place, MODES),
        first=first,
        minutes=minutes,
        progress=progress,
    )


__all__ = ["NESTED_FOLDER", "REFINED_FOLDER", "nest_searches", "refine_searches"]
