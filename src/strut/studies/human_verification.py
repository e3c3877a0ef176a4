"""The ways in which bests of searches for a human gait are run again: with fine steps in double precision,
with these for longer, and with located contacts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from strut import evolve
from strut.control import phase_tables
from strut.studies.gait_verification import LONG_DURATION, WAYS, Verified, WayToRun, way_options
from strut.studies.human_gait import DURATION, JOINTS, MODES, human_goals, human_measures, human_walker


def human_ways() -> dict[str, Callable[[], WayToRun]]:
    """Return by name what makes each way."""
    return {way: partial(_way_to_run, way) for way in WAYS}


def _way_to_run(way: str) -> WayToRun:
    """Return how bests of all modes are run again in some way."""
    duration = LONG_DURATION if way == "long" else DURATION
    measured = human_measures(human_walker("table", events=way == "located"), duration)
    inner = evolve.of_system(measured.system, duration, measured.expressions, **way_options(way))
    evaluations = {mode: evolve.EncodedEvaluation(inner, phase_tables(JOINTS, mode)) for mode in MODES}
    return WayToRun(evaluations, human_goals(duration))


__all__ = ["LONG_DURATION", "Verified", "human_ways"]
