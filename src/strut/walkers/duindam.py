"""Duindam's three walkers, free in the plane or in space, on rigid ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import casadi as ca

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact import KneeLock, ahead_of, plane, rigid, stairs
from strut.mechanism import Mechanism, Tree, joints, observe
from strut.mechanism.parts import Body
from strut.system import Expression, Param, System, sx
from strut.walkers.straight import ANGLE, on_foot, slope

SLOPE_3_DEG = 0.05235987755982988
"""[rad] Three degrees: the slope on which these walkers walk."""
FEET = ("foot_l", "foot_r")
"""The frames that touch the ground."""


@checked
def compass_duindam(**values: float) -> System:
    """The compass gait with both feet free to land, hold and lift. `step_down` lowers the ground from x =
    `step_at` on."""
    m = Mechanism("compass_duindam", planar=True, g=Param("g", 9.8, "m/s^2", description="gravity"))
    length = Param("leg_length", 1.0, "m", bounds=(0.1, 10), description="length of a leg")
    mass = Param("leg_mass", 1.0, "kg", bounds=(1e-6, 1e3), description="in the middle of each leg")
    hip_mass = Param("hip_mass", 5.0, "kg", bounds=(0, 1e3), description="at the hip")
    left = m.body("leg_l", mass, (0, 0, length / 2))
    m.joint(
        "leg",
        on_foot(m),
        left,
        joints.revolute(ANGLE),
        initial=0.299294 - SLOPE_3_DEG,
        rate=-1.072963,
        actuated=False,
    )
    hip = m.body("hip", hip_mass)
    m.joint("hip_mount", left, hip, joints.fixed(), at=(0, 0, length))
    right = m.body("leg_r", mass, (0, 0, -length / 2))
    m.joint("hip", hip, right, joints.revolute(ANGLE), initial=-2 * 0.299294, rate=0.708407)
    m.frame("foot_l", left)
    m.frame("foot_r", right, (0, 0, -length))
    step_at = Param("step_at", 1.5, "m", description="where the ground steps down")
    step_down = Param("step_down", 0.0, "m", bounds=(-0.5, 0.5), description="by how much it does")
    walker = rigid(
        m,
        FEET,
        stairs([(step_at, -step_down.sym)], slope(SLOPE_3_DEG)),
        arm=_arm_conditions(),
        steps=True,
        fall=("hip", length / 2),
        symmetry=lambda tree: _led_by(tree, "foot_r", {"leg": ("leg", "hip"), "hip": ("-hip",)}),
        description=SYSTEM_DESCRIPTIONS["compass-duindam"],
    )
    assert walker.walk is not None
    stepped = walker.replace(walk=replace(walker.walk, ground_step=("step_down", "step_at")))
    return _with_input_images(stepped, {"hip": "-hip"}).using(values)


def dribbel_mechanism(*, knee_torques: bool = False) -> Mechanism:
    """Return the links of Dribbel. knee_torques: whether its knees have torques, for what holds them."""
    m = Mechanism("dribbel", planar=True)
    shank = Param("shank", 0.43, "m", bounds=(0.05, 5), description="length of the lower leg")
    thigh = Param("thigh", 0.47, "m", bounds=(0.05, 5), description="length of the upper leg")
    shank_mass = Param("shank_mass", 1.6, "kg", bounds=(1e-6, 1e3), description="of a pair of lower legs")
    thigh_mass = Param(
        "thigh_mass", 3.0, "kg", bounds=(1e-6, 1e3), description="of a pair of upper legs with half the hip"
    )
    shank_inertia = Param(
        "shank_inertia", 0.059, "kg m^2", bounds=(0, 100), description="about its centre of mass"
    )
    thigh_inertia = Param(
        "thigh_inertia", 0.108, "kg m^2", bounds=(0, 100), description="about its centre of mass"
    )
    com = Param("thigh_com", 0.35, "m", bounds=(0, 5), description="knee to centre of mass of the upper leg")
    low = m.body("shank_l", shank_mass, (0, 0, shank / 2), shank_inertia)
    high = m.body("thigh_l", thigh_mass, (0, 0, com), thigh_inertia)
    high2 = m.body("thigh_r", thigh_mass, (0, 0, com - thigh.sym), thigh_inertia)
    low2 = m.body("shank_r", shank_mass, (0, 0, -shank / 2), shank_inertia)
    m.joint(
        "ankle",
        on_foot(m),
        low,
        joints.revolute(ANGLE),
        initial=0.27 - SLOPE_3_DEG,
        rate=-1.15,
        actuated=False,
    )
    m.joint("knee_l", low, high, joints.revolute((0.0, 1.0, 0.0)), at=(0, 0, shank), actuated=knee_torques)
    m.joint("hip", high, high2, joints.revolute(ANGLE), at=(0, 0, thigh), initial=-0.54, rate=0.6)
    m.joint("knee_r", high2, low2, joints.revolute(ANGLE), at=(0, 0, -thigh), actuated=knee_torques)
    m.frame("foot_l", low)
    m.frame("foot_r", low2, (0, 0, -shank))
    m.frame("hip", high, (0, 0, thigh))
    return m


def half_leg(m: Mechanism) -> ca.SX:
    """Return half the length of a leg of Dribbel [m]: with its hip lower than that it has fallen."""
    return sum((q.sym for q in m.parameter_set() if q.name in ("shank", "thigh")), ca.SX(0)) / 2


@checked
def dribbel(**values: float) -> System:
    """Dribbel: thighs and shanks, knees that lock through stance and open when their foot lifts, one motor in
    the hip."""
    m = dribbel_mechanism()
    walker = rigid(
        m,
        FEET,
        plane(slope(SLOPE_3_DEG)),
        arm=_arm_conditions(),
        locks=[KneeLock("knee_l", "foot_l", locked=True), KneeLock("knee_r", "foot_r")],
        steps=True,
        fall=("hip", half_leg(m)),
        symmetry=lambda tree: _led_by(
            tree,
            "foot_r",
            {
                "ankle": ("ankle", "-knee_l", "hip", "knee_r"),
                "knee_l": ("knee_r",),
                "hip": ("-hip",),
                "knee_r": ("knee_l",),
            },
        ),
        description=SYSTEM_DESCRIPTIONS["dribbel"],
    )
    return _with_input_images(walker, {"hip": "-hip"}).using(values)


@checked
def trunk_3d(**values: float) -> System:
    """Two straight legs and a trunk in space, all joined at the hip, with motors that turn each against the
    vertical."""
    m = Mechanism("trunk_3d")
    length = Param("leg_length", 1.0, "m", bounds=(0.1, 10), description="length of a leg, and of the trunk")
    mass = Param("foot_mass", 1.0, "kg", bounds=(1e-6, 1e3), description="of each foot")
    hip_mass = Param("hip_mass", 3.0, "kg", bounds=(0, 1e3), description="at the hip")
    head_mass = Param("head_mass", 3.0, "kg", bounds=(1e-6, 1e3), description="at the top of the trunk")
    at: Body = m.world
    for axis in "xyz":
        carried = m.body(f"carried_{axis}")
        m.joint(f"foot_{axis}", at, carried, joints.prismatic(axis), actuated=False)
        at = carried
    right = _limb(m, "leg_r", at, mass=mass, com=(0, 0, 0), initial=(-0.25, -0.1), rate=(1.0, 0.1))
    upright = m.body("level_roll")
    m.joint(
        "level_roll",
        right,
        upright,
        joints.gear("leg_r_roll", -1.0, of=joints.revolute("x")),
        at=(0, 0, length),
    )
    hip = m.body("hip", hip_mass)
    m.joint("level_pitch", upright, hip, joints.gear("leg_r_pitch", -1.0, of=joints.revolute("y")))
    left = _limb(m, "leg_l", hip, mass=mass, com=(0, 0, -length.sym), initial=(0.25, 0.1), rate=(0.0, 0.0))
    trunk = _limb(m, "trunk", hip, mass=head_mass, com=(0, 0, length), initial=(0.0, 0.0), rate=(0.0, 0.0))
    m.frame("foot_r", right)
    m.frame("foot_l", left, (0, 0, -length.sym))
    m.frame("head", trunk, (0, 0, length))
    walker = rigid(
        m,
        FEET,
        plane(slope(0.0)),
        arm=_arm_conditions(),
        steps=True,
        fall=("hip", length / 2),
        symmetry=_mirrored_states,
        description=SYSTEM_DESCRIPTIONS["trunk-3d"],
    )
    images = {
        f"{limb}_{angle}": f"{sign}{other}_{angle}"
        for limb, other in (("leg_r", "leg_l"), ("leg_l", "leg_r"), ("trunk", "trunk"))
        for angle, sign in (("pitch", ""), ("roll", "-"))
    }
    return _with_input_images(walker, images).using(values)


def _with_input_images(walker: System, images: Mapping[str, str]) -> System:
    """Return the walker whose motors have images, too, when left and right are exchanged: by joint, the joint
    whose motor turns it then, with a minus where it turns it the other way."""
    torques = {
        f"{joint}_torque": (-1 if other.startswith("-") else 1) * sx(walker[f"{other.lstrip('-')}_torque"])
        for joint, other in images.items()
    }
    return walker.replace(symmetry={**walker.symmetry, **torques})


def _limb(
    m: Mechanism,
    name: str,
    parent: Body,
    *,
    mass: Expression,
    com: Expression,
    initial: tuple[float, float],
    rate: tuple[float, float],
) -> Body:
    """Add a limb to the parent's origin that pitches, and then rolls about its own forward axis.

    mass [kg] at `com` [m]. initial [rad], rate [rad/s]: of pitch and roll, with which a run begins.
    """
    fork = m.body(f"{name}_fork")
    m.joint(f"{name}_pitch", parent, fork, joints.revolute("y"), initial=initial[0], rate=rate[0])
    limb = m.body(name, mass, com)
    m.joint(f"{name}_roll", fork, limb, joints.revolute("x"), initial=initial[1], rate=rate[1])
    return limb


def _arm_conditions() -> dict[str, Callable[[Tree], ca.SX]]:
    """Straight legs scuff: a foot may land after it has been in front of the other, above the ground."""
    return {"foot_l": ahead_of("foot_l", "foot_r", 0.02), "foot_r": ahead_of("foot_r", "foot_l", 0.02)}


def _led_by(tree: Tree, foot: str, angles: Mapping[str, tuple[str, ...]]) -> dict[str, ca.SX]:
    """The same posture told from the other foot: its place first, then each angle as a sum of the old
    ones."""
    place, speed = observe.position(tree, foot), observe.velocity(tree, foot)
    states = {"foot_x": place[0], "foot_z": place[2], "foot_x_rate": speed[0], "foot_z_rate": speed[2]}
    for name, terms in angles.items():
        for suffix, vector, where in (("", tree.q, tree.q_of), ("_rate", tree.v, tree.v_of)):
            total = ca.SX(0)
            for term in terms:
                value = vector[where[term.lstrip("-")].start]
                total = total - value if term.startswith("-") else total + value
            states[name + suffix] = total
    return states


def _mirrored_states(tree: Tree) -> dict[str, ca.SX]:
    """Left and right legs exchanged in space: sideways motion changes sign."""
    place, speed = observe.position(tree, "foot_l"), observe.velocity(tree, "foot_l")
    states: dict[str, ca.SX] = {}
    for k, (axis, sign) in enumerate((("x", 1), ("y", -1), ("z", 1))):
        states |= {f"foot_{axis}": sign * place[k], f"foot_{axis}_rate": sign * speed[k]}
    for name, other in (("leg_r", "leg_l"), ("leg_l", "leg_r"), ("trunk", "trunk")):
        for angle, sign in (("pitch", 1), ("roll", -1)):
            q, v = tree.q[tree.q_of[f"{other}_{angle}"].start], tree.v[tree.v_of[f"{other}_{angle}"].start]
            states |= {f"{name}_{angle}": sign * q, f"{name}_{angle}_rate": sign * v}
    return states
