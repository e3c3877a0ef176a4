"""`sample_scene`: evaluates the scene of a run frame by frame, finds its footprints and lays its ground."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from strut.simulate.scene_samples import (
    MOST_FRAMES,
    RATE,
    Land,
    Pivot,
    Push,
    ScenePiece,
    SceneSamples,
    frame_times,
)
from strut.simulate.trajectory import Trajectory
from strut.system import Floor, Hinge, System, time

CHUNK = 512
"""Frames evaluated at once."""
AHEAD = 12.0
"""How far the ground goes on beyond the motion, in sizes of the machine."""
UNEVEN = 5.0
"""The same, of ground that is not the same along y."""
NEAR = 0.02
"""Of the machine's size: prints of a foot closer than this are one."""
ACROSS = 81
"""Points of uneven ground along y."""
ALONG = 401
"""Points along x, before those that straight lines make needless are left out."""
RISER = 0.2
"""Where the slope between neighbouring points differs from that beside it by more than this, a step is looked
for."""


def sample_scene(run: Trajectory, rate: float = RATE, most: int = MOST_FRAMES) -> SceneSamples | None:
    """The scene of a run, `rate` frames a second; what its file keeps of it, for a loaded one. Nothing where
    nothing is to be seen."""
    if run.system is None:
        return run.kept_stage
    scene = run.system.scene
    if not scene.parts:
        return None
    t = frame_times(run.t0, run.t1, rate, most)
    columns = _sampled(run, run.system, t)
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
        )
        for k, part in enumerate(scene.parts)
    )
    pushes = tuple(
        Push(a.name, columns[f"{a.name}>{k}>at"], columns[f"{a.name}>{k}>force"])
        for k, a in enumerate(scene.arrows)
    )
    cuts = np.unique(np.searchsorted(t, run.events.t, side="left"))
    made = SceneSamples(t, pieces, pushes, None, scene.planar, cuts[(cuts > 0) & (cuts < len(t))])
    feet = _feet(made) or [
        (place, _still(place, made.size)) for place in (columns[f"{name}!foot"] for name in scene.feet)
    ]
    found = [_prints(t, place, on, made.size) for place, on in feet]
    prints = np.concatenate(found) if found else made.prints
    land = None if scene.floor is None else _land(run, run.system, scene.floor, made)
    prints = prints[np.argsort(prints[:, 0], kind="stable")]
    return SceneSamples(
        t,
        pieces,
        pushes,
        land,
        scene.planar,
        made.cuts,
        columns.get("com!"),
        prints,
        _pivots(scene.hinges, columns),
    )


def _sampled(run: Trajectory, system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Every column of the scene, frame by number."""
    found = {name: ca.densify(ca.vec(e)) for name, e in system.scene.columns().items()}
    f = system.function("scene", [ca.vertcat(*found.values())])
    nx = len(run.names.x)
    rows = []
    for k in range(0, len(t), CHUNK):
        times = t[k : k + CHUNK]
        x, z, u = run._states(times)
        p = np.repeat(run.p[:, None], len(times), axis=1)
        rows.append(
            np.array(f.map(len(times))(times[None, :], _columns(x[:, :nx]), _columns(z), _columns(u), p)).T
        )
    widths = [e.numel() for e in found.values()]
    return dict(zip(found, np.split(np.concatenate(rows), np.cumsum(widths)[:-1], axis=1), strict=True))


def _pivots(hinges: tuple[Hinge, ...], columns: Mapping[str, np.ndarray]) -> tuple[Pivot, ...]:
    """The joints, each place once: where a body without mass counts angles for another, two are one."""
    found: list[Pivot] = []
    for k, h in enumerate(hinges):
        new = Pivot(h.name, h.kind, columns[f"{h.name}@{k}@at"], columns[f"{h.name}@{k}@axis"])
        same = any(
            np.allclose(new.at, o.at, atol=1e-9) and np.allclose(np.abs(new.axis), np.abs(o.axis), atol=1e-9)
            for o in found
        )
        if not same:
            found.append(new)
    return tuple(found)


def _arguments(system: System) -> list[ca.SX]:
    return [time, *system.vectors()]


def _columns(rows: np.ndarray) -> ca.DM:
    return ca.DM(rows.T) if rows.size else ca.DM(rows.shape[1], rows.shape[0])


# ---- footprints ----


def _feet(made: SceneSamples) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places that the ground may push, and when it does."""
    strength = [np.linalg.norm(push.force, axis=1) for push in made.pushes]
    most = max((float(s.max()) for s in strength), default=0.0)
    return [(push.at, s > 1e-6 * most) for push, s in zip(made.pushes, strength, strict=True)]


def _still(place: np.ndarray, size: float) -> np.ndarray:
    """When a foot of which no force is known stands: while it stays where it is."""
    moved = np.linalg.norm(np.diff(place, axis=0), axis=1) > 1e-6 * size
    return ~np.append(moved, moved[-1:]) if len(place) > 1 else np.ones(len(place), dtype=bool)


def _prints(t: np.ndarray, place: np.ndarray, on: np.ndarray, size: float) -> np.ndarray:
    """Where a foot begins to stand: on the ground now and not before, or elsewhere than a frame ago."""
    found: list[np.ndarray] = []
    for k in np.flatnonzero(on):
        began = k == 0 or not on[k - 1] or np.linalg.norm(place[k] - place[k - 1]) > 0.1 * size
        if began and (not found or np.linalg.norm(place[k] - found[-1][1:]) > NEAR * size):
            found.append(np.append(t[k], place[k]))
    return np.array(found).reshape(-1, 4)


# ---- ground ----


def _land(run: Trajectory, system: System, floor: Floor, made: SceneSamples) -> Land:
    """The ground under the motion and some way beyond, as it is when the run begins."""
    x0, z0, u0 = run._states(made.t[:1])
    values = [made.t[0], x0[0, : len(run.names.x)], z0[0], u0[0], run.p]
    f = ca.Function("floor", [floor.x, floor.y, *_arguments(system)], [floor.height])

    def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fixed = [np.repeat(np.reshape(v, (-1, 1)), len(x), axis=1) for v in values]
        return np.array(f.map(len(x))(x[None, :], y[None, :], *fixed)).reshape(-1)

    low, high = made.extents[0].min(axis=0), made.extents[1].max(axis=0)
    size = max(made.size, float(high[2] - low[2]))
    low, high = low - AHEAD * size, high + AHEAD * size
    x = np.linspace(low[0], high[0], ALONG)
    if ca.depends_on(floor.height, floor.y):
        low, high = low + (AHEAD - UNEVEN) * size, high - (AHEAD - UNEVEN) * size
        x, y = np.linspace(low[0], high[0], ALONG), np.linspace(low[1], high[1], ACROSS)
        return Land(x, y, np.array([height(x, np.full(len(x), v)) for v in y]))
    x = _with_edges(x, lambda v: height(v, np.zeros(len(v))))
    h = height(x, np.zeros(len(x)))
    kept = _corners(x, h)
    y = np.array([low[1], high[1]])
    return Land(x[kept], y, np.repeat(h[None, kept], 2, axis=0))


def _with_edges(x: np.ndarray, height: object) -> np.ndarray:
    """`x` with both sides of every step added."""
    assert callable(height)
    h = height(x)
    slopes = np.diff(h) / np.diff(x)
    turns = np.abs(np.diff(slopes)) > RISER
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
    turns = np.abs(np.diff(slopes)) > 1e-7 * (1 + np.abs(slopes[1:]))
    return np.concatenate([[True], turns, [True]])
