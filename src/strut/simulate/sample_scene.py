"""`sample_scene`: evaluates the scene of a run frame by frame, finds its footprints and lays its ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.simulate.scene_samples import (
    FRAME_RATE,
    MAX_FRAMES,
    Land,
    Pivot,
    Push,
    ScenePiece,
    SceneSamples,
    frame_times,
)
from strut.simulate.trajectory import Trajectory
from strut.system import Floor, Hinge, System, time

FRAMES_AT_ONCE = 512
"""Frames evaluated in one call."""
GROUND_MARGIN = 12.0
"""How far the ground goes on beyond the motion, in sizes of the machine."""
UNEVEN_GROUND_MARGIN = 5.0
"""How far ground that is not the same along y goes on beyond the motion, in sizes of the machine."""
PRINT_DISTANCE = 0.02
"""Distance below which two prints of a foot are one, in sizes of the machine."""
STRIDE_DISTANCE = 0.1
"""Distance by which a foot stands elsewhere than a frame ago, in sizes of the machine."""
STILL_DISTANCE = 1e-6
"""Distance from frame to frame up to which a foot stays where it is, in sizes of the machine."""
MIN_PUSH = 1e-6
"""Smallest force of the ground that counts, as a fraction of the largest."""
POINTS_ACROSS = 81
"""Points of uneven ground along y."""
POINTS_ALONG = 401
"""Points of the ground along x, before those that straight lines make needless are left out."""
RISER_SLOPE = 0.2
"""Difference of the slopes on both sides of a point above which a step of the ground is looked for."""
CORNER_SLOPE = 1e-7
"""Difference of the slopes on both sides of a point, relative to 1 + the slope, above which it is a
corner."""
SAME_PLACE = 1e-9
"""Distance [m] below which two joints are one."""


def sample_scene(run: Trajectory, rate: float = FRAME_RATE, most: int = MAX_FRAMES) -> SceneSamples | None:
    """The scene of a run, `rate` frames a second; what its file keeps of it, for a loaded one. Nothing where
    nothing is to be seen."""
    if run.system is None:
        return run.stored_scene
    scene = run.system.scene
    if not scene.parts:
        return None
    t = frame_times(run.t0, run.t1, rate, most)
    columns = _sample_columns(run, run.system, t)
    whole = np.all([np.isfinite(v).all(axis=1) for v in columns.values()], axis=0)
    if not whole.any():
        return None
    t, columns = t[whole], {name: v[whole] for name, v in columns.items()}
    pieces = tuple(
        ScenePiece(
            part.name,
            part.kind,
            {n: columns[f"{part.name}/{k}/{n}"] for n in part.values},
            part.colour,
            part.path,
            part.side,
        )
        for k, part in enumerate(scene.parts)
    )
    pushes = tuple(
        Push(a.name, columns[f"{a.name}>{k}>at"], columns[f"{a.name}>{k}>force"])
        for k, a in enumerate(scene.arrows)
    )
    cuts = np.unique(np.searchsorted(t, run.events.t, side="left"))
    inner_cuts = cuts[(cuts > 0) & (cuts < len(t))]
    moving = SceneSamples(t=t, pieces=pieces, pushes=pushes, planar=scene.planar, cuts=inner_cuts)
    # footprints and ground depend on what moves, and how large it is
    feet = _pushed_places(moving) or [
        (place, _stands_still(place, moving.size))
        for place in (columns[f"{name}!foot"] for name in scene.feet)
    ]
    prints_by_foot = [_prints(t, place, on, moving.size) for place, on in feet]
    prints = np.concatenate(prints_by_foot) if prints_by_foot else moving.prints
    return replace(
        moving,
        land=None if scene.floor is None else _land(run, run.system, scene.floor, moving),
        com=columns.get("com!"),
        prints=prints[np.argsort(prints[:, 0], kind="stable")],
        pivots=_pivots(scene.hinges, columns),
        swaps=dict(scene.swaps),
    )


def _sample_columns(run: Trajectory, system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Every column of the scene by name, frame by number."""
    columns = {name: ca.densify(ca.vec(e)) for name, e in system.scene.columns().items()}
    f = system.function("scene", [ca.vertcat(*columns.values())])
    nx = len(run.names.x)
    rows = []
    for k in range(0, len(t), FRAMES_AT_ONCE):
        times = t[k : k + FRAMES_AT_ONCE]
        x, z, u = run._states(times)
        p = np.repeat(run.p[:, None], len(times), axis=1)
        rows.append(
            np.array(f.map(len(times))(times[None, :], _columns(x[:, :nx]), _columns(z), _columns(u), p)).T
        )
    widths = [e.numel() for e in columns.values()]
    return dict(zip(columns, np.split(np.concatenate(rows), np.cumsum(widths)[:-1], axis=1), strict=True))


def _pivots(hinges: tuple[Hinge, ...], columns: Mapping[str, np.ndarray]) -> tuple[Pivot, ...]:
    """The joints, each place once: where a body without mass counts angles for another, two are one."""
    pivots: list[Pivot] = []
    for k, h in enumerate(hinges):
        new = Pivot(h.name, h.kind, columns[f"{h.name}@{k}@at"], columns[f"{h.name}@{k}@axis"])
        same = any(
            np.allclose(new.at, o.at, atol=SAME_PLACE)
            and np.allclose(np.abs(new.axis), np.abs(o.axis), atol=SAME_PLACE)
            for o in pivots
        )
        if not same:
            pivots.append(new)
    return tuple(pivots)


def _columns(rows: np.ndarray) -> ca.DM:
    """Rows as columns, also where there are none."""
    return ca.DM(rows.T) if rows.size else ca.DM(rows.shape[1], rows.shape[0])


# ---- footprints ----


def _pushed_places(scene: SceneSamples) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places that the ground may push, and when it does, by frame."""
    strength = [np.linalg.norm(push.force, axis=1) for push in scene.pushes]
    most = max((float(s.max()) for s in strength), default=0.0)
    return [(push.at, s > MIN_PUSH * most) for push, s in zip(scene.pushes, strength, strict=True)]


def _stands_still(place: np.ndarray, size: float) -> np.ndarray:
    """When a foot of which no force is known stands, by frame: while it stays where it is."""
    moved = np.linalg.norm(np.diff(place, axis=0), axis=1) > STILL_DISTANCE * size
    return ~np.append(moved, moved[-1:]) if len(place) > 1 else np.ones(len(place), dtype=bool)


def _prints(t: np.ndarray, place: np.ndarray, on: np.ndarray, size: float) -> np.ndarray:
    """Where a foot begins to stand: on the ground now and not before, or elsewhere than a frame ago."""
    prints: list[np.ndarray] = []
    for k in np.flatnonzero(on):
        began = k == 0 or not on[k - 1] or np.linalg.norm(place[k] - place[k - 1]) > STRIDE_DISTANCE * size
        if began and (not prints or np.linalg.norm(place[k] - prints[-1][1:]) > PRINT_DISTANCE * size):
            prints.append(np.append(t[k], place[k]))
    return np.array(prints).reshape(-1, 4)


# ---- ground ----


def _land(run: Trajectory, system: System, floor: Floor, scene: SceneSamples) -> Land:
    """The ground under the motion and some way beyond, as it is when the run begins."""
    x0, z0, u0 = run._states(scene.t[:1])
    values = [scene.t[0], x0[0, : len(run.names.x)], z0[0], u0[0], run.p]
    f = ca.Function("floor", [floor.x, floor.y, time, *system.vectors()], [floor.height])

    def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fixed = [np.repeat(np.reshape(v, (-1, 1)), len(x), axis=1) for v in values]
        return np.array(f.map(len(x))(x[None, :], y[None, :], *fixed)).reshape(-1)

    low, high = scene.extents[0].min(axis=0), scene.extents[1].max(axis=0)
    size = max(scene.size, float(high[2] - low[2]))
    low, high = low - GROUND_MARGIN * size, high + GROUND_MARGIN * size
    x = np.linspace(low[0], high[0], POINTS_ALONG)
    if ca.depends_on(floor.height, floor.y):
        excess = (GROUND_MARGIN - UNEVEN_GROUND_MARGIN) * size
        low, high = low + excess, high - excess
        x, y = np.linspace(low[0], high[0], POINTS_ALONG), np.linspace(low[1], high[1], POINTS_ACROSS)
        return Land(x, y, np.array([height(x, np.full(len(x), v)) for v in y]))
    x = _with_edges(x, lambda v: height(v, np.zeros(len(v))))
    h = height(x, np.zeros(len(x)))
    corners = _corners(x, h)
    y = np.array([low[1], high[1]])
    return Land(x[corners], y, np.repeat(h[None, corners], 2, axis=0))


def _with_edges(x: np.ndarray, height: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Places `x` with both sides of every step of the ground added, found by bisection."""
    h = height(x)
    slopes = np.diff(h) / np.diff(x)
    turns = np.abs(np.diff(slopes)) > RISER_SLOPE
    steep = np.flatnonzero(np.append(turns, False) | np.append(False, turns))
    a, b = x[steep], x[steep + 1]
    if not len(steep):
        return x
    ha, hb = h[steep], h[steep + 1]
    tall = np.abs(hb - ha)
    for _ in range(40):
        middle = (a + b) / 2
        hm = height(middle)
        left = np.abs(hm - ha) > np.abs(hb - hm)
        a, ha = np.where(left, a, middle), np.where(left, ha, hm)
        b, hb = np.where(left, middle, b), np.where(left, hm, hb)
    jumps = (np.abs(hb - ha) > 0.5 * tall) & (tall > 0)  # within next to nothing: no steep place, but a step
    return np.unique(np.concatenate([x, a[jumps], b[jumps]]))


def _corners(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Which points of a line are needed: its ends, and where it turns."""
    slopes = np.diff(h) / np.diff(x)
    turns = np.abs(np.diff(slopes)) > CORNER_SLOPE * (1 + np.abs(slopes[1:]))
    return np.concatenate([[True], turns, [True]])
