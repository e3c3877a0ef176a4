"""Trajectories in files: HDF5 that describes itself and can be read by anything, and CSV tables. Never
pickle."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from strut.errors import ModelError, StorageError, StrutError
from strut.files import DAMAGE, write_whole
from strut.simulate import scene_file
from strut.simulate.names import Names
from strut.simulate.record import JUMP_FIELDS, STEP_FIELDS, Raw
from strut.simulate.sample_scene import sample_scene
from strut.simulate.storage_check import check_run, open_checked, with_checksum
from strut.simulate.trajectory import Trajectory
from strut.system import Foot, order_like, other_names, other_orders

if TYPE_CHECKING:
    from strut.system import System

FORMAT = "strut trajectory 1"
"""What the files say they are."""
GROUP_DESCRIPTIONS = {
    "points": "the run as a table, a row per point; an event contributes two, before and after",
    "points/x": "continuous states",
    "points/z": "discrete states",
    "points/u": "inputs",
    "points/outputs": "observables",
    "points/energies": "stored energies [J]",
    "steps": (
        "dense output: x(t + a h) = sum_k poly[k] a^k for a in [0, 1]; after the states follow the "
        "integrated powers [J]"
    ),
    "scene": (
        "how it looked, for pictures: frames, the numbers of all shapes and forces side by side (see "
        "the attribute 'layout'), ground"
    ),
    "jumps": (
        "resets by events and samples: number (see the attribute 'jumps'), time, state before and "
        "after, energy lost [J]"
    ),
}
"""What the groups and datasets of a file are, written beside them."""


def save(trajectory: Trajectory, path: Path, times: Any = None) -> Path:
    """Write a run as .h5 (everything) or .csv (a table, at all points or at chosen times [s]); see
    `Trajectory.save`. Raises StorageError for any other kind of file."""
    if path.suffix == ".csv":
        return write_whole(path, lambda scratch: _write_csv(trajectory, scratch, times))
    if path.suffix in (".h5", ".hdf5"):
        if times is not None:
            raise ModelError("an .h5 file keeps the whole run: choose times when reading it, or save as .csv")
        return write_whole(path, lambda scratch: _write_hdf5(trajectory, scratch))
    raise StorageError(
        f"cannot tell what to write from '{path.name}': use .h5 (everything), .csv (a table), or .html (a "
        f"page with plots: strut.view.page)"
    )


def _write_csv(trajectory: Trajectory, path: Path, times: Any) -> None:
    """Write the run as a table, at all points or at times [s]."""
    table = trajectory.table(times)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(table)
        out.writerows(zip(*[[repr(float(v)) for v in column] for column in table.values()], strict=True))


def _write_hdf5(trajectory: Trajectory, path: Path) -> None:
    """Write the whole run as HDF5: built in memory and written in one go, because the HDF5 library itself
    crashes when the disk is full."""
    image = io.BytesIO()
    t, x, z, u, _ = trajectory._points
    nx = len(trajectory.names.x)
    with h5py.File(image, "w") as file:
        head = {
            "format": FORMAT,
            "system": trajectory.system_name,
            "status": trajectory.status,
            "names": json.dumps(asdict(trajectory.names)),
            "statistics": json.dumps(dict(trajectory.statistics)),
            "provenance": json.dumps(_plain(dict(trajectory.provenance)), default=str),
            "jumps": json.dumps(trajectory.names.jumps),
        }
        file.attrs.update(head)
        file["parameters"] = trajectory.p
        file["parameters"].attrs["columns"] = json.dumps(trajectory.names.p)
        points: dict[str, tuple[np.ndarray, tuple[str, ...]]] = {
            "t": (t, ()),
            "x": (x[:, :nx], trajectory.names.x),
            "z": (z, trajectory.names.z),
            "u": (u, trajectory.names.u),
        }
        points["outputs"] = (trajectory._outputs, trajectory.names.outputs)
        if trajectory.names.stored and trajectory.has_ledger:
            points["energies"] = (
                np.column_stack(list(trajectory.ledger.stored.values())),
                trajectory.names.stored,
            )
        for name, (array, columns) in points.items():
            data = file.create_dataset(f"points/{name}", data=array)
            if columns:
                data.attrs["columns"] = json.dumps(columns)
        for group, fields in (("steps", STEP_FIELDS), ("jumps", JUMP_FIELDS)):
            for name in fields:
                file[f"{group}/{name}"] = getattr(trajectory.raw, name)
        for name in ("t_end", "x_end", "z_end", "u_end", "status", "cause", "culprit", "interrupted"):
            file[f"end/{name}"] = getattr(trajectory.raw, name)
        scene = sample_scene(trajectory, scene_file.STORED_RATE, scene_file.MAX_STORED_FRAMES)
        if scene is not None:
            scene_file.write(file.create_group("scene"), scene)
        for place, text in GROUP_DESCRIPTIONS.items():
            if place in file:
                file[place].attrs["about"] = text
    path.write_bytes(with_checksum(image.getvalue()))


def _plain(value: Any) -> Any:
    """A value that JSON can say: infinity becomes a word."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def load(path: Path, system: System | None) -> Trajectory:
    """Read a run from .h5, and with its `system` let it compute again; see `Trajectory.load`. Raises
    StorageError for a file that is missing, damaged or not one of ours."""
    if not path.is_file():
        raise StorageError(f"cannot read {path}: there is no such file")
    try:
        with open_checked(path, FORMAT) as file:
            fields = {n: file[f"steps/{n}"][()] for n in STEP_FIELDS} | {
                n: file[f"jumps/{n}"][()] for n in JUMP_FIELDS
            }
            end = {n: file[f"end/{n}"][()] for n in ("x_end", "z_end", "u_end")}
            statistics = json.loads(file.attrs["statistics"])
            raw = Raw(
                **fields,
                **end,
                t_end=float(file["end/t_end"][()]),
                status=int(file["end/status"][()]),
                cause=int(file["end/cause"][()]),
                culprit=int(file["end/culprit"][()]) if "end/culprit" in file else -1,
                interrupted=bool(file["end/interrupted"][()]),
                counters={k: int(v) for k, v in statistics.items() if k not in ("wall", "compile")},
            )
            stored = {"outputs": file["points/outputs"][()]}
            if "points/energies" in file:
                stored["energies"] = file["points/energies"][()]
            result = Trajectory(
                system_name=str(file.attrs["system"]),
                names=_read_names(file.attrs["names"]),
                p=file["parameters"][()],
                raw=raw,
                status=str(file.attrs["status"]),
                statistics=statistics,
                provenance=json.loads(file.attrs["provenance"]),
                stored=stored,
                stored_scene=scene_file.read(file["scene"]) if "scene" in file else None,
            )
        check_run(result)
    except DAMAGE as error:
        if isinstance(error, StrutError):
            raise
        raise StorageError(f"cannot read {path}: it is damaged or not an HDF5 file ({error})") from error
    return result if system is None else _with_model(result, system)


def _read_names(text: str) -> Names:
    """The names of a run from JSON."""
    columns: dict[str, Any] = {
        field: value if isinstance(value, (dict, str)) else tuple(value)
        for field, value in json.loads(text).items()
    }
    columns["feet"] = tuple(
        Foot(**{**foot, "friction": tuple(foot["friction"])}) for foot in columns.get("feet", ())
    )
    return Names(**columns)


def _with_model(result: Trajectory, system: System) -> Trajectory:
    """A loaded run that can compute again, with its system. One that has the same in another order is brought
    into that of the file, with a warning. Raises ModelError for one with other names."""
    from dataclasses import replace

    from strut.codegen import compile_system
    from strut.simulate.simulate import delays_of, names_of

    own_names, stored = _ordered_names(names_of(system)), _ordered_names(result.names)
    differences = other_names(own_names, stored)
    if differences:
        raise ModelError(
            f"the file holds a run of '{result.system_name}' with other names than the system "
            f"'{system.name}' given: {'; '.join(differences)}"
        )
    if own_names != stored:
        warn_of_order(system, other_orders(own_names, stored))
        system = order_like(system, stored)
    return replace(result, model=compile_system(system), system=system, delays=delays_of(system, result.p))


def _ordered_names(names: Names) -> dict[str, tuple[str, ...]]:
    """The names of a run that have an order, by group."""
    groups = ("x", "z", "u", "p", "outputs", "stored", "supplied", "dissipated")
    return {group: tuple(getattr(names, group)) for group in groups}


def warn_of_order(system: System, orders: Sequence[str]) -> None:
    """Warn that a file has the same as a system in another order, where something that counts has one."""
    if orders:
        warnings.warn(
            f"the file has the same as the system '{system.name}' given in another order, and keeps it: "
            f"{'; '.join(orders)}; values by name are right, and whole vectors are in that order: "
            f"strut.system.order_like(system, {{'x': [...]}}) brings yours into it",
            UserWarning,
            stacklevel=2,
        )
