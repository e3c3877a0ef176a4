"""`alt_text`: what a figure shows in words, made of its data, for those who do not see it."""

from __future__ import annotations

import numpy as np

from strut.view.figures.figure import Areas, Band, Cells, Figure, Flow, Line, Points, Trace

MAX_NAMED = 6
"""Curves that a text describes; of more it says how many."""


def alt_text(figure: Figure) -> str:
    """Return a few sentences: what is drawn over what, and of each curve from where to where it goes."""
    about = " over ".join(title for title in (figure.y, figure.x) if title)
    sentences = [sentence for trace in figure.traces if (sentence := _sentence(trace))]
    more = len(sentences) - MAX_NAMED
    marks = [f"{name} {len(times)} times" for name, times in figure.marks.items() if len(times)]
    parts = [
        about,
        *sentences[:MAX_NAMED],
        *([f"{more} more curves"] if more > 0 else []),
        *([f"events marked: {', '.join(marks)}"] if marks else []),
    ]
    return ". ".join(part for part in parts if part) + "."


def _sentence(trace: Trace) -> str:
    """What one mark of a figure shows."""
    if isinstance(trace, Line):
        y = trace.y[np.isfinite(trace.y)]
        if not y.size:
            return ""
        ends = f"from {y[0]:.4g} to {y[-1]:.4g}, least {y.min():.4g}, largest {y.max():.4g}"
        return f"{trace.name or 'a curve'}: {ends}"
    if isinstance(trace, Points):
        y = trace.y[np.isfinite(trace.y)]
        between = f", from {y.min():.4g} to {y.max():.4g}" if y.size else ""
        return f"{trace.name or 'points'}: {len(trace.x)} point{'s' if len(trace.x) != 1 else ''}{between}"
    if isinstance(trace, Areas):
        layers = [f"{name} {values[-1]:.4g}" for name, values in trace.layers.items() if len(values)]
        return f"layers, at the end: {', '.join(layers)}"
    if isinstance(trace, Cells):
        if not trace.names:
            values = trace.values[np.isfinite(trace.values)]
            return (
                f"{trace.values.size} cells from {values.min():.4g} to {values.max():.4g}"
                if values.size
                else ""
            )
        counts = [f"{word} {int((trace.values == key).sum())}" for key, word in sorted(trace.names.items())]
        return f"{trace.values.size} cells: {', '.join(counts)}"
    if isinstance(trace, Flow):
        sides = [
            ", ".join(f"{name} {amount:.4g} {trace.unit}" for name, amount in side.items())
            for side in (trace.sources, trace.sinks)
        ]
        return f"from {sides[0]} into {sides[1]}"
    assert isinstance(trace, Band)
    return ""


__all__ = ["alt_text"]
