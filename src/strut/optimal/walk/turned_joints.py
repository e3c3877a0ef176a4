"""Joints that a motion keeps far from where the machine was described: a torso that hangs down is balanced,
too, and nobody asked for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from strut.gait.section import section_of
from strut.optimal.solver.result import Solution
from strut.system import position_places, start

MAX_TURN = math.pi / 2
"""[rad] By how much a joint may be turned all through a motion from where its machine was described, before
it is named."""


@dataclass(frozen=True)
class TurnedJoint:
    """An angle that is all through a motion far away from where it was described. name: of the state.
    nearest: the value that it has nearest to that [rad]. described: the value with which the system was
    described [rad]."""

    name: str
    nearest: float
    described: float

    @property
    def sentence(self) -> str:
        """Where it is, and what keeps it nearer."""
        return (
            f"'{self.name}' is about {self.nearest:.3g} rad all through the step, far from "
            f"{self.described:.3g}, where the machine was described: within={{'{self.name}': (low, high)}} "
            f"keeps it nearer"
        )


def find_turned_joints(result: Solution, section: str) -> dict[str, TurnedJoint]:
    """Return the angles that are all through a motion more than `MAX_TURN` away from the value with which the
    system was described, by name. section: the event that ends a step; angles that only say how far the
    walker has come are left out."""
    walker = result.problem.system
    described, motion = start(walker).x, np.concatenate([m.x for m in result.phases])
    units = [q.unit for q in walker.x for _ in q.labels]
    travelled = section_of(walker, section).cyclic
    joints = {}
    for i in position_places(walker):
        nearest = motion[np.argmin(np.abs(motion[:, i] - described[i])), i]
        if units[i] == "rad" and i not in travelled and abs(nearest - described[i]) > MAX_TURN:
            name = walker.labels("x")[i]
            joints[name] = TurnedJoint(name, float(nearest), float(described[i]))
    return joints


__all__ = ["TurnedJoint", "find_turned_joints"]
