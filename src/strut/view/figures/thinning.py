"""`thin_figures`, `keep_extremes`: figures with fewer points, so that pages of large machines stay small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from strut.view.figures.curves import drawn_indices
from strut.view.figures.figure import Areas, Band, Figure, Line, Trace

MIN_THINNED_POINTS = 64
"""Points of a curve up to which it is left as it is."""


def kept_indices(x: np.ndarray, columns: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return the indices of the points of a polyline that must stay (Douglas and Peucker): between any two
    that follow each other, no column departs from the straight line by more than its tolerance.

    x: of the points, not falling. columns: a row for each point. tolerance: of each column, in its unit. Both
    sides of a jump, which have one x, and the neighbours of gaps (nan) stay. Two points at one x that are
    alike, as a sample of a clock leaves them at every tick, are no jump.
    """
    count = len(x)
    gaps = ~np.isfinite(columns).all(axis=1)
    must = np.zeros(count, dtype=bool)
    must[[0, -1]] = True
    with np.errstate(invalid="ignore"):  # gaps stay anyway
        apart = (np.abs(np.diff(columns, axis=0)) > tolerance).any(axis=1)
    jumps = np.flatnonzero((np.diff(x) <= 0) & apart)
    must[jumps] = must[jumps + 1] = True
    must |= gaps
    must[1:] |= gaps[:-1]
    must[:-1] |= gaps[1:]
    filled = np.nan_to_num(columns)
    while True:  # all spans between kept points at once: of each, the point that departs most
        kept_places = np.flatnonzero(must)
        before = np.cumsum(must) - 1  # which kept point comes before, or is, each point
        a, b = kept_places[before], kept_places[np.minimum(before + 1, len(kept_places) - 1)]
        wide = x[b] - x[a]
        part = np.divide(x - x[a], wide, out=np.zeros(count), where=wide > 0)
        straight = filled[a] + part[:, None] * (filled[b] - filled[a])
        departure = np.where(must, 0.0, (np.abs(filled - straight) / tolerance).max(axis=1, initial=0.0))
        largest = np.maximum.reduceat(departure, kept_places)
        worst = (departure == largest[before]) & (departure > 1.0)
        if not worst.any():
            return kept_places
        places = np.flatnonzero(worst)
        must[places[np.unique(before[places], return_index=True)[1]]] = True


def thin_figures(figures: Iterable[Figure], part: float) -> list[Figure]:
    """Return figures whose curves have no more points than they need to stay within a part of their height,
    and values rounded to a tenth of that. Points, cells and flows stay as they are."""
    return [_thin_figure(figure, part) for figure in figures]


def _thin_figure(figure: Figure, part: float) -> Figure:
    """Thin curves that share their x together, so that they share it afterwards, too."""
    heights = [values for trace in figure.traces for values in _columns(trace)]
    finite = [column[np.isfinite(column)] for column in heights]
    low = min((float(c.min()) for c in finite if c.size), default=0.0)
    high = max((float(c.max()) for c in finite if c.size), default=0.0)
    if not high > low:
        return figure
    groups: dict[tuple[bytes, bool], list[int]] = {}
    for k, trace in enumerate(figure.traces):
        if isinstance(trace, (Line, Band, Areas)) and _over_x(trace):
            stepped = isinstance(trace, Line) and trace.step
            groups.setdefault((np.asarray(trace.x, dtype=float).tobytes(), stepped), []).append(k)
    traces = list(figure.traces)
    for (x_bytes, stepped), places in groups.items():
        x = np.frombuffer(x_bytes)
        columns = np.column_stack([c for k in places for c in _columns(traces[k])])
        if stepped:
            kept_places = _changes(columns)
        else:
            kept_places = kept_indices(x, columns, np.full(columns.shape[1], part * (high - low)))
        for k in places:
            traces[k] = _take(traces[k], kept_places, 0.1 * part * (high - low))
    return replace(figure, traces=tuple(traces))


def _over_x(trace: Line | Band | Areas) -> bool:
    """Whether a curve goes along x, has many points, and none of them has a time of its own."""
    timed = isinstance(trace, Line) and bool(len(trace.t))
    return not timed and len(trace.x) > MIN_THINNED_POINTS and bool((np.diff(trace.x) >= 0).all())


def keep_extremes(figures: Iterable[Figure], intervals: int) -> list[Figure]:
    """Return figures whose curves keep of every interval the least and the greatest value alone: what is
    left to do where values rise and fall from point to point, as noise does.

    intervals: into how many a curve is cut. Curves with times of their own, bands, areas, points, cells and
    flows stay as they are.
    """
    return [
        replace(figure, traces=tuple(_extremes_of(trace, intervals) for trace in figure.traces))
        for figure in figures
    ]


def _extremes_of(trace: Trace, intervals: int) -> Trace:
    if not isinstance(trace, Line) or not _over_x(trace) or len(trace.x) <= 2 * intervals:
        return trace
    kept_places = drawn_indices(trace.y, 2 * intervals)
    return replace(trace, x=trace.x[kept_places], y=trace.y[kept_places])


def _changes(columns: np.ndarray) -> np.ndarray:
    """The indices at which held values change, with the first and the last."""
    same = (columns[1:] == columns[:-1]) | (np.isnan(columns[1:]) & np.isnan(columns[:-1]))
    changed = np.concatenate([[True], ~same.all(axis=1)])
    changed[-1] = True
    return np.flatnonzero(changed)


def _columns(trace: Trace) -> Sequence[np.ndarray]:
    """The heights of a curve."""
    if isinstance(trace, Line):
        return [trace.y]
    if isinstance(trace, Band):
        return [trace.lower, trace.upper]
    return list(trace.layers.values()) if isinstance(trace, Areas) else []


def _take(trace: Trace, kept_places: np.ndarray, unit: float) -> Trace:
    """Some points of a curve, in whole decimal places not coarser than `unit`."""
    places = int(np.ceil(-np.log10(unit)))
    if isinstance(trace, Line):
        return replace(trace, x=trace.x[kept_places], y=np.round(trace.y[kept_places], places))
    if isinstance(trace, Band):
        edges = {n: np.round(getattr(trace, n)[kept_places], places) for n in ("lower", "upper")}
        return replace(trace, x=trace.x[kept_places], **edges)
    assert isinstance(trace, Areas)
    layers = {name: np.round(values[kept_places], places) for name, values in trace.layers.items()}
    return replace(trace, x=trace.x[kept_places], layers=layers)


__all__ = ["keep_extremes", "kept_indices", "thin_figures"]
