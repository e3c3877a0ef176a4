"""Meshes from files for pictures, made small enough to travel in a page. Reading them needs the extra `view`;
without, or where a file is missing, a small box stands for the mesh and a note says why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np

from strut.errors import MissingExtraError
from strut.extras import optional_module

MAX_FACES = 4000
"""Triangles of a mesh in a picture at most."""
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".glb", ".gltf", ".off", ".dae")
"""Suffixes of files that meshes are read from."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A mesh: places of its corners [m], triangles as numbers of corners, and what went wrong."""

    vertices: np.ndarray
    faces: np.ndarray
    note: str = ""


@lru_cache(maxsize=256)
def load(path: str) -> Loaded:
    """A mesh by its path or file:// address. Other addresses, package:// too, are not looked up."""
    parts = urlparse(path)
    place = Path(unquote(parts.path)) if parts.scheme == "file" else Path(path)
    if "://" in path and parts.scheme != "file":
        return _stand_in(f"{path} is not a file here")
    if place.suffix.lower() not in MESH_SUFFIXES or not place.is_file():
        return _stand_in(
            f"{path} is not a mesh that can be read ({', '.join(MESH_SUFFIXES)})"
            if place.is_file()
            else f"{path} was not found"
        )
    try:
        trimesh = optional_module("trimesh", path)
    except MissingExtraError as error:
        return _stand_in(str(error))
    try:
        mesh = trimesh.load(place, force="mesh")
        vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=int)
    except Exception as error:  # whatever a damaged file makes a reader raise
        return _stand_in(f"{path} cannot be read: {error}")
    if not len(faces) or not np.isfinite(vertices).all():
        return _stand_in(f"{path} holds no triangles")
    return Loaded(*_fewer(vertices, faces))


def _stand_in(why: str) -> Loaded:
    corners = 0.03 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Loaded(
        corners,
        np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]),
        f"A box stands for a mesh: {why}.",
    )


def _fewer(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners that share a cell of a grid become one, the grid as fine as `MAX_FACES` allows."""
    cells = 256
    low, span = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max()) or 1.0
    while True:
        grid = np.floor((vertices - low) / span * cells).astype(int)
        _, first, which = np.unique(grid, axis=0, return_index=True, return_inverse=True)
        joined = which.reshape(-1)[faces]
        distinct = (
            (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0])
        )
        left = joined[distinct]
        if len(left) <= MAX_FACES or cells <= 8:
            return vertices[first], left
        cells = int(cells * 0.7)
