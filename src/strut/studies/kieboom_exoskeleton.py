"""Kieboom's co-design of an exoskeleton: topology, actuators, lengths and control at once, searched over 126
subspaces; and the anthropomorphic rival of the same materials, with the same number of evaluations."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from strut import evolve
from strut.errors import ValueRangeError
from strut.evolve.search import StopRequest
from strut.studies.exoskeleton_candidates import (
    Candidate,
    LinkageCandidate,
    RivalCandidate,
    fall_rows,
    page_parts,
)
from strut.studies.exoskeleton_checks import (
    check_designs,
    check_rows,
    checked_design,
    checked_rival,
    count_rows,
)
from strut.studies.exoskeleton_evaluation import DURATION, ExoskeletonEvaluation
from strut.studies.exoskeleton_found import FoundDesign, found_designs, rank_design, visit_counts
from strut.studies.exoskeleton_holding import choice_rows, holding_designs, holding_rival
from strut.studies.exoskeleton_measures import DESIGN_GOALS
from strut.studies.exoskeleton_pictures import stage_plots, visits_map
from strut.studies.exoskeleton_refined import judge_all, refine_all, refined_rows
from strut.studies.exoskeleton_rival import (
    RIVAL,
    RIVAL_FILE,
    RIVAL_SEED,
    rival_problem,
    search_rival,
)
from strut.studies.exoskeleton_search import (
    GENERATIONS,
    POPULATION,
    RUNS,
    SEED,
    exoskeleton_problem,
    goal_names,
    progress_line,
    run_file,
    search_exoskeletons,
)
from strut.studies.exoskeleton_table import PUBLISHED, design_rows
from strut.studies.known_exoskeletons import kept_parameters, known_exoskeletons
from strut.studies.mode_searches import card_options, machine_of, progress_text
from strut.studies.study import CompilableEvaluation, Row, SearchOrder, SearchOutcome, SearchStudy

FOLDER = "kieboom-exoskeleton"
"""Where the study keeps its searches unless it is told."""
SHOWN_DESIGNS = len(PUBLISHED)
"""Designs on the page, the best: as many as were published."""
LIMIT_WORDS = ("peak_power", "peak_force")
"""What of a `SearchOrder` asks for goals of peaks."""
RIVAL_SHARE = 0.3
"""[1] Part of the minutes of a search that is kept for the rival's."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search exoskeletons and their rival as far as is asked; then run the best again, refine them by
    gradients, and compare."""
    began = clock.monotonic()
    if order.search:
        _search(order, tell)
    designs = found_designs(order.folder)
    evolutions = {
        f"run {design.run}": evolve.load_evolution(run_file(order.folder, design.run)) for design in designs
    }
    rival_path = order.folder / f"{RIVAL_FILE}.db"
    rival = evolve.load_evolution(rival_path) if rival_path.is_file() else None
    rows = search_rows(order.folder, designs, evolutions, rival)
    checks: dict[str, dict[str, dict[str, float]]] = {}
    if order.verify:
        chosen = holding_designs(order.folder, designs, tell, order.limits)
        own_rival = None if rival is None else holding_rival(order.folder, rival, tell, order.limits)
        rows += choice_rows(designs, chosen, rival, own_rival)
        designs, rival = sorted(chosen, key=rank_design), own_rival
        checks = check_designs(order.folder, designs, rival, shown=SHOWN_DESIGNS, tell=tell)
    titles = [design.title for design in designs] + ([RIVAL] if rival is not None else [])
    rows += [
        *count_rows(designs, checks, order.limits),
        *check_rows(titles, checks),
        *design_rows(
            [checked_design(design, checks.get(design.title, {}), order.limits) for design in designs],
            None if rival is None else checked_rival(rival, checks.get(RIVAL, {}), order.limits),
        ),
    ]
    visits = visit_counts(order.folder)
    maps = [visits_map(visits, [design.group.name for design in designs[:SHOWN_DESIGNS]])]
    others = {} if rival is None else {RIVAL: count_design_goals(rival)}
    plots = stage_plots({**dict(sorted(evolutions.items())), **others})
    candidates = shown_candidates(designs, rival)
    if not order.verify:
        return SearchOutcome(rows, plots, maps=maps, pictures=[each.picture() for each in candidates])
    refined = judge_all(
        order.folder,
        refine_all(
            order.folder,
            [each for each in candidates if at_last_goal(each, rival)],
            limits=order.limits,
            minutes=order.minutes_left(began) if order.search else 0.0,
            tell=tell,
        ),
        tell,
        order.limits,
    )
    if refined:
        rows += refined_rows(refined)
    rows += [
        Row(f"{design.title}: on the page", "", "not shown", "carries no stride, so that it does not walk")
        for design in designs[:SHOWN_DESIGNS]
        if not design.walks
    ]
    tell("the best walk once more, for the page")
    after = {each.after.candidate.title: each.after.candidate for each in refined}
    parts = page_parts([after.get(each.title, each) for each in candidates])
    rows += fall_rows(parts["films"])
    return SearchOutcome(
        rows, [*plots, *parts["plots"]], maps=maps, pictures=parts["pictures"], films=parts["films"]
    )


def shown_candidates(designs: Sequence[FoundDesign], rival: evolve.Evolution | None) -> list[Candidate]:
    """Return the machines that the page draws: the best designs of those that walk, and the rival."""
    walking = [design for design in designs[:SHOWN_DESIGNS] if design.walks]
    rivals = [] if rival is None else [RivalCandidate(rival.best)]
    return [*[LinkageCandidate(design, design.title) for design in walking], *rivals]


def at_last_goal(candidate: Candidate, rival: evolve.Evolution | None) -> bool:
    """Whether a machine is at the last goal of its search, so that descent has something to begin with."""
    if isinstance(candidate, LinkageCandidate):
        return candidate.design.at_last_goal
    return rival is not None and rival.best.stage == rival.stages


def _search(order: SearchOrder, tell: Callable[[str], None]) -> None:
    """Search all runs, then the rival; or go on with what the folder has. On a processor runs go one after
    the other. On a card, which a generation of one run leaves idle, they go side by side, each in a thread,
    and the rival has what is left of the minutes."""
    began = clock.monotonic()
    on_card = order.device != "cpu"
    way: dict[str, Any] = {"lanes": "auto", "precision": order.precision}
    if on_card:
        way = {"device": order.device, "crew": order.crew, "precision": order.precision}
    if order.step is not None:
        way["step"] = order.step
    size = {
        "generations": order.generations or GENERATIONS,
        "population": order.population or POPULATION,
    }
    if order.limits:
        way["limits"] = order.limits
    names = goal_names(order.limits)
    problem = exoskeleton_problem(order.only or None, kept_values(order), **way)
    runs = order.runs or RUNS
    share = 1.0 if on_card else 1 - RIVAL_SHARE
    stopped = Event()

    def tell_run(run: int, at: evolve.SearchProgress) -> None:
        tell(f"run {run}/{runs}, {progress_line(at, names)}")
        if stopped.is_set():
            raise StopRequest

    def search_run(run: int) -> bool:
        minutes = order.minutes_left(began, share)
        if minutes is not None and minutes <= 0 and run > 1:
            return True
        searched = search_exoskeletons(
            order.folder,
            problem,
            run=run,
            seed=SEED if order.seed is None else order.seed,
            minutes=minutes,
            progress=partial(tell_run, run),
            **size,
        )
        left = order.minutes_left(began, share)
        return searched.finished or (left is not None and left <= 0)

    if on_card:
        tell("machines of all topologies are compiled for the card")
        assert isinstance(problem.evaluation, ExoskeletonEvaluation)
        problem.evaluation.compile()
        with ThreadPoolExecutor(runs) as threads:
            try:
                went_on = all(list(threads.map(search_run, range(1, runs + 1))))
            except KeyboardInterrupt:  # it comes to this thread alone
                went_on = False
            finally:
                stopped.set()  # where one failed or was interrupted the others end with their generation
    else:
        went_on = all(map(search_run, range(1, runs + 1)))
    minutes = order.minutes_left(began)
    if went_on and (minutes is None or minutes > 0):  # who interrupts a run wants no rival, either
        search_rival(
            order.folder,
            runs=runs,
            seed=RIVAL_SEED if order.seed is None else order.seed,
            minutes=minutes,
            progress=lambda at: tell(progress_text(at, names[DESIGN_GOALS:])),
            **size,
            **way,
        )


def kept_values(order: SearchOrder) -> dict[str, float]:
    """Return what an order keeps of an exoskeleton of the package, by parameter; raises ValueRangeError where
    it is not said of which."""
    if not order.keep:
        return {}
    if len(order.only) != 1:
        raise ValueRangeError(
            f"--keep {' '.join(order.keep)} is of one exoskeleton: say with --only of which, as --only "
            f"{next(iter(known_exoskeletons()))}"
        )
    return kept_parameters(order.only[0], order.keep)


def count_design_goals(rival: evolve.Evolution) -> evolve.Evolution:
    """Return the rival's search with goals counted as those of exoskeletons, which have two before."""
    history = dict(rival.history)
    for name in ("stage", "best_stage"):
        history[name] = np.where(history[name] > 0, history[name] + DESIGN_GOALS, history[name])
    return replace(rival, history=history, stages=rival.stages + DESIGN_GOALS)


def search_rows(
    folder: Path,
    designs: list[FoundDesign],
    evolutions: Mapping[str, evolve.Evolution],
    rival: evolve.Evolution | None,
) -> list[Row]:
    """Return what the searches did: evaluations, subspaces, and how far each run came in their own steps."""
    total = sum(each.evaluations for each in evolutions.values())
    seconds = sum(each.seconds for each in evolutions.values())
    per_run = [int((each.history["generation"]).max()) + 1 for each in evolutions.values()]
    visits = visit_counts(folder)
    best = designs[0].group.name
    unvisited = sum(count == 0 for count in visits.values())
    finished = sum(each.finished for each in evolutions.values())
    rows = [
        Row(
            "evaluations of a run",
            "160000",
            f"{total // len(designs)}",
            f"{len(designs)} runs, {finished} finished; generations {min(per_run)}-{max(per_run)}",
        ),
        Row("evaluations a second", "", f"{total / max(seconds, 1e-9):.0f}", "of one run"),
        Row("subspaces never visited", "4", f"{unvisited}", f"of {len(visits)}, in all runs together"),
        Row("evaluations in the best subspace", "61700", f"{visits[best]}", f"{best}, in all runs together"),
    ]
    for design in sorted(designs, key=lambda each: each.run):
        own = design.individual
        goal = design.goals[own.stage - 1] if own.stage else "none"
        rows.append(Row(f"run {design.run}", "", design.group.name, f"at the goal {goal}: {own.value:.4g}"))
    if rival is not None:
        ends = [each.stage == rival.stages for each in rival.best_of_run]
        rows.append(
            Row(
                "runs of the rival at the last goal",
                "",
                f"{sum(ends)} of {len(ends)}",
                f"{rival.evaluations} evaluations",
            )
        )
    return rows


def evaluations(order: SearchOrder) -> list[CompilableEvaluation]:
    """Return with what exoskeletons and their rival are evaluated."""
    way = card_options(order) | {"limits": order.limits or None}
    linkages = exoskeleton_problem(order.only or None, kept_values(order), **way).evaluation
    assert isinstance(linkages, ExoskeletonEvaluation)
    return [linkages, machine_of({RIVAL: rival_problem(**way)})]


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-exoskeleton",
    "An exoskeleton designed at once: topology, actuators, lengths and control",
    f"Kieboom, chapter 5, tables 5.1 to 5.4. Designs are screened, then walk {DURATION:g} s on soft ground; "
    "the best are run again on rigid ground. References count from an ordinary stride. Hours on two cores",
    rows,
    carry_out=carry_out,
    takes=(
        *("runs", "generations", "population", "seed", "device", "precision", "crew", "step"),
        *LIMIT_WORDS,
        "only",
        "keep",
    ),
    evaluations=evaluations,
)
