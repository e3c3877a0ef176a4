"""Saurel's walkers: a person's segments on point feet, from a compass to one with torso, neck and arms.

Segments are Dumas's, without feet and hands, of a man of 68.2 kg. Legs, torso and head are told by their
angles from the vertical, as everywhere here: positive where the lower end is in front of the upper one.
Parameters NAME_share (part of the body's mass) and NAME_stretch (length, relative to the table) change single
segments on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import Between, Legs, plane, stepping
from strut.mechanism import Mechanism, joints
from strut.mechanism.parts import Body
from strut.system import Expression, Param, System
from strut.walkers.anthropometry import SEGMENTS, Segment, segment
from strut.walkers.straight import ANGLE, level, slope

REFERENCE_MASS = 68.2
"""[kg] The mass of the body that Saurel's masses imply."""
DEFAULT_SLOPE = 0.05
"""[rad] The slope of the ground unless another is given."""
FALL_HEIGHT_RATIO = 0.6
"""[1] A walker whose hip is lower than this part of the length of its legs has fallen."""


@dataclass
class _Person:
    """Stature and mass, and what single segments differ by."""

    stature: Param = field(
        default_factory=lambda: Param("stature", 1.77, "m", bounds=(0.5, 3), description="height of the body")
    )
    mass: Param = field(
        default_factory=lambda: Param(
            "body_mass",
            REFERENCE_MASS,
            "kg",
            bounds=(1, 500),
            description="with feet and hands, which are left out",
        )
    )
    changes: dict[str, tuple[Param, Param]] = field(default_factory=dict)

    def part(self, name: str, side: str = "right") -> Segment:
        """A segment of this person, by its name in the table."""
        if name not in self.changes:
            share = SEGMENTS[name][2] * 1e-2
            self.changes[name] = (
                Param(f"{name}_share", share, bounds=(1e-4, 1), description="part of the body's mass"),
                Param(f"{name}_stretch", 1.0, bounds=(0.2, 5), description="length, relative to the table's"),
            )
        share, stretch = self.changes[name]
        return segment(
            name, self.stature * stretch, self.mass * share / (SEGMENTS[name][2] * 1e-2), side=side
        )


def _solid(m: Mechanism, name: str, part: Segment) -> Body:
    """A segment as a body; in the plane what stands out of it is left out."""
    com = (part.com[0], 0, part.com[2]) if m.planar else part.com
    body = m.body(name, part.mass, com, part.inertia[1, 1] if m.planar else part.inertia)
    m.shape(body, part.shape())
    return body


def _on_foot(m: Mechanism) -> Body:
    """A place for the stance foot: carried along all axes, and held there while it stands."""
    at = m.world
    for axis in "xz" if m.planar else "xyz":
        carried = m.body(f"carried_{axis}")
        m.joint(f"foot_{axis}", at, carried, joints.prismatic(axis), actuated=False)
        at = carried
    return at


def _turn(
    m: Mechanism,
    name: str,
    parent: Body,
    initial: float,
    rate: float,
    *,
    at: Expression = (0, 0, 0),
) -> Body:
    """Add a massless body that turns about the lateral axis, beginning at an angle [rad] with a rate
    [rad/s]."""
    body = m.body(f"{name}_turned")
    m.joint(name, parent, body, joints.revolute(ANGLE), at=at, initial=initial, rate=rate, actuated=False)
    return body


def _mount(m: Mechanism, name: str, parent: Body, part: Segment, at: Expression) -> Body:
    """Add a segment as a body that is fixed to its parent `at` a place [m]."""
    body = _solid(m, name, part)
    m.joint(f"{name}_mount", parent, body, joints.fixed(), at=at)
    return body


INITIAL_ANGLES = {"stance": (0.24, -0.95), "swing": (-0.34, 0.3)}
"""Angles [rad] and rates [rad/s] in which a run begins."""


class _Walker:
    """What the five have in common: two legs, the stance leg standing on the ground, and whatever is carried
    by the hip.

    knees: of both legs. wide: [m] between the hips, in space.
    """

    def __init__(self, name: str, knees: bool = False, wide: Param | None = None) -> None:
        self.m = m = Mechanism(name, planar=wide is None)
        self.person, self.knees, self.wide = _Person(), knees, wide
        self.swap = {"stance": "swing", "swing": "stance"}
        carried = _on_foot(m)
        if wide is not None:
            self.swap |= {"yaw": "-yaw", "roll": "-roll"}
            for axis, angle in (("z", "yaw"), ("x", "roll")):
                turned = m.body(f"{angle}ed")
                m.joint(angle, carried, turned, joints.revolute(axis), actuated=False)
                carried = turned
        thigh, shank = (self.person.part(part) for part in ("thigh", "shank"))
        self.leg = thigh.length + shank.length
        lower = _turn(m, "stance", carried, *INITIAL_ANGLES["stance"])
        _mount(m, "stance_shank", lower, shank, (0, 0, shank.length))
        if knees:
            self.swap |= {"stance": "shank", "shank": "stance", "thigh": "swing", "swing": "thigh"}
            knee = level(m, "knee", lower, "stance", at=(0, 0, shank.length))
            upper = _turn(m, "thigh", knee, *INITIAL_ANGLES["stance"])
            _mount(m, "stance_thigh", upper, thigh, (0, 0, thigh.length))
            self.hip = level(m, "hip", upper, "thigh", at=(0, 0, thigh.length))
        else:
            _mount(m, "stance_thigh", lower, thigh, (0, 0, self.leg))
            self.hip = level(m, "hip", lower, "stance", at=(0, 0, self.leg))
        across = ca.SX(0) if wide is None else wide.sym
        thigh, shank = (self.person.part(part, "left") for part in ("thigh", "shank"))
        upper = _turn(m, "swing", self.hip, *INITIAL_ANGLES["swing"], at=(0, across, 0))
        _mount(m, "swing_thigh", upper, thigh, (0, 0, 0))
        if knees:
            knee = level(m, "swing_knee", upper, "swing", at=(0, 0, -thigh.length))
            upper = _turn(m, "shank", knee, INITIAL_ANGLES["swing"][0] - 0.1, INITIAL_ANGLES["swing"][1])
            _mount(m, "swing_shank", upper, shank, (0, 0, 0))
            m.frame("swing_foot", upper, (0, 0, -shank.length))
        else:
            _mount(m, "swing_shank", upper, shank, (0, 0, -thigh.length))
            m.frame("swing_foot", upper, (0, 0, -self.leg))
        m.frame("stance_foot", lower)
        self.middle = (0, across / 2, 0)

    def pelvis(self, parent: Body, at: Expression) -> Segment:
        """Upright on `parent`, its lower end `at` a place of it."""
        part = self.person.part("pelvis")
        _mount(self.m, "pelvis", parent, _upright(part), (at[0], at[1], at[2] + part.length))
        return part

    def torso(self) -> tuple[Body, Segment, Segment]:
        """Pelvis and torso as one, which pitches about the hips: the body, and both segments."""
        body = _turn(self.m, "torso", self.hip, 0.0, 0.0, at=self.middle)
        pelvis = self.pelvis(body, (0, 0, 0))
        torso = self.person.part("torso")
        _mount(self.m, "trunk", body, _upright(torso), (0, 0, pelvis.length + torso.length))
        return body, pelvis, torso

    def head(self, parent: Body, at: Expression) -> None:
        """Add the head to a parent, `at` a place of it [m]."""
        _mount(self.m, "head", parent, _upright(self.person.part("head")), at)

    def system(
        self,
        drives: list[Between],
        description: str,
        values: Mapping[str, float],
        swap: Mapping[str, str] | None = None,
    ) -> System:
        """The walker on its slope, with these drives and values. swap: further coordinates that change
        names."""
        base = ("foot_x", "foot_z") if self.wide is None else ("foot_x", "foot_y", "foot_z")
        legs = Legs(
            base,
            "stance_foot",
            "swing_foot",
            {**self.swap, **(swap or {})},
            "hip",
            FALL_HEIGHT_RATIO * self.leg,
            drives,
            margin=0.02 * self.leg,
        )
        return stepping(self.m, legs, plane(slope(DEFAULT_SLOPE)), description).using(values)


def _upright(part: Segment) -> Segment:
    """A segment of the middle: what Dumas measured beside the sagittal plane is left out, so that left and
    right are alike."""
    keep = ca.SX([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    return Segment(
        part.name, part.length, part.mass, ca.vertcat(part.com[0], 0, part.com[2]), part.inertia * keep
    )


def _hips(driven: bool = True) -> list[Between]:
    """Between the torso and each leg: spring and damper are the same on both sides."""
    return _pair("hip", {"stance_hip": "stance", "swing_hip": "swing"}, "torso", driven)


def _pair(name: str, joints_: Mapping[str, str], against: str, driven: bool = True) -> list[Between]:
    """Drives with shared springs and dampers, each between one of the joints given, by drive, and
    `against`."""
    spring = Param(f"{name}_spring", 0.0, "N m/rad", bounds=(0, 1e4), description="of each side")
    damping = Param(f"{name}_damping", 0.0, "N m s/rad", bounds=(0, 1e4), description="of each side")
    rest = Param(
        f"{name}_rest", 0.0, "rad", bounds=(-2, 2), description="angle of the spring at rest, on each side"
    )
    return [
        Between(label, {angle: 1, against: -1}, spring, damping, rest, driven)
        for label, angle in joints_.items()
    ]


@checked
def saurel_a(**values: float) -> System:
    """M_A, the compass: straight legs and a pelvis that does not turn; one motor between the legs. 33.0
    kg."""
    w = _Walker("saurel_a")
    w.pelvis(w.hip, w.middle)
    return w.system([_between_legs()], SYSTEM_DESCRIPTIONS["saurel-a"], values)


@checked
def saurel_b(**values: float) -> System:
    """M_B: the same with knees, which motors move, of both legs. Nothing stops a knee from overextending: who
    plans a walk requires `thigh - stance` and `swing - shank` to stay positive."""
    w = _Walker("saurel_b", knees=True)
    w.pelvis(w.hip, w.middle)
    spring, damping = (
        Param(f"knee_{what}", 0.0, unit, bounds=(0, 1e4), description="of each knee")
        for what, unit in (("spring", "N m/rad"), ("damping", "N m s/rad"))
    )
    rest = Param(
        "knee_rest", 0.0, "rad", bounds=(-2, 2), description="bend of a knee whose spring is at rest"
    )
    drives = [_between_legs("thigh")]
    for name, upper, lower in (("stance_knee", "thigh", "stance"), ("swing_knee", "swing", "shank")):
        drives.append(Between(name, {upper: 1, lower: -1}, spring, damping, rest))
    return w.system(drives, SYSTEM_DESCRIPTIONS["saurel-b"], values)


def _between_legs(stance: str = "stance") -> Between:
    """A drive with spring and damper between the swing leg and the stance leg, or thigh."""
    return Between(
        "hip",
        {"swing": 1, stance: -1},
        Param("hip_spring", 0.0, "N m/rad", bounds=(0, 1e4), description="between the legs"),
        Param("hip_damping", 0.0, "N m s/rad", bounds=(0, 1e4), description="between the legs"),
    )


@checked
def saurel_c(driven: bool = True, **values: float) -> System:
    """M_C: straight legs, and pelvis, torso and head as one body; a motor, a spring and a damper at each hip.
    60.3 kg. Without motors unless `driven`."""
    w = _Walker("saurel_c" if driven else "saurel_c_passive")
    body, pelvis, torso = w.torso()
    w.head(body, (0, 0, pelvis.length + torso.length))
    return w.system(_hips(driven=driven), SYSTEM_DESCRIPTIONS["saurel-c"], values)


@checked
def saurel_d(**values: float) -> System:
    """M_D: M_C with a motor in the neck."""
    w = _Walker("saurel_d")
    body, pelvis, torso = w.torso()
    neck = level(w.m, "neck", body, "torso", at=(0, 0, pelvis.length + torso.length))
    head = _turn(w.m, "head_angle", neck, 0.0, 0.0)
    w.head(head, (0, 0, 0))
    drives = [*_hips(), *_pair("neck", {"neck": "head_angle"}, "torso")]
    return w.system(drives, SYSTEM_DESCRIPTIONS["saurel-d"], values)


@checked
def saurel_e(**values: float) -> System:
    """M_E, in space: M_C with arms that swing, which motors move at the shoulders. All joints turn about the
    lateral axis, so the body as a whole yaws and rolls on its stance foot, and the rest are angles in its own
    plane. 65.9 kg."""
    wide = Param("hip_width", 0.17, "m", bounds=(0, 1), description="between the hips")
    shoulders = Param("shoulder_width", 0.36, "m", bounds=(0, 2), description="between the shoulders")
    drop = Param(
        "shoulder_drop", 0.06, "m", bounds=(-1, 1), description="from the neck down to the shoulders"
    )
    w = _Walker("saurel_e", wide=wide)
    body, pelvis, torso = w.torso()
    top = pelvis.length + torso.length
    w.head(body, (0, 0, top))
    upright = level(w.m, "shoulders", body, "torso", at=(0, 0, top - drop.sym))
    for name, side, sign in (("stance_arm", "right", -0.5), ("swing_arm", "left", 0.5)):
        arm, forearm = (w.person.part(part, side) for part in ("arm", "forearm"))
        turned = _turn(w.m, name, upright, 0.0, 0.0, at=(0, sign * shoulders.sym, 0))
        _mount(w.m, f"{name}_upper", turned, arm, (0, 0, 0))
        _mount(w.m, f"{name}_lower", turned, forearm, (0, 0, -arm.length))
    drives = [
        *_hips(),
        *_pair("shoulder", {"stance_shoulder": "stance_arm", "swing_shoulder": "swing_arm"}, "torso"),
    ]
    swap = {"stance_arm": "swing_arm", "swing_arm": "stance_arm"}
    return w.system(drives, SYSTEM_DESCRIPTIONS["saurel-e"], values, swap)
