"""Kieboom's human that learns to walk from goals: three kinds of impedance along a phase, ten searches of
each, all side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from strut import evolve
from strut.errors import ModelError
from strut.studies.human_gait import (
    DURATION,
    GENERATIONS,
    GOAL_NAMES,
    MODES,
    POPULATION,
    RUNS,
    human_problems,
)
from strut.studies.human_pictures import (
    choose_bests,
    impedance_plots,
    stage_plots,
    stride_plots,
    walk_again,
    walk_together,
)
from strut.studies.human_table import human_rows
from strut.studies.human_verification import verify_bests
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy

SEED = 1
"""Of all searches."""
FOLDER = "kieboom-human"
"""Where a study keeps its searches unless it is told."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all modes side by side, as far as is asked, then run what was found again and compare."""
    evolutions = _search(order, tell) if order.search else _load(order.folder)
    if not order.verify:
        return SearchOutcome(human_rows(order.folder, evolutions, {}), stage_plots(evolutions))
    verified = verify_bests(order.folder, evolutions, tell)
    bests = choose_bests(evolutions, verified)
    tell("the best of each mode walks once more, for the page")
    walks = walk_again(bests)
    plots = [*stage_plots(evolutions), *stride_plots(walks), *impedance_plots(bests)]
    film = walk_together(walks, bests)
    return SearchOutcome(human_rows(order.folder, evolutions, verified), plots, film)


def _search(order: SearchOrder, tell: Callable[[str], None]) -> dict[str, evolve.Evolution]:
    """Search, or go on with what the folder has."""
    there = [(order.folder / f"{mode}.db").is_file() for mode in MODES]
    if any(there) and not all(there):
        missing = MODES[there.index(False)]
        raise ModelError(f"{order.folder} has a part of the searches and no {missing}.db: give an empty one")
    way: dict[str, Any] = {"lanes": "auto"}
    if order.device != "cpu":
        way = {"device": order.device, "crew": order.crew}
    if order.step is not None:
        way["step"] = order.step
    return evolve.search_side_by_side(
        human_problems(**way, precision=order.precision),
        evolve.Swarm(POPULATION),
        order.generations or GENERATIONS,
        runs=order.runs or RUNS,
        seed=SEED,
        folder=order.folder,
        resume=all(there),
        minutes=order.minutes,
        progress=lambda at: tell(_progress_text(at)),
    )


def _load(folder: Path) -> dict[str, evolve.Evolution]:
    """What the folder has of searches."""
    return {mode: evolve.load_evolution(folder / f"{mode}.db") for mode in MODES}


def _progress_text(at: evolve.SideBySideProgress) -> str:
    """How far the searches are, as a line."""
    parts = []
    for mode, counts in at.stages.items():
        furthest = max((k for k, count in enumerate(counts) if count), default=0)
        parts.append(f"{mode}: {counts[furthest]} at {GOAL_NAMES[furthest]}, best {at.bests[mode]:.4g}")
    steps = at.individuals / max(at.seconds, 1e-9)
    return (
        f"generation {at.generation + 1}/{at.generations}, {at.seconds:.2f} s ({steps:.0f} evaluations/s): "
        + "; ".join(parts)
    )


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-human",
    "A human that learns to walk from goals, by three kinds of impedance",
    f"Kieboom, section 4.1, tables 4.2 and 4.4; evaluations of {DURATION:g} s. Hours on two cores, minutes "
    "on a graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
)
