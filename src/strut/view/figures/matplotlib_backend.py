"""Figures on paper: PNG, SVG and PDF by matplotlib. No display, no browser, and no state outside of the
figure drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from strut.extras import optional_module
from strut.view.figures.figure import (
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
from strut.view.figures.plotly_backend import COLOR_SCALE

FIGURE_WIDTH = 6.3
"""Width of a figure [inch]: a page of A4 between its margins."""

SQUARE_WIDTH = 4.6
"""Width of a figure that is about as high as wide [inch]."""

MARGINS = {"left": 0.78, "right": 0.12, "top": 0.1, "bottom": 0.46}
"""Room around the axes [inch]."""

LEGEND_ROW = 0.19
"""Height of a row of a legend [inch]."""

DIGIT_WIDTH = 0.068
"""Width of a digit of a tick's label [inch]."""

CELLS_WIDTH_FRACTION = 0.6
"""Part of a figure's width that its axes have beside a scale of colours, about."""

PIXELS_PER_INCH = 96
"""Pixels of a page's figure to an inch of one on paper."""

LINE_STYLES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
"""Styles of lines of a figure, as matplotlib calls them."""
MARKERS = {"circle": "o", "circle-open": "o", "diamond": "D", "square": "s", "cross": "X"}
"""Symbols of points of a figure, as matplotlib calls them."""
HOLLOW = ("circle-open",)
"""Symbols of which only the edge is drawn."""
RC_PARAMETERS = {
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
"""Settings of matplotlib: text stays text in SVG and PDF, and the same figure gives the same file."""

PURPOSE = "a figure as PNG, SVG or PDF"
"""What matplotlib is needed for."""

NO_DATE: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata of a file, by its kind, that leaves out when it was written."""


def write(figures: Sequence[Figure], kinds: Sequence[str]) -> list[bytes]:
    """Draw figures once, one below the other, and return the contents of a file of each kind: png, svg or
    pdf."""
    drawn = matplotlib_figure(*figures)
    mpl = optional_module("matplotlib", PURPOSE)

    contents = []
    with mpl.rc_context(RC_PARAMETERS):
        for kind in kinds:
            file = io.BytesIO()
            drawn.savefig(file, format=kind, metadata=NO_DATE.get(kind))
            contents.append(file.getvalue())
    return contents


def svg(*figures: Figure) -> str:
    """Return figures, one below the other, as the text of an SVG file."""
    return write(figures, ["svg"])[0].decode("utf-8")


def matplotlib_figure(*figures: Figure) -> Any:
    """A figure of matplotlib with its own canvas; several figures are its panels, one below the other."""
    mpl = optional_module("matplotlib", PURPOSE)
    FigureCanvasAgg = optional_module("matplotlib.backends.backend_agg", PURPOSE).FigureCanvasAgg
    Sheet = optional_module("matplotlib.figure", PURPOSE).Figure
    with mpl.rc_context(RC_PARAMETERS):
        cells = any(
            isinstance(trace, Cells) for figure in figures for trace in figure.traces
        )  # a scale of colours needs room
        width = SQUARE_WIDTH if all(figure.equal for figure in figures) or cells else FIGURE_WIDTH
        legends = [_legend_shape(figure, width) for figure in figures]
        heights = [
            max(figure.height / PIXELS_PER_INCH, 1.6) + (0 if cells else LEGEND_ROW * rows)
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
                draw_trace(trace, axes)
            _marks(axes, figure)
            if not cells and not figure.flows:
                _make_room(axes, width)
            if not figure.flows:
                _fewer_ticks(
                    axes,
                    (CELLS_WIDTH_FRACTION if cells else axes.get_position().width) * width,
                    figure.counted,
                )
            if columns:
                axes.legend(
                    loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=columns, borderpad=0.2
                )
    return sheet


def _legend_shape(figure: Figure, width: float) -> tuple[int, int]:
    """Columns and rows of a legend above the axes; no column, no legend."""
    labels = [name for trace in figure.traces for name in trace.legend_names]
    labels += list(figure.marks) if figure.mark_names else []
    if not figure.legend or figure.flows or not any(labels):
        return 0, int(figure.fine)  # a power of ten needs a row
    room = width - MARGINS["left"] - MARGINS["right"]
    columns = int(np.clip(room // (0.55 + 0.062 * max(map(len, labels))), 1, len(labels)))
    return columns, -(-len(labels) // columns)


def _place(
    figure: Figure, heights: Sequence[float], k: int, width: float, rows: int
) -> tuple[float, float, float, float]:
    """The place of panel k in the sheet, as matplotlib wants it: by fixed margins, which costs nothing, where
    finding them would draw everything twice."""
    margin = dict.fromkeys(MARGINS, 0.05) if figure.flows else MARGINS
    whole, low = sum(heights), sum(heights[k + 1 :])
    high = heights[k] - margin["top"] - margin["bottom"] - LEGEND_ROW * rows
    left, wide = margin["left"] / width, (width - margin["left"] - margin["right"]) / width
    return left, (low + margin["bottom"]) / whole, wide, high / whole


def _make_room(axes: Any, width: float) -> None:
    """Widen the left margin for numbers along y that are longer than it."""
    written = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())
    left = max(MARGINS["left"], 0.4 + DIGIT_WIDTH * max(map(len, written), default=0)) / width
    place = axes.get_position()
    axes.yaxis.get_offset_text().set_ha("right")  # a power of ten, if there is one, stands beside the legend
    axes.set_position([left, place.y0, place.x1 - left, place.height])


def _fewer_ticks(axes: Any, room: float, whole: bool) -> None:
    """Leave no more numbers along x than there is room for [inch], with two digits between them."""
    MaxNLocator = optional_module("matplotlib.ticker", PURPOSE).MaxNLocator

    low, high = sorted(axes.get_xlim())
    for most in range(9, 0, -1):
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        written = axes.xaxis.get_major_formatter().format_ticks(ticks)
        if len(written) < 2 or DIGIT_WIDTH * (max(map(len, written)) + 2) <= room * float(
            ticks[1] - ticks[0]
        ) / (high - low):
            return
        axes.xaxis.set_major_locator(MaxNLocator(most, integer=whole))


def _axes(axes: Any, figure: Figure) -> None:
    """Set titles, spans and ticks of axes."""
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
    """Draw thin vertical lines at events."""
    for k, parts in enumerate(figure.shaded.values()):
        for begin, end in parts:
            axes.axvspan(begin, end, color=PALETTE[k % len(PALETTE)], alpha=0.12, linewidth=0)
    styles = list(LINE_STYLES.values())
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


@singledispatch
def draw_trace(trace: Trace, axes: Any) -> None:
    """Draw a trace into axes of matplotlib. Every kind registers below how it is drawn."""
    raise NotImplementedError(f"matplotlib_backend does not know how to draw a {type(trace).__name__}")


@draw_trace.register
def _line(line: Line, axes: Any) -> None:
    axes.plot(
        line.x,
        line.y,
        drawstyle="steps-post" if line.step else "default",
        color=line.color,
        linestyle=LINE_STYLES[line.dash],
        linewidth=0.75 * line.width,
        label=plain(line.name),
    )


@draw_trace.register
def _points(points: Points, axes: Any) -> None:
    axes.plot(
        points.x,
        points.y,
        linestyle="none",
        label=plain(points.name),
        marker=MARKERS[points.symbol],
        markersize=0.6 * points.size,
        markerfacecolor="none" if points.symbol in HOLLOW else points.color,
        markeredgecolor=points.color,
    )
    for x, y, label in zip(points.x, points.y, points.labels if points.written else (), strict=False):
        axes.annotate(plain(label), (x, y), xytext=(5, 4), textcoords="offset points", fontsize=7)


@draw_trace.register
def _between(band: Band, axes: Any) -> None:
    axes.fill_between(band.x, band.lower, band.upper, color=band.color, alpha=0.19, linewidth=0)


@draw_trace.register
def _areas(areas: Areas, axes: Any) -> None:
    floor = np.zeros(len(areas.x))
    for k, (name, top) in enumerate(zip(areas.layers, areas.tops, strict=True)):
        axes.fill_between(
            areas.x, floor, top, color=areas.colors[k], alpha=0.7, linewidth=0, label=plain(name)
        )
        floor = top
    axes.margins(x=0)


@draw_trace.register
def _cells(cells: Cells, axes: Any) -> None:
    colours = optional_module("matplotlib.colors", PURPOSE)

    axes.grid(False)
    if not cells.names:
        mesh = axes.pcolormesh(
            cells.x, cells.y, cells.values, cmap=COLOR_SCALE.lower(), shading="nearest", rasterized=True
        )
        axes.figure.colorbar(mesh, ax=axes, label=plain(cells.title))
        return
    keys = sorted(cells.names)
    ranks = np.searchsorted(keys, cells.values)
    has_name = np.isin(cells.values, keys)
    colors, edges = colours.ListedColormap(distinct_colors(len(keys))), np.arange(len(keys) + 1) - 0.5
    ranked = np.ma.masked_where(~has_name, ranks)
    norm = colours.BoundaryNorm(edges, len(keys))
    mesh = axes.pcolormesh(
        cells.x, cells.y, ranked, cmap=colors, norm=norm, shading="nearest", rasterized=True
    )
    bar = axes.figure.colorbar(mesh, ax=axes, label=plain(cells.title), ticks=range(len(keys)))
    bar.ax.set_yticklabels([plain(cells.names[key]) for key in keys])


@draw_trace.register
def _flow(flow: Flow, axes: Any) -> None:
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
            _band(axes, (outside, low_out), (inside, low_in), thick, color)
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


def _band(axes: Any, start: tuple[float, float], end: tuple[float, float], thick: float, color: str) -> None:
    """Draw a band that bends smoothly from one place to another; both are its lower edge."""
    (x0, y0), (x1, y1) = start, end
    a = np.linspace(0, 1, 60)
    bend = a * a * (3 - 2 * a)
    lower = y0 + (y1 - y0) * bend
    axes.fill_between(x0 + (x1 - x0) * a, lower, lower + thick, color=color, alpha=0.6, linewidth=0)


def plain(name: str) -> str:
    """A name as matplotlib's text, in which a dollar begins a formula."""
    return name.replace("$", r"\$")
