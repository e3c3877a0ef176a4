"""A human in the sagittal plane: 11 degrees of freedom on ten points, with joint torques in hips, knees and
ankles (Kieboom, section 4.1).

The thesis' table of segments is not legible; segments here are fractions of height and mass as Winter gives
them (Biomechanics and Motor Control of Human Movement, table 4.1), the foot divided at the ball, and ankle
height and foot length as the thesis says them, 3 % and 10 % of the height without the toes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.catalogue import MECHANISM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import compliant, coulomb, hunt_crossley, plane, rigid
from strut.errors import ModelError, did_you_mean
from strut.mechanism import Mechanism, joints, shapes
from strut.mechanism.parts import Body, Effect, Force
from strut.mechanism.tree import Tree
from strut.system import Expression, Param, System
from strut.walkers.assistance import assist_share, assistance, with_trunk
from strut.walkers.straight import slope

HUMAN_HEIGHT, HUMAN_MASS = 1.8, 70.0
"""[m, kg] Of the body unless told otherwise."""
SEGMENTS = {  # mass/M, length/H, centre of mass and radius of gyration about it, of the length
    "trunk": (0.678, 0.288, 0.626, 0.496),
    "thigh": (0.100, 0.245, 0.433, 0.323),
    "shank": (0.0465, 0.246, 0.433, 0.302),
}
"""Of Winter's table: head, arms and trunk together from the hip upwards, thigh and shank from their upper
joint downwards."""
FOOT_MASS, TOE_MASS = 0.0120, 0.0025
"""[1] Of body mass: the foot behind its ball, and the toes; together Winter's 0.0145."""
ANKLE_HEIGHT = 0.055 / 1.8
"""[1] Of the height, over the sole."""
FOOT_LENGTH = 0.1
"""[1] Of the height, heel to ball."""
POINT_SPACING = FOOT_LENGTH / 3
"""[1] Of the height, between neighbouring points of the sole; the ankle is above the second."""
FOOT_GYRATION = 0.475
"""[1] Radius of gyration of the foot, of its length."""
TOE_GYRATION = 0.0163
"""[1] Radius of gyration of the toes, of the height."""
TOE_STIFFNESS = 12.0
"""[N m/rad] Of the toes, critically damped in the air."""
LIGAMENT_ANGLE = -np.deg2rad(2.0)
"""[rad] Of a knee at which its ligament begins to hold."""
LIGAMENT_STIFFNESS, LIGAMENT_DAMPING = 1e6, 1e2
"""[N m/rad^3, N m s/rad] Of the ligament."""
FALL_HEIGHT = 0.65 / 1.8
"""[1] Of the height: of a hip below which it has fallen."""
SINK = 0.003
"""[m] By which the lowest point is in soft ground as a run begins."""
POSTURE = {
    "pitch": 0.03,
    "hip_r": 0.4,
    "hip_l": -0.25,
    "knee_r": 0.08,
    "knee_l": 0.12,
    "ankle_r": 0.0,
    "ankle_l": 0.1,
}
"""[rad] As a run begins: the right leg in front."""
START_SPEED = 1.3
"""[m/s] As a run begins; the legs swing back at a rate that leaves the feet about still."""
FLEXION = {"hip": (0, -1, 0), "knee": (0, 1, 0), "ankle": (0, -1, 0), "toe": (0, -1, 0)}
"""The axes of the joints: flexion of hip and knee, and lifting the foot and the toes, count as positive."""
SOLE = ("heel", "arch", "mid", "ball", "tip")
"""The points of a sole, from behind; the last is of the toes."""
GROUNDS = ("soft", "rigid")
"""On what it may stand, and whatever wears a machine."""
HOLDING = "holding"
"""The ground of plans: rigid, feet hold on it whatever friction that takes."""
RANGES = {"hip": (-30.0, 120.0), "knee": (1.0, 135.0), "ankle": (-50.0, 35.0), "toe": (-45.0, 70.0)}
"""[deg] Of the joints of a person, which plans keep: those of the American Academy of Orthopaedic Surgeons
(Joint Motion, 1965), but for an ankle under load, which lifts the foot further than its 20 degrees. A knee
stays a degree from straight: a leg that is straight cannot lengthen."""


@dataclass(frozen=True, eq=False)
class BodySize:
    """Parameters that scale the body."""

    height: Param
    mass: Param
    load: Param


def body_size() -> BodySize:
    """Return parameters for the size of a body."""
    return BodySize(
        Param("height", HUMAN_HEIGHT, "m", bounds=(0.5, 2.5), description="of the body"),
        Param("mass", HUMAN_MASS, "kg", bounds=(5, 300), description="of the body"),
        Param("load", 0.0, "kg", bounds=(0, 200), description="carried at the trunk's centre of mass"),
    )


@checked
def human_mechanism() -> Mechanism:
    """The human without ground. Joints hip, knee and ankle have inputs; toes are springs. States are x, z and
    pitch of the trunk, whose frame is at the hips, and the angles of the joints, flexion positive.

    Forces: knee_r_ligament and knee_l_ligament, against overstretching; assist, which keeps the trunk within
    5 degrees of upright, in the share that the parameter `assist` says.
    """
    return build_human(body_size(), SINK)


def build_human(size: BodySize, sink: float) -> Mechanism:
    """Return the mechanism of a body of some size, whose lowest point begins so deep in the ground [m]."""
    H, M = size.height.sym, size.mass.sym
    m = Mechanism("human", planar=True)
    trunk = _trunk(m, size, sink)
    for side in ("_r", "_l"):
        below: Body = trunk
        at: Any = (0.0, 0.0, 0.0)
        for joint, segment in (("hip", "thigh"), ("knee", "shank")):
            body = _limb(m, segment, side, size)
            _hinge(m, joint, side, below, body, at=at, size=size)
            below, at = body, (0, 0, -SEGMENTS[segment][1] * H)
        foot = m.body(
            f"foot{side}",
            FOOT_MASS * M,
            (H / 45, 0, -H / 60),
            FOOT_MASS * M * (FOOT_GYRATION * FOOT_LENGTH * H) ** 2,
        )
        _hinge(m, "ankle", side, below, foot, at=at, size=size)
        _toe(m, side, foot, size)
        for k, point in enumerate(SOLE[:-1]):
            m.frame(f"{point}{side}", foot, ((k - 1) * POINT_SPACING * H, 0, -ANKLE_HEIGHT * H))
        sole = -ANKLE_HEIGHT * H
        m.shape(
            foot,
            shapes.capsule((0, 0, 0), (2 * POINT_SPACING * H, 0, 0.6 * sole), 0.012 * H),
            shapes.capsule((0, 0, 0), (-POINT_SPACING * H, 0, 0.7 * sole), 0.012 * H),
        )
        m.force(_ligament(f"knee{side}"))
    m.force(assistance("pitch", assist_share()))
    return m


def _trunk(m: Mechanism, size: BodySize, sink: float) -> Body:
    """Add the trunk on its three coordinates, with what it carries."""
    H = size.height.sym
    mass, length, centre, gyration = SEGMENTS["trunk"]
    own, up = mass * size.mass.sym, centre * length * H
    at = m.world
    height = _hip_height(POSTURE) * H - sink
    for name, joint, begin, rate in (
        ("x", joints.prismatic("x"), 0.0, START_SPEED),
        ("z", joints.prismatic("z"), height, 0.0),
    ):
        carrier = m.body(f"base_{name}")
        m.joint(name, at, carrier, joint, actuated=False, initial=begin, rate=rate)
        at = carrier
    trunk = m.body("trunk", own + size.load.sym, (0, 0, up), own * (gyration * length * H) ** 2)
    m.joint("pitch", at, trunk, joints.revolute("y"), actuated=False, initial=POSTURE["pitch"])
    m.frame("chest", trunk, (0, 0, up))
    m.frame("head", trunk, (0, 0, (1 - 0.53) * H))
    m.shape(
        trunk,
        shapes.capsule((0, 0, 0), (0, 0, length * H), 0.055 * H),
        shapes.sphere(0.06 * H, (0, 0, 0.41 * H)),
    )
    return trunk


def _limb(m: Mechanism, segment: str, side: str, size: BodySize) -> Body:
    """Add a thigh or a shank."""
    share, part, centre, gyration = SEGMENTS[segment]
    mass, length = share * size.mass.sym, part * size.height.sym
    body = m.body(f"{segment}{side}", mass, (0, 0, -centre * length), mass * (gyration * length) ** 2)
    radius = {"thigh": 0.035, "shank": 0.026}[segment] * size.height.sym
    m.shape(body, shapes.capsule((0, 0, 0), (0, 0, -length), radius))
    return body


def _hinge(
    m: Mechanism, joint: str, side: str, parent: Body, child: Body, *, at: Any, size: BodySize
) -> None:
    """Add a joint with an input."""
    rate = -START_SPEED / (_hip_height({}) * size.height.sym) if joint == "hip" else 0.0
    m.joint(
        f"{joint}{side}",
        parent,
        child,
        joints.revolute(FLEXION[joint]),
        at=at,
        initial=POSTURE[f"{joint}{side}"],
        rate=rate,
    )


def _toe(m: Mechanism, side: str, foot: Body, size: BodySize) -> None:
    """Add the toes, a spring at the ball of the foot, critically damped."""
    H, mass = size.height.sym, TOE_MASS * size.mass.sym
    centre, inertia = H / 60, mass * (TOE_GYRATION * H) ** 2
    toe = m.body(f"toe{side}", mass, (centre, 0, 0), inertia)
    above = H / 360  # the hinge over the sole
    m.joint(
        f"toe{side}",
        foot,
        toe,
        joints.revolute(FLEXION["toe"]),
        at=(2 * POINT_SPACING * H, 0, above - ANKLE_HEIGHT * H),
        spring=TOE_STIFFNESS,
        damping=2 * ca.sqrt(TOE_STIFFNESS * (inertia + mass * centre**2)),
        actuated=False,
    )
    m.frame(f"tip{side}", toe, (POINT_SPACING * H, 0, -above))
    m.shape(toe, shapes.capsule((0, 0, 0), (POINT_SPACING * H, 0, 0), 0.008 * H))


def _hip_height(posture: Mapping[str, float]) -> float:
    """The height of the hips over the lowest point of the soles, of the body's height."""
    lowest = 0.0
    pitch = posture.get("pitch", 0.0)
    for side in ("_r", "_l"):
        angle, z = -pitch, 0.0  # angle: of a segment, positive forwards
        for joint, segment in (("hip", "thigh"), ("knee", "shank")):
            turn = posture.get(f"{joint}{side}", 0.0)
            angle += turn if joint == "hip" else -turn
            z -= SEGMENTS[segment][1] * np.cos(angle)
        angle += posture.get(f"ankle{side}", 0.0)
        points = [z + along * np.sin(angle) - ANKLE_HEIGHT * np.cos(angle) for along in _along_sole()]
        lowest = min(lowest, *points)
    return -lowest


def _along_sole() -> list[float]:
    """Where the points of the sole are in front of the ankle, of the body's height."""
    return [(k - 1) * POINT_SPACING for k in range(len(SOLE))]


def _ligament(knee: str) -> Force:
    """What holds a knee that is stretched beyond its limit: a cubic spring and a damper."""

    def effect(tree: Tree) -> Effect:
        place = tree.v_of[knee].start
        node = next(n for n in tree.nodes if n.connection.name == knee)
        stretched, rate = LIGAMENT_ANGLE - node.q[0], tree.v[place]
        beyond, damping = ca.fmax(stretched, 0), LIGAMENT_DAMPING * (stretched > 0)
        tau = ca.SX.zeros(tree.nv)
        tau[place] = LIGAMENT_STIFFNESS * beyond**3 - damping * rate
        return Effect(tau, LIGAMENT_STIFFNESS * beyond**4 / 4, damping * rate**2)

    return Force(f"{knee}_ligament", effect)


@checked
def human(
    height: float = HUMAN_HEIGHT,
    mass: float = HUMAN_MASS,
    *,
    ground: str = "soft",
    events: bool = True,
    inclined: bool = False,
    **values: Any,
) -> System:
    """A human in the sagittal plane, with torques in hips, knees and ankles; it falls unless they act.

    height, mass: of the body [m, kg], without what it carries; parameters of the system, so that another size
        is not compiled anew.
    ground: 'soft' for Hunt and Crossley's law and Coulomb's friction on five points of each foot; 'rigid',
        on heel, ball and tip of the toes; 'holding', for plans (`optimal.design`): rigid, on heel and ball
        alone, which hold whatever friction that takes, with joints that have the ranges of a person's. A plan
        limits friction itself (friction=0.8), and its toes may be below the ground.
    events: False for contact without events, for populations and fixed steps; of soft ground alone.
    inclined: whether there is a parameter `slope` [rad], which costs a tenth of the time.
    values: of other parameters and of states: load, g, assist, ground_stiffness, ground_dissipation,
        friction, friction_speed; x_rate, hip_r, ...

    Outputs besides those of the feet: speed, of the trunk's centre of mass [m/s]; assist_torque [N m] and
    assisting, 1 while it acts. A run ends with 'fall' where the hips come below 0.65 m of 1.80 m, and with
    'topple' where the trunk leans by more than 1 rad.

    Segments, their masses and inertias, the points of the soles and the height of a fall scale with height
    and mass. What else acts does not, and is that of a body of 1.8 m and 70 kg: the springs of the toes
    (their dampers stay critical), the ligaments of the knees, the assistance of the trunk, the laws of soft
    ground and how deep a run begins in it, and the speed with which it begins. So ground and toes are hard
    for a small body; ground and speed are values, `ground_stiffness=...`, `x_rate=...`.
    """
    grounds = (*GROUNDS, HOLDING)
    if ground not in grounds:
        raise ModelError(f"ground is '{ground}': {did_you_mean(ground, grounds)}")
    size = body_size()
    m = build_human(size, SINK if ground == "soft" else 0.0)
    mu = Param("friction", 0.8, bounds=(0, 5), description="Coulomb's coefficient")
    common: dict[str, Any] = {
        "fall": ("trunk", FALL_HEIGHT * size.height.sym),
        "symmetry": "auto",
        "description": MECHANISM_DESCRIPTIONS["human"],
    }
    surface = plane(slope(0.0)) if inclined else None
    if ground != "soft":
        if not events:
            raise ModelError("events=False is of soft ground: feet on rigid ground land and leave in events")
        holds = ground == HOLDING
        if holds:
            m.limits.update(_ranges())
        points = ("heel", "ball") if holds else ("heel", "ball", "tip")
        feet = [f"{point}{side}" for side in ("_r", "_l") for point in points]
        walker = rigid(m, feet, surface, friction=None if holds else mu, **common)
    else:
        feet = [f"{point}{side}" for side in ("_r", "_l") for point in SOLE]
        walker = compliant(m, feet, surface, **_soft_ground(mu), events=events, **common)
    _, length, centre, _ = SEGMENTS["trunk"]
    walker = with_trunk(walker, centre * length * size.height.sym)
    return walker.using({"height": height, "mass": mass, **values})


def _ranges() -> dict[str, tuple[float, float]]:
    """The ranges of the joints [rad], by name."""
    return {
        f"{joint}{side}": (float(np.deg2rad(low)), float(np.deg2rad(high)))
        for joint, (low, high) in RANGES.items()
        for side in ("_r", "_l")
    }


def _soft_ground(mu: Param) -> dict[str, Any]:
    """The laws of contact, with their parameters."""
    stiffness: Expression = Param(
        "ground_stiffness", 2e5, "N/m^1.5", bounds=(1e3, 1e8), description="of soft ground"
    )
    dissipation: Expression = Param(
        "ground_dissipation", 0.7, "s/m", bounds=(0, 10), description="damping of soft ground"
    )
    slow: Expression = Param(
        "friction_speed", 0.1, "m/s", bounds=(1e-6, 1), description="below which friction is smoothed"
    )
    return {"law": hunt_crossley(stiffness, dissipation, 1.5), "friction": coulomb(mu, slow)}


__all__ = ["BodySize", "body_size", "build_human", "human", "human_mechanism"]
