"""COMAN, the compliant humanoid: 23 actuated joints on a floating base (Dallali et al., with the public
parameters)."""

from __future__ import annotations

import numpy as np

from strut.checks import checked
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


@checked
def coman_mechanism() -> Mechanism:
    """The humanoid COMAN without ground: it falls freely until contact.rigid(...) or the like puts it on
    some.

    The 29-joint tree: three translations and three rotations carry the waist, then 23 joints. 28.357 kg.
    """
    m = Mechanism("coman")
    at = m.world
    for k, (name, base_joint) in enumerate(
        (
            ("x", joints.prismatic("x")),
            ("y", joints.prismatic("y")),
            ("z", joints.prismatic("z")),
            ("roll", joints.revolute("x")),
            ("pitch", joints.revolute("y")),
            ("yaw", joints.revolute("z")),
        )
    ):
        body = m.body("waist", WAIST[0], WAIST[1], _matrix(WAIST[2])) if k == 5 else m.body(f"base_{name}")
        m.joint(name, at, body, base_joint, actuated=False)
        at = body
    for mirrored in (False, True):
        for link, (parent, offset, joint, axis, mass, com, inertia) in LINKS.items():
            if mirrored and not link.startswith("r_"):
                continue
            flip = np.array([1, -1, 1]) if mirrored else np.ones(3)
            rename = (lambda n: n.replace("r_", "l_", 1) if n.startswith("r_") else n) if mirrored else str
            body = m.body(rename(link), mass, tuple(np.array(com) * flip), _matrix(inertia, mirrored))
            m.joint(
                rename(joint),
                m.bodies[rename(parent)],
                body,
                joints.revolute(axis),
                at=tuple(np.array(offset) * flip),
            )
    for side in ("r", "l"):
        for k, point in enumerate(FOOT_POINTS):
            m.frame(f"{side}_sole{k}", m.bodies[f"{side}_foot"], point)
    return m


def _matrix(i: tuple[float, ...], mirrored: bool = False) -> np.ndarray:
    """xx, yy, zz, xy, xz, yz as a matrix; mirrored in the sagittal plane the products with y change sign."""
    xx, yy, zz, xy, xz, yz = i
    s = -1 if mirrored else 1
    return np.array([[xx, s * xy, xz], [s * xy, yy, s * yz], [xz, s * yz, zz]])
