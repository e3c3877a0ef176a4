"""`search`: run a search, generation after generation, and lose nothing of it."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from strut.checks import checked, integer, seed_number, short_repr
from strut.errors import ArgumentError, ModelError
from strut.evolve.best_runs import keep_machine
from strut.evolve.best_so_far import BestSoFar, front_reference
from strut.evolve.evolution import Evolution, read_evolution
from strut.evolve.finals import write_confirmed, write_polished
from strut.evolve.goals import best_first
from strut.evolve.polish import check_polishable
from strut.evolve.problem import SearchProblem
from strut.evolve.searches import Grid, SearchMethod, SearchState, make_search, search_settings
from strut.evolve.store import JobStore, StoredGeneration, is_unbegun, pack_state
from strut.evolve.streams import Purpose, RandomStream
from strut.evolve.workers import Threads, Workers


@dataclass(frozen=True)
class SearchProgress:
    """How far a job is: the run and its generation, from 0, each of so many.

    stage: the number of the goal that the best of the run so far is at, from 1, of so many; 0 where all
        failed. value: of that goal; of a `front` its hypervolume. evaluations_per_second: [1/s] in the last
        generation.
    """

    run: int
    runs: int
    generation: int
    generations: int
    stage: int
    stages: int
    value: float
    evaluations_per_second: float
    front: bool = False

    @property
    def fraction(self) -> float:
        """The part of all generations that is done."""
        return (self.run + (self.generation + 1) / self.generations) / self.runs


class StopRequest(Exception):
    """Somebody asked a job to stop: see `job_lock`."""


@checked
def search(  # noqa: PLR0913 what is searched, how long, where it is kept and where it runs
    problem: SearchProblem,
    method: Any,
    generations: int | None = None,
    *,
    runs: int = 1,
    seed: int = 0,
    output: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[SearchProgress], None] | None = None,
    workers: Any = None,
    polish: bool = False,
    keep: Literal["all", "best"] = "all",
) -> Evolution:
    """Search, and return the `Evolution`: every individual of every generation, and the best.

    method: `Swarm()`, `CmaEs()`, ..., or the name that one has in job files, 'swarm', for its defaults.
    generations: how many; a `Grid` needs none. runs: how often it begins anew with other random numbers.
    seed: of all of them. output: the file that keeps everything while it runs (SQLite); without one it is
    kept in memory. resume: go on with a file that is there, from where it was when it was stopped or
    killed, to the same end; or, with more generations than it was asked for at first, to the end that it
    had come to if it had been asked for these. progress: called after each generation. workers: where
    generations are evaluated, which changes nothing that is found: `Threads()`, this process, unless given;
    `Processes()` for Python functions, `RayWorkers()` for a cluster. Those that are given are not closed.
    polish: improve the best of each run at its end by exact gradients, where the goal is smooth; see
    `evolve.polish`. keep: of each generation that is done 'all' individuals, or the 'best' alone, so that
    files stay small.

    A keyboard interrupt, or `strut jobs FILE --stop`, ends it between two writes; what was done is in the
    file and in what is returned, whose `finished` is then false.
    """
    if isinstance(method, str):
        method = make_search({"kind": method})
    if isinstance(method, type) or not hasattr(method, "begin"):
        raise ArgumentError(
            f"method is {short_repr(method)}: a search is needed, such as Swarm(population=20), or 'swarm'"
        )
    if workers is not None and (isinstance(workers, type) or not hasattr(workers, "evaluate")):
        raise ArgumentError(
            f"workers is {short_repr(workers)}: give Threads(), Processes() or RayWorkers(), or nothing"
        )
    seed_number(seed)
    integer("runs", runs, 1)
    if generations is None and isinstance(method, Grid):
        generations = method.generations_needed(problem.space)
    count = integer("generations", generations, 1)
    spec = {
        "problem": problem.settings(),
        "search": search_settings(method),
        "generations": count,
        "runs": runs,
        "seed": str(seed),
        **({"polish": True} if polish else {}),
        **({"kept": "best", "evaluated_per_generation": method.population} if keep == "best" else {}),
    }
    if problem.staged_goals.front is not None and not getattr(method, "takes_fronts", False):
        raise ModelError(
            f"the goal is a front, and {type(method).__name__} compares individuals by one goal: take Nsga2, "
            "or give one goal"
        )
    if polish:
        check_polishable(problem)
    # what cannot begin, for a missing library or a wrong pool, leaves no file
    method.begin(problem.space, RandomStream(seed).draws(0, Purpose.BEGIN), count)
    path = None if output is None else Path(output).expanduser()
    if resume and path is not None and path.is_file() and not is_unbegun(path):
        _check_schedule(path, problem, method, seed, count)
    store = JobStore(path, spec, resume=resume)
    crew: Workers = Threads() if workers is None else workers
    try:
        keep_machine(store, problem.evaluation)
        try:
            for run in range(runs):
                if not store.runs().get(run, False):
                    job = _SearchRun(
                        problem, method, store, crew, RandomStream(seed, run), run, runs, count, polish, keep
                    )
                    job.go_on(progress)
                    job.end()
                    store.write_finished(run)
        except (KeyboardInterrupt, StopRequest):
            pass
        return read_evolution(store, problem)
    finally:
        store.close()
        if workers is None:
            crew.close()


def _check_schedule(
    path: Path, problem: SearchProblem, method: SearchMethod, seed: int, generations: int
) -> None:
    """Raise ModelError where a file was asked for another number of generations, and the search does
    something else for these from the beginning on, as where its noise falls until the last."""
    store = JobStore(path, read_only=True)
    before = store.spec.get("generations", generations)
    store.close()
    if before == generations:
        return
    states = [
        method.begin(problem.space, RandomStream(seed).draws(0, Purpose.BEGIN), each)
        for each in (before, generations)
    ]
    if pack_state(states[0]) != pack_state(states[1]):
        raise ModelError(
            f"{path} was laid out for {before} generations: {type(method).__name__} has a schedule over "
            f"them, and would do other things for {generations} from the beginning on; begin another file"
        )


@dataclass(frozen=True)
class _SearchRun:
    """One run of a search."""

    problem: SearchProblem
    method: SearchMethod
    store: JobStore
    workers: Workers
    stream: RandomStream
    run: int
    runs: int
    generations: int
    polish: bool
    keep: Literal["all", "best"]

    def end(self) -> None:
        """Evaluate the best again or polish it, where that is asked for."""
        if self.problem.confirm:
            write_confirmed(self.store, self.problem, self.workers, self.stream, self.run)
        elif self.polish:
            write_polished(self.store, self.problem, self.run)

    def go_on(self, progress: Callable[[SearchProgress], None] | None) -> None:
        """Do all generations that are not done."""
        first, state, stored = self._resume()
        so_far = BestSoFar(self.problem.staged_goals, front_reference(self.store, self.problem.staged_goals))
        for number in range(first):
            keys = self.store.read(self.run, number).keys
            assert keys is not None
            so_far.add(keys, number)
        for k in range(first, self.generations):
            began = clock.perf_counter()
            x = self.method.ask(state, self.stream.draws(k, Purpose.ASK))
            if not len(x):
                return
            self.store.write_population(self.run, k, x)
            measures = self._evaluate(k, x, stored if k == first else None)
            keys = self.problem.keys(x, measures)
            state = self.method.tell(state, x, keys, self.stream.draws(k, Purpose.TELL))
            seconds = clock.perf_counter() - began
            state = self.store.write_state(self.run, k, keys, state, seconds)
            if self.keep == "best":
                best = int(best_first(keys)[0])
                keys = keys[best : best + 1]
                self.store.keep_individual(self.run, k, best, x[best : best + 1], keys)
            so_far.add(keys, k)
            if progress is not None:
                progress(self._progress(k, so_far, len(x) / max(seconds, 1e-9)))

    def _resume(self) -> tuple[int, SearchState, StoredGeneration | None]:
        """Return the generation to be done next, what the search knows before it, and what the store has of
        it."""
        numbers = self.store.generations(self.run)
        last = self.store.read(self.run, numbers[-1]) if numbers else None
        if last is not None and last.state is not None:
            return last.generation + 1, last.state, None
        before = self.store.read(self.run, numbers[-2]).state if len(numbers) > 1 else None
        if before is not None:
            return numbers[-1], before, last
        draws = self.stream.draws(0, Purpose.BEGIN)
        return 0, self.method.begin(self.problem.space, draws, self.generations), last

    def _evaluate(self, generation: int, x: np.ndarray, stored: StoredGeneration | None) -> np.ndarray:
        """Return the measures of a population: those that the store has, and the others evaluated. What
        arrives is written at once, in any order, and returned in that of the population."""
        width = len(self.problem.evaluation.measures)
        measures = np.full((len(x), width), np.nan)
        todo = np.arange(len(x))
        if stored is not None and stored.has_measures.any():
            measures[stored.has_measures] = stored.measures[stored.has_measures]
            todo = np.flatnonzero(~stored.has_measures)
        seeds = self.stream.seeds(generation, len(x), self.problem.repeats)
        while len(todo):
            missing = np.ones(len(todo), dtype=bool)
            with closing(self.workers.evaluate(self.problem, x[todo], seeds[todo])) as shares:
                for share, answers in shares:
                    places, missing[share] = todo[share], False
                    measures[places] = answers.measures
                    self.store.write_measures(
                        self.run, generation, places.tolist(), answers.measures, answers.status
                    )
                    if missing.any() and self._is_asked():
                        break  # what is under way is given up, and evaluated again
            todo = todo[missing]
            self._obey()
        return measures

    def _is_asked(self) -> bool:
        """Whether somebody asks the job to pause or to stop."""
        return self.store.lock is not None and bool(self.store.lock.request())

    def _obey(self) -> None:
        """Pause or stop where that is asked for."""
        if self.store.lock is not None and self.store.lock.wait_while_paused():
            raise StopRequest

    def _progress(self, generation: int, so_far: BestSoFar, rate: float) -> SearchProgress:
        """Return how far the run is. rate: of evaluations [1/s]."""
        stage, value = so_far.stage_and_value
        return SearchProgress(
            run=self.run,
            runs=self.runs,
            generation=generation,
            generations=self.generations,
            stage=stage,
            stages=len(self.problem.staged_goals.goals),
            value=value,
            evaluations_per_second=rate,
            front=bool(len(so_far.front)),
        )
