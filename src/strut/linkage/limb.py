"""`Limb`: the bodies that a linkage is to be put between, and the joints that they have already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from strut.checks import checked, ordered_pair
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import check_name

Point = tuple[float, float]
"""x and z [m] in a plane."""
PIN_REACH = 1 / 3
"""[1] How far around its segments the pins of a limb's linkages may be, as a share of the longest segment,
where the limb does not say it."""


@checked
@dataclass(frozen=True)
class Limb:
    """Bodies in a chain or a tree, joined by pins: a leg, an arm, or one body that stands still.

    bodies: their names; the first one is what the others move against. joints: by name, the two bodies that
    a pin connects. segments: by body, both ends [m] of the line along which links may be attached, x and z in
    the reference posture, in which all angles are zero; the joint towards the first body is at the beginning.
    Segments are needed for geometry, not for topologies. directions: by joint, 1 where its angle counts about
    y, -1 where it counts the other way; 1 unless given. pin_ranges: by axis, "x" and "z", where pins may be
    that are on no segment, low and high [m]; see `free_ranges`.
    """

    bodies: tuple[str, ...] = ()
    joints: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    segments: Mapping[str, tuple[Point, Point]] = field(default_factory=dict)
    directions: Mapping[str, int] = field(default_factory=dict)
    pin_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

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
        if self.pin_ranges:
            check_ranges(self.pin_ranges)

    def free_ranges(self) -> dict[str, tuple[float, float]]:
        """Return where pins may be that are on no segment, by axis, low and high [m]: `pin_ranges`, or the
        box around all segments and as far beyond it as a third of the longest. Raises ModelError where the
        limb has neither."""
        if self.pin_ranges:
            return dict(self.pin_ranges)
        reach = PIN_REACH * max((math.dist(*line) for line in self.segments.values()), default=0.0)
        if not reach:
            raise ModelError(
                "the limb has no segments, so that nothing says where pins may be that are on none: give "
                "segments, or ranges={'x': (low, high), 'z': (low, high)} [m]"
            )
        ends = [point for line in self.segments.values() for point in line]
        boxes = {axis: [point[k] for point in ends] for k, axis in enumerate(("x", "z"))}
        return {axis: (min(values) - reach, max(values) + reach) for axis, values in boxes.items()}

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


def check_ranges(ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise ModelError where ranges of pins lack an axis, ValueRangeError where one is no range."""
    for axis in ("x", "z"):
        if axis not in ranges:
            raise ModelError(
                f"ranges has no '{axis}': give both axes, {{'x': (low, high), 'z': (low, high)}} [m]"
            )
        ordered_pair(f"the range of {axis}", ranges[axis])


HEIGHT = 1.8
"""[m] Of the person whose leg `human_leg` is."""
LEG_RANGES: Mapping[str, Point] = {"x": (-0.15, 0.15), "z": (0.1, 1.3)}
"""[m] Where pins may be that are on no segment of the leg of such a person, by axis."""


@checked
def human_leg(height: float = HEIGHT) -> Limb:
    """Return trunk, thigh and shank of a standing person with hip and knee, sized as `walkers.human` is;
    flexion counts as positive. height: of the person [m]; the sole is at z = 0. Pins on no segment may be
    where they were published (Kieboom, table 5.2)."""
    ankle, knee, hip = 0.055 / 1.8 * height, (0.055 / 1.8 + 0.246) * height, (0.055 / 1.8 + 0.491) * height
    size = height / HEIGHT
    return Limb(
        ("trunk", "thigh", "shank"),
        {"hip": ("trunk", "thigh"), "knee": ("thigh", "shank")},
        {
            "trunk": ((0.0, hip), (0.0, hip + 0.288 * height)),
            "thigh": ((0.0, hip), (0.0, knee)),
            "shank": ((0.0, knee), (0.0, ankle)),
        },
        {"hip": -1, "knee": 1},
        {axis: (low * size, high * size) for axis, (low, high) in LEG_RANGES.items()},
    )


__all__ = ["Limb", "Point", "check_ranges", "human_leg"]
