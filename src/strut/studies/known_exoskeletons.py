"""Exoskeletons that the search found, and their rival, kept as their parameters: to be run again and gone on
with where nobody wants to search."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from strut import evolve
from strut.errors import StorageError
from strut.studies.exoskeleton_designs import DesignSpace, chosen_groups
from strut.studies.exoskeleton_found import FoundDesign, found_design
from strut.studies.exoskeleton_measures import DESIGN_GOALS
from strut.studies.exoskeleton_rival import RIVAL
from strut.studies.exoskeleton_search import GOAL_NAMES

KNOWN_EXOSKELETONS_FILE = Path(__file__).with_name("known_exoskeletons.toml")
"""The file that keeps their parameters and measures."""


@cache
def _entries() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """What the file has: by name parameters and measures."""
    try:
        return tomllib.loads(KNOWN_EXOSKELETONS_FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StorageError(
            f"{KNOWN_EXOSKELETONS_FILE.name} cannot be read ({error}): install strut anew"
        ) from error


def _individual(entry: Mapping[str, Mapping[str, float]], stage: int) -> evolve.Individual:
    """An entry of the file as a search left it. stage: the number of the goal that it is at."""
    measures = dict(entry["measures"])
    return evolve.Individual(
        run=int(entry["place"]["run"]) - 1,
        generation=int(entry["place"]["generation"]),
        place=0,
        parameters=dict(entry["parameters"]),
        measures=measures,
        stage=stage,
        value=measures["power_absolute"],
        status="ok",
    )


def known_exoskeletons() -> dict[str, FoundDesign]:
    """Return exoskeletons at the last goal by the name of their group, as "7-13", the best first."""
    designs = {}
    for name, entry in _entries().items():
        if "-" in name:
            space = DesignSpace(chosen_groups([name]))
            designs[name] = found_design(
                space, _individual(entry, len(GOAL_NAMES)), int(entry["place"]["run"])
            )
    return designs


def known_rival() -> evolve.Individual:
    """Return the best of the rival's search."""
    return _individual(_entries()[RIVAL], len(GOAL_NAMES) - DESIGN_GOALS)


__all__ = ["known_exoskeletons", "known_rival"]
