"""What the page of exoskeletons draws: where the search has been, its goals over time, the best designs to
scale, and what they do over a cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from strut import evolve, linkage
from strut.studies.gait_pictures import progress_plots
from strut.studies.study import ColourMap, Picture, Plot

JOINT_NUMBERS = range(1, 7)
"""Of a linkage, as published."""
TOPOLOGY_NUMBERS = range(1, 11)
"""As published."""
PAIRS = tuple(f"{a}{b}" for a, b in combinations(JOINT_NUMBERS, 2))
"""Pairs of joints, in the order of the map's columns."""


def visits_map(visits: Mapping[str, float], bests: Sequence[str] = ()) -> ColourMap:
    """Return how often each topology with each pair of actuators was evaluated, as the logarithm to base 2;
    one that was never visited counts as -1, and where a pair does not drive a topology there is nothing.

    visits: by group, as "2-15". bests: groups of the best designs, which are marked."""
    values = np.full((len(TOPOLOGY_NUMBERS), len(PAIRS)), np.nan)
    for group, count in visits.items():
        row, column = _cell(group)
        values[row, column] = np.log2(count) if count > 0 else -1.0
    marks = {}
    if bests:
        cells = [_cell(group) for group in dict.fromkeys(bests)]
        marks["best designs"] = (
            [float(column + 1) for _, column in cells],
            [float(row + 1) for row, _ in cells],
        )
    columns = ", ".join(f"{k + 1}: {pair}" for k, pair in enumerate(PAIRS))
    return ColourMap(
        "visits by topology and pair of actuators",
        f"pair of joints ({columns})",
        "topology",
        "log2 of evaluations (-1: never)",
        tuple(float(k + 1) for k in range(len(PAIRS))),
        tuple(float(n) for n in TOPOLOGY_NUMBERS),
        values.tolist(),
        marks,
    )


def _cell(group: str) -> tuple[int, int]:
    """Row and column of a group, from 0."""
    number, _, pair = group.partition("-")
    return int(number) - 1, PAIRS.index("".join(sorted(pair)))


def stage_plots(evolutions: Mapping[str, evolve.Evolution]) -> list[Plot]:
    """Return goals over time: the mean of all runs, the power of those at the last goal, and the goal of the
    best so far of every run."""
    plots = progress_plots(evolutions, "power [W]")
    curves, count = {}, 0
    for name, evolution in evolutions.items():
        history = evolution.history
        for run in np.unique(history["run"]):
            own = history["best_stage"][history["run"] == run]
            curves[f"{name}, run {int(run) + 1}"] = own.astype(float)
            count = max(count, len(own))
    x = tuple(float(k + 1) for k in range(count))
    padded = {
        name: np.pad(own, (0, count - len(own)), constant_values=np.nan).tolist()
        for name, own in curves.items()
    }
    return [*plots, Plot("goal of each run", "generation", "goal of the best so far", x, padded)]


def draw_designs(
    designs: Mapping[str, tuple[linkage.Topology, np.ndarray, Sequence[str]]],
) -> list[Picture]:
    """Return drawings of designs to scale, and of their graphs. designs: by title, topology, values of pins
    and actuators."""
    return [
        Picture(
            title,
            linkage.draw_linkage(topology, np.reshape(pins, (1, -1)), title, actuators)
            + linkage.draw_graph(topology, title, actuators),
        )
        for title, (topology, pins, actuators) in designs.items()
    ]


__all__ = ["PAIRS", "draw_designs", "stage_plots", "visits_map"]
