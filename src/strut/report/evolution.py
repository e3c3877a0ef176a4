"""A job of population search as a `Result`: progress of its goals, its population over time, the best."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from strut.checks import checked
from strut.evolve import Evolution, ParetoFront, job_state, load_evolution, load_individuals
from strut.evolve.goals import Stage, StagedGoals, stage_of
from strut.evolve.store import JobStore
from strut.report.front import front_figures, front_table
from strut.report.job_pictures import JobPictures
from strut.report.population import distribution_figures, visit_figures
from strut.report.walks import TitledRun, front_walks
from strut.view.figures.figure import NEUTRAL, Figure, Line, Points, distinct_colors
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

MAX_SHOWN_POINTS = 3000
"""Individuals that a figure of a parameter shows; of more, evenly spaced ones."""
MAX_SHOWN_PARAMETERS = 24
"""Parameters that have a figure."""
GROUP_COLUMN = "groups"
"""The head of the column that says which parameters an individual has."""


@checked
def evolution_result(
    path: str | Path, asked: str = "", pictures: JobPictures | None = None, state: str = ""
) -> Result:
    """Turn a file that `evolve.search` wrote into a `Result`; the job may still run.

    asked: the command that was given. pictures: runs of the best that were made before. state: whether the
    job is running, paused, stopped, killed or finished; looked up unless given.
    """
    evolution, individuals = load_evolution(path), load_individuals(path)
    store = JobStore(Path(path), read_only=True)
    try:
        spec = store.spec
    finally:
        store.close()
    parameters = [each["name"] for each in spec["problem"]["parameters"]]
    units = {each["name"]: each["unit"] for each in spec["problem"]["parameters"]}
    best = evolution.best
    goals = [stage_of(each) for each in spec["problem"]["goals"]]
    front = evolution.front
    outcome = (
        f"the best is at goal {best.stage} of {len(goals)}, {best.value:.6g}."
        if front is None
        else f"a front of {len(front)} individuals, hypervolume {front.hypervolume:.6g}."
    )
    verdict = (
        f": {evolution.evaluations} evaluations in {len(evolution.best_of_run)} of {spec['runs']} runs by "
        f"{spec['search']['kind']}; {outcome}"
    )
    rows = [(name, f"{value:.6g}", units.get(name, "")) for name, value in best.parameters.items()]
    rows += [(name, f"{value:.6g}", "") for name, value in best.measures.items()]
    runs = [
        (each.run + 1, each.generation + 1, each.stage, f"{each.value:.6g}") for each in evolution.best_of_run
    ]
    goal_rows = [(k + 1, goal.label, goal.until) for k, goal in enumerate(goals)]
    run_pictures = pictures or JobPictures()
    motion = run_pictures.chapter(path, evolution)
    chapters = [
        Chapter(
            "Progress",
            "The best so far, over generations; a line for each run, and below the goal that it is at.",
            [Rows(("goal", "what", "until"), goal_rows)],
            progress_figures(evolution),
        ),
        *(chapter for chapter in motion if chapter.films),
        *_front_chapter(front, individuals, goals, front_walks(path, front, run_pictures) if front else {}),
        Chapter("The best" if front is None else "A compromise", "", [Rows(("name", "value", "unit"), rows)]),
        Chapter("Runs", "The best of each run.", [Rows(("run", "generation", "goal", "value"), runs)]),
        Chapter(
            "Population",
            "Each parameter of all individuals over generations; those in colour are at the furthest goal.",
            _visits(individuals, parameters),
            population_figures(individuals, parameters, units)
            | visit_figures(individuals, spec["search"].get("pools", {})),
        ),
        Chapter(
            "Distributions",
            "How individuals of the first and of the last generation are distributed over each parameter.",
            figures=distribution_figures(individuals, spec["problem"]["parameters"][:MAX_SHOWN_PARAMETERS]),
            beside=True,
        ),
        *(chapter for chapter in motion if not chapter.films),  # why nothing is shown, after what there is
    ]
    if evolution.failures:
        failed = sorted(evolution.failures.items(), key=lambda item: -item[1])
        chapters.append(Chapter("Failures", "", [Rows(("what was said", "times"), failed)]))
    facts = {
        "evaluations": str(evolution.evaluations),
        "runs": f"{len(evolution.best_of_run)} of {spec['runs']}",
        "generations": f"{int(individuals['generation'].max()) + 1} of {spec['generations']}",
        "failed": str(sum(evolution.failures.values())),
    }
    if evolution.at_bounds:
        facts["on a bound"] = ", ".join(evolution.at_bounds)
    word = (state or job_state(Path(path), finished=evolution.finished).word).capitalize()
    title = f"Search: {Path(path).stem}"
    well = {"Finished": True, "Killed": False}.get(word)
    return Result(title, word, verdict, well, "", asked, facts, chapters, data={"spec": spec})


def _front_chapter(
    front: ParetoFront | None,
    individuals: dict[str, np.ndarray],
    goals: list[Stage],
    walks: dict[int, TitledRun],
) -> list[Chapter]:
    """Return the chapter of a front; none without one. walks: of some of its individuals."""
    if front is None:
        return []
    names = [name for name in individuals if name != "status"]
    columns = {name: np.nan_to_num(individuals[name]) for name in names}
    staged = StagedGoals(goals, names)
    keys = staged.keys(columns)
    # the goals of those whose evaluation failed are no numbers
    at_front = staged.at_front(keys) & (individuals["stage"] > 0)
    values = staged.front_values(keys[at_front, 1:])
    others = {label: values[:, k] for k, label in enumerate(staged.front_labels)}
    corner = ", ".join(f"{name}: {value:.6g}" for name, value in front.reference.items())
    text = (
        "Nobody on the front is better than another in all goals; others are grey. Its hypervolume is "
        f"measured up to {corner}."
    )
    figures = front_figures(front, others, {k: title for k, (title, _) in walks.items()})
    return [Chapter("Front", text, [front_table(front)], figures, films=dict(walks.values()), one_film=True)]


def progress_figures(evolution: Evolution) -> dict[str, Figure]:
    """Return the best value so far over generations, at the last goal that a run has reached, and where there
    are several goals, which one it is at; a line for each run."""
    columns = evolution.columns()
    runs = np.unique(columns["run"]).astype(int).tolist()
    colors = distinct_colors(len(runs))
    furthest = columns["best_stage"].max()
    values: list[Line | Points] = []
    stages: list[Line | Points] = []
    for run, color in zip(runs, colors, strict=True):
        own = columns["run"] == run
        generation = columns["generation"][own] + 1
        stage = columns["best_stage"][own]
        value = np.where(stage == furthest, columns["best_value"][own], np.nan)
        values.append(Line(f"run {run + 1}", generation, value, color))
        stages.append(Line(f"run {run + 1}", generation, stage, color, step=True))
    several = len(runs) > 1
    front = evolution.front is not None and furthest == evolution.stages
    what = "hypervolume of the front" if front else f"value of goal {furthest:.0f}"
    figures = {"progress": Figure(tuple(values), "generation", what, legend=several)}
    if evolution.stages > 1:
        figures["goals"] = Figure(tuple(stages), "generation", "goal", legend=several)
    return figures


def population_figures(
    individuals: dict[str, np.ndarray], parameters: list[str], units: dict[str, str]
) -> dict[str, Figure]:
    """Return each parameter of all individuals over generations, by its name."""
    count = len(individuals["run"])
    chosen = np.unique(np.linspace(0, count - 1, min(count, MAX_SHOWN_POINTS)).astype(int))
    generation = individuals["generation"][chosen] + 1
    stage = individuals["stage"][chosen]
    ahead = stage == stage.max()
    figures = {}
    for name in parameters[:MAX_SHOWN_PARAMETERS]:
        values = individuals[name][chosen]
        present = ~np.isnan(values)
        traces = tuple(
            Points(label, generation[which], values[which], color, size=3)
            for label, which, color in (
                ("before", present & ~ahead, NEUTRAL),
                (f"at goal {stage.max():.0f}", present & ahead, distinct_colors(1)[0]),
            )
            if which.any()
        )
        unit = f" [{units[name]}]" if units.get(name) else ""
        figures[f"parameter_{name}"] = Figure(traces, "generation", f"{name}{unit}", legend=False)
    return figures


def _visits(individuals: dict[str, np.ndarray], parameters: list[str]) -> list[Rows]:
    """Return how many individuals had which parameters, where not all have all."""
    table = np.column_stack([~np.isnan(individuals[name]) for name in parameters])
    if table.all():
        return []
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rows = [
        (", ".join(np.array(parameters)[kinds[k]].tolist()) or "none", int(counts[k])) for k in order.tolist()
    ]
    return [Rows((GROUP_COLUMN, "individuals"), rows)]
