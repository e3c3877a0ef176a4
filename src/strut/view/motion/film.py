"""The frames of a run as data for the players in a browser: JSON, with what moves as whole changes in
base64."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.errors import StorageError
from strut.html import safe
from strut.view.motion.flat import across
from strut.view.motion.frames import camera, colour, newtons, sample_frames, tick
from strut.view.motion.meshes import Loaded, load

if TYPE_CHECKING:
    from strut.simulate.scene_samples import SceneSamples
    from strut.simulate.trajectory import Trajectory

SIDE_SIGNS = {"left": 1, "right": -1, "": 0}
"""By side, the direction along y in which the player moves the pieces of a planar machine apart."""


PAGE_FRAME_RATE = 30.0
"""[1/s] Frames of a film in a page, between which the player interpolates: more would be most of the page."""
FILM_LEVELS = 32_000
"""Levels into which what a film draws is divided, over the range in which it moves: on ten metres 0.3 mm."""
MAX_NAMED_PIECES = 8
"""Pieces of a machine that the text of its film names."""


def film(trajectory: Trajectory) -> dict[str, Any] | None:
    """Return a run as data for the player; None for one of which nothing can be seen."""
    stage = sample_frames(trajectory, PAGE_FRAME_RATE)
    return None if stage is None else encode_film(stage, trajectory.dimensionless)


def encode_film(stage: SceneSamples, dimensionless: bool = False) -> dict[str, Any]:
    """Return frames as data for JSON. dimensionless: without units at its clock and its ground."""
    centre, window, still = camera(stage)
    meshes: dict[str, Loaded] = {
        path: load(path) for path in dict.fromkeys(p.path for p in stage.pieces if p.kind == "mesh")
    }
    places = {path: k for k, path in enumerate(meshes)}
    pieces = []
    for piece in stage.pieces:
        shade, opacity = colour(piece)
        entry = {
            "name": piece.name,
            "kind": piece.kind,
            "colour": shade,
            "opacity": opacity,
            "side": SIDE_SIGNS[piece.side],
        }
        entry |= {"values": {name: column(values) for name, values in piece.values.items()}}
        pieces.append(entry | ({"mesh": places[piece.path]} if piece.kind == "mesh" else {}))
    land = stage.land
    return {
        "t": exact_column(stage.t[:, None]),
        "units": {"time": "", "length": ""} if dimensionless else {"time": " s", "length": " m"},
        "cuts": stage.cuts.tolist(),
        "planar": stage.planar,
        "size": stage.size,
        "pieces": pieces,
        "pushes": [{"name": p.name, "at": column(p.at), "force": column(p.force)} for p in stage.pushes],
        "pivots": [{"kind": p.kind, "at": column(p.at), "axis": column(p.axis)} for p in stage.pivots],
        "newton": newtons(stage),
        "land": None
        if land is None
        else {n: column(getattr(land, n).reshape(-1, 1)) for n in ("x", "y", "height")},
        "com": None if stage.com is None else column(stage.com),
        "prints": np.round(stage.prints, 5).tolist(),
        "centre": column(centre),
        "window": np.round(window, 6).tolist(),
        "flat": np.round(across(stage), 6).tolist(),
        "still": still,
        "tick": tick(float(window.max())),
        "meshes": [
            {
                "vertices": exact_column(m.vertices),
                "faces": m.faces.reshape(-1).tolist(),
                "standIn": bool(m.note),
            }
            for m in meshes.values()
        ],
        "notes": [m.note for m in meshes.values() if m.note],
        "alt": _describe(stage),
    }


def check_film(data: Any) -> None:
    """Raise StorageError for what is no film, as one of a file may be."""
    keys = {"t", "cuts", "units", "planar", "size", "pieces", "pushes", "pivots", "com", "prints", "alt"}
    keys |= {"newton", "land", "centre", "window", "flat", "still", "tick", "meshes", "notes"}
    if not isinstance(data, dict) or not keys <= set(data) or not isinstance(data["t"].get("count"), int):
        raise StorageError("it is damaged: one of its films lacks a part")


def _describe(stage: SceneSamples) -> str:
    """What a film shows, in words, made of its data."""
    begin, end = float(stage.t[0]), float(stage.t[-1])
    names = list(dict.fromkeys(piece.name for piece in stage.pieces if piece.name))
    parts = ", ".join(names[:MAX_NAMED_PIECES]) + (", ..." if len(names) > MAX_NAMED_PIECES else "")
    moved = ""
    if stage.com is not None:
        x, z = (float(stage.com[-1, k] - stage.com[0, k]) for k in (0, 2))
        moved = f"; the centre of mass goes {x:.3g} along x and {z:.3g} up"
    feet = f"; {len(stage.prints)} footprints" if len(stage.prints) else ""
    return f"the machine in motion from {begin:.3g} to {end:.4g}: {parts or 'points'}{moved}{feet}"


def column(values: np.ndarray) -> dict[str, Any]:
    """Rows of numbers, none of which is rounded visibly: 'still' if all are the same, or else 'changes' from
    row to row, whole multiples of 'unit', in base64: a column after the other, all low bytes before all
    high ones, as that is what compresses best."""
    exact = np.ascontiguousarray(values, dtype=float)
    if len(exact) and (exact == exact[0]).all():
        return {"width": exact.shape[1], "count": len(exact), "still": _short(exact[0])}
    unit = float(np.ptp(exact, axis=0).max()) / FILM_LEVELS
    steps = np.rint((exact - exact[0]) / unit).astype(np.int64)
    changes = np.diff(steps, axis=0).T.astype("<i2")
    planes = changes.reshape(-1).view(np.uint8).reshape(-1, 2).T
    return {
        "width": exact.shape[1],
        "count": len(exact),
        "unit": unit,
        "first": _short(exact[0]),
        "changes": base64.b64encode(planes.tobytes()).decode("ascii"),
    }


def exact_column(values: np.ndarray) -> dict[str, Any]:
    """Rows of numbers in single precision: 'still' if all are the same, or else 'rows' in base64,
    little-endian."""
    short = np.ascontiguousarray(values, dtype="<f4")
    if len(short) and (short == short[0]).all():
        return {"width": short.shape[1], "count": len(short), "still": _short(short[0])}
    return {
        "width": short.shape[1],
        "count": len(short),
        "rows": base64.b64encode(short.tobytes()).decode("ascii"),
    }


def _short(numbers: np.ndarray) -> list[float]:
    """Numbers with the digits of single precision."""
    return [float(f"{v:.7g}") for v in numbers]


def rows(encoded_column: dict[str, Any]) -> np.ndarray:
    """The numbers of a `column` or an `exact_column` again."""
    width, count = encoded_column["width"], encoded_column["count"]
    if "still" in encoded_column:
        return np.repeat([encoded_column["still"]], count, axis=0)
    if "changes" in encoded_column:
        planes = np.frombuffer(base64.b64decode(encoded_column["changes"]), dtype=np.uint8).reshape(2, -1)
        changes = np.ascontiguousarray(planes.T).view("<i2").reshape(width, count - 1).astype(np.int64)
        steps = np.concatenate([np.zeros((1, width)), np.cumsum(changes, axis=1).T])
        return np.asarray(encoded_column["first"] + encoded_column["unit"] * steps)
    return np.frombuffer(base64.b64decode(encoded_column["rows"]), dtype="<f4").reshape(count, width)


SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4)
"""Speeds that a viewer can choose, relative to that of the run."""


def film_controls(film: Mapping[str, Any], more: str = "", prefix: str = "", *, turns: bool = True) -> str:
    """Return the HTML of a film's screen and of the controls below it. more: HTML of further controls.
    prefix: what their ids begin with, where a page has several films. turns: whether a switch lets one turn
    what is drawn flat."""
    speeds = "".join(f'<option value="{v}"{" selected" if v == 1 else ""}>{v:g}×</option>' for v in SPEEDS)
    moves = film["t"]["count"] > 1
    boxes = [
        ("forces", "forces", bool(film["pushes"]), True),
        ("path", "centre of mass", film["com"] is not None, True),
    ]
    boxes += [("joints", "joints", bool(film["pivots"]), True)]
    boxes += [("prints", "footprints", bool(film["prints"]), True), ("ghosts", "ghosts", moves, False)]
    boxes += [("space", "in space: drag turns it", turns, False)]
    switches = "".join(
        f'<label><input type="checkbox" id="{prefix}show-{key}"{" checked" if on else ""}>{label}</label>\n'
        for key, label, there, on in boxes
        if there
    )
    keys = "space plays, arrow keys step" + (", with shift they turn it" if turns else "")
    return f"""<div class="player" id="{prefix}player" tabindex="0" role="group" aria-label="player: {keys}">
<canvas id="{prefix}screen" role="img" aria-label="{safe(film["alt"])}"></canvas>
<div class="controls"><button id="{prefix}play" type="button">Play</button>
<input id="{prefix}frame" type="range" min="0" value="0" aria-label="time">
<output id="{prefix}clock"></output></div>
<div class="controls"><label>speed <select id="{prefix}speed">{speeds}</select></label>
{more}{switches}</div>
</div>
"""


FILMS = ("time.js", "film.js", "flat.js", "films.js")
"""Scripts that play all films of a page that stand side by side, flat."""
PLAYER = ("time.js", "film.js", "flat.js", "page_film.js")
"""Scripts that play the film of a page, flat."""
