"""The second part of searches for human gaits: they go on with finer steps, from other starts besides and
with margins, so that what they find is a gait of the body, not of its integration.

The first part takes steps of 0.25 ms, at which speeds of gaits are wrong by 0.6 % in the median and by 2 % in
one of five; minimising walks to the edge of every goal, so that most bests broke one when they were run
exactly. At 0.15 ms these errors are 0.02 % and 0.2 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.evolve.streams import Purpose, RandomStream
from strut.studies.human_gait import MODES, POPULATION, human_problems
from strut.studies.mode_searches import has_searches
from strut.studies.nested_modes import embed_constant

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
"""Of the second part, and of the third."""
NESTED_FOLDER = "nested"
"""Where the third part is kept, in the folder of the first."""
NESTED_GENERATIONS = 150
"""Of the third part."""


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
    folder: Path,
    *,
    way: dict[str, Any],
    generations: int | None = None,
    minutes: float | None = None,
    progress: Callable[[evolve.SideBySideProgress], None] | None = None,
) -> dict[str, evolve.Evolution]:
    """Search all modes from the gaits of mode const that the second part remembers, or go on with it: what
    does an impedance save that changes along the phase? Modes that begin anywhere come to other gaits, whose
    torques differ more than that. way: options of `simulate_batch`."""
    place = folder / NESTED_FOLDER
    problems = human_problems(scenarios=STARTS, margins=True, **{"step": REFINED_STEP, **way})
    constant = evolve.load_personal_bests(folder / REFINED_FOLDER / "const.db")
    return evolve.search_side_by_side(
        problems,
        evolve.Swarm(POPULATION, max_velocity=REFINED_VELOCITY),
        generations or NESTED_GENERATIONS,
        runs=len(constant),
        seed=REFINED_SEED,
        folder=place,
        resume=has_searches(place, MODES),
        first={mode: _as_mode(problems, constant, mode) for mode in MODES},
        minutes=minutes,
        progress=progress,
    )


def _as_mode(problems: Mapping[str, evolve.SearchProblem], constant: np.ndarray, mode: str) -> np.ndarray:
    """Populations of mode const as those of another mode."""
    if mode == "const":
        return constant
    space = problems[mode].space
    populations = []
    for run, rows in enumerate(constant):
        draws = RandomStream(REFINED_SEED, run).draws(0, Purpose.CONFIRM)  # such a search has no use for it
        spread = space.low + space.span * draws.uniform(len(rows), len(space))
        populations.append(embed_constant(problems["const"].space.names, rows, space.names, spread))
    return np.array(populations)


__all__ = ["NESTED_FOLDER", "REFINED_FOLDER", "nest_searches", "refine_searches"]
