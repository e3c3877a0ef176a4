"""`Evolution`: what a search found, and how it got there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import SearchGoal, StagedGoals, best_first
from strut.evolve.problem import SearchProblem
from strut.evolve.store import JobStore
from strut.tabular import Tabular

AT_BOUND = 1e-3
"""Part of its range within which a parameter lies on a bound."""


@dataclass(frozen=True)
class Individual:
    """One that was evaluated. parameters: those that it has. stage: the number of the goal that it is at,
    from 1; 0 where its evaluation failed. value: of that goal."""

    run: int
    generation: int
    place: int
    parameters: Mapping[str, float]
    measures: Mapping[str, float]
    stage: int
    value: float
    status: str = OK


@dataclass(frozen=True, eq=False)
class Evolution(Tabular):
    """What a search did.

    best: of all. best_of_run: of each run. finished: whether all runs came to their end. evaluations: how
    many individuals were evaluated; failures: how many of them failed, by what was said. at_bounds:
    parameters of the best that lie on a bound of the search, which then decides them.
    """

    best: Individual
    best_of_run: tuple[Individual, ...]
    finished: bool
    evaluations: int
    failures: Mapping[str, int]
    stages: int
    at_bounds: tuple[str, ...] = ()
    history: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every generation of every run: its best stage and value, and those so far."""
        return dict(self.history)

    def __repr__(self) -> str:
        end = "" if self.finished else ", not finished"
        if not self.best.stage:
            return f"<Evolution of {self.evaluations} evaluations: all of them failed{end}>"
        where = f" at goal {self.best.stage} of {self.stages}" if self.stages > 1 else ""
        return f"<Evolution of {self.evaluations} evaluations: best {self.best.value:.6g}{where}{end}>"


def read_evolution(store: JobStore, problem: SearchProblem) -> Evolution:
    """Return what stands in a store."""
    return _evolution_in(store, problem.staged_goals, problem.space.names, problem.evaluation.measures)


@checked
def load_evolution(path: str | Path) -> Evolution:
    """Return what a file of a job holds, also while the job runs."""
    store = JobStore(Path(path).expanduser(), read_only=True)
    try:
        return _evolution_in(store, *_goals_and_names(store))
    finally:
        store.close()


def _goals_and_names(store: JobStore) -> tuple[StagedGoals, tuple[str, ...], tuple[str, ...]]:
    """Return goals and names of parameters and measures as a file says them."""
    problem = store.spec["problem"]
    names = tuple(each["name"] for each in problem["parameters"])
    measures = tuple(problem["evaluation"]["measures"])
    return (
        StagedGoals([SearchGoal(**each) for each in problem["goals"]], [*measures, *names]),
        names,
        measures,
    )


@checked
def load_individuals(path: str | Path) -> dict[str, np.ndarray]:
    """Return every individual of a file of a job, as columns: run, generation, place, status, the number of
    the goal that it is at (from 1; 0 where it failed), the value of that goal, parameters and measures. Those
    of a generation that is not done are left out."""
    store = JobStore(Path(path).expanduser(), read_only=True)
    try:
        goals, names, measures = _goals_and_names(store)
        parts: list[tuple[np.ndarray, ...]] = []
        status: list[str] = []
        for run in store.runs():
            for number in store.generations(run):
                stored = store.read(run, number)
                if stored.keys is None:
                    continue
                count = len(stored.x)
                stages = np.array([goals.stage_and_value(key) for key in stored.keys])
                place = np.column_stack([np.full(count, run), np.full(count, number), np.arange(count)])
                parts.append((place, stages, stored.x, stored.measures))
                status += stored.status
    finally:
        store.close()
    if not parts:
        raise ModelError(f"no generation of {path} was finished: there is nothing to show yet")
    table = np.hstack([np.concatenate(column) for column in zip(*parts, strict=True)])
    heads = ("run", "generation", "place", "stage", "value", *names, *measures)
    return {name: table[:, k] for k, name in enumerate(heads)} | {"status": np.array(status)}


def _evolution_in(
    store: JobStore, goals: StagedGoals, names: tuple[str, ...], measures: tuple[str, ...]
) -> Evolution:
    """Return what stands in a store: go through its generations, and keep the best of each run."""
    rows: list[tuple[float, ...]] = []
    bests: list[Individual] = []
    failures: dict[str, int] = {}
    evaluations = 0
    finished = store.runs()
    for run in finished:
        so_far: np.ndarray | None = None
        for number in store.generations(run):
            stored = store.read(run, number)
            evaluations += int(stored.has_measures.sum())
            for word in stored.status:
                if word not in (OK, ""):
                    failures[word] = failures.get(word, 0) + 1
            if stored.keys is None:
                continue
            first = int(best_first(stored.keys)[0])
            key = stored.keys[first]
            if so_far is None or tuple(key) < tuple(so_far):
                so_far = key
                own = {
                    name: float(v) for name, v in zip(names, stored.x[first], strict=True) if not np.isnan(v)
                }
                measured = dict(zip(measures, map(float, stored.measures[first]), strict=True))
                stage, value = goals.stage_and_value(key)
                best = Individual(run, number, first, own, measured, stage, value, stored.status[first])
            rows.append((run, number, *goals.stage_and_value(key), *goals.stage_and_value(so_far)))
        if so_far is not None:
            bests.append(best)
    if not bests:
        raise ModelError("no generation was finished: there is nothing to show yet")
    order = best_first(np.array([_key(goals, each) for each in bests]))
    heads = ("run", "generation", "stage", "value", "best_stage", "best_value")
    best = bests[int(order[0])]
    return Evolution(
        best=best,
        best_of_run=tuple(bests),
        finished=bool(finished) and all(finished.values()) and len(finished) == store.spec["runs"],
        evaluations=evaluations,
        failures=failures,
        stages=len(goals.goals),
        at_bounds=_at_bounds(store.spec["problem"]["parameters"], best),
        history={name: np.array(column) for name, column in zip(heads, zip(*rows, strict=True), strict=True)},
    )


def _at_bounds(parameters: list[dict[str, Any]], best: Individual) -> tuple[str, ...]:
    """Return the names of parameters that lie on a bound of the search."""
    names = []
    for each in parameters:
        value = best.parameters.get(each["name"])
        if value is None:
            continue
        reach = AT_BOUND * (each["high"] - each["low"])
        if value - each["low"] <= reach or each["high"] - value <= reach:
            names.append(str(each["name"]))
    return tuple(names)


def _key(goals: StagedGoals, individual: Individual) -> tuple[float, float]:
    """Return the key of an individual, as of `StagedGoals.keys`: `StagedGoals.stage_and_value` backwards."""
    if individual.stage < 1:
        return (len(goals.goals) + 1.0, np.inf)
    sign = -1.0 if goals.goals[individual.stage - 1].sense == "maximise" else 1.0
    return (len(goals.goals) - individual.stage + 1.0, sign * individual.value)
