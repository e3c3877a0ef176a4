"""`strut evolve`: search with a population, as a job file says."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strut import evolve as populations
from strut.cli.answer import note, note_written, number_text, present
from strut.cli.compile_ahead import check_compile_for, compile_ahead
from strut.cli.completion import complete_file, complete_word
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.model import Reading, find_model
from strut.cli.options import CompileFor, Device, Root, RunCode, Workers
from strut.cli.progress import tell_progress
from strut.cli.tables import table
from strut.errors import ModelError, did_you_mean
from strut.evolve.job_file import Job, read_job
from strut.system import System

SQLITE_HEADER = b"SQLite format 3\x00"
"""First bytes of a file that a search keeps."""
MAX_FRONT_ROWS = 15
"""Individuals of a front that are printed; of more, evenly spaced ones."""
WORKER_OPTIONS = {
    "here": (),
    "processes": ("workers",),
    "ray": ("workers", "address", "token-file", "priority"),
}
"""Where a job can run, and the options that belong to it."""


def evolve(  # noqa: PLR0913 options of a command
    job: Annotated[
        Path,
        typer.Argument(
            metavar="JOB.toml",
            help="What is searched, how and by what.",
            autocompletion=complete_file(".toml"),
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="RUN.db",
            help="Where everything is kept while it runs (SQLite): the job's name, here, unless given.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with a file that is there, after it was stopped or killed."),
    ] = False,
    generations: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many generations, instead of what the job says; with --resume more of them go on from "
            "where a file ended.",
        ),
    ] = None,
    run_code: RunCode = False,
    polish: Annotated[
        bool,
        typer.Option(
            "--polish",
            help="Improve the best of each run at its end by exact gradients, where goals are smooth.",
        ),
    ] = False,
    device: Device = "cpu",
    compile_for: CompileFor = "",
    on: Annotated[
        str,
        typer.Option(
            metavar="WHERE",
            help="here: this process, with all cores for machines and programs; processes; or ray: a "
            "cluster, joined by --address, or else started on this machine.",
            autocompletion=complete_word(*WORKER_OPTIONS),
        ),
    ] = "here",
    workers: Workers = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="The cluster to join; RAY_ADDRESS unless given."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Holds the cluster's token; RAY_AUTH_TOKEN or ~/.ray/auth_token unless given.",
        ),
    ] = None,
    priority: Annotated[
        float | None,
        typer.Option(metavar="P", help="Jobs share a cluster in proportion to this; 1 unless given."),
    ] = None,
    root: Root = [],
) -> None:
    """Search with a population: swarms, evolution, goals in stages.

    Every individual of every generation is kept in one file. Ctrl-C stops, and --resume goes on, also after
    the machine went down: the end is the same, wherever it runs. [bold]strut jobs[/bold] shows, pauses and
    stops jobs from elsewhere; [bold]strut view RUN.db --live[/bold] shows a page of one while it runs.

    [bold]Examples[/bold]

      strut evolve examples/slip_job.toml -o slip.db

      strut evolve examples/slip_job.toml -o slip.db --resume

      strut evolve examples/slip_job.toml -o slip.db --resume --generations 50

      strut evolve examples/slip_job.toml -o slip.db --on ray --address 10.0.0.1:6379 --priority 2

      strut jobs slip.db
    """
    described = read_described_job(job, run_code=run_code, roots=tuple(root))
    if device != "cpu":
        described = described.on_device(device)
    if compile_for:
        check_compile_for(compile_for, device)
        compile_ahead(described.name, [described.problem.evaluation], compile_for)
        return
    path = output or Path(f"{described.name}.db")
    if resume and not path.is_file():
        note(f"there is no {path} to go on with: the search begins")
    where = _workers(on, workers, address=address, token_file=token_file, priority=priority)
    with closing(where) as crew:
        evolution = populations.search(
            described.problem,
            described.method,
            described.generations if generations is None else generations,
            runs=described.runs,
            seed=described.seed,
            polish=described.polish or polish,
            output=path,
            resume=resume,
            progress=lambda at: tell_progress(_progress_text(at), at.fraction),
            workers=crew,
        )
    note_written(path)
    present(lambda: evolution_data(evolution, path), lambda: _print_evolution(described, evolution))
    _say_evolution(evolution)
    if not evolution.finished:
        again = f"strut evolve {job} -o {path} --resume" + (" --run-code" if run_code else "")
        again += "" if generations is None else f" --generations {generations}"
        again += "" if on == "here" else f" --on {on}" + (f" --address {address}" if address else "")
        note(f"stopped; {again} goes on")
        raise typer.Exit(INTERRUPTED_EXIT)


def _workers(
    on: str,
    count: int | None,
    *,
    address: str | None,
    token_file: Path | None,
    priority: float | None,
) -> populations.Workers:
    """Return where generations are evaluated; options of another place are refused."""
    if on not in WORKER_OPTIONS:
        raise ModelError(f"--on is '{on}': {did_you_mean(on, list(WORKER_OPTIONS))}")
    options = {"workers": count, "address": address, "token-file": token_file, "priority": priority}
    for name, value in options.items():
        if value is not None and name not in WORKER_OPTIONS[on]:
            raise ModelError(f"--{name} is of no use with --on {on}: leave it out, or say --on ray")
    if on == "here":
        return populations.Threads()
    if on == "processes":
        return populations.Processes(count)
    if not (address or os.environ.get("RAY_ADDRESS")):
        note("starting a cluster on this machine, which ends with the job")
    elif count is not None:
        raise ModelError("--workers is of no use where a cluster is joined: it has the cores that it has")
    return populations.RayWorkers(address, token_file=token_file, priority=priority or 1.0, cores=count)


def read_described_job(job: Path, *, run_code: bool, roots: tuple[Path, ...]) -> Job:
    """Return the job of a file; raises ModelError where it names code and that is not to be run, or is what a
    search keeps."""
    if job.is_file():
        with job.open("rb") as file:
            if file.read(len(SQLITE_HEADER)) == SQLITE_HEADER:
                raise ModelError(
                    f"{job} is what a search keeps, not its job: strut evolve JOB.toml -o {job} --resume "
                    f"goes on with it, strut jobs {job} tells what is in it"
                )
    described = read_job(
        job,
        lambda text: _find_beside(text, job.parent, run_code, roots),
        lambda text, walker: _read_goal(job.parent / text, walker, roots),
    )
    if not run_code and described.problem.evaluation.settings()["kind"] == "program":
        raise ModelError(f"{job} names a program that would be run: add --run-code if you trust it")
    return described


def standing_text(evolution: populations.Evolution) -> str:
    """Return how good the best is, for a table."""
    if evolution.front is not None:
        return f"front of {len(evolution.front)}, hypervolume {number_text(evolution.front.hypervolume)}"
    return number_text(evolution.best.value) if evolution.best.stage else ""


def _read_goal(path: Path, walker: System, roots: tuple[Path, ...]) -> tuple[dict[str, Any], str]:
    """Return the arguments of a design that a file of goals says, and its text."""
    from strut.cli.goal_file import read_goal_file  # designs are a large room, which other jobs do not need

    return read_goal_file(path, walker, roots=roots), path.read_text(encoding="utf-8")


def _find_beside(text: str, folder: Path, run_code: bool, roots: tuple[Path, ...]) -> System:
    """Return the machine that a job names; a file is looked for beside the job."""
    name = text.partition(":")[0]
    if name.endswith(".py") and not run_code:
        raise ModelError(f"the model '{text}' is Python, which would be run: add --run-code if you trust it")
    beside = (folder / text) if (folder / name).is_file() else text
    return find_model(str(beside), Reading(roots=roots))


def _progress_text(at: populations.SearchProgress) -> str:
    """Return how far a job is, as a line."""
    goal = f"goal {at.stage} of {at.stages}, " if at.stages > 1 else ""
    word = "hypervolume" if at.front else "best"
    return (
        f"run {at.run + 1}/{at.runs}, generation {at.generation + 1}/{at.generations}: {goal}{word} "
        f"{at.value:.5g}, {at.evaluations_per_second:.3g}/s"
    )


def _print_evolution(job: Job, evolution: populations.Evolution) -> None:
    """Print the best, and the best of each run."""
    best = evolution.best
    goals = job.problem.staged_goals.goals
    units = {each.name: each.unit for each in job.problem.space.parameters}
    rows = [[name, float(value), units[name]] for name, value in best.parameters.items()]
    rows += [[name, float(value), ""] for name, value in best.measures.items()]
    if evolution.front is not None:
        _print_front(evolution.front)
    if best.stage:
        goal = goals[best.stage - 1]
        word = "best" if evolution.front is None else "a compromise"
        title = f"{word} of {evolution.evaluations} evaluations: {goal.label}"
        title += f" (goal {best.stage} of {len(goals)})" if len(goals) > 1 else ""
        title += f", {best.origin}" if best.origin else ""
    else:
        title = f"every one of {evolution.evaluations} evaluations failed"
    table(title, ["name", "value", "unit"], rows)
    if len(evolution.best_of_run) > 1 and evolution.front is None:
        table(
            "best of each run",
            ["run", "goal", "value"],
            [[each.run + 1, each.stage, float(each.value)] for each in evolution.best_of_run],
        )


def _say_evolution(evolution: populations.Evolution) -> None:
    """Say what is doubtful about the best, and why evaluations failed."""
    if evolution.best.status != populations.OK:
        note(evolution.best.status)
    for name in evolution.at_bounds:
        note(f"{name} lies on a bound of its range, which decides it: search further if it may")
    for word, count in sorted(evolution.failures.items(), key=lambda item: -item[1])[:5]:
        note(f"{count} evaluations failed: {word}")


def _print_front(front: populations.ParetoFront) -> None:
    """Print a front: of a long one, individuals spread over it."""
    columns = front.columns()
    places = np.unique(np.linspace(0, len(front) - 1, min(len(front), MAX_FRONT_ROWS)).astype(int)).tolist()
    part = "" if len(places) == len(front) else f", {len(places)} of them"
    table(
        f"front of {len(front)} individuals{part}: hypervolume {number_text(front.hypervolume)}",
        list(columns),
        [[float(column[k]) for column in columns.values()] for k in places],
    )


def evolution_data(evolution: populations.Evolution, path: Path) -> dict[str, Any]:
    """Return what --json prints of a job."""
    best, front = evolution.best, evolution.front
    return {
        "file": str(path),
        "finished": evolution.finished,
        "evaluations": evolution.evaluations,
        "failures": dict(evolution.failures),
        "at_bounds": list(evolution.at_bounds),
        "stages": evolution.stages,
        "best": {
            "run": best.run,
            "generation": best.generation,
            "stage": best.stage,
            "value": best.value,
            "origin": best.origin,
            "status": best.status,
            "parameters": dict(best.parameters),
            "measures": dict(best.measures),
        },
        "best_of_run": [{"run": e.run, "stage": e.stage, "value": e.value} for e in evolution.best_of_run],
        "front": None if front is None else {name: col.tolist() for name, col in front.columns().items()},
        "hypervolume": None if front is None else front.hypervolume,
    }
