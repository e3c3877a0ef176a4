"""Several starts of a search on several processes: the same numbers as one after the other, sooner."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from strut.interrupts import reveal_interrupts

SAME_COST = 1e-4
"""Two starts agree where their costs do, relative to their size."""


@dataclass(frozen=True)
class Starts:
    """How many starts a search has, how far others are from the first (relative, a standard deviation), and
    the seed of their random numbers."""

    count: int
    spread: float
    seed: int


def can_fork() -> bool:
    """Return whether processes can be copies of this one: systems are expressions, which only a copy has. A
    process of a sweep has none of its own."""
    return (
        sys.platform.startswith("linux")
        and "fork" in multiprocessing.get_all_start_methods()
        and not multiprocessing.current_process().daemon
    )


def run_starts(count: int, one_start: Callable[[int], Any], workers: int | None = None) -> list[Any]:
    """Return what `one_start` returns for 0, 1, ... `count` - 1, each of which must be fit for a pickle.

    workers: processes, as many as there are cores unless given. Where processes cannot fork, one start
    follows the other. What a start raises is raised here.
    """
    workers = min(workers or os.cpu_count() or 1, count)
    if workers < 2 or not can_fork():
        return [one_start(k) for k in range(count)]
    context = multiprocessing.get_context("fork")
    results: list[Any] = [None] * count
    waiting = list(range(count))
    running: dict[int, tuple[Any, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                k = waiting.pop(0)
                receiver, sender = context.Pipe(duplex=False)
                child = context.Process(target=_start_in_child, args=(one_start, k, sender), daemon=True)
                child.start()
                sender.close()
                running[k] = (child, receiver)
            ready = multiprocessing.connection.wait([receiver for _, receiver in running.values()])
            for k, (child, receiver) in list(running.items()):
                if receiver in ready:
                    results[k] = _result_of(receiver, k)
                    child.join()
                    del running[k]
    finally:
        for child, _ in running.values():
            child.terminate()
            child.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def _result_of(receiver: Any, k: int) -> Any:
    """Return what a child sent; a sentence where it was killed before it could."""
    try:
        return receiver.recv()
    except EOFError:
        return RuntimeError(f"the process of start {k} was killed: run it again, or with starts=1")


def _start_in_child(one_start: Callable[[int], Any], k: int, sender: Any) -> None:
    """Run one start in a process of its own, and send what it returns or raises."""
    try:
        with reveal_interrupts():
            result = one_start(k)
        sender.send(result)
    except KeyboardInterrupt:
        return  # whoever asked says so
    except Exception as error:
        sender.send(error)


def count_agreeing(costs: list[float], size: float) -> int:
    """Return how many of the costs of successful starts are the least one. size: that of a cost."""
    least = min(costs, default=0.0)
    return sum(abs(cost - least) <= SAME_COST * size for cost in costs)


__all__ = ["SAME_COST", "Starts", "can_fork", "count_agreeing", "run_starts"]
