"""Processes that share the evaluation of exoskeletons: forked once machines are compiled, so that each has
them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from strut.checks import integer
from strut.evolve.workers.processes import end_with_parent
from strut.evolve.workers.workers import core_count

_owner: Any = None
"""What a forked process does its tasks with."""


class ForkedPool:
    """Calls methods of an object in processes that are forked from this one; with one process, here.

    owner: has `runners`, `on_processor`, and the methods that are called. count: of processes, None for as
    many as there are cores.
    """

    def __init__(self, owner: Any, count: int | None) -> None:
        self.owner = owner
        self.count = core_count() if count is None else integer("processes", count, 1)
        self._pool: ProcessPoolExecutor | None = None
        self._beginning, self._begun = Lock(), False

    def map(self, method: str, tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what a method answers to each task, in their order."""
        if self.count == 1:
            return [getattr(self.owner, method)(*task) for task in tasks]
        self.begin()
        assert self._pool is not None
        futures = [self._pool.submit(_call, method, task) for task in tasks]
        return [future.result() for future in futures]

    def compile_for(self, capability: str) -> list[Path]:
        """Compile machines side by side for cards of a compute capability; nothing is loaded."""
        numbers = list(self.owner.runners)
        if self.count == 1:
            return [self.owner.compile_runner(number, capability) for number in numbers]
        with self._fork_pool(min(self.count, len(numbers))) as pool:
            futures = [pool.submit(_call, "compile_runner", (number, capability)) for number in numbers]
            return [future.result() for future in futures]

    def begin(self) -> None:
        """Compile machines side by side, which leaves them in the cache, load them here, and fork the
        processes. Those of a card are loaded after the fork: a process cannot hand its card down."""
        with self._beginning:
            if self._begun:
                return
            numbers, several = list(self.owner.runners), self.count > 1
            if several and len(numbers) > 1:
                with self._fork_pool(min(self.count, len(numbers))) as pool:
                    list(pool.map(_load, numbers))
            if several and not self.owner.on_processor:
                self._pool = self._fork_pool(self.count)
                self._pool.submit(_rest).result()  # all are forked with the first task
            for number in numbers:
                _load_runner(self.owner, number)
            if several and self.owner.on_processor:
                self._pool = self._fork_pool(self.count)
            self._begun = True

    def _fork_pool(self, count: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            count,
            mp_context=multiprocessing.get_context("fork"),
            initializer=_begin,
            initargs=(self.owner,),
        )

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool, self._begun = None, False


def _begin(owner: Any) -> None:
    """Begin a process that does the tasks of an owner."""
    global _owner
    _owner = owner
    end_with_parent()


def _call(method: str, task: tuple[Any, ...]) -> Any:
    return getattr(_owner, method)(*task)


def _rest() -> None:
    """Do nothing."""


def _load(number: int) -> None:
    _load_runner(_owner, number)


def _load_runner(owner: Any, number: int) -> None:
    """Run a machine as it is for an instant, so that it is compiled or loaded."""
    runner = owner.runners[number]
    values = {**runner.own_values("x"), **runner.own_values("p")}
    owner.run(number, np.array([[values[label] for label in owner.labels[number]]]))


__all__ = ["ForkedPool"]
