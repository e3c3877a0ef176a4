"""How gaits of COMAN bear pushes against the swing foot: with draws of them that no search has seen and with
those of the search, in its steps, in finer ones, for longer, and with located contacts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.errors import ModelError
from strut.evolve.evaluations.encoded import evaluate_together
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import StagedGoals, best_first
from strut.evolve.store import JobStore
from strut.evolve.streams import RandomStream
from strut.studies.coman_gait import (
    DURATION,
    FREQUENCY_RANGE,
    JOINTS,
    LIMITED_GOAL_NAMES,
    NEGLIGIBLE_TIME,
    STEP,
    FrequencyTables,
    coman_goals,
    coman_measures,
)
from strut.studies.coman_search import pushed_walker
from strut.studies.gait_verification import LONG_DURATION, way_options
from strut.studies.swing_pushes import MEAN_DURATION, MEAN_FORCE, SwingPushes

FRESH_DRAWS = 50
"""Draws of pushes with which a best is run that no search has seen."""
FRESH_SEED = 10**6
"""Of the first of the draws that are told of."""
CHOICE_SEED = 2 * 10**6
"""Of the first of the draws by which one of several bests is chosen. They are others than those that are told
of, because who is chosen was lucky with them."""
LONG_SWINGS = int(np.ceil(LONG_DURATION * FREQUENCY_RANGE[1]))
"""Swings of a side that have draws of their own in a long run: none begin anew."""


@dataclass(frozen=True)
class PushedWalks:
    """How a gait bears pushes. kept_share: the part of runs that keep all goals; upright_share: that do not
    fall. measures: by name, one of each run; besides those of `coman_measures` pushes, how many a foot bears
    in a cycle, by their impulse [1]: fewer than one where it is down again before one was to begin.
    duration: of a run [s]. worst: of the run that is worst, the goal that it is at, from 1, and the value of
    that; 0 where one broke off. broken: how many did, for numbers alone."""

    kept_share: float
    upright_share: float
    measures: Mapping[str, np.ndarray]
    duration: float = DURATION
    worst: tuple[int, float] = (0, np.inf)
    broken: int = 0

    @property
    def upright(self) -> np.ndarray:
        """Which runs do not fall."""
        return np.asarray(self.measures["time"] >= self.duration - NEGLIGIBLE_TIME)

    @property
    def medians(self) -> dict[str, float]:
        """Medians of the measures of the runs that do not fall, by name; none where all fall."""
        if not self.upright.any():
            return {}
        return {name: float(np.median(values[self.upright])) for name, values in self.measures.items()}

    @property
    def text(self) -> str:
        """How many draws are borne, for a table."""
        text = f"{100 * self.kept_share:.0f} % keep all goals, {100 * self.upright_share:.0f} % do not fall"
        return f"{text}, {self.broken} broke off" if self.broken else text

    @property
    def medians_text(self) -> str:
        """What walks that do not fall cost and bear, for a table."""
        medians = self.medians
        if not medians:
            return "all fall"
        return (
            f"of those upright: cost {medians['cost']:.0f} J/m, {medians['pushes']:.2f} pushes of a foot in "
            "a cycle (medians)"
        )

    @property
    def worst_text(self) -> str:
        """How far the worst run comes, for a table."""
        return reached_text(*self.worst)


def reached_text(stage: int, value: float) -> str:
    """Return how far a walk comes, for a table. stage: of the goals within limits of rates, from 1; 0 where
    it broke off. value: of that goal."""
    if stage == 0:
        return "broke off"
    if stage == len(LIMITED_GOAL_NAMES):
        return f"all goals kept, cost {value:.1f} J/m"
    return f"at goal {stage} of {len(LIMITED_GOAL_NAMES)} ({LIMITED_GOAL_NAMES[stage - 1]}), {value:.3g}"


def draw_seeds(first: int) -> np.ndarray:
    """Return the seeds of `FRESH_DRAWS` draws. first: of the first of them."""
    return np.arange(first, first + FRESH_DRAWS, dtype=np.uint64)


def search_seeds(path: Path, best: evolve.Individual) -> np.ndarray:
    """Return the seeds of the draws with which a search evaluated the best of a run. path: of its file.

    A file keeps the best of each generation without its place among the others, on which its draws depend;
    but the particle that was there remembers it, and has the same place in every generation. Raises
    `ModelError` where none does.
    """
    with closing(JobStore(path, read_only=True)) as store:
        seed, repeats = int(store.spec["seed"]), int(store.spec["problem"]["repeats"])
        states = (store.read(best.run, number).state for number in reversed(store.generations(best.run)))
        state = next((each for each in states if each is not None), {})
    values = np.array(list(best.parameters.values()))
    remembered = np.asarray(state.get("best_x", np.empty((0, len(values)))))
    places = np.flatnonzero((remembered == values).all(axis=1))
    if not places.size:
        raise ModelError(
            f"no particle of run {best.run + 1} in {path} remembers the best of generation "
            f"{best.generation + 1}: its draws of pushes are not known"
        )
    seeds = RandomStream(seed, best.run).seeds(best.generation, len(remembered), repeats)
    return np.asarray(seeds[places[0]])


def bear_pushes(
    bests: Mapping[str, evolve.Individual],
    seeds: Mapping[str, np.ndarray] | None = None,
    *,
    way: str = "search",
) -> dict[str, PushedWalks]:
    """Run a best of each mode with draws of pushes, and return how it bears them; the limits of the joints'
    rates count.

    seeds: by mode, of the draws, a run each; those of draws that no search has seen unless given. way:
    'search' for its steps, in double precision, or one of `gait_verification.WAYS`.
    """
    inner, pushes = _pushed_runs(way)
    own_seeds = {mode: draw_seeds(FRESH_SEED) for mode in bests} if seeds is None else seeds
    parts = []
    for mode, best in bests.items():
        evaluation = evolve.EncodedEvaluation(inner, FrequencyTables(phase_tables(JOINTS, mode)), pushes)
        x = np.tile(list(best.parameters.values()), (len(own_seeds[mode]), 1))
        parts.append((evaluation, tuple(best.parameters), x))
    goals = StagedGoals(coman_goals(inner.time, limits=True), inner.measures)
    answers = {}
    evaluated_together = evaluate_together(parts, np.concatenate([own_seeds[mode] for mode in bests]))
    for mode, evaluated in zip(bests, evaluated_together, strict=True):
        measures = dict(zip(inner.measures, evaluated.measures.T, strict=True))
        cycles = len(pushes.sides) * inner.time / 2 * bests[mode].parameters["frequency"]
        measures["pushes"] = measures["push_impulse"] / (MEAN_FORCE * MEAN_DURATION * cycles)
        keys = goals.keys(measures)
        broken = np.array([status != OK for status in evaluated.status])
        keys[broken] = goals.failed_key
        stages = goals.stage(keys)
        answers[mode] = PushedWalks(
            kept_share=float(np.mean(stages == len(goals.goals) - 1)),
            upright_share=float(np.mean(stages > 0)),
            measures=measures,
            duration=inner.time,
            worst=goals.stage_and_value(keys[best_first(keys)[-1]]),
            broken=int(broken.sum()),
        )
    return answers


@lru_cache(maxsize=4)
def _pushed_runs(way: str) -> tuple[evolve.SystemEvaluation, SwingPushes]:
    """With what pushed walks are run in some way, and from what their pushes are drawn."""
    is_long = way == "long"
    duration = LONG_DURATION if is_long else DURATION
    pushes = SwingPushes(swings=LONG_SWINGS, count=1) if is_long else SwingPushes(count=1)
    measured = coman_measures(pushed_walker(pushes.swings, events=way == "located"), duration)
    impulses = [f"integral_after(push_{side}, {duration / 2!r})" for side in pushes.sides]
    expressions = {**measured.expressions, "push_impulse": f"-({' + '.join(impulses)})"}
    how = {"method": "rk4", "step": STEP, "lanes": "auto"} if way == "search" else way_options(way)
    return evolve.of_system(measured.system, duration, expressions, **how), pushes


__all__ = [
    "CHOICE_SEED",
    "FRESH_DRAWS",
    "FRESH_SEED",
    "PushedWalks",
    "bear_pushes",
    "draw_seeds",
    "reached_text",
    "search_seeds",
]
