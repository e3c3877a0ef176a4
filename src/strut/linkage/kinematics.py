"""Kinematics of many linkages of one topology at once: where their pins are, by how much loops are open, and
how fast everything turns; arrays over designs, without a loop over them."""

from __future__ import annotations

import numpy as np

from strut.linkage.spanning_tree import SpanningTree, spanning_tree
from strut.linkage.topology import Topology


class LinkageKinematics:
    """Positions and their derivatives for designs of one topology. Coordinates y are the angles of the limb,
    then the turns of the links, all zero in the reference posture; arrays have designs first.

    pins: positions of the joints in the reference posture [m], designs x joints x 2.
    """

    def __init__(self, topology: Topology, pins: np.ndarray) -> None:
        self.topology, self.pins = topology, pins
        self.tree: SpanningTree = spanning_tree(topology)
        self.turns = self.tree.turns()
        self.joint_turns = self.tree.joint_turns()
        self.limb_joints = len(topology.limb.joints)
        self._place = {joint: k for k, joint in enumerate(topology.joints)}
        self._reference = self._reference_origins()

    def select(self, designs: np.ndarray) -> LinkageKinematics:
        """Return the same for some designs, by their places or a mask."""
        return LinkageKinematics(self.topology, self.pins[designs])

    def _reference_origins(self) -> dict[str, np.ndarray]:
        """Return the origin of each part in the reference posture: where it is carried."""
        limb, count = self.topology.limb, len(self.pins)
        origins = {limb.bodies[0]: np.zeros((count, 2))}
        for joint, (_, b) in limb.joints.items():
            origins[b] = np.tile(np.array(limb.pivot(joint)), (count, 1))
        for link, (joint, _) in self.tree.carried.items():
            origins[link] = self.pins[:, self._place[joint]]
        return origins

    def _arms(self, y: np.ndarray, part: str, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a point of a part, given in the reference posture, from the part's origin, and how that
        changes with the part's turn about y."""
        turn = y @ self.turns[part]
        cos, sin = np.cos(turn), np.sin(turn)
        x, z = (place - self._reference[part]).T
        arm = np.column_stack([cos * x + sin * z, cos * z - sin * x])
        return arm, np.column_stack([arm[:, 1], -arm[:, 0]])

    def _origins(self, y: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return origins of all parts, and their derivatives by y (designs x 2 x coordinates)."""
        limb = self.topology.limb
        first = limb.bodies[0]
        origins = {first: (self._reference[first], np.zeros((len(y), 2, y.shape[1])))}
        for joint, (a, b) in limb.joints.items():
            pivot = np.tile(np.array(limb.pivot(joint)), (len(y), 1))
            origins[b] = self._point(y, a, pivot, origins)
        for link, (joint, on) in self.tree.carried.items():
            origins[link] = self._point(y, on, self.pins[:, self._place[joint]], origins)
        return origins

    def _point(
        self,
        y: np.ndarray,
        part: str,
        place: np.ndarray,
        origins: dict[str, tuple[np.ndarray, np.ndarray]],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where a point of a part is, and its derivatives by y."""
        origin, rates = origins[part]
        arm, turned = self._arms(y, part, place)
        return origin + arm, rates + turned[:, :, None] * self.turns[part]

    def closures(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much loops are open [m], designs x rows, and the derivatives by y."""
        origins, gaps, slopes = self._origins(y), [], []
        for joint, (a, b) in self.tree.closing.items():
            place = self.pins[:, self._place[joint]]
            (p, dp), (q, dq) = self._point(y, a, place, origins), self._point(y, b, place, origins)
            gaps.append(p - q)
            slopes.append(dp - dq)
        if not gaps:
            return np.zeros((len(y), 0)), np.zeros((len(y), 0, y.shape[1]))
        return np.concatenate(gaps, axis=1), np.concatenate(slopes, axis=1)

    def joint_positions(self, y: np.ndarray) -> np.ndarray:
        """Return where all joints of the linkage are [m], designs x joints x 2."""
        origins = self._origins(y)
        return np.stack(
            [
                self._point(y, pin[0], self.pins[:, k], origins)[0]
                for k, pin in enumerate(self.topology.joints.values())
            ],
            axis=1,
        )

    def limb_positions(self, y: np.ndarray) -> np.ndarray:
        """Return both ends of the segments of the limb [m], designs x segments x ends x 2."""
        origins, ends = self._origins(y), []
        for body, line in self.topology.limb.segments.items():
            places = [np.tile(np.array(p), (len(y), 1)) for p in line]
            ends.append(np.stack([self._point(y, body, place, origins)[0] for place in places], axis=1))
        return np.stack(ends, axis=1)


__all__ = ["LinkageKinematics"]
