"""Exoskeletons that the search found, and their rival, kept as their parameters: to be run again and gone on
with where nobody wants to search."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from strut import evolve
from strut.errors import StorageError, UnknownNameError, did_you_mean
from strut.studies.exoskeleton_designs import DesignSpace, chosen_groups, pin_name
from strut.studies.exoskeleton_found import FoundDesign, found_design
from strut.studies.exoskeleton_gait import ANKLE
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


REFINED_ENDING = " refined"
"""What names of entries end with that descent by gradients made of others."""
RIGID_ENDING = " rigid"
"""What names of entries end with that keep all goals on rigid ground, too."""


def known_exoskeletons() -> dict[str, FoundDesign]:
    """Return exoskeletons at the last goal by the name of their group, as "7-13", the best first, as a search
    found them."""
    return {
        name: _design(name, entry)
        for name, entry in _entries().items()
        if "-" in name and not name.endswith((REFINED_ENDING, RIGID_ENDING))
    }


def refined_exoskeletons() -> dict[str, FoundDesign]:
    """Return by the name of their group what descent by gradients made of `known_exoskeletons`."""
    return {
        name: _design(name, _entries()[f"{name}{REFINED_ENDING}"])
        for name in known_exoskeletons()
        if f"{name}{REFINED_ENDING}" in _entries()
    }


def rigid_exoskeletons() -> dict[str, FoundDesign]:
    """Return by the name of their group exoskeletons that keep all goals on rigid ground, too; measures are
    those on soft ground, as the search has them."""
    return {
        name: _design(name, _entries()[f"{name}{RIGID_ENDING}"])
        for name in known_exoskeletons()
        if f"{name}{RIGID_ENDING}" in _entries()
    }


def _design(name: str, entry: Mapping[str, Mapping[str, float]]) -> FoundDesign:
    """An entry of the file as a design. name: of its group."""
    space = DesignSpace(chosen_groups([name]))
    return found_design(space, _individual(entry, len(GOAL_NAMES)), int(entry["place"]["run"]))


KEPT_PINS = "pins"
"""What of a design is kept: where its pins are; or the name of a joint."""


def kept_parameters(name: str, kept: Sequence[str]) -> dict[str, float]:
    """Return the parameters of an exoskeleton of the package, refined, that a search keeps while it looks for
    the rest.

    name: of its group. kept: 'pins', for its morphology; or joints, as "j1": where each is, and what drives
    or springs it; 'ankle', for what drives that."""
    designs = refined_exoskeletons()
    if name not in designs:
        raise UnknownNameError(
            f"nothing is kept of '{name}': {did_you_mean(name, list(designs))}, which the package has"
        )
    group, parameters = designs[name].group, designs[name].individual.parameters
    words = [KEPT_PINS, *group.topology.joints, ANKLE]
    values: dict[str, float] = {}
    for word in kept:
        if word not in words:
            raise UnknownNameError(f"'{word}' of {name} cannot be kept: {did_you_mean(word, words)}")
        beginning = "" if word == KEPT_PINS else f"{word}_"
        own = (pin_name(group.number, beginning), *([] if word == KEPT_PINS else [beginning]))
        values |= {key: value for key, value in parameters.items() if key.startswith(own)}
    return values


def known_rival() -> evolve.Individual:
    """Return the best of the rival's search."""
    return _individual(_entries()[RIVAL], len(GOAL_NAMES) - DESIGN_GOALS)


def longer_rival() -> evolve.Individual:
    """Return the first best of a whole search for the rival, 160,000 evaluations, that holds in fine steps
    and for 30 s. Descent leads no further from there."""
    return _individual(_entries()[f"{RIVAL} longer"], len(GOAL_NAMES) - DESIGN_GOALS)


def refined_rival() -> evolve.Individual:
    """Return what descent by gradients made of `known_rival`."""
    return _individual(_entries()[f"{RIVAL}{REFINED_ENDING}"], len(GOAL_NAMES) - DESIGN_GOALS)


__all__ = [
    "kept_parameters",
    "known_exoskeletons",
    "known_rival",
    "longer_rival",
    "refined_exoskeletons",
    "refined_rival",
    "rigid_exoskeletons",
]
