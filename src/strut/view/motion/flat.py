"""A frame as flat figures: filled outlines and lines, in metres, far ones first. What draws them need not
know the machine.

A planar machine is seen from the side, x to the right and z up; another one from its right, ahead and above,
without perspective.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import cos, sin

import numpy as np

from strut.simulate.scene_samples import RIM_RADIUS_RATIO, Pivot, ScenePiece, SceneSamples
from strut.view.motion import meshes
from strut.view.motion.frames import MAX_FRAMED_GROWTH, camera, colour, middle, newtons

INK, PAPER, SOFT, GROUND, FORCE, PATH = "#1b1f24", "#ffffff", "#5b6470", "#e4e8ec", "#009E73", "#CC79A7"
"""Colours of edges, of the background, of text, and of ground, forces and the path of the centre of mass."""
TRAIL_SECONDS = 3.0
"""Length of the path of the centre of mass that is shown [s]."""
PIVOT_RADIUS = 0.016
"""Radius of a joint's mark, as a part of the machine's size."""
GHOST_INTERVAL = 0.2
"""Time between ghosts [s]."""


@dataclass(frozen=True, eq=False)
class FlatFigure:
    """An outline to fill, or with `fill` empty a line; `width` [pixels] of its edge, in the colour `edge`."""

    points: np.ndarray
    fill: str = ""
    edge: str = ""
    width: float = 1.0
    opacity: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Eye:
    """Where one looks from: directions in the world of the picture's right and up."""

    right: np.ndarray
    up: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Project points of the world [m] into the picture: its right and up."""
        return np.asarray(np.asarray(points, dtype=float) @ np.column_stack([self.right, self.up]))

    @property
    def is_from_side(self) -> bool:
        """Whether one looks along y, x to the right and z up."""
        return bool(self.right[0] == 1.0 and self.up[2] == 1.0)

    @property
    def toward(self) -> np.ndarray:
        """The direction from what is seen to the eye."""
        return np.cross(self.right, self.up)


VIEW_ANGLES = {
    "side": (0.0, 0.0),
    "corner": (0.7, 0.35),
    "front": (np.pi / 2, 0.1),
    "above": (0.0, np.pi / 2),
}
"""By the name of a view: how far one goes around the machine, from its right, and how far up [rad]."""


def eye(stage: SceneSamples, view: str = "") -> Eye:
    """Return where to look at a machine from. view: one of `VIEW_ANGLES`; unless given a planar one is seen
    from the side, one in space from its right, ahead and above."""
    turn, tilt = VIEW_ANGLES[view or ("side" if stage.planar else "corner")]
    right = np.array([cos(turn), sin(turn), 0])
    return Eye(right, np.array([-sin(turn) * sin(tilt), cos(turn) * sin(tilt), cos(tilt)]))


def across(stage: SceneSamples, seen: Eye | None = None) -> np.ndarray:
    """How much of the picture's plane is seen [m], along its right and up, about where the camera looks."""
    centre, window, still = camera(stage)
    seen = seen or eye(stage)
    if stage.planar and seen.is_from_side:
        return window[[0, 2]]
    reach = np.max([np.abs(seen(corner - centre)) for corner in stage.corners], axis=0)
    whole = 2 * np.maximum(1.12 * reach.max(axis=0), 0.3 * stage.size)
    if still:
        return np.asarray(whole)
    low, high = stage.extents
    first = 2 * np.maximum(1.12 * reach[0], 0.3 * float((high - low)[0].max()))
    return np.asarray(np.minimum(whole, MAX_FRAMED_GROWTH * first))


@dataclass(frozen=True)
class Look:
    """What to draw besides the machine."""

    forces: bool = True
    path: bool = True
    prints: bool = True
    joints: bool = True
    ground: bool = True
    ghosts: int = 0
    hidden: frozenset[str] = field(default_factory=frozenset)


def frame(
    stage: SceneSamples,
    k: int,
    look: Look = Look(),
    seen: Eye | None = None,
    within: tuple[float, float] | None = None,
) -> list[FlatFigure]:
    """Draw everything in frame k; the ground of a planar machine only between two distances, if they are
    given."""
    seen = seen or eye(stage)
    figures: list[FlatFigure] = []
    flat = stage.planar and seen.is_from_side
    if look.ground and stage.land is not None and not flat:
        figures += _grid(stage, k, seen)
    for j in range(look.ghosts, 0, -1):
        past = int(np.searchsorted(stage.t, stage.t[k] - GHOST_INTERVAL * j + 1e-9, side="right")) - 1
        if past >= 0:
            figures += machine(stage, past, seen, opacity=0.28 - 0.2 * j / (look.ghosts + 1), edge="")
    figures += machine(stage, k, seen)
    if look.ground and stage.land is not None and flat:
        figures += ground_line(stage, *(within or (None, None)))
    if look.joints:
        for pivot in stage.pivots:
            figures += _pivot(pivot, k, seen, PIVOT_RADIUS * stage.size)
    if look.prints:
        figures += [
            _print(seen(at[1:]), 0.02 * stage.size) for at in stage.prints if at[0] <= stage.t[k] + 1e-9
        ]
    if look.path and stage.com is not None:
        first = int(np.searchsorted(stage.t, stage.t[k] - TRAIL_SECONDS))
        figures.append(FlatFigure(seen(stage.com[first : k + 1]), edge=PATH, width=1.5))
        figures += _target(seen(stage.com[k]), 0.022 * stage.size)
    if look.forces:
        metres = newtons(stage)
        for push in stage.pushes:
            figures += _arrow(seen(push.at[k]), seen(push.at[k] + metres * push.force[k]), 0.012 * stage.size)
    return figures


def machine(
    stage: SceneSamples, k: int, seen: Eye, opacity: float = 1.0, edge: str = INK
) -> list[FlatFigure]:
    """The pieces in frame k, far ones first; of a planar machine, in their order."""
    order = list(range(len(stage.pieces)))
    if not (stage.planar and seen.is_from_side):
        order.sort(key=lambda i: float(middle(stage.pieces[i], k) @ seen.toward))
    figures = []
    for i in order:
        shade, own = colour(stage.pieces[i])
        for points, light in outlines(stage.pieces[i], k, seen):
            figures.append(FlatFigure(points, _shade(shade, light), edge, 1.0, opacity * own))
    return figures


def outlines(piece: ScenePiece, k: int, seen: Eye) -> Iterable[tuple[np.ndarray, float]]:
    """The outlines of a piece, each with how bright it is."""
    v = {name: rows[k] for name, rows in piece.values.items()}
    turn = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    if piece.kind == "sphere":
        yield seen(v["at"]) + v["radius"] * ring, 1.0
    elif piece.kind == "capsule":
        yield (
            hull(np.vstack([seen(v["start"]) + v["radius"] * ring, seen(v["end"]) + v["radius"] * ring])),
            1.0,
        )
    elif piece.kind == "cylinder":
        along = v["end"] - v["start"]
        a = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        b = np.cross(along, a)
        rims = [n / (np.linalg.norm(n) or 1.0) for n in (a, b)]
        circle = v["radius"] * ring @ np.array(rims)
        yield hull(seen(np.vstack([v["start"] + circle, v["end"] + circle]))), 1.0
    elif piece.kind == "arc":
        angles = np.linspace(float(v["begin"][0]), float(v["finish"][0]), 25)
        rim = np.column_stack([np.sin(angles), np.zeros(25), -np.cos(angles)]) @ v["rotation"].reshape(3, 3)
        yield seen(v["at"] + v["radius"] * np.vstack([rim, RIM_RADIUS_RATIO * rim[::-1]])), 1.0
    else:
        R = v["rotation"].reshape(3, 3)  # column by column: rows of this are the axes in the world
        if piece.kind == "box":
            yield from _faces(v["at"], R, v["size"], seen)
        elif piece.kind == "ellipsoid":
            M = seen(R * v["radii"][:, None]).T  # 2 x 3: the picture of the unit ball's axes
            shape = M @ M.T
            yield (
                seen(v["at"])
                + (ring @ shape)
                / np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", ring, shape, ring), 1e-300))[:, None],
                1.0,
            )
        else:
            loaded = meshes.load(piece.path)
            scale = np.sign(v["scale"]) if loaded.note else v["scale"]
            yield hull(seen(v["at"] + (loaded.vertices * scale) @ R)), 1.0


def _faces(
    at: np.ndarray, axes: np.ndarray, size: np.ndarray, seen: Eye
) -> Iterable[tuple[np.ndarray, float]]:
    """The faces of a box that are turned to the eye, lit from above."""
    for i in range(3):
        for sign in (-1.0, 1.0):
            normal = sign * axes[i]
            if normal @ seen.toward < 1e-6:
                continue
            a, b = (axes[j] * size[j] / 2 for j in range(3) if j != i)
            corners = at + normal * size[i] / 2 + np.array([a + b, a - b, -a - b, b - a])
            yield seen(corners), 0.8 + 0.2 * float(normal[2])


def hull(points: np.ndarray) -> np.ndarray:
    """Return the convex hull of points in a plane, counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))

    def half(items: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        corners: list[tuple[float, float]] = []
        for p in items:
            while len(corners) > 1:
                (ax, ay), (bx, by) = corners[-2], corners[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                corners.pop()
            corners.append(p)
        return corners[:-1]

    return np.array(half(ordered) + half(ordered[::-1])).reshape(-1, 2)


def ground_line(stage: SceneSamples, low: float | None = None, high: float | None = None) -> list[FlatFigure]:
    """The ground of a planar machine: filled to far below, with a line on top."""
    assert stage.land is not None
    x, h = stage.land.x, stage.land.height[0]
    if low is not None and high is not None:
        inside = (x > low) & (x < high)
        ends = stage.land.at(np.array([low, high]))
        x, h = np.concatenate([[low], x[inside], [high]]), np.concatenate([ends[:1], h[inside], ends[1:]])
    top = np.column_stack([x, h])
    deep = float(h.min()) - 20 * stage.size
    return [
        FlatFigure(np.vstack([top, [x[-1], deep], [x[0], deep]]), GROUND),
        FlatFigure(top, edge=SOFT, width=1.5),
    ]


def _grid(stage: SceneSamples, k: int, seen: Eye) -> list[FlatFigure]:
    """Lines on the ground around the machine, on round distances."""
    assert stage.land is not None
    step, reach = 0.5 * 10 ** round(np.log10(stage.size)), 4
    centre = np.round(middle(stage.pieces[0], k)[:2] / step) * step
    marks = np.arange(-reach, reach + 1) * step
    fine = np.linspace(-reach * step, reach * step, 81)
    lines = []
    for mark in marks:
        across = np.column_stack([np.full(2, centre[0] + mark), centre[1] + np.array([-reach, reach]) * step])
        along = np.column_stack([centre[0] + fine, np.full(len(fine), centre[1] + mark)])
        lines += [
            FlatFigure(seen(np.column_stack([p, stage.land.at(p[:, 0])])), edge="#c2cad3", width=1.0)
            for p in (across, along)
        ]
    return lines


def _print(at: np.ndarray, size: float) -> FlatFigure:
    return FlatFigure(at + size * np.array([[0, 0], [-0.6, -1], [0.6, -1]]), SOFT)


def _pivot(pivot: Pivot, k: int, seen: Eye, radius: float) -> list[FlatFigure]:
    """The sign for a joint: a ring with a dot and, where one does not look along it, its axis; a sleeve for
    one that slides."""
    at, along = seen(pivot.at[k]), seen(pivot.axis[k])
    turn = np.linspace(0, 2 * np.pi, 25)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    tilted = float(np.linalg.norm(along)) > 0.2
    rod = [FlatFigure(at + 3.2 * radius * np.outer([-1, 1], along), edge=INK, width=2.0)] if tilted else []
    if pivot.kind == "prismatic" and tilted:
        d = along / np.linalg.norm(along)
        n = np.array([-d[1], d[0]])
        sleeve = at + radius * np.array([1.8 * d + n, 1.8 * d - n, -1.8 * d - n, -1.8 * d + n])
        return [*rod, FlatFigure(sleeve, PAPER, INK)]
    return [*rod, FlatFigure(at + radius * ring, PAPER, INK), FlatFigure(at + 0.35 * radius * ring, INK)]


def _target(at: np.ndarray, radius: float) -> list[FlatFigure]:
    """The sign for a centre of mass."""
    turn = np.linspace(0, 2 * np.pi, 25)
    ring = at + radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return [
        FlatFigure(ring, PAPER, INK),
        *[FlatFigure(np.vstack([[at], ring[a : a + 7]]), INK) for a in (0, 12)],
    ]


def _arrow(start: np.ndarray, end: np.ndarray, thick: float) -> list[FlatFigure]:
    length = float(np.linalg.norm(end - start))
    if length < 2 * thick:
        return []
    d = (end - start) / length
    n, head = np.array([-d[1], d[0]]), min(6 * thick, length / 2)
    neck = end - head * d
    half, wide = n * thick / 2, n * 2.2 * thick
    outline = [start + half, neck + half, neck + wide, end, neck - wide, neck - half, start - half]
    return [FlatFigure(np.array(outline), FORCE, PAPER)]


def _shade(shade: str, light: float) -> str:
    """Darken a colour by a factor below 1."""
    if light >= 1:
        return shade
    return "#" + "".join(f"{round(int(shade[k : k + 2], 16) * light):02x}" for k in (1, 3, 5))


def window(
    stage: SceneSamples, k: int, aspect: float, seen: Eye | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What of the world frame k shows: opposite corners, in the picture's plane."""
    centre, _, _ = camera(stage)
    seen = seen or eye(stage)
    half = across(stage, seen) / 2
    grown = max(half[0] / aspect, half[1])
    focus, reach = seen(centre[k]), np.array([grown * aspect, grown])
    return focus - reach, focus + reach


def span(figures: Sequence[FlatFigure]) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a box around figures."""
    points = np.vstack([f.points for f in figures])
    return points.min(axis=0), points.max(axis=0)
