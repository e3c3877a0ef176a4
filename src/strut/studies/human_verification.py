"""Bests of searches for a human gait run again: in double precision, with other steps, with located contacts,
and for longer; kept in a file beside the searches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.errors import StorageError
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import StagedGoals
from strut.studies.human_gait import DURATION, STEP, human_goals, human_measures, human_walker

LONG = 30.0
"""[s] Of the long run."""
FINE_STEP = 1e-4
"""[s] Of the fine run."""
EXACT_TOLERANCE = 1e-7
"""[1] Relative, and absolute in SI units, of the run whose contacts are located."""
MAX_STEPS = 10**7
"""Steps of that run, at most."""
WAYS = ("double", "fine", "long", "located")
"""How each best is run again: in double precision with the steps of the search; with fine ones; for longer;
with contacts that are located and steps that are controlled."""
FILE = "verified.json"
"""Where the answers are kept."""


@dataclass(frozen=True)
class Verified:
    """A best that was run again. measures: by way and by name; of a run that broke off there are none.
    stages: by way, the number of the goal that it is at, from 1."""

    mode: str
    run: int
    measures: dict[str, dict[str, float]]
    stages: dict[str, int]


def verify_bests(
    folder: Path, evolutions: Mapping[str, evolve.Evolution], tell: Callable[[str], None]
) -> dict[tuple[str, int], Verified]:
    """Run the best of every run again in all ways, but for those whose answers are in the folder already."""
    entries = _read(folder)
    verified: dict[tuple[str, int], Verified] = {}
    for mode, evolution in evolutions.items():
        todo = []
        for best in evolution.best_of_run:
            entry = entries.get(_label(mode, best))
            if entry is None:
                todo.append(best)
            else:
                verified[mode, best.run] = Verified(mode, best.run, entry["measures"], entry["stages"])
        if todo:
            tell(f"{mode}: {len(todo)} bests are run again, {', '.join(WAYS)}")
            for best, answer in zip(todo, _run_again(mode, todo), strict=True):
                verified[mode, best.run] = answer
                entries[_label(mode, best)] = {"measures": answer.measures, "stages": answer.stages}
            _write(folder, entries)
    return verified


def _run_again(mode: str, bests: list[evolve.Individual]) -> list[Verified]:
    """Run some bests of a mode again in all ways."""
    answers = [Verified(mode, best.run, {}, {}) for best in bests]
    machines = {False: human_walker(mode), True: human_walker(mode, events=True)}
    names = tuple(bests[0].parameters)
    x = np.array([[best.parameters[name] for name in names] for best in bests])
    for way in WAYS:
        duration = LONG if way == "long" else DURATION
        measured = human_measures(machines[way == "located"], duration)
        evaluation = evolve.of_system(measured.system, duration, measured.expressions, **_options(way))
        result = evaluation.evaluate(names, x, np.zeros(len(x), dtype=np.uint64))
        goals = StagedGoals(human_goals(duration), evaluation.measures)
        keys = goals.keys(dict(zip(evaluation.measures, result.measures.T, strict=True)))
        for answer, row, status, key in zip(answers, result.measures, result.status, keys, strict=True):
            if status == OK:
                values = map(float, row)
                answer.measures[way] = dict(zip(evaluation.measures, values, strict=True))
            answer.stages[way] = int(goals.stage(key)) + 1
    return answers


def _options(way: str) -> dict[str, Any]:
    """How runs are done in some way: options of `simulate_batch`."""
    if way == "located":
        return {"rtol": EXACT_TOLERANCE, "atol": EXACT_TOLERANCE, "max_steps": MAX_STEPS}
    return {"method": "rk4", "step": FINE_STEP if way == "fine" else STEP, "lanes": "auto"}


def _label(mode: str, best: evolve.Individual) -> str:
    """What a best is called in the file: other parameters have another."""
    text = json.dumps([mode, best.run, sorted(best.parameters.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _read(folder: Path) -> dict[str, Any]:
    """What the file holds; nothing where there is none."""
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text())
    except ValueError as error:
        raise StorageError(f"{path} is damaged ({error}): remove it, and bests are run again") from error
    return dict(entries)


def _write(folder: Path, entries: Mapping[str, Any]) -> None:
    """Keep the answers, all of them or the ones before."""
    beside = folder / f"{FILE}.new"
    beside.write_text(json.dumps(entries, indent=1))
    beside.replace(folder / FILE)


__all__ = ["LONG", "WAYS", "Verified", "verify_bests"]
