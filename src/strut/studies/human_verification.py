"""Bests of searches for a human gait run again: with fine steps in double precision, with located contacts,
and for longer; kept in a file beside the searches. Where the best of a run breaks a goal, the next ones of it
are tried: what counts is the best that holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.errors import StorageError
from strut.evolve.evaluations.encoded import evaluate_together
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import StagedGoals
from strut.files import put
from strut.studies.human_gait import DURATION, GOAL_NAMES, JOINTS, human_goals, human_measures, human_walker

LONG_DURATION = 30.0
"""[s] How long the long run lasts."""
FINE_STEP = 1e-4
"""[s] Of the fine run."""
EXACT_TOLERANCE = 1e-7
"""[1] Relative, and absolute in SI units, of the run whose contacts are located."""
MAX_STEPS = 10**7
"""Steps of that run, at most."""
WAYS = ("fine", "long", "located")
"""How each best is run again, in double precision: with fine steps; with these for longer; with contacts that
are located and steps that are controlled."""
VERIFICATION_FILE = "verified.json"
"""Where the answers are kept."""
MAX_CANDIDATES = 12
"""Individuals of a run that are run again, at most, until one holds."""
CANDIDATE_DISTANCE = 0.005
"""[1] By how much the torque of a candidate is above that of the one before: a swarm improves its best in
small steps, and neighbours break the same goals."""


@dataclass(frozen=True)
class Verified:
    """A best that was run again. individual: as the search left it. measures: by way and by name; of a run
    that broke off there are none. stages: by way, the number of the goal that it is at, from 1. tried: how
    many of its run were run again until this one held; all of them where none did, and it is the best."""

    mode: str
    individual: evolve.Individual
    measures: dict[str, dict[str, float]]
    stages: dict[str, int]
    tried: int = 1

    @property
    def run(self) -> int:
        """The number of its run, from 0."""
        return self.individual.run

    @property
    def kept_stage(self) -> int:
        """The number of the goal that it is at in every way, from 1; 0 where a run broke off."""
        return min(self.stages.values())

    @property
    def holds(self) -> bool:
        """Whether it keeps all goals in every way."""
        return self.kept_stage == len(GOAL_NAMES)

    @property
    def rank(self) -> tuple[float, float]:
        """By which answers are put into order, the best first: goals kept in every way, then torque over the
        long run [N m]."""
        return -self.kept_stage, self.measures["long"]["torque"] if "long" in self.measures else np.inf


def candidates_of(path: Path, evolution: evolve.Evolution) -> dict[int, list[evolve.Individual]]:
    """Return by run the individuals of a file that may be its best, best first: the bests of its generations
    that are at the last goal, some distance apart; the best alone where none is."""
    table = evolve.load_individuals(path)
    names = tuple(evolution.best.parameters)
    chosen: dict[int, list[evolve.Individual]] = {}
    for best in evolution.best_of_run:
        own = np.flatnonzero((table["run"] == best.run) & (table["stage"] == evolution.stages))
        group = [best]
        for k in own[np.argsort(table["value"][own], kind="stable")].tolist():
            value = float(table["value"][k])
            if len(group) < MAX_CANDIDATES and value > (1 + CANDIDATE_DISTANCE) * group[-1].value:
                group.append(
                    evolve.Individual(
                        run=best.run,
                        generation=int(table["generation"][k]),
                        place=int(table["place"][k]),
                        parameters={name: float(table[name][k]) for name in names},
                        measures={name: float(table[name][k]) for name in best.measures},
                        stage=evolution.stages,
                        value=value,
                    )
                )
        chosen[best.run] = group if best.stage == evolution.stages else [best]
    return chosen


def verify_bests(
    folder: Path,
    candidates: Mapping[str, Mapping[int, list[evolve.Individual]]],
    tell: Callable[[str], None],
) -> dict[tuple[str, int], Verified]:
    """Run candidates of every run again in all ways, the best first, until one keeps all goals in each, but
    for those whose answers are in the folder already. candidates: by mode and run, as of `candidates_of`."""
    entries = _read(folder)
    first: dict[tuple[str, int], Verified] = {}
    answers: dict[tuple[str, int], Verified] = {}
    runs = [(mode, run) for mode, own in candidates.items() for run in own]
    for turn in range(MAX_CANDIDATES):
        due = [key for key in runs if key not in answers and turn < len(candidates[key[0]][key[1]])]
        individuals = {key: candidates[key[0]][key[1]][turn] for key in due}
        todo = [(mode, each) for (mode, _), each in individuals.items() if _label(mode, each) not in entries]
        if todo:
            tell(f"{len(todo)} bests are run again, turn {turn + 1}")
            entries |= _run_all_ways(todo)
            _write(folder, entries)
        for key, individual in individuals.items():
            entry = entries[_label(key[0], individual)]
            verified = Verified(key[0], individual, entry["measures"], entry["stages"], turn + 1)
            first.setdefault(key, verified)
            if verified.holds:
                answers[key] = verified
    unheld = {key: replace(first[key], tried=len(candidates[key[0]][key[1]])) for key in runs if key in first}
    return unheld | answers


def _run_all_ways(todo: list[tuple[str, evolve.Individual]]) -> dict[str, Any]:
    """Return what is kept of individuals, each with its mode, that are run again in all ways."""
    entries: dict[str, Any] = {_label(mode, each): {"measures": {}, "stages": {}} for mode, each in todo}
    for way in WAYS:
        _run_again(way, todo, entries)
    return entries


def _run_again(way: str, todo: list[tuple[str, evolve.Individual]], entries: Mapping[str, Any]) -> None:
    """Run individuals again in some way, all at once, and write what was measured into their entries."""
    duration = LONG_DURATION if way == "long" else DURATION
    measured = human_measures(human_walker("table", events=way == "located"), duration)
    inner = evolve.of_system(measured.system, duration, measured.expressions, **_options(way))
    parts = []
    for mode, each in todo:
        names, x = tuple(each.parameters), np.array([list(each.parameters.values())])
        parts.append((evolve.EncodedEvaluation(inner, phase_tables(JOINTS, mode)), names, x))
    goals = StagedGoals(human_goals(duration), inner.measures)
    answers = evaluate_together(parts, np.zeros(1, dtype=np.uint64))
    for (mode, each), evaluated in zip(todo, answers, strict=True):
        entry = entries[_label(mode, each)]
        keys = goals.keys(dict(zip(inner.measures, evaluated.measures.T, strict=True)))
        if evaluated.status[0] == OK:
            values = map(float, evaluated.measures[0])
            entry["measures"][way] = dict(zip(inner.measures, values, strict=True))
        entry["stages"][way] = int(goals.stage(keys[0])) + 1


def _options(way: str) -> dict[str, Any]:
    """How runs are done in some way: options of `simulate_batch`."""
    if way == "located":
        return {"rtol": EXACT_TOLERANCE, "atol": EXACT_TOLERANCE, "max_steps": MAX_STEPS}
    return {"method": "rk4", "step": FINE_STEP, "lanes": "auto"}


def _label(mode: str, best: evolve.Individual) -> str:
    """What a best is called in the file: other parameters have another."""
    text = json.dumps([mode, best.run, sorted(best.parameters.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _read(folder: Path) -> dict[str, Any]:
    """What the file holds; nothing where there is none."""
    path = folder / VERIFICATION_FILE
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text())
    except ValueError as error:
        raise StorageError(f"{path} is damaged ({error}): remove it, and bests are run again") from error
    return dict(entries)


def _write(folder: Path, entries: Mapping[str, Any]) -> None:
    """Keep the answers, all of them or the ones before."""
    put(folder / VERIFICATION_FILE, json.dumps(entries, indent=1))


__all__ = ["LONG_DURATION", "WAYS", "Verified", "candidates_of", "verify_bests"]
