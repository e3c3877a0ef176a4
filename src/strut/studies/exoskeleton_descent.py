"""Refinement of an exoskeleton with its gait by gradients that a population of walks gives: pins, control and
springs go down together, and every goal that is kept stays kept.

Walks of the search have fixed steps and no events, so that their measures are smooth in the parameters:
central differences by all parameters are one population, which lanes or a card run at once, in seconds, where
derivatives along a record (`studies.exoskeleton_refinement`) take minutes. Sequential linear programming goes
down: a linear program within a trust region, of goals and their derivatives, tells where to; of several
regions the best is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from strut import evolve
from strut.errors import ModelError
from strut.evolve.goals import StagedGoals
from strut.extras import optional_module
from strut.studies.exoskeleton_designs import DesignSpace, chosen_groups
from strut.studies.exoskeleton_evaluation import DURATION, MIN_SOUNDNESS, ExoskeletonEvaluation
from strut.studies.exoskeleton_found import FoundDesign, found_design
from strut.studies.exoskeleton_measures import (
    MAX_ASSIST_SHARE,
    NEGLIGIBLE_TIME,
    SPEED_MATCH,
    TARGET_SPEED,
    walking_goals,
)
from strut.studies.exoskeleton_refinement import HELD_ENDINGS
from strut.studies.exoskeleton_rival import rival_problem
from strut.studies.exoskeleton_search import exoskeleton_goals
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH

DIFFERENCES = (1e-4, 1e-3)
"""[1] By how much parameters differ for derivatives, as a part of their ranges, to both sides: the larger one
where the smaller leads no further, as at a kink of a power that changes its sign."""
RADII = tuple(0.02 * 2.0**-k for k in range(14))
"""[1] Radii of the trust regions that are tried, as a part of each range: as many as lanes do at once."""
GOAL_MARGIN = 2e-3
"""[1] Part by which goals are kept more than is asked, so that walks in finer steps keep them, too."""
MIN_GAIN = 1e-5
"""[1] Gain of a step that counts, as a part of the first power."""
PENALTY = 10.0
"""[1] What a goal that is missed by a part of itself counts, as a part of the first power."""


@dataclass(frozen=True, eq=False)
class DescendedDesign:
    """What descent made of a design. design: after it. before, after: measures, as the search has them.
    iterations: steps that led on. walks: how many were run. seconds: of processor time of this process.
    message: why it ended."""

    design: FoundDesign
    before: Mapping[str, float]
    after: Mapping[str, float]
    iterations: int
    walks: int
    seconds: float
    message: str


@dataclass(frozen=True)
class KeptGoal:
    """A goal that descent keeps: a measure below a number or, with a sign of -1, above it."""

    measure: str
    most: float
    sign: float = 1.0

    @property
    def size(self) -> float:
        """What counts as all of it."""
        return abs(self.most)

    def miss(self, measures: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return by how much it is missed, with its margin, as a part of itself; negative where kept."""
        least = self.most * (1 - self.sign * GOAL_MARGIN)
        return np.asarray(self.sign * (measures[self.measure] - least) / self.size)


def kept_goals(duration: float, limits: Mapping[str, float] | None = None) -> list[KeptGoal]:
    """Return what descent keeps of a walk: speed, little assistance, and limits of further measures.

    duration: of a walk [s]. limits: as of `walking_goals`."""
    return [
        KeptGoal("speed", SPEED_MATCH * TARGET_SPEED, -1.0),
        KeptGoal("speed", TARGET_SPEED / SPEED_MATCH),
        KeptGoal("assist_time", MAX_ASSIST_SHARE * duration / 2),
        *[KeptGoal(name, limit) for name, limit in (limits or {}).items()],
    ]


class DesignDescent:
    """Descent of one design.

    evaluation: that runs designs, of one group or of the rival. parameters: that it searches, in order.
    duration: of a walk [s]. goals: that are kept. row: where it is, values of the parameters. All arrays of
    measures are by name.
    """

    def __init__(
        self,
        evaluation: ExoskeletonEvaluation | evolve.EncodedEvaluation,
        parameters: Sequence[evolve.SearchParameter],
        row: np.ndarray,
        *,
        duration: float,
        goals: Sequence[KeptGoal],
    ) -> None:
        self.evaluation, self.duration, self.goals, self.walks = evaluation, duration, tuple(goals), 0
        self.names = tuple(q.name for q in parameters)
        self.places = np.array([k for k, name in enumerate(self.names) if not name.endswith(HELD_ENDINGS)])
        bounds = np.array([(q.low, q.high) for q in parameters])
        self.low, self.high = bounds[self.places].T
        self.span = self.high - self.low
        self.row = row

    def run(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Return measures of points, rows of what varies as parts of their ranges."""
        rows = np.tile(self.row, (len(points), 1))
        rows[:, self.places] = self.low + np.clip(points, 0.0, 1.0) * self.span
        self.walks += len(rows)
        measures = self.evaluation.evaluate(self.names, rows, np.zeros(len(rows), dtype=np.uint64)).measures
        return dict(zip(self.evaluation.measures, measures.T, strict=True))

    def walks_whole(self, measures: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which points walk to the end, with numbers, and carry a stride where that is asked."""
        ends = measures["time"] > self.duration - NEGLIGIBLE_TIME
        if "soundness" in measures:
            ends &= (measures["soundness"] >= MIN_SOUNDNESS) & (measures["broken_off"] == 0)
        return np.asarray(ends & np.isfinite(measures["power_absolute"]))

    def merits(self, measures: Mapping[str, np.ndarray], unit: float) -> np.ndarray:
        """Return what points are worth, less being better: power over a unit [W], and a penalty for goals
        that are missed; infinite where a walk fails."""
        misses = sum((np.maximum(goal.miss(measures), 0.0) for goal in self.goals), np.zeros(1))
        merit = measures["power_absolute"] / unit + PENALTY * misses
        return np.where(self.walks_whole(measures), merit, np.inf)

    def slopes(
        self, point: np.ndarray, difference: float
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return measures at a point, and their derivatives by what varies, as parts of its range: by central
        differences, one-sided at bounds. A derivative across a fall counts as none."""
        count = len(point)
        steps = difference * np.vstack([np.eye(count), -np.eye(count)])
        points = np.clip(point + steps, 0.0, 1.0)
        measures = self.run(np.vstack([point, points]))
        good = self.walks_whole(measures)[1:]
        both = good[:count] & good[count:]
        apart = (points[:count] - points[count:])[np.arange(count), np.arange(count)]
        slopes = {
            name: np.where(both, (column[1 : count + 1] - column[count + 1 :]) / apart, 0.0)
            for name, column in measures.items()
        }
        return {name: column[:1] for name, column in measures.items()}, slopes

    def step(
        self,
        point: np.ndarray,
        radius: float,
        unit: float,
        at: Mapping[str, np.ndarray],
        slopes: Mapping[str, np.ndarray],
    ) -> np.ndarray:
        """Return where a linear program sends a point within a trust region: less power, goals kept, or
        missed by as little as can be."""
        program = optional_module("scipy.optimize", "descent of an exoskeleton").linprog
        goals, count = self.goals, len(point)
        cost = np.concatenate([slopes["power_absolute"] / unit, np.full(len(goals), PENALTY)])
        rows = np.array([goal.sign * slopes[goal.measure] / goal.size for goal in goals])
        table = np.hstack([rows, -np.eye(len(goals))])
        missed = np.array([-goal.miss(at)[0] for goal in goals])
        low, high = np.maximum(-radius, -point), np.minimum(radius, 1.0 - point)
        bounds = [*zip(low, high, strict=True), *[(0.0, None)] * len(goals)]
        answer = program(cost, A_ub=table, b_ub=missed, bounds=bounds, method="highs")
        return point + answer.x[:count] if answer.success else point

    def go(
        self, iterations: int, tell: Callable[[str], None]
    ) -> tuple[dict[str, float], dict[str, float], int, str]:
        """Go down. Returned are measures before and after, how many steps led on, and why it ended."""
        point = (self.row[self.places] - self.low) / self.span
        at, slopes = self.slopes(point, DIFFERENCES[0])
        if not self.walks_whole(at)[0]:
            raise ModelError("the design does not walk to the end as the search does it: nothing is refined")
        before, unit, finer = _first(at), float(at["power_absolute"][0]), 0
        merit, message, steps = float(self.merits(at, unit)[0]), "all iterations were done", 0
        for _ in range(iterations):
            tries = np.array([self.step(point, radius, unit, at, slopes) for radius in RADII])
            measures = self.run(tries)
            merits = self.merits(measures, unit)
            best = int(np.argmin(merits))
            if merits[best] < merit - MIN_GAIN:
                point, merit, finer = tries[best], float(merits[best]), 0
                steps += 1
                tell(
                    f"step {steps}: {measures['power_absolute'][best]:.1f} W, speed "
                    f"{measures['speed'][best]:.3f} m/s, region {RADII[best]:.2g}"
                )
            elif finer + 1 < len(DIFFERENCES):
                finer += 1
            else:
                message = "no step in any region is better"
                break
            at, slopes = self.slopes(point, DIFFERENCES[finer])
        self.row = self.row.copy()
        self.row[self.places] = self.low + point * self.span
        return before, _first(at), steps, message


def _first(measures: Mapping[str, np.ndarray]) -> dict[str, float]:
    return {name: float(column[0]) for name, column in measures.items()}


def descend_design(
    design: FoundDesign,
    *,
    limits: Mapping[str, float] | None = None,
    duration: float = DURATION,
    iterations: int = 20,
    processes: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> DescendedDesign:
    """Refine an exoskeleton that a search found, with its gait, by gradients: less power, while speed,
    assistance, bars and what screening asks for are kept.

    limits: what further measures may be, as {"peak_power": 600.0, "peak_interaction": 3000.0} [W, N]; those
    that are missed at first come first. duration: of a walk [s]. iterations: at most. processes: as of
    `ExoskeletonEvaluation`. tell: called after each step. options: of `simulate_batch`, as lanes='auto' for
    double precision in lanes.

    Raises ModelError where the design falls as the search runs it.
    """
    begin = process_time()
    space = DesignSpace(chosen_groups([design.group.name]))
    evaluation = ExoskeletonEvaluation(
        space, duration, {"lanes": "auto", **options}, processes, worn=bool(limits)
    )
    descent = DesignDescent(
        evaluation,
        space.parameters,
        space.row(design.individual.parameters)[0],
        duration=duration,
        goals=[KeptGoal("longest_bar", MAX_BAR_LENGTH), *kept_goals(duration, limits)],
    )
    before, after, steps, message = descent.go(iterations, tell)
    refined = replace(
        design.individual,
        parameters=dict(zip(space.names, descent.row.tolist(), strict=True)),
        measures=after,
        stage=_stage(after, exoskeleton_goals(duration, limits)),
        value=after["power_absolute"],
    )
    return DescendedDesign(
        design=found_design(space, refined, design.run),
        before=before,
        after=after,
        iterations=steps,
        walks=descent.walks,
        seconds=process_time() - begin,
        message=message,
    )


def descend_rival(
    best: evolve.Individual,
    *,
    duration: float = DURATION,
    iterations: int = 20,
    tell: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> evolve.Individual:
    """Refine the best of the anthropomorphic rival as `descend_design` does a linkage; return it with its
    measures, as the search has them."""
    problem = rival_problem(duration, **{"lanes": "auto", **options})
    assert isinstance(problem.evaluation, evolve.EncodedEvaluation)
    names = problem.space.names
    descent = DesignDescent(
        problem.evaluation,
        problem.space.parameters,
        np.array([best.parameters[name] for name in names]),
        duration=duration,
        goals=kept_goals(duration),
    )
    _, after, _, _ = descent.go(iterations, tell)
    return replace(
        best,
        parameters=dict(zip(names, descent.row.tolist(), strict=True)),
        measures=after,
        stage=_stage(after, walking_goals(duration)),
        value=after["power_absolute"],
    )


def _stage(measures: Mapping[str, float], goals: Sequence[evolve.SearchGoal]) -> int:
    """The number of the goal that measures are at."""
    staged = StagedGoals(list(goals), list(measures))
    key = staged.keys({name: np.array([value]) for name, value in measures.items()})[0]
    return int(staged.stage_and_value(key)[0])


__all__ = ["DescendedDesign", "DesignDescent", "KeptGoal", "descend_design", "descend_rival", "kept_goals"]
