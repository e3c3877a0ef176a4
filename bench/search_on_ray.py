"""What evaluating on a Ray cluster costs beside the evaluations."""

from __future__ import annotations

import time

from bench.peers import optional
from bench.timing import Contender, Effort, Section, measure
from strut import evolve

CORES, POPULATION, GENERATIONS, SECONDS = 4, 100, 2, 0.1
"""Of the cluster; of the search; and of an evaluation [s], which sleeps, so that other load matters less."""


def sleep(x: float) -> float:
    """Take a tenth of a second, and no processor."""
    time.sleep(SECONDS)
    return x * x


def run(_: Effort) -> list[Section]:
    ideal = POPULATION * GENERATIONS * SECONDS / CORES
    title = f"{POPULATION * GENERATIONS} evaluations of {SECONDS:g} s on a Ray cluster with {CORES} cores"
    if optional("ray") is None:
        return [
            Section(title, "least value found", measure([Contender("strut RayWorkers")], Effort(1, 0)), "")
        ]
    problem = evolve.SearchProblem({"x": (0.0, 1.0)}, evolve.of_function(sleep), "value")
    workers = evolve.RayWorkers(cores=CORES)
    try:

        def call() -> float:
            search = evolve.search(problem, evolve.Swarm(POPULATION), GENERATIONS, workers=workers)
            return search.best.value

        contender = Contender("strut RayWorkers", f"{CORES} cores", call, call())  # its workers begin here
        rows = measure([contender], Effort(rounds=2, share=0.0, cap=60.0))
    finally:
        workers.close()
    best = rows[0].best
    remark = (
        "" if best is None else f"{best / ideal - 1:.1%} more than {ideal:g} s, which the evaluations take"
    )
    return [Section(title, "least value found", rows, remark)]
