"""`strut reproduce`: published numbers beside ours."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from strut.cli.console import as_json, out, table
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean

if TYPE_CHECKING:
    from strut.studies import Row, Study


def reproduce(
    name: Annotated[str, typer.Argument(help="Of a study; --list shows them.")] = "",
    every: Annotated[bool, typer.Option("--list", help="Which studies there are.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="Also write a page, .html: the table, and curves where a study has some."
        ),
    ] = "",
) -> None:
    """Compute a published result anew, and print what was published beside what strut finds.

    [bold]Examples[/bold]

      strut reproduce --list

      strut reproduce garcia-simplest

      strut reproduce rijt-sweeps -o sweeps.html
    """
    from strut.studies import STUDIES  # many modules, which only this command needs

    if every or not name:
        rows = [[s.name, s.title, s.source] for s in STUDIES.values()]
        as_json([{"name": n, "title": t, "source": w} for n, t, w in rows]) if json else table(
            "studies", ["name", "title", "source"], rows
        )
        return
    if name not in STUDIES:
        raise UnknownNameError(f"there is no study '{name}': {did_you_mean(name, list(STUDIES))}")
    study = STUDIES[name]
    if output and not output.endswith(".html"):
        raise ValueRangeError(f"the page of a study would be '{output}': give a name that ends with .html")
    results = study.rows()
    if output:
        _write_page(study, results, output)
    if json:
        as_json(
            {
                "name": name,
                "title": study.title,
                "source": study.source,
                "rows": [asdict(row) for row in results],
            }
        )
        return
    out.print(f"[bold]{study.title}[/bold]\n{study.source}\n")
    table(
        "",
        ["quantity", "published", "ours", "remark"],
        [[r.quantity, r.published, r.ours, r.remark] for r in results],
    )


def _write_page(study: Study, results: list[Row], path: str) -> None:
    """Write the table of a study and its curves as a page; one picture for each, over the logarithm of what
    spans decades."""
    import numpy as np  # with view, what only a page needs

    from strut.view import PALETTE, Figure, Report
    from strut.view.figures.figure import Line

    page = Report(study.title, remarks=study.source)
    page.table(
        ["quantity", "published", "ours", "remark"],
        [[r.quantity, r.published, r.ours, r.remark] for r in results],
    )
    for plot in study.plots():
        x = np.array(plot.x)
        label = f"log10 of {plot.x_label}" if plot.log_x else plot.x_label
        curves = tuple(
            Line(name, np.log10(x) if plot.log_x else x, np.array(y, float), PALETTE[k % len(PALETTE)])
            for k, (name, y) in enumerate(plot.curves.items())
        )
        page.subheading(plot.title)
        page.figures(Figure(curves, label, plot.y_label))
    page.save(path)
