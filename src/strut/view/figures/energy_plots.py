"""Where the joules go: the energy account of a run over time, as layers, as a flow, and step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from strut.checks import checked
from strut.simulate.steps import StepLedger
from strut.view.figures.curves import account, drawn_indices
from strut.view.figures.figure import NEUTRAL, SYMBOLS, Areas, Figure, Flow, Line, Points, distinct_colors
from strut.view.figures.plots import curve_line, over_time
from strut.view.units import shown_unit, title_with_unit

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

MIN_BAND = 1e-6
"""Width of the thinnest band in a picture of flows, as a part of the widest: a thinner one cannot be seen."""
MAX_CHANNELS = 16
"""Curves or layers of an account that a figure shows one by one; of more, the `MAIN_CHANNELS` that change
most, and the others of each kind together."""
MAIN_CHANNELS = 10
"""See `MAX_CHANNELS`."""
MAX_BANDS = 10
"""Bands at a side of a picture of flows; of more, the `MAIN_BANDS` widest, and the others of each kind
together."""
MAIN_BANDS = 7
"""See `MAX_BANDS`."""
BAND_HEIGHT = 60
"""Height [px] that a band's label of three lines needs in a picture of flows."""
MAX_ROWS = 40
"""Rows of a table of steps at most: of more steps, the first and the last ones."""


def channel_colors(trajectory: Trajectory) -> dict[str, str]:
    """One colour for each channel of the energy account, by its name, the same in every picture of a run. Of
    many, those that did most have the strongest colours: later ones are too pale to be seen."""
    n = trajectory.names
    channels = list(dict.fromkeys([*n.stored, *n.supplied, *n.dissipated, *n.lost]))
    if len(channels) > MAX_CHANNELS:
        totals, moved = trajectory.ledger.rounded_summary(), dict.fromkeys(channels, 0.0)
        for label, (_, name) in trajectory.ledger.channels().items():
            moved[name] = max(moved[name], abs(totals[label]))
        channels.sort(key=lambda name: -moved[name])
    return dict(zip(channels, distinct_colors(len(channels)), strict=True))


@checked
def energy(trajectory: Trajectory) -> Figure:
    """The energy account over time [J]: what is stored, by name and in all; what was supplied, dissipated and
    lost so far. Of many channels those that change most, and of each kind the sum of the others."""
    books = account(trajectory)
    kinds = (
        ("", books.stored, "solid"),
        (", supplied", books.supplied, "dash"),
        (", dissipated", books.dissipated, "dot"),
        (", lost in events", books.lost, "dashdot"),
    )
    colors, zero = channel_colors(trajectory), trajectory.ledger.resolution
    sizes = {
        name + kind: float(np.ptp(values)) if len(values) else 0.0
        for kind, entries, _ in kinds
        for name, values in entries.items()
    }
    main = main_names(sizes, MAX_CHANNELS, MAIN_CHANNELS)
    lines = []
    for kind, entries, dash in kinds:
        drawn_curves = {
            name + kind: (values, colors[name]) for name, values in entries.items() if name + kind in main
        }
        others = [values for name, values in entries.items() if name + kind not in main]
        if others:
            drawn_curves[_others_name(len(others), kind or ", stored")] = (np.sum(others, axis=0), NEUTRAL)
        lines += [
            curve_line(
                name,
                books.t,
                values if np.max(np.abs(values), initial=0.0) > zero else 0 * values,
                color,
                dash=dash,
            )
            for name, (values, color) in drawn_curves.items()
        ]
    if len(books.stored) > 1:
        lines.append(curve_line("all stored", books.t, books.energy, NEUTRAL, width=2.6))
    y = title_with_unit(trajectory, "energy", "J")
    return over_time(trajectory, lines, y, 380, code="strut.view.energy(run)")


@checked
def residual(trajectory: Trajectory) -> Figure:
    """What the energy account cannot explain [J], over time, at the points of the run."""
    books = trajectory.ledger
    line = curve_line("residual", books.t, books.imbalance, NEUTRAL)
    y = title_with_unit(trajectory, "residual", "J")
    return over_time(trajectory, [line], y, 190, fine=True, code="strut.view.residual(run)")


@checked
def energy_areas(trajectory: Trajectory) -> Figure:
    """The account as layers over time [J]: what was there and was supplied is stored, dissipated, lost or
    taken out.

    Stored energies are counted from their least value in the run, so that every layer has a thickness; the
    line on top is what there was at the beginning and what was supplied since. Where it leaves the layers,
    the account does not close.
    """
    books = account(trajectory)
    by_channel, zero = channel_colors(trajectory), trajectory.ledger.resolution
    layers = {
        f"{name}, stored": values - np.min(values, initial=np.inf) for name, values in books.stored.items()
    }
    channels = {f"{name}, stored": name for name in books.stored}
    available = np.full(len(books.t), sum(float(v[0]) for v in layers.values()) if len(books.t) else 0.0)
    ways = (
        (books.dissipated, 1, "dissipated"),
        (books.lost, 1, "lost in events"),
        (books.supplied, -1, "taken out"),
    )
    for entries, sign, word in ways:
        for name, values in entries.items():
            out = np.maximum(sign * values, 0.0)
            available = available + np.maximum(-sign * values, 0.0)
            layers[f"{name}, {word}"], channels[f"{name}, {word}"] = out, name
    layers = {name: values for name, values in layers.items() if np.max(values, initial=0.0) > zero}
    main = main_names({n: float(np.max(v)) for n, v in layers.items()}, MAX_CHANNELS, MAIN_CHANNELS)
    colors_by_layer = {name: by_channel[channels[name]] for name in layers if name in main}
    main_layers = {name: values for name, values in layers.items() if name in main}
    for word in ("stored", *(word for _, _, word in ways)):
        others = [v for name, v in layers.items() if name not in main and name.endswith(f", {word}")]
        if others:
            label = _others_name(len(others), f", {word}")
            main_layers[label], colors_by_layer[label] = np.sum(others, axis=0), NEUTRAL
    layers = main_layers
    drawn_points = np.unique(np.concatenate([drawn_indices(v) for v in (*layers.values(), available)]))
    colors = tuple(colors_by_layer[name] for name in layers)
    areas = Areas(
        books.t[drawn_points], {name: values[drawn_points] for name, values in layers.items()}, colors
    )
    top = Line(
        "there at the beginning, and supplied",
        books.t[drawn_points],
        available[drawn_points],
        NEUTRAL,
        width=2,
    )
    y = title_with_unit(trajectory, "energy", "J")
    return over_time(trajectory, (areas, top), y, 340, code="strut.view.energy_areas(run)")


@checked
def energy_flow(trajectory: Trajectory) -> Figure:
    """Draw where the joules of a run came from and where they went: on the left what was supplied or taken
    from a store, on the right what was dissipated, lost, or put into a store."""
    by_channel, channels = channel_colors(trajectory), trajectory.ledger.channels()
    kinds = {label: kind for label, (kind, _) in channels.items()}
    sources, sinks = (_join_thin(side, kinds) for side in flows(trajectory))
    colors = {
        label: by_channel[channels[label][1]] if label in channels else NEUTRAL
        for label in (*sources, *sinks)
    }
    flow = Flow(sources, sinks, trajectory.system_name, shown_unit(trajectory, "J"), colors)
    height = max(300, BAND_HEIGHT * max(len(sources), len(sinks)))
    return Figure((flow,), height=height, legend=False, code="strut.view.energy_flow(run)")


def main_names(sizes: Mapping[str, float], most: int, main: int) -> set[str]:
    """Return the names of what is drawn one by one, by the size of each: all, or of more than `most` the
    `main` largest."""
    ranked = sorted(sizes, key=lambda name: -sizes[name])
    return set(ranked if len(ranked) <= most else ranked[:main])


def _others_name(count: int, kind: str) -> str:
    return f"{count} other{'s' if count > 1 else ''}{kind}"


def _join_thin(side: Mapping[str, float], kinds: Mapping[str, str]) -> dict[str, float]:
    """One side of a picture of flows, with its thinnest bands as one of each kind where they are many."""
    main = main_names(side, MAX_BANDS, MAIN_BANDS)
    joined = {label: amount for label, amount in side.items() if label in main}
    for kind in dict.fromkeys(kinds[label] for label in side):
        others = [amount for label, amount in side.items() if label not in main and kinds[label] == kind]
        if others:
            joined[_others_name(len(others), f" ({kind})")] = sum(others)
    return joined


def flows(trajectory: Trajectory) -> tuple[dict[str, float], dict[str, float]]:
    """Sources and sinks of energy over the run [J], each positive; what is below rounding, or too thin to be
    seen, is left out."""
    totals, channels = trajectory.ledger.rounded_summary(), trajectory.ledger.channels()
    scale = max((abs(totals[label]) for label in channels), default=0.0)
    sources: dict[str, float] = {}
    sinks: dict[str, float] = {}
    for label, (kind, _) in channels.items():
        change = totals[label]
        if abs(change) > MIN_BAND * scale:
            (sources if (change < 0) == (kind == "stored") else sinks)[label] = abs(change)
    return sources, sinks


@checked
def energy_per_step(trajectory: Trajectory, event: str | None = None) -> Figure:
    """What every channel did in each step [J]."""
    steps = trajectory.steps(event)
    number = np.arange(1, len(steps) + 1)[steps.whole]
    colors, channels = channel_colors(trajectory), trajectory.ledger.channels()
    points = [
        Points(
            name,
            number,
            steps.changes[name][steps.whole],
            colors[channels[name][1]],
            SYMBOLS[k % len(SYMBOLS)],
            max(5, 12 - 3 * k),
        )
        for k, name in enumerate(_moving_channels(steps, trajectory))
    ]
    return Figure(
        tuple(points),
        "step",
        title_with_unit(trajectory, "change of stored energy", "J"),
        height=300,
        counted=True,
    )


def _moving_channels(steps: StepLedger, trajectory: Trajectory) -> list[str]:
    """Channels that did more than the resolution of the account in some step."""
    zero = trajectory.ledger.resolution
    return [
        name
        for name in steps.active_channels()
        if float(np.max(np.abs(steps.changes[name]), initial=0.0)) > zero
    ]


@checked
def ledger_table(
    trajectory: Trajectory,
    event: str | None = None,
    most_columns: int = 6,
    most_rows: int = MAX_ROWS,
    digits: int = 6,
) -> EnergyTable:
    """The account step by step, to be printed: columns are the channels that did something, or their kinds
    where those are many. digits: significant ones of each number."""
    steps = trajectory.steps(event)
    columns = {name: steps.changes[name] for name in _moving_channels(steps, trajectory)}
    if len(columns) > most_columns:
        kinds = dict.fromkeys(steps.kinds[name] for name in columns)
        columns = {kind: steps.total(kind) for kind in kinds}
    return EnergyTable(
        steps,
        columns,
        most_rows,
        trajectory.ledger.resolution,
        title_with_unit(trajectory, "until", "s"),
        digits,
    )


class EnergyTable:
    """Rows of text: steps with their end and what every channel did; then all of them together. What is not
    above `zero` is 0: what the books leave open stands beside it. until: the title of the times. digits:
    significant ones of each number."""

    def __init__(  # noqa: PLR0917 -- made in one place
        self,
        steps: StepLedger,
        columns: Mapping[str, np.ndarray],
        most: int,
        zero: float,
        until: str,
        digits: int = 6,
    ) -> None:
        self.steps, self.columns, self._zero, self._digits = steps, columns, zero, digits
        self.head = ["step", until, *columns, "residual"]
        n = len(steps)
        picked = list(range(n)) if n <= most else [*range(most // 2), -1, *range(n - (most - most // 2), n)]
        self.rows = [["…"] * len(self.head) if k < 0 else self._row(k) for k in picked]
        if n > 1:
            sums = [self._cell(values.sum()) for values in columns.values()]
            self.rows.append(["all", f"{steps.end[-1]:.{digits}g}", *sums, f"{steps.residual.sum():+.1e}"])

    def _row(self, k: int) -> list[str]:
        number = str(k + 1) if self.steps.whole[k] else "rest"
        values = [self._cell(values[k]) for values in self.columns.values()]
        return [number, f"{self.steps.end[k]:.{self._digits}g}", *values, f"{self.steps.residual[k]:+.1e}"]

    def _cell(self, value: float) -> str:
        return f"{value:+.{self._digits}g}" if abs(value) > self._zero else "0"

    def __str__(self) -> str:
        widths = [max(len(row[k]) for row in [self.head, *self.rows]) for k in range(len(self.head))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in [self.head, *self.rows]
        )

    def _repr_html_(self) -> str:
        from strut.html import table

        return table(self.head, self.rows, numbers=tuple(range(len(self.head))))
