"""Evaluations of the search for exoskeletons, on one core: designs of three topologies, screened before they
walk ten seconds on soft ground."""

from __future__ import annotations

import tempfile
import time as clock
from pathlib import Path

from bench.timing import Effort, Row, Section
from strut.studies.exoskeleton_search import exoskeleton_problem, search_exoskeletons

TOPOLOGIES = ("2", "7", "10")
POPULATION = 96  # two of every lane, for each topology
GENERATIONS = 2


def time_search(precision: str, effort: Effort) -> Row:
    """Processor time of an evaluation [s], of first generations: everything that a search does is in it."""
    problem = exoskeleton_problem(TOPOLOGIES, processes=1, lanes="auto", precision=precision)
    times, walking = [], 0.0
    for turn in range(effort.rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            began = clock.process_time()
            evolution = search_exoskeletons(
                Path(folder), problem, generations=GENERATIONS, population=POPULATION, seed=1 + turn
            )
            spent = clock.process_time() - began
        if turn:  # the first one compiles
            times.append(spent / (GENERATIONS * POPULATION))
            walking = max(walking, evolution.best.measures["time"])
    return Row("strut", f"lanes, {precision}", None, tuple(times), f"the best walks for {walking:.1f} s")


def run(effort: Effort) -> list[Section]:
    rows = (time_search("single", effort), time_search("double", effort))
    rates = ", ".join(f"{1 / row.best:.3g} in {row.setting}" for row in rows if row.best)
    title = f"exoskeletons of topologies {', '.join(TOPOLOGIES)}: an evaluation, one core, processor time"
    return [Section(title, "none", rows, f"evaluations per second of a core: {rates}")]
