"""Runs of a batch in the lanes of cores: several at once in the vector registers of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from strut.codegen import LANES, PRECISIONS, LanesLibrary, Lowered, build_lanes_library, full_lanes
from strut.errors import ModelError
from strut.simulate.batch_task import BatchTask, number_options
from strut.system import Start


def chosen_lanes(lanes: int | str, precision: str, backend: str | None) -> int:
    """Return how many runs a core does at once. Raises `ModelError` for a number that it cannot."""
    if precision not in PRECISIONS:
        raise ModelError(f"precision '{precision}' is unknown: {' or '.join(PRECISIONS)} is allowed")
    if lanes == "auto":
        lanes = full_lanes(precision)
    if lanes == 1:
        return 1
    if lanes not in LANES or isinstance(lanes, bool):
        raise ModelError(
            f"lanes is {lanes!r}: give 1, {', '.join(map(str, LANES))}, or 'auto' for what this processor has"
        )
    if backend is not None:
        raise ModelError(f"backend '{backend}' does one run after the other: leave it out with lanes={lanes}")
    return int(lanes)


def lanes_work(low: Lowered, task: BatchTask, lanes: int, precision: str) -> Callable[[int, int], None]:
    """Return a function that does the runs from one number to before another, so many at once. Those that
    come to an event have status 0, and stand before the step in which it is. Raises `ModelError` for a system
    that has samples, delays or events after which runs go on."""
    chosen = task.options
    library = LanesLibrary(
        build_lanes_library(low, chosen.method, lanes, precision, ledger=bool(chosen.ledger))
    )
    many, options = task.many(), number_options(chosen)
    return lambda first, last: library.do_runs(options, many, first, last)


def rest_of_run(task: BatchTask, run: int) -> BatchTask:
    """Return what is left of a run that stands before an event: from its state on, into its own rows."""
    room, values, own = task.room, task.values, slice(run, run + 1)
    begin = float(room["t"][run])
    to_come = int(np.searchsorted(task.stops, begin, side="right"))
    rows = {name: array if array is None else array[own] for name, array in room.items()}
    rows["y"] = room["y"][own, to_come:]
    here = Start(room["x"][own].copy(), room["z"][own].copy(), values.u[own], values.p[own])
    return replace(task, values=here, begin=begin, stops=task.stops[to_come:], room=rows)


def end_runs_at_events(task: BatchTask, first: int, last: int, do_rest: Callable[[BatchTask], None]) -> None:
    """Go on with the runs from one number to before another that stand before an event. do_rest: does the one
    run of a task."""
    room = task.room
    for run in first + np.flatnonzero(room["status"][first:last] == 0):
        steps = int(room["steps"][run])
        work = None if room["work"] is None else room["work"][run].copy()
        do_rest(rest_of_run(task, int(run)))
        room["steps"][run] += steps
        if work is not None:
            room["work"][run] += work


__all__ = ["chosen_lanes", "end_runs_at_events", "lanes_work"]
