"""Files of meshes as vertices and triangles: STL (binary), OBJ and MSH, as MuJoCo reads them, for the inertia
of what they enclose."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from strut.errors import ModelError, StorageError

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices [n x 3] in the file's unit of length, and for each triangle the numbers of its corners."""
MAX_POLYGON_BEND = 1e-5
"""[1] by which a polygon of more than four corners may be bent, as a share of its size."""


def read_mesh(path: Path, what: str) -> Mesh:
    """The mesh of a file; `what` names it in errors. Nothing of the file's content appears in them."""
    readers = {".stl": _stl, ".msh": _msh, ".obj": _obj}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise ModelError(
            f"{what}: '{path.name}' ends in '{path.suffix}': meshes are read from {', '.join(readers)}"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    try:
        vertices, faces = read(content, f"{what}: '{path.name}'")
    except (ValueError, IndexError, OverflowError) as error:
        raise ModelError(
            f"{what}: '{path.name}' is damaged: it is no {path.suffix[1:].upper()} file"
        ) from error
    return check_mesh(vertices, faces, f"{what}: '{path.name}'")


def check_mesh(vertices: np.ndarray, faces: np.ndarray, what: str) -> Mesh:
    """Return a mesh; raise ModelError unless its vertices are finite and the corners of its triangles
    exist."""
    if not len(vertices) or not np.all(np.isfinite(vertices)):
        raise ModelError(f"{what} has {len(vertices)} vertices, or some that are not finite")
    if len(faces) and not (faces.min() >= 0 and faces.max() < len(vertices)):
        raise ModelError(f"{what} has a triangle with corner {faces.max()} of {len(vertices)}")
    return vertices, faces


def _stl(content: bytes, what: str) -> Mesh:
    """Binary STL: equal corners of triangles become one vertex."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) < 84 or len(content) != 84 + 50 * count:
        raise ModelError(f"{what} is no binary STL: its size does not fit; one in words must be converted")
    raw = np.frombuffer(content, dtype=np.dtype([("v", "<f4", (4, 3)), ("rest", "<u2")]), offset=84)
    corners = raw["v"][:, 1:, :].reshape(-1, 3)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return vertices.astype(float), index.reshape(-1, 3)


def _msh(content: bytes, what: str) -> Mesh:
    """MuJoCo's own format: counts of vertices, normals, texture coordinates and triangles, then those."""
    if len(content) < 16:
        raise ModelError(f"{what} is no MSH file: it has no header")
    vertices, normals, textures, faces = (int(n) for n in np.frombuffer(content, "<i4", 4))
    if min(vertices, normals, textures, faces) < 0 or len(content) != 16 + 4 * (
        3 * vertices + 3 * normals + 2 * textures + 3 * faces
    ):
        raise ModelError(f"{what} is no MSH file: its size does not fit its header")
    numbers = np.frombuffer(content, "<f4", 3 * vertices, 16).reshape(-1, 3).astype(float)
    at = 16 + 4 * (3 * vertices + 3 * normals + 2 * textures)
    return numbers, np.frombuffer(content, "<i4", 3 * faces, at).reshape(-1, 3).astype(int)


def _obj(content: bytes, what: str) -> Mesh:
    """Its first object: MuJoCo takes no other."""
    vertices: list[tuple[str, str, str]] = []
    polygons: list[list[int]] = []
    ended = False
    for line in content.decode("utf-8", errors="replace").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append((words[1], words[2], words[3]))
        elif words[0] in ("g", "o"):
            ended = bool(polygons)
        elif words[0] == "f" and not ended:
            corners = [int(word.split("/")[0]) for word in words[1:]]
            polygons.append([c - 1 if c > 0 else len(vertices) + c for c in corners])
    places = np.array(vertices, dtype=np.float32).reshape(-1, 3)
    faces = [face for polygon in polygons for face in _triangles(polygon, places, what)]
    return places.astype(float), np.array(faces, dtype=int).reshape(-1, 3)


def _triangles(polygon: list[int], places: np.ndarray, what: str) -> list[tuple[int, int, int]]:
    """Cut a polygon into triangles, as MuJoCo does."""
    if len(polygon) < 3:
        return []
    if not 0 <= min(polygon) <= max(polygon) < len(places):
        raise ModelError(f"{what} has a face with a corner that does not exist")
    if len(polygon) == 4:  # along the shorter diagonal
        a, b, c, d = polygon
        first, second = (float(((places[i] - places[j]) ** 2).sum()) for i, j in ((c, a), (d, b)))
        return [(a, b, c), (a, c, d)] if first < second else [(a, b, d), (b, c, d)]
    if len(polygon) > 4:
        _check_flat(places[polygon].astype(float), what)
    return [(polygon[0], polygon[k], polygon[k + 1]) for k in range(1, len(polygon) - 1)]


def _check_flat(corners: np.ndarray, what: str) -> None:
    """How a polygon is cut into triangles matters unless it is flat and convex."""
    edges = np.roll(corners, -1, axis=0) - corners
    turns = np.cross(edges, np.roll(edges, -1, axis=0))
    normal = turns.sum(axis=0)
    size = np.abs(corners - corners[0]).max()
    length = np.linalg.norm(normal)
    if not length > 0:
        return  # no area, no volume
    bent = np.abs((corners - corners[0]) @ normal).max() / length > MAX_POLYGON_BEND * size
    if bent or (turns @ normal).min() < -MAX_POLYGON_BEND * size**2 * length:
        raise ModelError(
            f"{what} has a face of {len(corners)} corners that is bent or not convex: cut it into triangles"
        )
