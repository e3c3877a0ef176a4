"""Human segments scaled from stature and mass: Dumas, Cheze and Verriest 2007 (adjusted McConville and
Young), male and female.

Fractions are of body mass; lengths of the mean subject scale with stature; centres of mass and radii of
gyration are fractions of segment length. Axes here are strut's: x forward, y left, z up; the table's X
anterior, Y superior, Z right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, did_you_mean
from strut.mechanism.looks.shape_types import Capsule
from strut.mechanism.looks.shapes import capsule
from strut.system import Expression, sx

STATURE = {"male": 1.77, "female": 1.61}  # [m] of the mean subjects

# segment: length [mm] male, female; mass [%] male, female; male centre of mass X, Y, Z [% of length]; male
# radii of gyration
# xx, yy, zz, and xy, xz, yz [%], where a negative number stands for a negative product of inertia
# fmt: off
SEGMENTS: dict[str, tuple[Any, ...]] = {
    "head":    (244, 221, 6.7, 6.7, (-6.2, 55.5, 0.1), (31, 25, 33), (-9, -2, 3)),
    "torso":   (477, 429, 33.3, 30.4, (-3.6, -42.0, -0.2), (27, 25, 28), (18, 2, -4)),
    "arm":     (271, 243, 2.4, 2.2, (1.7, -45.2, -2.6), (31, 14, 32), (6, 5, 2)),
    "forearm": (283, 247, 1.7, 1.3, (1.0, -41.7, 1.4), (28, 11, 27), (3, 2, -8)),
    "hand":    (80, 71, 0.6, 0.5, (8.2, -83.9, 7.4), (61, 38, 56), (22, 15, -20)),
    "pelvis":  (94, 107, 14.2, 14.6, (2.8, -28.0, -0.6), (101, 106, 95), (-25, -12, -8)),
    "thigh":   (432, 379, 12.3, 14.6, (-4.1, -42.9, 3.3), (29, 15, 30), (7, -2, -7)),
    "shank":   (433, 388, 4.8, 4.5, (-4.8, -41.0, 0.7), (28, 10, 28), (-4, -2, 5)),
    "foot":    (183, 165, 1.2, 1.0, (38.2, -15.1, 2.6), (17, 37, 36), (13, -8, 0)),
}
# fmt: on


@dataclass(frozen=True, eq=False)
class Segment:
    """length [m], mass [kg], centre of mass [m] from the proximal joint (torso and head: from the neck),
    inertia about it [kg m^2]; expressions where stature or mass are."""

    name: str
    length: ca.SX
    mass: ca.SX
    com: ca.SX
    inertia: ca.SX

    def shape(self, colour: Any = None) -> Capsule:
        """A capsule along the segment, as thick as a solid cylinder with its radius of gyration."""
        upwards, forwards = self.name == "head", self.name == "foot"
        end = (self.length, 0, 0) if forwards else (0, 0, self.length if upwards else -self.length)
        gyration = SEGMENTS[self.name][5][0 if forwards else 1] * 1e-2
        return capsule((0, 0, 0), end, 2**0.5 * gyration * self.length, colour)


@checked
def segment(
    name: str, stature: Expression, mass: Expression, sex: str = "male", side: str = "right"
) -> Segment:
    """A segment of a person of `stature` [m] and `mass` [kg]; both may be parameters.

    Shapes (centres and radii) are those of the male sample for both sexes: the female table's were not at
    hand. Left segments are mirrored.
    """
    if name not in SEGMENTS:
        raise ModelError(f"there is no segment '{name}': {did_you_mean(name, list(SEGMENTS))}")
    if sex not in STATURE:
        raise ModelError(f"sex '{sex}' has no table: use 'male' or 'female'")
    if side not in ("left", "right"):
        raise ModelError(f"side '{side}': use 'left' or 'right'")
    k = 0 if sex == "male" else 1
    row = SEGMENTS[name]
    L = row[k] * 1e-3 / STATURE[sex] * sx(stature)
    m = row[2 + k] * 1e-2 * sx(mass)
    mirror = 1.0 if side == "right" else -1.0
    X, Y, Z = (v * 1e-2 for v in row[4])
    com = ca.vertcat(X * L, -mirror * Z * L, Y * L)
    square = m * L**2 * 1e-4
    xx, yy, zz = (r * r * square for r in row[5])  # about the table's X (forward), Y (up), Z (right)
    xy, xz, yz = ((r * r if r >= 0 else -r * r) * square for r in row[6])
    # up is our z, right is our -y: (x, y, z) = (X, -Z, Y)
    inertia = ca.vertcat(
        ca.horzcat(xx, -mirror * xz, xy),
        ca.horzcat(-mirror * xz, zz, -mirror * yz),
        ca.horzcat(xy, -mirror * yz, yy),
    )
    return Segment(name, L, m, com, inertia)
