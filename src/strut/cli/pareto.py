"""`strut pareto`: what cannot be bettered among many candidates, by several merits."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from strut.cli.answer import present
from strut.cli.completion import complete_file
from strut.cli.look import open_page
from strut.cli.options import Open
from strut.cli.progress import tell_progress
from strut.cli.tables import table
from strut.errors import StorageError

MAX_PRINTED_ROWS = 12
"""Unbeaten candidates that are printed; of more, evenly spaced ones."""


def pareto(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Candidates: a job (.db), the result of a sweep (.json), or a table (.csv).",
            autocompletion=complete_file(".db", ".json", ".csv"),
        ),
    ],
    *,
    less: Annotated[
        list[str], typer.Option("--less", metavar="NAME", help="A merit of which less is better; repeat.")
    ] = [],
    more: Annotated[
        list[str], typer.Option("--more", metavar="NAME", help="A merit of which more is better; repeat.")
    ] = [],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The page; FILE.pareto.html, beside it, unless given."
        ),
    ] = None,
    show: Open = False,
) -> None:
    """Weigh candidates by several merits: a page of those that no other beats in all of them.

    A job that sought a front says its merits itself. On the page a click on a square shows that walk, where
    the file has machines or films.

    [bold]Examples[/bold]

      strut pareto slip.db

      strut pareto slip.db --more speed --less stiffness --open

      strut pareto sweep/result.json --less cost --more speed -o front.html
    """
    from strut.report import load_merits, pareto_result  # pages: not where only the help is asked

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise StorageError(f"cannot write '{output.name}': what is written is a page, .html")
    words = [*(w for n in less for w in ("--less", n)), *(w for n in more for w in ("--more", n))]
    asked = shlex.join(["strut", "pareto", str(file), *words])
    result = pareto_result(load_merits(file), less, more, asked=asked)
    place = output or file.with_name(f"{file.name}.pareto.html")
    tell_progress(f"writing {place}")
    path = result.page(place)
    opened = show and open_page(path)
    columns = result.data["unbeaten"]

    def text() -> None:
        from strut.report.walks import spread_indices

        count = len(next(iter(columns.values())))
        rows = [[c[k] for c in columns.values()] for k in spread_indices(count, MAX_PRINTED_ROWS)]
        table(f"{result.good}{result.verdict}", list(columns), rows)

    present({"page": str(path), "opened": opened, **result.data}, text)
