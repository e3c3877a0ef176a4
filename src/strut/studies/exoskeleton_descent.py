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
from strut.linkage.screening import MIN_REGULARITY, MIN_STRENGTH
from strut.studies.exoskeleton_designs import DesignSpace, chosen_groups
from strut.studies.exoskeleton_evaluation import DURATION, ExoskeletonEvaluation
from strut.studies.exoskeleton_found import WAYS, FoundDesign, found_design, run_again
from strut.studies.exoskeleton_measures import (
    DESIGN_GOALS,
    MAX_ASSIST_SHARE,
    NEGLIGIBLE_TIME,
    SPEED_MATCH,
    TARGET_SPEED,
    walking_goals,
)
from strut.studies.exoskeleton_refinement import HELD_ENDINGS
from strut.studies.exoskeleton_rival import rival_problem, rival_run_again
from strut.studies.exoskeleton_screening import FINE_SAMPLES, MIN_SOUNDNESS
from strut.studies.exoskeleton_search import exoskeleton_goals, goal_names
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH

DIFFERENCES = (1e-4, 1e-3)
"""[1] By how much parameters differ for derivatives, as a part of their ranges, to both sides: the larger one
where the smaller leads no further, as at a kink of a power that changes its sign."""
RADII = tuple(0.02 * 2.0**-k for k in range(14))
"""[1] Radii of the trust regions that are tried, as a part of each range: as many as lanes do at once."""
GOAL_MARGIN = 5e-3
"""[1] Part by which goals are kept more than is asked, so that walks in finer steps keep them, too."""
MIN_GAIN = 1e-5
"""[1] Gain of a step that counts, as a part of the first power."""
HOLDING_WAYS = WAYS[:2]
"""Ways in which refined designs are run again: with fine steps, and for longer."""
PENALTY = 10.0
"""[1] What a goal that is missed by a part of itself counts, as a part of the first power."""


@dataclass(frozen=True, eq=False)
class DescendedMachine:
    """What descent made of a machine. individual: after it, as a search would have left it. before, after:
    measures, as the search has them. steps: that led there. walks: how many were run on the way. seconds: of
    processor time of this process. message: why it ended."""

    individual: evolve.Individual
    before: Mapping[str, float]
    after: Mapping[str, float]
    steps: int
    walks: int
    seconds: float
    message: str


@dataclass(frozen=True, eq=False)
class DescendedDesign(DescendedMachine):
    """What descent made of a linkage. design: after it."""

    design: FoundDesign


@dataclass(eq=False)
class DescentPath:
    """The way that descent went, from where it began on. rows: values of all parameters after each step.
    measures: of each, as the search has them. message: why it ended."""

    rows: list[np.ndarray]
    measures: list[dict[str, float]]
    message: str = "all iterations were done"

    def individual(
        self, k: int, begin: evolve.Individual, names: Sequence[str], goals: Sequence[evolve.SearchGoal]
    ) -> evolve.Individual:
        """Return what a step led to, as an individual of a search with such parameters and goals. begin: with
        which descent began."""
        return replace(
            begin,
            parameters=dict(zip(names, self.rows[k].tolist(), strict=True)),
            measures=self.measures[k],
            stage=_stage(self.measures[k], goals),
            value=self.measures[k]["power_absolute"],
        )


@dataclass(frozen=True)
class KeptGoal:
    """A goal that descent keeps: a measure below a limit or, with a sign of -1, above it."""

    measure: str
    limit: float
    sign: float = 1.0

    @property
    def size(self) -> float:
        """What counts as all of it."""
        return abs(self.limit)

    def miss(self, measures: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return by how much it is missed, with its margin, as a part of itself; negative where kept."""
        target = self.limit * (1 - self.sign * GOAL_MARGIN)
        return np.asarray(self.sign * (measures[self.measure] - target) / self.size)


def kept_goals(
    duration: float, limits: Mapping[str, float] | None = None, speed: float = TARGET_SPEED
) -> list[KeptGoal]:
    """Return what descent keeps of a walk: speed, little assistance, and limits of further measures.

    duration: of a walk [s]. limits: as of `walking_goals`. speed: that is asked for [m/s]."""
    return [
        KeptGoal("speed", SPEED_MATCH * speed, -1.0),
        KeptGoal("speed", speed / SPEED_MATCH),
        KeptGoal("assist_time", MAX_ASSIST_SHARE * duration / 2),
        *[KeptGoal(name, limit) for name, limit in (limits or {}).items()],
    ]


def screened_goals() -> list[KeptGoal]:
    """Return what descent keeps of a linkage, whose walk does not tell of it: bars that are short enough, and
    no singularity near the stride."""
    return [
        KeptGoal("longest_bar", MAX_BAR_LENGTH),
        KeptGoal("strength", MIN_STRENGTH, -1.0),
        KeptGoal("regularity", MIN_REGULARITY, -1.0),
    ]


class DesignDescent:
    """Descent of one design.

    evaluation: that runs designs, of one group or of the rival. parameters: that it searches, in order.
    duration: of a walk [s]. goals: that are kept. row: where it is, values of the parameters. held: names of
    parameters that stay as they are. All arrays of measures are by name.
    """

    def __init__(
        self,
        evaluation: ExoskeletonEvaluation | evolve.EncodedEvaluation,
        parameters: Sequence[evolve.SearchParameter],
        row: np.ndarray,
        *,
        duration: float,
        goals: Sequence[KeptGoal],
        held: Sequence[str] = (),
    ) -> None:
        self.evaluation, self.duration, self.goals, self.walks = evaluation, duration, tuple(goals), 0
        self.names = tuple(q.name for q in parameters)
        varies = [name not in held and not name.endswith(HELD_ENDINGS) for name in self.names]
        self.places = np.flatnonzero(varies)
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

    def follow_gradients(self, iterations: int, tell: Callable[[str], None]) -> DescentPath:
        """Go down, and return the way. Raises ModelError where a walk falls with which it would begin."""
        point = (self.row[self.places] - self.low) / self.span
        at, slopes = self.slopes(point, DIFFERENCES[0])
        if not self.walks_whole(at)[0]:
            raise ModelError("the design does not walk to the end as the search does it: nothing is refined")
        path = DescentPath([self.row], [{name: float(column[0]) for name, column in at.items()}])
        unit = path.measures[0]["power_absolute"]
        difference_place = 0  # in `DIFFERENCES`
        merit = float(self.merits(at, unit)[0])
        for _ in range(iterations):
            tries = np.array([self.step(point, radius, unit, at, slopes) for radius in RADII])
            measures = self.run(tries)
            merits = self.merits(measures, unit)
            best = int(np.argmin(merits))
            if merits[best] < merit - MIN_GAIN:
                point, merit, difference_place = tries[best], float(merits[best]), 0
                row = self.row.copy()
                row[self.places] = self.low + np.clip(point, 0.0, 1.0) * self.span
                path.rows.append(row)
                path.measures.append({name: float(column[best]) for name, column in measures.items()})
                tell(
                    f"step {len(path.rows) - 1}: {measures['power_absolute'][best]:.1f} W, speed "
                    f"{measures['speed'][best]:.3f} m/s, region {RADII[best]:.2g}"
                )
            elif difference_place + 1 < len(DIFFERENCES):
                difference_place += 1
            else:
                path.message = "no step in any region is better"
                break
            at, slopes = self.slopes(point, DIFFERENCES[difference_place])
        return path


def descend_design(
    design: FoundDesign,
    *,
    limits: Mapping[str, float] | None = None,
    speed: float = TARGET_SPEED,
    iterations: int = 30,
    processes: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> DescendedDesign:
    """Refine an exoskeleton that a search found, with its gait, by gradients: less power, while speed,
    assistance, bars and what screening asks for are kept.

    limits: what further measures may be, as {"peak_power": 600.0, "peak_interaction": 3000.0} [W, N]; those
    that are missed at first come first. speed: that is asked for [m/s]: more than by the search where a
    design shall be fast enough on rigid ground, too. iterations: at most. processes: as of
    `ExoskeletonEvaluation`. tell: called after each step. options: of `simulate_batch`, of the walks of 10 s
    that lead down.

    What its search kept stays as it is. Designs are screened along more samples than in the search. Less
    power is often less stable, which a walk in the long steps of the search does not show: of the way down
    the last design counts that stays at its goal in fine steps, over 30 s, too. Raises ModelError where the
    design falls as the search runs it.
    """
    begin = process_time()
    space = DesignSpace(chosen_groups([design.group.name]))
    evaluation = ExoskeletonEvaluation(
        space, DURATION, {"lanes": "auto", **options}, processes, worn=bool(limits), samples=FINE_SAMPLES
    )
    descent = DesignDescent(
        evaluation,
        space.parameters,
        space.row(design.individual.parameters)[0],
        duration=DURATION,
        goals=[*screened_goals(), *kept_goals(DURATION, limits, speed)],
        held=design.kept_names,
    )
    goals = exoskeleton_goals(DURATION, limits)
    path = descent.follow_gradients(iterations, tell)

    def refined_design(k: int) -> FoundDesign:
        individual = path.individual(k, design.individual, space.names, goals)
        refined = found_design(space, individual, design.run, goal_names(limits or ()))
        return replace(refined, kept_names=design.kept_names)

    steps = _last_step_that_holds(
        path,
        _stage(path.measures[0], exoskeleton_goals(DURATION)),
        lambda k, way: run_again(refined_design(k), way),
        tell,
    )
    refined = refined_design(steps)
    return DescendedDesign(
        individual=refined.individual, design=refined, **_account(descent, path, steps, begin)
    )


def descend_rival(
    best: evolve.Individual,
    *,
    limits: Mapping[str, float] | None = None,
    iterations: int = 30,
    tell: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> DescendedMachine:
    """Refine the best of the anthropomorphic rival as `descend_design` does a linkage. Raises ModelError
    where it falls as the search runs it."""
    begin = process_time()
    problem = rival_problem(DURATION, limits=limits, **{"lanes": "auto", **options})
    assert isinstance(problem.evaluation, evolve.EncodedEvaluation)
    names = problem.space.names
    descent = DesignDescent(
        problem.evaluation,
        problem.space.parameters,
        np.array([best.parameters[name] for name in names]),
        duration=DURATION,
        goals=kept_goals(DURATION, limits),
    )
    path = descent.follow_gradients(iterations, tell)
    goals = walking_goals(DURATION, limits=limits)
    steps = _last_step_that_holds(
        path,
        DESIGN_GOALS + _stage(path.measures[0], walking_goals(DURATION)),
        lambda k, way: rival_run_again(path.individual(k, best, names, goals), way),
        tell,
    )
    return DescendedMachine(
        individual=path.individual(steps, best, names, goals), **_account(descent, path, steps, begin)
    )


def _last_step_that_holds(
    path: DescentPath,
    least: int,
    run: Callable[[int, str], Mapping[str, float]],
    tell: Callable[[str], None],
) -> int:
    """Return the last step of a way whose design is at a goal, or at a later one, when it is run again; 0
    where none is. least: number of the goal. run: what runs the design of a step again, in a way of
    `HOLDING_WAYS`."""
    for k in range(len(path.rows) - 1, 0, -1):
        if all(run(k, way)["stage"] >= least for way in HOLDING_WAYS):
            return k
        tell(f"step {k} does not hold in fine steps")
    return 0


def _account(descent: DesignDescent, path: DescentPath, steps: int, begin: float) -> dict[str, Any]:
    """What is told of any descent, as fields of `DescendedMachine`. steps: that count. begin: of the descent,
    by the clock of the processor [s]."""
    return {
        "before": path.measures[0],
        "after": path.measures[steps],
        "steps": steps,
        "walks": descent.walks,
        "seconds": process_time() - begin,
        "message": path.message,
    }


def _stage(measures: Mapping[str, float], goals: Sequence[evolve.SearchGoal]) -> int:
    """The number of the goal that measures are at."""
    staged = StagedGoals(list(goals), list(measures))
    key = staged.keys({name: np.array([value]) for name, value in measures.items()})[0]
    return int(staged.stage_and_value(key)[0])


__all__ = [
    "DescendedDesign",
    "DescendedMachine",
    "DescentPath",
    "DesignDescent",
    "KeptGoal",
    "descend_design",
    "descend_rival",
    "kept_goals",
    "screened_goals",
]
