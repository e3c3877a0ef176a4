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
from strut.control import phase_tables
from strut.errors import StorageError
from strut.evolve.evaluations.encoded import evaluate_together
from strut.evolve.evaluations.evaluation import OK
from strut.evolve.goals import StagedGoals
from strut.files import put
from strut.studies.human_gait import DURATION, JOINTS, STEP, human_goals, human_measures, human_walker

LONG_DURATION = 30.0
"""[s] How long the long run lasts."""
FINE_STEP = 1e-4
"""[s] Of the fine run."""
EXACT_TOLERANCE = 1e-7
"""[1] Relative, and absolute in SI units, of the run whose contacts are located."""
MAX_STEPS = 10**7
"""Steps of that run, at most."""
WAYS = ("double", "fine", "long", "located")
"""How each best is run again: in double precision with the steps of the search; with fine ones; for longer;
with contacts that are located and steps that are controlled."""
VERIFICATION_FILE = "verified.json"
"""Where the answers are kept."""


@dataclass(frozen=True)
class Verified:
    """A best that was run again. measures: by way and by name; of a run that broke off there are none.
    stages: by way, the number of the goal that it is at, from 1."""

    mode: str
    run: int
    measures: dict[str, dict[str, float]]
    stages: dict[str, int]

    @property
    def kept_stage(self) -> int:
        """The number of the goal that it is at in every way, from 1; 0 where a run broke off."""
        return min(self.stages.values())

    @property
    def rank(self) -> tuple[float, float]:
        """By which answers are put into order, the best first: goals kept in every way, then torque over the
        long run [N m]."""
        return -self.kept_stage, self.measures["long"]["torque"] if "long" in self.measures else np.inf


def verify_bests(
    folder: Path, evolutions: Mapping[str, evolve.Evolution], tell: Callable[[str], None]
) -> dict[tuple[str, int], Verified]:
    """Run the best of every run again in all ways, but for those whose answers are in the folder already."""
    entries = _read(folder)
    verified: dict[tuple[str, int], Verified] = {}
    todo: dict[str, list[evolve.Individual]] = {}
    for mode, evolution in evolutions.items():
        for best in evolution.best_of_run:
            entry = entries.get(_label(mode, best))
            if entry is None:
                todo.setdefault(mode, []).append(best)
                verified[mode, best.run] = Verified(mode, best.run, {}, {})
            else:
                verified[mode, best.run] = Verified(mode, best.run, entry["measures"], entry["stages"])
    if not todo:
        return verified
    for way in WAYS:
        tell(f"{sum(map(len, todo.values()))} bests are run again: {way}")
        _run_again(way, todo, verified)
    for mode, bests in todo.items():
        for best in bests:
            answer = verified[mode, best.run]
            entries[_label(mode, best)] = {"measures": answer.measures, "stages": answer.stages}
    _write(folder, entries)
    return verified


def _run_again(
    way: str,
    todo: Mapping[str, list[evolve.Individual]],
    verified: Mapping[tuple[str, int], Verified],
) -> None:
    """Run bests of all modes again in some way, all at once, and write what was measured into their
    answers."""
    duration = LONG_DURATION if way == "long" else DURATION
    measured = human_measures(human_walker("table", events=way == "located"), duration)
    inner = evolve.of_system(measured.system, duration, measured.expressions, **_options(way))
    parts = []
    for mode, bests in todo.items():
        names = tuple(bests[0].parameters)
        x = np.array([[best.parameters[name] for name in names] for best in bests])
        parts.append((evolve.EncodedEvaluation(inner, phase_tables(JOINTS, mode)), names, x))
    goals = StagedGoals(human_goals(duration), inner.measures)
    answers = evaluate_together(parts, np.zeros(1, dtype=np.uint64))
    for (mode, bests), evaluated in zip(todo.items(), answers, strict=True):
        keys = goals.keys(dict(zip(inner.measures, evaluated.measures.T, strict=True)))
        for k, best in enumerate(bests):
            answer = verified[mode, best.run]
            if evaluated.status[k] == OK:
                values = map(float, evaluated.measures[k])
                answer.measures[way] = dict(zip(inner.measures, values, strict=True))
            answer.stages[way] = int(goals.stage(keys[k])) + 1


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


__all__ = ["LONG_DURATION", "WAYS", "Verified", "verify_bests"]
