"""What steppings in a plane and in space share: when a swing ends, how its reference goes on, and which feet
may push."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from strut.control.whole_body_control import PointContact
from strut.errors import ModelError
from strut.system import Discrete, Expression, sx

STANDING = 0.0
"""The value of the state `swinging` while both feet stand."""
MIN_PART_OF_SWING = 0.5
"""[1] Least part of its time that a swing has lasted when the ground counts: at first the foot leaves it."""


@dataclass(frozen=True, eq=False)
class SwingMemory:
    """What every stepping remembers: which foot swings, since when, and how many steps have begun."""

    swinging: Discrete
    start_time: Discrete
    count: Discrete

    @classmethod
    def begin(cls, *, prefix: str = "", last_step: float = 0.0) -> SwingMemory:
        """Return the memory of a machine that stands. last_step: when a step began before [s]."""
        return cls(
            Discrete(f"{prefix}swinging", STANDING, description="0 while both stand, else the foot's number"),
            Discrete(f"{prefix}step_begun", last_step, "s", description="when the last step began"),
            Discrete(f"{prefix}steps", 0.0, description="that have begun"),
        )

    def touches(
        self, t: ca.SX, gaps: Mapping[str, ca.SX], *, step_time: Expression, touch_gap: Expression
    ) -> list[ca.SX]:
        """Return, by foot, whether it ends its swing now: where it touches, not before its second half."""
        late = t - self.start_time.sym > MIN_PART_OF_SWING * sx(step_time)
        return [
            ca.logic_and(ca.logic_and(self.swinging.sym == k + 1, late), gap <= sx(touch_gap))
            for k, gap in enumerate(gaps.values())
        ]

    def now(self, t: ca.SX, *, begins: ca.SX, foot: ca.SX, ends: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return which foot swings after this sample, and when the last step began [s]."""
        swinging = ca.if_else(begins, foot, ca.if_else(ends, STANDING, self.swinging.sym))
        return swinging, ca.if_else(begins, t, self.start_time.sym)


def check_two_feet(what: str, feet: Sequence[str]) -> None:
    """Raise ModelError where there are not two feet."""
    if len(feet) != 2:
        raise ModelError(f"{what} has {len(feet)} feet, {', '.join(feet)}: it steps with two")


def search_motion(
    clock: ca.SX, step_time: Expression, search_speed: Expression, size: int
) -> tuple[ca.SX, ca.SX]:
    """Return by how much, and how fast, the reference of a foot that found no ground in time goes on down: a
    vector of `size` whose last is along z [m, m/s]."""
    overdue = ca.fmax(0, clock - sx(step_time))
    level = ca.SX.zeros(size - 1)
    way = ca.vertcat(level, -sx(search_speed) * overdue)
    return way, ca.if_else(overdue > 0, ca.vertcat(level, -sx(search_speed)), 0)


def leaving_contacts(
    points: Mapping[str, Mapping[str, ca.SX]],
    *,
    swinging: ca.SX,
    clock: ca.SX,
    unload_time: ca.SX,
    gap: Expression,
    friction: Expression,
    max_force: Expression,
) -> list[PointContact]:
    """Return the contacts of feet that step: a point pushes where it is below `gap` [m], but for the foot
    that leaves in the first `unload_time` [s] of its swing. points: by foot, the heights [m] of its points by
    frame."""
    contacts = []
    for number, heights in enumerate(points.values()):
        leaves = ca.logic_and(swinging == number + 1, clock < unload_time)
        contacts += [
            PointContact(
                frame=frame,
                friction=friction,
                max_force=max_force,
                active=ca.logic_and(height <= sx(gap), ca.logic_not(leaves)),
                motion=None,
            )
            for frame, height in heights.items()
        ]
    return contacts


__all__ = [
    "MIN_PART_OF_SWING",
    "STANDING",
    "SwingMemory",
    "check_two_feet",
    "leaving_contacts",
    "search_motion",
]
