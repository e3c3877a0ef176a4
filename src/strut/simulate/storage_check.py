"""What a file of a run may be before it is believed: plain data of its own, whose shapes fit together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np

from strut.errors import StorageError
from strut.simulate.record import STATUS

if TYPE_CHECKING:
    from strut.simulate.names import Names
    from strut.simulate.record import Raw
    from strut.simulate.scene_samples import SceneSamples
    from strut.simulate.trajectory import Trajectory

MAX_COMPRESSION = 1100
"""Bytes that one stored byte can stand for at most: deflate ends at 1032. More are declared only to exhaust
memory."""
MAX_DEPTH = 4
"""Groups inside one another, at most; a run of ours has two."""


MARK = b"\nstrut sha256 "
"""Begins the line behind the data that holds its checksum. The HDF5 library does not look there."""
LINE = len(MARK) + 64
"""Bytes of that line."""


def with_checksum(data: bytes) -> bytes:
    """The data of a file, and behind it a line with its checksum."""
    return data + MARK + hashlib.sha256(data).hexdigest().encode()


def check_checksum(path: Path) -> None:
    """Refuse a file that was damaged since it was written: raises ValueError. Of some damage the
    HDF5 library never comes back, so this is looked at first. A file without the line, one that other
    programs changed, passes."""
    check_data(path.read_bytes())


def check_data(data: bytes) -> None:
    """Refuse the bytes of such a file that were damaged: raises ValueError."""
    if data[-LINE:].startswith(MARK) and data != with_checksum(data[:-LINE]):
        raise ValueError("its checksum is not that of its content: it was damaged after it was written")


@contextmanager
def open_checked(path: Path, kind: str) -> Iterator[h5py.File]:
    """Open a file of ours for reading once it was looked at: undamaged, of a kind, its `format`, and plain
    data. Raises StorageError where it says another kind, ValueError or OSError where it is damaged."""
    check_checksum(path)
    with h5py.File(path, "r") as file:
        if file.attrs.get("format") != kind:
            raise StorageError(f"cannot read {path}: it is an HDF5 file but not a '{kind}'")
        check_plain(file)
        yield file


def check_plain(file: h5py.File) -> None:
    """Refuse a file that leads anywhere else or in circles: raises ValueError. Nothing is followed on the
    way.

    Allowed are groups and numeric datasets by hard links, each reached once, with all bytes stored in this
    file.
    """
    _check_group(file, "", {h5py.h5o.get_info(file.id).addr})


def _check_group(group: h5py.Group, place: str, seen: set[int], depth: int = 0) -> None:
    """See `check_plain`. place: of the group in its file. seen: addresses of what was reached before."""
    if depth > MAX_DEPTH:
        raise ValueError(f"its groups are nested more than {MAX_DEPTH} deep")
    for name in group:
        where = f"{place}/{name}"
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            kind = "an external link" if isinstance(link, h5py.ExternalLink) else "a soft link"
            raise ValueError(f"{where} is {kind}: only data in the file itself is read")
        item = group[name]
        address = h5py.h5o.get_info(item.id).addr
        if address in seen:
            raise ValueError(f"{where} leads to a place that was reached before: every place is read once")
        seen.add(address)
        if isinstance(item, h5py.Group):
            _check_group(item, where, seen, depth + 1)
        elif isinstance(item, h5py.Dataset):
            _check_dataset(item, where)
        else:
            raise ValueError(f"{where} is neither a group nor a dataset")


def _check_dataset(data: h5py.Dataset, where: str) -> None:
    """Refuse a dataset whose bytes are elsewhere, that holds no numbers, or declares far more than it has."""
    if data.external:
        raise ValueError(f"{where} keeps its bytes in another file: only data in the file itself is read")
    if data.is_virtual:
        raise ValueError(f"{where} is put together from other datasets: only data in the file itself is read")
    if data.dtype.kind not in "fiub" or data.shape is None:
        raise ValueError(f"{where} holds no numbers")
    size, stored_size = (
        data.dtype.itemsize * int(np.prod(data.shape, dtype=object)),
        data.id.get_storage_size(),
    )
    if size > MAX_COMPRESSION * stored_size:
        raise ValueError(f"{where} declares {size} bytes and stores {stored_size}")


def check_names(names: Names) -> None:
    """Refuse names that are no texts: raises ValueError."""
    for group in ("x", "z", "u", "p", "outputs", "jumps", "stored", "supplied", "dissipated", "lost"):
        if not all(isinstance(name, str) for name in getattr(names, group)):
            raise ValueError(f"its names of '{group}' are no texts")
    if len(names.clocked) != len(names.jumps):
        raise ValueError(
            f"it has {len(names.jumps)} jumps, and of {len(names.clocked)} it is told whether a clock makes "
            f"them"
        )
    if not isinstance(names.units, dict) or not all(isinstance(unit, str) for unit in names.units.values()):
        raise ValueError("its units are no texts")


def check_run(result: Trajectory) -> None:
    """Refuse arrays whose shapes or counts contradict one another or the names: raises ValueError."""
    names, raw = result.names, result.raw
    check_names(names)
    _check_arrays(names, raw)
    if result.p.shape != (len(names.p),):
        raise ValueError(f"it has {len(names.p)} names of parameters for values of shape {result.p.shape}")
    rows = len(result.t)
    for which, columns in (("outputs", names.outputs), ("energies", names.stored)):
        if which in result.stored and result.stored[which].shape != (rows, len(columns)):
            raise ValueError(
                f"its points/{which} has shape {result.stored[which].shape} instead of {(rows, len(columns))}"
            )


def _check_arrays(names: Names, raw: Raw) -> None:
    """Refuse a record whose arrays do not fit the names or one another."""
    steps, jumps = raw.t.shape, raw.jump_t.shape
    if len(steps) != 1 or len(jumps) != 1:
        raise ValueError("its times are no row of numbers")
    x, z, u = (len(names.x),), (len(names.z),), (len(names.u),)
    if raw.poly.ndim != 3 or raw.poly.shape[1] < 1:
        raise ValueError(f"its steps/poly has shape {raw.poly.shape} instead of steps, powers and states")
    width = raw.poly.shape[2]
    if width not in (x[0], x[0] + len(names.supplied) + len(names.dissipated)):
        raise ValueError(f"its steps/poly has {width} columns for {x[0]} states")
    shapes = {
        **{"h": steps, "poly": (*steps, raw.poly.shape[1], width), "z": steps + z, "u": steps + u},
        **{"x_before": jumps + x, "z_before": jumps + z, "x_after": jumps + x, "z_after": jumps + z},
        **{"loss": (*jumps, len(names.lost)), "jump": jumps, "jump_after": jumps},
        **{"x_end": (width,), "z_end": z, "u_end": u},
    }
    for name, shape in shapes.items():
        if getattr(raw, name).shape != shape:
            raise ValueError(f"its {name} has shape {getattr(raw, name).shape} instead of {shape}")
    times = np.append(raw.t, raw.t_end)
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0) or not np.all(np.isfinite(raw.h)):
        raise ValueError("its times are not finite or do not increase")
    for name, most in (("jump", len(names.jumps) - 1), ("jump_after", steps[0])):
        values = getattr(raw, name)
        if values.dtype.kind not in "iu" or (
            len(values) and not (values.min() >= 0 and values.max() <= most)
        ):
            raise ValueError(f"its jumps/{name} holds numbers outside of 0 to {most}")
    if np.any(np.diff(raw.jump_after) < 0):
        raise ValueError("its jumps/jump_after does not increase")
    if not 0 <= raw.status < len(STATUS):
        raise ValueError(f"its end/status is {raw.status}: there are {len(STATUS)}")


def check_stage(stage: SceneSamples) -> None:
    """Refuse a scene whose arrays do not fit its frames: raises ValueError."""
    frames = len(stage.t)
    for piece in stage.pieces:
        for name, values in piece.values.items():
            if len(values) != frames:
                raise ValueError(
                    f"its scene has {frames} frames and {len(values)} rows of {name} of '{piece.name}'"
                )
    if not np.all(np.isfinite(stage.t)) or np.any(np.diff(stage.t) < 0):
        raise ValueError("the times of its scene are not finite or do not increase")
    if stage.cuts.ndim != 1 or (
        len(stage.cuts) and not (stage.cuts.min() >= 0 and stage.cuts.max() <= frames)
    ):
        raise ValueError(f"its scene is cut outside of its {frames} frames")
    if stage.prints.ndim != 2 or stage.prints.shape[1] != 4:
        raise ValueError(
            f"the prints of its scene have shape {stage.prints.shape} instead of rows of t, x, y, z"
        )
    land = stage.land
    if land is not None and (
        land.x.ndim != 1 or land.y.ndim != 1 or land.height.shape != (len(land.y), len(land.x))
    ):
        raise ValueError(f"the ground of its scene has heights of shape {land.height.shape}")
