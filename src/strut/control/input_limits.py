"""Limits of inputs in a closed loop: what motors can give (saturation)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise

import casadi as ca
import numpy as np

from strut.annotations import is_number
from strut.checks import ordered_pair, positive
from strut.control.reference_motion import ReferenceMotion
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait
from strut.optimal import Design, StepRequirement
from strut.optimal.walk.goal_field import as_number
from strut.optimal.walk.own_limits import bounds_text
from strut.system import System, start, time

InputLimits = Mapping[str, float | tuple[float, float]]
"""By input, the least and the largest that it can be, or one number for both sides."""
PLAN_SLACK = 1e-3
"""[1] Part of a limit by which a plan may exceed it: it keeps its limits at the points of a mesh."""


class RequirementWarning(UserWarning):
    """A held loop does not keep what its design was asked of its inputs."""


def command_limits(
    source: Gait | Design, motion: ReferenceMotion, chosen: InputLimits | None
) -> dict[str, tuple[float, float]]:
    """Return what inputs can be at least and at most, by name; those without limits are left out.

    chosen: by whoever closes the loop; None for the ranges of the machine's inputs, the torque that a design
    was asked to keep, and those of its own requirements that bound one input. Raises ValueRangeError where
    the gait itself needs more.
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
    for name, (low, high) in _required_limits(source, plant).items():
        limits[name] = (max(low, limits[name][0]), min(high, limits[name][1]))
    return {name: pair for name, pair in limits.items() if np.isfinite(pair).any()}


def _required_limits(source: Gait | Design, plant: System) -> dict[str, tuple[float, float]]:
    """Return the bounds of single inputs that a design was asked to keep all along by requirements of one's
    own, or by `within`."""
    if not isinstance(source, Design):
        return {}
    own, scalars = source.limits.own, [q.name for q in plant.u if q.size == 1]
    bounds = [(name, pair) for name, pair in own.within.items() if name in scalars]
    bounds += [pair for each in own.require if (pair := _input_bounds(plant, each)) is not None]
    limits: dict[str, tuple[float, float]] = {}
    for name, (low, high) in bounds:
        before = limits.get(name, (-np.inf, np.inf))
        limits[name] = (max(low, before[0]), min(high, before[1]))
    return limits


def _input_bounds(plant: System, each: StepRequirement) -> tuple[str, tuple[float, float]] | None:
    """Return the input that a requirement bounds all along a step, and its bounds; None where it asks
    something else: a b + c of an input b with constant a and c, its size or its square can be read."""
    column, u, low, high = each.column(plant), plant.vector("u"), each.low, each.high
    if each.at != "path" or each.phase or column.numel() != 1:
        return None
    for operation, inverse in ((ca.OP_FABS, float), (ca.OP_SQ, np.sqrt)):
        if column.is_op(operation) and low <= 0 <= high:
            most = float(inverse(high))
            column, low, high = column.dep(0), -most, most
            break
    varying = ca.vertcat(time, *[plant.vector(group) for group in "xzu"])
    slopes, own = ca.jacobian(column, u), [k for k in range(u.numel()) if ca.depends_on(column, u[k])]
    rest = ca.substitute(column, u, ca.SX.zeros(u.numel()))
    if len(own) != 1 or ca.depends_on(ca.vertcat(ca.vec(slopes), rest), varying):
        return None
    name = plant.labels("u")[own[0]]
    if name not in [q.name for q in plant.u]:
        return None  # a component of a vector: limits are of whole inputs
    p = ca.vertcat(*[q.sym for q in plant.p])
    slope, offset = (
        float(part) for part in ca.Function("bounds", [p], [slopes[own[0]], rest])(start(plant).p)
    )
    if slope == 0:
        return None
    first, second = (low - offset) / slope, (high - offset) / slope
    return name, (min(first, second), max(first, second))


def unkept_requirements(source: Gait | Design, plant: System, *, limited: bool = True) -> tuple[str, ...]:
    """Say, in a phrase for each, which requirements of one's own on inputs, all along a step, a held loop
    does not keep, because they cannot be read as limits of single inputs.

    limited: whether the loop has limits of inputs at all.
    """
    if not isinstance(source, Design):
        return ()
    own, u = source.limits.own, plant.vector("u")
    phrases = [
        f"'{each.name}' ({each.meaning}: {bounds_text(each.low, each.high)})"
        for each in own.require
        if each.at == "path" and ca.depends_on(each.column(plant), u)
        if not limited or _input_bounds(plant, each) is None
    ]
    if not limited:
        inputs = [q.name for q in plant.u]
        phrases += [f"'{name}' ({bounds_text(*pair)})" for name, pair in own.within.items() if name in inputs]
    return tuple(phrases)


def warn_of_unkept(unkept: Sequence[str], system: str, *, limited: bool = True) -> None:
    """Warn of requirements that the held loop of a system does not keep, of all at once."""
    if unkept:
        remedy = (
            "only bounds of one input, all along the step, become its limits; give it more (limits, --limit)"
            if limited
            else "what is set from step to step has no limits; `lqr` and `track` have"
        )
        text = f"the loop that holds '{system}' does not keep {', '.join(unkept)} of its design: {remedy}"
        warnings.warn(text, RequirementWarning, 4)


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


__all__ = [
    "InputLimits",
    "RequirementWarning",
    "command_limits",
    "limit_settings",
    "unkept_requirements",
    "warn_of_unkept",
]
