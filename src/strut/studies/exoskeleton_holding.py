"""Which design of a search is told: the first of its bests that holds when it is checked. A search goes to
the edge of its goals, as its own coarse steps have them, and its very best may be beyond it in fine ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from strut import evolve
from strut.studies.exoskeleton_checks import (
    STRIDE_SCREENING,
    AskMachine,
    ask_design,
    ask_rival,
    checked_stage,
    kept_asker,
)
from strut.studies.exoskeleton_descent import HOLDING_WAYS
from strut.studies.exoskeleton_found import FoundDesign, found_design, searched_goals, searched_space
from strut.studies.exoskeleton_own_walk import WALK_SCREENING
from strut.studies.exoskeleton_rival import RIVAL, RIVAL_FILE
from strut.studies.exoskeleton_search import run_file
from strut.studies.exoskeleton_table import LAST_GOAL
from strut.studies.gait_verification import candidates_of
from strut.studies.study import Row

CANDIDATES: dict[str, Any] = {"most": 40, "distance": 0.01}
"""Bests of a run that are tried, at most, and the part by which the power of each is above that of the one
before [1]: swarms of hundreds of generations leave tens of them that lose a goal over 30 s."""


def holding_designs(
    folder: Path,
    designs: Sequence[FoundDesign],
    tell: Callable[[str], None],
    limits: Mapping[str, float] | None = None,
) -> list[FoundDesign]:
    """Return for each run the first of its bests that holds, in the order of the designs; its best where none
    of those that are tried does.

    designs: the best of each run of the folder. limits: of peaks, as of `checked_stage`. Answers are kept in
    the folder."""
    ask = kept_asker(folder, tell)
    chosen = []
    for design in designs:
        path = run_file(folder, design.run)
        space, goals = searched_space(path), searched_goals(path)
        (group,) = candidates_of(path, evolve.load_evolution(path), **CANDIDATES).values()
        candidates = (found_design(space, each, design.run, goals) for each in group)
        holding = (each for each in candidates if each.at_last_goal and _holds(ask, each, limits))
        chosen.append(next(holding, design))
    return chosen


def holding_rival(
    folder: Path,
    rival: evolve.Evolution,
    tell: Callable[[str], None],
    limits: Mapping[str, float] | None = None,
) -> evolve.Evolution:
    """Return the rival's search with the first of the bests of all its runs that holds as its best; as it was
    where none of those that are tried does."""
    ask = kept_asker(folder, tell)
    groups = candidates_of(folder / f"{RIVAL_FILE}.db", rival, **CANDIDATES).values()
    for each in sorted((own for group in groups for own in group), key=lambda own: (-own.stage, own.value)):
        if each.stage == rival.stages and _rival_holds(ask, each, limits):
            return replace(rival, best=each)
    return rival


def _holds(ask: AskMachine, design: FoundDesign, limits: Mapping[str, float] | None) -> bool:
    """Whether a design at the last goal stays there in all that is asked of it, the cheapest first."""
    answers: dict[str, Mapping[str, float]] = {}
    for way in (STRIDE_SCREENING, *HOLDING_WAYS[:1], WALK_SCREENING, *HOLDING_WAYS[1:]):
        if way != STRIDE_SCREENING and not design.walks:
            return False
        answers[way] = ask_design(ask, design, way)
        if checked_stage(LAST_GOAL, answers, limits) < LAST_GOAL:
            return False
    return True


def _rival_holds(ask: AskMachine, individual: evolve.Individual, limits: Mapping[str, float] | None) -> bool:
    answers: dict[str, Mapping[str, float]] = {}
    for way in HOLDING_WAYS:
        answers[way] = ask_rival(ask, individual, way)
        if checked_stage(LAST_GOAL, answers, limits) < LAST_GOAL:
            return False
    return True


def choice_rows(
    designs: Sequence[FoundDesign],
    chosen: Sequence[FoundDesign],
    rival: evolve.Evolution | None,
    chosen_rival: evolve.Evolution | None,
) -> list[Row]:
    """Return rows of those of which not the very best is told. designs, rival: as searches left them."""
    pairs = [
        (f"run {own.run}", own.individual, other.individual)
        for own, other in zip(designs, chosen, strict=True)
    ]
    if rival is not None and chosen_rival is not None:
        pairs.append((RIVAL, rival.best, chosen_rival.best))
    return [
        Row(
            f"{title}: the best that holds when it is checked [W]",
            "",
            f"{other.value:.1f}, of generation {other.generation}",
            f"the search's best, {own.value:.1f} of generation {own.generation}, loses a goal; both in its "
            "own steps",
        )
        for title, own, other in pairs
        if (own.run, own.generation) != (other.run, other.generation)
    ]


__all__ = ["choice_rows", "holding_designs", "holding_rival"]
