"""`follow_postures`: many linkages assembled along the postures of their limb, from the reference posture on
and without leaving the branch that begins there."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strut.checks import checked, number_array, positive
from strut.errors import ModelError, ShapeError
from strut.linkage.kinematics import LinkageKinematics
from strut.linkage.pins import pin_positions
from strut.linkage.topology import Topology

MAX_GAP = 1e-12
"""[m] To which loops are closed by Newton's method."""
NEWTON_STEPS = 8
"""After which a linkage counts as one that cannot be assembled in a posture."""
POSTURE_STEP = 0.04
"""[rad] By which the angles of the limb change at most from one solution to the next."""
MAX_CORRECTION = 0.2
"""[rad] Largest turn of a link that Newton's method may add to the tangent's prediction: one that needs more
has left its branch."""
ROWS_TOGETHER = 4096
"""Postures of designs, about, that are followed at once: more take memory, and no less time each."""
NEIGHBOURS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""Directions in which two angles of a limb leave a motion."""


@checked
@dataclass(frozen=True, eq=False)
class LinkageMotion:
    """Linkages of one topology along postures of the limb, and around them.

    postures: the angles of the limb [rad], samples x joints of the limb, those around the motion included.
    along: how many samples are the motion itself, which come first. coordinates: designs x samples x
    coordinates, see `LinkageKinematics`. assembled: designs x samples; where a design is not assembled the
    other arrays are nan. rates: designs x samples x joints x joints of the limb: by how much the linkage's
    joints turn for each turn of the limb's.
    """

    topology: Topology
    pins: np.ndarray
    postures: np.ndarray
    along: int
    coordinates: np.ndarray
    assembled: np.ndarray
    rates: np.ndarray

    @property
    def assembles(self) -> np.ndarray:
        """Which designs can be assembled in all postures."""
        return np.asarray(self.assembled.all(axis=1))

    def select(self, designs: Any) -> LinkageMotion:
        """Return the same of some designs: a slice, their places, or a mask."""
        arrays = {
            name: getattr(self, name)[designs] for name in ("pins", "coordinates", "assembled", "rates")
        }
        return replace(self, **arrays)


@checked
def follow_postures(
    topology: Topology, values: np.ndarray, postures: np.ndarray, margin: float = 0.0
) -> LinkageMotion:
    """Assemble linkages along a motion of their limb, all designs at once; return their angles, and which
    could be assembled.

    values: of `pin_parameters`, a row for each design. postures: angles of the limb's joints [rad], a row for
    each sample of the motion. margin: [rad] by which the angles of the limb may also differ from these, alone
    and two by two.

    The reference posture, in which every linkage is closed, is followed to the first posture and then along,
    in small steps: a prediction along the tangent, then Newton's method. A design whose closure becomes
    singular on the way, so that branches cross, or that cannot be closed, is not assembled from there on.
    """
    kinematics = LinkageKinematics(topology, pin_positions(topology, values))
    motion = number_array("postures", postures, (2,))
    limb = len(topology.limb.joints)
    if not limb or motion.shape[1] != limb:
        raise ShapeError(
            f"a posture has {motion.shape[1]} angles: {limb} are needed, of {', '.join(topology.limb.joints)}"
        )
    if 2 * len(kinematics.tree.closing) != len(topology.links):
        raise ModelError(
            f"a linkage of {len(topology.links)} links with {len(kinematics.tree.closing)} loops is not "
            f"determined by the posture of its limb: twice as many links as loops are needed, so that its "
            f"mobility is that of the limb"
        )
    offsets = _offsets(limb, positive("margin", margin, "rad")) if margin else np.zeros((0, limb))
    path = _Path(kinematics)
    parts: list[tuple[np.ndarray, ...]] = []
    stations: list[_Path] = []
    for posture in motion:
        path.go_to(posture)
        parts.append(path.record())
        stations.append(copy(path))
    # what lies around several postures is followed at once: arithmetic on few rows is mostly waiting
    together = max(1, ROWS_TOGETHER // max(1, len(offsets) * len(kinematics.pins)))
    for first in range(0, len(motion) if len(offsets) else 0, together):
        own = slice(first, first + together)
        branches = path.branch(stations[own], len(offsets))
        branches.go_to(branches.posture + offsets[branches.members % len(offsets)])
        records = [each.reshape(len(motion[own]), -1, *each.shape[1:]) for each in branches.record()]
        for around in zip(*records, strict=True):
            parts += [tuple(array[k :: len(offsets)] for array in around) for k in range(len(offsets))]
    neighbours = (motion[:, None] + offsets).reshape(-1, limb)
    coordinates, assembled, rates = (np.stack([each[k] for each in parts], axis=1) for k in range(3))
    return LinkageMotion(
        topology,
        kinematics.pins,
        np.concatenate([motion, neighbours]),
        len(motion),
        coordinates,
        assembled,
        rates,
    )


def _offsets(limb: int, margin: float) -> np.ndarray:
    """Return by how much postures around a motion differ from it: each angle alone, and two by two."""
    rows = []
    for a in range(limb):
        for b in range(a, limb):
            for u, v in NEIGHBOURS if a != b else ((1, 0), (-1, 0)):
                row = np.zeros(limb)
                row[a], row[b] = (margin * u, margin * v) if a != b else (margin * u, margin * u)
                rows.append(row)
    return np.unique(np.array(rows), axis=0)


class _Path:
    """Where designs are on the way along postures. Those that have left their branch are left behind:
    `members` are the places of the others among all."""

    def __init__(self, kinematics: LinkageKinematics) -> None:
        self.kinematics = self.all_designs = kinematics
        self.count, size = len(kinematics.pins), len(kinematics.tree.coordinates)
        self.limb = kinematics.limb_joints
        self.members = np.arange(self.count)
        self.posture = np.zeros((self.count, self.limb))
        self.y = np.zeros((self.count, size))
        self.slope = kinematics.closures(self.y)[1]
        self.side = np.sign(np.linalg.det(self.slope[:, :, self.limb :]))
        self._keep(self.side != 0)

    def branch(self, stations: Sequence[_Path], count: int) -> _Path:
        """Return places that designs were at, each so many times, to go on from into other directions.

        stations: where all of them were. Rows are ordered by station, design, time; so are `members`.
        """
        branches = copy(self)
        rows = [np.repeat(each.members, count) for each in stations]
        branches.kinematics = self.all_designs.select(np.concatenate(rows))
        branches.all_designs = branches.kinematics
        branches.count = self.count * count * len(stations)
        branches.members = np.concatenate(
            [
                ((k * self.count + each.members)[:, None] * count + np.arange(count)).ravel()
                for k, each in enumerate(stations)
            ]
        )
        branches.posture, branches.y, branches.slope, branches.side = (
            np.concatenate([np.repeat(getattr(each, name), count, axis=0) for each in stations])
            for name in ("posture", "y", "slope", "side")
        )
        return branches

    def _keep(self, stays: np.ndarray) -> None:
        """Leave designs behind that do not stay on their branch."""
        if not stays.all():
            self.kinematics = self.kinematics.select(stays)
            self.members, self.side = self.members[stays], self.side[stays]
            self.y, self.posture, self.slope = self.y[stays], self.posture[stays], self.slope[stays]

    def go_to(self, postures: np.ndarray) -> None:
        """Move the limbs of all designs to a posture, in small steps; or each to a row of its own."""
        begin, where = np.full((self.count, self.limb), np.nan), np.full((self.count, self.limb), np.nan)
        begin[self.members], where[self.members] = self.posture, postures
        way = where - begin
        longest = float(np.abs(way[self.members]).max(initial=0.0))
        steps = max(1, int(np.ceil(longest / POSTURE_STEP)))
        with np.errstate(invalid="ignore"):  # what is singular becomes infinite, and is left behind
            for k in range(1, steps + 1):
                self._step((begin + way * k / steps)[self.members])

    def _step(self, posture: np.ndarray) -> None:
        """Move the limbs a little: along the tangent, then by Newton's method."""
        links = slice(self.limb, None)
        y = self.y.copy()
        y[:, : self.limb] = posture
        y[:, links] -= self._solve(
            self.slope, (self.slope[:, :, : self.limb] @ (posture - self.posture)[:, :, None])[:, :, 0]
        )
        predicted = y[:, links].copy()
        gap, slope = self.kinematics.closures(y)
        for _ in range(NEWTON_STEPS):
            open_loops = (np.abs(gap) > MAX_GAP).any(axis=1) & np.isfinite(y).all(axis=1)
            if not open_loops.any():
                break
            y[:, links] -= np.where(open_loops[:, None], self._solve(slope, gap), 0.0)
            gap, slope = self.kinematics.closures(y)
        stays = (np.abs(gap) <= MAX_GAP).all(axis=1)
        stays &= np.abs(y[:, links] - predicted).max(axis=1, initial=0.0) <= MAX_CORRECTION
        stays &= np.sign(np.linalg.det(slope[:, :, links])) == self.side
        self.y, self.posture, self.slope = y, posture, slope
        self._keep(stays)

    def _solve(self, slope: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Solve for the turns of links; infinite where the equations are singular."""
        matrix = slope[:, :, self.limb :]
        try:
            return np.asarray(np.linalg.solve(matrix, b[:, :, None])[:, :, 0])
        except np.linalg.LinAlgError:
            singular = ~(np.abs(np.linalg.det(matrix)) > 0)  # also where numbers have run away
            matrix = np.where(singular[:, None, None], np.eye(matrix.shape[1]), matrix)
            turns = np.linalg.solve(matrix, b[:, :, None])[:, :, 0]
            return np.where(singular[:, None], np.inf, turns)

    def record(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return coordinates, which designs are assembled, and the rates of their joints; nan where a design
        was left behind."""
        links = -np.linalg.solve(self.slope[:, :, self.limb :], self.slope[:, :, : self.limb])
        whole = np.concatenate([np.tile(np.eye(self.limb), (len(self.y), 1, 1)), links], axis=1)
        joints = self.kinematics.joint_turns
        coordinates = np.full((self.count, self.y.shape[1]), np.nan)
        rates = np.full((self.count, len(joints), self.limb), np.nan)
        assembled = np.zeros(self.count, dtype=bool)
        coordinates[self.members], rates[self.members] = self.y, joints @ whole
        assembled[self.members] = True
        return coordinates, assembled, rates


__all__ = ["LinkageMotion", "follow_postures"]
