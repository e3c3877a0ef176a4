"""Kinematics of many linkages of one topology at once: where their pins are, by how much loops are open, and
how fast everything turns; arrays over designs, without a loop over them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from strut.linkage.spanning_tree import SpanningTree, spanning_tree
from strut.linkage.topology import Topology

Place = str | tuple[float, float]
"""Where a point is in the reference posture: at a joint of the linkage, or at x and z [m]."""


class _Arms:
    """The arms of a topology: vectors from the origin of a part to one of its points. Every position is a sum
    of some of them, along the chain of parts that carries the point."""

    def __init__(self, topology: Topology) -> None:
        self.limb, self.tree = topology.limb, spanning_tree(topology)
        self.arms: dict[tuple[str, Place], int] = {}
        limb = self.limb
        self.origins: dict[str, Place] = {limb.bodies[0]: (0.0, 0.0)}
        self.chains: dict[str, tuple[int, ...]] = {limb.bodies[0]: ()}
        for joint, (a, b) in limb.joints.items():
            x, z = limb.pivot(joint)
            self.origins[b], self.chains[b] = (x, z), self.chain(a, (x, z))
        for link, (joint, on) in self.tree.carried.items():
            self.origins[link], self.chains[link] = joint, self.chain(on, joint)

    def chain(self, part: str, place: Place) -> tuple[int, ...]:
        """Return the arms whose sum is the position of a point of a part."""
        return (*self.chains[part], self.arms.setdefault((part, place), len(self.arms)))


@dataclass(frozen=True, eq=False)
class _ArmSums:
    """Which arms are summed up. arms: part and place of each. origins: of the parts, as places. loops: rows
    of signs of arms, whose sums are the gaps of the joints that close loops. joints, ends: rows of those of
    the linkage's joints, and of both ends of every segment of the limb."""

    arms: tuple[tuple[str, Place], ...]
    origins: dict[str, Place]
    loops: np.ndarray
    joints: np.ndarray
    ends: np.ndarray


def _arm_sums(topology: Topology) -> _ArmSums:
    """Return the sums of a topology's arms."""
    arms = _Arms(topology)
    closing = [(arms.chain(a, joint), arms.chain(b, joint)) for joint, (a, b) in arms.tree.closing.items()]
    joints = [arms.chain(pin[0], joint) for joint, pin in topology.joints.items()]
    ends = [
        arms.chain(body, (float(x), float(z)))
        for body, line in topology.limb.segments.items()
        for x, z in line
    ]

    def row(plus: tuple[int, ...], minus: tuple[int, ...] = ()) -> np.ndarray:
        signs = np.zeros(len(arms.arms))
        np.add.at(signs, list(plus), 1.0)
        np.add.at(signs, list(minus), -1.0)
        return signs

    empty = np.zeros((0, len(arms.arms)))
    return _ArmSums(
        arms=tuple(arms.arms),
        origins=arms.origins,
        loops=np.vstack([empty, *[row(*each) for each in closing]]),
        joints=np.vstack([empty, *[row(each) for each in joints]]),
        ends=np.vstack([empty, *[row(each) for each in ends]]),
    )


class LinkageKinematics:
    """Positions and their derivatives for designs of one topology. Coordinates y are the angles of the limb,
    then the turns of the links, all zero in the reference posture; arrays have designs first.

    pins: positions of the joints in the reference posture [m], designs x joints x 2.
    """

    def __init__(self, topology: Topology, pins: np.ndarray) -> None:
        self.topology, self.pins = topology, pins
        self.tree: SpanningTree = spanning_tree(topology)
        self.joint_turns = self.tree.joint_turns()
        self.limb_joints = len(topology.limb.joints)
        self._sums = _arm_sums(topology)
        turns = self.tree.turns()
        self._turns = np.array([turns[part] for part, _ in self._sums.arms])
        place = {joint: k for k, joint in enumerate(topology.joints)}

        def positions(where: Place) -> np.ndarray:
            if isinstance(where, str):
                return np.asarray(pins[:, place[where]])
            return np.broadcast_to(np.array(where), (len(pins), 2))

        # arms in the reference posture, designs x arms
        arms = [positions(where) - positions(self._sums.origins[part]) for part, where in self._sums.arms]
        self._x, self._z = (np.stack([arm[:, k] for arm in arms], axis=1) for k in (0, 1))
        loops = self._sums.loops
        self._loop_slopes = (loops[:, :, None] * self._turns).transpose(1, 0, 2).reshape(len(arms), -1)

    def select(self, designs: np.ndarray) -> LinkageKinematics:
        """Return the same for some designs, by their places or a mask."""
        some = copy(self)
        some.pins, some._x, some._z = self.pins[designs], self._x[designs], self._z[designs]
        return some

    def _turned_arms(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return x and z of all arms in a posture, designs x arms. A turn about y makes x change by z, and z
        by -x."""
        turns = y @ self._turns.T
        cos, sin = np.cos(turns), np.sin(turns)
        return cos * self._x + sin * self._z, cos * self._z - sin * self._x

    def closures(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much loops are open [m], designs x rows, and the derivatives by y."""
        x, z = self._turned_arms(y)
        count, loops, size = len(y), len(self._sums.loops), y.shape[1]
        gaps = np.stack([x @ self._sums.loops.T, z @ self._sums.loops.T], axis=2)
        slopes = np.stack([z @ self._loop_slopes, -(x @ self._loop_slopes)], axis=1)
        slopes = slopes.reshape(count, 2, loops, size).transpose(0, 2, 1, 3)
        return gaps.reshape(count, 2 * loops), slopes.reshape(count, 2 * loops, size)

    def joint_positions(self, y: np.ndarray) -> np.ndarray:
        """Return where all joints of the linkage are [m], designs x joints x 2."""
        return self._positions(y, self._sums.joints)

    def limb_positions(self, y: np.ndarray) -> np.ndarray:
        """Return both ends of the segments of the limb [m], designs x segments x ends x 2."""
        return self._positions(y, self._sums.ends).reshape(len(y), -1, 2, 2)

    def _positions(self, y: np.ndarray, sums: np.ndarray) -> np.ndarray:
        return np.stack([arms @ sums.T for arms in self._turned_arms(y)], axis=2)


__all__ = ["LinkageKinematics"]
