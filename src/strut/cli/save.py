"""Files of a run: data, pages and folders, by what their names say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.markup import escape

import strut
from strut.cli.console import notes
from strut.errors import MissingExtraError, StorageError
from strut.ports import BondGraph
from strut.simulate.live_result import add_live_page, pages_written
from strut.simulate.trajectory import Trajectory

FILM_SUFFIXES = (".gif", ".mp4")
"""Suffixes of films."""
RUN_SUFFIXES = (".h5", ".hdf5", ".csv", ".html", *FILM_SUFFIXES)
"""Suffixes of single files that a run is written as."""


def check_kind(path: Path) -> None:
    """Raise `StorageError` for a name that says nothing to write: before a run, which may take long."""
    if path.suffix and path.suffix not in RUN_SUFFIXES and not path.is_dir():
        raise StorageError(
            f"cannot tell what to write from '{path.name}': use .h5 (everything), .csv (a table), .html (a "
            f"page), .gif or .mp4 (a film), "
            "or a directory (run.h5, run.csv, the page, and the plots as SVG and PNG); for JSON, --json "
            "prints it"
        )


FILE_SUFFIXES = (*RUN_SUFFIXES, ".htm", ".json", ".svg", ".png", ".pdf")
"""Suffixes that name a file and no directory."""


def check_directory(path: Path) -> None:
    """Raise `StorageError` for the name of a file, of commands that write many into a directory."""
    if path.is_file() or (path.suffix.lower() in FILE_SUFFIXES and not path.is_dir()):
        raise StorageError(
            f"'{path}' is the name of a file, but page, data and figures need a directory: write -o "
            f"{path.stem}/"
        )


def walks(run: Trajectory) -> bool:
    """Is there something to look at: a machine with a scene that has made a step, or one that stands on its
    feet, of which no event ends a step?"""
    if run.system is None or not run.system.scene.parts:
        return False
    stands = run.system.walk is not None and not run.system.walk.section
    return stands or any(name in run.events.counts() for name in run.names.step_events)


def write_run(  # noqa: PLR0917 a run, where it goes, and what is said of it
    run: Trajectory,
    path: Path,
    grid: np.ndarray | None,
    asked: str,
    source: str = "",
    graph: BondGraph | None = None,
) -> None:
    """Write a run as .html, .csv, .h5, a film, or a directory with page, data and plots.

    grid: times of the rows of a table [s]. asked: the command that was given. source: Python that makes the
        system. graph: the bond graph that the system was made of, if it was.
    """
    if path.suffix == ".html" and graph is not None:
        note_pages(add_live_page(run, strut.report.graph_report(graph, run, asked=asked).save(path)))
    elif path.suffix == ".html":
        note_pages(strut.view.page(run, path, asked=asked, source=source))
    elif path.suffix in FILM_SUFFIXES:
        note_written(strut.view.animation(run, path))
    elif path.is_dir() or not path.suffix:
        folder = strut.view.folder(run, path, grid, asked, source)
        notes.print(f"wrote {len(folder.files)} files to {escape(str(folder.directory))}/", soft_wrap=True)
        for why in folder.missing:
            notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
    else:
        note_written(run.save(path, grid if path.suffix == ".csv" else None))


def write_page(run: Trajectory, path: Path, asked: str, source: str = "") -> None:
    """Write the page that nobody asked for: where it cannot be written, print a warning."""
    try:
        note_pages(strut.view.page(run, path, asked=asked, source=source))
    except (MissingExtraError, StorageError) as error:
        notes.print(f"[yellow]warning:[/yellow] no page: {escape(str(error))}", soft_wrap=True)


def note_pages(page: Path) -> None:
    """Say which page was written, and which live one beside it."""
    for path in pages_written(page):
        note_written(path)


def note_written(path: Path) -> None:
    """Say on standard error which file was written."""
    notes.print(f"wrote {escape(str(path))}", soft_wrap=True)
