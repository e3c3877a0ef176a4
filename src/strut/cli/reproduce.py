"""`strut reproduce`: published numbers beside ours."""

from __future__ import annotations

import time as clock
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from strut.cli.console import as_json, notes, out, table
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean

if TYPE_CHECKING:
    from strut.studies import Row, SearchOrder, SearchStudy, Study
    from strut.studies.study import SearchOutcome

PAGE = "index.html"
"""The page of a study that searches, in its folder."""
BAND_COLOR = "#888888"
"""Of what is usual, behind curves."""
LOG_INTERVAL = 5.0
"""Time [s] between lines of progress."""


def reproduce(  # noqa: PLR0913 -- options of a command
    name: Annotated[str, typer.Argument(help="Of a study; --list shows them.")] = "",
    *,
    every: Annotated[bool, typer.Option("--list", help="Which studies there are.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Also write a page, .html: the table, and curves where a study has some. Of a study that "
            "searches: the folder that keeps its searches, which are gone on with.",
        ),
    ] = "",
    runs: Annotated[
        int,
        typer.Option(min=0, help="Of each search of a study that searches; 0: as many as were published."),
    ] = 0,
    generations: Annotated[
        int, typer.Option(min=0, help="Of each search; 0: as many as were published.")
    ] = 0,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Of a study that counts trials; its own number unless given.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the random numbers of a study; its own unless given.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where a study that searches runs its machines: cpu, or cuda for a card.")
    ] = "cpu",
    precision: Annotated[str, typer.Option(help="Of these runs: double, or single.")] = "double",
    crew: Annotated[
        int, typer.Option(min=0, help="Threads of a card that do each run, 1, 2, 4 or 8; 0: chosen for you.")
    ] = 0,
    step: Annotated[
        float, typer.Option(min=0, help="Of integration [s] in a search; 0: the study's own.")
    ] = 0.0,
    minutes: Annotated[
        float, typer.Option(min=0, help="After which a search stops, to be gone on with later; 0: never.")
    ] = 0.0,
    search: Annotated[
        bool, typer.Option(help="Search; or tell of what is in the folder, searched no further.")
    ] = True,
    verify: Annotated[
        bool, typer.Option(help="Run what a search found again, more exactly and for longer.")
    ] = True,
) -> None:
    """Compute a published result anew, and print what was published beside what strut finds.

    [bold]Examples[/bold]

      strut reproduce --list

      strut reproduce garcia-simplest

      strut reproduce rijt-sweeps -o sweeps.html

      strut reproduce kieboom-human -o human/ --runs 3 --minutes 30

      strut reproduce dallali-walk -o walk/ --trials 100 --seed 3
    """
    from strut.studies import STUDIES, SearchOrder, SearchStudy  # many modules, which only this needs
    from strut.studies.study import SearchOutcome

    if every or not name:
        rows = [[s.name, s.title, s.source] for s in STUDIES.values()]
        as_json([{"name": n, "title": t, "source": w} for n, t, w in rows]) if json else table(
            "studies", ["name", "title", "source"], rows
        )
        return
    if name not in STUDIES:
        raise UnknownNameError(f"there is no study '{name}': {did_you_mean(name, list(STUDIES))}")
    study = STUDIES[name]
    if isinstance(study, SearchStudy):
        order = SearchOrder(
            folder=Path(output or name),
            runs=runs or None,
            generations=generations or None,
            trials=trials,
            seed=seed,
            device=device,
            precision=precision,
            crew=crew or "auto",
            step=step or None,
            minutes=minutes or None,
            search=search,
            verify=verify,
        )
        _check_order(study, order)
        outcome = _search(study, order)
        _print_rows(study, outcome.rows, json)
        return
    if runs or generations or minutes or trials or seed or device != "cpu" or precision != "double":
        raise ValueRangeError(
            f"'{name}' does not search: --runs, --generations, --trials, --seed, --minutes, --device and "
            f"--precision are of studies that do"
        )
    if output and not output.endswith(".html"):
        raise ValueRangeError(f"the page of a study would be '{output}': give a name that ends with .html")
    results = study.rows()
    if output:
        _write_page(study, SearchOutcome(results, study.plots(), pictures=study.pictures()), output)
    _print_rows(study, results, json)


def _check_order(study: SearchStudy, order: SearchOrder) -> None:
    """Refuse what a study does not take; raises ValueRangeError."""
    usual = {field.name: field.default for field in fields(order)}
    for word in ("runs", "generations", "trials", "seed", "device", "precision", "crew"):
        if word not in study.takes and getattr(order, word) != usual[word]:
            allowed = ", ".join(f"--{each}" for each in (*study.takes, "minutes"))
            raise ValueRangeError(f"'{study.name}' has no --{word}: it takes {allowed}")


def _search(study: SearchStudy, order: SearchOrder) -> SearchOutcome:
    """Carry out a study that searches, with a line now and then on standard error; write its page, where what
    it found is verified."""
    last = 0.0

    def tell(line: str) -> None:
        nonlocal last
        if clock.monotonic() - last > LOG_INTERVAL:
            last = clock.monotonic()
            notes.print(escape(line))

    assert study.carry_out is not None
    outcome = study.carry_out(order, tell)
    if order.verify:
        page = order.folder / PAGE
        _write_page(study, outcome, str(page))
        notes.print(f"wrote {escape(str(page))}")
    notes.print(f"searches are in {escape(str(order.folder))}; the same command goes on with them")
    return outcome


def _print_rows(study: Study, results: list[Row], json: bool) -> None:
    """Print what was published beside what strut finds."""
    if json:
        as_json(
            {
                "name": study.name,
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


def _write_page(study: Study, outcome: SearchOutcome, path: str) -> None:
    """Write the table of a study, its moving picture, maps and curves as a page; one picture for each, over
    the logarithm of what spans decades."""
    import numpy as np  # with view, what only a page needs

    from strut.view import PALETTE, Figure, Report
    from strut.view.figures.figure import Band, Cells, Line, Points
    from strut.view.pages.page import motion

    page = Report(study.title, remarks=study.source)
    page.table(
        ["quantity", "published", "ours", "remark"],
        [[r.quantity, r.published, r.ours, r.remark] for r in outcome.rows],
    )
    if outcome.film is not None:
        motion(outcome.film, page)
    for colours in outcome.maps:
        marks = tuple(
            Points(
                name,
                np.array(x),
                np.array(y),
                PALETTE[1 + k % (len(PALETTE) - 1)],
                size=5 if len(x) > 1 else 10,
            )
            for k, (name, (x, y)) in enumerate(colours.points.items())
        )
        cells = Cells(np.array(colours.x), np.array(colours.y), np.array(colours.values), colours.value_label)
        page.subheading(colours.title)
        page.figures(Figure((cells, *marks), colours.x_label, colours.y_label))
    for plot in outcome.plots:
        x = np.array(plot.x)
        label = f"log10 of {plot.x_label}" if plot.log_x else plot.x_label
        curves = tuple(
            Line(name, np.log10(x) if plot.log_x else x, np.array(y, float), PALETTE[k % len(PALETTE)])
            for k, (name, y) in enumerate(plot.curves.items())
        )
        page.subheading(plot.title)
        if plot.remark:
            page.text(plot.remark)
        usual: tuple[Band, ...] = ()
        if plot.band is not None:
            lower, upper = plot.band
            usual = (Band(x, np.array(lower), np.array(upper), BAND_COLOR),)
        page.figures(Figure((*usual, *curves), label, plot.y_label))
    for picture in outcome.pictures:
        page.subheading(picture.title)
        page.embed(f'<div class="graph">{picture.svg}</div>\n')
    page.save(path)
