"""Kieboom's co-design of an exoskeleton: topology, actuators, lengths and control at once, searched over 126
subspaces; and the anthropomorphic rival of the same materials, with the same number of evaluations."""

from __future__ import annotations

import json
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
from strut.errors import StorageError, ValueRangeError
from strut.evolve.search import StopRequest
from strut.files import put
from strut.studies.exoskeleton_candidates import (
    Candidate,
    LinkageCandidate,
    RivalCandidate,
    page_parts,
)
from strut.studies.exoskeleton_evaluation import DURATION, ExoskeletonEvaluation
from strut.studies.exoskeleton_found import (
    WAYS,
    FoundDesign,
    check_screening,
    found_designs,
    run_again,
    visit_counts,
)
from strut.studies.exoskeleton_measures import DESIGN_GOALS, MAX_ASSIST_SHARE
from strut.studies.exoskeleton_pictures import stage_plots, visits_map
from strut.studies.exoskeleton_refined import judge_all, refine_all, refined_rows
from strut.studies.exoskeleton_rival import (
    RIVAL,
    RIVAL_FILE,
    RIVAL_SEED,
    rival_problem,
    rival_run_again,
    search_rival,
)
from strut.studies.exoskeleton_search import (
    GENERATIONS,
    GOAL_NAMES,
    POPULATION,
    RUNS,
    SEED,
    exoskeleton_problem,
    goal_names,
    progress_line,
    run_file,
    search_exoskeletons,
)
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.studies.exoskeleton_table import WornDesign, design_rows, rival_design
from strut.studies.known_exoskeletons import kept_parameters, known_exoskeletons
from strut.studies.mode_searches import card_options, machine_of, progress_text
from strut.studies.study import CompilableEvaluation, Row, SearchOrder, SearchOutcome, SearchStudy

FOLDER = "kieboom-exoskeleton"
"""Where the study keeps its searches unless it is told."""
CHECKS_FILE = "checks.json"
"""Where answers of runs that were done again are kept."""
SHOWN_DESIGNS = 3
"""Designs on the page, the best: as many as were published."""
MAX_ADDED_MASS = 14.0
"""[kg] Mass of a machine that is as light as what was published, 13 to 14."""
UNCOUNTED_MASS = 1.0
"""[kg] Mass of two of the eight passive joints, which the published masses leave out and ours do not."""
MAX_POWER = 1000.0
"""[W] Power below which it counts as hundreds of watts."""
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
    checks = check_designs(order.folder, designs, rival, tell) if order.verify else {}
    rows = [
        *search_rows(order.folder, designs, evolutions, rival),
        *check_rows(designs, rival, checks),
        *design_rows(
            [worn_with_forces(design, checks) for design in designs[:SHOWN_DESIGNS]],
            _worn_rival(rival, checks),
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
    tell("the best walk once more, for the page")
    after = {each.after.candidate.title: each.after.candidate for each in refined}
    parts = page_parts([after.get(each.title, each) for each in candidates])
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


def check_designs(
    folder: Path, designs: list[FoundDesign], rival: evolve.Evolution | None, tell: Callable[[str], None]
) -> dict[str, dict[str, dict[str, float]]]:
    """Run the best of each run again in every way, and return by title and way what was measured; what was
    done before is read from a file of the folder. Rigid ground takes minutes to compile for each topology:
    only the best designs walk there."""
    path = folder / CHECKS_FILE
    checks: dict[str, dict[str, dict[str, float]]] = {}
    if path.is_file():
        try:
            checks = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise StorageError(f"{path} is damaged: {error}; remove it, and runs are done again") from error

    def run_once(title: str, way: str, run: Callable[[], Mapping[str, float]]) -> None:
        if way not in checks.setdefault(title, {}):
            tell(f"{title} is run again: {way}")
            checks[title][way] = dict(run())
            put(path, json.dumps(checks, indent=1, sort_keys=True) + "\n")

    for k, design in enumerate(designs):
        title = f"{design.title}, generation {design.individual.generation}"
        run_once(title, "screened", partial(_screening_answer, design))
        for way in WAYS if k < SHOWN_DESIGNS else WAYS[:2]:
            if design.walks:
                run_once(title, way, partial(run_again, design, way))
    if rival is not None:
        for way in WAYS:
            run_once(
                f"{RIVAL}, generation {rival.best.generation} of run {rival.best.run + 1}",
                way,
                partial(rival_run_again, rival.best, way),
            )
    return checks


def _screening_answer(design: FoundDesign) -> dict[str, float]:
    return {"ok": float(check_screening(design))}


def _answers(title: str, checks: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
    """What was found of a design or the rival when it was run again."""
    return next((each for key, each in checks.items() if key.startswith(title)), {})


def worn_with_forces(design: FoundDesign, checks: Mapping[str, Any]) -> WornDesign:
    """Return what the table tells of a design: with forces from rigid ground, where it was run there, and as
    it walks in fine steps, where it did."""
    answers = _answers(f"{design.title},", checks)
    return _in_fine_steps(design.worn_design(_forces(answers)), answers)


def _in_fine_steps(worn: WornDesign, answers: Mapping[str, Mapping[str, float]]) -> WornDesign:
    """What was found in fine steps takes the place of what the search saw in long ones: its measures, and the
    goal that it is at, if that is a lower one."""
    fine = answers.get("fine")
    if fine is None:
        return worn
    return replace(worn, stage=min(worn.stage, int(fine["stage"])), measures={**worn.measures, **fine})


def _worn_rival(rival: evolve.Evolution | None, checks: Mapping[str, Any]) -> WornDesign | None:
    """What the table tells of the rival; its goals are counted as those of exoskeletons."""
    if rival is None:
        return None
    stage = rival.best.stage + DESIGN_GOALS if rival.best.stage else 0
    if rival.stages + DESIGN_GOALS > len(GOAL_NAMES):  # it has goals of peaks, which count as one
        stage = len(GOAL_NAMES) if rival.best.stage == rival.stages else min(stage, len(GOAL_NAMES) - 1)
    answers = _answers(f"{RIVAL},", checks)
    seen = {**rival.best.measures, **_forces(answers)}
    return _in_fine_steps(rival_design(rival.best.parameters, stage, seen), answers)


def _forces(answers: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Forces and peaks of a walk on rigid ground that lasted."""
    rigid = answers.get("rigid", {})
    if rigid.get("time", 0.0) < DURATION:
        return {}
    return {
        name: rigid[name]
        for name in ("interaction", "peak_interaction", "peak_power", "spring_return")
        if name in rigid
    }


def is_stable_gait(design: FoundDesign) -> bool:
    """Tell whether a design is what was published: at the last goal, up to 14 kg, bars up to 0.7 m, assisted
    for a tenth of the time at most, hundreds of watts."""
    worn_design = design.worn_design()
    measures = worn_design.measures
    return bool(
        design.at_last_goal
        and worn_design.mass - UNCOUNTED_MASS <= MAX_ADDED_MASS
        and worn_design.bars.max() <= MAX_BAR_LENGTH
        and measures["assist_time"] <= MAX_ASSIST_SHARE * DURATION / 2
        and measures["power_absolute"] < MAX_POWER
    )


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
    """Return what the searches did: evaluations, subspaces, and how far each run came."""
    total = sum(each.evaluations for each in evolutions.values())
    seconds = sum(each.seconds for each in evolutions.values())
    per_run = [int((each.history["generation"]).max()) + 1 for each in evolutions.values()]
    visits = visit_counts(folder)
    best = designs[0].group.name
    unvisited = sum(count == 0 for count in visits.values())
    last = [design for design in designs if design.at_last_goal]
    alike = [design for design in designs if is_stable_gait(design)]
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
        Row("runs with a gait at the last goal", "not every", f"{len(last)} of {len(designs)}"),
        Row(
            "runs with such a gait, up to 14 kg, bars up to 0.7 m, below 1000 W",
            "",
            f"{len(alike)} of {len(designs)}",
            "counting six passive joints, as published masses do: ours have eight, 1 kg more",
        ),
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


def check_rows(
    designs: list[FoundDesign], rival: evolve.Evolution | None, checks: Mapping[str, Any]
) -> list[Row]:
    """Return how far bests come when they are run again: the goal in each way."""
    rows = []
    titles = [design.title for design in designs] + ([RIVAL] if rival is not None else [])
    for title in titles:
        answers = _answers(f"{title},", checks)
        parts = []
        for way in WAYS:
            if way in answers:
                measures = answers[way]
                goal = GOAL_NAMES[int(measures["stage"]) - 1]
                lasted = f"{goal}, {measures['time']:.1f} s" if "time" in measures else "broke off"
                parts.append(f"{way}: {lasted}")
        if parts:
            sound = answers.get("screened", {}).get("ok", 1.0)
            rows.append(
                Row(f"{title} run again", "", "; ".join(parts), "" if sound else "fails the finer screening")
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
