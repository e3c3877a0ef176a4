"""Kieboom's COMAN that learns to walk from goals: three kinds of impedance along a phase whose frequency is
searched, too."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path

from strut import evolve
from strut.studies.coman_gait import DURATION, GENERATIONS, STARTS, coman_problems, coman_walker
from strut.studies.coman_pictures import coman_with, draw_walks
from strut.studies.coman_search import (
    LIMITED_FOLDER,
    LIMITED_GENERATIONS,
    NUMBER_OF_PARTS,
    search_gaits,
    search_limited_gaits,
    undisturbed_mark,
)
from strut.studies.coman_stability import COMAN
from strut.studies.coman_table import coman_rows
from strut.studies.coman_verification import coman_ways
from strut.studies.gait_pictures import part_plots
from strut.studies.gait_verification import Verified, at_last_goal, candidates_of, verify_bests
from strut.studies.human_beyond import stability_rows, unjudged_rows
from strut.studies.human_stability import judge_bests
from strut.studies.mode_searches import (
    card_options,
    check_continuation,
    load_parts,
    machine_of,
    run_options,
    search_if_possible,
)
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy

FOLDER = "kieboom-coman"
"""Where the study keeps its searches unless it is told."""
SETTLING_TIME = 8.0
"""[s] When the moving picture begins."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all modes side by side, as far as is asked, as published and then within the limits of the
    joints' rates; then run what was found again and compare."""
    if order.search:
        _search(order, tell)
    parts = _load(order)
    last = parts[-1]
    curves = part_plots(parts, "cost [J/m]")
    if not order.verify:
        return SearchOutcome(coman_rows(order.folder, parts, {}), curves)
    limits = len(parts) > 1
    place = order.folder / LIMITED_FOLDER if limits else order.folder
    candidates = {mode: candidates_of(place / f"{mode}.db", each) for mode, each in last.items()}
    verified = verify_bests(place, candidates, coman_ways(limits=limits), tell)
    bests = best_of_modes(last, verified)
    tell("the best of each mode walks once more, for the page")
    machines = {mode: coman_with(mode, best.parameters) for mode, best in bests.items()}
    plots, film, unshown_rows = draw_walks(machines, bests, begin=SETTLING_TIME)

    def rows_of_stability() -> list[Row]:
        judged_gaits = judge_bests(place, at_last_goal(verified), tell, COMAN)
        return [*stability_rows(judged_gaits), *unjudged_rows(verified)]

    rows = [*coman_rows(order.folder, parts, verified), *unshown_rows]
    return SearchOutcome(rows, [*curves, *plots], film, later_rows=rows_of_stability)


def _search(order: SearchOrder, tell: Callable[[str], None]) -> None:
    """Search, or go on with what the folder has: the first part and, where that is done, the second."""
    began = clock.monotonic()
    way = run_options(order)
    check_continuation(order.folder, order, way, undisturbed_mark(FOLDER, limits=False))
    is_done = search_if_possible(lambda: search_gaits(order, way, tell))
    left = order.minutes_left(began)
    if not is_done or order.parts == 1 or (left is not None and left <= 0):
        return
    # of a search with fewer generations than were published, the second part is shorter, too
    share = (order.generations or GENERATIONS) / GENERATIONS
    generations = max(1, round(share * LIMITED_GENERATIONS))
    search_if_possible(lambda: search_limited_gaits(order, way, generations, left, tell))


def _load(order: SearchOrder) -> list[dict[str, evolve.Evolution]]:
    """What the folder has of searches, part by part."""
    places = (order.folder, order.folder / LIMITED_FOLDER)[: order.parts]
    return load_parts({place: undisturbed_mark(FOLDER, limits=place != order.folder) for place in places})


def best_of_modes(
    evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> dict[str, evolve.Individual]:
    """Return by mode the best that is shown: the one that keeps most goals in every way, and costs least."""
    bests = {}
    for mode, evolution in evolutions.items():
        own = [answer for (name, _), answer in verified.items() if name == mode]
        bests[mode] = min(own, key=lambda each: each.rank).individual if own else evolution.best
    return bests


def evaluations(order: SearchOrder) -> list[evolve.EncodedEvaluation]:
    """Return with what all parts evaluate: one machine, whose goals alone differ."""
    return [machine_of(coman_problems(coman_walker("table"), STARTS, **card_options(order)))]


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).with_later_rows().rows


STUDY = SearchStudy(
    "kieboom-coman",
    "COMAN learns to walk from goals, by three kinds of impedance",
    f"Kieboom, section 4.2, tables 4.5 and 4.6; evaluations of {DURATION:g} s from three starts. Hours on "
    "two cores, minutes on a graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
    takes=("runs", "generations", "parts", "seed", "device", "precision", "crew", "step"),
    parts=NUMBER_OF_PARTS,
    evaluations=evaluations,
)
