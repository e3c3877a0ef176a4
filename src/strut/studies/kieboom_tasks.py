"""One exoskeleton for several tasks: to walk slowly, fast and up a step, searched as one goal from a design
that walks fast alone: what the thesis leaves for later."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve, linkage
from strut.evolve.search import StopRequest
from strut.simulate import simulate
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_found import FoundDesign
from strut.studies.exoskeleton_measures import FINE_STEP, MAX_ASSIST_SHARE, SPEED_MATCH
from strut.studies.exoskeleton_pictures import PICTURE_STEP
from strut.studies.exoskeleton_search import GOAL_NAMES, goal_names, progress_line
from strut.studies.exoskeleton_tasks import (
    EVERYDAY_TASKS,
    TaskRuns,
    WalkTask,
    task_evaluation,
    task_problem,
)
from strut.studies.gait_pictures import progress_plots
from strut.studies.known_exoskeletons import refined_exoskeletons
from strut.studies.study import SECONDS_PER_MINUTE, Row, SearchOrder, SearchOutcome, SearchStudy

FOLDER = "kieboom-tasks"
"""Where the study keeps its search unless it is told."""
SEARCH_FILE = "tasks.db"
"""The file of the search."""
BEGIN_GROUP = "7-13"
"""The exoskeleton of the package with whose refined design the search begins."""
POPULATION, GENERATIONS, SEED = 24, 400, 1
"""Individuals of a generation, generations, and the seed."""
FIRST_DEVIATION = 0.01
"""[1] Standard deviation of the first population, as a part of each range: few fall, and some do better."""
BEGIN_SPREAD = 1e-6
"""[1] How far from the design the search begins, as a part of each range."""
FILM_BEGIN, FILM_END = 1.0, 5.0
"""[s] Of the moving pictures: the step comes after about 2 m."""
TASK_GOALS = ("time", "speeds")
"""The first goals, in a word each."""


def begin_design() -> FoundDesign:
    """Return the design with which the search begins."""
    return refined_exoskeletons()[BEGIN_GROUP]


def begin_numbers(design: FoundDesign) -> dict[str, float]:
    """Return all parameters of a design, pins and control, by name."""
    pins = [each.name for each in linkage.pin_parameters(design.group.topology)]
    return {**design.controls, **dict(zip(pins, np.ravel(design.pins).tolist(), strict=True))}


def tasks_problem(design: FoundDesign, limits: Mapping[str, float] | None = None) -> evolve.SearchProblem:
    """Return the search near a design. limits: as of `task_goals`."""
    return task_problem(
        design.group.topology,
        design.group.actuators,
        EVERYDAY_TASKS,
        near=begin_numbers(design),
        spread=BEGIN_SPREAD,
        limits=limits,
        ground="soft",
        worn=bool(limits),
    )


def search_tasks(order: SearchOrder, tell: Callable[[str], None]) -> None:
    """Search by CMA-ES, or go on with what the folder has."""
    began = clock.monotonic()
    path = order.folder / SEARCH_FILE
    names = (*TASK_GOALS, *goal_names(order.limits)[len(GOAL_NAMES) - 1 :])

    def watch(at: evolve.SearchProgress) -> None:
        tell(progress_line(at, names))
        if order.minutes is not None and clock.monotonic() - began > SECONDS_PER_MINUTE * order.minutes:
            raise StopRequest

    evolve.search(
        tasks_problem(begin_design(), order.limits or None),
        evolve.CmaEs(order.population or POPULATION, sigma=FIRST_DEVIATION),
        order.generations or GENERATIONS,
        seed=SEED if order.seed is None else order.seed,
        output=path,
        resume=path.is_file(),
        progress=watch,
        keep="best",
    )


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search, or go on; then run the design with which it began and the best again in fine steps, and
    compare."""
    order.folder.mkdir(parents=True, exist_ok=True)
    if order.search:
        search_tasks(order, tell)
    evolution = evolve.load_evolution(order.folder / SEARCH_FILE)
    plots = progress_plots({"search": evolution}, "power, sum of all tasks [W]")
    rows = search_rows(evolution)
    if not order.verify:
        return SearchOutcome(rows, plots)
    tell("the best is run again in fine steps")
    measured = measure_again(begin_design(), evolution.best.parameters)
    rows += task_rows(*measured)
    tell("it walks once more, for the page")
    return SearchOutcome(rows, plots, films=films(begin_design(), evolution.best.parameters))


def search_rows(evolution: evolve.Evolution) -> list[Row]:
    """Return what the search did."""
    best = evolution.best
    value = f"{best.value:.3g} s" if best.stage == 1 else f"{best.value:.3g}"
    return [
        Row("evaluations, three walks each", "", f"{evolution.evaluations}"),
        Row("evaluations a second", "", f"{evolution.evaluations / max(evolution.seconds, 1e-9):.1f}"),
        Row("goal of the best", "", f"{best.stage} of {evolution.stages}", value),
    ]


def measure_again(
    design: FoundDesign, parameters: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return measures of all tasks in fine steps: of the design as it is, with the same control in all, and
    with parameters that were searched."""
    evaluation = task_evaluation(
        design.group.topology,
        design.group.actuators,
        EVERYDAY_TASKS,
        ground="soft",
        worn=False,
        method="rk4",
        step=FINE_STEP,
    )
    near = begin_numbers(design)
    names = tuple(parameters)
    begin = [near[name.rpartition(".")[2]] for name in names]
    x = np.array([begin, [parameters[name] for name in names]])
    measures = evaluation.evaluate(names, x, np.zeros(1, dtype=np.uint64)).measures
    first, last = (dict(zip(evaluation.measures, row.tolist(), strict=True)) for row in measures)
    return first, last


def keeps_task(task: WalkTask, name: str, measures: Mapping[str, float], duration: float = DURATION) -> bool:
    """Whether a walk keeps what a task asks for: no fall, the speed, little assistance."""
    speed = measures[f"{name}.speed"]
    return bool(
        measures[f"{name}.time"] > duration - FINE_STEP
        and SPEED_MATCH * task.speed <= speed <= task.speed / SPEED_MATCH
        and measures[f"{name}.assist_time"] <= MAX_ASSIST_SHARE * duration / 2
    )


def task_rows(first: Mapping[str, float], last: Mapping[str, float]) -> list[Row]:
    """Return rows of every task, of the design as it is and after the search, as 'before | after'."""
    rows = []
    for name, task in EVERYDAY_TASKS.items():
        both = (first, last)
        asked = f"{task.speed:g} m/s at {task.frequency:g} Hz" + (
            f", up a step of {100 * task.rise:g} cm" if task.rise else ""
        )

        def texts(measure: str, digits: int, name: str = name, both: Any = both) -> str:
            whole = [measure == "time" or each[f"{name}.time"] > DURATION / 2 for each in both]
            return " | ".join(
                f"{each[f'{name}.{measure}']:.{digits}f}" if is_measured else "-"
                for each, is_measured in zip(both, whole, strict=True)
            )

        rows += [
            Row(
                f"{name}: keeps what is asked, before | after",
                "",
                " | ".join("yes" if keeps_task(task, name, each) else "no" for each in both),
                asked,
            ),
            Row(f"{name}: walks for [s]", "", texts("time", 1)),
            Row(f"{name}: speed [m/s]", "", texts("speed", 2)),
            Row(f"{name}: assisted, of 5 s [s]", "", texts("assist_time", 2)),
            Row(f"{name}: power [W]", "", texts("power_absolute", 0)),
        ]
    return rows


def films(design: FoundDesign, parameters: Mapping[str, float]) -> dict[str, Any]:
    """Return by task a walk in motion, of a design with parameters that were searched."""
    evaluation = task_evaluation(
        design.group.topology, design.group.actuators, EVERYDAY_TASKS, ground="soft", worn=False
    )
    walks = {}
    for name, runs in evaluation.tasks.items():
        assert isinstance(runs, TaskRuns)
        own = {
            each: float(parameters.get(each, parameters.get(f"{name}.{each}", np.nan)))
            for each in (*runs.pins, *runs.tables.names)
        }
        machine = runs.machine(own)
        walk = simulate(machine, FILM_BEGIN, method="rk4", step=PICTURE_STEP, ledger=False)
        if walk.status != "done":
            walks[name] = walk
            continue
        x0 = dict(zip(machine.labels("x"), walk.raw.x_end, strict=True))
        walks[name] = simulate(
            machine, (FILM_BEGIN, FILM_END), x0=x0, method="rk4", step=PICTURE_STEP, ledger=False
        )
    return walks


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-tasks",
    "One exoskeleton that walks slowly, fast and up a step",
    f"Kieboom, chapter 5, leaves several tasks for later. CMA-ES from the refined {BEGIN_GROUP} of the "
    f"package, on soft ground: pins and springs are of all tasks, a controller is of each. Half an hour",
    rows,
    carry_out=carry_out,
    takes=("generations", "population", "seed", "peak_power", "peak_force"),
)
