"""Figures as data for the script that draws them in pages (scripts/plots.js): JSON, numbers with the digits
one can see, and columns that several curves share only once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np

from strut.view.figures.alt_text import alt_text
from strut.view.figures.figure import (
    PALETTE,
    Areas,
    Band,
    Cells,
    Figure,
    Flow,
    Line,
    Points,
    Trace,
    distinct_colors,
    flow_colors,
)

PAGE_DIGITS = 7
"""Significant digits of numbers in a page: what can be seen after zooming in some thousand times. The data
itself is in the run's file."""
BAND_OPACITY = 0.19
"""Opacity of a band between curves, and of shaded parts."""


class Columns:
    """Numbers of the curves of a page, each column once: a curve says the place of its own."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._places: dict[bytes, int] = {}

    def place(self, values: np.ndarray) -> int:
        """Return the number of a column; it is added where it is new."""
        array = np.ascontiguousarray(values, dtype=float)
        key = array.tobytes()
        if key not in self._places:
            self._places[key] = len(self._texts)
            self._texts.append(json.dumps(page_numbers(array), allow_nan=False, separators=(",", ":")))
        return self._places[key]

    @property
    def text(self) -> str:
        """All columns, as JSON."""
        return f"[{','.join(self._texts)}]"


class PageFigures:
    """Writes the figures of a page as JSON."""

    def __init__(self) -> None:
        self._columns = Columns()

    def write(self, figures: Iterable[Figure]) -> str:
        """Return a list of figures as JSON; numbers of a curve are places among the `columns`."""
        texts = [
            json.dumps(page_figure(f, self._columns), allow_nan=False, separators=(",", ":")) for f in figures
        ]
        return f"[{','.join(texts)}]"

    @property
    def columns(self) -> str:
        """The columns of all figures written so far, as JSON."""
        return self._columns.text


def page_figure(figure: Figure, columns: Columns) -> dict[str, Any]:
    """Return a figure as the script of a page reads it."""
    shades = [
        [name, PALETTE[k % len(PALETTE)], page_numbers(parts)]
        for k, (name, parts) in enumerate(figure.shaded.items())
    ]
    return {
        "x": figure.x,
        "y": figure.y,
        "time": figure.over_time,
        "equal": figure.equal,
        "legend": figure.legend,
        "height": int(figure.height),
        "span": None if figure.span is None else page_numbers(figure.span),
        "ySpan": None if figure.height_span is None else page_numbers(figure.height_span),
        "fine": figure.fine,
        "counted": figure.counted,
        "markNames": figure.mark_names,
        "marks": [[name, page_numbers(times)] for name, times in figure.marks.items() if len(times)],
        "shades": shades,
        "code": figure.code,
        "alt": alt_text(figure),
        "traces": [page_trace(trace, columns) for trace in figure.traces],
    }


@singledispatch
def page_trace(trace: Trace, columns: Columns) -> dict[str, Any]:
    """Return a mark of a figure as the script of a page reads it. Every kind registers below how it is
    written."""
    raise NotImplementedError(f"page_figures does not know how to write a {type(trace).__name__}")


@page_trace.register
def _line(line: Line, columns: Columns) -> dict[str, Any]:
    times = {"t": columns.place(line.t)} if len(line.t) else {}
    return {
        "kind": "line",
        "name": line.name,
        "x": columns.place(line.x),
        "y": columns.place(line.y),
        "color": line.color,
        "dash": line.dash,
        "width": line.width,
        "step": line.step,
    } | times


@page_trace.register
def _points(points: Points, columns: Columns) -> dict[str, Any]:
    more: dict[str, Any] = {"labels": list(points.labels)} if points.labels else {}
    more |= {"walks": list(points.walks)} if points.walks else {}
    return {
        "kind": "points",
        "name": points.name,
        "x": columns.place(points.x),
        "y": columns.place(points.y),
        "color": points.color,
        "symbol": points.symbol,
        "size": points.size,
    } | more


@page_trace.register
def _band(band: Band, columns: Columns) -> dict[str, Any]:
    return {
        "kind": "band",
        "x": columns.place(band.x),
        "lower": columns.place(band.lower),
        "upper": columns.place(band.upper),
        "color": band.color,
        "opacity": BAND_OPACITY,
    }


@page_trace.register
def _areas(areas: Areas, columns: Columns) -> dict[str, Any]:
    layers = [
        {"name": name, "color": areas.colors[k], "y": columns.place(values)}
        for k, (name, values) in enumerate(areas.layers.items())
    ]
    return {"kind": "areas", "x": columns.place(areas.x), "layers": layers}


@page_trace.register
def _cells(cells: Cells, columns: Columns) -> dict[str, Any]:
    values = np.asarray(cells.values, dtype=float)
    keys = sorted(cells.names)
    names = [
        [key, cells.names[key], color] for key, color in zip(keys, distinct_colors(len(keys)), strict=True)
    ]
    finite = values[np.isfinite(values)]
    span = [float(finite.min()), float(finite.max())] if finite.size else [0.0, 1.0]
    return {
        "kind": "cells",
        "title": cells.title,
        "x": columns.place(cells.x),
        "y": columns.place(cells.y),
        "values": page_numbers(values),
        "names": names,
        "range": page_numbers(span),
    }


@page_trace.register
def _flow(flow: Flow, columns: Columns) -> dict[str, Any]:
    del columns  # a flow has no curves
    colors = flow_colors(flow)
    sources = [[n, v, colors[k]] for k, (n, v) in enumerate(flow.sources.items())]
    sinks = [[n, v, colors[len(sources) + 1 + k]] for k, (n, v) in enumerate(flow.sinks.items())]
    sides = {"sources": page_numbers(sources), "sinks": page_numbers(sinks)}
    return {"kind": "flow", "middle": flow.middle, "unit": flow.unit, **sides}


def page_numbers(value: Any) -> Any:
    """Return what JSON can say: numbers rounded to `PAGE_DIGITS`, nan a gap."""
    if isinstance(value, np.ndarray):
        return page_numbers(value.tolist())
    if isinstance(value, (list, tuple)):
        return [page_numbers(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        rounded = float(f"{value:.{PAGE_DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e7 else rounded
    return value


__all__ = ["PAGE_DIGITS", "PageFigures", "page_figure", "page_numbers", "page_trace"]
