"""`Threads`: generations are evaluated in this process; compiled runs and programs use all its cores."""

from __future__ import annotations

import time as clock

import numpy as np

from strut.evolve.evaluations.encoded import EncodedEvaluation
from strut.evolve.evaluations.program import ProgramEvaluation
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.problem import SearchProblem
from strut.evolve.workers.workers import Shares, ShareSize, core_count, evaluate_checked

INDIVIDUALS_PER_CORE = 4
"""Individuals of the least share, for each core: so that cores wait little for the longest run."""


class Threads:
    """Evaluates in this process. Runs of a machine go to all cores at once, programs to as many processes as
    they may have; a Python function is called here, one individual after the other: `Processes` has it
    called on all cores."""

    def __init__(self) -> None:
        self._size: ShareSize | None = None
        self._problem: SearchProblem | None = None

    def evaluate(self, problem: SearchProblem, x: np.ndarray, seeds: np.ndarray) -> Shares:
        """Yield shares in their order."""
        if self._size is None or problem is not self._problem:
            uses_cores = isinstance(
                problem.evaluation, (SystemEvaluation, EncodedEvaluation, ProgramEvaluation)
            )
            self._size = ShareSize(INDIVIDUALS_PER_CORE * core_count() if uses_cores else 1)
            self._problem = problem
        begin = 0
        while begin < len(x):
            count = self._size.count if problem.evaluation.divisible else len(x)
            places = np.arange(begin, min(begin + count, len(x)))
            began = clock.perf_counter()
            answers = evaluate_checked(problem, x[places], seeds[places])
            self._size.observe(len(places), clock.perf_counter() - began)
            begin += len(places)
            yield places, answers

    def close(self) -> None:
        """End programs that wait for the next request."""
        close = getattr(self._problem and self._problem.evaluation, "close", None)
        if close is not None:
            close()
