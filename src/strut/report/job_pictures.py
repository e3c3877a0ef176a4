"""Moving pictures of the best individuals of a job, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from strut.errors import ModelError
from strut.evolve import Evolution, Individual, run_individuals
from strut.simulate import Trajectory
from strut.view.pages.result import Chapter

MAX_FILMS = 4
"""Individuals that are shown in motion: the best of all, then those of other runs."""
FILM_SECONDS = 10.0
"""Time [s] of a run that is shown, from its beginning."""


@dataclass
class JobPictures:
    """Runs of individuals, kept so that a live page runs each once. By run, generation and place."""

    runs: dict[tuple[int, int, int], Trajectory] = field(default_factory=dict)

    def chapter(self, path: str | Path, evolution: Evolution) -> list[Chapter]:
        """Return the chapter that shows the best of each run in motion; where the job keeps no machine, one
        that says why nothing is shown."""
        others = [each for each in evolution.best_of_run if _place(each) != _place(evolution.best)]
        bests = [each for each in (evolution.best, *others) if each.stage][:MAX_FILMS]
        try:
            films = dict(zip(map(_title, bests), self.run(path, bests), strict=True))
        except ModelError as error:  # a function, a program, or a machine that has nothing to show
            return [Chapter("In motion", f"Nothing is shown: {error}.")]
        text = f"The best of each run, the first {FILM_SECONDS:g} s of theirs at most."
        return [Chapter("In motion", text, films=films)] if films else []

    def run(self, path: str | Path, individuals: Sequence[Individual]) -> list[Trajectory]:
        """Return runs of individuals of a job, those that were not run before as well; raise ModelError where
        the job keeps no machine that has something to show."""
        missing = [each for each in individuals if _place(each) not in self.runs]
        runs = run_individuals(path, missing, FILM_SECONDS) if missing else []
        self.runs |= {_place(each): run for each, run in zip(missing, runs, strict=True)}
        return [self.runs[_place(each)] for each in individuals]


def _title(individual: Individual) -> str:
    where = f"run {individual.run + 1}, generation {individual.generation + 1}"
    values = [f"{name} {value:.6g}" for name, value in individual.goals.items()]  # of a front, one for each
    return f"{where}: goal {individual.stage}, {', '.join(values) or f'{individual.value:.6g}'}"


def _place(individual: Individual) -> tuple[int, int, int]:
    return individual.run, individual.generation, individual.place
