"""Files of a run: data, pages and folders, by what their names say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import strut
from strut.cli.answer import warn
from strut.cli.progress import tell_progress
from strut.errors import MissingExtraError, StorageError
from strut.simulate.live_result import add_live_page
from strut.simulate.trajectory import Trajectory

if TYPE_CHECKING:
    from strut.network import Network  # read on demand: most commands never see a network or a graph
    from strut.ports import BondGraph

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
    graph: BondGraph | Network | None = None,
) -> None:
    """Write a run as .html, .csv, .h5, a film, or a directory with page, data and plots.

    grid: times of the rows of a table [s]. asked: the command that was given. source: Python that makes the
        system. graph: the bond graph or the network that the system was made of, if it was.
    """
    tell_progress(f"writing {path}")
    drawing, bonds = "", None
    if graph is not None:
        from strut.ports import BondGraph

        bonds = graph if isinstance(graph, BondGraph) else None
        drawing = "" if isinstance(graph, BondGraph) else graph.graph()
    if path.suffix == ".html" and bonds is not None:
        add_live_page(run, strut.report.graph_report(bonds, run, asked=asked).save(path))
    elif path.suffix == ".html":
        strut.view.page(run, path, asked=asked, source=source, drawing=drawing)
    elif path.suffix in FILM_SUFFIXES:
        strut.view.animation(run, path, progress=lambda part: tell_progress(f"drawing {path}", part))
    elif path.is_dir() or not path.suffix:
        for why in strut.view.folder(run, path, grid, asked, source, drawing=drawing).missing:
            warn(why)
    else:
        run.save(path, grid if path.suffix == ".csv" else None)


def write_page(run: Trajectory, path: Path, asked: str, source: str = "") -> None:
    """Write the page that nobody asked for: where it cannot be written, print a warning."""
    tell_progress(f"writing {path}")
    try:
        strut.view.page(run, path, asked=asked, source=source)
    except (MissingExtraError, StorageError) as error:
        warn(f"no page: {error}")
