"""Walks behind the points of a figure: some gaits of a branch, cells of a basin, designs of a sweep and
individuals of a front, each as a run that a page shows when its square is clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from strut.errors import ModelError, StrutError
from strut.evolve import ParetoFront
from strut.gait import Basin, Branch
from strut.report.design import walk
from strut.report.job_pictures import JobPictures
from strut.simulate import simulate
from strut.view.figures.figure import NEUTRAL, Figure, Points
from strut.view.figures.swept_axis import SweptAxis

if TYPE_CHECKING:
    from strut.optimal import TradeOff
    from strut.simulate import Trajectory

SHOWN_WALKS = 12
"""Points of a figure whose walks a page can show: a film takes 2 kB of a compass, 20 of a humanoid."""
SHOWN_DESIGNS = 5
"""Designs of a sweep that are solved once more, from where they were found, to show their walks."""
BASIN_PERIODS = 5
"""Periods of the gait that a walk from a cell of its basin is shown, unless it ends before."""
SQUARES_NAME = "click: its walk"
"""What squares that can be clicked are called."""
TitledRun = tuple[str, "Trajectory"]
"""What is written above a film, and the run that it shows."""


def spread_indices(count: int, most: int) -> list[int]:
    """Return at most so many of the indices below `count`, evenly, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(int)).tolist() if count else []


def with_squares(figure: Figure, x: np.ndarray, y: np.ndarray, titles: Sequence[str]) -> Figure:
    """Return a figure with a square at every point whose walk can be seen, by the titles of the films."""
    if not len(titles):
        return figure
    squares = Points(SQUARES_NAME, np.asarray(x), np.asarray(y), NEUTRAL, "square", 7, walks=tuple(titles))
    return replace(figure, traces=(*figure.traces, squares))


def branch_walks(branch: Branch, axis: SweptAxis) -> dict[int, TitledRun]:
    """Return titles and runs of some gaits of a branch, evenly along it, by their numbers; those that cannot
    be found again are left out. axis: how titles show the parameter."""
    values = branch.parameter
    walks: dict[int, TitledRun] = {}
    if not branch.system.scene.parts:
        return walks
    for k in spread_indices(len(branch), SHOWN_WALKS):
        value = float(values[k])
        passes = [n for n in range(len(values) - 1) if (values[n] - value) * (values[n + 1] - value) <= 0]
        try:
            gait = branch.gait(value, passes.index(max(k - 1, 0)))
        except (StrutError, ValueError):  # at a fold, or where the simulator no longer makes the step
            continue
        z0 = np.array(list(gait.z0.values()))
        run = simulate(gait.system, t=2 * gait.period, x0=gait.vector, z0=z0)
        walks[k] = (f"{axis.label(value)}, {'stable' if gait.stable else 'not stable'}", run)
    return walks


def basin_walks(basin: Basin) -> dict[tuple[int, int], TitledRun]:
    """Return titles and runs from some cells of a basin, by their places: of every outcome a few, far from
    each other."""
    gait = basin.gait
    walks: dict[tuple[int, int], TitledRun] = {}
    if not gait.system.scene.parts:
        return walks
    z0 = np.array(list(gait.z0.values()))
    places = [gait.names.index(name) for name in basin.names]
    for i, j in _scattered_cells(basin):
        y = gait.y0.copy()
        y[places] = basin.first[i], basin.second[j]
        x0 = np.asarray(gait.map().whole(y[None]))[0]
        run = simulate(gait.system, t=BASIN_PERIODS * gait.period, x0=x0, z0=z0)
        a, b = basin.names
        title = f"{a} {basin.first[i]:.4g}, {b} {basin.second[j]:.4g}: {basin.label[i, j]}"
        walks[i, j] = (title, run)
    return walks


def _scattered_cells(basin: Basin) -> list[tuple[int, int]]:
    """Cells of every outcome: the one nearest to the middle of its kind, then always the one furthest from
    those that are chosen."""
    chosen: list[tuple[int, int]] = []
    kinds = list(basin.outcomes)
    shape = np.array(basin.label.shape, dtype=float)
    for kind in kinds:
        cells = np.argwhere(basin.label.astype(str) == kind)
        spots = cells / shape
        nearest = np.linalg.norm(spots - spots.mean(axis=0), axis=1)
        picked = [int(np.argmin(nearest))]
        apart = np.linalg.norm(spots - spots[picked[0]], axis=1)
        while len(picked) < max(1, SHOWN_WALKS // len(kinds)) and apart.max() > 0:
            picked.append(int(np.argmax(apart)))
            apart = np.minimum(apart, np.linalg.norm(spots - spots[picked[-1]], axis=1))
        chosen += [(int(cells[k, 0]), int(cells[k, 1])) for k in picked]
    return chosen


def sweep_walks(sweep: TradeOff, axis: SweptAxis) -> dict[int, TitledRun]:
    """Return titles and runs of some trusted designs of a sweep, by their numbers; none of a sweep that was
    read from a file without its problem. axis: how titles show what was varied."""
    walks: dict[int, TitledRun] = {}
    trusted = [k for k, point in enumerate(sweep.points) if point.ok and point.plan is not None]
    if sweep.task is None or not sweep.system.scene.parts:
        return walks
    for n in spread_indices(len(trusted), SHOWN_DESIGNS):
        value = sweep.points[trusted[n]].value
        try:
            design = sweep.design(value)
            run = walk(design)
        except StrutError:  # it was found, and from there it is not found again
            continue
        if design.ok:
            word = "stable" if design.gait is not None and design.gait.stable else "not stable"
            walks[trusted[n]] = (f"{axis.label(value)}, {word}", run)
    return walks


def front_walks(
    path: str | Path, front: ParetoFront, pictures: JobPictures | None = None
) -> dict[int, TitledRun]:
    """Return titles and runs of some individuals of a job's front, by their numbers; none of a job that keeps
    no machine with something to show. pictures: runs that were made before."""
    numbers = spread_indices(len(front), SHOWN_WALKS)
    try:
        runs = (pictures or JobPictures()).run(path, [front.individuals[k] for k in numbers])
    except ModelError:  # a function, a program, or a machine that has nothing to show
        return {}
    return {k: (_goals_text(front, k), run) for k, run in zip(numbers, runs, strict=True)}


def _goals_text(front: ParetoFront, k: int) -> str:
    """The goals of an individual of a front, and its number, so that no two are called the same."""
    return f"{k + 1}: " + ", ".join(f"{goal} {values[k]:.5g}" for goal, values in front.goals.items())


__all__ = [
    "basin_walks",
    "branch_walks",
    "front_walks",
    "spread_indices",
    "sweep_walks",
    "with_squares",
]
