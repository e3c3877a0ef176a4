"""A constant impedance written as one in steps, or as one along a curve: both modes contain it, so that their
searches may begin with its gaits, and what they save is told run by run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from strut import evolve
from strut.errors import ModelError
from strut.evolve.streams import Purpose, RandomStream
from strut.studies.study import Row

STEP_PHASES = {"on": 0.0, "off": 0.5}
"""[1] Phases between which a stiffness steps, where it is the same on both sides and they do not matter."""
EQUAL_SHARE = 0.5
"""[1] Share between points of a curve that is level, before shares are divided by their sum."""


def embed_constant(
    constant_names: Sequence[str], rows: np.ndarray, names: Sequence[str], spread: np.ndarray | None = None
) -> np.ndarray:
    """Return individuals of mode 'const' as those of another mode, which do the same.

    constant_names, names: of the parameters of both. rows: individuals x parameters. spread: numbers from 0
    to 1, individuals x parameters of the other mode, by which phases and shares are chosen, which do not
    matter; all the same unless given.
    """
    places = {name: k for k, name in enumerate(constant_names)}
    columns = []
    for k, name in enumerate(names):
        stem, _, ending = name.rpartition("_")
        if name in places:
            column = rows[:, places[name]]
        elif stem.endswith("_share") or ending in STEP_PHASES:
            value = STEP_PHASES.get(ending, EQUAL_SHARE)
            column = np.full(len(rows), value) if spread is None else spread[:, k]
        elif stem in places:
            column = rows[:, places[stem]]
        else:
            raise ModelError(
                f"'{name}' is nothing that a constant impedance has: names are of another machine"
            )
        columns.append(column)
    return np.array(columns).T


def average_impedance(names: Sequence[str], rows: np.ndarray, constant_names: Sequence[str]) -> np.ndarray:
    """Return individuals of any mode as those of mode 'const': with their references, and with the means of
    the values between which stiffness and damping change. They do not do the same.

    names, constant_names: of the parameters of both modes. rows: individuals x parameters.
    """
    columns = []
    for name in constant_names:
        own = [
            k for k, each in enumerate(names) if each == name or re.fullmatch(rf"{re.escape(name)}_\d+", each)
        ]
        if not own:
            raise ModelError(f"'{name}' is not among the {len(names)} numbers: names are of another machine")
        columns.append(rows[:, own].mean(axis=1))
    return np.array(columns).T


def embed_populations(
    constant: evolve.SearchProblem, problem: evolve.SearchProblem, populations: np.ndarray, *, seed: int
) -> np.ndarray:
    """Return populations of mode 'const', runs x individuals x parameters, as those of another mode, whose
    phases and shares, which do not matter yet, are drawn. constant, problem: of both modes."""
    space = problem.space
    embedded = []
    for run, rows in enumerate(populations):
        draws = RandomStream(seed, run).draws(0, Purpose.CONFIRM)  # for which such a search has no use
        spread = space.low + space.span * draws.uniform(len(rows), len(space))
        embedded.append(embed_constant(constant.space.names, rows, space.names, spread))
    return np.array(embedded)


def gain_rows(evolutions: Mapping[str, evolve.Evolution], goal: str) -> list[Row]:
    """Return what an impedance that changes saves, run by run, in searches that begin with constant ones.
    goal: what is made small at last, in a word."""
    rows = []
    constant = {
        best.run: best.value
        for best in evolutions["const"].best_of_run
        if best.stage == evolutions["const"].stages
    }
    for mode, evolution in evolutions.items():
        own = {best.run: best.value for best in evolution.best_of_run if best.stage == evolution.stages}
        runs = [run for run in own if run in constant]
        if mode == "const" or not runs:
            continue
        saved = np.array([100 * (1 - own[run] / constant[run]) for run in runs])
        error = np.std(saved, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
        rows.append(
            Row(
                f"{mode}: {goal} saved against const, run by run, from the same gaits [%]",
                "",
                ", ".join(f"{each:.0f}" for each in saved),
                f"mean {np.mean(saved):.1f} +- {error:.1f} (standard error)",
            )
        )
    return rows


__all__ = ["average_impedance", "embed_constant", "embed_populations", "gain_rows"]
