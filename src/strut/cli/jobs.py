"""`strut jobs`: how far jobs of population search are; pause, stop and export them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from strut import evolve as populations
from strut.cli.answer import note, present
from strut.cli.completion import complete_file
from strut.cli.evolve import evolution_data, standing_text
from strut.cli.tables import table
from strut.errors import ModelError, StorageError, StrutError
from strut.evolve.job_lock import Request, request_of_job

STATE_MEANINGS = {
    "running": "a process works at it",
    "paused": "a process waits: --go-on",
    "stopped": "--resume goes on with it",
    "killed": "its process is gone: --resume goes on with it, and nothing is lost",
    "finished": "all its runs are done",
}
"""What the state of a job means."""

ANSWERS: dict[Request, str] = {"pause": "paused", "go on": "running", "stop": "stopped"}
"""The state of a job that did what it was asked."""
ANSWER_SECONDS = 3.0
"""Time [s] for which a job is given to answer: shares last about a second."""


def jobs(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN.db",
            help="Files that strut evolve wrote, or folders of such; those where you are unless given.",
            autocompletion=complete_file(".db"),
        ),
    ] = None,
    *,
    pause: Annotated[
        bool, typer.Option("--pause", help="Let them wait, once what is being evaluated is done.")
    ] = False,
    go_on: Annotated[bool, typer.Option("--go-on", help="Let those that wait go on.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End them; strut evolve --resume goes on.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write every individual of one job as a table: .csv, .parquet, .h5 or .mat (MATLAB).",
        ),
    ] = None,
) -> None:
    """Show how far jobs are, also while they run: whether they run, generations, stages and the best so far.

    A job is running, paused, stopped, killed (its process is gone without a word) or finished.

    [bold]Examples[/bold]

      strut jobs

      strut jobs slip.db other.db

      strut jobs slip.db --pause

      strut jobs slip.db -o slip.csv
    """
    flags: dict[Request, bool] = {"pause": pause, "go on": go_on, "stop": stop}
    requests = [word for word, flag in flags.items() if flag]
    if len(requests) > 1:
        raise ModelError(f"jobs are asked to {' and to '.join(requests)}: give one of them")
    if not files and (requests or output is not None):
        raise ModelError(
            "no job is named: give the file that strut evolve wrote, as in strut jobs RUN.db --pause"
        )
    files = job_files(files or [Path()])
    if not any(path.is_file() for path in files):  # one that is missing does not hide the others
        raise StorageError(f"cannot read {', '.join(map(str, files))}: there is no such file")
    if output is not None and len(files) != 1:
        raise ModelError(f"-o {output} is of one job, and {len(files)} are given: one at a time")
    for path in files if requests else ():
        request_of_job(path, requests[0])
    for path in files if requests else ():
        _acknowledge(path, requests[0])
    if output is not None:
        written = populations.export_individuals(files[0], output)
        present({"file": str(files[0]), "table": str(written)}, lambda: None)
        return
    rows, data, meanings = [], [], []
    for path in files:
        try:
            evolution = populations.load_evolution(path)
        except StrutError as error:  # one that cannot be shown does not hide the others
            state = populations.job_state(path, finished=False).word if path.is_file() else ""
            data.append({"file": str(path), "error": str(error), "state": state})
            note(": ".join(filter(None, (path.name, state, str(error)))))
            continue
        holder = populations.job_state(path, finished=evolution.finished)
        process = {"pid": holder.pid or None, "host": holder.host or None}  # no 0: `kill 0` ends the asker
        data.append(evolution_data(evolution, path) | {"state": holder.word} | process)
        rows.append(_row(path, evolution, holder))
        place = f" (process {holder.pid} on {holder.host})" if holder.pid else ""
        meanings.append(f"{path.name} is {holder.word}{place}: {STATE_MEANINGS[holder.word]}")
    heads = ["file", "state", "runs", "generations", "evaluations", "failed", "goal", "best"]
    present({"jobs": data}, lambda: table("jobs", heads, rows))
    for meaning in meanings:
        note(meaning)


def job_files(places: list[Path]) -> list[Path]:
    """Return files as they are given, and of each folder its files that end in .db; raise ModelError for a
    folder without any."""
    files: list[Path] = []
    for place in places:
        inside = sorted(place.glob("*.db")) if place.is_dir() else [place]
        if not inside:
            raise ModelError(f"no job is in the folder {place.resolve()}: no file of it ends in .db")
        files += inside
    return files


def _acknowledge(path: Path, request: Request) -> None:
    """Wait a little until a job does what it was asked, and say whether it does."""
    word = ANSWERS[request]
    answers = populations.wait_for_state(path, (word,), ANSWER_SECONDS).word == word
    state = f"it is {word}" if answers else f"it will be {word} once what is being evaluated is done"
    note(f"{path.name} was asked to {request}: {state}")


def _row(path: Path, evolution: populations.Evolution, state: populations.JobState) -> list[Any]:
    """Return what the table says of a job."""
    return [
        path.name,
        state.word,
        len(evolution.best_of_run),
        int(evolution.history["generation"][-1]) + 1,
        evolution.evaluations,
        sum(evolution.failures.values()),
        f"{evolution.best.stage} of {evolution.stages}",
        standing_text(evolution),
    ]
