"""Kieboom's human that learns to walk from goals: three kinds of impedance along a phase, ten searches of
each, all side by side."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from strut import evolve
from strut.studies.gait_verification import Verified, candidates_of, verify_bests
from strut.studies.human_beyond import (
    effort_rows,
    first_contact_rows,
    likeness_rows,
    push_rows,
    stability_rows,
)
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
from strut.studies.human_pushes import push_limits
from strut.studies.human_refinement import (
    NESTED_FOLDER,
    NESTED_GENERATIONS,
    REFINED_FOLDER,
    REFINED_GENERATIONS,
    nest_searches,
    refine_searches,
)
from strut.studies.human_stability import judge_bests
from strut.studies.human_table import human_rows
from strut.studies.human_verification import human_ways
from strut.studies.mode_searches import has_searches, progress_text
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy

SEED = 1
"""Of all searches, unless another is asked for."""
NUMBER_OF_PARTS = 3
"""Of the whole search: as published, refined, and modes that begin alike."""
FOLDER = "kieboom-human"
"""Where a study keeps its searches unless it is told."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all modes side by side, as far as is asked, in three parts; then run what was found again and
    compare."""
    parts = _search(order, tell) if order.search else _load(order.folder)
    nested = parts.pop() if len(parts) == NUMBER_OF_PARTS else {}
    first, last = parts[0], parts[-1]
    if not order.verify:
        return SearchOutcome(human_rows(order.folder, parts, {}, nested, {}), stage_plots(first))
    place = order.folder / REFINED_FOLDER if len(parts) > 1 else order.folder
    verified = _verify(place, last, order.folder, tell)
    further = order.folder / NESTED_FOLDER
    nested_verified = _verify(further, nested, further, tell) if nested else {}
    bests = choose_bests(last, verified)
    tell("the best of each mode walks once more, for the page")
    walks = walk_again(bests)
    plots = [*stage_plots(first), *stride_plots(walks), *impedance_plots(bests)]
    film = walk_together(walks, bests)
    gaits = {key: answer.individual for key, answer in verified.items()}
    judged_gaits = judge_bests(order.folder, gaits, tell)
    tell("the best of each mode is pushed")
    beyond = [
        *first_contact_rows(verified.values()),
        *likeness_rows(walks, {mode: mode for mode in walks}),
        *stability_rows(judged_gaits),
        *push_rows(push_limits(bests)),
        *effort_rows(walks),
    ]
    rows = human_rows(order.folder, parts, verified, nested, nested_verified)
    return SearchOutcome([*rows, *beyond], plots, film)


def _verify(
    place: Path, evolutions: Mapping[str, evolve.Evolution], kept_in: Path, tell: Callable[[str], None]
) -> dict[tuple[str, int], Verified]:
    """Run bests of searches again in all ways. place: of the searches. kept_in: where answers are kept."""
    candidates = {mode: candidates_of(place / f"{mode}.db", each) for mode, each in evolutions.items()}
    return verify_bests(kept_in, candidates, human_ways(), tell)


def _search(order: SearchOrder, tell: Callable[[str], None]) -> list[dict[str, evolve.Evolution]]:
    """Search, or go on with what the folder has: the first part and, where each is done, the second and the
    third."""
    began = clock.monotonic()
    there = has_searches(order.folder, MODES)
    way: dict[str, Any] = {"lanes": "auto"}
    if order.device != "cpu":
        way = {"device": order.device, "crew": order.crew}
    way["precision"] = order.precision
    coarse = way if order.step is None else {**way, "step": order.step}
    first = evolve.search_side_by_side(
        human_problems(**coarse),
        evolve.Swarm(POPULATION),
        order.generations or GENERATIONS,
        runs=order.runs or RUNS,
        seed=SEED if order.seed is None else order.seed,
        folder=order.folder,
        resume=there,
        minutes=order.minutes,
        progress=lambda at: tell(progress_text(at, GOAL_NAMES)),
    )
    left = order.minutes_left(began)
    if not all(each.finished for each in first.values()) or (left is not None and left <= 0):
        return [first]
    # of a search with fewer generations than were published, the other parts are shorter, too
    share = (order.generations or GENERATIONS) / GENERATIONS
    refined = refine_searches(
        order.folder,
        way=way,
        generations=max(1, round(share * REFINED_GENERATIONS)),
        minutes=left,
        progress=lambda at: tell(f"second part, {progress_text(at, GOAL_NAMES)}"),
    )
    left = order.minutes_left(began)
    if not all(each.finished for each in refined.values()) or (left is not None and left <= 0):
        return [first, refined]
    nested = nest_searches(
        order.folder / NESTED_FOLDER,
        evolve.load_personal_bests(order.folder / REFINED_FOLDER / "const.db"),
        way=way,
        generations=max(1, round(share * NESTED_GENERATIONS)),
        minutes=left,
        progress=lambda at: tell(f"third part, {progress_text(at, GOAL_NAMES)}"),
    )
    return [first, refined, nested]


def _load(folder: Path) -> list[dict[str, evolve.Evolution]]:
    """What the folder has of searches, part by part."""
    places = [folder]
    for further in (REFINED_FOLDER, NESTED_FOLDER):
        if not has_searches(folder / further, MODES):
            break
        places.append(folder / further)
    return [{mode: evolve.load_evolution(place / f"{mode}.db") for mode in MODES} for place in places]


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
    takes=("runs", "generations", "seed", "device", "precision", "crew"),
)
