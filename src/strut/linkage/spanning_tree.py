"""`SpanningTree`: which joints of a linkage carry its links, and which close its loops."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.linkage.topology import Topology


@checked
@dataclass(frozen=True, eq=False)
class SpanningTree:
    """The links of a topology hung on the limb, as near to it as they can be.

    carried: by link, in the order from the limb outwards, the joint that carries it and what it hangs on.
    closing: by the other joints, the two parts whose pins must meet.
    """

    topology: Topology
    carried: dict[str, tuple[str, str]]
    closing: dict[str, tuple[str, str]]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The joints of the limb, then the links: angles of the former, turns about y of the latter."""
        return (*self.topology.limb.joints, *self.topology.links)

    def turns(self) -> dict[str, np.ndarray]:
        """Return for each part how its turn about y is made of the coordinates: a row of weights."""
        limb, places = self.topology.limb, {name: k for k, name in enumerate(self.coordinates)}
        rows = {body: np.zeros(len(places)) for body in limb.bodies[:1]}
        for joint, (a, b) in limb.joints.items():
            rows[b] = rows[a].copy()
            rows[b][places[joint]] = limb.directions.get(joint, 1)
        for link in self.topology.links:
            rows[link] = np.zeros(len(places))
            rows[link][places[link]] = 1.0
        return rows

    def joint_turns(self) -> np.ndarray:
        """Return for each joint of the linkage how its angle is made of the coordinates: the turn of its
        second part less that of its first; of one that carries a link, of the link less what it hangs on."""
        turns, rows = self.turns(), []
        outer = {joint: link for link, (joint, _) in self.carried.items()}
        for joint, (a, b) in self.topology.joints.items():
            rows.append(turns[a] - turns[b] if outer.get(joint) == a else turns[b] - turns[a])
        return np.array(rows)


@checked
def spanning_tree(topology: Topology) -> SpanningTree:
    """Hang the links of a topology on its limb, breadth first from the first body; what is left over closes
    loops. Raises ModelError where a link hangs on nothing."""
    if not topology.limb.bodies:
        raise ModelError("the limb has no bodies: a linkage that is to move needs one that stands still")
    carried: dict[str, tuple[str, str]] = {}
    waiting = deque(topology.limb.bodies)
    while waiting:
        part = waiting.popleft()
        for joint, (a, b) in topology.joints.items():
            other = b if a == part else a if b == part else None
            if other is not None and other in topology.links and other not in carried:
                carried[other] = (joint, part)
                waiting.append(other)
    for link in topology.links:
        if link not in carried:
            raise ModelError(f"link '{link}' hangs on nothing: join it to the limb or to another link")
    used = {joint for joint, _ in carried.values()}
    return SpanningTree(
        topology, carried, {joint: pin for joint, pin in topology.joints.items() if joint not in used}
    )


__all__ = ["SpanningTree", "spanning_tree"]
