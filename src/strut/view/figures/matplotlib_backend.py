"""Figures on paper: PNG, SVG and PDF by matplotlib. No display, no browser, and no state outside of the
figure drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from strut.extras import optional_module
from strut.view.figures.figure import NEUTRAL, Areas, Cells, Figure, Flow, Line, Points, distinct_colors
from strut.view.figures.plotly_backend import SCALE, flow_colors

WIDTH = 6.3
"""Of a figure [inch]: a page of A4 between its margins."""

NARROW = 4.6
"""Of one that is about as high as wide [inch]."""

MARGINS = {"left": 0.78, "right": 0.12, "top": 0.1, "bottom": 0.46}
"""Around the axes [inch]."""

LEGEND_ROW = 0.19
"""How high a row of a legend is [inch]."""

CHARACTER = 0.068
"""How wide a digit of a tick's label is [inch]."""

CELLS_PART = 0.6
"""How much of a figure's width its axes have beside a scale of colours, about."""

PER_INCH = 96
"""Pixels of a page's figure, by which its height is scaled."""

LINES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
MARKERS = {"circle": "o", "circle-open": "o", "diamond": "D", "square": "s", "cross": "X"}
LOOK = {
    **{
        "font.size": 9,
        "font.family": "sans-serif",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
    },
    **{
        "legend.frameon": False,
        "legend.fontsize": 8,
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "svg.hashsalt": "strut",
    },
    **{
        "axes.grid": True,
        "grid.color": "#e3e6ea",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "figure.dpi": 200,
    },
}
"""Text stays text in SVG and PDF; the same figure gives the same file."""

PURPOSE = "a figure as PNG, SVG or PDF"
"""What matplotlib is needed for."""

UNDATED: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def write(figures: Sequence[Figure], kinds: Sequence[str]) -> list[bytes]:
    """The contents of files of these kinds, png, svg or pdf, of one drawing."""
    drawn = matplotlib_figure(*figures)
    mpl = optional_module("matplotlib", PURPOSE)

    found = []
    with mpl.rc_context(LOOK):
        for kind in kinds:
            held = io.BytesIO()
            drawn.savefig(held, format=kind, metadata=UNDATED.get(kind))
            found.append(held.getvalue())
    return found


def svg(*figures: Figure) -> str:
    return write(figures, ["svg"])[0].decode("utf-8")


def matplotlib_figure(*figures: Figure) -> Any:
    """A figure of matplotlib with its own canvas; several figures are its panels, one below the other."""
    mpl = optional_module("matplotlib", PURPOSE)
    FigureCanvasAgg = optional_module("matplotlib.backends.backend_agg", PURPOSE).FigureCanvasAgg
    Sheet = optional_module("matplotlib.figure", PURPOSE).Figure
    with mpl.rc_context(LOOK):
        cells = any(
            isinstance(trace, Cells) for figure in figures for trace in figure.traces
        )  # a scale of colours needs room
        width = NARROW if all(figure.equal for figure in figures) or cells else WIDTH
        legends = [_legend_shape(figure, width) for figure in figures]
        heights = [
            max(figure.height / PER_INCH, 1.6) + (0 if cells else LEGEND_ROW * rows)
            for figure, (_, rows) in zip(figures, legends, strict=True)
        ]
        sheet = Sheet(figsize=(width, sum(heights)), layout="constrained" if cells else None)
        FigureCanvasAgg(sheet)
        for k, (figure, (columns, rows)) in enumerate(zip(figures, legends, strict=True)):
            axes = (
                sheet.add_subplot(len(figures), 1, k + 1)
                if cells
                else sheet.add_axes(_place(figure, heights, k, width, rows))
            )
            _axes(axes, figure)
            for trace in figure.traces:
                _draw(axes, trace)
            _marks(axes, figure)
            if not cells and not figure.flows:
                _make_room(axes, width)
            if not figure.flows:
                _fewer_ticks(
                    axes, (CELLS_PART if cells else axes.get_position().width) * width, figure.counted
                )
            if columns:
                axes.legend(
                    loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=columns, borderpad=0.2
                )
    return sheet


def _legend_shape(figure: Figure, width: float) -> tuple[int, int]:
    """Columns and rows of a legend above the axes; no column, no legend."""
    labels = [
        name
        for trace in figure.traces
        for name in (trace.layers if isinstance(trace, Areas) else [getattr(trace, "name", "")])
    ]
    labels += list(figure.marks) if figure.mark_names else []
    if not figure.legend or figure.flows or not any(labels):
        return 0, int(figure.fine)  # a power of ten needs a row
    room = width - MARGINS["left"] - MARGINS["right"]
    columns = int(np.clip(room // (0.55 + 0.062 * max(map(len, labels))), 1, len(labels)))
    return columns, -(-len(labels) // columns)


def _place(
    figure: Figure, heights: Sequence[float], k: int, width: float, rows: int
) -> tuple[float, float, float, float]:
    """Of the axes in the sheet: by fixed margins, which costs nothing, where finding them would draw
    everything twice."""
    margin = dict.fromkeys(MARGINS, 0.05) if figure.flows else MARGINS
    whole, low = sum(heights), sum(heights[k + 1 :])
    high = heights[k] - margin["top"] - margin["bottom"] - LEGEND_ROW * rows
    left, wide = margin["left"] / width, (width - margin["left"] - margin["right"]) / width
    return left, (low + margin["bottom"]) / whole, wide, high / whole


def _make_room(axes: Any, width: float) -> None:
    """For numbers along y that are longer than the margin is wide."""
    written = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())
    left = max(MARGINS["left"], 0.4 + CHARACTER * max(map(len, written), default=0)) / width
    place = axes.get_position()
    axes.yaxis.get_offset_text().set_ha("right")  # a power of ten, if there is one, stands beside the legend
    axes.set_position([left, place.y0, place.x1 - left, place.height])


def _fewer_ticks(axes: Any, room: float, whole: bool) -> None:
    """Along x, no more numbers than there is room for [inch], with two digits between them."""
    MaxNLocator = optional_module("matplotlib.ticker", PURPOSE).MaxNLocator

    low, high = sorted(axes.get_xlim())
    for most in range(9, 0, -1):
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        written = axes.xaxis.get_major_formatter().format_ticks(ticks)
        if len(written) < 2 or CHARACTER * (max(map(len, written)) + 2) <= room * float(
            ticks[1] - ticks[0]
        ) / (high - low):
            return
        axes.xaxis.set_major_locator(MaxNLocator(most, integer=whole))


def _axes(axes: Any, figure: Figure) -> None:
    axes.set_xlabel(plain(figure.x))
    axes.set_ylabel(plain(figure.y))
    if figure.span:
        axes.set_xlim(*figure.span)
    if figure.height_span:
        axes.set_ylim(*figure.height_span)
    if figure.equal:
        axes.set_aspect("equal", adjustable="datalim")
    if figure.counted:
        MaxNLocator = optional_module("matplotlib.ticker", PURPOSE).MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if not figure.flows:
        axes.ticklabel_format(useOffset=False)
    if figure.fine:
        axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))


def _marks(axes: Any, figure: Figure) -> None:
    styles = list(LINES.values())
    for k, (name, times) in enumerate(figure.marks.items()):
        look = {
            "color": NEUTRAL,
            "linewidth": 0.5,
            "alpha": 0.6,
            "linestyle": styles[k % len(styles)],
            "zorder": 0.5,
        }
        axes.vlines(
            times,
            0,
            1,
            transform=axes.get_xaxis_transform(),
            label=plain(name) if figure.mark_names else None,
            **look,
        )


def _draw(axes: Any, trace: Any) -> None:
    if isinstance(trace, Line):
        style = {
            "color": trace.color,
            "linestyle": LINES[trace.dash],
            "linewidth": 0.75 * trace.width,
            "label": plain(trace.name),
        }
        axes.plot(trace.x, trace.y, drawstyle="steps-post" if trace.step else "default", **style)
    elif isinstance(trace, Points):
        face = "none" if trace.symbol.endswith("open") else trace.color
        style = {
            "marker": MARKERS[trace.symbol],
            "markersize": 0.6 * trace.size,
            "markerfacecolor": face,
            "markeredgecolor": trace.color,
        }
        axes.plot(trace.x, trace.y, linestyle="none", label=plain(trace.name), **style)
        for x, y, label in zip(trace.x, trace.y, trace.labels if trace.written else (), strict=False):
            axes.annotate(plain(label), (x, y), xytext=(5, 4), textcoords="offset points", fontsize=7)
    elif isinstance(trace, Areas):
        floor = np.zeros(len(trace.x))
        for k, (name, top) in enumerate(zip(trace.layers, trace.tops, strict=True)):
            axes.fill_between(
                trace.x, floor, top, color=trace.colors[k], alpha=0.7, linewidth=0, label=plain(name)
            )
            floor = top
        axes.margins(x=0)
    elif isinstance(trace, Cells):
        _cells(axes, trace)
    else:
        _flow(axes, trace)


def _cells(axes: Any, cells: Cells) -> None:
    colours = optional_module("matplotlib.colors", PURPOSE)

    axes.grid(False)
    if not cells.names:
        mesh = axes.pcolormesh(
            cells.x, cells.y, cells.values, cmap=SCALE.lower(), shading="nearest", rasterized=True
        )
        axes.figure.colorbar(mesh, ax=axes, label=plain(cells.title))
        return
    keys = sorted(cells.names)
    ranks = np.searchsorted(keys, cells.values)
    known = np.isin(cells.values, keys)
    colors, edges = colours.ListedColormap(distinct_colors(len(keys))), np.arange(len(keys) + 1) - 0.5
    ranked = np.ma.masked_where(~known, ranks)
    norm = colours.BoundaryNorm(edges, len(keys))
    mesh = axes.pcolormesh(
        cells.x, cells.y, ranked, cmap=colors, norm=norm, shading="nearest", rasterized=True
    )
    bar = axes.figure.colorbar(mesh, ax=axes, label=plain(cells.title), ticks=range(len(keys)))
    bar.ax.set_yticklabels([plain(cells.names[key]) for key in keys])


def _flow(axes: Any, flow: Flow) -> None:
    """Bands from the left into the middle and on to the right."""
    axes.set_axis_off()
    total = max(sum(flow.sources.values()), sum(flow.sinks.values())) or 1.0
    colors = flow_colors(flow)
    gap = 0.12
    sides = (
        (flow.sources, colors[: len(flow.sources)], 0.0, 0.46, "right", -0.015),
        (flow.sinks, colors[len(flow.sources) + 1 :], 1.0, 0.54, "left", 0.015),
    )
    for entries, own, outside, inside, align, away in sides:
        spread = gap * (len(entries) - 1)
        low_in, low_out = 0.0, -spread / 2
        for (name, amount), color in zip(reversed(list(entries.items())), reversed(own), strict=True):
            thick = amount / total
            _band(axes, outside, low_out, inside, low_in, thick, color)
            axes.text(
                outside + away,
                low_out + thick / 2,
                plain(f"{name}\n{amount:.4g} {flow.unit}".strip().replace(" (", "\n(")),
                ha=align,
                va="center",
                fontsize=8,
            )
            low_in, low_out = low_in + thick, low_out + thick + gap
    axes.fill_between([0.46, 0.54], 0, 1, color=NEUTRAL, linewidth=0)
    axes.text(
        0.5,
        1.03,
        plain(f"{flow.middle}: {total:.4g} {flow.unit}".strip()),
        ha="center",
        va="bottom",
        fontsize=8,
    )
    axes.set_xlim(-0.5, 1.5)
    axes.margins(y=0.12)


def _band(axes: Any, x0: float, y0: float, x1: float, y1: float, thick: float, color: str) -> None:
    a = np.linspace(0, 1, 60)
    bend = a * a * (3 - 2 * a)
    lower = y0 + (y1 - y0) * bend
    axes.fill_between(x0 + (x1 - x0) * a, lower, lower + thick, color=color, alpha=0.6, linewidth=0)


def plain(name: str) -> str:
    """A name as matplotlib's text, in which a dollar begins a formula."""
    return name.replace("$", r"\$")
