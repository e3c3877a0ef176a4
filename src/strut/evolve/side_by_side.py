"""`search_side_by_side`: many runs of several searches in step with each other, each generation of all of
them evaluated as one population.

A graphics card takes as long for a hundred individuals as for thousands: runs one after the other would leave
it idle. Of each generation only the best is kept unless all are asked for, with the state of the search, so
that files stay small.
"""

from __future__ import annotations

import hashlib
import time as clock
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from strut.checks import checked, integer, positive, seed_number
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.evolve.best_so_far import BestSoFar
from strut.evolve.evaluations.encoded import EncodedEvaluation, evaluate_together
from strut.evolve.evaluations.evaluation import Evaluated
from strut.evolve.evolution import Evolution, read_evolution
from strut.evolve.goals import best_first
from strut.evolve.problem import SearchProblem
from strut.evolve.searches import SearchMethod, SearchState, search_settings
from strut.evolve.store import JobStore
from strut.evolve.streams import Purpose, RandomStream


@dataclass(frozen=True)
class SideBySideProgress:
    """How far searches are that go side by side.

    generation: that was done, from 0, of so many. stages: by search, how many of its runs have their best at
    each goal, from the first; bests: by search, the least or largest value among those that are furthest.
    seconds: of this generation. individuals: in it.
    """

    generation: int
    generations: int
    stages: Mapping[str, tuple[int, ...]]
    bests: Mapping[str, float]
    seconds: float
    individuals: int


@dataclass(eq=False)
class _RunInStep:
    """One run of one search on its way: where it is, and what it knows."""

    label: str
    problem: SearchProblem
    store: JobStore
    stream: RandomStream
    run: int
    next: int
    state: SearchState
    best: BestSoFar
    x: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))


@checked
def search_side_by_side(  # noqa: PLR0913 -- as of `search`, and what several of them have besides
    problems: Mapping[str, SearchProblem],
    method: Any,
    generations: int,
    *,
    runs: int = 1,
    seed: int = 0,
    folder: str | Path,
    keep: Literal["best", "all"] = "best",
    resume: bool = False,
    first: Mapping[str, Any] | None = None,
    minutes: float | None = None,
    progress: Callable[[SideBySideProgress], None] | None = None,
) -> dict[str, Evolution]:
    """Search several problems, each in several runs, all in step, and return an `Evolution` of each.

    problems: by name; one system evaluates all of them (`EncodedEvaluation` with one `inner`). method,
    generations, runs, seed: as of `search`. folder: where NAME.db of each is kept. keep: of each generation
    the 'best' alone, or 'all' individuals, as `search` does. resume: go on with files that are there. first:
    by name of a problem, where its first generation is: an array, runs x individuals x parameters, as
    `load_personal_bests` returns it; of a method that begins in places of its own (`Swarm`). minutes: about
    how long; what is not done then is done when it is resumed. progress: called after each generation.

    A keyboard interrupt, or `strut jobs FILE --stop` of any of the files, ends it after the generation that
    is under way, and `--pause` lets all of them wait: they go in step. Where they are evaluated is said by
    their one `inner`, of_system(..., threads=..., device='cuda'), as one batch: there are no `workers`, so
    neither other processes nor a cluster; of a generation that is killed nothing is kept, and it is done
    again.
    """
    seed_number(seed)
    count, runs = integer("generations", generations, 1), integer("runs", runs, 1)
    limit = np.inf if minutes is None else 60 * positive("minutes", minutes)
    began = clock.perf_counter()
    _check_problems(problems)
    begins = _first_populations(first or {}, problems, runs, method.population)
    place = Path(folder).expanduser()
    place.mkdir(parents=True, exist_ok=True)
    stores: dict[str, JobStore] = {}
    try:
        for label, problem in problems.items():
            spec = _spec(problem, method, count, runs, seed) | ({"kept": "best"} if keep == "best" else {})
            if label in begins:
                spec["first"] = hashlib.sha256(begins[label].tobytes()).hexdigest()[:16]
            method.begin(problem.space, RandomStream(seed).draws(0, Purpose.BEGIN), count)
            stores[label] = JobStore(place / f"{label}.db", spec, resume=resume)
        strands = [
            _run_in_step(
                label,
                problem,
                method,
                stores[label],
                RandomStream(seed, run),
                generations=count,
                first=begins[label][run] if label in begins else None,
            )
            for label, problem in problems.items()
            for run in range(runs)
        ]
        with suppress(KeyboardInterrupt):
            _go_on(strands, method, count, keep=keep, deadline=began + limit, progress=progress)
        return {label: read_evolution(stores[label], problem) for label, problem in problems.items()}
    finally:
        for store in stores.values():
            store.close()


def _check_problems(problems: Mapping[str, SearchProblem]) -> None:
    """Raise `ModelError` where problems cannot be evaluated together."""
    if not problems:
        raise ModelError("nothing is searched: give at least one problem by name")
    evaluations = [problem.evaluation for problem in problems.values()]
    first = evaluations[0]
    for name, problem in problems.items():
        own = problem.evaluation
        if not isinstance(own, EncodedEvaluation) or not isinstance(first, EncodedEvaluation):
            raise ModelError(f"'{name}' is not evaluated by an EncodedEvaluation: use `search` for it")
        if own.inner is not first.inner:
            raise ModelError(f"'{name}' is evaluated by another system than the others: give all one `inner`")
        if problem.staged_goals.front is not None:
            raise ModelError(f"'{name}' has a front for its goal: use `search` for it")
        if problem.confirm:
            raise ModelError(f"'{name}' has confirm = {problem.confirm}: side by side nothing is confirmed")


def _first_populations(
    first: Mapping[str, Any], problems: Mapping[str, SearchProblem], runs: int, population: int
) -> dict[str, np.ndarray]:
    """Return where the first generations are, checked: within bounds, for every run and individual."""
    begins = {}
    for label, places in first.items():
        if label not in problems:
            raise UnknownNameError(f"first has '{label}': {did_you_mean(label, list(problems))}")
        space, x = problems[label].space, np.array(places, dtype=float)
        shape = (runs, population, len(space))
        if x.shape != shape:
            raise ModelError(
                f"first of '{label}' has the shape {x.shape}: {shape} is needed, runs x individuals x "
                "parameters"
            )
        outside = ~((x >= space.low) & (x <= space.high)).all(axis=(0, 1))
        if outside.any():
            name = space.names[int(np.flatnonzero(outside)[0])]
            raise ModelError(f"first of '{label}' has a '{name}' outside its bounds: search within them")
        begins[label] = x
    return begins


def _spec(
    problem: SearchProblem, method: SearchMethod, generations: int, runs: int, seed: int
) -> dict[str, object]:
    """What a file says of its job."""
    return {
        "problem": problem.settings(),
        "search": search_settings(method),
        "generations": generations,
        "runs": runs,
        "seed": str(seed),
        "evaluated_per_generation": method.population,
    }


def _run_in_step(
    label: str,
    problem: SearchProblem,
    method: SearchMethod,
    store: JobStore,
    stream: RandomStream,
    *,
    generations: int,
    first: np.ndarray | None,
) -> _RunInStep:
    """Return a run where its file says that it is, or at its beginning."""
    state: SearchState | None = None
    run, following = stream.run, 0
    best = BestSoFar(problem.staged_goals)
    for number in store.generations(run):
        stored = store.read(run, number)
        if stored.keys is not None:
            best.add(stored.keys, number)
        if stored.state is not None:
            state, following = stored.state, number + 1
    if state is None:
        state = method.begin(problem.space, stream.draws(0, Purpose.BEGIN), generations)
        if first is not None:
            if "x" not in state or state["x"].shape != first.shape:
                raise ModelError(f"{type(method).__name__} begins in no places of its own: take a Swarm")
            state = state | {"x": first}
    return _RunInStep(label, problem, store, stream, run, following, state, best)


def _go_on(
    strands: list[_RunInStep],
    method: SearchMethod,
    generations: int,
    *,
    keep: Literal["best", "all"],
    deadline: float,
    progress: Callable[[SideBySideProgress], None] | None,
) -> None:
    """Do all generations that are not done, until a time [s] at which another would not end any more, or
    until one of the jobs is asked to stop."""
    longest = 0.0
    while not _is_stopped(strands):
        now = min(each.next for each in strands)
        began = clock.perf_counter()
        if now >= generations or began + longest > deadline:
            return
        due = [each for each in strands if each.next == now]  # those ahead, after a kill, wait
        for each in due:
            each.x = method.ask(each.state, each.stream.draws(now, Purpose.ASK))
        answers = _evaluate(due, now)
        seconds = clock.perf_counter() - began
        for each, answer in zip(due, answers, strict=True):
            keys = each.problem.keys(each.x, answer.measures)
            state = method.tell(each.state, each.x, keys, each.stream.draws(now, Purpose.TELL))
            first = int(best_first(keys)[0])
            rows = slice(first, first + 1) if keep == "best" else slice(None)
            x, status = each.x[rows], answer.status[rows]
            each.store.write_population(each.run, now, x)
            each.store.write_measures(each.run, now, range(len(x)), answer.measures[rows], status)
            each.state = each.store.write_state(each.run, now, keys[rows], state, seconds / len(due))
            each.best.add(keys[rows], now)
            each.next = now + 1
            if each.next == generations:
                each.store.write_finished(each.run)
        seconds = clock.perf_counter() - began
        longest = max(longest, seconds) if now else seconds  # the first one compiles
        if progress is not None:
            individuals = sum(len(each.x) for each in due)
            progress(_progress(strands, now, generations, seconds, individuals))


def _evaluate(due: list[_RunInStep], generation: int) -> list[Evaluated]:
    """Return what counts of the individuals of all runs, each with its repeats, as one population."""
    parts, seeds = [], []
    for each in due:
        problem = each.problem
        repeated = np.repeat(each.x, problem.repeats, axis=0)
        parts.append((_evaluation_of(problem), problem.space.names, repeated))
        seeds.append(each.stream.seeds(generation, len(each.x), problem.repeats).reshape(-1))
    answers = evaluate_together(parts, np.concatenate(seeds))
    return [each.problem.combine_repeats(each.x, answer) for each, answer in zip(due, answers, strict=True)]


def _is_stopped(strands: list[_RunInStep]) -> bool:
    """Wait while one of the jobs is asked to pause; say whether one is asked to stop."""
    stores = {id(each.store): each.store for each in strands}.values()
    answers = [store.lock.wait_while_paused() for store in stores if store.lock is not None]
    return any(answers)


def _evaluation_of(problem: SearchProblem) -> EncodedEvaluation:
    """The evaluation of a problem, which was checked."""
    assert isinstance(problem.evaluation, EncodedEvaluation)
    return problem.evaluation


def _progress(
    strands: list[_RunInStep], generation: int, generations: int, seconds: float, individuals: int
) -> SideBySideProgress:
    """Return how far all are."""
    stages: dict[str, list[int]] = {}
    bests: dict[str, BestSoFar] = {}
    for each in strands:
        goals = each.problem.staged_goals
        counts = stages.setdefault(each.label, [0] * len(goals.goals))
        stage, _ = each.best.stage_and_value
        if stage:
            counts[stage - 1] += 1
        bests.setdefault(each.label, BestSoFar(goals)).add(each.best.key[None], generation)
    values = {label: best.stage_and_value[1] for label, best in bests.items()}
    counted = {label: tuple(counts) for label, counts in stages.items()}
    return SideBySideProgress(generation, generations, counted, values, seconds, individuals)


__all__ = ["SideBySideProgress", "search_side_by_side"]
