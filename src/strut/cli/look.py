"""Opening what was saved: `strut view`."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import strut
from strut.cli.answer import note, present, warn
from strut.cli.completion import RESULT_SUFFIXES, complete_file, complete_word
from strut.cli.console import out
from strut.cli.options import Open
from strut.cli.progress import tell_progress
from strut.cli.saved_results import load_saved
from strut.errors import StorageError, ValueRangeError
from strut.view.motion.flat import VIEW_ANGLES

OPENED_AS_IS = (".html", ".htm", ".svg", ".png", ".gif", ".mp4", ".pdf")
"""Suffixes of files that a browser shows without our help."""
RUN_SUFFIXES = (".h5", ".hdf5")
"""Suffixes of saved runs."""
RESULT_NAME = "result.json"
"""What the result in a folder that `-o DIR` wrote is called."""
JOB_SUFFIX = ".db"
"""Suffix of files of jobs that `strut evolve` writes."""
DATA_SUFFIXES = (*RUN_SUFFIXES, ".json", ".csv", JOB_SUFFIX)
"""Suffixes of files from which a page is written first."""
PAGE_SUFFIXES = (".html", ".htm")
"""Suffixes of pages."""
RASTER_SUFFIXES = (".gif", ".mp4", ".png")
"""Suffixes of films, which have a size and a rate."""
FILM_SUFFIXES = (*PAGE_SUFFIXES, *RASTER_SUFFIXES)
"""Suffixes of what can be written from a run."""
VIEWABLE = (
    ".h5 (a run), .json (a gait, a design), .db (a job), .csv (a table), a folder of these, .html or a "
    "picture"
)
"""What can be shown, for messages."""
WRITABLE = (
    ".html, .gif, .mp4 or name%d.png from a run (.h5) or a result with a run (.json), .html from a "
    "table (.csv) or a job (.db)"
)
"""What can be written from what, for messages."""


Written = tuple[Path | list[Path], str]
"""What was written, and a remark where something is missing."""


def view(  # noqa: PLR0913 the options of a command are its arguments
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What was saved: a run (.h5), a gait or design (.json), a job (.db), a table (.csv), a "
            "folder, a page or a picture. Several runs, gaits and designs are compared on one page.",
            autocompletion=complete_file(*RESULT_SUFFIXES),
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write: .html, .gif, .mp4 or name%d.png from .h5 or .json, .html from .csv, .db or "
            "several files. Beside the file unless given; of several comparison.html, here.",
        ),
    ] = None,
    *,
    film: Annotated[
        bool, typer.Option("--film", help="Only the animation, in space, to play and turn.")
    ] = False,
    size: Annotated[
        str,
        typer.Option(
            "--size",
            metavar="WxH",
            help="Width and height of a film (.gif, .mp4, .png): 1280x720.",
            show_default="640x400",
        ),
    ] = "",
    rate: Annotated[
        float,
        typer.Option(
            "--rate",
            metavar="N",
            help="Frames of a film in a second \\[1/s].",
            show_default="30; of a .gif 25",
        ),
    ] = 0.0,
    slow: Annotated[
        float,
        typer.Option("--slow", metavar="N", help="A film that takes N times as long as the motion did."),
    ] = 1.0,
    camera: Annotated[
        str,
        typer.Option(
            "--camera",
            metavar="VIEW",
            help=f"Where a film is seen from: {', '.join(VIEW_ANGLES)}. It follows what walks away.",
            show_default="side; corner of machines in space",
            autocompletion=complete_word(*VIEW_ANGLES),
        ),
    ] = "",
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Of a job, RUN.db: keep the page up to date until the job ends; Ctrl-C leaves."
        ),
    ] = False,
    show: Open = True,
) -> None:
    """Look at what was saved: a page with motion, plots and numbers, in the browser. Nothing is sent
    anywhere.

    [bold]Examples[/bold]

      strut run compass -t 10 -o walk.h5 && strut view walk.h5

      strut view walk.h5 --film

      strut view walk.h5 -o walk.mp4 --size 1280x720 --rate 60 --camera corner --no-open

      strut gait compass --set slope=3deg -o gait/ && strut view gait/

      strut view slip.db --live

      strut view slow/result.json fast/result.json -o both.html
    """
    file = files[0]
    options = _film_options(size, rate, slow, camera)
    if options and (output is None or output.suffix.lower() not in RASTER_SUFFIXES or len(files) > 1):
        raise StorageError(
            f"--size, --rate, --slow and --camera are of films: write one, strut view {file.name} -o "
            f"{file.stem}.mp4; the animation of a page turns and slows down by its own buttons"
        )
    if len(files) > 1:
        _refuse_alone(film=film, live=live)
        page = compare_files(files, output or Path("comparison.html"))
        _show(page, "", show=show)
        return
    if live:
        _view_live(file, output, show=show)
        return
    tell_progress(f"writing the page of {file}")
    pages, remark = page_of(file, output, film, options)
    _show(pages[0] if isinstance(pages, list) else pages, remark, show=show)


def _show(page: Path, remark: str, *, show: bool) -> None:
    """Open a file in the browser, and say where it is."""
    opened = show and open_page(page)
    present(
        {"file": str(page), "opened": opened, "remark": remark},
        lambda: out.print(escape(str(page.resolve())), soft_wrap=True),
    )
    if remark:
        warn(remark, plain=True)


def open_page(page: Path) -> bool:
    """Open a file in the browser; say so where there is none. Returns whether it was opened."""
    opened = open_in_browser(page)
    if not opened:
        note("no display or browser was found here: open this file where there is one")
    return opened


def _refuse_alone(*, film: bool, live: bool) -> None:
    """Raise `StorageError` for options that are of one file alone."""
    if film or live:
        word = "--film" if film else "--live"
        raise StorageError(f"{word} is for one file: several are compared on one page, without it")


def compare_files(files: Sequence[Path], output: Path) -> Path:
    """Write a page that compares saved runs and results, and return where it is. They are called by their
    files' names, or by those of their folders where these are alike."""
    if output.suffix.lower() not in PAGE_SUFFIXES:
        raise StorageError(f"cannot write '{output.name}': a comparison is a page, .html")
    chosen = [_best_data(file) for file in files]
    stems = [path.stem for path in chosen]
    names = stems if len(set(stems)) == len(stems) else [path.parent.name for path in chosen]
    if len(set(names)) < len(names):
        names = [str(path) for path in chosen]
    entries = {name: load_saved(path) for name, path in zip(names, chosen, strict=True)}
    asked = shlex.join(["strut", "view", *map(str, files)])
    return strut.view.comparison(entries, asked=asked).save(output)


def _best_data(path: Path) -> Path:
    """The run or result to compare: the file itself; of a folder its result, or else the first."""
    kinds = (".json", *RUN_SUFFIXES)
    in_folder = sorted(_data_in(path), key=lambda p: p.name != RESULT_NAME) if path.is_dir() else []
    candidates = [p for p in in_folder if p.suffix in kinds] if path.is_dir() else [path]
    if not candidates or candidates[0].suffix.lower() not in kinds:
        raise StorageError(
            f"cannot compare '{path}': what can be compared is .h5 (a run), .json (a gait, a design), or a "
            f"folder of these"
        )
    if not candidates[0].is_file():
        raise StorageError(f"cannot compare {path}: there is no such file")
    return candidates[0]


def _view_live(file: Path, output: Path | None, *, show: bool) -> None:
    """Keep a page of a job up to date until it ends."""
    if file.suffix.lower() != JOB_SUFFIX:
        raise StorageError(f"cannot follow '{file.name}': --live shows a job, a file of strut evolve (.db)")
    page = output or file.with_name(f"{file.name}.html")

    def tell(path: Path) -> None:
        opened = show and open_page(path)
        present(
            {"file": str(path), "opened": opened, "remark": ""},
            lambda: out.print(escape(str(path.resolve())), soft_wrap=True),
        )
        note("the page follows the job until it ends; Ctrl-C leaves it as it is")
        tell_progress("following the job")

    try:
        state = strut.report.follow_job(file, page, on_ready=tell)
    except KeyboardInterrupt:
        return
    note(f"the job is {state.word}")


def _film_options(size: str, rate: float, slow: float, camera: str) -> dict[str, Any]:
    """What a user says of a film, as options of `strut.view.animation`. Raises ValueRangeError."""
    options: dict[str, Any] = {}
    if size:
        match = re.fullmatch(r"(\d+)\s*[x×]\s*(\d+)", size.strip())
        if match is None:
            raise ValueRangeError(f"--size {size} is no size: give width and height [pixels], 1280x720")
        options |= {"width": int(match[1]), "height": int(match[2])}
    if rate:
        options["fps"] = rate
    if slow != 1.0:
        if not (math.isfinite(slow) and slow > 0):
            raise ValueRangeError(
                f"--slow {slow:g} cannot be: give a positive number, 5 for a fifth of the pace"
            )
        options["speed"] = 1 / slow
    if camera:
        options["view"] = camera
    return options


def page_of(file: Path, output: Path | None, film: bool, options: dict[str, Any] | None = None) -> Written:
    """Return what to open for a file, written first where it holds data: beside it, or if that cannot be, in
    a temporary directory. And a remark, where something is missing. options: of a film."""
    if file.is_dir():
        _refuse(output, film, f"the folder {file}", _data_in(file))
        file = _best(file)
    if not file.is_file():
        raise StorageError(f"cannot show {file}: there is no such file")
    kind = file.suffix.lower()
    if kind in OPENED_AS_IS:
        _refuse(output, film, f"'{file.name}'", _data_in(file.parent))
        return file, ""
    if kind not in DATA_SUFFIXES:
        raise StorageError(f"cannot show '{file.name}': what can be shown is {VIEWABLE}")
    _check_kinds(file, output, film)
    remark = _richer(file) if kind == ".csv" else ""
    write = _page_writer(file, film, options or {})
    if output is not None:
        page, why = write(output)
        return page, why or remark
    try:
        page, why = write(file.with_name(f"{file.name}.film.html" if film else f"{file.name}.html"))
    except StorageError:
        page, why = write(Path(tempfile.mkdtemp(prefix="strut-")) / f"{file.stem}.html")
    return page, why or remark


def _refuse(output: Path | None, film: bool, what: str, instead: list[Path]) -> None:
    """Raise `StorageError` where something is to be written from a folder, a page or a picture, which are
    opened as they are."""
    if output is None and not film:
        return
    asked = "film" if output is None else f"write '{output.name}' from"
    hint = f"; there is {', '.join(path.name for path in instead[:4])}" if instead else ""
    raise StorageError(f"cannot {asked} {what}, which is only opened: strut view writes {WRITABLE}{hint}")


def _check_kinds(file: Path, output: Path | None, film: bool) -> None:
    """Raise `StorageError` where `output` cannot be written from `file`."""
    table = file.suffix.lower() in (".csv", JOB_SUFFIX)
    if film and table:
        what = "a job" if file.suffix.lower() == JOB_SUFFIX else "a table"
        raise StorageError(f"cannot film '{file.name}', {what}: strut view writes {WRITABLE}")
    if output is not None and output.suffix.lower() not in (PAGE_SUFFIXES if table else FILM_SUFFIXES):
        raise StorageError(f"cannot write '{output.name}' from '{file.name}': strut view writes {WRITABLE}")


def _richer(table: Path) -> str:
    """A remark if what a table was saved from lies beside it."""
    whole = next(
        (other for end in (*RUN_SUFFIXES, ".json") if (other := table.with_suffix(end)).is_file()), None
    )
    return (
        ""
        if whole is None
        else f"{whole.name}, which lies beside {table.name}, has units and more to show: strut view {whole}"
    )


def _data_in(folder: Path) -> list[Path]:
    """Files that pages can be written from, runs and results first."""
    return [path for end in (".json", *RUN_SUFFIXES, ".csv") for path in sorted(folder.glob(f"*{end}"))]


def _best(folder: Path) -> Path:
    """What to show of a folder: its page, or that of its first result, or else its first data. Not what
    `strut view` wrote itself."""
    index = folder / "index.html"
    if index.is_file():
        return index
    pages = [page for page in sorted(folder.glob("*.html")) if not _written_by_view(page)]
    named = [
        page for page in pages if any(page.with_suffix(end).is_file() for end in (".json", *RUN_SUFFIXES))
    ]
    candidates = [*named, *pages, *_data_in(folder)]
    if candidates:
        return candidates[0]
    raise StorageError(f"cannot show {folder}: nothing in it can be shown, {VIEWABLE}")


def _written_by_view(page: Path) -> bool:
    """FILE.EXT.html or FILE.EXT.film.html?"""
    return Path(page.stem.removesuffix(".film")).suffix.lower() in DATA_SUFFIXES


def _page_writer(file: Path, film: bool, options: dict[str, Any]) -> Callable[[Path], Written]:
    """Read a file, and return a function that writes it as a page or a film."""
    asked = shlex.join(["strut", "view", str(file)])
    if file.suffix.lower() == ".csv":
        report = strut.view.table_report(file, asked)
        return lambda path: (report.save(path), "")
    if file.suffix.lower() == JOB_SUFFIX:
        job = strut.report.evolution_result(file, asked)
        return lambda path: (job.page(path), "")
    saved = load_saved(file)
    result = saved if isinstance(saved, strut.view.Result) else None
    run = saved.run if isinstance(saved, strut.view.Result) else saved

    def write(path: Path) -> Written:
        if film or path.suffix.lower() not in (".html", ".htm"):
            if run is None:
                raise StorageError(f"cannot film {file.name}: it has no run")
            if path.suffix.lower() in RASTER_SUFFIXES:
                options["progress"] = lambda part: tell_progress(f"drawing {path}", part)
            return strut.view.animation(run, path, **options), ""
        if result is not None:
            return result.page(path), ""
        assert run is not None
        return strut.view.page(run, path, asked=asked), ""

    return write


def open_in_browser(path: Path) -> bool:
    """Show a file, if there is a display to show it on."""
    display = sys.platform in ("win32", "darwin") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    try:
        return display and webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False
