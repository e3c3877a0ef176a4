"""Figures of a run: its curves over time and against each other, with names and units from the run itself.
Times in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.view.figures.crowds import crowd_traces, is_in_crowd, name_pattern
from strut.view.figures.curves import curves, drawn_indices
from strut.view.figures.figure import DASHES, NEUTRAL, PALETTE, Band, Figure, Line, Points, distinct_colors
from strut.view.figures.name_groups import MAX_CURVES, name_groups
from strut.view.units import shown_unit, title_with_unit

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

MAX_EVENTS = 400
"""Events that a figure marks at most: beyond that the lines would be all one sees."""

EMPTY_SPAN = (-1.0, 1.0)
"""Span of the axis of curves that are nothing but rounding: as of curves that are zero."""
NOISE_FACTOR = 100.0
"""Multiple of a run's absolute tolerance up to which a value is rounding."""
ENERGY_UNITS = ("J", "N m", "N*m", "Nm", "W")
"""Units of quantities that the turnover of energy is a measure of."""


BESIDE_FROM = 2
"""Figures of a group beyond which a page puts them beside each other."""


class Panels(tuple[Figure, ...]):
    """Figures that belong together, one below the other."""

    def save(self, path: str | Path) -> Path:
        """All of them in one file: .png, .svg or .pdf for paper, .html to zoom in."""
        from strut.view.figures.save import save

        return save(self, path)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for figure in self:
            display(figure)


@checked
def plot(trajectory: Trajectory, *names: str, events: bool = True) -> Panels:
    """States, discrete states, inputs or outputs over time, by name, a panel per unit, with events marked;
    without names, the states. A vector gives all its components. Also `trajectory.plot(...)`."""
    labels = [label for name in names for label in components(trajectory, str(name))] or list(
        trajectory.names.x
    )
    held_ones = {*trajectory.names.z, *trajectory.names.u}
    return figures_by_unit(trajectory, labels, held_ones, events=events, mark_names=True)


@checked
def plot_samples(t: np.ndarray, curves_by_name: Mapping[str, tuple[np.ndarray, str]]) -> Panels:
    """Numbers that are held from one time [s] to the next, by name with their units: a panel per unit. Also
    `ControlledRun.plot(...)`."""
    units = dict.fromkeys(unit for _, unit in curves_by_name.values())
    panels = []
    for unit in units:
        names = [name for name, (_, own) in curves_by_name.items() if own == unit]
        traces = tuple(
            Line(name, t, curves_by_name[name][0], color, step=True)
            for name, color in zip(names, distinct_colors(len(names)), strict=True)
        )
        panels.append(Figure(traces, "t [s]", f"[{unit}]" if unit else "", over_time=True))
    return Panels(panels)


@checked
def states(trajectory: Trajectory) -> Panels:
    """The continuous states over time, a figure per unit, without what is zero throughout or bookkeeping."""
    figures = figures_by_unit(trajectory, _reader_labels(trajectory, trajectory.names.x))
    return with_code(figures, "strut.view.states(run)")


@checked
def held_signals(trajectory: Trajectory) -> Panels:
    """What changes only at instants, discrete states and inputs, over time, a figure per unit."""
    names = trajectory.names
    step = {*names.z, *names.u}
    panels = (
        figures_by_unit(trajectory, _reader_labels(trajectory, group), step) for group in (names.z, names.u)
    )
    return with_code([figure for group in panels for figure in group], "strut.view.held_signals(run)")


@checked
def internal_signals(trajectory: Trajectory) -> Panels:
    """The states by which the model keeps its books (`Quantity.internal`), over time, small, a figure per
    unit; nothing of what never changes."""
    names = trajectory.names
    labels = [n for n in (*names.x, *names.z) if n in names.internal and np.ptp(trajectory[n]) > 0]
    figures = figures_by_unit(trajectory, labels, set(names.z), height=200)
    return with_code(figures, "strut.view.internal_signals(run)")


def undrawn_count(trajectory: Trajectory, labels: Iterable[str], figures: Iterable[Figure]) -> int:
    """Return how many curves that a reader asks for are in none of the figures, as they are too many."""
    drawn_names = {name for figure in figures for name in figure.by_name}
    return sum(
        label not in drawn_names and not is_in_crowd(label, drawn_names)
        for label in _reader_labels(trajectory, labels)
    )


def zero_names(trajectory: Trajectory, labels: Iterable[str]) -> list[str]:
    """Return the names of curves that are zero throughout, or nothing but rounding."""
    internal = set(trajectory.names.internal)
    return [
        label
        for label in labels
        if label not in internal
        and np.max(np.abs(trajectory[label]), initial=0.0)
        <= noise_floor(trajectory, unit_of(trajectory, label))
    ]


def _reader_labels(trajectory: Trajectory, labels: Iterable[str]) -> list[str]:
    """Those that a reader asks for: no bookkeeping, and nothing that is zero throughout."""
    labels = list(labels)
    left_out = {*zero_names(trajectory, labels), *trajectory.names.internal}
    return [label for label in labels if label not in left_out]


@checked
def outputs(trajectory: Trajectory, without: Iterable[str] = ()) -> Panels:
    """The outputs over time, `without` some: the coordinates of points (`Scene.points`) together, and the
    others."""
    coordinates = {label for labels in trajectory.names.points.values() for label in labels}
    left_out = set(without)
    labels = [n for n in _reader_labels(trajectory, trajectory.names.outputs) if n not in left_out]
    together = [[label for label in labels if (label in coordinates) == which] for which in (True, False)]
    figures = [figure for labels in together for figure in figures_by_unit(trajectory, labels)]
    more = f", without={sorted(left_out)!r}" if left_out else ""
    return with_code(figures, f"strut.view.outputs(run{more})")


@checked
def phase_portrait(trajectory: Trajectory, name: str, rate: str) -> Figure:
    """One quantity against another, a state against its rate; dotted where an event resets them."""
    for each in (name, rate):
        if (columns := trajectory.table()) and each not in columns:
            raise UnknownNameError(
                f"'{trajectory.system_name}' has no curve '{each}': {did_you_mean(each, list(columns))}"
            )
    curve = curves(trajectory, [name, rate])
    t, a, b = curve[name][0], curve[name][1], curve[rate][1]
    jumps = np.flatnonzero(np.diff(t) == 0)
    drawn_points = np.unique(np.concatenate([drawn_indices(a), drawn_indices(b), jumps, jumps + 1]))
    after = np.searchsorted(drawn_points, jumps + 1)  # a gap before each of these
    traces: list[Line | Points] = [
        Line("flow", np.insert(a[drawn_points], after, np.nan), np.insert(b[drawn_points], after, np.nan))
    ]
    if len(jumps):
        traces.append(
            Line("reset", _separate(a, jumps), _separate(b, jumps), color=NEUTRAL, dash="dot", width=1)
        )
    traces += [
        Points(label, a[[k]], b[[k]], PALETTE[1], symbol, 9)
        for label, k, symbol in (("begin", 0, "circle-open"), ("end", -1, "circle"))
    ]
    return Figure(
        tuple(traces), axis(trajectory, [name]), axis(trajectory, [rate]), height=340, span=_padded_span(a)
    )


@checked
def phase_portraits(trajectory: Trajectory, most: int = 4) -> Panels:
    """States against their rates, a figure per pair."""
    figures = [phase_portrait(trajectory, *pair) for pair in state_pairs(trajectory)[:most]]
    return with_code(figures, "strut.view.phase_portraits(run)")


@checked
def poincare(
    trajectory: Trajectory,
    name: str,
    against: str | None = None,
    event: str | None = None,
    before: bool = False,
) -> Figure:
    """A Poincaré section: a state right after every occurrence of an event, over the number of the step, or
    `against` another.

    event: its name; the events that end a step unless given. before: right before the event instead.
    """
    chosen = {event} if event else set(trajectory.names.step_events)
    if event:
        trajectory.events.times(event)  # an error if there is no such event
    if not chosen:
        events_known = sorted(set(trajectory.names.jumps))
        raise ModelError(
            f"'{trajectory.system_name}' has no event that ends a step: say which to look at, event=...; "
            f"known: {events_known}"
        )
    for label in filter(None, (name, against)):
        if label not in (*trajectory.names.x, *trajectory.names.z):
            raise UnknownNameError(
                f"'{label}' is no state: {did_you_mean(label, [*trajectory.names.x, *trajectory.names.z])}"
            )
    met = [occurrence for occurrence in trajectory.events if occurrence.name in chosen]
    sides = [occurrence.before if before else occurrence.after for occurrence in met]
    y = np.array([side[name] for side in sides])
    x = np.arange(1, len(sides) + 1) if against is None else np.array([side[against] for side in sides])
    where = f"{'before' if before else 'after'} {' or '.join(sorted(chosen))}"
    traces: list[Line | Points] = [Points(where, x, y, PALETTE[0], size=7)]
    if len(sides):
        traces.append(Points("last", x[-1:], y[-1:], PALETTE[1], "diamond", 9))
    x_name = "step" if against is None else axis(trajectory, [against])
    wide = None if against is None else _at_least(x)
    return Figure(
        tuple(traces),
        x_name,
        axis(trajectory, [name]),
        height=340,
        span=wide,
        height_span=_at_least(y),
        counted=against is None,
    )


@checked
def sections(trajectory: Trajectory, most: int = 4) -> Panels:
    """Poincaré sections of the first states that have a rate, angles first, over the steps; nothing for a run
    of fewer than two."""
    counts = trajectory.events.counts()
    if sum(counts.get(name, 0) for name in trajectory.names.step_events) < 2:
        return Panels()
    pairs = sorted(
        state_pairs(trajectory), key=lambda pair: unit_of(trajectory, pair[0]) != "rad"
    )  # places only grow
    chosen = [label for pair in pairs for label in pair] or list(trajectory.names.x)
    return Panels([poincare(trajectory, label) for label in chosen[:most]])


def _padded_span(values: np.ndarray) -> tuple[float, float] | None:
    """What an axis covers so that a curve does not touch its ends."""
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.05 * (high - low)
    return (low - room, high + room) if np.isfinite(room) and room > 0 else None


def _at_least(values: np.ndarray, part: float = 1e-4) -> tuple[float, float] | None:
    """What an axis covers where values hardly differ: their rounding is nothing to look at."""
    room = max(part * float(np.max(np.abs(values), initial=0.0)), 1e-9)
    if not len(values) or np.ptp(values) >= room:
        return None
    middle = float(np.mean(values))
    return (middle - 1.15 * room, middle + 1.15 * room)


# ---- what belongs together ----


def components(trajectory: Trajectory, name: str) -> list[str]:
    """What to draw for a name: itself, or every component of a vector."""
    if name in trajectory.names.p:
        raise UnknownNameError(f"'{name}' is a parameter and does not change: draw a state or an output")
    trajectory[name]  # an error if there is no such name
    labels = trajectory.keys()
    return [label for label in labels if label == name or label.startswith(f"{name}[")]


def unit_of(trajectory: Trajectory, label: str) -> str:
    """The unit of a component, or nothing where none is known."""
    return trajectory.names.units.get(label) or trajectory.names.units.get(label.split("[")[0], "")


def state_pairs(trajectory: Trajectory) -> list[tuple[str, str]]:
    """States with their rates, told by their units: the first in rad with the first in rad/s, and so on. Two
    states without units are taken for such a pair."""
    names = trajectory.names
    by_unit: dict[str, list[str]] = {}
    for label in names.x:
        by_unit.setdefault(unit_of(trajectory, label), []).append(label)
    if len(names.x) == 2 and list(by_unit) == [""]:
        return [(names.x[0], names.x[1])]
    return [
        pair
        for unit, labels in by_unit.items()
        if unit
        for pair in zip(labels, by_unit.get(unit + "/s", []), strict=False)
    ]


def axis(trajectory: Trajectory, labels: list[str], unit: str | None = None) -> str:
    """A title: the name if there is one, and the unit if one is known."""
    unit_text = shown_unit(trajectory, unit_of(trajectory, labels[0]) if unit is None else unit)
    return " ".join([*(labels if len(labels) == 1 else []), *([f"[{unit_text}]"] if unit_text else [])])


# ---- drawing ----


def with_code(figures: Iterable[Figure], call: str) -> Panels:
    """Return figures that say which Python makes them: the call that returns them all, and their place."""
    return Panels([replace(figure, code=f"{call}[{k}]") for k, figure in enumerate(figures)])


def figures_by_unit(
    trajectory: Trajectory,
    labels: Iterable[str],
    stepped: Iterable[str] = (),
    *,
    events: bool = True,
    mark_names: bool = False,
    unit: str | None = None,
    height: int = 270,
) -> Panels:
    """Draw curves over time, a figure per unit, or one figure in `unit`; of many curves, small ones of names
    that begin alike. stepped: labels of what changes only at instants."""
    by_unit: dict[str, list[str]] = {}
    for label in labels:
        by_unit.setdefault(unit_of(trajectory, label) if unit is None else unit, []).append(label)
    stepped = set(stepped)
    figures: list[Figure] = []
    for group_unit, group in [(u, part) for u, names in by_unit.items() for part in name_groups(names)]:
        pattern = name_pattern(group[0])
        if len(group) > MAX_CURVES:
            lines = crowd_traces(trajectory, pattern, group)
        else:
            lines = [
                curve_line(
                    label,
                    t,
                    values,
                    PALETTE[k % len(PALETTE)],
                    dash=DASHES[k // len(PALETTE) % len(DASHES)],
                    step=label in stepped,
                )
                for k, (label, (t, values)) in enumerate(curves(trajectory, group).items())
            ]
        room = height + 12 * max(0, len(lines) - 6)  # for the legend
        options: dict[str, Any] = {} if events else {"marks": {}}
        options |= {"height_span": EMPTY_SPAN} if _is_noise(trajectory, group_unit, lines) else {}
        y = axis(trajectory, group, group_unit)
        y = f"{pattern} {y}".strip() if len(group) > MAX_CURVES else y
        figure = over_time(trajectory, lines, y, room, mark_names=mark_names, **options)
        figures.append(figure)
    return Panels(figures)


def over_time(
    trajectory: Trajectory, traces: Iterable[Any], y: str, height: int = 270, **options: Any
) -> Figure:
    """A figure over the time of the run, with a thin line at every event. Of a single curve the axis tells
    the name."""
    traces = tuple(traces)
    span = (trajectory.t0, trajectory.t1) if trajectory.t1 > trajectory.t0 else None
    fields: dict[str, Any] = {
        "marks": marks(trajectory),
        "legend": len(traces) > 1 or bool(options.get("mark_names")),
    } | options
    return Figure(
        traces,
        title_with_unit(trajectory, "time", "s"),
        y,
        over_time=True,
        span=span,
        height=height,
        **fields,
    )


def _is_noise(trajectory: Trajectory, unit: str, lines: Iterable[Line | Band]) -> bool:
    """Are curves of a unit nothing but rounding? Torques are measured by the energy that moved, others by the
    tolerance of the run."""
    sides = [(line.y,) if isinstance(line, Line) else (line.lower, line.upper) for line in lines]
    largest = max((float(np.nanmax(np.abs(y), initial=0.0)) for side in sides for y in side), default=0.0)
    return 0 < largest <= noise_floor(trajectory, unit)


def noise_floor(trajectory: Trajectory, unit: str) -> float:
    """Return the size up to which values of a unit are rounding, in that unit."""
    options = trajectory.provenance.get("options", {})
    tolerance = float(options.get("atol") or 0.0) * NOISE_FACTOR
    if unit in ENERGY_UNITS and trajectory.names.stored and trajectory.has_ledger:
        return max(tolerance, trajectory.ledger.resolution)
    return tolerance


def marks(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """When events happened, by name; nothing where they are too many to see."""
    log = trajectory.events
    last, internal = trajectory.names.step_events, set(trajectory.names.internal)
    names = sorted(
        (name for name in log.counts() if name not in internal), key=lambda name: name not in last
    )  # what ends a step comes first, and is solid
    return {} if len(log) > MAX_EVENTS else {name: log.times(name) for name in names}


def curve_line(
    name: str,
    t: np.ndarray,
    values: np.ndarray,
    color: str,
    *,
    dash: str = "solid",
    width: float = 1.6,
    step: bool = False,
) -> Line:
    """Return a curve over time as a line with no more points than can be seen."""
    drawn_points = drawn_indices(values)
    return Line(name, t[drawn_points], values[drawn_points], color, dash, width, step)


def _separate(values: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Before and after each jump, with gaps in between."""
    return np.column_stack([values[jumps], values[jumps + 1], np.full(len(jumps), np.nan)]).ravel()
