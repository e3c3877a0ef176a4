"""Still pictures as SVG text: a frame of a run, and the strip of stick figures over a step that papers
print."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from strut.checks import checked, integer
from strut.errors import StorageError, ValueRangeError
from strut.files import put, write_whole
from strut.simulate.scene_samples import ScenePiece, SceneSamples
from strut.view.motion.flat import (
    GROUND,
    PATH,
    SOFT,
    Eye,
    FlatFigure,
    Look,
    eye,
    frame,
    ground_line,
    hull,
    outlines,
    window,
)
from strut.view.motion.frames import colour, require_frames
from strut.view.units import quantity

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory


@checked
def still(
    trajectory: Trajectory,
    path: str | Path,
    t: float | None = None,
    *,
    look: Look = Look(),
    width: int = 800,
    height: int = 500,
) -> Path:
    """The machine at time `t` [s], by default in the middle of the run, as .svg or .png. Returns where it
    is."""
    stage = require_frames(trajectory)
    moment = (stage.t[0] + stage.t[-1]) / 2 if t is None else t
    if not stage.t[0] - 1e-9 <= moment <= stage.t[-1] + 1e-9:
        raise ValueRangeError(
            f"asked for t = {moment:g} s, but the run covers {stage.t[0]:g} to {stage.t[-1]:g} s"
        )
    integer("width", width, 1)
    integer("height", height, 1)
    k = int(np.argmin(np.abs(stage.t - moment)))
    low, high = box = window(stage, k, width / height)
    figures = frame(stage, k, look, within=(float(low[0]), float(high[0])))
    return _written(
        path,
        figures,
        box,
        width,
        f"{trajectory.system_name} at {quantity(trajectory, f'{stage.t[k]:.4g}', 's')}",
    )


@dataclass(frozen=True, eq=False)
class Strip:
    """Stick figures over one step, from `begin` to `end` [s]: what to draw, and the corners of what is
    seen."""

    figures: list[FlatFigure]
    box: tuple[np.ndarray, np.ndarray]
    title: str
    begin: float
    end: float


@checked
def stick_figure(
    trajectory: Trajectory,
    path: str | Path,
    between: tuple[float, float] | None = None,
    poses: int = 9,
    width: int = 800,
) -> Path:
    """The strip over one step: `poses` stick figures between two times [s], by default from one footprint to
    the next, the last two of the run, as .svg or .png. The first and the last are drawn in full. Returns
    where it is."""
    drawn = strip(trajectory, between, poses)
    return _written(path, drawn.figures, drawn.box, width, drawn.title)


def strip(trajectory: Trajectory, between: tuple[float, float] | None = None, poses: int = 9) -> Strip:
    """What `stick_figure` draws."""
    stage = require_frames(trajectory, rate=240.0)
    begin, end = between or last_step(stage, trajectory)
    if not (stage.t[0] - 1e-9 <= begin < end <= stage.t[-1] + 1e-9) or poses < 2:
        raise ValueRangeError(
            f"a strip of {poses} poses from {begin:g} to {end:g} s cannot be drawn: "
            f"two poses or more within {stage.t[0]:g} to {stage.t[-1]:g} s are needed"
        )
    seen = eye(stage)
    chosen = [int(np.argmin(np.abs(stage.t - t))) for t in np.linspace(begin, end, poses)]
    sticks = [
        stick for n, k in enumerate(chosen) for stick in _sticks(stage, k, seen, heavy=n in (0, poses - 1))
    ]
    points = np.vstack([stick.points for stick in sticks])
    low, high = points.min(axis=0) - 0.08 * stage.size, points.max(axis=0) + 0.08 * stage.size
    if stage.com is not None:
        sticks.append(FlatFigure(seen(stage.com[chosen[0] : chosen[-1] + 1]), edge=PATH, width=1.5))
    if stage.land is not None and stage.planar:
        sticks = ground_line(stage, low[0], high[0]) + sticks
    title = f"{trajectory.system_name}, {begin:.4g} to {quantity(trajectory, f'{end:.4g}', 's')}"
    return Strip(sticks, (low, high), title, begin, end)


def inline(drawn: Strip, width: int = 640) -> str:
    """The strip as a part of a page, on the page's own paper and ground."""
    markup = text(drawn.figures, drawn.box, width, drawn.title, paper="").replace(
        ' xmlns="http://www.w3.org/2000/svg"', "", 1
    )
    for own, shared in ((GROUND, "--ground"), (SOFT, "--soft")):
        markup = markup.replace(f'"{own}"', f'"var({shared})"')
    return f'<div class="strip">{markup}</div>\n'


def last_step(stage: SceneSamples, trajectory: Trajectory) -> tuple[float, float]:
    """Find the last step, from one footprint to the next; without any, from one event to the next of its
    kind; or else the whole run."""
    times = np.unique(stage.prints[:, 0])
    if len(times) < 2:
        counts = trajectory.events.counts()
        times = trajectory.events.times(max(counts, key=lambda name: counts[name])) if counts else times
    if len(times) < 2:
        return float(stage.t[0]), float(stage.t[-1])
    return float(times[-2]), float(
        stage.t[min(int(np.searchsorted(stage.t, times[-1] - 1e-9)), len(stage.t) - 1)]
    )


def _sticks(stage: SceneSamples, k: int, seen: Eye, heavy: bool) -> Iterable[FlatFigure]:
    opacity, width = (1.0, 2.5) if heavy else (0.45, 1.2)
    for piece in stage.pieces:
        if piece.kind == "sphere" and not heavy:
            continue  # in every pose they would hide the sticks
        shade, _ = colour(piece)
        points = _stick(piece, k, seen)
        closed = piece.kind not in ("capsule", "cylinder", "arc")
        yield FlatFigure(
            np.vstack([points, points[:1]]) if closed else points, edge=shade, width=width, opacity=opacity
        )


def _stick(piece: ScenePiece, k: int, seen: Eye) -> np.ndarray:
    """The line that stands for a piece: its axis, or its outline."""
    v = piece.values
    if "start" in v:
        return seen(np.vstack([v["start"][k], v["end"][k]]))
    lines = [points for points, _ in outlines(piece, k, seen)]
    return lines[0][: len(lines[0]) // 2] if piece.kind == "arc" else hull(np.vstack(lines))


def text(
    figures: Iterable[FlatFigure],
    box: tuple[np.ndarray, np.ndarray],
    width: int = 800,
    title: str = "",
    paper: str = "#ffffff",
) -> str:
    """SVG of figures, of what lies in `box`, on `paper` of a colour or on none."""
    low, high = box
    scale = width / float(high[0] - low[0])
    height = round(float(high[1] - low[1]) * scale)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
        f'{height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        *([f'<rect width="{width}" height="{height}" fill="{paper}"/>'] if paper else []),
    ]
    for f in figures:
        places = np.column_stack([f.points[:, 0] - low[0], high[1] - f.points[:, 1]]) * scale
        at = " ".join(f"{u:.2f},{v:.2f}" for u, v in np.clip(places, -1e5, 1e5))
        edge = (
            f' stroke="{f.edge}" stroke-width="{f.width:g}" stroke-linejoin="round" stroke-linecap="round"'
            if f.edge
            else ""
        )
        dash = ' stroke-dasharray="4 4"' if f.dashed else ""
        fade = f' opacity="{f.opacity:g}"' if f.opacity < 1 else ""
        lines.append(
            f'<{"polygon" if f.fill else "polyline"} points="{at}" '
            f'fill="{f.fill or "none"}"{edge}{dash}{fade}/>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _written(
    path: str | Path, figures: list[FlatFigure], box: tuple[np.ndarray, np.ndarray], width: int, title: str
) -> Path:
    place = Path(path)
    kind = place.suffix.lower()
    if kind == ".svg":
        return put(place, text(figures, box, width, title))
    if kind == ".png":
        from strut.view.motion import raster

        image = raster.picture(figures, box, width)
        return write_whole(place, lambda scratch: image.save(scratch, format="PNG"))
    raise StorageError(f"cannot tell what to draw from '{place.name}': use .svg or .png")
