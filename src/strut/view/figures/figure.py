"""`Figure`: what a plot shows, as plain data. Scripts of ours draw it in pages, plotly in notebooks,
matplotlib on paper; to make one needs none of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strut.errors import MissingExtraError

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours for the colour-blind, without black and yellow: each reads on white and on
black."""

NEUTRAL = "#808080"
"""Colour of what is no quantity of its own: events, sums, resets."""


def distinct_colors(count: int) -> list[str]:
    """Return as many colours: those beyond the palette are paler, so that many can be told apart."""
    return [_pale(PALETTE[k % len(PALETTE)], 0.55 ** (k // len(PALETTE))) for k in range(count)]


def _pale(shade: str, part: float) -> str:
    """A colour mixed with white."""
    return "#" + "".join(f"{round(255 - part * (255 - int(shade[k : k + 2], 16))):02X}" for k in (1, 3, 5))


DASHES = ("solid", "dash", "dot", "dashdot")
"""Styles of lines, in the order in which they are used."""

SYMBOLS = ("circle", "diamond", "square", "cross", "circle-open")
"""Signs of points, in the order in which they are used."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve; nan breaks it. step: what is held until the next point. t: the time of each point [s], of a
    curve of a run over something else: a page marks where the run is."""

    name: str
    x: np.ndarray
    y: np.ndarray
    color: str = PALETTE[0]
    dash: str = "solid"
    width: float = 1.6
    step: bool = False
    t: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def legend_names(self) -> tuple[str, ...]:
        """What stands in the legend."""
        return (self.name,)


@dataclass(frozen=True, eq=False)
class Points:
    """Points that are not joined; `labels` say something of each, when pointed at, and if `written` also on
    paper. walks: by point, the title of the film that a page shows when the point is clicked."""

    name: str
    x: np.ndarray
    y: np.ndarray
    color: str = PALETTE[0]
    symbol: str = "circle"
    size: float = 8
    labels: tuple[str, ...] = ()
    written: bool = False
    walks: tuple[str, ...] = ()

    @property
    def legend_names(self) -> tuple[str, ...]:
        """What stands in the legend."""
        return (self.name,)


@dataclass(frozen=True, eq=False)
class Band:
    """What lies between two curves, as a pale area without an entry in the legend; nan leaves a part out."""

    x: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    color: str = PALETTE[0]

    @property
    def legend_names(self) -> tuple[str, ...]:
        """What stands in the legend: nothing, a band belongs to a curve."""
        return ()


@dataclass(frozen=True, eq=False)
class Areas:
    """Layers over x, each as thick as its values, which are not negative; the first lies lowest."""

    x: np.ndarray
    layers: Mapping[str, np.ndarray]
    colors: tuple[str, ...]

    @property
    def legend_names(self) -> tuple[str, ...]:
        """What stands in the legend."""
        return tuple(self.layers)

    @property
    def tops(self) -> list[np.ndarray]:
        """The upper edge of every layer."""
        return list(np.cumsum(list(self.layers.values()), axis=0))


@dataclass(frozen=True, eq=False)
class Cells:
    """A picture of a grid: `values` by row (y) and column (x). With `names`, values are whole numbers that
    have a meaning each."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    title: str = ""
    names: Mapping[int, str] = field(default_factory=dict)

    @property
    def legend_names(self) -> tuple[str, ...]:
        """What stands in the legend: nothing, a scale of colours is beside the axes."""
        return ()


@dataclass(frozen=True, eq=False)
class Flow:
    """What flows from sources into sinks, through one middle; the width of a band is its amount. colors: by
    name, of all or of none."""

    sources: Mapping[str, float]
    sinks: Mapping[str, float]
    middle: str
    unit: str
    colors: Mapping[str, str] = field(default_factory=dict)

    @property
    def legend_names(self) -> tuple[str, ...]:
        """What stands in the legend: nothing, bands carry their names."""
        return ()


def flow_colors(flow: Flow) -> list[str]:
    """Return the colours of sources, of the middle, and of sinks."""
    names = list(dict.fromkeys([*flow.sources, *flow.sinks]))
    by_name = flow.colors or dict(zip(names, distinct_colors(len(names)), strict=True))
    return [*(by_name[n] for n in flow.sources), NEUTRAL, *(by_name[n] for n in flow.sinks)]


Trace = Line | Points | Band | Areas | Cells | Flow
"""Any kind of mark that a figure has. A new kind is a dataclass in this union, one function each in
`page_figures`, `plotly_backend` and `matplotlib_backend`, and one in scripts/plot_marks.js; files of results
read and write its fields by their types."""

BACKENDS: dict[str, Callable[..., Any]] = {}
"""What draws and writes figures, by name: plotly, matplotlib, save, mime and svg. `strut.view` enters them
when it is imported, so that a figure, which is plain data, needs to know none of them."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A plot.

    traces: what is drawn, in this order. x, y: titles of the axes, with units.
    marks: events over x by name, as thin vertical lines; `mark_names` puts them into the legend.
    over_time: x is the time of a run; such figures of a page are zoomed together.
    equal: a unit is as long on both axes. height [px]. span, height_span: what x and y cover, if not their
        data.
    fine: numbers along y have powers of ten. counted: x are whole numbers.
    shaded: parts of x that are shaded behind everything, by name: rows of begin and end.
    code: the command or the Python that makes it, which a page shows by a button.
    """

    traces: tuple[Trace, ...]
    x: str = ""
    y: str = ""
    marks: Mapping[str, np.ndarray] = field(default_factory=dict)
    mark_names: bool = False
    over_time: bool = False
    equal: bool = False
    legend: bool = True
    height: int = 270
    span: tuple[float, float] | None = None
    height_span: tuple[float, float] | None = None
    fine: bool = False
    counted: bool = False
    shaded: Mapping[str, np.ndarray] = field(default_factory=dict)
    code: str = ""

    @property
    def by_name(self) -> dict[str, Line | Points]:
        """Curves and points by name."""
        return {trace.name: trace for trace in self.traces if isinstance(trace, (Line, Points))}

    @property
    def flows(self) -> bool:
        """Is it a picture of flows, which has no axes?"""
        return any(isinstance(trace, Flow) for trace in self.traces)

    def plotly(self) -> Any:
        """Return a figure of plotly, to change or combine further."""
        return BACKENDS["plotly"](self)

    def matplotlib(self) -> Any:
        """Return a figure of matplotlib, to change or combine further."""
        return BACKENDS["matplotlib"](self)

    def save(self, path: str | Path) -> Path:
        """Write it: .png, .svg or .pdf for paper, .html to zoom in."""
        written: Path = BACKENDS["save"](self, path)
        return written

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """In a notebook: interactive where plotly is installed, as a drawing where matplotlib is; the
        notebook takes the best."""
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        for kind, draw in (("application/vnd.plotly.v1+json", "mime"), ("image/svg+xml", "svg")):
            with contextlib.suppress(MissingExtraError):
                bundle[kind] = BACKENDS[draw](self)
        if len(bundle) == 1:
            bundle["text/plain"] += ": pip install 'strut[view]' to see it"
        return bundle

    def __repr__(self) -> str:
        kinds = ", ".join(type(t).__name__ for t in self.traces)
        flows = [f"flow through {t.middle} [{t.unit}]" for t in self.traces if isinstance(t, Flow)]
        about = flows[0] if flows else " over ".join(title for title in (self.y, self.x) if title)
        return f"<Figure {about}: {kinds}>" if about else f"<Figure: {kinds}>"
