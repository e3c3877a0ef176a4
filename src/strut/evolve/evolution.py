"""`Evolution`: what a search found, and how it got there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import NoGenerationError, StorageError, StrutError
from strut.evolve.best_so_far import BestSoFar, front_reference
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.fronts import compromise, hypervolume, is_on_front
from strut.evolve.goals import StagedGoals, best_first, stage_of
from strut.evolve.individual import Individual
from strut.evolve.pareto import ParetoFront
from strut.evolve.problem import SearchProblem
from strut.evolve.store import JobStore, StoredFinal, StoredGeneration
from strut.tabular import Tabular

AT_BOUND = 1e-3
"""Part of its range within which a parameter lies on a bound."""


@dataclass(frozen=True, eq=False)
class Evolution(Tabular):
    """What a search did.

    best: of all. best_of_run: of each run. Of a front that is a compromise: the one nearest to the best of
    each goal, goals counting from 0 to 1 over the front; `front` has them all, of every run. finished:
    whether all runs came to their end. evaluations: how many individuals were evaluated; failures: how many
    of them failed, by what was said. at_bounds: parameters of the best that lie on a bound of the search,
    which then decides them. seconds: that its generations took [s].
    """

    best: Individual
    best_of_run: tuple[Individual, ...]
    finished: bool
    evaluations: int
    failures: Mapping[str, int]
    stages: int
    at_bounds: tuple[str, ...] = ()
    front: ParetoFront | None = None
    seconds: float = 0.0
    history: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every generation of every run: its best stage and value, and those so far; the value of a
        front is its hypervolume."""
        return dict(self.history)

    def __repr__(self) -> str:
        end = "" if self.finished else ", not finished"
        if not self.best.stage:
            return f"<Evolution of {self.evaluations} evaluations: all of them failed{end}>"
        if self.front is not None:
            front = f"a front of {len(self.front)}, hypervolume {self.front.hypervolume:.6g}"
            return f"<Evolution of {self.evaluations} evaluations: {front}{end}>"
        where = f" at goal {self.best.stage} of {self.stages}" if self.stages > 1 else ""
        return f"<Evolution of {self.evaluations} evaluations: best {self.best.value:.6g}{where}{end}>"


def read_evolution(store: JobStore, problem: SearchProblem) -> Evolution:
    """Return what stands in a store."""
    return _evolution_in(store, problem.staged_goals, problem.space.names, problem.evaluation.measures)


@contextmanager
def _open_to_read(path: str | Path) -> Iterator[JobStore]:
    """Open a file of a job to read from it; what is damaged in it is told as that."""
    try:
        with closing(JobStore(Path(path).expanduser(), read_only=True)) as store:
            yield store
    except StrutError:
        raise
    except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StorageError(f"{path} is damaged, or is no file of a job: {error}") from error


@checked
def load_evolution(path: str | Path) -> Evolution:
    """Return what a file of a job holds, also while the job runs."""
    with _open_to_read(path) as store:
        return _evolution_in(store, *_goals_and_names(store))


def _goals_and_names(store: JobStore) -> tuple[StagedGoals, tuple[str, ...], tuple[str, ...]]:
    """Return goals and names of parameters and measures as a file says them."""
    problem = store.spec["problem"]
    names = tuple(each["name"] for each in problem["parameters"])
    measures = tuple(problem["evaluation"]["measures"])
    return (
        StagedGoals([stage_of(each) for each in problem["goals"]], [*measures, *names]),
        names,
        measures,
    )


@checked
def load_individuals(path: str | Path) -> dict[str, np.ndarray]:
    """Return every individual of a file of a job, as columns: run, generation, place, status, the number of
    the goal that it is at (from 1; 0 where it failed), the value of that goal (nan at a front), parameters
    and measures. Those of a generation that is not done are left out."""
    with _open_to_read(path) as store:
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
    if not parts:
        raise NoGenerationError(f"no generation of {path} was finished: there is nothing to show yet")
    table = np.hstack([np.concatenate(column) for column in zip(*parts, strict=True)])
    heads = ("run", "generation", "place", "stage", "value", *names, *measures)
    return {name: table[:, k] for k, name in enumerate(heads)} | {"status": np.array(status)}


def _evolution_in(
    store: JobStore, goals: StagedGoals, names: tuple[str, ...], measures: tuple[str, ...]
) -> Evolution:
    """Return what stands in a store: go through its generations, and keep the best of each run."""
    rows: list[tuple[float, ...]] = []
    standings: dict[int, BestSoFar] = {}
    failures: dict[str, int] = {}
    evaluations, seconds = 0, 0.0
    finished = store.runs()
    reference = front_reference(store, goals)
    for run in finished:
        standing = BestSoFar(goals, reference)
        for number in store.generations(run):
            stored = store.read(run, number)
            # of a job that keeps the best of each generation alone, its file says how many there were
            evaluations += int(store.spec.get("evaluated_per_generation", stored.has_measures.sum()))
            for word in stored.status:
                if word not in (OK, ""):
                    failures[word] = failures.get(word, 0) + 1
            seconds += stored.seconds
            if stored.keys is None:
                continue
            own = BestSoFar(goals, reference)
            own.add(stored.keys, number)
            standing.add(stored.keys, number)
            standings[run] = standing
            rows.append((run, number, *own.stage_and_value, *standing.stage_and_value))
    if not standings:
        raise NoGenerationError("no generation was finished: there is nothing to show yet")
    reader = _IndividualReader(store, goals, names, measures)
    bests, best_keys = zip(*(reader.best(run, each) for run, each in standings.items()), strict=True)
    front = reader.front(standings) if goals.front is not None else None
    order = best_first(np.array(best_keys))
    heads = ("run", "generation", "stage", "value", "best_stage", "best_value")
    best = bests[int(order[0])] if front is None else front.individuals[compromise(reader.front_keys(front))]
    return Evolution(
        best=best,
        best_of_run=tuple(bests),
        finished=bool(finished) and all(finished.values()) and len(finished) == store.spec["runs"],
        evaluations=evaluations,
        failures=failures,
        stages=len(goals.goals),
        at_bounds=_at_bounds(store.spec["problem"]["parameters"], best),
        front=front,
        seconds=seconds,
        history={name: np.array(column) for name, column in zip(heads, zip(*rows, strict=True), strict=True)},
    )


@dataclass(frozen=True)
class _IndividualReader:
    """Reads individuals of a store."""

    store: JobStore
    goals: StagedGoals
    names: tuple[str, ...]
    measures: tuple[str, ...]

    def individual(self, run: int, stored: StoredGeneration, place: int) -> Individual:
        """Return one individual of a generation."""
        assert stored.keys is not None
        key, row = stored.keys[place], zip(self.names, stored.x[place], strict=True)
        stage, value = self.goals.stage_and_value(key)
        labels = self.goals.front_labels if self.goals.at_front(key[None])[0] else ()
        return Individual(
            run=run,
            generation=stored.generation,
            place=place,
            parameters={name: float(v) for name, v in row if not np.isnan(v)},
            measures=dict(zip(self.measures, map(float, stored.measures[place]), strict=True)),
            stage=stage,
            value=value,
            status=stored.status[place],
            goals={name: float(v) for name, v in zip(labels, self.goals.front_values(key[1:]), strict=False)}
            if labels
            else {},
        )

    def best(self, run: int, standing: BestSoFar) -> tuple[Individual, np.ndarray]:
        """Return the best of a run and its key: after its end was written, the best of that; of a front, a
        compromise."""
        finals = self.store.finals(run)
        if finals:
            chosen = finals[int(best_first(np.array([each.key for each in finals]))[0])]
            return self.final(run, chosen), chosen.key
        origin = standing.origin
        if len(standing.front):
            origin = tuple(standing.origins[compromise(standing.front)].tolist())
        return self.individual(run, self.store.read(run, origin[0]), origin[1]), standing.key

    def final(self, run: int, final: StoredFinal) -> Individual:
        """Return an individual as it was at the end of a run."""
        stage, value = self.goals.stage_and_value(final.key)
        row = zip(self.names, final.x, strict=True)
        return Individual(
            run=run,
            generation=final.generation,
            place=final.place,
            parameters={name: float(v) for name, v in row if not np.isnan(v)},
            measures=dict(zip(self.measures, map(float, final.measures), strict=True)),
            stage=stage,
            value=value,
            status=final.status,
            origin=final.kind,
        )

    def front(self, standings: Mapping[int, BestSoFar]) -> ParetoFront | None:
        """Return the front of all runs, or None where no individual is at it."""
        together = [
            (tuple(value), run, *origin)
            for run, each in standings.items()
            for value, origin in zip(each.front.tolist(), each.origins.tolist(), strict=True)
        ]
        if not together:
            return None
        values = np.array([each[0] for each in together])
        firsts = np.unique(values, axis=0, return_index=True)[1]  # ordered by the first goal
        chosen = firsts[is_on_front(values[firsts])]
        generations = {
            key: self.store.read(*key) for key in {(together[k][1], together[k][2]) for k in chosen.tolist()}
        }
        members = [together[k] for k in chosen.tolist()]
        reference = next(each.reference for each in standings.values() if each.reference is not None)
        goal_values = self.goals.front_values(values[chosen])
        return ParetoFront(
            tuple(self.individual(run, generations[run, number], place) for _, run, number, place in members),
            {label: goal_values[:, k] for k, label in enumerate(self.goals.front_labels)},
            hypervolume(values[chosen], reference),
            dict(zip(self.goals.front_labels, self.goals.front_values(reference).tolist(), strict=True)),
        )

    def front_keys(self, front: ParetoFront) -> np.ndarray:
        """Return values of a front, less being better."""
        return self.goals.front_values(np.column_stack(list(front.goals.values())))


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
