"""The picture of a comparison of searches."""

from __future__ import annotations

import numpy as np

from strut.checks import checked, finite
from strut.evolve import SearchComparison
from strut.view.figures.figure import DASHES, PALETTE, Band, Figure, Line, distinct_colors

LEAST_DISTANCE = 1e-16
"""Distance from the best known value below which a search has reached it: curve_values as that."""


@checked
def comparison_figure(comparison: SearchComparison, best_known: float | None = None) -> Figure:
    """Return how searches went over evaluations: a line for the median of the seeds of each, a band between
    its quartiles; from where they are at the last goal.

    best_known: the value that is best of all; then the distance from it is curve_values, as power of ten.
    """
    colors = distinct_colors(len(comparison.curves))
    bands, lines = [], []
    for k, (curve, color) in enumerate(zip(comparison.curves, colors, strict=True)):
        quartiles = []
        for part in (0.25, 0.5, 0.75):
            stage, value = curve.quantile(part)
            curve_values = np.where(stage == comparison.goals, value, np.nan)
            if best_known is not None:
                distance = np.abs(curve_values - finite("best_known", best_known))
                curve_values = np.log10(np.maximum(distance, LEAST_DISTANCE))
            quartiles.append(curve_values)
        lower, median, upper = quartiles
        count = curve.evaluations.astype(float)
        bands.append(Band(count, np.fmin(lower, upper), np.fmax(lower, upper), color))
        lines.append(Line(curve.name, count, median, color, DASHES[k // len(PALETTE) % len(DASHES)]))
    what = comparison.value_name
    title = what if best_known is None else f"log10 of distance from {best_known:.6g} ({what})"
    return Figure((*bands, *lines), "evaluations", title, height=330)
