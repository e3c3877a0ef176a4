"""What the elements of an MJCF file say, in numbers: one record each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from strut.mechanism.io.poses import NumericPose


@dataclass
class GeomRecord:
    """X: in the body. Sizes as in MJCF: radii and half lengths. `com`, `inertia` about it and its principal
    `axes` (in columns) in the body's frame; `frame` is where the file of a mesh has its origin."""

    kind: str
    X: NumericPose
    size: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    axes: np.ndarray
    frame: NumericPose
    mesh: str = ""
    colour: tuple[float, ...] | None = None
    group: int = 0
    name: str = ""


@dataclass
class JointRecord:
    """`springdamper`: time constant [s] and damping ratio of a spring and damper that its inertia determines,
    or none. `effort`: what all its motors give together [N m or N], or none."""

    name: str
    kind: str
    pos: np.ndarray
    axis: np.ndarray
    ref: float
    springref: float
    stiffness: float
    damping: float
    armature: float
    range: tuple[float, float] | None
    friction: float = 0.0
    springdamper: tuple[float, float] | None = None
    effort: tuple[float, float] | None = None


@dataclass
class BodyRecord:
    """X: in the parent, before joints move it; X_W: in the world, likewise. `gravcomp`: the share of its
    weight that is taken off. `axes`: principal ones of its inertia, in columns, where the file determines
    them; `pos`: as its element says."""

    name: str
    X: NumericPose
    X_W: NumericPose
    joints: list[JointRecord] = field(default_factory=list)
    geoms: list[GeomRecord] = field(default_factory=list)
    sites: dict[str, NumericPose] = field(default_factory=dict)
    bodies: list[BodyRecord] = field(default_factory=list)
    inertial: tuple[float, np.ndarray, np.ndarray] | None = None
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    axes: np.ndarray | None = None
    pos: np.ndarray = field(default_factory=lambda: np.zeros(3))
    gravcomp: float = 0.0

    def all(self) -> list[BodyRecord]:
        """The body and all that it carries, from the inside outwards."""
        return [self, *(b for child in self.bodies for b in child.all())]


@dataclass
class TendonRecord:
    """A fixed tendon is a sum of joint coordinates times `weights`; a spatial one runs along `legs`: pairs of
    sites with the divisor of their pulley. `wraps`: the geom it goes around, which makes its length unknown
    here."""

    name: str
    weights: dict[str, float]
    legs: list[tuple[str, str, float]]
    wraps: str
    stiffness: float
    damping: float
    friction: float
    rest: tuple[float, float] | None
    range: tuple[float, float] | None
