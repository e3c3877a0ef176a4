"""A sampled scene in HDF5: one table of single-precision columns, and a layout that says what they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.simulate.scene_samples import Land, Pivot, Push, ScenePiece, SceneSamples
from strut.simulate.storage_check import check_stage
from strut.system import HINGES, KINDS, SIDES

if TYPE_CHECKING:
    import h5py

STORED_RATE = 30.0
"""Frames kept in a file, per second [1/s]."""
MAX_STORED_FRAMES = 1800
"""Most frames kept in a file: a longer run keeps fewer per second."""


def write(group: h5py.Group, stage: SceneSamples) -> None:
    """Write a sampled scene into a group of an HDF5 file."""
    columns: list[np.ndarray] = []
    pieces = [
        {
            "name": p.name,
            "kind": p.kind,
            "colour": p.colour,
            "path": p.path,
            "side": p.side,
            "columns": {n: v.shape[1] for n, v in p.values.items()},
        }
        for p in stage.pieces
    ]
    for piece in stage.pieces:
        columns += piece.values.values()
    for push in stage.pushes:
        columns += [push.at, push.force]
    if stage.com is not None:
        columns.append(stage.com)
    for pivot in stage.pivots:
        columns += [pivot.at, pivot.axis]
    group["t"] = stage.t
    group.create_dataset(
        "columns", data=np.hstack(columns).astype(np.float32), compression="gzip", shuffle=True
    )
    layout: dict[str, Any] = {
        "pieces": pieces,
        "pushes": [p.name for p in stage.pushes],
        "com": stage.com is not None,
        "planar": stage.planar,
        "swaps": dict(stage.swaps),
    }
    layout["pivots"] = [{"name": p.name, "kind": p.kind} for p in stage.pivots]
    group.attrs["layout"] = json.dumps(layout)
    group["cuts"], group["prints"] = stage.cuts, stage.prints
    if stage.land is not None:
        for name in ("x", "y", "height"):
            group[f"land/{name}"] = getattr(stage.land, name)


def read(group: h5py.Group) -> SceneSamples:
    """Read a sampled scene from a group of an HDF5 file. Raises ValueError for one that contradicts
    itself."""
    layout: dict[str, Any] = json.loads(group.attrs["layout"])
    table, at = group["columns"][()].astype(float), 0

    def take(width: int) -> np.ndarray:
        nonlocal at
        if at + width > table.shape[1]:
            raise ValueError("its scene has fewer columns than its layout says")
        at += width
        part: np.ndarray = table[:, at - width : at]
        return part

    pieces = []
    for piece in layout["pieces"]:
        if KINDS.get(piece["kind"]) != piece["columns"]:
            raise ValueError(f"its scene has a '{piece['kind']}' that is not one")
        colour = None if piece["colour"] is None else tuple(float(v) for v in piece["colour"])
        values = {str(n): take(int(w)) for n, w in piece["columns"].items()}
        side = str(piece.get("side", ""))  # runs saved before parts had sides have none
        if side not in SIDES:
            raise ValueError(f"its scene has a part on the side '{side}'")
        name, kind, path = (str(piece[key]) for key in ("name", "kind", "path"))
        pieces.append(ScenePiece(name, kind, values, colour, path, side))  # type: ignore[arg-type]  # four numbers, `check_stage` looks
    pushes = tuple(Push(str(name), take(3), take(3)) for name in layout["pushes"])
    com = take(3) if layout["com"] else None
    pivots = []
    for pivot in layout.get("pivots", ()):  # runs saved before joints were drawn have none
        if pivot["kind"] not in HINGES:
            raise ValueError(f"its scene has a joint of kind '{pivot['kind']}'")
        pivots.append(Pivot(str(pivot["name"]), str(pivot["kind"]), take(3), take(3)))
    land = Land(*(group[f"land/{name}"][()] for name in ("x", "y", "height"))) if "land" in group else None
    stage = SceneSamples(
        t=group["t"][()],
        pieces=tuple(pieces),
        pushes=pushes,
        land=land,
        planar=bool(layout["planar"]),
        cuts=group["cuts"][()],
        com=com,
        prints=group["prints"][()],
        pivots=tuple(pivots),
        swaps={str(one): str(other) for one, other in layout.get("swaps", {}).items()},
    )
    check_stage(stage)
    return stage
