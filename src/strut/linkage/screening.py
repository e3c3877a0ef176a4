"""`screen`: which designs carry a motion without coming near a singularity, before anything is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strut.checks import checked, positive
from strut.errors import ModelError
from strut.linkage.assembly_path import LinkageMotion
from strut.linkage.topology import check_actuators
from strut.tabular import Tabular

MIN_STRENGTH = 0.1
"""[1] Smallest singular value of the torques of the limb's joints over those of the actuators, by default."""
MIN_REGULARITY = 0.1
"""[1] One over the largest rate of the linkage's joints for a unit rate of the limb's, by default."""


@checked
@dataclass(frozen=True, eq=False)
class Screening(Tabular):
    """What was found of designs, an entry for each.

    assembles: can it be assembled in all postures? strength: the smallest singular value, over all postures,
    of the map from torques of the actuators to torques of the limb's joints, which is that of the limb's
    rates to the actuators'; 0 where actuators cannot push the limb in some direction, where it does not
    assemble, and where the determinant of this map changes its sign: then it is singular between two
    postures, however far from it both are. regularity: the smallest singular value of the map from rates of
    the linkage's joints to the limb's (one over the largest rate of a joint for a unit rate of the limb): 0
    where the linkage is stretched or flat. weakest: the sample in which strength is least, from which on it
    does not assemble, or the first of the other sign.
    """

    assembles: np.ndarray
    strength: np.ndarray
    regularity: np.ndarray
    weakest: np.ndarray
    min_strength: float
    min_regularity: float

    @property
    def ok(self) -> np.ndarray:
        """Which designs pass."""
        return np.asarray(
            self.assembles & (self.strength >= self.min_strength) & (self.regularity >= self.min_regularity)
        )

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every design whether it passes, and why."""
        return {
            "ok": self.ok,
            "assembles": self.assembles,
            "strength": self.strength,
            "regularity": self.regularity,
            "weakest": self.weakest,
        }

    def __str__(self) -> str:
        weak = self.assembles & (self.strength < self.min_strength)
        irregular = self.assembles & (self.strength >= self.min_strength) & ~self.ok
        return (
            f"{self.ok.sum()} of {len(self.ok)} designs pass; {(~self.assembles).sum()} do not assemble, "
            f"{weak.sum()} are too weak, {irregular.sum()} come near a dead point"
        )


@checked
def screen(
    motion: LinkageMotion,
    actuators: Sequence[str],
    *,
    min_strength: float = MIN_STRENGTH,
    min_regularity: float = MIN_REGULARITY,
) -> Screening:
    """Measure how far linkages stay from singularities along a motion and around it; return the measures of
    each, and which pass.

    actuators: joints of the linkage, as many as the limb has. min_strength, min_regularity: what a design
    must keep to pass, see `Screening`.
    """
    topology = motion.topology
    names = list(topology.joints)
    check_actuators(topology, actuators)
    needed = len(topology.limb.joints)
    if len(set(actuators)) != needed or len(actuators) != needed:
        raise ModelError(
            f"actuators are {', '.join(actuators)}: {needed} joints are needed, as many as the limb has"
        )
    places = [names.index(joint) for joint in actuators]
    strength, regularity = np.zeros((2, *motion.assembled.shape))
    rates = motion.rates[motion.assembled]
    strength[motion.assembled] = _singular_values(rates[:, places])[:, -1]
    # by continuity: a map whose determinant has both signs on one branch is singular in between
    signs = np.zeros(motion.assembled.shape)
    signs[motion.assembled] = np.sign(np.linalg.det(rates[:, places]))
    strength[signs * signs[:, :1] < 0] = 0.0
    regularity[motion.assembled] = 1.0 / _singular_values(rates)[:, 0]
    return Screening(
        motion.assembles,
        strength.min(axis=1),
        regularity.min(axis=1),
        strength.argmin(axis=1),
        positive("min_strength", min_strength),
        positive("min_regularity", min_regularity),
    )


def _singular_values(matrices: np.ndarray) -> np.ndarray:
    """Return the singular values of matrices, the largest first. Of two columns, as legs and arms have, they
    are written down: from the product with the transpose, the least by the determinant, which keeps its
    digits near zero."""
    if matrices.shape[2] != 2:
        return np.asarray(np.linalg.svd(matrices, compute_uv=False))
    u, v = matrices[:, :, 0], matrices[:, :, 1]
    uu, vv, uv = ((a * b).sum(axis=1) for a, b in ((u, u), (v, v), (u, v)))
    largest = np.sqrt((uu + vv + np.hypot(uu - vv, 2 * uv)) / 2)
    minors = [u[:, i] * v[:, k] - u[:, k] * v[:, i] for i in range(u.shape[1]) for k in range(i)]
    area = np.sqrt(np.square(minors).sum(axis=0))  # product of the two
    return np.column_stack([largest, np.divide(area, largest, out=np.zeros_like(area), where=largest > 0)])


__all__ = ["Screening", "screen"]
