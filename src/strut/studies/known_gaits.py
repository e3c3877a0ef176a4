"""Gaits that searches of humans and of COMAN found, kept as their parameters: to be run again, shown and
gone on with where nobody wants to search for minutes or hours."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from strut.errors import StorageError, UnknownNameError, did_you_mean

KNOWN_GAITS_FILE = Path(__file__).with_name("known_gaits.toml")
"""The file that keeps their parameters."""


@dataclass(frozen=True)
class KnownGait:
    """A gait that was found.

    name: of the gait. body: 'human' or 'coman'. mode: how stiffness and damping go along the phase, as of
    `control.phase_impedance`. goals: what it was found for. source: by which search. parameters: by name, as
    of `control.phase_tables`; of COMAN with the frequency. ground: values of parameters of the ground, where
    they are not those of the body.
    """

    name: str
    body: str
    mode: str
    goals: str
    source: str
    parameters: Mapping[str, float]
    ground: Mapping[str, float]


@cache
def known_gaits() -> Mapping[str, KnownGait]:
    """Return all gaits by name."""
    try:
        entries = tomllib.loads(KNOWN_GAITS_FILE.read_text())
    except (OSError, ValueError) as error:
        raise StorageError(f"{KNOWN_GAITS_FILE.name} cannot be read ({error}): install strut anew") from error
    return {
        name: KnownGait(
            name=name,
            body=entry["body"],
            mode=entry["mode"],
            goals=entry["goals"],
            source=entry["source"],
            parameters=entry["parameters"],
            ground=entry.get("ground", {}),
        )
        for name, entry in entries.items()
    }


def known_gait(name: str) -> KnownGait:
    """Return a gait by its name."""
    gaits = known_gaits()
    if name not in gaits:
        raise UnknownNameError(f"there is no known gait '{name}': {did_you_mean(name, list(gaits))}")
    return gaits[name]


__all__ = ["KnownGait", "known_gait", "known_gaits"]
