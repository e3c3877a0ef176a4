"""`SceneSamples`: where every shape, force and footprint of a run is in each frame. Pictures are made from
this alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

FRAME_RATE = 60.0
"""Frames per second [1/s]."""
MAX_FRAMES = 3000
"""Most frames of a run: a longer one has fewer per second."""
RIM_RADIUS_RATIO = 0.88
"""Inner radius of the rims as which arcs are drawn, as a fraction of the outer."""


@dataclass(frozen=True, eq=False)
class ScenePiece:
    """A shape over all frames: its numbers (see `strut.system.scene.KINDS`) as arrays, frame by number; and
    the side of the machine on which it is: 'left', 'right' or empty."""

    name: str
    kind: str
    values: Mapping[str, np.ndarray]
    colour: tuple[float, float, float, float] | None = None
    path: str = ""
    side: str = ""


@dataclass(frozen=True, eq=False)
class Push:
    """A force [N] and the point it acts on, over all frames."""

    name: str
    at: np.ndarray
    force: np.ndarray


@dataclass(frozen=True, eq=False)
class Pivot:
    """A joint over all frames: where it is, and the direction it turns about or slides along (see
    `strut.system.scene.Hinge`)."""

    name: str
    kind: str
    at: np.ndarray
    axis: np.ndarray


@dataclass(frozen=True, eq=False)
class Land:
    """The ground as heights over a grid: height[j, i] at x[i], y[j]. Of steps, both sides of an edge are in
    x."""

    x: np.ndarray
    y: np.ndarray
    height: np.ndarray

    def at(self, x: np.ndarray) -> np.ndarray:
        """Heights [m] at places `x` [m] along y = 0, or as near to it as the grid goes."""
        heights: np.ndarray = np.interp(x, self.x, self.height[int(np.argmin(np.abs(self.y)))])
        return heights


@dataclass(frozen=True, eq=False)
class SceneSamples:
    """All that is seen of a run.

    t: times of the frames [s]. cuts: frames before which something jumped, so that nothing is drawn in
        between.
    com: the centre of mass by frame, if the run knows it. prints: where feet came to stand: t, x, y, z.
    pivots: joints. boxes: lowest and highest corner of meshes by path, as far as someone has read them; else
        only their place counts.
    swaps: pieces that change places when legs change names, see `strut.system.scene.Scene`.
    """

    t: np.ndarray
    pieces: tuple[ScenePiece, ...] = ()
    pushes: tuple[Push, ...] = ()
    land: Land | None = None
    planar: bool = True
    cuts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    com: np.ndarray | None = None
    prints: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))
    pivots: tuple[Pivot, ...] = ()
    boxes: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    swaps: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def corners(self) -> list[np.ndarray]:
        """Corners of boxes around the pieces, frame by frame."""
        return [corner for piece in self.pieces for corner in _corners_around(piece, self.boxes)]

    @cached_property
    def extents(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and highest corner of all pieces in every frame."""
        return np.min(self.corners, axis=0), np.max(self.corners, axis=0)

    @cached_property
    def size(self) -> float:
        """How large the machine is [m], in its widest frame."""
        low, high = self.extents
        return float((high - low).max()) or 1.0


def frame_times(begin: float, end: float, rate: float = FRAME_RATE, most: int = MAX_FRAMES) -> np.ndarray:
    """The times [s] of frames from `begin` to `end`: `rate` a second, but at most so many."""
    return np.linspace(begin, end, int(np.clip(math.ceil((end - begin) * rate - 1e-9), 0, most)) + 1)


def _corners_around(
    piece: ScenePiece, boxes: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> list[np.ndarray]:
    """Corners of a box around a piece, frame by frame."""
    v = piece.values
    if "start" in v:
        return [v[end] + sign * v["radius"] for end in ("start", "end") for sign in (-1, 1)]
    if piece.kind == "mesh" and piece.path not in boxes:
        return [v["at"]]
    if piece.kind in ("box", "ellipsoid", "mesh"):
        R = v["rotation"].reshape(-1, 3, 3).transpose(0, 2, 1)
        if piece.kind == "mesh":
            low, high = boxes[piece.path]
            middle = v["at"] + np.einsum("kij,kj->ki", R, v["scale"] * (low + high) / 2)
            around = np.abs(R * (v["scale"] * (high - low))[:, None, :] / 2).sum(axis=2)
            return [middle - around, middle + around]
        if piece.kind == "box":
            around = np.abs(R * v["size"][:, None, :] / 2).sum(axis=2)
        else:
            around = np.linalg.norm(R * v["radii"][:, None, :], axis=2)
        return [v["at"] - around, v["at"] + around]
    if piece.kind == "arc":
        R = v["rotation"].reshape(-1, 3, 3).transpose(0, 2, 1)
        angles = [v["begin"][:, 0] * (1 - a) + v["finish"][:, 0] * a for a in np.linspace(0, 1, 25)]
        rays = [np.column_stack([np.sin(a), np.zeros(len(a)), -np.cos(a)]) * v["radius"] for a in angles]
        return [
            v["at"] + inwards * np.einsum("kij,kj->ki", R, ray)
            for ray in rays
            for inwards in (1.0, RIM_RADIUS_RATIO)
        ]
    return [v["at"] - v["radius"], v["at"] + v["radius"]]
