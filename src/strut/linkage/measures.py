"""What can be measured of linkages without dynamics: lengths of bars, masses, and bars that cross."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from strut.checks import checked
from strut.errors import ShapeError
from strut.linkage.assembly_path import LinkageMotion
from strut.linkage.kinematics import LinkageKinematics
from strut.linkage.topology import Topology, check_actuators

ACTUATOR_MASS, PASSIVE_MASS = 2.0, 0.5
"""[kg] Of a joint with an actuator, and of one without (Kieboom, section 5.4)."""
BAR_DENSITY = 0.7
"""[kg/m] Of bars: aluminium of about 1 cm by 3.5 cm."""


@checked
def bars(topology: Topology) -> tuple[tuple[str, str, str], ...]:
    """Return the bars that links are made of: link, and the joints at both ends. A link with two pins is a
    bar, one with three a triangle of three; with more pins every two are joined."""
    return tuple(
        (link, a, b)
        for link in topology.links
        for a, b in combinations([joint for joint, pin in topology.joints.items() if link in pin], 2)
    )


@checked
def bar_lengths(topology: Topology, pins: np.ndarray) -> np.ndarray:
    """Return the lengths of `bars` [m], designs x bars. pins: as of `pin_positions`."""
    place = {joint: k for k, joint in enumerate(topology.joints)}
    if np.ndim(pins) != 3 or np.shape(pins)[1:] != (len(place), 2):
        raise ShapeError(
            f"pins have the shape {np.shape(pins)}: designs x {len(place)} joints x 2 is needed, as "
            "`pin_positions` gives them"
        )
    ends = np.array([(place[a], place[b]) for _, a, b in bars(topology)], dtype=int).reshape(-1, 2)
    return np.asarray(np.linalg.norm(pins[:, ends[:, 0]] - pins[:, ends[:, 1]], axis=2))


@checked
def linkage_masses(topology: Topology, pins: np.ndarray, actuators: Sequence[str]) -> np.ndarray:
    """Return the mass of each design [kg]: its bars, its joints, and its actuators instead of joints."""
    check_actuators(topology, actuators)
    driven = len(set(actuators))
    joints = ACTUATOR_MASS * driven + PASSIVE_MASS * (len(topology.joints) - driven)
    return np.asarray(joints + BAR_DENSITY * bar_lengths(topology, pins).sum(axis=1))


@checked
def crossings(motion: LinkageMotion) -> np.ndarray:
    """Return the interference of each design: how many pairs of bars that share no joint cross each other,
    in the mean over the motion. Bars that cross need layers of their own, beside each other. nan where a
    design does not assemble."""
    topology = motion.topology
    kinematics = LinkageKinematics(topology, motion.pins)
    place = {joint: k for k, joint in enumerate(topology.joints)}
    ends = [(place[a], place[b]) for _, a, b in bars(topology)]
    pairs = [(p, q) for p, q in combinations(ends, 2) if not set(p) & set(q)]
    count = np.zeros(len(motion.pins))
    for sample in range(motion.along):
        at = kinematics.joint_positions(motion.coordinates[:, sample])
        for (a, b), (c, d) in pairs:
            one = _side(at[:, a], at[:, b], at[:, c]) * _side(at[:, a], at[:, b], at[:, d])
            other = _side(at[:, c], at[:, d], at[:, a]) * _side(at[:, c], at[:, d], at[:, b])
            count += (one < 0) & (other < 0)
    return np.where(motion.assembled[:, : motion.along].all(axis=1), count / motion.along, np.nan)


def _side(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> np.ndarray:
    """On which side of the line from a to b points are: the sign of twice the triangle's area."""
    along, to = b - a, p - a
    return np.asarray(along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0])


__all__ = ["bar_lengths", "bars", "crossings", "linkage_masses"]
