"""`Processes`: generations are evaluated in processes of this machine, for Python functions."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import sys
import time as clock
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import numpy as np

from strut.checks import integer
from strut.evolve.evaluations.evaluation import Evaluated
from strut.evolve.problem import SearchProblem
from strut.evolve.workers.lost_shares import LostShares
from strut.evolve.workers.workers import Shares, ShareSize, core_count, evaluate_checked, on_one_core

PR_SET_PDEATHSIG = 1
"""Linux's `prctl` option: the signal that a process gets when its parent ends."""
_problem: SearchProblem | None = None
"""What a process of a pool evaluates; set when it is forked."""


class Processes:
    """Evaluates in processes: as many as there are cores unless `count` is given.

    They are forked, so that any function will do, also one that is defined in a notebook. A process that dies
    is replaced, and its share evaluated again.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = core_count() if count is None else integer("count", count, 1)
        self._pool: ProcessPoolExecutor | None = None
        self._problem: SearchProblem | None = None
        self._size = ShareSize()

    def evaluate(self, problem: SearchProblem, x: np.ndarray, seeds: np.ndarray) -> Shares:
        """Yield shares as they arrive."""
        if problem is not self._problem:
            self.close()
            self._problem, self._size = problem, ShareSize()
        shares = LostShares(np.arange(len(x)), whole=not problem.evaluation.divisible)
        running: dict[Future[tuple[Evaluated, float]], np.ndarray] = {}
        suspect = False
        try:
            while shares.backlog or running:
                while shares.backlog and not suspect and len(running) < 2 * self.count:
                    # a process that dies takes the whole pool along: who may have killed it goes alone
                    suspect = shares.next_is_suspect
                    if suspect and running:
                        break
                    places = shares.take(self._size.count)
                    running[self._start(x[places], seeds[places])] = places
                ready, _ = wait(running, return_when=FIRST_COMPLETED)
                suspect = False
                for future in ready:
                    places = running.pop(future)
                    try:
                        answers, seconds = future.result()
                    except BrokenProcessPool:
                        self._drop_pool()
                        failed = shares.give_back(places, len(problem.evaluation.measures))
                        if failed is not None:
                            yield places, failed
                        continue
                    self._size.observe(len(places), seconds)
                    yield places, answers
        finally:
            for future in running:
                future.cancel()

    def close(self) -> None:
        """End the processes."""
        self._drop_pool()
        self._problem = None

    def _start(self, x: np.ndarray, seeds: np.ndarray) -> Future[tuple[Evaluated, float]]:
        """Hand a share to the pool, which is made where there is none or the last one broke."""
        if self._pool is not None:
            try:
                return self._pool.submit(_evaluate_share, x, seeds)
            except BrokenProcessPool:
                self._drop_pool()
        assert self._problem is not None
        self._pool = ProcessPoolExecutor(
            self.count,
            mp_context=multiprocessing.get_context("fork"),
            initializer=_begin,
            initargs=(on_one_core(self._problem),),
        )
        return self._pool.submit(_evaluate_share, x, seeds)

    def _drop_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _begin(problem: SearchProblem) -> None:
    """Begin a process that evaluates a problem."""
    global _problem
    _problem = problem
    end_with_parent()


def end_with_parent() -> None:
    """Let this forked process end with its parent, also where that is killed, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _evaluate_share(x: np.ndarray, seeds: np.ndarray) -> tuple[Evaluated, float]:
    """Evaluate individuals in a process of a pool, and return how long it took [s], too."""
    assert _problem is not None
    began = clock.perf_counter()
    return evaluate_checked(_problem, x, seeds), clock.perf_counter() - began
