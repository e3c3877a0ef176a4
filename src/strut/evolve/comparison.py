"""`compare`: several searches on one problem, each from several seeds, after equally many evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.checks import checked, integer
from strut.errors import ModelError, did_you_mean
from strut.evolve.problem import SearchProblem
from strut.evolve.search import search
from strut.evolve.searches import SEARCHES, SearchMethod
from strut.tabular import Tabular

SEARCHES_LEFT_OUT = ("grid", "metamorphic")
"""Searches that are not compared unless they are given: a grid has no end of its own, pools are not known."""


@dataclass(frozen=True, eq=False)
class SearchCurve:
    """How one search went: at each generation, a column, of each seed, a row, the best so far.

    evaluations: how many individuals each seed had evaluated by then. stages: the number of the goal, from 1;
    0 where all failed. values: of that goal; of a front its hypervolume.
    """

    name: str
    evaluations: np.ndarray
    stages: np.ndarray
    values: np.ndarray
    greater_is_better: np.ndarray

    def quantile(self, part: float) -> tuple[np.ndarray, np.ndarray]:
        """Return stage and value at each generation of the seed that is worse than this part of all: 0 the
        best, 0.5 the median, 1 the worst. Who is at a later goal is better, whatever the values. Between two
        seeds the value lies in between, as the median of evenly many does; where they are at different goals,
        it is the worse one's, as nothing lies between these."""
        signed = np.where(self.greater_is_better[self.stages], -self.values, self.values)
        order = np.lexsort((signed, -self.stages), axis=0)
        columns, place = np.arange(self.stages.shape[1]), part * (len(self.stages) - 1)
        better, worse = order[math.floor(place)], order[math.ceil(place)]
        stages, values = self.stages[worse, columns], self.values[worse, columns]
        same = (self.stages[better, columns] == stages) & (better != worse)
        weight = place - math.floor(place)
        between = (1 - weight) * self.values[better, columns] + weight * values
        return stages, np.where(same, between, values)


@dataclass(frozen=True, eq=False)
class SearchComparison(Tabular):
    """What `compare` found. curves: of each search. goals: how many there are in their order. seeds: with
    which each began. evaluations: after how many they were compared. value_name: what a value of the last
    goal is."""

    curves: tuple[SearchCurve, ...]
    goals: int
    seeds: tuple[int, ...]
    evaluations: int
    value_name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, list[Any]]:
        """Return for each search, best median first, how many seeds have reached the last goal, and best,
        quartiles and worst at the end."""
        parts = {"best": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "worst": 1.0}
        rows = []
        for curve in self.curves:
            ends = {name: curve.quantile(part) for name, part in parts.items()}
            stage, value = ends["median"]
            sign = -1.0 if curve.greater_is_better[stage[-1]] else 1.0
            row = {
                "search": curve.name,
                "evaluations": int(curve.evaluations[-1]),
                "at the last goal": f"{int((curve.stages[:, -1] == self.goals).sum())} of {len(self.seeds)}",
                "goal": int(stage[-1]),
                **{name: float(values[-1]) for name, (_, values) in ends.items()},
            }
            rows.append((-stage[-1], sign * value[-1], row))
        rows.sort(key=lambda each: each[:2])
        return {name: [row[name] for _, _, row in rows] for name in rows[0][2]}

    def __repr__(self) -> str:
        first = self.columns()["search"][0]
        return (
            f"<SearchComparison of {len(self.curves)} searches, {len(self.seeds)} seeds, {self.evaluations} "
            f"evaluations: best median by {first}>"
        )


@checked
def compare(
    problem: SearchProblem,
    searches: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    seeds: int | Sequence[int] = 10,
    evaluations: int = 2000,
    progress: Callable[[str, int], None] | None = None,
) -> SearchComparison:
    """Run several searches on one problem, each from the same seeds, and compare them after equally many
    evaluations; `report.comparison_figure` draws the result.

    searches: methods by name, or words of `SEARCHES` for those with their own settings; all that the problem
    can be given to unless said. seeds: how many, or which. evaluations: of each, at most; a search evaluates
    whole generations, as many as fit, so that one whose population does not divide them has up to a
    population less: the table says how many each had. progress: called before each with its name and
    seed.
    """
    integer("evaluations", evaluations, 1)
    numbers = tuple(range(integer("seeds", seeds, 1))) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise ModelError("seeds is empty: give at least one")
    methods = _methods(problem, searches)
    for name, method in methods.items():
        if method.population > evaluations:
            raise ModelError(
                f"the search '{name}' evaluates {method.population} individuals in a generation, and "
                f"{evaluations} evaluations were asked for: ask for more, or give it a smaller population"
            )
    goals = problem.staged_goals
    senses = [goal.sense == "maximise" for goal in goals.terms[: len(goals.goals)]]
    if goals.front is not None:
        senses[len(goals.goals) - 1 :] = [True]  # more hypervolume is better
    curves = []
    for name, method in methods.items():
        histories = []
        for seed in numbers:
            if progress is not None:
                progress(name, seed)
            histories.append(search(problem, method, evaluations // method.population, seed=seed).columns())
        curves.append(_curve(name, method, histories, np.array([False, *senses])))
    last = goals.goals[-1]
    label = "hypervolume of the front" if goals.front is not None else last.label
    return SearchComparison(tuple(curves), len(goals.goals), numbers, evaluations, label)


def _curve(
    name: str, method: SearchMethod, histories: list[dict[str, np.ndarray]], greater: np.ndarray
) -> SearchCurve:
    """Return how a search went, from its histories."""
    stages = np.array([each["best_stage"] for each in histories]).astype(int)
    values = np.array([each["best_value"] for each in histories])
    count = method.population * np.arange(1, stages.shape[1] + 1)
    return SearchCurve(name, count, stages, values, greater)


def _methods(problem: SearchProblem, searches: Any) -> dict[str, SearchMethod]:
    """Return the searches that are to be compared, by name."""
    front = problem.staged_goals.front is not None
    if searches is None:
        kinds = {name: kind for name, kind in SEARCHES.items() if name not in SEARCHES_LEFT_OUT}
        able = {name: kind for name, kind in kinds.items() if not front or hasattr(kind, "takes_fronts")}
        return {name: kind() for name, kind in able.items()}
    if not searches:
        raise ModelError("searches is empty: name at least one")
    if isinstance(searches, Mapping):
        return dict(searches)
    unknown = [name for name in searches if name not in SEARCHES]
    if unknown:
        raise ModelError(f"there is no search '{unknown[0]}': {did_you_mean(unknown[0], list(SEARCHES))}")
    if "metamorphic" in searches:
        raise ModelError(
            "the search 'metamorphic' needs pools: give it with them, {'metamorphic': MetamorphicSwarm(...)}"
        )
    return {name: SEARCHES[name]() for name in searches}
