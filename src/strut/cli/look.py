"""Opening what was saved: `strut view`."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path

import strut
from strut.errors import MissingExtraError, StorageError

SHOWN_AS_IS = (".html", ".htm", ".svg", ".png", ".gif", ".mp4", ".pdf")
RUNS = (".h5", ".hdf5")
KNOWN = ".h5 (a run), .json (a gait, a design), .csv (a table), a folder of these, .html or a picture"


Written = tuple[Path | list[Path], str]
"""What was written, and a remark where something is missing."""


def page_of(file: Path, output: Path | None, film: bool) -> Written:
    """What to open for a file, written first where it holds data: beside it, or if that cannot be, in a temporary directory.
    And a remark, where something is missing."""
    if file.is_dir():
        file = _best(file)
    if not file.is_file():
        raise StorageError(f"cannot show {file}: there is no such file")
    kind = file.suffix.lower()
    if kind in SHOWN_AS_IS:
        return file, ""
    if kind == ".csv":
        whole = next((other for end in (*RUNS, ".json") if (other := file.with_suffix(end)).is_file()), None)
        if whole is not None:  # the same with units and motion
            return page_of(whole, output, film)
    if kind not in (*RUNS, ".json", ".csv"):
        raise StorageError(f"cannot show '{file.name}': what can be shown is {KNOWN}")
    write = _opened(file, film)
    if output is not None:
        return write(output)
    try:
        return write(file.with_name(file.name + ".html"))
    except StorageError:
        return write(Path(tempfile.mkdtemp(prefix="strut-")) / f"{file.stem}.html")


def _best(folder: Path) -> Path:
    """What to show of a folder: its page, or else its first result."""
    for pattern in ("index.html", "*.html", "*.json", "*.h5", "*.csv"):
        found = sorted(folder.glob(pattern))
        if found:
            return found[0]
    raise StorageError(f"cannot show {folder}: nothing in it can be shown, {KNOWN}")


def _opened(file: Path, film: bool) -> Callable[[Path], Written]:
    """Reads a file, and returns what writes it as a page or a film."""
    if file.suffix.lower() == ".csv":
        report = strut.view.table_report(file)
        return lambda path: (report.save(path), "")
    result = strut.view.Result.load(file) if file.suffix.lower() == ".json" else None
    run = result.run if result is not None else strut.Trajectory.load(file)

    def write(path: Path) -> Written:
        if film or path.suffix.lower() not in (".html", ".htm"):
            if run is None:
                raise StorageError(f"cannot film {file.name}: it has no run")
            return strut.view.animation(run, path), ""
        try:
            if result is not None:
                return result.page(path), ""
            assert run is not None
            return strut.view.page(run, path), ""
        except MissingExtraError as error:
            if run is None or run.stage() is None:
                raise
            return strut.view.animation(run, path), f"only the animation: {error}"

    return write


def open_in_browser(path: Path) -> bool:
    """Show a file, if there is a display to show it on."""
    display = sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    try:
        return display and webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False
