"""Figures over a stride: angles from 0 to 100 %, one closed portrait per leg, how a walk comes to its cycle,
and power and work of its drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.view.figures.figure import DASHES, NEUTRAL, PALETTE, Figure, Line, Points
from strut.view.figures.plots import Panels, axis, curve_line, noise_floor, over_time, state_pairs, unit_of
from strut.view.figures.stride import Stride, exchanged_states, strides
from strut.view.units import title_with_unit

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

LEG_COLORS = PALETTE[:2]
"""Colours of the legs: of the one that stands first, as in the film, and of the other."""
LEG_WIDTHS = (5.5, 2.2)
"""Widths of the legs' curves [px], in the same order."""
MAX_PORTRAITS = 4
"""Closed portraits that a page shows."""
POWER_POINTS = 800
"""Points of curves of power."""
MIN_DRAWN_DISTANCE = 1e-16
"""[1] Relative distance from a cycle below which a walk is on it, and is drawn at this distance."""
MIN_STEP_TOLERANCE = 1e-12
"""[1] Change from step to step that is rounding of a run without a tolerance of its own, by fixed steps."""
DECADES_ABOVE_ROUNDING = 4.0
"""[1] Powers of ten above rounding that a figure of changes shows at least, so that it does not enlarge what
is rounding alone."""
FIT_TOLERANCE = 1e-6
"""Relative residual up to which the rate of a drive is a sum of rates of states."""


@checked
def stride_angles(trajectory: Trajectory) -> Panels:
    """Angles of the last stride from 0 to 100 %, both legs over each other, the part in which the first leg
    stands shaded; a figure per pair of angles. Nothing of a run with fewer than two steps."""
    legs = strides(trajectory)
    exchanged = exchanged_states(trajectory)
    names = [a for a, _ in state_pairs(trajectory) if unit_of(trajectory, a) == "rad"]
    if exchanged:  # of each pair the one that is first, which the leg that stands has
        names = [a for k, a in enumerate(names) if a in exchanged and exchanged[a] not in names[:k]]
    if not legs or not names:
        return Panels()
    lines = [
        Line(
            f"{name}, {leg.leg}" if exchanged else name,
            leg.percent,
            leg.values(trajectory, name),
            _leg_color(k, n, exchanged),
            DASHES[n % len(DASHES)] if exchanged else DASHES[n // len(PALETTE) % len(DASHES)],
            _leg_width(k),
        )
        for n, name in enumerate(names)
        for k, leg in enumerate(legs if exchanged else legs[:1])
    ]
    shaded = {_stance_name(leg): leg.stance for leg in legs[:1] if len(leg.stance)}
    y = axis(trajectory, names if len(names) == 1 else ["", ""], unit_of(trajectory, names[0]))
    return Panels(
        [
            Figure(
                tuple(lines),
                "stride [%]" if exchanged or len(legs) == 1 else f"stride of {legs[0].leg} [%]",
                y,
                span=(0.0, 100.0),
                shaded=shaded,
                height=290,
                code=_code("stride_angles", 0),
            )
        ]
    )


@checked
def stride_portraits(trajectory: Trajectory) -> Panels:
    """The last stride as closed curves, an angle against its rate, a figure for each and a colour per leg."""
    legs, exchanged = strides(trajectory), exchanged_states(trajectory)
    pairs = state_pairs(trajectory)
    chosen = [(a, b) for k, (a, b) in enumerate(pairs) if exchanged.get(a) not in [c for c, _ in pairs[:k]]]
    chosen = [
        (a, b) for a, b in chosen if unit_of(trajectory, a) == "rad" and (a in exchanged or not exchanged)
    ]
    figures: list[Figure] = []
    for a, b in chosen[:MAX_PORTRAITS] if legs else []:
        several = legs if a in exchanged else legs[:1]
        lines = tuple(_portrait(trajectory, leg, (a, b), k) for k, leg in enumerate(several))
        figures.append(
            Figure(
                lines,
                axis(trajectory, [a]),
                axis(trajectory, [b]),
                legend=len(lines) > 1,
                height=320,
                code=_code("stride_portraits", len(figures)),
            )
        )
    return Panels(figures)


def _portrait(run: Trajectory, leg: Stride, names: tuple[str, str], number: int) -> Line:
    """A closed curve of a leg: what jumps where a foot strikes is joined straight. number: of the leg."""
    a, b = (leg.values(run, name) for name in names)
    return Line(
        leg.leg,
        np.append(a, a[0]),
        np.append(b, b[0]),
        LEG_COLORS[number % 2],
        width=_leg_width(number),
        t=np.append(leg.t, leg.t[-1]),
    )


@checked
def convergence(trajectory: Trajectory) -> Figure | None:
    """How a walk comes to its cycle: the difference of the state after every step from that after the step
    before, relative to its size, as power of ten; None of a run with fewer than four steps. Where changes
    are smaller than the tolerance of integration, a line says so, and the figure shows what is above it."""
    distances = step_differences(trajectory)
    if len(distances) < 3:
        return None
    number = np.arange(2, len(distances) + 2)
    y = np.log10(np.maximum(distances, MIN_DRAWN_DISTANCE))
    color = PALETTE[2]
    drawn = (Line("difference", number, y, color, width=1.2), Points("difference", number, y, color, size=6))
    options = trajectory.provenance.get("options", {})
    rounding = np.log10(max(float(options.get("rtol") or 0.0), MIN_STEP_TOLERANCE))
    reaches = bool(y.min() < rounding)
    ends = np.array([number[0], number[-1]], dtype=float)
    floor = Line("below: within rounding", ends, np.full(2, rounding), NEUTRAL, "dash", 1.2)
    return Figure(
        (*drawn, floor) if reaches else drawn,
        "step",
        "log10 of change [1]",
        legend=reaches,
        height_span=(y.min() - 0.5, max(y.max(), rounding + DECADES_ABOVE_ROUNDING)) if reaches else None,
        counted=True,
        height=260,
        code=_code("convergence"),
    )


def step_differences(run: Trajectory) -> np.ndarray:
    """Return the largest change of a state from after one step to after the next, relative to the largest
    that this state has after steps; states that only grow, such as a place, are left out."""
    steps = [event for event in run.events if event.name in run.names.step_events]
    stride_events = {event.name for event in steps}
    if len(stride_events) > 1:  # legs that keep their names: from a landing of a foot to its next
        first = steps[0].name
        steps = [event for event in steps if event.name == first]
    if len(steps) < 2:
        return np.empty(0)
    names = [n for n in run.names.x if n not in run.names.internal and not _grows(run, n)]
    states = np.array([[event.after[name] for name in names] for event in steps])
    size = np.abs(states).max(axis=0) + 1e-12
    return np.asarray((np.abs(np.diff(states, axis=0)) / size).max(axis=1)) if names else np.empty(0)


def _grows(run: Trajectory, name: str) -> bool:
    """Does a state go on and on in one direction, as how far a machine has come does?"""
    values = np.array([e.after[name] for e in run.events if e.name in run.names.step_events])
    changes = np.diff(values)
    return unit_of(run, name) == "m" and len(changes) > 1 and bool((changes > 0).all() or (changes < 0).all())


@checked
def drive_power(trajectory: Trajectory) -> Figure | None:
    """The power of every drive [W] over time, from the account of energy; None where nothing is supplied or
    the run was loaded without its system."""
    powers = _powers(trajectory, np.linspace(trajectory.t0, trajectory.t1, POWER_POINTS))
    if not powers:
        return None
    t = np.linspace(trajectory.t0, trajectory.t1, POWER_POINTS)
    lines = [
        curve_line(name, t, values, PALETTE[k % len(PALETTE)], dash=DASHES[k // len(PALETTE) % len(DASHES)])
        for k, (name, values) in enumerate(powers.items())
    ]
    return over_time(
        trajectory, lines, title_with_unit(trajectory, "power", "W"), 270, code=_code("drive_power")
    )


@checked
def work_loops(trajectory: Trajectory) -> Panels:
    """Torque of every drive against the angle it turns, over the last stride; what a loop encloses is the
    work of the stride. Of drives whose torque is an input or an output and whose rate is a sum of states."""
    legs = strides(trajectory)
    if not legs:
        return Panels()
    t = legs[0].t
    inner = np.clip(t, t[0] + 1e-9 * (t[-1] - t[0]), t[-1] - 1e-9 * (t[-1] - t[0]))
    powers = _powers(trajectory, inner)
    moments = trajectory.at(inner)
    pairs = [(a, b) for a, b in state_pairs(trajectory) if unit_of(trajectory, a) == "rad"]
    rates = np.column_stack([moments[b] for _, b in pairs]) if pairs else np.zeros((len(inner), 0))
    angles = np.column_stack([moments[a] for a, _ in pairs]) if pairs else rates
    figures: list[Figure] = []
    for k, (name, power) in enumerate(powers.items()):
        torque = _torque_of(trajectory, name)
        if not torque or not pairs:
            continue
        force = np.asarray(moments[torque])
        acts = np.abs(force) > 1e-6 * np.abs(force).max(initial=0.0)
        if acts.sum() < 2 * len(pairs):
            continue
        rate = power[acts] / force[acts]
        weights = np.linalg.lstsq(rates[acts], rate, rcond=None)[0]
        weights = np.where(np.abs(weights - np.round(weights)) < 1e-3, np.round(weights), weights)
        if np.abs(rates[acts] @ weights - rate).max() > FIT_TOLERANCE * (1 + np.abs(rate).max()):
            continue
        line = Line(name, angles @ weights, force, PALETTE[k % len(PALETTE)], t=t)
        x, y = (
            title_with_unit(trajectory, f"angle of {name}", "rad"),
            title_with_unit(trajectory, torque, "N m"),
        )
        code = _code("work_loops", len(figures))
        figures.append(Figure((line,), x, y, legend=False, height=300, code=code))
    return Panels(figures)


def _torque_of(run: Trajectory, drive: str) -> str:
    """The name of a drive's torque: its input, or where a plan gives that, the output which says so."""
    return next((n for n in (drive, f"{drive}_planned") if n in (*run.names.u, *run.names.outputs)), "")


def _powers(run: Trajectory, t: np.ndarray) -> dict[str, np.ndarray]:
    """The power that every entry of the account supplies [W], at some times, of those above rounding."""
    system = run.system
    if system is None or not system.ledger.supplied:
        return {}
    names = list(system.ledger.supplied)
    f = system.function("powers", [ca.vertcat(*(ca.SX(system.ledger.supplied[name]) for name in names))])
    moments = run.at(t)
    groups = [
        np.vstack([np.asarray(moments[label]).reshape(1, -1) for label in getattr(run.names, group)])
        if getattr(run.names, group)
        else np.zeros((0, len(t)))
        for group in ("x", "z", "u")
    ]
    parameters = np.repeat(np.reshape(run.p, (-1, 1)), len(t), axis=1)
    values = np.array(f(t.reshape(1, -1), *groups, parameters))
    floor = noise_floor(run, "W")
    return {n: row for n, row in zip(names, values, strict=True) if np.abs(row).max(initial=0.0) > floor}


def _leg_color(leg: int, angle: int, exchanged: dict[str, str]) -> str:
    """The colour of a curve: of its leg where legs change names, else of its angle."""
    return LEG_COLORS[leg % 2] if exchanged else PALETTE[angle % len(PALETTE)]


def _leg_width(leg: int) -> float:
    """The width [px] of a leg's curve: that of the first is broader, so that it is seen below the other's
    where both legs do the same."""
    return LEG_WIDTHS[leg % 2]


def _stance_name(leg: Stride) -> str:
    return f"{leg.leg} stands" if leg.leg else "stance"


def _code(function: str, place: int | None = None) -> str:
    """Python that makes a figure. place: in what the function returns, where it returns several."""
    return f"strut.view.{function}(run)" + ("" if place is None else f"[{place}]")


__all__ = [
    "convergence",
    "drive_power",
    "step_differences",
    "stride_angles",
    "stride_portraits",
    "work_loops",
]
