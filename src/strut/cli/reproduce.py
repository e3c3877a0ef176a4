"""`strut reproduce`: published numbers beside ours."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strut.cli.answer import note, present
from strut.cli.compile_ahead import check_compile_for, compile_ahead
from strut.cli.completion import complete_study, complete_word
from strut.cli.console import out
from strut.cli.options import CompileFor, Device
from strut.cli.progress import tell_progress
from strut.cli.tables import table
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean

if TYPE_CHECKING:
    from strut.studies import Row, SearchOrder, SearchStudy, Study
    from strut.studies.study import Plot, SearchOutcome
    from strut.view import Figure

PAGE = "index.html"
"""The page of a study that searches, in its folder."""
ORDER_FLAGS = {
    "runs": "--runs",
    "generations": "--generations",
    "parts": "--parts",
    "population": "--population",
    "trials": "--trials",
    "seed": "--seed",
    "device": "--device",
    "precision": "--precision",
    "crew": "--crew",
    "step": "--integration-step",
    "peak_power": "--peak-power",
    "peak_force": "--peak-force",
    "only": "--only",
    "keep": "--keep",
}
"""What of a `SearchOrder` not every study takes, and the option that says it."""
BAND_COLOR = "#888888"
"""Of what is usual, behind curves."""


def reproduce(  # noqa: PLR0913 -- options of a command
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Of a study; --list shows them, and so does no name.",
            autocompletion=complete_study,
        ),
    ] = "",
    *,
    every: Annotated[bool, typer.Option("--list", help="Which studies there are.")] = False,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE|DIR",
            help="Also write a page, .html: the table, and curves where a study has some. Of a study that "
            "searches: the folder that keeps its searches, which are gone on with, and its page.",
        ),
    ] = "",
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs of each search of a study that searches; as many as its folder has, or as were "
            "published, unless given.",
        ),
    ] = None,
    generations: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Generations of each search; as many as were published unless given."
        ),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Parts of a study whose search has several, from the first: 1 for what was published; all "
            "unless given.",
        ),
    ] = None,
    population: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Individuals of a generation; as many as were published unless given."
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Trials of a study that counts some; its own number unless given."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of random numbers; the study's own unless given.")
    ] = None,
    device: Device = "cpu",
    compile_for: CompileFor = "",
    precision: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="Of the numbers of these runs: double, or single.",
            autocompletion=complete_word("double", "single"),
        ),
    ] = "double",
    crew: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Threads of a card that do each run, 1, 2, 4 or 8; chosen for you unless given.",
        ),
    ] = None,
    integration_step: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Of the integration in a search \\[s], above 0; the study's own unless given.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="After which a search stops \\[min], above 0, to be gone on with later; never unless given.",
        ),
    ] = None,
    peak_power: Annotated[
        float | None,
        typer.Option(
            metavar="WATTS",
            help="Of one actuator of an exoskeleton \\[W], above 0: a goal before that of little power.",
        ),
    ] = None,
    peak_force: Annotated[
        float | None,
        typer.Option(
            metavar="NEWTONS",
            help="At one place between human and exoskeleton \\[N], above 0: a goal, too.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Of exoskeletons, one, as 7-13, or all of a topology, as 2, that are searched; all unless "
            "given. May be given several times.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Of the exoskeleton of the package that --only names, what is not searched: pins, for where "
            "these are; a joint, as j1, for where it is and what drives or springs it; ankle. May be given "
            "several times.",
        ),
    ] = None,
    search: Annotated[
        bool, typer.Option(help="Search; or tell of what is in the folder, searched no further.")
    ] = True,
    verify: Annotated[
        bool, typer.Option(help="Run what a search found again, more exactly and for longer.")
    ] = True,
) -> None:
    """Compute a published result anew, and print what was published beside what strut finds.

    Some take seconds, others search for hours: those go on where they were stopped.

    [bold]Examples[/bold]

      strut reproduce --list

      strut reproduce garcia-simplest

      strut reproduce rijt-sweeps -o sweeps.html

      strut reproduce kieboom-human -o human/ --runs 3 --minutes 30

      strut reproduce kieboom-human -o short/ --parts 1 --runs 1 --generations 20

      strut reproduce kieboom-coman --device cuda --precision single --compile-for sm_90

      strut reproduce dallali-walk -o walk/ --trials 100 --seed 3

      strut reproduce kieboom-descent -o gentle/ --peak-power 400 --peak-force 1500

      strut reproduce kieboom-exoskeleton -o kept/ --only 7-13 --keep pins --runs 1
    """
    from strut.studies import STUDIES, SearchOrder, SearchStudy  # many modules, which only this needs
    from strut.studies.study import SearchOutcome

    if every or not name:
        rows = [[s.name, s.title, s.source] for s in STUDIES.values()]
        present(
            {"studies": [{"name": n, "title": t, "source": w} for n, t, w in rows]},
            lambda: table("studies", ["name", "title", "source"], rows),
        )
        return
    if name not in STUDIES:
        raise UnknownNameError(f"there is no study '{name}': {did_you_mean(name, list(STUDIES))}")
    study = STUDIES[name]
    positive_numbers = {
        "minutes": minutes,
        "integration-step": integration_step,
        "peak-power": peak_power,
        "peak-force": peak_force,
    }
    _check_values(device, precision, crew, positive_numbers)
    if compile_for:
        check_compile_for(compile_for, device)
    if isinstance(study, SearchStudy):
        order = SearchOrder(
            folder=_folder(study, output),
            runs=runs,
            generations=generations,
            parts=parts,
            trials=trials,
            population=population,
            seed=seed,
            device=device,
            precision=precision,
            crew="auto" if crew is None else crew,
            step=integration_step,
            minutes=minutes,
            peak_power=peak_power,
            peak_force=peak_force,
            only=tuple(only or ()),
            keep=tuple(keep or ()),
            search=search,
            verify=verify,
        )
        _check_order(study, order)
        if compile_for:
            if study.evaluations is None:
                raise ValueRangeError(f"'{name}' has nothing to compile ahead: leave out --compile-for")
            compile_ahead(name, study.evaluations(order), compile_for)
            return
        outcome = _search(study, order)
        _present_rows(study, outcome.rows)
        return
    own = (runs, generations, parts, population, trials, seed, crew, only, keep, *positive_numbers.values())
    if any(each is not None for each in own) or device != "cpu" or precision != "double":
        flags = ", ".join([*ORDER_FLAGS.values(), "--minutes"])
        raise ValueRangeError(f"'{name}' does not search: {flags} are of studies that do")
    if output and not output.endswith(".html"):
        raise ValueRangeError(f"the page of a study would be '{output}': give a name that ends with .html")
    tell_progress(f"computing {name}")
    results = study.rows() if study.rows_with_progress is None else study.rows_with_progress(tell_progress)
    if output:
        outcome = SearchOutcome(results, study.plots(), study.film(), pictures=study.pictures())
        _write_page(study, outcome, output)
    _present_rows(study, results)


def _check_order(study: SearchStudy, order: SearchOrder) -> None:
    """Refuse what a study does not take; raises ValueRangeError."""
    usual = {field.name: field.default for field in fields(order)}
    for word, flag in ORDER_FLAGS.items():
        if word not in study.takes and getattr(order, word) != usual[word]:
            allowed = ", ".join([*(ORDER_FLAGS[each] for each in study.takes), "--minutes"])
            raise ValueRangeError(f"'{study.name}' has no {flag}: it takes {allowed}")
    if order.parts is not None and order.parts > study.parts:
        raise ValueRangeError(f"--parts is {order.parts}, and the search of '{study.name}' has {study.parts}")


def _check_values(
    device: str, precision: str, crew: int | None, positive_numbers: dict[str, float | None]
) -> None:
    """Refuse values that mean nothing, whatever the study. positive_numbers: by flag. Raises ValueRangeError
    or UnknownNameError."""
    from strut.codegen import CREWS, PRECISIONS
    from strut.simulate.batch_on_card import DEVICES

    for flag, value, allowed in (("device", device, DEVICES), ("precision", precision, PRECISIONS)):
        if value not in allowed:
            raise UnknownNameError(f"--{flag} is '{value}': {' or '.join(allowed)} is allowed")
    if crew is not None and crew not in CREWS:
        raise ValueRangeError(f"--crew is {crew}: {', '.join(map(str, CREWS))} are allowed")
    if crew is not None and device == "cpu":
        raise ValueRangeError(
            f"--crew {crew} is of a graphics card: leave it out, or say --device cuda as well"
        )
    for flag, amount in positive_numbers.items():
        if amount is not None and not 0 < amount < math.inf:
            raise ValueRangeError(f"--{flag} is {amount:g}: give a number above 0, or leave it out")


def _folder(study: SearchStudy, output: str) -> Path:
    """Return the folder of a study that searches; raises ValueRangeError where it would be called as a page
    is."""
    if output.endswith((".html", ".htm")) or Path(output or study.name).is_file():
        raise ValueRangeError(
            f"'{study.name}' searches and keeps its searches in a folder, and '{output or study.name}' is "
            f"the name of a file: give the name of a folder; the page will be in it, as {PAGE}"
        )
    return Path(output or study.name)


def _search(study: SearchStudy, order: SearchOrder) -> SearchOutcome:
    """Carry out a study that searches; write its page, where what it found is verified."""
    assert study.carry_out is not None
    outcome = study.carry_out(order, tell_progress)
    if order.verify:
        _write_page(study, outcome, str(order.folder / PAGE))
    if outcome.later_rows is not None:
        tell_progress(f"the page is written; what takes longer follows in {order.folder / PAGE}")
        outcome = outcome.with_later_rows()
        _write_page(study, outcome, str(order.folder / PAGE))
    note(f"searches are in {order.folder}; the same command goes on with them")
    return outcome


def _present_rows(study: Study, results: list[Row]) -> None:
    """Give what was published beside what strut finds."""

    def print_rows() -> None:
        out.print(f"[bold]{study.title}[/bold]\n{study.source}\n", soft_wrap=True)
        heads = ["quantity", "published", "ours", "remark"]
        table("", heads, [[r.quantity, r.published, r.ours, r.remark] for r in results])

    rows = [asdict(row) for row in results]
    present({"name": study.name, "title": study.title, "source": study.source, "rows": rows}, print_rows)


def _pair_plots(plots: Sequence[Plot]) -> list[list[Plot]]:
    """Return the plots of a page in the groups that stand beside each other: of many, neighbours over the
    same quantity in pairs, so that a page stays short; a few are wide."""
    from strut.view.figures.plots import BESIDE_FROM

    groups: list[list[Plot]] = []
    for plot in plots:
        last = groups[-1] if groups else []
        fits = len(last) == 1 and (last[0].x_label, last[0].log_x) == (plot.x_label, plot.log_x)
        if fits and len(plots) > BESIDE_FROM:
            last.append(plot)
        else:
            groups.append([plot])
    return groups


def _plot_figure(plot: Plot) -> Figure:
    """Return what a page draws of a plot; over the logarithm of what spans decades."""
    import numpy as np

    from strut.view import PALETTE, Figure
    from strut.view.figures.figure import Band, Line

    x = np.array(plot.x)
    label = f"log10 of {plot.x_label}" if plot.log_x else plot.x_label
    curves = tuple(
        Line(
            name,
            np.log10(x) if plot.log_x else x,
            np.array(y, float),
            PALETTE[k % len(PALETTE)],
            dash="solid" if k < len(PALETTE) else "dash",
        )
        for k, (name, y) in enumerate(plot.curves.items())
    )
    usual: tuple[Band, ...] = ()
    if plot.band is not None:
        lower, upper = plot.band
        usual = (Band(x, np.array(lower), np.array(upper), BAND_COLOR),)
    return Figure((*usual, *curves), label, plot.y_label)


def _write_page(study: Study, outcome: SearchOutcome, path: str) -> None:
    """Write the table of a study, its moving picture, maps, curves and drawings as a page."""
    import numpy as np  # with view, what only a page needs

    from strut.view import PALETTE, Figure, Report
    from strut.view.figures.figure import Cells, Points
    from strut.view.pages.motion import films_beside, motion

    asked = shlex.join(["strut", "reproduce", study.name, "-o", path])
    page = Report(study.title, remarks=study.source, asked=asked)
    moving = outcome.film is not None or bool(outcome.films)
    if outcome.film is not None:  # first: tables may be pages long
        motion(outcome.film, page)
    films_beside(outcome.films, page, heading="In motion")
    if moving:
        page.section("Published, and ours")
    page.table(
        ["quantity", "published", "ours", "remark"],
        [[r.quantity, r.published, r.ours, r.remark] for r in outcome.rows],
    )
    if moving and outcome.plots:
        page.section("Curves")
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
    for group in _pair_plots(outcome.plots):
        page.subheading(", ".join(plot.title for plot in group))
        for remark in dict.fromkeys(plot.remark for plot in group if plot.remark):
            page.text(remark)
        page.figures(*map(_plot_figure, group), beside=len(group) > 1)
    for picture in outcome.pictures:
        page.subheading(picture.title)
        page.embed(f'<div class="graph">{picture.svg}</div>\n')
    page.save(path)
