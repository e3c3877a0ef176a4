"""`load_saved`: what a file holds, as it is shown: a run, or the result of a gait, a design or a sweep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from strut.errors import StorageError
from strut.simulate import Trajectory
from strut.view import Result


def load_saved(path: Path) -> Result | Trajectory:
    """Return the run or the result that a file holds. A design, a gait, a held gait or a sweep that was saved
    by itself is made into the result that its page shows; .json that is no result stands for the .h5 beside
    it. Raises StorageError for what is none of these."""
    if path.suffix.lower() == ".json":
        beside = path.with_suffix(".h5")
        try:
            return Result.load(path)
        except StorageError:
            if not beside.is_file():
                raise
        return load_saved(beside)
    try:
        return load_run(path)
    except StorageError as no_run:
        reported = _report_of(path)
        if reported is None:
            raise no_run
        return reported


def load_run(path: Path) -> Trajectory:
    """Return a saved run: of a ready-made machine with its system, so that everything is known at all times;
    else, and of one that has changed since, with what it knows at its points."""
    from strut.walkers import CATALOGUE, ROBOTS

    run = Trajectory.load(path)
    make = {**CATALOGUE, **ROBOTS}.get(run.system_name.replace("_", "-"))
    try:
        return run if make is None else Trajectory.load(path, system=make())
    except StorageError:  # another machine of that name: with motors, or of another version
        return run


def _report_of(path: Path) -> Result | None:
    """Return the result that a saved design, gait, held gait or sweep is shown by; None for other files."""
    from strut import gait, optimal, report
    from strut.control import HeldGait

    reports: dict[type, Callable[[Any], Result]] = {
        optimal.Design: report.design_result,
        optimal.TradeOff: report.sweep_result,
        optimal.DesignsByName: report.designs_result,
        gait.Gait: report.gait_result,
        HeldGait: report.held_result,
    }
    for load in (optimal.load, gait.load, HeldGait.load):
        try:
            saved = load(path)
        except StorageError:
            continue
        for kind, make in reports.items():
            if isinstance(saved, kind):
                return make(saved)
        raise StorageError(
            f"cannot show {path}: it holds a {type(saved).__name__}; of results, gaits (held ones, too), "
            "designs and sweeps are shown"
        )
    return None


__all__ = ["load_run", "load_saved"]
