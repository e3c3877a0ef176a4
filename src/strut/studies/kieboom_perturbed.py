"""Kieboom's COMAN whose swing foot is pushed in every step: searches that begin with undisturbed gaits, the
worst of three draws counts."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from strut import evolve
from strut.studies.coman_gait import DURATION, GOAL_NAMES, JOINTS, MODES
from strut.studies.coman_search import (
    KNOWN_OF_RUN,
    known_solutions,
    search_gaits,
    search_pushed_gaits,
)
from strut.studies.coman_verification import FRESH_DRAWS, PushedWalks, bear_pushes
from strut.studies.gait_pictures import impedance_curves, progress_plots
from strut.studies.gait_verification import candidates_of
from strut.studies.kieboom_coman import load_searches
from strut.studies.mode_searches import MUTATION, has_searches
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy
from strut.studies.swing_pushes import MEAN_DURATION, MEAN_FORCE, SwingPushes

FOLDER = "kieboom-perturbed"
"""Where the study keeps its searches unless it is told."""
UNDISTURBED_FOLDER = "coman"
"""In that folder, where undisturbed gaits are, as `kieboom-coman` leaves them."""
PUBLISHED = {"const": (165, 0.37, 14), "step": (154, 0.38, 58), "ppoly": (192, 0.30, 9)}
"""[J/m, m/s, %] Cost and speed of the best, and the part of generations at the last goal, of table 4.7."""
PUBLISHED_RATIO = 5.0
"""[1] About how many times the undisturbed cost the disturbed one is, as published."""
PUSHES_TEXT = f"pushes of {MEAN_FORCE:g} N for {MEAN_DURATION:g} s against the swing foot, backwards (ours)"
"""What disturbs it."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search undisturbed gaits unless they are there, then disturbed ones; run the bests with draws that no
    search has seen, and compare."""
    began = clock.monotonic()
    calm = replace(order, folder=order.folder / UNDISTURBED_FOLDER)
    has_begun = has_searches(order.folder, MODES)  # with the undisturbed gaits that there were then
    if (
        order.search
        and not has_begun
        and not (has_searches(calm.folder, MODES) and _is_finished(calm.folder))
    ):
        tell(f"undisturbed gaits are searched first, in {calm.folder}")
        search_gaits(calm, tell)
    left = order.minutes_left(began)
    if left is not None:
        left = max(left, 1e-3)  # at least one generation, so that there is something to tell
    undisturbed = load_searches(calm.folder)
    if order.search:
        searched = search_pushed_gaits(replace(order, minutes=left), known_solutions(calm.folder), tell)
    else:
        searched = load_searches(order.folder)
    curves = progress_plots(searched, "cost [J/m]")
    if not order.verify:
        return SearchOutcome(_rows(searched, undisturbed, {}, {}), curves)
    tell(f"bests are run with {FRESH_DRAWS} draws that no search has seen")
    chosen = _steadiest(order.folder, searched)
    bests = {mode: individual for mode, (individual, _) in chosen.items()}
    walks = {mode: walk for mode, (_, walk) in chosen.items()}
    calm_walks = bear_pushes({mode: each.best for mode, each in undisturbed.items()})
    return SearchOutcome(
        _rows(searched, undisturbed, walks, calm_walks), [*curves, *impedance_curves(bests, JOINTS)]
    )


def _is_finished(folder: Path) -> bool:
    """Whether undisturbed searches came to their end."""
    return all(each.finished for each in load_searches(folder).values())


def _steadiest(
    folder: Path, searched: Mapping[str, evolve.Evolution]
) -> dict[str, tuple[evolve.Individual, PushedWalks]]:
    """Return by mode which of the bests of all runs bears most draws that no search has seen, and how: a best
    of noisy evaluations may have been lucky."""
    chosen: dict[str, tuple[evolve.Individual, PushedWalks]] = {}
    groups = {mode: candidates_of(folder / f"{mode}.db", each) for mode, each in searched.items()}
    runs = sorted({run for own in groups.values() for run in own})
    for run in runs:
        bests = {mode: own[run][0] for mode, own in groups.items() if run in own}
        for mode, walk in bear_pushes(bests).items():
            if mode not in chosen or walk.kept_share > chosen[mode][1].kept_share:
                chosen[mode] = (bests[mode], walk)
    return chosen


def _rows(
    searched: Mapping[str, evolve.Evolution],
    undisturbed: Mapping[str, evolve.Evolution],
    walks: Mapping[str, PushedWalks],
    calm_walks: Mapping[str, PushedWalks],
) -> list[Row]:
    """The table. walks, calm_walks: of disturbed and undisturbed bests that were run with new draws."""
    rows: list[Row] = [
        Row(
            "disturbance",
            f"N(80, 5) N for N(0.15, 0.05) s, worst of {SwingPushes().count} draws",
            PUSHES_TEXT,
        ),
        Row(
            "first population",
            "30 known solutions and mutations by 10 %",
            f"the {KNOWN_OF_RUN} best of every undisturbed run, and mutations by {100 * MUTATION:g} % of "
            "ranges",
        ),
    ]
    for mode, evolution in searched.items():
        rows += _mode_rows(mode, evolution, undisturbed[mode])
        if mode in walks:
            rows += _pushed_rows(mode, walks[mode], calm_walks[mode])
    costs = {m: e.best.value for m, e in searched.items() if e.best.stage == len(GOAL_NAMES)}
    order = " < ".join(f"{mode} {costs[mode]:.0f}" for mode in sorted(costs, key=lambda mode: costs[mode]))
    rows.append(Row("order of the bests' costs [J/m]", "step < const < ppoly", order or "none reached it"))
    return rows


def _mode_rows(mode: str, evolution: evolve.Evolution, undisturbed: evolve.Evolution) -> list[Row]:
    """The rows of one kind of impedance, of what its search says."""
    cost, speed, share = PUBLISHED[mode]
    best, calm = evolution.best, undisturbed.best
    last = len(GOAL_NAMES)
    history = evolution.history
    at_last = 100 * float(np.mean(history["stage"] == last))
    runs = sum(each.stage == last for each in evolution.best_of_run)
    rows = [
        Row(
            f"{mode}: part of generations whose best is at the last goal",
            f"{share} %",
            f"{at_last:.0f} %",
            f"mean of {len(evolution.best_of_run)} runs of {int(history['generation'].max()) + 1} "
            f"generations; {runs} runs reach it",
        )
    ]
    if best.stage < last:
        return [*rows, Row(f"{mode}: cost of the best [J/m]", f"{cost}", "none reached it")]
    remark = "of the worst of three draws"
    if calm.stage == last:
        remark += (
            f"; {best.value / calm.value:.1f} times the undisturbed one (published about {PUBLISHED_RATIO:g})"
        )
    return [
        *rows,
        Row(f"{mode}: cost of the best [J/m]", f"{cost}", f"{best.value:.1f}", remark),
        Row(f"{mode}: its speed [m/s]", f"{speed}", f"{best.measures['speed']:.3f}"),
    ]


def _pushed_rows(mode: str, walk: PushedWalks, calm: PushedWalks) -> list[Row]:
    """How a best bears draws that no search has seen."""
    upright = walk.measures["time"] >= DURATION - 1e-6
    cost = walk.measures["cost"][upright]
    cost_text = f"cost {np.median(cost):.0f} J/m, the median of those upright" if len(cost) else "all fall"
    return [
        Row(
            f"{mode}: {FRESH_DRAWS} draws that no search has seen",
            "const and ppoly fall back to assistance",
            f"{100 * walk.kept_share:.0f} % keep all goals, {100 * walk.upright_share:.0f} % do not fall",
            f"of the run that bears most; {cost_text}",
        ),
        Row(
            f"{mode}: the undisturbed best with these draws",
            "",
            f"{100 * calm.kept_share:.0f} % keep all goals, {100 * calm.upright_share:.0f} % do not fall",
        ),
    ]


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-perturbed",
    "COMAN learns to walk while its swing foot is pushed",
    "Kieboom, section 4.2, table 4.7; begins with the gaits of kieboom-coman in FOLDER/coman, which are "
    "searched first where there are none. Hours on two cores, minutes on a graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
)
