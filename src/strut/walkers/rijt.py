"""Van de Rijt's planar humanoid: a torso on two legs with knees that end in points, without arms.

Topology, coordinates and joint limits are those of his thesis (University of Twente, BE-851); his masses and
lengths stood in a figure and are not in the text. Ours are Dumas's segments of a man of 70 kg and 1.77 m,
shank and foot as one, all else in the torso: `HumanoidBody`, every number of which is a parameter of the
system.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import plane, time_stepped
from strut.errors import ValueRangeError
from strut.mechanism import COM, Body, Mechanism, joints
from strut.system import Expression, Param, System
from strut.walkers.straight import slope

FEET = ("foot_r", "foot_l")
"""Frames of the point feet: right (index 1 of the thesis, of the base's leg), left."""
DRIVEN_JOINTS = ("knee_r", "hip_r", "hip_l", "knee_l")
"""Joints with a motor, from the base upwards and down again: q4 to q7."""
JOINT_AXIS = (0.0, -1.0, 0.0)
"""The axis of all joints. Angles are counted backwards, as in the thesis: a link at the angle a points along
(-sin a, cos a), and 0 is upright."""
JOINT_LIMITS = {
    "shank_r": (-175.0, 175.0),
    "knee_r": (10.0, 175.0),
    "hip_r": (-175.0, 175.0),
    "hip_l": (-300.0, -60.0),
    "knee_l": (-175.0, -10.0),
}
"""[deg] Table C.1 of the thesis. Controllers keep them; the machine itself has no stops."""
CHEST_LEAN = math.radians(-5.0)
"""[rad] The angle of the torso that the thesis asks for: a slight lean forward."""
FALLEN_HIP = 0.4
"""[1] A hip lower than this part of the length of the legs ends a run: it fell."""
POSTURE_ITERATIONS = 200
"""Corrections of the hip, at most, until the centre of mass is where it was asked to be."""
POSTURE_ACCURACY = 1e-12
"""[m] By how much the centre of mass may miss it."""


@checked
@dataclass(frozen=True, kw_only=True)
class HumanoidBody:
    """What `rijt` is made of, and how it stands when a run begins.

    torso_mass, thigh_mass, shank_mass: of the torso and of each thigh and shank [kg].
    torso_length, thigh_length, shank_length: [m], the shank down to the point foot.
    torso_com, thigh_com, shank_com: [m] centres of mass, above the hip, below the hip, below the knee.
    torso_inertia, thigh_inertia, shank_inertia: about these centres [kg m^2].
    joint_damping: of hips and knees [N m s/rad]. friction: of the ground [1]. step: of the contact [s].
    com_height: of the centre of mass when a run begins [m]; low, so that feet reach far.
    spread: [m] between the feet then, the right one behind, the centre of mass in the middle.
    chest: [rad] the angle of the torso then, 3.3 degrees off the -5 that the thesis asks for: all its runs
        have this as their largest deviation.
    """

    torso_mass: float = 44.5
    thigh_mass: float = 8.61
    shank_mass: float = 4.20
    torso_length: float = 0.57
    thigh_length: float = 0.432
    shank_length: float = 0.51
    torso_com: float = 0.319
    thigh_com: float = 0.185
    shank_com: float = 0.234
    torso_inertia: float = 2.21
    thigh_inertia: float = 0.145
    shank_inertia: float = 0.107
    joint_damping: float = 0.0
    friction: float = 0.8
    step: float = 1e-3
    com_height: float = 0.90
    spread: float = 0.123
    chest: float = CHEST_LEAN + 0.058

    def __post_init__(self) -> None:
        free = {"joint_damping", "chest", "spread"}
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value) or (field.name not in free and value <= 0):
                raise ValueRangeError(
                    f"{field.name} of the humanoid is {value}: a finite number above zero is needed"
                )
        if self.joint_damping < 0:
            raise ValueRangeError(
                f"joint_damping of the humanoid is {self.joint_damping}: zero or more is needed, "
                f"or its joints would be driven"
            )

    @property
    def mass(self) -> float:
        """Of everything [kg]."""
        return self.torso_mass + 2 * (self.thigh_mass + self.shank_mass)

    def posture(self) -> dict[str, float]:
        """The coordinates of both feet on the ground, `spread` apart, the centre of mass above their middle
        at `com_height`. Raises ValueRangeError where the legs do not reach."""
        hip = [0.0, self.com_height - 0.1]
        for _ in range(POSTURE_ITERATIONS):
            legs = [self._leg(hip, x) for x in (-self.spread / 2, self.spread / 2)]
            com = self._centre_of_mass(hip, legs)
            miss = (-com[0], self.com_height - com[1])
            if math.hypot(*miss) < POSTURE_ACCURACY:
                break
            hip = [hip[0] + miss[0], hip[1] + miss[1]]
        (shank, thigh), (other_shank, other_thigh) = legs
        up = self.shank_length - self.shank_com  # of the base above the right foot, along its shank
        return {
            "base_x": -self.spread / 2 - up * math.sin(shank),
            "base_z": up * math.cos(shank),
            "shank_r": shank,
            "knee_r": thigh - shank,
            "hip_r": self.chest - thigh,
            "hip_l": other_thigh - math.pi - self.chest,
            "knee_l": other_shank - other_thigh,
        }

    def _leg(self, hip: list[float], foot: float) -> tuple[float, float]:
        """Angles of shank and thigh [rad] of the leg from a foot on the ground to the hip, the knee in
        front."""
        upper, lower = self.thigh_length, self.shank_length
        along, up = hip[0] - foot, hip[1]
        reach = math.hypot(along, up)
        if not abs(upper - lower) < reach < upper + lower:
            raise ValueRangeError(
                f"the humanoid cannot stand with com_height {self.com_height} m and spread {self.spread} m: "
                f"its hip would be {reach:.3g} m from a foot, and legs reach from {abs(upper - lower):.3g} "
                f"to {upper + lower:.3g} m; take a lower com_height or a smaller spread"
            )
        lean = math.atan2(-along, up)  # of the line from foot to hip
        at_foot = math.acos((lower**2 + reach**2 - upper**2) / (2 * lower * reach))
        at_hip = math.acos((upper**2 + reach**2 - lower**2) / (2 * upper * reach))
        return lean - at_foot, lean + at_hip

    def _centre_of_mass(self, hip: list[float], legs: list[tuple[float, float]]) -> tuple[float, float]:
        """Of everything [m], from the hip and the angles of shanks and thighs."""

        def along(angle: float, length: float) -> tuple[float, float]:
            return -length * math.sin(angle), length * math.cos(angle)

        lean = along(self.chest, self.torso_com)
        parts = [(self.torso_mass, hip[0] + lean[0], hip[1] + lean[1])]
        for shank, thigh in legs:
            up = along(thigh, self.thigh_com)
            knee = [hip[k] - along(thigh, self.thigh_length)[k] for k in (0, 1)]
            down = along(shank, self.shank_com)
            parts.append((self.thigh_mass, hip[0] - up[0], hip[1] - up[1]))
            parts.append((self.shank_mass, knee[0] - down[0], knee[1] - down[1]))
        x, z = (sum(part[0] * part[k] for part in parts) / self.mass for k in (1, 2))
        return x, z


@checked
def rijt_mechanism(body: HumanoidBody | None = None) -> Mechanism:
    """Van de Rijt's humanoid without its ground: five segments, seven coordinates.

    The base is the right shank, as in the thesis: base_x and base_z are the place of its centre of mass [m],
    shank_r its angle, then the chain knee_r, hip_r, torso, hip_l, knee_l [rad]. So the torso's angle is
    shank_r + knee_r + hip_r. Motors turn hips and knees. Forces from outside act at the centre of mass:
    com_push_x and com_push_z.
    """
    body = body or HumanoidBody()
    m = Mechanism("rijt", planar=True)
    described = {
        f"{part}_{what}": Param(
            f"{part}_{what}", getattr(body, f"{part}_{what}"), unit, bounds=(1e-6, high), description=text
        )
        for part in ("torso", "thigh", "shank")
        for what, unit, high, text in (
            ("mass", "kg", 1e3, f"of {'the' if part == 'torso' else 'each'} {part}"),
            ("length", "m", 3.0, "down to the foot" if part == "shank" else "from joint to joint or end"),
            ("com", "m", 3.0, f"of the centre of mass from the {'knee' if part == 'shank' else 'hip'}"),
            ("inertia", "kg m^2", 1e3, "about the centre of mass"),
        )
    }
    thigh, shank = described["thigh_length"], described["shank_length"]
    damping = Param(
        "joint_damping", body.joint_damping, "N m s/rad", bounds=(0, 1e3), description="of joints"
    )
    start = body.posture()
    limits = {name: (math.radians(low), math.radians(high)) for name, (low, high) in JOINT_LIMITS.items()}

    at = m.world
    for axis in "xz":
        carried = m.body(f"carried_{axis}")
        m.joint(
            f"base_{axis}", at, carried, joints.prismatic(axis), initial=start[f"base_{axis}"], actuated=False
        )
        at = carried

    # The right leg is told from its shank upwards, the left from the hip downwards: one chain from the base.
    def segment(name: str, part: str, centre: Expression) -> Body:
        return m.body(name, described[f"{part}_mass"], centre, described[f"{part}_inertia"])

    def turn(name: str, parent: Body, child: Body, place: Expression, actuated: bool = True) -> None:
        """Connect two segments by a hinge."""
        m.joint(
            name,
            parent,
            child,
            joints.revolute(JOINT_AXIS),
            at=(0, 0, place),
            limits=limits[name],
            initial=start[name],
            actuated=actuated,
            damping=damping if actuated else None,
        )

    shank_r = segment("right_shank", "shank", (0, 0, 0))
    turn("shank_r", at, shank_r, 0.0, actuated=False)
    thigh_r = segment("right_thigh", "thigh", (0, 0, thigh - described["thigh_com"]))
    turn("knee_r", shank_r, thigh_r, described["shank_com"])  # the base is the shank's centre of mass
    torso = segment("torso", "torso", (0, 0, described["torso_com"]))
    turn("hip_r", thigh_r, torso, thigh)
    thigh_l = segment("left_thigh", "thigh", (0, 0, described["thigh_com"]))
    turn("hip_l", torso, thigh_l, 0.0)
    shank_l = segment("left_shank", "shank", (0, 0, described["shank_com"]))
    turn("knee_l", thigh_l, shank_l, thigh)
    m.frame("foot_r", shank_r, (0, 0, described["shank_com"] - shank))
    m.frame("foot_l", shank_l, (0, 0, shank))
    m.frame("head", torso, (0, 0, described["torso_length"]))
    m.push(COM)
    return m


@checked
def rijt(body: HumanoidBody | None = None, **values: float) -> System:
    """Van de Rijt's humanoid on hard ground with Coulomb's friction, moved in steps of 1 ms (see
    `contact.time_stepped`, the contact of his appendix A). Coordinates are those of `rijt_mechanism`.
    By itself it sinks down; `control.ReactiveStepping` says where it steps.

    body: masses, lengths, friction, step and posture; values: parameters by name instead.
    """
    body = body or HumanoidBody()
    friction = Param("friction", body.friction, bounds=(0, 10), description="coefficient of the ground")
    step = Param("step", body.step, "s", bounds=(1e-6, 0.1), description="of the contact")
    machine = time_stepped(
        rijt_mechanism(body),
        list(FEET),
        plane(slope(0.0)),
        friction=friction,
        dt=step,
        fall=("torso", FALLEN_HIP * (body.thigh_length + body.shank_length)),
        description=SYSTEM_DESCRIPTIONS["rijt"],
    )
    return machine.using(values)


__all__ = ["CHEST_LEAN", "DRIVEN_JOINTS", "FEET", "JOINT_LIMITS", "HumanoidBody", "rijt", "rijt_mechanism"]
