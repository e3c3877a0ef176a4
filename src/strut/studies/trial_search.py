"""`search_trials`: the search of a study that counts trials, by RLPF, kept in a file and gone on with."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from strut import evolve
from strut.errors import ModelError
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy

TRIALS_FILE = "trials.db"
"""The file in its folder that keeps every trial."""

CarryOut = Callable[[SearchOrder, Callable[[str], None]], SearchOutcome]
"""What does a study that searches."""


def search_trials(
    problem: evolve.SearchProblem,
    method: evolve.ParticleFilter,
    order: SearchOrder,
    tell: Callable[[str], None],
    *,
    trials: int,
) -> evolve.Evolution:
    """Search, or go on with what is in the order's folder, and return what was found.

    trials: how many, unless the order says so; whole generations are done.
    """
    file = order.folder / TRIALS_FILE
    if not order.search:
        if not file.is_file():
            raise ModelError(f"there is no {file} to tell of: search first, or name the folder of a search")
        return evolve.load_evolution(file)
    began = clock.monotonic()

    def progress(at: evolve.SearchProgress) -> None:
        count = (at.generation + 1) * method.population
        whole = at.generations * method.population
        tell(f"{count} of {whole} trials: best {at.value:.5g}, goal {at.stage} of {at.stages}")
        if order.minutes is not None and clock.monotonic() - began > 60 * order.minutes:
            raise KeyboardInterrupt  # as somebody would: it ends between two writes

    order.folder.mkdir(parents=True, exist_ok=True)
    return evolve.search(
        problem,
        method,
        math.ceil((order.trials or trials) / method.population),
        seed=order.seed or 0,
        output=file,
        resume=file.is_file(),
        progress=progress,
    )


def trials_row(evolution: evolve.Evolution, published: str) -> Row:
    """Return how many trials there were."""
    remark = "" if evolution.finished else "stopped before all were done; the same command goes on"
    return Row("trials", published, f"{evolution.evaluations}", remark)


def trial_study(name: str, title: str, source: str, carry_out: CarryOut) -> SearchStudy:
    """Return a study that counts trials; its rows alone are searched for in a folder that is not kept."""

    def rows() -> list[Row]:
        with TemporaryDirectory() as folder:
            return carry_out(SearchOrder(Path(folder)), lambda _: None).rows

    return SearchStudy(name, title, source, rows, carry_out=carry_out, takes=("trials", "seed"))


__all__ = ["TRIALS_FILE", "search_trials", "trial_study", "trials_row"]
