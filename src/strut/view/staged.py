"""What every picture of a run begins with: its scene by frames, colours, and where to look.

A system without a scene is drawn by its points, the outputs NAME_x and NAME_z, joined in their order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from strut.errors import StrutError
from strut.simulate.staged import Piece, Stage, frame_times
from strut.view.plots import PALETTE, planar_points

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

RATE = 60.0
"""Frames per second of a film in the browser."""
NEAR = 3.0
"""A motion that stays within so many sizes of the machine is seen as a whole; one that goes further is followed."""
BODY = "#6B7480"
SHADES = {"left": PALETTE[1], "right": PALETTE[0], "stance": PALETTE[0], "swing": PALETTE[4]}
"""By what a name says; what it does not say is drawn in `BODY`."""


def staged(trajectory: Trajectory, rate: float = RATE) -> Stage | None:
    """The frames of a run, or nothing where nothing can be seen."""
    return trajectory.stage(rate) or _points(trajectory, rate)


def needed(trajectory: Trajectory, rate: float = RATE) -> Stage:
    """The frames of a run that must have some."""
    found = staged(trajectory, rate)
    if found is not None:
        return found
    points = planar_points(trajectory.names.outputs)
    if trajectory.model is None and points:
        raise StrutError(f"'{trajectory.system_name}' was loaded without its system: give it, Trajectory.load(file, system=...)")
    raise StrutError(
        f"there is nothing to see of '{trajectory.system_name}': give its System a scene, or outputs called NAME_x and NAME_z for its points"
    )


def _points(trajectory: Trajectory, rate: float) -> Stage | None:
    names = planar_points(trajectory.names.outputs)
    if not names or trajectory.model is None:
        return None
    t = frame_times(trajectory.t0, trajectory.t1, rate)
    moments = trajectory.at(t)
    places = {name: np.column_stack([moments[x], np.zeros(len(t)), moments[z]]) for name, (x, z) in names.items()}
    whole = np.isfinite(np.hstack(list(places.values()))).all(axis=1)
    t, places = t[whole], {name: place[whole] for name, place in places.items()}
    if not len(t):
        return None
    stack = np.array(list(places.values()))
    size = float(np.ptp(stack, axis=0).max()) or 0.2 * float(np.ptp(stack, axis=(0, 1)).max()) or 1.0
    thin, thick = (np.full((len(t), 1), factor * size) for factor in (0.012, 0.03))
    ends = list(places.items())
    rods = [Piece(f"{a}-{b}", "capsule", {"start": p, "end": q, "radius": thin}) for (a, p), (b, q) in zip(ends, ends[1:], strict=False)]
    balls = [Piece(name, "sphere", {"at": place, "radius": thick}) for name, place in ends]
    cuts = np.unique(np.searchsorted(t, trajectory.events.t, side="left"))
    return Stage(t, (*rods, *balls), cuts=cuts[(cuts > 0) & (cuts < len(t))])


def colour(piece: Piece) -> tuple[str, float]:
    """Of a piece: '#rrggbb' and opacity. Its own, or one for the side its name tells."""
    if piece.colour is not None:
        return "#" + "".join(f"{round(255 * v):02x}" for v in piece.colour[:3]), float(piece.colour[3])
    name = piece.name.split(".")[-1].lower()
    words = name.split("_")
    side = "left" if "l" in words or "left" in words else "right" if "r" in words or "right" in words else words[0]
    return SHADES.get(side, BODY), 1.0


def camera(stage: Stage) -> tuple[np.ndarray, np.ndarray, bool]:
    """Where to look in every frame, how much to see [m] along x, y and z, and whether the eye stands still."""
    low, high = stage.extents
    if stage.com is not None and not stage.planar:
        low, high = np.minimum(low, stage.com), np.maximum(high, stage.com)
    machine = stage.size
    span = high.max(axis=0) - low.min(axis=0)
    if span.max() < NEAR * machine or span.max() < 1e-9:
        centre = np.repeat(((low.min(axis=0) + high.max(axis=0)) / 2)[None], len(stage.t), axis=0)
        return centre, 1.25 * np.maximum(span, 0.2 * machine), True
    if machine < span[2] and span[0] < NEAR * span[2]:  # a small thing that flies about
        centre = np.repeat(((low.min(axis=0) + high.max(axis=0)) / 2)[None], len(stage.t), axis=0)
        return centre, 1.25 * np.maximum(span, machine), True
    centre = (low + high) / 2
    step = (stage.t[-1] - stage.t[0]) / max(len(stage.t) - 1, 1)
    width = int(np.clip(round(1.0 / step) if step > 0 else 1, 1, len(stage.t)))  # a second: smooth over the change of feet
    padded = np.pad(centre, ((width // 2, width - 1 - width // 2), (0, 0)), mode="edge")
    smooth = np.column_stack([np.convolve(c, np.full(width, 1 / width), mode="valid") for c in padded.T])
    around = np.maximum(high - smooth, smooth - low).max(axis=0)  # so that nothing leaves the picture
    return smooth, np.maximum(2.3 * around, 1.5 * machine * np.array([1.0, 1.0, 0.8])), False


def newtons(stage: Stage) -> float:
    """Metres that a newton is long in the picture: the usual force is a third of the machine, not the blow of a landing."""
    strength = np.concatenate([np.linalg.norm(push.force, axis=1) for push in stage.pushes]) if stage.pushes else np.empty(0)
    strong = strength[strength > 1e-6 * strength.max()] if strength.size and strength.max() > 0 else np.empty(0)
    return 0.35 * stage.size / float(np.percentile(strong, 90)) if strong.size else 0.0


def tick(window: float) -> float:
    """A round distance, a few of which fit in the window."""
    power = 10.0 ** math.floor(math.log10(window / 2))
    return float(max(m for m in (1, 2, 5) if m * power <= window / 2) * power)
