"""Figures of a run. Plotly is imported with the first figure, so that importing strut costs nothing for it.

Every figure is transparent and leaves text and grid colours to where it is shown; times are in seconds, energies in joules.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.errors import MissingExtraError
from strut.view.curves import account, curves, shown

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from strut.simulate.trajectory import Trajectory

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours for the colour-blind, without black and yellow: each reads on white and on black."""

NEUTRAL = "#808080"
"""For what is no quantity of its own: events, sums, resets."""

DASHES = ("solid", "dash", "dot", "dashdot")

MOST_EVENTS = 400
"""Marked in a figure: beyond that the lines would be all one sees."""


def states(trajectory: Trajectory) -> list[Figure]:
    """The continuous states over time, a figure per unit."""
    return _by_unit(trajectory, trajectory.names.x)


def held(trajectory: Trajectory) -> list[Figure]:
    """What changes only at instants, discrete states and inputs, over time, a figure per unit."""
    names = trajectory.names
    return _by_unit(trajectory, names.z, shape="hv") + _by_unit(trajectory, names.u, shape="hv")


def outputs(trajectory: Trajectory) -> list[Figure]:
    """The outputs over time: the coordinates of points (NAME_x, NAME_z) together, and the others."""
    coordinates = {label for pair in planar_points(trajectory.names.outputs).values() for label in pair}
    together = [[label for label in trajectory.names.outputs if (label in coordinates) == which] for which in (True, False)]
    return [figure for labels in together for figure in _by_unit(trajectory, labels)]


def phase_portraits(trajectory: Trajectory, most: int = 4) -> list[Figure]:
    """States against their rates, a figure per pair; dotted where an event resets them."""
    curve = curves(trajectory, trajectory.names.x)
    figures = []
    for name, rate in state_pairs(trajectory)[:most]:
        t, a, b = curve[name][0], curve[name][1], curve[rate][1]
        jumps = np.flatnonzero(np.diff(t) == 0)
        kept = np.unique(np.concatenate([shown(a), shown(b), jumps, jumps + 1]))
        after = np.searchsorted(kept, jumps + 1)  # a gap before each of these
        figure = _figure(_axis(trajectory, [name]), _axis(trajectory, [rate]), height=340)
        figure.update_layout(hovermode="closest")
        for label, line, xs, ys in (
            ("flow", {"color": PALETTE[0], "width": 1.6}, np.insert(a[kept], after, np.nan), np.insert(b[kept], after, np.nan)),
            ("reset", {"color": NEUTRAL, "width": 1, "dash": "dot"}, _separate(a, jumps), _separate(b, jumps)),
        ):
            if len(xs):
                figure.add_scatter(x=xs, y=ys, name=label, mode="lines", line={**line, "simplify": False})
        for label, k, symbol in (("begin", 0, "circle-open"), ("end", -1, "circle")):
            figure.add_scatter(x=a[[k]], y=b[[k]], name=label, mode="markers", marker={"color": PALETTE[1], "size": 9, "symbol": symbol})
        figures.append(figure)
    return figures


def energy(trajectory: Trajectory) -> Figure:
    """The energy account over time: what is stored, by name and in all; what was supplied, dissipated and lost so far."""
    books = account(trajectory)
    figure = _over_time(trajectory, "energy [J]", height=380)
    kinds = (
        ("", books.stored, "solid"),
        (", supplied", books.supplied, "dash"),
        (", dissipated", books.dissipated, "dot"),
        (", lost in events", books.lost, "dashdot"),
    )
    lines = [(name + kind, values, dash) for kind, entries, dash in kinds for name, values in entries.items()]
    for k, (name, values, dash) in enumerate(lines):
        _draw(figure, name, books.t, values, color=PALETTE[k % len(PALETTE)], dash=dash)
    if len(books.stored) > 1:
        _draw(figure, "all stored", books.t, books.energy, color=NEUTRAL, dash="solid", width=2.6)
    return figure


def residual(trajectory: Trajectory) -> Figure:
    """What the energy account cannot explain, over time, at the points of the run."""
    books = trajectory.ledger
    figure = _over_time(trajectory, "residual [J]", height=190)
    _draw(figure, "residual", books.t, books.imbalance, color=PALETTE[1], dash="solid")
    figure.update_layout(showlegend=False)
    figure.update_yaxes(exponentformat="e", nticks=4)
    return figure


# ---- what belongs together ----


def unit_of(trajectory: Trajectory, label: str) -> str:
    """The unit of a component, or nothing where none is known."""
    return trajectory.names.units.get(label) or trajectory.names.units.get(label.split("[")[0], "")


def planar_points(labels: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Points in the x-z plane by name: the labels of their coordinates, NAME_x and NAME_z."""
    known = list(labels)
    return {label[:-2]: (label, label[:-1] + "z") for label in known if label.endswith("_x") and label[:-1] + "z" in known}


def state_pairs(trajectory: Trajectory) -> list[tuple[str, str]]:
    """States with their rates, told by their units: the first in rad with the first in rad/s, and so on. Two states
    without units are taken for such a pair."""
    names = trajectory.names
    by_unit: dict[str, list[str]] = {}
    for label in names.x:
        by_unit.setdefault(unit_of(trajectory, label), []).append(label)
    if len(names.x) == 2 and list(by_unit) == [""]:
        return [(names.x[0], names.x[1])]
    return [pair for unit, labels in by_unit.items() if unit for pair in zip(labels, by_unit.get(unit + "/s", []), strict=False)]


# ---- drawing ----


def _by_unit(trajectory: Trajectory, labels: Iterable[str], shape: str = "linear") -> list[Figure]:
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(unit_of(trajectory, label), []).append(label)
    figures = []
    for group in groups.values():
        figure = _over_time(trajectory, _axis(trajectory, group), height=270 + 12 * max(0, len(group) - 6))  # room for the legend
        for k, (label, (t, values)) in enumerate(curves(trajectory, group).items()):
            _draw(figure, label, t, values, color=PALETTE[k % len(PALETTE)], dash=DASHES[k // len(PALETTE) % len(DASHES)], shape=shape)
        figure.update_layout(showlegend=len(group) > 1)  # of a single one the axis tells the name
        figures.append(figure)
    return figures


def _draw(figure: Figure, name: str, t: np.ndarray, values: np.ndarray, *, shape: str = "linear", width: float = 1.6, **line: Any) -> None:
    kept = shown(values)
    line |= {"shape": shape, "width": width, "simplify": False}  # plotly's simplification leaves visible corners
    figure.add_scatter(x=t[kept], y=values[kept], name=_text(name), mode="lines", line=line)


def _over_time(trajectory: Trajectory, y: str, height: int = 270) -> Figure:
    """An empty figure over the time of the run, with a thin line at every event."""
    figure = _figure("time [s]", y, height)
    figure.update_layout(meta="time")  # figures with this mark are zoomed together
    if trajectory.t1 > trajectory.t0:
        figure.update_xaxes(range=[trajectory.t0, trajectory.t1])
    times = trajectory.events.t
    if 0 < len(times) <= MOST_EVENTS:
        path = "".join(f"M{t!r},0V1" for t in times.tolist())
        figure.add_shape(type="path", path=path, xref="x", yref="paper", layer="below", opacity=0.6, line={"color": NEUTRAL, "width": 0.7})
    return figure


def _figure(x: str, y: str, height: int = 270) -> Figure:
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise MissingExtraError("plotly", "an HTML page", "view") from error
    clear = "rgba(0,0,0,0)"
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": 76, "r": 14, "t": 10, "b": 46},
            "paper_bgcolor": clear,
            "plot_bgcolor": clear,
            "xaxis": {"title": {"text": x}, "zeroline": False},
            "yaxis": {"title": {"text": y}, "zeroline": False},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "hovermode": "x unified",
        }
    )


def _axis(trajectory: Trajectory, labels: list[str]) -> str:
    """A title: the name if there is one, and the unit if one is known."""
    unit = unit_of(trajectory, labels[0])
    return _text(" ".join([*(labels if len(labels) == 1 else []), *([f"[{unit}]"] if unit else [])]))


def _text(name: str) -> str:
    """A name as plotly's text, in which tags and entities have a meaning."""
    return html.escape(name, quote=False)


def _separate(values: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Before and after each jump, with gaps in between."""
    return np.column_stack([values[jumps], values[jumps + 1], np.full(len(jumps), np.nan)]).ravel()
