"""`strut compare`: several searches on the problem of a job file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from strut import evolve, report
from strut.cli.answer import present
from strut.cli.completion import complete_file, complete_list
from strut.cli.evolve import read_described_job
from strut.cli.options import Root, RunCode
from strut.cli.progress import tell_progress
from strut.cli.tables import table
from strut.evolve.comparison import SEARCHES_LEFT_OUT
from strut.evolve.searches import SEARCHES, search_settings

COMPARABLE_SEARCHES = [word for word in SEARCHES if word not in SEARCHES_LEFT_OUT]
"""Searches that can be named."""


def compare(
    job: Annotated[
        Path,
        typer.Argument(
            metavar="JOB.toml",
            help="What is searched; its own search is one.",
            autocompletion=complete_file(".toml"),
        ),
    ],
    *,
    searches: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            show_default=False,
            help=f"Which others, with commas between: {', '.join(COMPARABLE_SEARCHES)}; all unless given.",
            autocompletion=complete_list(*COMPARABLE_SEARCHES),
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="From how many seeds each begins.")] = 10,
    evaluations: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many individuals each evaluates.")
    ] = 2000,
    best_known: Annotated[
        float | None,
        typer.Option(
            "--best-known",
            metavar="VALUE",
            help="The best value of all; the figure then shows the distance from it.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The figure: .html, .png, .svg or .pdf; none unless given."
        ),
    ] = None,
    run_code: RunCode = False,
    root: Root = [],
) -> None:
    """Compare searches on one problem: medians over seeds after equally many evaluations.

    [bold]Examples[/bold]

      strut compare examples/slip_job.toml --evaluations 1000 --seeds 5

      strut compare examples/slip_job.toml --searches cma-es,differential -o searches.png
    """
    described = read_described_job(job, run_code=run_code, roots=tuple(root))
    own = search_settings(described.method)["kind"]
    front = described.problem.staged_goals.front is not None
    words = [word.strip() for word in searches.split(",") if word.strip()]
    if not words:
        words = [word for word in COMPARABLE_SEARCHES if not front or hasattr(SEARCHES[word], "takes_fronts")]
    unknown = [word for word in words if word not in COMPARABLE_SEARCHES]
    if unknown:
        raise typer.BadParameter(
            f"there is no search '{unknown[0]}': allowed are {', '.join(COMPARABLE_SEARCHES)}"
        )
    methods = {f"{own} (as in the job)": described.method}
    methods |= {word: SEARCHES[word]() for word in words if word != own}

    def tell(name: str, seed: int) -> None:
        count = list(methods).index(name) * seeds + seed
        tell_progress(f"{name}, seed {seed + 1} of {seeds}", count / (len(methods) * seeds))

    comparison = evolve.compare(
        described.problem, methods, seeds=seeds, evaluations=evaluations, progress=tell
    )
    if output is not None:
        report.comparison_figure(comparison, best_known).save(output)
    columns = comparison.columns()
    heads = ["search", "evaluations", "at the last goal", "best", "median", "worst"]
    rows = [list(row) for row in zip(*[columns[name] for name in heads], strict=True)]
    present(
        {"goal": comparison.value_name, "file": None if output is None else str(output), **columns},
        lambda: table(f"{comparison.value_name}, from {seeds} seeds", heads, rows),
    )
