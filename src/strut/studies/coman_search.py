"""Searches for gaits of COMAN, undisturbed and with pushes against the swing foot, all modes and runs side by
side, as far as is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.studies.coman_gait import (
    GENERATIONS,
    GOAL_NAMES,
    JOINTS,
    LIMITED_GOAL_NAMES,
    MODES,
    POPULATION,
    RUNS,
    STARTS,
    FrequencyTables,
    coman_problems,
    coman_walker,
)
from strut.studies.mode_searches import (
    SearchMark,
    check_continuation,
    has_searches,
    mutated_populations,
    progress_teller,
    run_options,
    runs_of,
    seed_of,
)
from strut.studies.nested_modes import embed_populations
from strut.studies.study import SearchOrder
from strut.studies.swing_pushes import SwingPushes, with_swing_pushes
from strut.system import System

SEED = 1
"""Of all searches, unless another is asked for."""
NUMBER_OF_PARTS = 2
"""Of the undisturbed search: as published, and within the limits of the joints' rates."""
KNOWN_OF_RUN = 3
"""How many of the best solutions of every undisturbed run a disturbed search begins with."""
NEAR_VELOCITY = 0.1
"""[1] Part of the range that a particle crosses in a generation, at most, of a search that begins among
solutions."""
LIMITED_FOLDER = "within"
"""Where the second part is kept, in the folder of the first."""
LIMITED_GENERATIONS = 150
"""Generations of the second part."""
LIMITED_SEED = 2
"""Seed of the second part."""
PUSHED_FEET = {side: (f"heel_{side}", f"toe_{side}") for side in "rl"}
"""The contacts of each foot."""


def undisturbed_mark(study: str, *, limits: bool) -> SearchMark:
    """Return by what files of undisturbed searches are known. study: that reads them. limits: whether they
    are of the second part."""
    return _mark(study, LIMITED_GOAL_NAMES if limits else GOAL_NAMES, STARTS.digest)


def pushed_mark(study: str) -> SearchMark:
    """Return by what files of searches with pushes are known. study: that reads them."""
    return _mark(study, LIMITED_GOAL_NAMES, SwingPushes().digest)


def _mark(study: str, goal_names: Sequence[str], scenarios: str) -> SearchMark:
    """By what files of searches are known."""
    names = {mode: FrequencyTables(phase_tables(JOINTS, mode)).names for mode in MODES}
    return SearchMark(study, names, len(goal_names), scenarios)


def search_gaits(
    order: SearchOrder, way: Mapping[str, Any], tell: Callable[[str], None]
) -> dict[str, evolve.Evolution]:
    """Search undisturbed gaits, or go on with what the folder has: the first part. way: of `run_options`."""
    runs = runs_of(order.folder, order, MODES, RUNS)
    return evolve.search_side_by_side(
        coman_problems(coman_walker("table"), STARTS, **way),
        evolve.Swarm(POPULATION),
        order.generations or GENERATIONS,
        runs=runs,
        seed=seed_of(order.folder, order, MODES, SEED),
        folder=order.folder,
        resume=has_searches(order.folder, MODES),
        minutes=order.minutes,
        progress=progress_teller(tell, GOAL_NAMES, runs=runs, part=1, parts=NUMBER_OF_PARTS),
    )


def search_limited_gaits(
    order: SearchOrder,
    way: Mapping[str, Any],
    generations: int,
    minutes: float | None,
    tell: Callable[[str], None],
) -> dict[str, evolve.Evolution]:
    """Search gaits whose joints keep the limits of their motors, from what undisturbed searches remember: the
    second part. Half of a population of the modes that contain a constant impedance are gaits of that, of the
    run of the same number, so that a mode with more parameters begins with what fewer can do. way: of
    `run_options`."""
    problems = coman_problems(coman_walker("table"), STARTS, limits=True, **way)
    memories = {mode: evolve.load_personal_bests(order.folder / f"{mode}.db") for mode in MODES}
    place = order.folder / LIMITED_FOLDER
    return evolve.search_side_by_side(
        problems,
        evolve.Swarm(POPULATION, max_velocity=NEAR_VELOCITY),
        generations,
        runs=len(memories["const"]),
        seed=LIMITED_SEED,
        folder=place,
        resume=has_searches(place, MODES),
        first={mode: _with_constant_gaits(problems, memories, mode) for mode in MODES},
        minutes=minutes,
        progress=progress_teller(
            tell, LIMITED_GOAL_NAMES, runs=len(memories["const"]), part=2, parts=NUMBER_OF_PARTS
        ),
    )


def _with_constant_gaits(
    problems: Mapping[str, evolve.SearchProblem], known: Mapping[str, np.ndarray], mode: str
) -> np.ndarray:
    """Where populations of a mode begin: half with its own gaits, half with those of mode const."""
    if mode == "const":
        return known[mode]
    half = POPULATION // 2
    alike = embed_populations(problems["const"], problems[mode], known["const"][:, :half], seed=LIMITED_SEED)
    return np.concatenate([known[mode][:, :half], alike], axis=1)


def search_pushed_gaits(
    order: SearchOrder, known: Mapping[str, np.ndarray], tell: Callable[[str], None]
) -> dict[str, evolve.Evolution]:
    """Search gaits that bear pushes within the limits of the joints' rates, or go on with what the folder
    has. known: by mode, solutions with which populations begin, a row each."""
    way = run_options(order)
    check_continuation(order.folder, order, way, pushed_mark("kieboom-perturbed"))
    problems = coman_problems(pushed_walker(), SwingPushes(), limits=True, **way)
    runs = runs_of(order.folder, order, MODES, RUNS)
    seed = seed_of(order.folder, order, MODES, SEED)
    first = {
        mode: mutated_populations(problems[mode], rows, runs=runs, population=POPULATION, seed=seed)
        for mode, rows in known.items()
    }
    return evolve.search_side_by_side(
        problems,
        evolve.Swarm(POPULATION, max_velocity=NEAR_VELOCITY),
        order.generations or GENERATIONS,
        runs=runs,
        seed=seed,
        folder=order.folder,
        resume=has_searches(order.folder, MODES),
        first=first,
        minutes=order.minutes,
        progress=progress_teller(tell, LIMITED_GOAL_NAMES, runs=runs),
    )


def pushed_walker(swings: int = SwingPushes().swings, *, events: bool = False) -> System:
    """Return COMAN whose swing feet are pushed, as the machine of tables. swings: of each side that have
    draws of their own. events: whether contact is located."""
    walker = coman_walker("table", events=events, pushes=True)
    assert walker.scene is not None  # that of the mechanism
    x = {hinge.name: hinge.at[0] for hinge in walker.scene.hinges}
    ahead = {side: x[f"ankle_{side}"] - x[f"hip_{side}"] for side in PUSHED_FEET}
    return with_swing_pushes(walker, PUSHED_FEET, ahead, swings)


def known_solutions(folder: Path) -> dict[str, np.ndarray]:
    """Return by mode the best places that the particles of undisturbed searches remember: some of every run,
    a row each."""
    return {
        mode: np.concatenate(evolve.load_personal_bests(folder / f"{mode}.db")[:, :KNOWN_OF_RUN])
        for mode in MODES
    }


__all__ = [
    "LIMITED_FOLDER",
    "NUMBER_OF_PARTS",
    "known_solutions",
    "pushed_mark",
    "pushed_walker",
    "search_gaits",
    "search_limited_gaits",
    "search_pushed_gaits",
    "undisturbed_mark",
]
