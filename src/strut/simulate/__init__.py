"""Running systems: one run, many runs, and their results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.import_on_demand import import_on_demand
from strut.simulate.sample_scene import sample_scene
from strut.simulate.trajectory import VERBS, Trajectory
from strut.system import System


def _save_run(trajectory: Trajectory, path: Path, times: Any = None) -> Path:
    from strut.simulate import storage  # not before it is needed: HDF5 takes a while to import

    return storage.save(trajectory, path, times)


def _load_run(path: Path, system: System | None) -> Trajectory:
    from strut.simulate import storage

    return storage.load(path, system)


VERBS.update(stage=sample_scene, save=_save_run, load=_load_run)  # methods of a run, which knows no files

if TYPE_CHECKING:
    from strut.simulate.account import Account
    from strut.simulate.batch import Batch, simulate_batch, summarise_batch
    from strut.simulate.batch_on_card import DEVICES
    from strut.simulate.batch_summary import BatchSummary, MeasureSummary
    from strut.simulate.compile_ahead import compile_for_card
    from strut.simulate.live_result import LiveResult
    from strut.simulate.options import METHODS, Hold, Options
    from strut.simulate.saved_result import SavedResult, load_result
    from strut.simulate.schedule import Schedule, push
    from strut.simulate.simulate import LedgerWarning, Moment, simulate
    from strut.simulate.stability_check import StabilityWarning

__all__ = [
    "DEVICES",
    "METHODS",
    "Account",
    "Batch",
    "BatchSummary",
    "Hold",
    "LedgerWarning",
    "LiveResult",
    "MeasureSummary",
    "Moment",
    "Options",
    "SavedResult",
    "Schedule",
    "StabilityWarning",
    "Trajectory",
    "compile_for_card",
    "load_result",
    "push",
    "simulate",
    "simulate_batch",
    "summarise_batch",
]

import_on_demand(
    __name__,
    {
        "account": ("Account",),
        "batch": ("Batch", "simulate_batch", "summarise_batch"),
        "batch_on_card": ("DEVICES",),
        "batch_summary": ("BatchSummary", "MeasureSummary"),
        "compile_ahead": ("compile_for_card",),
        "live_result": ("LiveResult",),
        "options": ("METHODS", "Hold", "Options"),
        "saved_result": ("SavedResult", "load_result"),
        "schedule": ("Schedule", "push"),
        "simulate": ("LedgerWarning", "Moment", "simulate"),
        "stability_check": ("StabilityWarning",),
    },
)
