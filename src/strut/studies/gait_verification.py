"""Bests of searches for gaits run again, and what came of it kept in a file beside the searches. Where the
best of a run breaks a goal, the next ones of it are tried: what counts is the best that holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.errors import StorageError
from strut.evolve.evaluations.encoded import evaluate_together
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import StagedGoals
from strut.files import put

VERIFICATION_FILE = "verified.json"
"""Where the answers are kept."""
MAX_CANDIDATES = 12
"""Individuals of a run that are run again, at most, until one holds."""
CANDIDATE_DISTANCE = 0.005
"""[1] By how much the last goal of a candidate is above that of the one before: a swarm improves its best in
small steps, and neighbours break the same goals."""
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
WAY_WORDS = {
    "fine": "steps of 0.1 ms in double precision",
    "located": "located contacts, controlled steps",
    "long": f"{LONG_DURATION:g} s of steps of 0.1 ms",
}
"""What each way is, in a table."""


@dataclass(frozen=True, eq=False)
class WayToRun:
    """How bests are run again in some way. evaluations: by mode, all of one system. goals: that are asked of
    them."""

    evaluations: Mapping[str, evolve.EncodedEvaluation]
    goals: Sequence[evolve.SearchGoal]


@dataclass(frozen=True)
class Verified:
    """A best that was run again. individual: as the search left it. measures: by way and by name; of a run
    that broke off there are none. stages: by way, the number of the goal that it is at, from 1, of so many
    goals. tried: how many of its run were run again until this one held; all of them where none did, and it
    is the best."""

    mode: str
    individual: evolve.Individual
    measures: dict[str, dict[str, float]]
    stages: dict[str, int]
    goals: int
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
        return self.kept_stage == self.goals

    @property
    def rank(self) -> tuple[float, float]:
        """By which answers are put into order, the best first: goals kept in every way, then the last goal as
        the search left it."""
        return -self.kept_stage, self.individual.value


def at_last_goal(verified: Mapping[tuple[str, int], Verified]) -> dict[tuple[str, int], evolve.Individual]:
    """Return by mode and run the bests that hold, or that a search left at its last goal."""
    return {
        key: each.individual
        for key, each in verified.items()
        if each.holds or each.individual.stage == each.goals
    }


def difference_text(own: Sequence[Verified], way: str, measure: str) -> str:
    """Return by how much a measure of bests at the last goal differs in some way from what the search had of
    it, as text; empty where none is there. measure: the last goal."""
    differences = [
        100 * abs(answer.measures[way][measure] / answer.individual.value - 1)
        for answer in own
        if way in answer.measures and answer.individual.stage == answer.goals
    ]
    if not differences:
        return ""
    middle, most = np.median(differences), max(differences)
    return f"from the search's it differs by {middle:.2f} % in the median, {most:.2f} % at most"


def way_options(way: str) -> dict[str, Any]:
    """Return how runs are done in some way of `WAYS`: options of `simulate_batch`."""
    if way == "located":
        return {"rtol": EXACT_TOLERANCE, "atol": EXACT_TOLERANCE, "max_steps": MAX_STEPS}
    return {"method": "rk4", "step": FINE_STEP, "lanes": "auto"}


def candidates_of(
    path: Path, evolution: evolve.Evolution, most: int = MAX_CANDIDATES, distance: float = CANDIDATE_DISTANCE
) -> dict[int, list[evolve.Individual]]:
    """Return by run the individuals of a file that may be its best, best first: the bests of its generations
    that are at the last goal, some distance apart; the best alone where none is. most: of a run. distance:
    part by which the last goal of one is above that of the one before [1]."""
    table = evolve.load_individuals(path)
    names = tuple(evolution.best.parameters)
    chosen: dict[int, list[evolve.Individual]] = {}
    for best in evolution.best_of_run:
        own = np.flatnonzero((table["run"] == best.run) & (table["stage"] == evolution.stages))
        group = [best]
        for k in own[np.argsort(table["value"][own], kind="stable")].tolist():
            value = float(table["value"][k])
            if len(group) < most and value > (1 + distance) * group[-1].value:
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


Candidates = Mapping[str, Mapping[int, list[evolve.Individual]]]
"""By mode and run, the individuals that may be its best, best first."""


def verify_bests(
    folder: Path,
    candidates: Candidates,
    ways: Mapping[str, Callable[[], WayToRun]],
    tell: Callable[[str], None],
) -> dict[tuple[str, int], Verified]:
    """Run candidates of every run again in all ways, the best first, until one keeps all goals in each, but
    for those whose answers are in the folder already. ways: by name, what makes each, which may be compiled.
    """
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
            entries |= run_all_ways(todo, ways)
            put(folder / VERIFICATION_FILE, json.dumps(entries, indent=1))
        for key, individual in individuals.items():
            entry = entries[_label(key[0], individual)]
            verified = Verified(key[0], individual, **entry, tried=turn + 1)
            first.setdefault(key, verified)
            if verified.holds:
                answers[key] = verified
    unheld = {key: replace(first[key], tried=len(candidates[key[0]][key[1]])) for key in runs if key in first}
    return unheld | answers


def run_all_ways(
    todo: Sequence[tuple[str, evolve.Individual]], ways: Mapping[str, Callable[[], WayToRun]]
) -> dict[str, Any]:
    """Return what is kept of individuals, each with its mode, that are run again in all ways, by label."""
    entries: dict[str, Any] = {_label(*each): {"measures": {}, "stages": {}} for each in todo}
    for way, make_way in ways.items():
        how = make_way()
        parts = [
            (how.evaluations[mode], tuple(each.parameters), np.array([list(each.parameters.values())]))
            for mode, each in todo
        ]
        measures = parts[0][0].measures
        goals = StagedGoals(how.goals, measures)
        answers = evaluate_together(parts, np.zeros(1, dtype=np.uint64))
        for (mode, each), evaluated in zip(todo, answers, strict=True):
            entry = entries[_label(mode, each)]
            keys = goals.keys(dict(zip(measures, evaluated.measures.T, strict=True)))
            if evaluated.status[0] == OK:
                values = map(float, evaluated.measures[0])
                entry["measures"][way] = dict(zip(measures, values, strict=True))
            entry["stages"][way] = int(goals.stage(keys[0])) + 1
            entry["goals"] = len(goals.goals)
    return entries


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


__all__ = [
    "LONG_DURATION",
    "WAYS",
    "WAY_WORDS",
    "Verified",
    "WayToRun",
    "at_last_goal",
    "candidates_of",
    "difference_text",
    "verify_bests",
    "way_options",
]
