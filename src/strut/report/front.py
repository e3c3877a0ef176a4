"""Pictures of a front of several goals at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from strut.checks import checked
from strut.evolve import ParetoFront
from strut.report.walks import with_squares
from strut.view.figures.figure import NEUTRAL, Figure, Line, Points, distinct_colors
from strut.view.pages.report import Rows

MAX_SHOWN_OTHERS = 2000
"""Individuals behind the front that a figure shows; of more, evenly spaced ones."""


@checked
def front_figures(
    front: ParetoFront,
    others: dict[str, np.ndarray] | None = None,
    walks: Mapping[int, str] | None = None,
) -> dict[str, Figure]:
    """Return a figure for each pair of goals: the individuals of the front, those of all others in grey, and
    of two goals the edge of what the front dominates.

    others: the value of each goal of all individuals, by what it says. walks: the titles of films that a page
    has of some individuals of the front, by their numbers; a click on their squares shows them.
    """
    numbers = list(walks or {})
    labels = list(front.goals)
    figures: dict[str, Figure] = {}
    texts = tuple(
        ", ".join(f"{name} {value:.5g}" for name, value in each.parameters.items())
        for each in front.individuals
    )
    for a, b in combinations(labels, 2):
        x, y = front.goals[a], front.goals[b]
        traces: list[Line | Points] = []
        if others is not None:
            count = len(others[a])
            chosen = np.unique(np.linspace(0, count - 1, min(count, MAX_SHOWN_OTHERS)).astype(int))
            traces.append(Points("others", others[a][chosen], others[b][chosen], NEUTRAL, size=3))
        color = distinct_colors(1)[0]
        if len(labels) == 2:
            traces.append(Line("edge", x, y, color, width=1.0, step=True))
        traces.append(Points("front", x, y, color, size=7, labels=texts))
        number = len(figures) + 1
        figure = with_squares(
            Figure(tuple(traces), a, b, legend=False), x[numbers], y[numbers], list((walks or {}).values())
        )
        figures[f"front_{number}" if len(labels) > 2 else "front"] = figure
    return figures


def front_table(front: ParetoFront) -> Rows:
    """Return all individuals of a front, with their goals and parameters."""
    columns = front.columns()
    measures = set(front.individuals[0].measures)
    heads = [name for name in columns if name in front.goals or name not in measures]
    rows = [tuple(f"{columns[name][k]:.6g}" for name in heads) for k in range(len(front))]
    return Rows(tuple(heads), rows)
