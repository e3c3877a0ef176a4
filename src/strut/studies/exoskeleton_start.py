"""How the linkages of an exoskeleton begin a walk: closed over hips and knees, moving as they do; and whether
they carry a stride at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from strut import linkage
from strut.errors import ModelError
from strut.linkage.kinematics import LinkageKinematics
from strut.system import System, start
from strut.walkers.human import POSTURE
from strut.walkers.worn_machine import SIDES

MAX_BAR_LENGTH = 0.7
"""[m] Length that a bar may have (table 5.3)."""
STRIDE_SAMPLES, STRIDE_MARGIN = 20, float(np.deg2rad(5.0))
"""[1, rad] Samples of the stride that a design must carry, and how far around it."""
COMPLEX_STEP = 1e-30
"""[m] Distance by which a pin is moved into the complex plane: derivatives of closures to rounding."""


@dataclass(frozen=True, eq=False)
class LinkageStart:
    """Joints that carry links as a walk begins. states: angles and rates by name of the machine's states.
    slopes: their derivatives by parameters of pins, by state."""

    states: Mapping[str, float]
    slopes: Mapping[str, np.ndarray]


def check_carries(topology: linkage.Topology, actuators: Sequence[str], pins: np.ndarray) -> None:
    """Raise ModelError for a design that does not carry a stride: one that comes near a singularity along it,
    or has a bar over 0.7 m. pins: values of `linkage.pin_parameters`."""
    values = np.reshape(pins, (1, -1))
    motion = linkage.follow_postures(topology, values, linkage.stride_postures(STRIDE_SAMPLES), STRIDE_MARGIN)
    if not linkage.screen(motion, list(actuators)).ok[0]:
        raise ModelError("the linkage comes near a singularity along a stride")
    longest = float(linkage.bar_lengths(topology, motion.pins).max())
    if longest > MAX_BAR_LENGTH:
        raise ModelError(f"a bar has {longest:.3f} m: {MAX_BAR_LENGTH:g} m is allowed")


def start_linkage(machine: System, topology: linkage.Topology, pins: np.ndarray) -> LinkageStart:
    """Return how the linkages of both legs begin: by the implicit function theorem on what closes the loops.

    machine: whose hips and knees say how the limb moves. pins: values of `linkage.pin_parameters`. Raises
    ModelError where the linkage does not assemble.
    """
    values = np.reshape(pins, (1, -1))
    states: dict[str, float] = {}
    slopes: dict[str, np.ndarray] = {}
    tree = linkage.spanning_tree(topology)
    turns, limb = tree.turns(), topology.limb.joints
    begin = dict(zip(machine.labels("x"), start(machine).x, strict=True))
    for side in SIDES:
        posture = np.array([[POSTURE[f"{joint}{side}"] for joint in limb]])
        motion = linkage.follow_postures(topology, values, posture)
        if not motion.assembles[0]:
            raise ModelError("the linkage does not assemble where a run begins")
        limb_rates = np.array([begin[f"{joint}{side}_rate"] for joint in limb])
        y = motion.coordinates[:, 0]
        rates, y_by, rates_by = _start_by_pins(topology, values, y, limb_rates)
        for link, (joint, part) in tree.carried.items():
            weights, name = turns[link] - turns[part], f"{joint}{side}"
            states |= {name: float(weights @ y[0]), f"{name}_rate": float(weights @ rates)}
            slopes |= {name: weights @ y_by, f"{name}_rate": weights @ rates_by}
    return LinkageStart(states, slopes)


def _start_by_pins(
    topology: linkage.Topology, values: np.ndarray, y: np.ndarray, limb_rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rates of all coordinates of a linkage whose limb moves so, and derivatives of coordinates
    and of these rates by parameters of pins, the limb held. By steps into the complex plane, where no
    difference is taken."""
    limb = len(limb_rates)
    pins = linkage.pin_positions(topology, values)
    slope = LinkageKinematics(topology, pins).closures(y)[1][0]

    def rates_of(jacobian: np.ndarray) -> np.ndarray:
        links = -np.linalg.solve(jacobian[:, limb:], jacobian[:, :limb] @ limb_rates)
        return np.concatenate([limb_rates, links])

    by_pins, rates_by_pins = [], []
    for k in range(values.shape[1]):
        moved = values.copy()
        moved[0, k] += 1.0  # positions are linear in the parameters
        shifted = pins + 1j * COMPLEX_STEP * (linkage.pin_positions(topology, moved) - pins)
        gap = LinkageKinematics(topology, shifted).closures(y)[0][0].imag / COMPLEX_STEP
        turned = np.concatenate([np.zeros(limb), -np.linalg.solve(slope[:, limb:], gap)])
        along = LinkageKinematics(topology, shifted).closures(y + 1j * COMPLEX_STEP * turned)[1][0]
        by_pins.append(turned)
        rates_by_pins.append(rates_of(along).imag / COMPLEX_STEP)
    return rates_of(slope), np.column_stack(by_pins), np.column_stack(rates_by_pins)


__all__ = ["LinkageStart", "check_carries", "start_linkage"]
