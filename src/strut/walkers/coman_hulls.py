"""COMAN's hulls: capsules about its bodies, which say where it strikes itself. No paper prints their sizes:
they are ours, drawn about joints, soles and masses, a little inside of what covers the robot."""

from __future__ import annotations

from collections.abc import Mapping

from strut.mechanism import Mechanism
from strut.mechanism.watchers import Hull, SelfCollision

# body of the right side or the trunk: radius, start and end of its axis in the body's frame [m]
HULLS: Mapping[str, tuple[float, tuple[float, float, float], tuple[float, float, float]]] = {
    "waist": (0.065, (-0.02, -0.03, 0.05), (-0.02, 0.03, 0.05)),
    "torso": (0.08, (-0.03, 0.0, 0.05), (-0.03, 0.0, 0.17)),
    "r_lower_thigh": (0.05, (0.0, 0.0, 0.02), (0.0, 0.0, -0.1)),
    "r_shank": (0.045, (0.0, 0.0, -0.04), (0.0, 0.0, -0.16)),
    "r_foot": (0.04, (-0.02, 0.0, -0.0393), (0.09, 0.0, -0.0393)),
    "r_shoulder_yaw": (0.04, (0.0, 0.0, 0.0), (0.0, 0.0, -0.1)),
    "r_elbow_link": (0.035, (0.0, 0.0, 0.0), (0.0, 0.0, -0.05)),
}
"""Capsules about bodies; those of the left side are their mirror images."""


def coman_hulls(mechanism: Mechanism, *, ends: bool) -> SelfCollision:
    """A watcher of COMAN's hulls. Neighbours are excused, and what no joint moves against each other.

    mechanism: any version of `coman_mechanism`. ends: whether a collision ends a run.
    """
    capsules = []
    for body, (radius, start, end) in HULLS.items():
        capsules.append(Hull(body, radius, start, end))
        if body.startswith("r_"):
            mirrored = [(x, -y, z) for x, y, z in (start, end)]
            capsules.append(Hull(body.replace("r_", "l_", 1), radius, *mirrored))
    return SelfCollision(
        capsules, excused=_neighbours(mechanism, [each.body for each in capsules]), ends=ends
    )


def _neighbours(mechanism: Mechanism, bodies: list[str]) -> list[tuple[str, str]]:
    """Pairs of bodies of which one carries the other with no third between them, or that are one rigid
    body."""
    carrier = {c.child.name: c for c in mechanism.connections.values()}

    def next_hull(body: str) -> str | None:
        while body in carrier:
            body = carrier[body].parent.name
            if body in bodies:
                return body
        return None

    def rigid_root(body: str) -> str:
        while body in carrier and carrier[body].joint.nv == 0:
            body = carrier[body].parent.name
        return body

    near = [(body, other) for body in bodies if (other := next_hull(body)) is not None]
    return near + [(a, b) for k, a in enumerate(bodies) for b in bodies[:k] if rigid_root(a) == rigid_root(b)]


__all__ = ["coman_hulls"]
