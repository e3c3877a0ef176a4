"""Kieboom's COMAN whose swing foot is pushed in every step: searches that begin with undisturbed gaits within
the limits of the joints' rates, which count here, too; the worst of three draws counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strut import evolve
from strut.studies.coman_gait import (
    DURATION,
    LIMITED_GOAL_NAMES,
    MODES,
    STARTS,
    STEP,
    coman_problems,
    coman_walker,
)
from strut.studies.coman_pictures import PUSH_QUANTITIES, SHOWN_TIME, draw_walks, pushed_coman_with
from strut.studies.coman_pushes import (
    CHOICE_SEED,
    FRESH_DRAWS,
    FRESH_SEED,
    PushedWalks,
    bear_pushes,
    draw_seeds,
    reached_text,
    search_seeds,
)
from strut.studies.coman_search import (
    KNOWN_OF_RUN,
    LIMITED_FOLDER,
    known_solutions,
    pushed_mark,
    pushed_walker,
    search_pushed_gaits,
    undisturbed_mark,
)
from strut.studies.gait_pictures import progress_plots
from strut.studies.gait_verification import WAY_WORDS, candidates_of
from strut.studies.known_gaits import known_gait
from strut.studies.mode_searches import MUTATION, card_options, has_searches, load_parts, machine_of
from strut.studies.nested_modes import average_impedance, embed_constant
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy
from strut.studies.swing_pushes import MEAN_DURATION, MEAN_FORCE, SwingPushes

FOLDER = "kieboom-perturbed"
"""Where the study keeps its searches unless it is told."""
UNDISTURBED_FOLDER = "coman"
"""In that folder, where undisturbed gaits may be, as `kieboom-coman` leaves them."""
SEVERAL_KNOWN = f"the {KNOWN_OF_RUN} best of every undisturbed run within the limits of rates"
ONE_KNOWN = (
    "the kept gait of each mode within the limits of rates (strut reproduce kieboom-gaits), those of the "
    "other modes with means of their impedances"
)
"""With which gaits a first population begins, besides mutations."""
PUBLISHED = {"const": (165, 0.37, 14), "step": (154, 0.38, 58), "ppoly": (192, 0.30, 9)}
"""[J/m, m/s, %] Cost and speed of the best, and the part of generations at the last goal, of table 4.7."""
PUBLISHED_RATIO = 5.0
"""[1] About how many times the undisturbed cost the disturbed one is, as published."""
PUSHES_TEXT = f"pushes of {MEAN_FORCE:g} N for {MEAN_DURATION:g} s against the swing foot, backwards (ours)"
"""What disturbs it."""
FRESH_WAYS = ("search", "fine", "long")
"""How bests are run with draws that no search has seen."""
OWN_WAYS = ("fine", "located")
"""How bests are run with the draws of their search."""
WAY_TEXTS = {"search": f"steps of {1e3 * STEP:g} ms", **WAY_WORDS}
"""What each way is, in a table."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search disturbed gaits from undisturbed ones; run the bests with draws that no search has seen, and
    compare."""
    calm_folder = order.folder / UNDISTURBED_FOLDER / LIMITED_FOLDER
    has_own = has_searches(calm_folder, MODES)
    calm_mark = undisturbed_mark(f"{FOLDER}, undisturbed", limits=True)
    if not order.search:  # first, for it may be the folder of another study
        (searched,) = load_parts({order.folder: pushed_mark(FOLDER)})
    (undisturbed_searches,) = load_parts({calm_folder: calm_mark}) if has_own else ({},)
    undisturbed = {mode: each.best for mode, each in undisturbed_searches.items()} or kept_gaits()
    if order.search:
        first_rows = known_solutions(calm_folder) if has_own else as_rows(undisturbed)
        searched = search_pushed_gaits(order, first_rows, tell)
    curves = progress_plots(searched, "cost [J/m]")
    begun_with = SEVERAL_KNOWN if has_own else ONE_KNOWN
    if not order.verify:
        return SearchOutcome(_rows(searched, undisturbed, {}, {}, begun_with), curves)
    bests = choose_bests(order.folder, searched, tell)
    pushed = push_again(order.folder, bests, tell)
    calm_walks = bear_pushes(undisturbed)
    tell("the best of each mode walks once more, pushed, for the page")
    machines = {
        mode: pushed_coman_with(mode, best.parameters, shown_seed(pushed[mode].fresh["search"]))
        for mode, best in bests.items()
    }
    plots, film, unshown_rows = draw_walks(
        machines, bests, begin=DURATION - SHOWN_TIME, further=PUSH_QUANTITIES
    )
    rows = [*_rows(searched, undisturbed, pushed, calm_walks, begun_with), *unshown_rows]
    return SearchOutcome(rows, [*curves, *plots], film)


def shown_seed(walk: PushedWalks) -> int:
    """Return the seed of the draws with which a best is shown: the first that leaves it upright, the first of
    all where none does."""
    return FRESH_SEED + int(np.argmax(walk.upright))


def kept_gaits() -> dict[str, evolve.Individual]:
    """Return by mode the undisturbed gait that is kept, judged as a search within the limits of rates would:
    the worst of its starts counts."""
    problems = coman_problems(coman_walker("table"), STARTS, limits=True, lanes="auto")
    gaits = {}
    for mode, problem in problems.items():
        parameters = dict(known_gait(f"coman-{mode}").parameters)
        x = np.array([[parameters[name] for name in problem.space.names]])
        answer = problem.evaluate(x, np.zeros((1, problem.repeats), dtype=np.uint64))
        stage = int(problem.staged_goals.stage(problem.keys(x, answer.measures))[0]) + 1
        measures = dict(zip(problem.evaluation.measures, map(float, answer.measures[0]), strict=True))
        gaits[mode] = evolve.Individual(0, 0, 0, parameters, measures, stage, measures["cost"])
    return gaits


def as_rows(gaits: Mapping[str, evolve.Individual]) -> dict[str, np.ndarray]:
    """Return by mode the parameters of one gait of each mode, a row each: that of the mode first, then those
    of the others, with constant impedances, which every mode contains, of the means of theirs."""
    names = {mode: list(gait.parameters) for mode, gait in gaits.items()}
    values = {mode: np.array([list(gait.parameters.values())]) for mode, gait in gaits.items()}
    constant = {mode: average_impedance(names[mode], values[mode], names["const"]) for mode in gaits}
    return {
        mode: np.vstack(
            [
                values[mode],
                *[
                    embed_constant(names["const"], constant[other], names[mode])
                    for other in gaits
                    if other != mode
                ],
            ]
        )
        for mode in gaits
    }


def choose_bests(
    folder: Path, searched: Mapping[str, evolve.Evolution], tell: Callable[[str], None]
) -> dict[str, evolve.Individual]:
    """Return by mode which of the bests of all runs bears most of some draws that no search has seen: a best
    of noisy evaluations may have been lucky. Of one run there is no choice, and nothing is run."""
    groups = {
        mode: [own[0] for own in candidates_of(folder / f"{mode}.db", each).values()]
        for mode, each in searched.items()
    }
    chosen = {mode: own[0] for mode, own in groups.items()}
    most: dict[str, tuple[float, float]] = {}
    count = max(len(own) for own in groups.values())
    if count > 1:
        tell(f"of {count} runs the bests are chosen by {FRESH_DRAWS} draws")
    for k in range(count if count > 1 else 0):
        bests = {mode: own[k] for mode, own in groups.items() if k < len(own)}
        for mode, walk in bear_pushes(bests, dict.fromkeys(bests, draw_seeds(CHOICE_SEED))).items():
            borne = walk.kept_share, walk.upright_share
            if mode not in most or borne > most[mode]:
                chosen[mode], most[mode] = bests[mode], borne
    return chosen


@dataclass(frozen=True)
class PushedBest:
    """How the best of a mode bears pushes. individual: the best. fresh, own: by how it was run
    (`bear_pushes`), with draws that neither a search has seen nor it was chosen by, and with those with which
    its search evaluated it, the worst of which counted."""

    individual: evolve.Individual
    fresh: Mapping[str, PushedWalks]
    own: Mapping[str, PushedWalks]


def push_again(
    folder: Path, bests: Mapping[str, evolve.Individual], tell: Callable[[str], None]
) -> dict[str, PushedBest]:
    """Run bests of a folder with draws that no search has seen and with their own, in the steps of the search
    and more exactly."""
    own_seeds = {mode: search_seeds(folder / f"{mode}.db", best) for mode, best in bests.items()}
    fresh: dict[str, dict[str, PushedWalks]] = {}
    own: dict[str, dict[str, PushedWalks]] = {}
    for way in FRESH_WAYS:
        tell(f"bests are run with {FRESH_DRAWS} draws that no search has seen: {WAY_TEXTS[way]}")
        fresh[way] = bear_pushes(bests, way=way)
    for way in OWN_WAYS:
        tell(f"bests are run with the draws of their search: {WAY_TEXTS[way]}")
        own[way] = bear_pushes(bests, own_seeds, way=way)
    return {
        mode: PushedBest(
            individual=best,
            fresh={way: each[mode] for way, each in fresh.items()},
            own={way: each[mode] for way, each in own.items()},
        )
        for mode, best in bests.items()
    }


def _rows(
    searched: Mapping[str, evolve.Evolution],
    undisturbed: Mapping[str, evolve.Individual],
    pushed: Mapping[str, PushedBest],
    calm_walks: Mapping[str, PushedWalks],
    begun_with: str = SEVERAL_KNOWN,
) -> list[Row]:
    """The table. pushed: disturbed bests that were run again. calm_walks: undisturbed bests that were run
    with new draws.
    begun_with: the known gaits of first populations, in words."""
    rows: list[Row] = [
        Row(
            "disturbance",
            f"N(80, 5) N for N(0.15, 0.05) s, worst of {SwingPushes().count} draws",
            PUSHES_TEXT,
        ),
        Row(
            "first population",
            "30 known solutions and mutations by 10 %",
            f"{begun_with}, and mutations by {100 * MUTATION:g} % of ranges",
        ),
    ]
    for mode, evolution in searched.items():
        rows += _mode_rows(mode, evolution, undisturbed[mode])
        if mode in pushed:
            rows += _pushed_rows(mode, pushed[mode], calm_walks[mode], runs=len(evolution.best_of_run))
    costs = {m: e.best.value for m, e in searched.items() if e.best.stage == len(LIMITED_GOAL_NAMES)}
    order = " < ".join(f"{mode} {costs[mode]:.0f}" for mode in sorted(costs, key=lambda mode: costs[mode]))
    rows.append(Row("order of the bests' costs [J/m]", "step < const < ppoly", order or "none reached it"))
    return rows


def _mode_rows(mode: str, evolution: evolve.Evolution, calm: evolve.Individual) -> list[Row]:
    """The rows of one kind of impedance, of what its search says."""
    cost, speed, share = PUBLISHED[mode]
    best = evolution.best
    last = len(LIMITED_GOAL_NAMES)
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


def _pushed_rows(mode: str, best: PushedBest, calm: PushedWalks, *, runs: int) -> list[Row]:
    """How a best bears draws that no search has seen, and those of its search, run more exactly. runs: of the
    search, among whose bests it was chosen."""
    searched_text = reached_text(best.individual.stage, best.individual.value)
    chosen = f"of {runs} runs the one that bears most of {FRESH_DRAWS} other draws; " if runs > 1 else ""
    names = {
        "search": f"{mode}: {FRESH_DRAWS} draws that no search has seen",
        "fine": f"{mode}: these draws, {WAY_TEXTS['fine']}",
        "long": f"{mode}: {FRESH_DRAWS} further draws, {WAY_TEXTS['long']}",
    }
    published = {"search": "const and ppoly fall back to assistance"}
    rows = [
        Row(
            names[way],
            published.get(way, ""),
            walk.text,
            (chosen if way == "search" else "") + walk.medians_text,
        )
        for way, walk in best.fresh.items()
    ]
    rows += [
        Row(
            f"{mode}: the draws of its search, {WAY_TEXTS[way]}",
            "",
            walk.worst_text,
            f"the worst of them; the search, by goals with margins: {searched_text}",
        )
        for way, walk in best.own.items()
    ]
    return [*rows, Row(f"{mode}: the undisturbed best with the {FRESH_DRAWS} draws", "", calm.text)]


def evaluations(order: SearchOrder) -> list[evolve.EncodedEvaluation]:
    """Return with what the search evaluates."""
    return [machine_of(coman_problems(pushed_walker(), SwingPushes(), limits=True, **card_options(order)))]


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-perturbed",
    "COMAN learns to walk while its swing foot is pushed",
    "Kieboom, section 4.2, table 4.7; begins with the gaits within 6 rad/s that kieboom-coman left in "
    "FOLDER/coman, or where there are none with those that are kept. Hours on two cores, minutes on a "
    "graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
    takes=("runs", "generations", "seed", "device", "precision", "crew", "step"),
    evaluations=evaluations,
)
