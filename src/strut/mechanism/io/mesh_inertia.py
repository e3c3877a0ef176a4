"""Mass properties of what a mesh encloses, by MuJoCo's rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.errors import MissingExtraError, ModelError
from strut.mechanism.io.mesh_file import Mesh

INERTIA_RULES = ("legacy", "exact", "convex", "shell")
"""Words for how the inertia of a mesh is worked out, see `solid_of`."""
MIN_VOLUME = 1e-15
"""[m^3 or m^2] below which MuJoCo takes a mesh for nothing."""


@dataclass(frozen=True)
class Solid:
    """volume [m^3], or surface of a shell [m^2]; centre of mass [m]; inertia about it per density; the box
    around it along its
    principal axes: low and high corners seen from the centre, in columns of `axes`."""

    volume: float
    com: np.ndarray
    inertia: np.ndarray
    axes: np.ndarray
    half: np.ndarray
    low: np.ndarray
    high: np.ndarray


def solid_of(mesh: Mesh, kind: str, what: str) -> Solid:
    """The solid, or shell, of a mesh.

    'exact' adds tetrahedra with their signs (the mesh must be closed), 'legacy', MuJoCo's default, adds their
    magnitudes as seen from the centre of the faces, which differs where a mesh is not convex; 'convex' takes
    the hull; 'shell' the surface.
    """
    vertices, faces = mesh
    if kind == "convex" or not len(faces):
        faces = _hull(vertices, what)
    centre = _area_centre(vertices, faces, what)
    volumes, middles = _parts(vertices - centre, faces, kind)
    total = float(volumes.sum())
    if total < MIN_VOLUME:
        reason = (
            "negative: its triangles face inwards"
            if total < 0
            else 'too small: if it is a surface, give the mesh inertia="shell"'
        )
        raise ModelError(f"{what} has the volume {total:g} m^3, which is {reason}")
    # a tetrahedron's centre is three quarters of the way from the apex to its base
    com = centre + 0.75 * (volumes @ middles) / total
    volumes, _ = _parts(
        vertices - com, faces, kind
    )  # with magnitudes the volume depends on where it is seen from
    total = float(volumes.sum())
    D, E, F = ((vertices - com)[faces[:, k]] for k in range(3))
    # second moments of every tetrahedron (or triangle) from the products of its corners
    products = np.zeros((3, 3))
    for a, b, weight in (
        (D, D, 2),
        (E, E, 2),
        (F, F, 2),
        (D, E, 1),
        (E, D, 1),
        (D, F, 1),
        (F, D, 1),
        (E, F, 1),
        (F, E, 1),
    ):
        products += weight * np.einsum("n,ni,nj->ij", volumes, a, b)
    products /= 12 if kind == "shell" else 20
    inertia = np.trace(products) * np.eye(3) - products
    moments, axes = np.linalg.eigh(inertia)
    moments, axes = moments[::-1], axes[:, ::-1]  # the longest axis last
    if not moments[2] > 0 or total <= 0:
        raise ModelError(
            f"{what} has principal moments of inertia {moments.tolist()} per density: no solid has"
        )
    # the box of equal volume and inertia, and the box around it
    half = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / total, 0)) / 2
    seen = (vertices - com) @ axes
    return Solid(total, com, inertia, axes, half, seen.min(axis=0), seen.max(axis=0))


def _triangles(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twice the area times the normal, and the middle, of every triangle."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a), (a + b + c) / 3


def _parts(vertices: np.ndarray, faces: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Volumes of the tetrahedra over all triangles with their apex at the origin, or areas of a shell; and
    the triangles' middles."""
    normals, middles = _triangles(vertices, faces)
    if kind == "shell":
        return np.linalg.norm(normals, axis=1) / 2, middles
    volumes = np.einsum("ni,ni->n", normals, middles) / 6
    return (np.abs(volumes) if kind == "legacy" else volumes), middles


def _area_centre(vertices: np.ndarray, faces: np.ndarray, what: str) -> np.ndarray:
    """The centre of the surface [m]."""
    normals, middles = _triangles(vertices, faces)
    areas = np.linalg.norm(normals, axis=1) / 2
    if not areas.sum() > MIN_VOLUME:
        raise ModelError(f"{what} has no surface")
    centre: np.ndarray = areas @ middles / areas.sum()
    return centre


def _hull(vertices: np.ndarray, what: str) -> np.ndarray:
    """Triangles of the convex hull, all facing outwards."""
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError as error:
        raise MissingExtraError("scipy", f"{what}: its convex hull", "stiff") from error
    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise ModelError(f"{what} has no convex hull: its {len(vertices)} vertices lie in a plane") from error
    faces: np.ndarray = hull.simplices.copy()
    normals, _ = _triangles(vertices, faces)
    inwards = np.einsum("ni,ni->n", normals, hull.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return faces
