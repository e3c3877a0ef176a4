"""Kieboom's human that learns to walk from goals: three kinds of impedance along a phase, ten searches of
each, all side by side."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from strut import evolve
from strut.control import phase_tables
from strut.studies.gait_verification import Verified, at_last_goal, candidates_of, verify_bests
from strut.studies.human_beyond import (
    effort_rows,
    first_contact_rows,
    likeness_rows,
    push_rows,
    stability_rows,
    unjudged_rows,
)
from strut.studies.human_gait import (
    DURATION,
    GENERATIONS,
    GOAL_NAMES,
    JOINTS,
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
    unshown_rows,
    walk_again,
    walk_together,
)
from strut.studies.human_pushes import push_limits
from strut.studies.human_refinement import (
    NESTED_FOLDER,
    NESTED_GENERATIONS,
    REFINED_FOLDER,
    REFINED_GENERATIONS,
    STARTS,
    nest_searches,
    refine_searches,
)
from strut.studies.human_stability import judge_bests
from strut.studies.human_table import human_rows
from strut.studies.human_verification import human_ways
from strut.studies.mode_searches import (
    SearchMark,
    card_options,
    check_continuation,
    has_searches,
    load_parts,
    machine_of,
    progress_teller,
    run_options,
    runs_of,
    search_if_possible,
    seed_of,
)
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy

SEED = 1
"""Of all searches, unless another is asked for."""
NUMBER_OF_PARTS = 3
"""Of the whole search: as published, refined, and modes that begin alike."""
REFINED_PART = 2
"""The number of the part that is refined."""
FOLDER = "kieboom-human"
"""Where a study keeps its searches unless it is told."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all modes side by side, as far as is asked, in three parts; then run what was found again and
    compare."""
    if order.search:
        _search(order, tell)
    parts = _load(order)
    progress = stage_plots(parts)
    nested = parts.pop() if len(parts) == NUMBER_OF_PARTS else {}
    last = parts[-1]
    if not order.verify:
        return SearchOutcome(human_rows(order.folder, parts, {}, nested, {}), progress)
    place = order.folder / REFINED_FOLDER if len(parts) > 1 else order.folder
    verified = _verify(place, last, order.folder, tell)
    further = order.folder / NESTED_FOLDER
    nested_verified = _verify(further, nested, further, tell) if nested else {}
    bests = choose_bests(last, verified)
    tell("the best of each mode walks once more, for the page")
    walks = walk_again(bests)
    plots = [*progress, *stride_plots(walks), *impedance_plots(bests)]
    film = walk_together(walks, bests)
    rows = [
        *human_rows(order.folder, parts, verified, nested, nested_verified),
        *first_contact_rows(verified.values()),
        *likeness_rows(walks, {mode: mode for mode in walks}),
        *effort_rows(walks),
        *unshown_rows(walks),
    ]

    def rows_of_stability() -> list[Row]:
        asked = at_last_goal(verified)
        judged_gaits = judge_bests(order.folder, asked, tell)
        lasting = {key: answer.individual for key, answer in nested_verified.items() if answer.holds}
        alike = judge_bests(further, lasting, tell)
        judged_gaits |= {(f"{mode}, from the same gaits", run): each for (mode, run), each in alike.items()}
        tell("the best of each mode is pushed")
        pushed = {mode: best for mode, best in bests.items() if best in asked.values()}
        return [
            *stability_rows(judged_gaits),
            *unjudged_rows(verified),
            *push_rows(push_limits(pushed)),
        ]

    return SearchOutcome(rows, plots, film, later_rows=rows_of_stability)


def _verify(
    place: Path, evolutions: Mapping[str, evolve.Evolution], kept_in: Path, tell: Callable[[str], None]
) -> dict[tuple[str, int], Verified]:
    """Run bests of searches again in all ways. place: of the searches. kept_in: where answers are kept."""
    candidates = {mode: candidates_of(place / f"{mode}.db", each) for mode, each in evolutions.items()}
    return verify_bests(kept_in, candidates, human_ways(), tell)


def _search(order: SearchOrder, tell: Callable[[str], None]) -> None:
    """Search, or go on with what the folder has: the first part and, where each is done, the second and the
    third."""
    began = clock.monotonic()
    way = run_options(order)
    check_continuation(order.folder, order, way, _mark())
    runs = runs_of(order.folder, order, MODES, RUNS)
    # of a search with fewer generations than were published, the other parts are shorter, too
    share = (order.generations or GENERATIONS) / GENERATIONS
    for part in range(1, (order.parts or NUMBER_OF_PARTS) + 1):
        left = order.minutes_left(began)
        if left is not None and left <= 0:
            return
        progress = progress_teller(tell, GOAL_NAMES, runs=runs, part=part, parts=NUMBER_OF_PARTS)
        how: dict[str, Any] = {"minutes": left, "progress": progress}
        if part == 1:
            search = partial(_search_as_published, order, way, runs, **how)
        else:
            own_way = {name: value for name, value in way.items() if name != "step"}  # theirs is finer
            own = _search_refined if part == REFINED_PART else _search_nested
            search = partial(own, order.folder, own_way, share, **how)
        if not search_if_possible(search):
            return


def _search_as_published(
    order: SearchOrder, way: Mapping[str, Any], runs: int, **how: Any
) -> dict[str, evolve.Evolution]:
    """Do the first part. how: minutes and progress."""
    return evolve.search_side_by_side(
        human_problems(**way),
        evolve.Swarm(POPULATION),
        order.generations or GENERATIONS,
        runs=runs,
        seed=seed_of(order.folder, order, MODES, SEED),
        folder=order.folder,
        resume=has_searches(order.folder, MODES),
        **how,
    )


def _search_refined(
    folder: Path, way: dict[str, Any], share: float, **how: Any
) -> dict[str, evolve.Evolution]:
    """Do the second part, this share of its generations."""
    generations = max(1, round(share * REFINED_GENERATIONS))
    return refine_searches(folder, way=way, generations=generations, **how)


def _search_nested(
    folder: Path, way: dict[str, Any], share: float, **how: Any
) -> dict[str, evolve.Evolution]:
    """Do the third part, this share of its generations."""
    return nest_searches(
        folder / NESTED_FOLDER,
        evolve.load_personal_bests(folder / REFINED_FOLDER / "const.db"),
        way=way,
        generations=max(1, round(share * NESTED_GENERATIONS)),
        **how,
    )


def _mark(scenarios: str = "") -> SearchMark:
    """By what files of the study are known. scenarios: of the part."""
    names = {mode: phase_tables(JOINTS, mode).names for mode in MODES}
    return SearchMark("kieboom-human", names, len(GOAL_NAMES), scenarios)


def _load(order: SearchOrder) -> list[dict[str, evolve.Evolution]]:
    """What the folder has of searches, part by part."""
    marks = {order.folder: _mark()}
    marks |= {order.folder / each: _mark(STARTS.digest) for each in (REFINED_FOLDER, NESTED_FOLDER)}
    return load_parts(dict(list(marks.items())[: order.parts]))


def evaluations(order: SearchOrder) -> list[evolve.EncodedEvaluation]:
    """Return with what the parts evaluate: the first, and those with margins, which measure a little
    more."""
    way = card_options(order)
    first, others = human_problems(**way), human_problems(margins=True, **way)
    return [machine_of(first), *([machine_of(others)] if order.parts != 1 else [])]


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).with_later_rows().rows


STUDY = SearchStudy(
    "kieboom-human",
    "A human that learns to walk from goals, by three kinds of impedance",
    f"Kieboom, section 4.1, tables 4.2 and 4.4; evaluations of {DURATION:g} s. Hours on two cores, minutes "
    "on a graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
    takes=("runs", "generations", "parts", "seed", "device", "precision", "crew", "step"),
    parts=NUMBER_OF_PARTS,
    evaluations=evaluations,
)
