"""Which designs of exoskeletons carry a stride: screened along it and around it before they walk, with how
their linkages begin; and random ones that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from strut import linkage
from strut.errors import ModelError
from strut.evolve.streams import Purpose, RandomStream
from strut.linkage.spanning_tree import spanning_tree
from strut.studies.exoskeleton_designs import WornValues, add_stride, topologies_by_number
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.walkers.human import POSTURE
from strut.walkers.worn_machine import SIDES

SCREENED_SAMPLES, SCREENED_MARGIN = 10, 0.1
"""[1, rad] Samples of the stride along which designs are screened in the search, and how far around."""
FINE_SAMPLES = 40
"""[1] Samples of the stride along which designs that are refined, and those that were found, are screened: a
dead point may lie between those of the search."""
LEGS = 2
"""Legs of the human: each has a linkage."""
TRIED_DESIGNS = 400
"""Random designs of each topology, of which those that pass may be in a first population."""
MIN_SOUNDNESS = 1 - 1e-9
"""[1] Soundness from which on a design walks."""


@dataclass(frozen=True, eq=False)
class ScreenedDesigns:
    """Designs of one group after screening, an entry each. soundness: 1 where a design carries the stride
    without coming near a singularity; else less, the more of it the more it has. strength, regularity: as of
    `linkage.Screening`. longest: of its bars [m]. mass: of both legs' linkages [kg]. begin: states of the
    machine as a run begins, by label."""

    values: WornValues
    soundness: np.ndarray
    strength: np.ndarray
    regularity: np.ndarray
    longest: np.ndarray
    mass: np.ndarray
    begin: Mapping[str, np.ndarray]

    @property
    def walks(self) -> np.ndarray:
        """Which designs are simulated."""
        return np.asarray((self.soundness >= MIN_SOUNDNESS) & (self.longest <= MAX_BAR_LENGTH))


def first_postures(topology: linkage.Topology) -> np.ndarray:
    """Return the angles of the limb's joints with which a run begins [rad], a row for each leg."""
    return np.array([[POSTURE[f"{joint}{side}"] for joint in topology.limb.joints] for side in SIDES])


def screen_designs(
    parts: Sequence[WornValues], *, samples: int = SCREENED_SAMPLES, margin: float = SCREENED_MARGIN
) -> list[ScreenedDesigns]:
    """Screen designs of groups of one topology along a stride and around it.

    parts: of each group, references of actuated joints counted from the stride. samples, margin: of the
    stride, a multiple of those of the search, and how far around it [rad]. Returned are the same with
    references counted from the reference posture, which does not depend on how many samples there are.
    """
    if samples % SCREENED_SAMPLES:
        raise ModelError(f"samples is {samples}: a multiple of {SCREENED_SAMPLES} is needed")
    topology = parts[0].group.topology
    pins = np.vstack([part.pins for part in parts])
    motion = linkage.follow_postures(topology, pins, linkage.stride_postures(samples), margin)
    begin = linkage.follow_postures(topology, pins, first_postures(topology))
    assembled = (motion.assembled.mean(axis=1) + begin.assembled.mean(axis=1)) / 2
    whole = motion.assembles & begin.assembles
    at = linkage.pin_positions(topology, pins)
    longest = linkage.bar_lengths(topology, at).max(axis=1)
    at_references = motion.coordinates[:, : samples : samples // SCREENED_SAMPLES]
    angles = np.nan_to_num(at_references) @ spanning_tree(topology).joint_turns().T
    states = _initial_states(begin)
    joints, first, results = list(topology.joints), 0, []
    for part in parts:
        own = slice(first, first + len(part.pins))
        first += len(part.pins)
        screening = linkage.screen(motion.select(own), part.group.actuators)
        shares = [
            np.minimum(each / least, 1.0) * whole[own]
            for each, least in (
                (screening.strength, screening.min_strength),
                (screening.regularity, screening.min_regularity),
            )
        ]
        control = part.controls
        for joint in part.group.actuators:
            control = add_stride(part.tables.names, control, joint, angles[own, :, joints.index(joint)])
        results.append(
            ScreenedDesigns(
                WornValues(part.group, part.pins, control),
                (assembled[own] + shares[0] + shares[1]) / 3,
                screening.strength,
                screening.regularity,
                longest[own],
                LEGS * linkage.linkage_masses(topology, at[own], part.group.actuators),
                {label: column[own] for label, column in states.items()},
            )
        )
    return results


def _initial_states(begin: linkage.LinkageMotion) -> dict[str, np.ndarray]:
    """Angles of the joints that carry links as a run begins, by label [rad], and how fast they turn for each
    turn of hip and knee, LABEL_by_JOINT [1]."""
    names = list(begin.topology.joints)
    states = {}
    for joint, angles in linkage.carrying_angles(begin).items():
        for k, side in enumerate(SIDES):
            states[f"{joint}{side}"] = angles[:, k]
            for n, limb_joint in enumerate(begin.topology.limb.joints):
                states[f"{joint}{side}_by_{limb_joint}"] = begin.rates[:, k, names.index(joint), n]
    return states


def initial_states(begin: Mapping[str, np.ndarray], own: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Return angles and rates of the joints that carry links as a run begins, by label [rad, rad/s], so that
    loops are closed and stay so. begin: of `ScreenedDesigns`. own: the machine's states as a run begins."""
    states: dict[str, np.ndarray] = {}
    for label, column in begin.items():
        name, by, limb_joint = label.partition("_by_")
        if not by:
            states[name] = column
            continue
        side = next(each for each in SIDES if name.endswith(each))
        turn = column * own[f"{limb_joint}{side}_rate"]
        states[f"{name}_rate"] = states.get(f"{name}_rate", 0.0) + turn
    return states


@cache
def sound_designs(
    number: int, kept: tuple[tuple[str, float], ...] = ()
) -> tuple[np.ndarray, dict[tuple[str, ...], np.ndarray]]:
    """Return designs of a topology that carry a stride with bars that are short enough, values of its pins in
    rows, and by pair of actuators which of them pass with it. They are always the same.

    kept: names of parameters of pins, as of `linkage.pin_parameters`, with the values that they have in all
    designs."""
    topology = topologies_by_number()[number]
    pins = linkage.pin_parameters(topology)
    low, high = np.array([(each.low, each.high) for each in pins]).T
    stream = RandomStream(number).draws(0, Purpose.BEGIN)
    values = low + (high - low) * stream.uniform(TRIED_DESIGNS, len(pins))
    names = [each.name for each in pins]
    for name, value in kept:
        values[:, names.index(name)] = value
    longest = linkage.bar_lengths(topology, linkage.pin_positions(topology, values)).max(axis=1)
    values = values[longest <= MAX_BAR_LENGTH]
    motion = linkage.follow_postures(
        topology, values, linkage.stride_postures(SCREENED_SAMPLES), SCREENED_MARGIN
    )
    begins = linkage.follow_postures(topology, values, first_postures(topology)).assembles
    ok = {pair: linkage.screen(motion, pair).ok & begins for pair in topology.actuator_sets()}
    some = np.any(list(ok.values()), axis=0)
    return values[some], {pair: each[some] for pair, each in ok.items()}


__all__ = [
    "FINE_SAMPLES",
    "LEGS",
    "MIN_SOUNDNESS",
    "SCREENED_MARGIN",
    "SCREENED_SAMPLES",
    "ScreenedDesigns",
    "initial_states",
    "screen_designs",
    "sound_designs",
]
