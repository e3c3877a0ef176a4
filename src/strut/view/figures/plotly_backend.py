"""Figures for plotly, in notebooks: as its own objects.

A figure is transparent and leaves text and grid colours to where it is shown.
"""

from __future__ import annotations

import html
import json
from functools import singledispatch
from typing import Any

import numpy as np

from strut.extras import optional_module
from strut.view.figures.figure import (
    DASHES,
    NEUTRAL,
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

TRANSPARENT = "rgba(0,0,0,0)"
"""Colour of what shows the page behind it."""

COLOR_SCALE = "Cividis"
"""Scale of colours for amounts: even to the eye, and the same to the colour-blind."""


def plotly_figure(figure: Figure) -> Any:
    """The figure as an object of plotly."""
    return optional_module("plotly.graph_objects", "an interactive figure").Figure(describe_figure(figure))


def mime(figure: Figure) -> Any:
    """Return plain data for notebooks that know plotly, if plotly is installed."""
    return json.loads(plotly_figure(figure).to_json())


def describe_figure(figure: Figure) -> dict[str, Any]:
    """Return a figure in plotly's terms: `data` and `layout`, as its script reads them."""
    data = [piece for trace in figure.traces for piece in plotly_traces(trace)]
    if figure.mark_names:
        data += [_mark(name, k) for k, (name, times) in enumerate(figure.marks.items()) if len(times)]
    return {"data": data, "layout": _layout(figure)}


def _layout(figure: Figure) -> dict[str, Any]:
    """Axes, margins, legend and the lines at events, in plotly's terms."""
    layout: dict[str, Any] = {
        "template": {},
        "height": figure.height,
        "margin": {"l": 64, "r": 14, "t": 10, "b": 42},
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "showlegend": figure.legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hovermode": "x unified" if figure.over_time else "closest",
        "meta": "time" if figure.over_time else "flow" if figure.flows else "",
    }
    if figure.flows:
        return layout | {"margin": {"l": 10, "r": 10, "t": 34, "b": 34}}
    x: dict[str, Any] = {
        "title": {"text": text(figure.x), "standoff": 6},
        "zeroline": False,
        "automargin": True,
    }
    y: dict[str, Any] = {
        "title": {"text": text(figure.y), "standoff": 6},
        "zeroline": False,
        "automargin": True,
    }
    if figure.span:
        x["range"] = list(figure.span)
    if figure.height_span:
        y["range"] = list(figure.height_span)
    if figure.equal:
        y |= {"scaleanchor": "x", "scaleratio": 1}
    if figure.counted:
        x |= {"tickformat": "d", "tick0": 0, "dtick": max(1, round(_widest(figure) / 10))}
    if figure.fine:
        y |= {"exponentformat": "e", "nticks": 4}
    shapes = [
        {
            **{
                "type": "path",
                "path": "".join(f"M{t!r},0V1" for t in times.tolist()),
                "xref": "x",
                "yref": "paper",
                "layer": "below",
            },
            **{"opacity": 0.6, "line": {"color": NEUTRAL, "width": 0.7, "dash": DASHES[k % len(DASHES)]}},
        }
        for k, times in enumerate(figure.marks.values())
        if len(times)
    ]
    shapes += [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "layer": "below",
            **{"x0": begin, "x1": end, "y0": 0, "y1": 1},
            **{"fillcolor": PALETTE[k % len(PALETTE)], "opacity": 0.12, "line": {"width": 0}},
        }
        for k, parts in enumerate(figure.shaded.values())
        for begin, end in parts.tolist()
    ]
    return layout | {"xaxis": x, "yaxis": y, "shapes": shapes}


def _widest(figure: Figure) -> float:
    """The longest extent of a curve along x."""
    return float(
        max((np.ptp(t.x) for t in figure.traces if isinstance(t, (Line, Points)) and len(t.x)), default=1.0)
    )


def _mark(name: str, k: int) -> dict[str, Any]:
    """A line in the legend that stands for an event; shapes have none that looks like them."""
    line = {"color": NEUTRAL, "width": 1, "dash": DASHES[k % len(DASHES)]}
    nothing = np.array([np.nan])
    return {"type": "scatter", "mode": "lines", "x": nothing, "y": nothing, "name": text(name), "line": line}


@singledispatch
def plotly_traces(trace: Trace) -> list[dict[str, Any]]:
    """Return a trace of a figure as traces of plotly. Every kind registers below how it is written."""
    raise NotImplementedError(f"plotly_backend does not know how to write a {type(trace).__name__}")


@plotly_traces.register
def _line(line: Line) -> list[dict[str, Any]]:
    style = {
        "color": line.color,
        "width": line.width,
        "dash": line.dash,
        "shape": "hv" if line.step else "linear",
        "simplify": False,  # plotly's simplification leaves visible corners
    }
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": line.x,
            "y": line.y,
            "name": text(line.name),
            "line": style,
        }
    ]


@plotly_traces.register
def _points(points: Points) -> list[dict[str, Any]]:
    scatter = {
        "type": "scatter",
        "mode": "markers",
        "x": points.x,
        "y": points.y,
        "name": text(points.name),
        "marker": {"color": points.color, "size": points.size, "symbol": points.symbol},
    }
    return [scatter | ({"text": [text(label) for label in points.labels]} if points.labels else {})]


@plotly_traces.register
def _band(band: Band) -> list[dict[str, Any]]:
    has_both = np.isfinite(band.lower) & np.isfinite(band.upper)
    x, lower, upper = band.x[has_both], band.lower[has_both], band.upper[has_both]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": np.concatenate([x, x[::-1]]),
            "y": np.concatenate([upper, lower[::-1]]),
            "line": {"color": band.color, "width": 0},
            "fillcolor": band.color + "30",
            "fill": "toself",
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


@plotly_traces.register
def _areas(areas: Areas) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": areas.x,
            "y": top,
            "name": text(name),
            "customdata": own,
            "line": {"color": areas.colors[k], "width": 0.8, "simplify": False},
            "fillcolor": areas.colors[k] + "b0",
            "fill": "tonexty" if k else "tozeroy",
            "hovertemplate": "%{customdata:.6g}",
        }
        for k, ((name, own), top) in enumerate(zip(areas.layers.items(), areas.tops, strict=True))
    ]


@plotly_traces.register
def _cells(cells: Cells) -> list[dict[str, Any]]:
    heatmap: dict[str, Any] = {
        "type": "heatmap",
        "x": cells.x,
        "y": cells.y,
        "z": np.asarray(cells.values, dtype=float),
    }
    bar: dict[str, Any] = {"title": {"text": text(cells.title)}, "outlinewidth": 0, "thickness": 14}
    if not cells.names:
        return [heatmap | {"colorscale": COLOR_SCALE, "colorbar": bar}]
    keys = sorted(cells.names)
    colors = distinct_colors(len(keys))
    ranks = {key: k for k, key in enumerate(keys)}
    ranked = np.vectorize(lambda v: ranks.get(int(v), -1) if np.isfinite(v) else -1, otypes=[float])(
        cells.values
    )
    n = len(keys)
    scale = [[(k + side) / n, color] for k, color in enumerate(colors) for side in (0, 1)]
    bar |= {"tickvals": list(range(n)), "ticktext": [text(cells.names[key]) for key in keys]}
    heatmap |= {
        "z": np.where(ranked < 0, np.nan, ranked),
        "colorscale": scale,
        "zmin": -0.5,
        "zmax": n - 0.5,
        "colorbar": bar,
    }
    words = [
        [text(cells.names.get(int(v), "")) if np.isfinite(v) else "" for v in row] for row in cells.values
    ]
    hover = "%{x:.6g}, %{y:.6g}: %{customdata}<extra></extra>"
    return [heatmap | {"customdata": words, "hovertemplate": hover}]


@plotly_traces.register
def _flow(flow: Flow) -> list[dict[str, Any]]:
    names = [*flow.sources, flow.middle, *flow.sinks]
    amounts = [*flow.sources.values(), sum(flow.sources.values()), *flow.sinks.values()]
    middle = len(flow.sources)
    colors = flow_colors(flow)
    links = {
        "source": [*range(middle), *[middle] * len(flow.sinks)],
        "target": [*[middle] * middle, *range(middle + 1, len(names))],
        "value": [*flow.sources.values(), *flow.sinks.values()],
        "color": [color + "70" for k, color in enumerate(colors) if k != middle],
    }
    labels = [
        f"{text(name).replace(' (', '<br>(')}<br>{amount:.4g} {text(flow.unit)}"
        for name, amount in zip(names, amounts, strict=True)
    ]
    labels[middle] = ""  # where there is little room it would lie under the others
    node = {"label": labels, "color": colors, "pad": 22, "thickness": 14, "line": {"width": 0}}
    return [
        {
            "type": "sankey",
            "node": node,
            "link": links,
            "valuesuffix": f" {text(flow.unit)}",
            "valueformat": ".5g",
        }
    ]


def text(name: str) -> str:
    """A name as plotly's text, in which tags and entities have a meaning."""
    return html.escape(name, quote=False)
