"""Limits of inputs in a closed loop: what motors can give (saturation)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from strut.annotations import is_number
from strut.checks import ordered_pair, positive
from strut.control.reference_motion import ReferenceMotion
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait
from strut.optimal import Design
from strut.optimal.walk.goal_field import as_number
from strut.system import System

InputLimits = Mapping[str, float | tuple[float, float]]
"""By input, the least and the largest that it can be, or one number for both sides."""
PLAN_SLACK = 1e-3
"""[1] Part of a limit by which a plan may exceed it: it keeps its limits at the points of a mesh."""


def command_limits(
    source: Gait | Design, motion: ReferenceMotion, chosen: InputLimits | None
) -> dict[str, tuple[float, float]]:
    """Return what inputs can be at least and at most, by name; those without limits are left out.

    chosen: by whoever closes the loop; None for the ranges of the machine's inputs, and the torque that a
    design was asked to keep. Raises ValueRangeError where the gait itself needs more.
    """
    plant = motion.plant
    limits = _own_limits(source, plant) if chosen is None else _chosen_limits(plant, chosen)
    needed = np.vstack([motion.piece_samples(a, b, np.linspace(0, 1, 6))[1] for a, b in _pieces(motion)])
    for name, (low, high) in limits.items():
        values = needed[:, plant.slices("u")[name]]
        slack = PLAN_SLACK * max(abs(low), abs(high))
        if values.min() < low - slack or values.max() > high + slack:
            raise ValueRangeError(
                f"the gait of '{plant.name}' needs {name} from {values.min():.4g} to {values.max():.4g}, and "
                f"its limits are {low:.4g} to {high:.4g}: a gait within them is needed first, "
                f"design(..., torque=...)"
            )
    return limits


def limit_settings(limits: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return limits by name, for reports."""
    return {
        f"{word} of {name}": value
        for name, pair in limits.items()
        for word, value in zip(("least", "largest"), pair, strict=True)
    }


def _pieces(motion: ReferenceMotion) -> list[tuple[float, float]]:
    """Return where the pieces of a motion begin and end [s]."""
    return [pair for phase in motion.phases for pair in pairwise(phase.breaks)]


def _own_limits(source: Gait | Design, plant: System) -> dict[str, tuple[float, float]]:
    """Return the ranges of a machine's inputs, within what its design was asked to keep."""
    limits = {q.name: q.range for q in plant.u if q.size == 1}
    torque = source.limits.goal.asked_values().get("torque") if isinstance(source, Design) else None
    if torque is not None:
        largest = torque if isinstance(torque, Mapping) else dict.fromkeys(limits, torque)
        for name in set(largest) & set(limits):
            most, (low, high) = as_number(largest[name]), limits[name]
            limits[name] = (max(low, -most), min(high, most))
    return {name: pair for name, pair in limits.items() if np.isfinite(pair).any()}


def _chosen_limits(plant: System, chosen: InputLimits) -> dict[str, tuple[float, float]]:
    """Return chosen limits as pairs."""
    allowed = [q.name for q in plant.u if q.size == 1]
    limits = {}
    for name, value in chosen.items():
        if name not in allowed:
            raise UnknownNameError(f"limits of '{name}', which is no input: {did_you_mean(name, allowed)}")
        if is_number(value):
            most = positive(f"limit of '{name}'", value)
            limits[name] = (-most, most)
        else:
            limits[name] = ordered_pair(f"limits of '{name}'", value)
    return limits


__all__ = ["InputLimits", "command_limits", "limit_settings"]
