"""Where the pins of a linkage are: the parameters that say it, and positions made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked, number_array
from strut.errors import ShapeError, ValueRangeError
from strut.linkage.limb import Point, check_ranges
from strut.linkage.topology import Topology

AXES = ("x", "z")
"""Of the plane in which pins are that are on no segment."""
ALONG_RANGE: Point = (0.0, 1.0)
"""[1] Of pins on a segment of the limb, as the share of it from its beginning."""


@checked
@dataclass(frozen=True)
class PinParameter:
    """A number that says where a pin is. name: JOINT_along, the share of the segment that the joint is on,
    or JOINT_x and JOINT_z in the reference posture [m]. joint, axis: whose it is, 'along', 'x' or 'z'."""

    name: str
    joint: str
    axis: str
    unit: str
    low: float
    high: float


@checked
def pin_parameters(
    topology: Topology, ranges: Mapping[str, tuple[float, float]] | None = None
) -> tuple[PinParameter, ...]:
    """Return the parameters of all pins of a topology: one for a pin on a segment of the limb, two for any
    other. ranges: of the latter [m], by axis; those of the limb unless given (`Limb.free_ranges`)."""
    names = _parameter_places(topology)
    free: Mapping[str, tuple[float, float]] = {}
    if any(axis in AXES for _, axis in names.values()):
        free = topology.limb.free_ranges() if ranges is None else ranges
    if ranges is not None:
        check_ranges(ranges)
    return tuple(
        PinParameter(name, joint, axis, "", *ALONG_RANGE)
        if axis == "along"
        else PinParameter(name, joint, axis, "m", *free[axis])
        for name, (joint, axis) in names.items()
    )


def _parameter_places(topology: Topology) -> dict[str, tuple[str, str]]:
    """Return by name of each parameter of the pins the joint and the axis that it is of."""
    names: dict[str, tuple[str, str]] = {}
    for joint in topology.joints:
        for axis in AXES if segment_body(topology, joint) is None else ("along",):
            names[f"{joint}_{axis}"] = (joint, axis)
    return names


def parameter_units(topology: Topology) -> dict[str, str]:
    """Return by name of each parameter of the pins its unit; a limb needs no ranges for that."""
    return {name: "" if axis == "along" else "m" for name, (_, axis) in _parameter_places(topology).items()}


def segment_body(topology: Topology, joint: str) -> str | None:
    """Return the body of the limb along whose segment a joint sits, if it sits on one."""
    return next((part for part in topology.joints[joint] if part in topology.limb.segments), None)


@checked
def pin_positions(topology: Topology, values: np.ndarray) -> np.ndarray:
    """Return where pins are in the reference posture [m]: an array of designs, joints and axes x and z.
    values: of `pin_parameters`, a row for each design."""
    numbers = number_array("values", values, (2,))
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        raise ValueRangeError(f"design {row} has values that are not finite: {numbers[row].tolist()}")
    names = list(_parameter_places(topology))
    if numbers.shape[1] != len(names):
        raise ShapeError(
            f"a design has {numbers.shape[1]} values: {len(names)} are needed, {', '.join(names)}"
        )
    columns = {name: numbers[:, k] for k, name in enumerate(names)}
    positions = np.empty((len(numbers), len(topology.joints), 2))
    for k, joint in enumerate(topology.joints):
        body = segment_body(topology, joint)
        if body is None:
            positions[:, k] = np.column_stack([columns[f"{joint}_x"], columns[f"{joint}_z"]])
        else:
            begin, end = (np.array(p) for p in topology.limb.segment(body))
            positions[:, k] = begin + columns[f"{joint}_along"][:, None] * (end - begin)
    return positions


def pin_expressions(
    topology: Topology, symbols: Mapping[str, ca.SX], scale: ca.SX | float = 1.0
) -> dict[str, ca.SX]:
    """Return the same as expressions: by joint, x and z of its pin [m], of symbols by name; with the segments
    of the limb scaled."""
    places: dict[str, ca.SX] = {}
    for joint in topology.joints:
        body = segment_body(topology, joint)
        if body is None:
            places[joint] = ca.vertcat(symbols[f"{joint}_x"], symbols[f"{joint}_z"])
        else:
            begin, end = (ca.DM(p) for p in topology.limb.segment(body))
            places[joint] = scale * (begin + symbols[f"{joint}_along"] * (end - begin))
    return places


@checked
def sketch_values(topology: Topology) -> np.ndarray:
    """Return values of `pin_parameters` with which a topology can be drawn: pins spread over the segments of
    the limb, the others in front of it, between those that they are linked to."""
    values = {}
    on_body: dict[str, list[str]] = {}
    for joint in topology.joints:
        body = segment_body(topology, joint)
        if body is not None:
            on_body.setdefault(body, []).append(joint)
    heights: dict[str, float] = {}
    for body, joints in on_body.items():
        begin, end = topology.limb.segment(body)
        for k, joint in enumerate(joints):
            share = (k + 1) / (len(joints) + 1)
            values[f"{joint}_along"] = share
            heights[joint] = begin[1] + share * (end[1] - begin[1])
    free = [joint for joint in topology.joints if joint not in heights]
    between = _heights_between(topology, heights, free)
    low, high = (min([*heights.values(), 0.0]), max([*heights.values(), 1.0]))
    span = high - low
    for k, joint in enumerate(sorted(free, key=lambda j: between[j])):
        values[f"{joint}_x"] = span * (0.1 + 0.09 * (k % 3))
        # pins at one height are drawn apart
        values[f"{joint}_z"] = between[joint] + 0.03 * span * (k - (len(free) - 1) / 2)
    return np.array([[values[name] for name in _parameter_places(topology)]])


def _heights_between(topology: Topology, heights: Mapping[str, float], free: list[str]) -> dict[str, float]:
    """Return heights of pins, each the mean of those it shares a link with."""
    pin_heights = {**dict.fromkeys(free, 0.5), **heights}
    for _ in range(200):
        for joint in free:
            near = [
                pin_heights[other]
                for other, pin in topology.joints.items()
                if other != joint and set(pin) & set(topology.joints[joint]) & set(topology.links)
            ]
            pin_heights[joint] = float(np.mean(near)) if near else 0.5
    return {joint: pin_heights[joint] for joint in free}


__all__ = [
    "PinParameter",
    "parameter_units",
    "pin_expressions",
    "pin_parameters",
    "pin_positions",
    "segment_body",
    "sketch_values",
]
