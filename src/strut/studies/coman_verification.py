"""The ways in which bests of searches for gaits of COMAN are run again: with fine steps in double precision,
with these for longer, and with located contacts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from strut import evolve
from strut.control import phase_tables
from strut.studies.coman_gait import (
    DURATION,
    JOINTS,
    MODES,
    FrequencyTables,
    coman_goals,
    coman_measures,
    coman_walker,
)
from strut.studies.gait_verification import LONG_DURATION, WAYS, WayToRun, way_options


def coman_ways(*, limits: bool = False) -> dict[str, Callable[[], WayToRun]]:
    """Return by name what makes each way. limits: as of `coman_goals`."""
    return {way: partial(_way_to_run, way, limits) for way in WAYS}


def _way_to_run(way: str, limits: bool) -> WayToRun:
    """Return how bests of all modes are run again in some way."""
    duration = LONG_DURATION if way == "long" else DURATION
    measured = coman_measures(coman_walker("table", events=way == "located"), duration)
    inner = evolve.of_system(measured.system, duration, measured.expressions, **way_options(way))
    encodings = {mode: FrequencyTables(phase_tables(JOINTS, mode)) for mode in MODES}
    evaluations = {mode: evolve.EncodedEvaluation(inner, each) for mode, each in encodings.items()}
    return WayToRun(evaluations, coman_goals(duration, limits=limits))


__all__ = ["coman_ways"]
