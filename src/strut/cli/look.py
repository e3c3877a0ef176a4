"""Opening what was saved: `strut view`."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from pathlib import Path

import strut
from strut.errors import MissingExtraError, StorageError

SHOWN_AS_IS = (".html", ".htm", ".svg", ".png", ".gif", ".mp4", ".pdf")
RUNS = (".h5", ".hdf5")


def page_of(file: Path, output: Path | None, film: bool) -> tuple[Path | list[Path], str]:
    """What to open for a file, written first where it holds a run: beside it, or if that cannot be, in a temporary directory.
    And a remark, where something is missing."""
    if not file.is_file():
        raise StorageError(f"cannot show {file}: there is no such file")
    kind = file.suffix.lower()
    if kind in SHOWN_AS_IS:
        return file, ""
    if kind not in RUNS:
        raise StorageError(
            f"cannot show '{file.name}': a run is saved as .h5 (strut run ... -o run.h5), and .html or a picture is opened as it is"
        )
    run = strut.Trajectory.load(file)
    if output is not None:
        return _written(run, output, film)
    try:
        return _written(run, file.with_name(file.name + ".html"), film)
    except StorageError:
        return _written(run, Path(tempfile.mkdtemp(prefix="strut-")) / f"{file.stem}.html", film)


def _written(run: strut.Trajectory, path: Path, film: bool) -> tuple[Path | list[Path], str]:
    if film or path.suffix.lower() not in (".html", ".htm"):
        return strut.view.animation(run, path), ""
    try:
        return strut.view.page(run, path), ""
    except MissingExtraError as error:
        if run.stage() is None:
            raise
        return strut.view.animation(run, path), f"only the animation: {error}"


def open_in_browser(path: Path) -> bool:
    """Show a file, if there is a display to show it on."""
    display = sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    try:
        return display and webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False
