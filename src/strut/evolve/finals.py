"""What is done with the best of a run when its generations are done: they are evaluated again where
evaluations are noisy, or polished by gradients."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strut.errors import ModelError
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import best_first
from strut.evolve.polish import polish
from strut.evolve.problem import SearchProblem
from strut.evolve.store import JobStore, StoredFinal
from strut.evolve.streams import Purpose, RandomStream

if TYPE_CHECKING:
    from strut.evolve.workers.workers import Workers

CONFIRMED_COUNT = 10
"""Individuals of a run that are evaluated again: the best, each once."""
CONFIRMED, POLISHED, NOT_POLISHED = "confirmed", "polished", "not polished"
"""What can have been done with an individual at the end."""


def write_confirmed(
    store: JobStore, problem: SearchProblem, workers: Workers, stream: RandomStream, run: int
) -> None:
    """Evaluate the best individuals of a run again, `problem.confirm` times each with seeds of their own, and
    write them. Whoever was the best by luck falls behind."""
    chosen = _best_distinct(store, run)
    again = replace(problem, repeats=problem.confirm, confirm=0)
    x = np.array([row for _, _, row in chosen])
    seeds = stream.seeds(0, len(x), problem.confirm, Purpose.CONFIRM)
    measures, status = np.full((len(x), len(problem.evaluation.measures)), np.nan), [""] * len(x)
    with closing(workers.evaluate(again, x, seeds)) as shares:
        for places, answers in shares:
            measures[places] = answers.measures
            for place, word in zip(places.tolist(), answers.status, strict=True):
                status[place] = word
    keys = problem.keys(x, measures)
    finals = [
        StoredFinal(CONFIRMED, generation, place, x[k], measures[k], keys[k], status[k])
        for k, (generation, place, _) in enumerate(chosen)
    ]
    store.write_finals(run, finals)


def write_polished(store: JobStore, problem: SearchProblem, run: int) -> None:
    """Polish the best individual of a run, and write what became of it."""
    generation, place, row = _best_distinct(store, run)[0]
    present = ~np.isnan(row)
    names = [name for name, has in zip(problem.space.names, present, strict=True) if has]
    try:
        answer = polish(problem, dict(zip(names, row[present].tolist(), strict=True)))
    except ModelError as error:  # the search is done, and stays; why it was not polished is kept with it
        stored = store.read(run, generation)
        assert stored.keys is not None
        status = f"not polished: {error}"
        final = StoredFinal(
            NOT_POLISHED, generation, place, row, stored.measures[place], stored.keys[place], status
        )
        store.write_finals(run, [final])
        return
    x = row.copy()
    x[present] = [answer.parameters[name] for name in names]
    measures = np.array([answer.measures[name] for name in problem.evaluation.measures])
    key = problem.keys(x[None], measures[None])[0]
    store.write_finals(run, [StoredFinal(POLISHED, generation, place, x, measures, key, OK)])


def _best_distinct(store: JobStore, run: int) -> list[tuple[int, int, np.ndarray]]:
    """Return generation, place and parameters of the best individuals of a run, best first, of equal ones the
    first."""
    origins, rows, keys = [], [], []
    for number in store.generations(run):
        stored = store.read(run, number)
        if stored.keys is None:
            continue
        for place in best_first(stored.keys)[:CONFIRMED_COUNT].tolist():
            origins.append((number, place))
            rows.append(stored.x[place])
            keys.append(stored.keys[place])
    chosen: dict[bytes, tuple[int, int, np.ndarray]] = {}
    for k in best_first(np.array(keys)).tolist():
        chosen.setdefault(rows[k].tobytes(), (*origins[k], rows[k]))
    return list(chosen.values())[:CONFIRMED_COUNT]
