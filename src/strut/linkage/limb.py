"""`Limb`: the bodies that a linkage is to be put between, and the joints that they have already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import check_name

Point = tuple[float, float]
"""x and z [m] in a plane."""


@checked
@dataclass(frozen=True)
class Limb:
    """Bodies in a chain or a tree, joined by pins: a leg, an arm, or one body that stands still.

    bodies: their names; the first one is what the others move against. joints: by name, the two bodies that
    a pin connects. segments: by body, both ends [m] of the line along which links may be attached, x and z in
    the reference posture, in which all angles are zero; the joint towards the first body is at the beginning.
    Segments are needed for geometry, not for topologies. directions: by joint, 1 where its angle counts about
    y, -1 where it counts the other way; 1 unless given.
    """

    bodies: tuple[str, ...] = ()
    joints: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    segments: Mapping[str, tuple[Point, Point]] = field(default_factory=dict)
    directions: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.bodies, *self.joints):
            check_name(name, "body or joint of a limb")
        names = [*self.bodies, *self.joints]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ModelError(f"the limb has '{twice[0]}' twice: bodies and joints need names of their own")
        for joint, ends in self.joints.items():
            for body in ends:
                if body not in self.bodies:
                    raise UnknownNameError(
                        f"joint '{joint}' connects '{body}', which is no body of the limb: "
                        f"{did_you_mean(body, list(self.bodies))}"
                    )
        reached = set(self.bodies[:1])
        for joint, (a, b) in self.joints.items():
            if a not in reached or b in reached:
                raise ModelError(
                    f"joint '{joint}' connects '{a}' and '{b}': name joints from the first body outwards, "
                    "each with the body that is there already first; a limb has no loops"
                )
            reached.add(b)
        for body, line in self.segments.items():
            if body not in self.bodies:
                raise UnknownNameError(
                    f"a segment is given for '{body}', which is no body of the limb: "
                    f"{did_you_mean(body, list(self.bodies))}"
                )
            if len(line) != 2 or not all(len(p) == 2 and all(map(math.isfinite, p)) for p in line):
                raise ModelError(f"the segment of '{body}' is {line}: give two ends, ((x, z), (x, z)) [m]")
        for joint, direction in self.directions.items():
            if joint not in self.joints or direction not in {1, -1}:
                raise ModelError(
                    f"the direction of '{joint}' is {direction}: give 1 or -1 for a joint of the limb, "
                    f"{', '.join(self.joints)}"
                )

    def pivot(self, joint: str) -> Point:
        """Where a joint is in the reference posture [m]: at the beginning of its second body's segment."""
        return self.segment(self.joints[joint][1])[0]

    def segment(self, body: str) -> tuple[Point, Point]:
        """Both ends of a body's segment [m]; raises ModelError where none was given."""
        if body not in self.segments:
            raise ModelError(
                f"the limb has no segment of '{body}': geometry needs both of its ends in the reference "
                f"posture, segments={{'{body}': ((x, z), (x, z)), ...}}"
            )
        return self.segments[body]


HEIGHT = 1.8
"""[m] Of the person whose leg `human_leg` is."""


@checked
def human_leg(height: float = HEIGHT) -> Limb:
    """Return trunk, thigh and shank of a standing person with hip and knee, sized as `walkers.human` is;
    flexion counts as positive. height: of the person [m]; the sole is at z = 0."""
    ankle, knee, hip = 0.055 / 1.8 * height, (0.055 / 1.8 + 0.246) * height, (0.055 / 1.8 + 0.491) * height
    return Limb(
        ("trunk", "thigh", "shank"),
        {"hip": ("trunk", "thigh"), "knee": ("thigh", "shank")},
        {
            "trunk": ((0.0, hip), (0.0, hip + 0.288 * height)),
            "thigh": ((0.0, hip), (0.0, knee)),
            "shank": ((0.0, knee), (0.0, ankle)),
        },
        {"hip": -1, "knee": 1},
    )


__all__ = ["Limb", "Point", "human_leg"]
