"""The ways in which bests of searches for gaits of COMAN are run again, and how they bear pushes that no
search has seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.evolve.evaluations.encoded import evaluate_together
from strut.evolve.goals import StagedGoals
from strut.studies.coman_gait import (
    DURATION,
    JOINTS,
    MODES,
    NEGLIGIBLE_TIME,
    STEP,
    FrequencyTables,
    coman_goals,
    coman_measures,
    coman_walker,
)
from strut.studies.coman_search import pushed_walker
from strut.studies.gait_verification import LONG_DURATION, WAYS, WayToRun, way_options
from strut.studies.swing_pushes import MEAN_DURATION, MEAN_FORCE, SwingPushes
from strut.system import System

FRESH_DRAWS = 50
"""Draws of pushes with which a best is run that no search has seen."""
FRESH_SEED = 10**6
"""Of the first of these draws."""


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


@dataclass(frozen=True)
class PushedWalks:
    """How a gait bears pushes. kept_share: the part of runs that keep all goals; upright_share: that do not
    fall. measures: by name, one of each run; besides those of `coman_measures` pushes, how many a foot bears
    in a cycle, by their impulse [1]: fewer than one where it is down again before one was to begin."""

    kept_share: float
    upright_share: float
    measures: Mapping[str, np.ndarray]

    @property
    def medians(self) -> dict[str, float]:
        """Medians of the measures of the runs that do not fall, by name; none where all fall."""
        upright = self.measures["time"] >= DURATION - NEGLIGIBLE_TIME
        if not upright.any():
            return {}
        return {name: float(np.median(values[upright])) for name, values in self.measures.items()}

    @property
    def text(self) -> str:
        """How many draws are borne, for a table."""
        return f"{100 * self.kept_share:.0f} % keep all goals, {100 * self.upright_share:.0f} % do not fall"


def bear_pushes(
    bests: Mapping[str, evolve.Individual], walker: System | None = None
) -> dict[str, PushedWalks]:
    """Run a best of each mode with draws of pushes that no search has seen, and return how it bears them; the
    limits of the joints' rates count."""
    measured = coman_measures(walker or pushed_walker(), DURATION)
    pushes = SwingPushes(count=1)
    impulses = [f"integral_after(push_{side}, {DURATION / 2!r})" for side in pushes.sides]
    expressions = {**measured.expressions, "push_impulse": f"-({' + '.join(impulses)})"}
    inner = evolve.of_system(measured.system, DURATION, expressions, method="rk4", step=STEP, lanes="auto")
    parts = []
    for mode, best in bests.items():
        evaluation = evolve.EncodedEvaluation(inner, FrequencyTables(phase_tables(JOINTS, mode)), pushes)
        x = np.tile(list(best.parameters.values()), (FRESH_DRAWS, 1))
        parts.append((evaluation, tuple(best.parameters), x))
    seeds = FRESH_SEED + np.tile(np.arange(FRESH_DRAWS, dtype=np.uint64), len(bests))
    goals = StagedGoals(coman_goals(limits=True), inner.measures)
    answers = {}
    for mode, evaluated in zip(bests, evaluate_together(parts, seeds), strict=True):
        measures = dict(zip(inner.measures, evaluated.measures.T, strict=True))
        cycles = len(pushes.sides) * DURATION / 2 * bests[mode].parameters["frequency"]
        measures["pushes"] = measures["push_impulse"] / (MEAN_FORCE * MEAN_DURATION * cycles)
        stages = goals.stage(goals.keys(measures))
        kept_share, upright_share = np.mean(stages == len(goals.goals) - 1), np.mean(stages > 0)
        answers[mode] = PushedWalks(float(kept_share), float(upright_share), measures)
    return answers


__all__ = ["PushedWalks", "bear_pushes", "coman_ways"]
