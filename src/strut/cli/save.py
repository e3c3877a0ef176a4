"""Files of a run: data, pages and folders, by what their names say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.markup import escape

from strut import view
from strut.cli.show import notes
from strut.errors import MissingExtraError, StorageError
from strut.simulate.steps import step_events
from strut.simulate.trajectory import Trajectory

FILMS = (".gif", ".mp4")


def walks(run: Trajectory) -> bool:
    """Is there something to look at: a machine with a scene that has made a step?"""
    drawn = run.system is not None and bool(run.system.scene.parts)
    return drawn and any(name in run.events.counts() for name in step_events(run))


def write_run(run: Trajectory, path: Path, grid: np.ndarray | None, asked: str) -> None:
    """As .html, .csv, .h5, a film, or a directory with all of them."""
    if path.suffix == ".html":
        said(view.page(run, path, asked=asked))
    elif path.suffix in FILMS:
        said(view.animation(run, path))
    elif path.is_dir() or not path.suffix:
        done = view.folder(run, path, grid, asked)
        notes.print(f"wrote {len(done.files)} files to {escape(str(done.directory))}/", soft_wrap=True)
        for why in done.missing:
            notes.print(f"[yellow]warning:[/yellow] {escape(why)}", soft_wrap=True)
    else:
        said(run.save(path, grid if path.suffix == ".csv" else None))


def write_page(run: Trajectory, path: Path, asked: str) -> None:
    """The page that nobody asked for: where it cannot be written, a remark is enough."""
    try:
        said(view.page(run, path, asked=asked))
    except (MissingExtraError, StorageError) as error:
        notes.print(f"[yellow]warning:[/yellow] no page: {escape(str(error))}", soft_wrap=True)


def said(path: Path) -> None:
    notes.print(f"wrote {escape(str(path))}", soft_wrap=True)
