"""COMAN, the compliant humanoid: 23 actuated joints on a floating base (Dallali et al., with the public
parameters)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from strut.checks import checked
from strut.errors import UnknownNameError, did_you_mean
from strut.mechanism import Mechanism, joints

# link: parent, offset of its joint in the parent [m], joint name, axis, mass [kg], centre of mass [m],
# inertia xx, yy, zz, xy, xz, yz about it [kg m^2]; the right side and the trunk, frames aligned with the
# world
# fmt: off
LINKS = {
    "r_hip_motor": ("waist", (0, -0.023, 0), "r_hip_sag", "y", 0.89258, (-0.00033, -0.02359, -0.00026),
        (0.0004767, 0.0005458, 0.0005127, 0, 0, 0)),
    "r_upper_thigh": ("r_hip_motor", (0, -0.0496, 0), "r_hip_lat", "x", 1.02461, (0.00126, -0.0169, -0.0589),
        (0.0009166, 0.0010485, 0.0006864, 0, 0, 0)),
    "r_lower_thigh": ("r_upper_thigh", (0, 0, -0.1024), "r_hip_yaw", "z", 1.70011,
        (0.00099, 0.00067, -0.07572), (0.003898, 0.003936, 0.0009022, 0, 0, 0)),
    "r_shank": ("r_lower_thigh", (0, 0, -0.1234), "r_knee_sag", "y", 1.40982, (0.00246, -0.00531, -0.08599),
        (0.00406, 0.004006, 0.001241, 1.1e-05, 1.2e-05, 0.000519)),
    "r_ankle_motor": ("r_shank", (0, 0, -0.201), "r_ankle_lat", "x", 0.72992, (0.00088, -0.00092, 0.00023),
        (0.0003203, 0.0003658, 0.0003607, 0, 0, 0)),
    "r_foot": ("r_ankle_motor", (0, 0, 0), "r_ankle_sag", "y", 0.66647, (0.00969, -0.00905, -0.04306),
        (0.0012945, 0.0015852, 0.0013327, -9.2e-05, 0.000201, 0.000276)),
    "trunk_lat": ("waist", (0.02028, 0, 0.11912), "waist_lat", "x", 0.75398, (-0.00213, 0.00336, -0.00101),
        (0.0003409, 0.0003958, 0.0003745, 0, 0, 0)),
    "trunk_sag": ("trunk_lat", (0, 0, 0), "waist_sag", "y", 0.54589, (0.00043, -0.00977, 0.03301),
        (0.0009713, 0.0007469, 0.000622, 0, 0, 0)),
    "torso": ("trunk_sag", (0, 0, 0.0475), "waist_yaw", "z", 6.36172, (-0.03585, 2e-05, 0.11756),
        (0.034089, 0.030117, 0.025297, -1e-05, -0.000756, 6e-06)),
    "r_shoulder_pitch": ("torso", (-0.015, -0.0825, 0.1554), "r_shoulder_sag", "y", 0.56782,
        (0.00995, -0.03868, 0.00016), (0.0007834, 0.000634, 0.001008, 0, 0, 0)),
    "r_shoulder_roll": ("r_shoulder_pitch", (0, -0.071, 0), "r_shoulder_lat", "x", 0.77684,
        (-0.00389, 0, -0.00486), (0.0004581, 0.0004309, 0.0003417, 0, 0, 0)),
    "r_shoulder_yaw": ("r_shoulder_roll", (0, 0, -0.0425), "r_shoulder_turn", "z", 1.04623,
        (0.00227, -0.00711, -0.05746), (0.003093, 0.002918, 0.0008083, 0, 0, 0)),
    "r_elbow_link": ("r_shoulder_yaw", (0, 0, -0.1375), "r_elbow", "y", 0.63307,
        (-0.00066, -0.00093, -0.00093), (0.000226, 0.0002778, 0.0002188, 0, 0, 0)),
}
# fmt: on
WAIST = (1.80087, (-0.02639, -0.00058, 0.05263), (5.1033e-3, 6.2416e-3, 2.4518e-3, -5.7e-5, 1.692e-3, 1.7e-5))
FOOT_POINTS = (
    (0, 0, -0.0793),
    (0.13, 0.045, -0.0793),
    (0.13, -0.045, -0.0793),
    (-0.06, 0.045, -0.0793),
    (-0.06, -0.045, -0.0793),
)


LIMITS = {
    "hip_sag": (-1.920, 0.785),
    "hip_lat": (-1.047, 0.436),
    "hip_yaw": (-0.873, 0.873),
    "knee_sag": (-0.175, 1.920),
    "ankle_lat": (-0.611, 0.611),
    "ankle_sag": (-1.222, 1.222),
    "waist_lat": (-0.524, 0.524),
    "waist_sag": (-0.349, 0.873),
    "waist_yaw": (-1.396, 1.396),
    "shoulder_sag": (-3.403, 1.658),
    "shoulder_lat": (-2.094, 0.314),
    "shoulder_turn": (-1.571, 1.571),
    "elbow": (-2.356, 0.0),
}
"""[rad] The ranges of the joints, on the right side; about x and z those on the left are mirrored."""
SAGITTAL = tuple(joint for joint in LIMITS if joint.endswith(("_sag", "elbow")))
"""Joints that turn about y: those of a planar COMAN."""
BASES: dict[str, tuple[str, ...]] = {
    "free": ("x", "y", "z", "roll", "pitch", "yaw"),
    "planar": ("x", "z", "pitch"),
    "fixed": (),
}
"""How the waist hangs on the world, and the coordinates that it has: translations, then rotations."""
STANDING_HEIGHT = 0.0793 + 0.201 + 0.1234 + 0.1024
"""[m] Of the waist's frame over the soles, with straight legs."""


@checked
def coman_mechanism(moving: Sequence[str] | None = None, base: str = "free") -> Mechanism:
    """The humanoid COMAN without ground: it falls freely until contact.rigid(...) or the like puts it on
    some.

    moving: the joints that move, 'r_knee_sag' or 'knee_sag' for both sides; all 23 without any named. Others
        are fixed at zero, and what they carry with them: it weighs 28.357 kg in every version.
    base: a name of `BASES`: 'free', three translations and three rotations carry the waist; 'planar', in the
        x-z plane, where only joints about y may move; 'fixed', suspended.
    """
    if base not in BASES:
        raise UnknownNameError(f"COMAN has no base '{base}': {did_you_mean(base, list(BASES))}")
    free_joints = _moving_joints(moving, base)
    m = Mechanism("coman", planar=base == "planar")
    at = m.world
    for k, name in enumerate(BASES[base]):
        last = k == len(BASES[base]) - 1
        body = m.body("waist", WAIST[0], WAIST[1], _matrix(WAIST[2])) if last else m.body(f"base_{name}")
        slides = name in ("x", "y", "z")
        joint = joints.prismatic(name) if slides else joints.revolute(_AXES[name])
        m.joint(name, at, body, joint, actuated=False)
        at = body
    if base == "fixed":
        waist = m.body("waist", WAIST[0], WAIST[1], _matrix(WAIST[2]))
        m.joint("mount", m.world, waist, joints.fixed(), at=(0, 0, 2 * STANDING_HEIGHT))
    for mirrored in (False, True):
        for link, (parent, offset, joint_name, axis, mass, com, inertia) in LINKS.items():
            if mirrored and not link.startswith("r_"):
                continue
            flip = np.array([1, -1, 1]) if mirrored else np.ones(3)
            rename = _to_left if mirrored else str
            label = rename(joint_name)
            body = m.body(rename(link), mass, tuple(np.array(com) * flip), _matrix(inertia, mirrored))
            moves = label in free_joints
            m.joint(
                label,
                m.bodies[rename(parent)],
                body,
                joints.revolute(axis) if moves else joints.fixed(),
                at=tuple(np.array(offset) * flip),
                **({"limits": _limits(joint_name, axis, mirrored)} if moves else {"actuated": False}),
            )
    for side in ("r", "l"):
        for k, point in enumerate(FOOT_POINTS):
            m.frame(f"{side}_sole{k}", m.bodies[f"{side}_foot"], point)
    m.frame("chest", m.bodies["torso"], (0.0, 0.0, 0.12))
    return m


_AXES = {"roll": "x", "pitch": "y", "yaw": "z"}


def _to_left(name: str) -> str:
    """The name of the same thing on the left."""
    return name.replace("r_", "l_", 1) if name.startswith("r_") else name


def _limits(joint: str, axis: str, mirrored: bool) -> tuple[float, float]:
    """The range of a joint [rad]."""
    low, high = LIMITS[joint.removeprefix("r_")]
    return (-high, -low) if mirrored and axis != "y" else (low, high)


def _moving_joints(moving: Sequence[str] | None, base: str) -> set[str]:
    """The joints that move, by their whole names; raises UnknownNameError for others."""
    names = [joint for _, _, joint, *_ in LINKS.values()]
    names += [_to_left(joint) for joint in names if joint.startswith("r_")]
    if moving is None:
        chosen = set(names)
    else:
        chosen = set()
        for word in moving:
            sides = [
                name for name in names if word in (name, name.removeprefix("r_"), name.removeprefix("l_"))
            ]
            if not sides:
                raise UnknownNameError(
                    f"COMAN has no joint '{word}': {did_you_mean(word, [*LIMITS, *names])}"
                )
            chosen |= set(sides)
    return {name for name in chosen if base != "planar" or name.endswith(SAGITTAL)}


def _matrix(i: tuple[float, ...], mirrored: bool = False) -> np.ndarray:
    """xx, yy, zz, xy, xz, yz as a matrix; mirrored in the sagittal plane the products with y change sign."""
    xx, yy, zz, xy, xz, yz = i
    s = -1 if mirrored else 1
    return np.array([[xx, s * xy, xz], [s * xy, yy, s * yz], [xz, s * yz, zz]])
