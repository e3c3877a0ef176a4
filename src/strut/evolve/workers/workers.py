"""`Workers`: where a generation is evaluated, in shares that take long enough to be worth handing out."""

from __future__ import annotations

import math
import os
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

import numpy as np

from strut.errors import StrutError
from strut.evolve.evaluations.encoded import EncodedEvaluation
from strut.evolve.evaluations.evaluation import Evaluated, Evaluation
from strut.evolve.evaluations.program import ProgramEvaluation
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.problem import SearchProblem

SHARE_SECONDS = 0.2
"""Time [s] that a share of a generation should take at least: what is lost when a job is killed, and what
handing it out is small against."""
MAX_SHARE_GROWTH = 4
"""How many times larger the next share may be than the last that was timed."""

Shares = Generator[tuple[np.ndarray, Evaluated], None, None]
"""Places of individuals with what was measured there, share by share. Closing it gives up what is under
way."""


class Workers(Protocol):
    """Evaluates generations. Whoever does it, and how many there are, changes no result."""

    def evaluate(self, problem: SearchProblem, x: np.ndarray, seeds: np.ndarray) -> Shares:
        """Yield places (rows of x) with what was measured there, in any order, each place once.

        seeds: of each individual, repeats in columns.
        """

    def close(self) -> None:
        """Let go of processes and connections."""


@dataclass
class ShareSize:
    """How many individuals go together, so that a share takes `SHARE_SECONDS`; learned by timing.

    least: never fewer, where one call keeps several cores busy.
    """

    least: int = 1
    seconds_each: float | None = field(default=None, init=False)
    largest_timed: int = field(default=0, init=False)

    def observe(self, count: int, seconds: float) -> None:
        """Learn how long a share took. The first of a worker compiles, so that shorter times count at once,
        and longer ones by half."""
        each = max(seconds, 1e-9) / count
        old = self.seconds_each
        self.seconds_each = each if old is None or each < old else (each + old) / 2
        self.largest_timed = max(self.largest_timed, count)

    @property
    def count(self) -> int:
        """Individuals of the next share."""
        if self.seconds_each is None:
            return self.least
        worthwhile = math.ceil(SHARE_SECONDS / self.seconds_each)
        return max(self.least, min(worthwhile, MAX_SHARE_GROWTH * max(self.largest_timed, 1)))

    @property
    def expected_seconds(self) -> float:
        """How long the next share is likely to take [s]."""
        return SHARE_SECONDS if self.seconds_each is None else self.count * self.seconds_each


def on_one_core(problem: SearchProblem) -> SearchProblem:
    """Return the same problem, evaluated by one core: for a worker among many."""
    return replace(problem, evaluation=_evaluation_on_one_core(problem.evaluation))


def _evaluation_on_one_core(evaluation: Evaluation) -> Evaluation:
    if isinstance(evaluation, SystemEvaluation):
        return replace(evaluation, options={**evaluation.options, "threads": 1})
    if isinstance(evaluation, EncodedEvaluation):
        inner = replace(evaluation.inner, options={**evaluation.inner.options, "threads": 1})
        return replace(evaluation, inner=inner)
    if isinstance(evaluation, ProgramEvaluation):
        return replace(evaluation, workers=1)
    if hasattr(evaluation, "on_one_core"):  # one's own, that says how
        return cast(Evaluation, evaluation.on_one_core())
    return evaluation


def evaluate_checked(problem: SearchProblem, x: np.ndarray, seeds: np.ndarray) -> Evaluated:
    """Return what the problem measures; an evaluation that returns another number of results is refused."""
    answers = problem.evaluate(x, seeds)
    if len(answers.status) != len(x) or len(answers.measures) != len(x):
        raise StrutError(
            f"the evaluation returned {len(answers.status)} results for {len(x)} individuals: one is needed "
            "for each"
        )
    return answers


def core_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
