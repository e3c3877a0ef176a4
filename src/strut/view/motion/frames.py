"""The frames of a run, which every moving picture begins with: its scene sampled, its colours, its camera.

A scene without parts is drawn by its points, places that outputs tell, joined in their order.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from strut.errors import StrutError
from strut.simulate.scene_samples import FRAME_RATE, ScenePiece, SceneSamples, frame_times
from strut.view.figures.figure import PALETTE
from strut.view.motion import meshes

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

STILL_CAMERA_SIZES = 3.0
"""Extent of a motion, in sizes of the machine, up to which the camera stands still; it follows one that goes
further."""
MAX_FRAMED_GROWTH = 2.0
"""[1] How much larger than its first pose a machine that is followed may become and still be seen whole: one
that falls apart would be a dot until it does."""
BODY_COLOUR = "#7F8A96"
"""Colour of what is neither left nor right."""
SIDE_COLOURS = {"left": PALETTE[1], "right": PALETTE[0]}
"""Colours by side."""


def sample_frames(trajectory: Trajectory, rate: float = FRAME_RATE) -> SceneSamples | None:
    """Sample the scene of a run, `rate` frames a second; None where nothing can be seen. Legs that change
    names are followed through their swaps."""
    samples = trajectory.stage(rate)
    return _points(trajectory, rate) if samples is None else _with_mesh_boxes(_follow_legs(samples))


def _with_mesh_boxes(stage: SceneSamples) -> SceneSamples:
    """Add the boxes around meshes, so that the camera sees all of them; what stands in for one counts as a
    point."""
    read = {
        path: meshes.load(path)
        for path in dict.fromkeys(piece.path for piece in stage.pieces if piece.kind == "mesh")
    }
    boxes = {path: (m.vertices.min(axis=0), m.vertices.max(axis=0)) for path, m in read.items() if not m.note}
    return replace(stage, boxes=boxes) if boxes else stage


def _follow_legs(stage: SceneSamples) -> SceneSamples:
    """Undo the exchange of legs: where pieces that swap change places at an event, change them back. What
    stands first is on the right, and called so in place of stance."""
    places: dict[str, list[int]] = {}  # a body may have several shapes
    for k, piece in enumerate(stage.pieces):
        places.setdefault(piece.name, []).append(k)
    pairs = [
        (a, b)
        for one, other in stage.swaps.items()
        for a, b in zip(places.get(one, ()), places.get(other, ()), strict=False)
        if stage.pieces[a].kind == stage.pieces[b].kind
    ]
    if not pairs:
        return stage
    swapped = np.zeros(len(stage.t), dtype=bool)
    for k in stage.cuts:
        apart = [
            [
                middle(stage.pieces[i], k) - middle(stage.pieces[j], k - 1)
                for i, j in ((a, a), (b, b), (a, b), (b, a))
            ]
            for a, b in pairs
        ]
        straight, crossed = (
            sum(float(np.linalg.norm(d)) for row in apart for d in row[at : at + 2]) for at in (0, 2)
        )
        if crossed < straight:
            swapped[k:] ^= True
    pieces = list(stage.pieces)
    for a, b in pairs:
        one, other = stage.pieces[a], stage.pieces[b]
        for place, first, second, side in ((a, one, other, "right"), (b, other, one, "left")):
            values = {n: np.where(swapped[:, None], second.values[n], v) for n, v in first.values.items()}
            name = first.name.replace("stance", "right").replace("swing", "left")  # what a reader sees
            pieces[place] = replace(first, name=name, values=values, side=side)
    return replace(stage, pieces=tuple(pieces))


def middle(piece: ScenePiece, k: int) -> np.ndarray:
    """Return where a piece is in frame k [m]."""
    v = piece.values
    return np.asarray(v["at"][k] if "at" in v else (v["start"][k] + v["end"][k]) / 2)


def require_frames(trajectory: Trajectory, rate: float = FRAME_RATE) -> SceneSamples:
    """Return the frames of a run, or raise `StrutError` where there is nothing to see."""
    samples = sample_frames(trajectory, rate)
    if samples is not None:
        return samples
    if trajectory.model is None and trajectory.names.points:
        raise StrutError(
            f"'{trajectory.system_name}' was loaded without its system: give it, Trajectory.load(file, "
            f"system=...)"
        )
    raise StrutError(
        f"there is nothing to see of '{trajectory.system_name}': give its System a scene, "
        f"Scene(parts), or say which outputs are places, Scene(points=...)"
    )


def _points(trajectory: Trajectory, rate: float) -> SceneSamples | None:
    """Draw the points of a scene without parts: balls, joined by rods in their order."""
    names = trajectory.names.points
    if not names or trajectory.model is None:
        return None
    t = frame_times(trajectory.t0, trajectory.t1, rate)
    moments = trajectory.at(t)
    still = np.zeros(len(t))
    places = {}
    for name, (x, *y, z) in names.items():
        places[name] = np.column_stack([moments[x], moments[y[0]] if y else still, moments[z]])
    whole = np.isfinite(np.hstack(list(places.values()))).all(axis=1)
    t, places = t[whole], {name: place[whole] for name, place in places.items()}
    if not len(t):
        return None
    stack = np.array(list(places.values()))
    size = float(np.ptp(stack, axis=0).max()) or 0.2 * float(np.ptp(stack, axis=(0, 1)).max()) or 1.0
    thin, thick = (np.full((len(t), 1), factor * size) for factor in (0.012, 0.03))
    ends = list(places.items())
    rods = [
        ScenePiece(f"{a}-{b}", "capsule", {"start": p, "end": q, "radius": thin})
        for (a, p), (b, q) in pairwise(ends)
    ]
    balls = [ScenePiece(name, "sphere", {"at": place, "radius": thick}) for name, place in ends]
    cuts = np.unique(np.searchsorted(t, trajectory.events.t, side="left"))
    return SceneSamples(t, (*rods, *balls), cuts=cuts[(cuts > 0) & (cuts < len(t))])


def colour(piece: ScenePiece) -> tuple[str, float]:
    """Return the colour of a piece, '#rrggbb', and its opacity: its own, or one for its side."""
    if piece.colour is not None:
        return "#" + "".join(f"{round(255 * v):02x}" for v in piece.colour[:3]), float(piece.colour[3])
    return SIDE_COLOURS.get(piece.side, BODY_COLOUR), 1.0


def camera(stage: SceneSamples) -> tuple[np.ndarray, np.ndarray, bool]:
    """Where to look in every frame, how much to see [m] along x, y and z, and whether the eye stands
    still."""
    low, high = stage.extents
    if stage.com is not None and not stage.planar:
        low, high = np.minimum(low, stage.com), np.maximum(high, stage.com)
    machine = stage.size
    span = high.max(axis=0) - low.min(axis=0)
    if span.max() < STILL_CAMERA_SIZES * machine or span.max() < 1e-9:
        centre = np.repeat(((low.min(axis=0) + high.max(axis=0)) / 2)[None], len(stage.t), axis=0)
        return centre, 1.25 * np.maximum(span, 0.2 * machine), True
    if (
        stage.land is not None and machine < span[2] and span[0] < STILL_CAMERA_SIZES * span[2]
    ):  # a small thing that flies about
        centre = np.repeat(((low.min(axis=0) + high.max(axis=0)) / 2)[None], len(stage.t), axis=0)
        return centre, 1.25 * np.maximum(span, machine), True
    centre = (low + high) / 2
    step = (stage.t[-1] - stage.t[0]) / max(len(stage.t) - 1, 1)
    width = int(
        np.clip(round(1.0 / step) if step > 0 else 1, 1, max(1, len(stage.t) // 6))
    )  # a second: smooth over the change of feet
    ends = ((width // 2, width - 1 - width // 2), (0, 0))
    padded = np.pad(centre, ends, mode="reflect", reflect_type="odd")  # goes on as fast as it went
    smooth = np.column_stack([np.convolve(c, np.full(width, 1 / width), mode="valid") for c in padded.T])
    around = np.maximum(high - smooth, smooth - low)
    first = float((high - low)[0].max()) or machine

    def window(reach: np.ndarray, size: float) -> np.ndarray:
        return np.maximum(2.3 * reach, 1.5 * size * np.array([1.0, 1.0, 0.8]))

    whole = window(around.max(axis=0), machine)  # so that nothing leaves the picture
    return smooth, np.minimum(whole, MAX_FRAMED_GROWTH * window(around[0], first)), False


def newtons(stage: SceneSamples) -> float:
    """Return how long a newton is in the picture [m/N]: the usual force is a third of the machine, not the
    blow of a landing."""
    strength = (
        np.concatenate([np.linalg.norm(push.force, axis=1) for push in stage.pushes])
        if stage.pushes
        else np.empty(0)
    )
    strong = (
        strength[strength > 1e-6 * strength.max()] if strength.size and strength.max() > 0 else np.empty(0)
    )
    return 0.35 * stage.size / float(np.percentile(strong, 90)) if strong.size else 0.0


def tick(window: float) -> float:
    """Return a round distance [m], a few of which fit in the window."""
    power = 10.0 ** math.floor(math.log10(window / 3))
    return float(max(m for m in (1, 2, 5) if m * power <= window / 3) * power)
