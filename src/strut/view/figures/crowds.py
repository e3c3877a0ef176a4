"""Crowds: the many curves of a large network whose names differ by numbers alone, as one figure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from strut.view.figures.curves import curves, drawn_indices
from strut.view.figures.figure import NEUTRAL, PALETTE, Band, Line

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

MEDIAN = ": median"
"""Ends the name of the line in the middle of a crowd, which begins with the pattern of its names."""
CROWD_CURVES = 5
"""Curves of a crowd that are drawn themselves, evenly along it."""


def name_pattern(name: str) -> str:
    """Return a name with * for its numbers: n12.x and n7.x are n*.x."""
    return re.sub(r"\d+", "*", name)


def pattern_groups(names: Iterable[str]) -> dict[str, list[str]]:
    """Return names by their patterns, in their order."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name_pattern(name), []).append(name)
    return groups


def crowd_traces(trajectory: Trajectory, pattern: str, names: list[str]) -> list[Band | Line]:
    """Return what is drawn of a crowd: the band that holds all its curves, the median, and some of them."""
    drawn_curves = curves(trajectory, names)
    t = next(iter(drawn_curves.values()))[0]
    values = np.array([column for _, column in drawn_curves.values()])
    low, high, median = values.min(axis=0), values.max(axis=0), np.median(values, axis=0)
    points = np.unique(np.concatenate([drawn_indices(low), drawn_indices(high)]))
    traces: list[Band | Line] = [Band(t[points], low[points], high[points], NEUTRAL)]
    for k, place in enumerate(np.unique(np.linspace(0, len(names) - 1, CROWD_CURVES).astype(int)).tolist()):
        points_drawn = drawn_indices(values[place])
        traces.append(
            Line(
                names[place],
                t[points_drawn],
                values[place][points_drawn],
                PALETTE[k % len(PALETTE)],
                width=1.2,
            )
        )
    points_drawn = drawn_indices(median)
    traces.append(
        Line(
            f"{pattern}{MEDIAN} of {len(names)}", t[points_drawn], median[points_drawn], NEUTRAL, "dash", 1.6
        )
    )
    return traces


def is_in_crowd(name: str, drawn_names: Iterable[str]) -> bool:
    """Tell whether a curve lies in a crowd that is drawn, by the names of the lines of figures."""
    return any(each.startswith(f"{name_pattern(name)}{MEDIAN}") for each in drawn_names)


def pattern_rows(values: Mapping[str, tuple[float, str]]) -> list[tuple[str, str, str]]:
    """Return rows of a table of numbers with their units, one for each pattern of names: how many there are,
    and what they are or between what they lie."""
    rows = []
    for pattern, names in pattern_groups(values).items():
        numbers = [values[name][0] for name in names]
        low, high = min(numbers), max(numbers)
        label = names[0] if len(names) == 1 else f"{pattern}, {len(names):,} of them"
        text = f"{low:.10g}" if low == high else f"{low:.5g} to {high:.5g}"
        rows.append((label, text, values[names[0]][1]))
    return rows


__all__ = ["crowd_traces", "is_in_crowd", "name_pattern", "pattern_groups", "pattern_rows"]
