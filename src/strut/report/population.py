"""Figures of a population: how parameters are distributed, and which subspaces are visited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from strut.view.figures.figure import NEUTRAL, Cells, Figure, Line, distinct_colors

BINS = 24
"""Bins of a distribution."""
MAX_COMBINATIONS = 64
"""Combinations of groups beside each other in a picture of visits."""
Individuals = Mapping[str, np.ndarray]
"""Columns, as of `evolve.load_individuals`."""


def distribution_figures(
    individuals: Individuals, parameters: Sequence[Mapping[str, Any]]
) -> dict[str, Figure]:
    """Return of each parameter how individuals of the first and of the last generation are distributed over
    its range: a part of all each. parameters: name, low, high and unit."""
    generation = individuals["generation"]
    figures = {}
    for each in parameters:
        edges = np.linspace(each["low"], each["high"], BINS + 1)
        middles = (edges[1:] + edges[:-1]) / 2
        lines = []
        last = generation.max()
        for label, number, color in (("first", 0, NEUTRAL), ("last", last, distinct_colors(1)[0])):
            values = individuals[each["name"]][generation == number]
            counts, _ = np.histogram(values[~np.isnan(values)], edges)
            lines.append(Line(f"{label} generation", middles, counts / max(len(values), 1), color, step=True))
        unit = f" [{each['unit']}]" if each["unit"] else ""
        figures[f"distribution_{each['name']}"] = Figure(
            tuple(lines), f"{each['name']}{unit}", "part of a generation", height=200
        )
    return figures


def visit_figures(
    individuals: Individuals, pools: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, Figure]:
    """Return how often each subspace was visited, on a logarithmic scale: groups of the first pool upwards,
    combinations of groups of all others to the right. pools: as of `MetamorphicSwarm`."""
    if not pools:
        return {}
    first, *others = pools
    columns = list(product(*(pools[name] for name in others)))[:MAX_COMBINATIONS]
    member = {
        (pool, group): _has(individuals, names, pools[pool])
        for pool, groups in pools.items()
        for group, names in groups.items()
    }
    counts = np.zeros((len(pools[first]), len(columns)))
    for k, group in enumerate(pools[first]):
        for n, combination in enumerate(columns):
            there = member[first, group]
            for pool, choice in zip(others, combination, strict=True):
                there = there & member[pool, choice]
            counts[k, n] = there.sum()
    with np.errstate(divide="ignore"):
        values = np.where(counts > 0, np.log10(counts), np.nan)
    cells = Cells(
        np.arange(1.0, len(columns) + 1), np.arange(1.0, len(counts) + 1), values, "log10 of visits"
    )
    x = " x ".join(others) or "all"
    title = f"{x}: {_number_labels([' '.join(each) or 'all' for each in columns])}"
    return {"visits": Figure((cells,), title, f"{first}: {_number_labels(list(pools[first]))}", legend=False)}


def _has(individuals: Individuals, names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Tell who has the parameters of one group of a pool and no others of that pool."""
    count = len(individuals["run"])
    everything = {name for each in groups.values() for name in each}
    there = np.ones(count, dtype=bool)
    for name in everything:
        there &= np.isnan(individuals[name]) != (name in names)
    return there


def _number_labels(words: Sequence[str]) -> str:
    """Return words with the numbers that an axis has for them; of many the first and the last."""
    labels = [f"{k} {word}" for k, word in enumerate(words, start=1)]
    return ", ".join(labels if len(labels) <= 6 else [*labels[:2], "...", labels[-1]])
