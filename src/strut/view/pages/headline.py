"""`headline`: what one wants to know of a walk first: how fast, how far, how dear, whether it settles, and
what it asks of the ground; read from the last whole step of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from strut.view.figures.stride_plots import step_differences
from strut.view.units import quantity

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory
    from strut.system import Foot, System

SWING_PART = (0.25, 0.75)
"""[1] From where to where in a step clearance counts: at its ends a foot is on the ground."""
STEP_POINTS = 401
"""Points of a step at which forces and heights are read."""
MAX_REPEAT_CHANGE = 1e-6
"""[1] Relative change from step to step up to which a walk repeats itself."""
SCUFF_DEPTH = 1e-9
"""How far below the ground [m] a swinging foot scuffs; less is rounding of an event."""
MIN_LOAD_SHARE = 1e-3
"""[1] Part of the largest normal force below which a foot does not count as standing."""


def headline(run: Trajectory) -> dict[str, str]:
    """Return names and values of a walk's last whole step; nothing of a run without two steps."""
    times = [event.t for event in run.events if event.name in run.names.step_events]
    if len(times) < 2 or times[-1] <= times[-2]:
        return {}
    begin, end = times[-2], times[-1]
    length, duration = step_length(run), end - begin
    facts: dict[str, str] = {}
    if length is not None:
        facts["speed"] = quantity(run, f"{length / duration:.5g}", "m/s")
        facts["step length"] = quantity(run, f"{length:.5g}", "m")
    facts["step time"] = quantity(run, f"{duration:.5g}", "s")
    cost = cost_of_transport(run, length)
    if cost is not None:
        facts["cost of transport"] = f"{cost:.5g}"
    if settles := _settle_text(run):
        facts["from step to step"] = settles
    clearance = least_clearance(run, begin, end)
    if clearance is not None:
        facts["least clearance"] = clearance_text(run, clearance)
    needed = [friction_needed(run, foot, (begin, end)) for foot in run.names.feet if foot.friction]
    standing = [each for each in needed if math.isfinite(each)]
    if standing:
        facts["friction needed"] = f"{max(standing):.3g}"
    return facts


def step_length(run: Trajectory) -> float | None:
    """How far the last step went along the ground [m]: as the machine counts it, from one footprint to the
    next, or how far the centre of mass went over it, in its direction along x; None where none is known."""
    steps = [event for event in run.events if event.name in run.names.step_events]
    if run.names.step_length and steps:
        return float(steps[-1].after[run.names.step_length])
    stage = run.stage()
    if stage is None:
        return None
    if len(stage.prints) >= 2:
        return float(np.linalg.norm(stage.prints[-1, 1:] - stage.prints[-2, 1:]))
    if stage.com is None or len(steps) < 2:
        return None
    begin, end = (
        np.array([np.interp(event.t, stage.t, column) for column in stage.com.T]) for event in steps[-2:]
    )
    way = end - begin
    return float(math.copysign(np.linalg.norm(way), way[0]))


def cost_of_transport(run: Trajectory, length: float | None) -> float | None:
    """Energy lost in impacts and dampers in the last whole step, over weight and distance; None where the
    weight, the way or the account is not known."""
    system = run.system
    if (
        system is None
        or system.walk is None
        or system.walk.weight is None
        or not length
        or not run.has_ledger
    ):
        return None
    weight = float(ca.Function("weight", [system.vector("p")], [system.walk.weight])(run.p))
    steps = run.steps()
    whole = np.flatnonzero(steps.whole)
    if not len(whole) or not weight > 0:
        return None
    spent = -(steps.total("lost") + steps.total("dissipated"))[whole[-1]]
    if abs(spent) <= run.ledger.resolution:
        spent = 0.0
    return float(spent / (weight * length))


def least_clearance(run: Trajectory, begin: float, end: float) -> float | None:
    """The least height of a swinging foot above the ground [m] in the middle half of a step between two times
    [s]; None where no foot says how high it is. Of a foot that stands, its height is no clearance."""
    feet = [foot for foot in run.names.feet if foot.gap]
    if not feet or end <= begin:
        return None
    middle = begin + SWING_PART[0] * (end - begin), begin + SWING_PART[1] * (end - begin)
    heights: list[float] = []
    for foot in feet:
        signal = foot.stands or foot.normal
        height, *loads = values_between(run, [foot.gap, *([signal] if signal else [])], middle)
        stands = loads[0] > 0 if loads else np.zeros(len(height), dtype=bool)
        heights += height[~stands].tolist()
    return min(heights, default=None)


def clearance_text(of: Trajectory | System, clearance: float) -> str:
    """Return a clearance [m] of a run or a design of a system in words: below zero the foot scuffs, where
    the model lets it pass through the ground."""
    text = quantity(of, f"{clearance:.3g}", "m")
    return f"{text}: the foot scuffs" if clearance < -SCUFF_DEPTH else text


def values_between(run: Trajectory, names: list[str], span: tuple[float, float]) -> list[np.ndarray]:
    """Return quantities inside of an interval without events: evenly, or of a run that was loaded without its
    system, which knows outputs at its points alone, there, with those after and before the events at its
    ends."""
    room = 1e-9 * (span[1] - span[0])
    if run.model is not None:
        moments = run.at(np.linspace(span[0] + room, span[1] - room, STEP_POINTS))
        return [np.asarray(moments[name]) for name in names]
    first, last = np.searchsorted(run.t, span[0] + room) - 1, np.searchsorted(run.t, span[1] - room)
    return [np.asarray(run[name])[max(first, 0) : last + 1] for name in names]


def friction_needed(run: Trajectory, foot: Foot, span: tuple[float, float]) -> float:
    """The coefficient of friction that a foot needs while it stands between two times [s]; nan where it does
    not."""
    push, *along = values_between(run, [foot.normal, *foot.friction], span)
    pull = np.sqrt(sum(each**2 for each in along))
    stands = push > MIN_LOAD_SHARE * push.max(initial=0.0)
    return float(np.max(pull[stands] / push[stands])) if stands.any() else math.nan


def _settle_text(run: Trajectory) -> str:
    """Whether the last steps are alike, come nearer to each other, or do not."""
    changes = step_differences(run)
    if not len(changes):
        return ""
    if changes[-1] <= MAX_REPEAT_CHANGE:
        return "repeats"
    if len(changes) < 3 or changes[-3] <= 0:
        return f"changes by {changes[-1]:.2g}"
    ratio = math.sqrt(changes[-1] / changes[-3])
    return f"settles, × {ratio:.2g}" if ratio < 1 else f"does not settle, × {ratio:.2g}"


__all__ = [
    "clearance_text",
    "cost_of_transport",
    "friction_needed",
    "headline",
    "least_clearance",
    "step_length",
]
