"""Runs of a batch in the lanes of cores: several at once in the vector registers of each."""

from __future__ import annotations

from collections.abc import Callable

from strut.codegen import LANES, LanesLibrary, Lowered, build_lanes_library, full_lanes
from strut.errors import ModelError
from strut.simulate.batch_task import BatchTask, number_options


def chosen_lanes(lanes: int | str, precision: str, backend: str | None) -> int:
    """Return how many runs a core does at once. Raises `ModelError` for a number that it cannot."""
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
    """Return a function that does the runs from one number to before another, so many at once. Raises
    `ModelError` for a system that has events, samples or delays."""
    chosen = task.options
    library = LanesLibrary(
        build_lanes_library(low, chosen.method, lanes, precision, ledger=bool(chosen.ledger))
    )
    many, options = task.many(), number_options(chosen)
    return lambda first, last: library.do_runs(options, many, first, last)


__all__ = ["chosen_lanes", "lanes_work"]
