"""The search for exoskeletons: a metamorphic swarm over topologies and pairs of actuators, goals in stages
(Kieboom, sections 5.4 and 5.5, tables 5.2 and 5.3)."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve, linkage
from strut.evolve.search import StopRequest
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws
from strut.studies.exoskeleton_designs import DesignSpace, chosen_groups, pin_name
from strut.studies.exoskeleton_evaluation import DURATION, ExoskeletonEvaluation
from strut.studies.exoskeleton_measures import walking_goals
from strut.studies.exoskeleton_screening import MIN_SOUNDNESS, sound_designs
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.studies.study import SECONDS_PER_MINUTE

POPULATION, GENERATIONS, RUNS = 200, 800, 5
"""Particles, generations and runs of the search in the thesis; how often it was run is not printed."""
SEED = 1
"""Seed of the first run, unless another is asked for."""
EXPLORE_SCHEDULE = "0.05 * (1 - 1 / (1 + exp(-(k - 0.5*n) / (0.05*n))))"
"""P_e, the probability that a particle migrates to any subspace in generation k of n: 1 in 20 at first, none
in the second half."""
OWN_BEST_SCHEDULE = "0.05 * exp(-((k - 0.55*n) / (0.12*n))**2)"
"""P_l, the probability that it migrates to the subspace of its own best: largest a little after the
middle."""
SWARM_BEST_SCHEDULE = "0.2 / (1 + exp(-(k - 0.69*n) / (0.02*n)))"
"""P_g, the probability that it migrates to the subspace of the swarm's best: from about 500 of 800
generations on."""
MAX_VELOCITY = 0.2
"""[1] Part of a range that a particle may cross in a generation."""
GOAL_NAMES = ("singularity", "bars", "time", "speed", "power")
"""The goals, in a word each."""
LIMIT_NAMES = {"peak_power": "peak power", "peak_interaction": "peak force"}
"""Goals of peaks, where they are asked for: by measure, in two words each."""
FIRST_SPEED = 0.1
"""[1] Part of the first range of a parameter that a particle may cross in the first generation."""


def slow_down(space: ParameterSpace, velocities: np.ndarray, max_velocity: float) -> np.ndarray:
    """Return first velocities that are small against the ranges of the first population.

    velocities: with which a swarm begins. max_velocity: of its particles, as a part of a range [1]."""
    first = np.array([each.first or (each.low, each.high) for each in space.parameters])
    return np.asarray(velocities * FIRST_SPEED / max_velocity * (first[:, 1] - first[:, 0]) / space.span)


@dataclass(frozen=True)
class SlowSwarm(evolve.Swarm):
    """A swarm whose particles begin slowly, so that they do not leave at once what walks."""

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Scatter the particles over the first range."""
        state = super().begin(space, draws, generations)
        return state | {"v": slow_down(space, state["v"], self.max_velocity)}


@dataclass(frozen=True)
class ScreenedSwarm(evolve.MetamorphicSwarm):
    """A metamorphic swarm whose particles begin with pins that carry a stride, which a few in a hundred of
    random ones do, and slowly, so that they do not leave at once what walks. fixed: values of parameters that
    are not searched, as of `DesignSpace`: the pins that are searched fit to those that are kept."""

    fixed: Mapping[str, float] = field(default_factory=dict)

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Spread the particles, then give each of them pins that pass, of every topology."""
        state = super().begin(space, draws, generations)
        x = state["x"].copy()
        pools = next(iter(self.pools.values()))
        groups = chosen_groups(list(pools))
        names = list(pools)
        for number in dict.fromkeys(group.number for group in groups.values()):
            topology = next(group.topology for group in groups.values() if group.number == number)
            pins = [each.name for each in linkage.pin_parameters(topology)]
            searched_pins = [k for k, name in enumerate(pins) if pin_name(number, name) in space.names]
            if not searched_pins:
                continue
            places = space.places([pin_name(number, pins[k]) for k in searched_pins], f"topology {number}")
            kept_pins = [(name, self.fixed.get(pin_name(number, name))) for name in pins]
            designs, passes_with = sound_designs(
                number, tuple((name, value) for name, value in kept_pins if value is not None)
            )
            chance = draws.uniform(len(x))
            for k in range(len(x)):
                own = groups[names[int(state["groups"][k, 0])]]
                pair = own.actuators if own.number == number else None
                passing = np.arange(len(designs)) if pair is None else np.flatnonzero(passes_with[pair])
                if len(passing):
                    x[k, places] = designs[passing[int(chance[k] * len(passing))], searched_pins]
        return state | {"x": x, "v": slow_down(space, state["v"], self.swarm.max_velocity)}


def goal_names(limited: Collection[str] = ()) -> tuple[str, ...]:
    """Return what goals are called. limited: measures whose limits come before power."""
    return (*GOAL_NAMES[:-1], *[LIMIT_NAMES.get(name, name) for name in limited], GOAL_NAMES[-1])


def exoskeleton_goals(
    duration: float = DURATION, limits: Mapping[str, float] | None = None
) -> list[evolve.SearchGoal]:
    """Return the goals of table 5.3: no singularity, short bars, not to fall, the speed with little
    assistance, little power. The first two come first, since who does not reach them is not simulated.
    limits: of measures that come before power, as of `walking_goals`."""
    return [
        evolve.maximise("soundness", until=f"soundness > {MIN_SOUNDNESS!r}"),
        evolve.minimise("longest_bar", until=f"longest_bar <= {MAX_BAR_LENGTH!r}"),
        *walking_goals(duration, limits=limits),
    ]


def exoskeleton_problem(
    groups: Sequence[str] | None = None,
    fixed: Mapping[str, float] | None = None,
    *,
    duration: float = DURATION,
    processes: int | None = None,
    limits: Mapping[str, float] | None = None,
    **options: Any,
) -> evolve.SearchProblem:
    """Return the search for exoskeletons.

    groups: topologies and pairs, as "2-15", or "2" for all pairs of a topology; all 126 unless given. fixed:
    values of parameters that are kept, see `DesignSpace`. duration: of a walk [s]. processes: of the
    evaluation; None for as many as there are cores. limits: goals before that of power, by measure, as
    {"peak_power": 1500.0, "peak_interaction": 2000.0} [W, N]: with them forces and peaks are measured.
    options: of `simulate_batch`.
    """
    space = DesignSpace(chosen_groups(groups), fixed or {})
    evaluation = ExoskeletonEvaluation(space, duration, options, processes, worn=bool(limits))
    return evolve.SearchProblem(list(space.parameters), evaluation, exoskeleton_goals(duration, limits))


def exoskeleton_swarm(problem: evolve.SearchProblem, population: int = POPULATION) -> ScreenedSwarm:
    """Return the swarm that searches a problem of `exoskeleton_problem`."""
    assert isinstance(problem.evaluation, ExoskeletonEvaluation)
    return ScreenedSwarm(
        problem.evaluation.space.pools,
        explore=EXPLORE_SCHEDULE,
        own=OWN_BEST_SCHEDULE,
        social=SWARM_BEST_SCHEDULE,
        swarm=evolve.Swarm(population, max_velocity=MAX_VELOCITY),
        fixed=problem.evaluation.space.fixed,
    )


def run_file(folder: Path, run: int) -> Path:
    """Return the file that keeps a run, from 1 on."""
    return folder / f"run{run}.db"


def search_exoskeletons(  # noqa: PLR0913 -- as of a search, by keyword
    folder: Path,
    problem: evolve.SearchProblem,
    *,
    run: int = 1,
    generations: int = GENERATIONS,
    population: int = POPULATION,
    seed: int = SEED,
    minutes: float | None = None,
    progress: Callable[[evolve.SearchProgress], None] | None = None,
    workers: Any = None,
) -> evolve.Evolution:
    """Do one run of the search for exoskeletons, or go on with what the folder has of it; each has a file of
    its own, so that they may go side by side.

    run: its number, from 1, which is added to the seed. minutes: after which it stops, to be gone on with.
    workers: as of `evolve.search`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    began = clock.monotonic()

    def watch(at: evolve.SearchProgress) -> None:
        if progress is not None:
            progress(at)
        if minutes is not None and clock.monotonic() - began > SECONDS_PER_MINUTE * minutes:
            raise StopRequest

    path = run_file(folder, run)
    return evolve.search(
        problem,
        exoskeleton_swarm(problem, population),
        generations,
        seed=seed + run - 1,
        output=path,
        resume=path.is_file(),
        progress=watch,
        workers=workers,
        keep="best",
    )


def progress_line(at: evolve.SearchProgress, names: Sequence[str] = GOAL_NAMES) -> str:
    """Return how far a search is, as a line. names: of its goals."""
    goal = names[at.stage - 1] if at.stage else "none"
    return (
        f"generation {at.generation + 1}/{at.generations} "
        f"({at.evaluations_per_second:.0f} evaluations/s): best at {goal}, {at.value:.4g}"
    )


__all__ = [
    "ScreenedSwarm",
    "SlowSwarm",
    "exoskeleton_goals",
    "exoskeleton_problem",
    "exoskeleton_swarm",
    "goal_names",
    "progress_line",
    "run_file",
    "search_exoskeletons",
]
