"""Results in files, with their model, as HDF5 that holds data alone."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from strut.errors import StorageError, StrutError
from strut.files import DAMAGE, put
from strut.simulate.storage import warn_of_order
from strut.simulate.storage_check import check_data, check_plain, open_checked, with_checksum
from strut.system import (
    Archive,
    ExpressionTape,
    System,
    from_archive,
    model_differences,
    other_orders,
    release_disturbances,
    room_classes,
    to_archive,
)
from strut.version import VERSION

FORMAT = "strut result 1"
"""What the files say they are."""
ROOMS = ("system", "simulate", "gait", "optimal", "control")
"""Packages whose classes a result is made of."""
SUFFIXES = (".h5", ".hdf5")
"""Of files that hold a result."""
MAX_DIFFERENCES = 3
"""Differences of models that an error names."""


def save_result(result: Any, system: System, path: Path) -> Path:
    """Write a result with its model as .h5; see `SavedResult.save`."""
    if path.suffix not in SUFFIXES:
        raise StorageError(f"cannot tell what to write from '{path.name}': a result is saved as .h5")
    archive = to_archive(result, system, room_classes(*ROOMS))
    return put(path, with_checksum(_hdf5(archive, type(result).__name__)))


def load_result(path: Path, kinds: tuple[type, ...], system: System | None = None) -> Any:
    """Read a result of one of these classes; see `SavedResult.load`. Raises StorageError for a file that is
    missing, damaged, of another kind or of another model."""
    names = [kind.__name__ for kind in kinds]
    if not path.is_file():
        raise StorageError(f"cannot read {path}: there is no such file")
    try:
        with open_checked(path, FORMAT) as file:
            kind = str(file.attrs["kind"])
            if kind not in names:
                raise StorageError(
                    f"{path} holds a {kind}, not a {' or '.join(names)}: read it with {kind}.load"
                )
            archive = _archive(file)
        model, result = from_archive(archive, room_classes(*ROOMS), system)
    except (*DAMAGE, StrutError) as error:
        if isinstance(error, StorageError):
            raise
        if isinstance(error, StrutError):
            raise StorageError(f"cannot read {path}: its model is none ({error})") from error
        raise StorageError(f"cannot read {path}: it is damaged or not an HDF5 file ({error})") from error
    if system is not None and (differences := model_differences(system, release_disturbances(model))):
        more = len(differences) - MAX_DIFFERENCES
        what = "; ".join(differences[:MAX_DIFFERENCES]) + (f"; and {more} more" if more > 0 else "")
        raise StorageError(
            f"{path} was written for another model than the system '{system.name}' given, which differs in: "
            f"{what}. Load it without a system to get the model it was written for"
        )
    if system is not None:
        own_labels, stored = ({group: each.labels(group) for group in "xz"} for each in (system, model))
        warn_of_order(system, other_orders(own_labels, stored))
    return result


def system_bytes(system: System) -> bytes:
    """Return a system as bytes for a file of another kind. Raises ModelError for one that is not data."""
    return with_checksum(_hdf5(to_archive(None, system, room_classes(*ROOMS)), "System"))


def system_from_bytes(data: bytes) -> System:
    """Return the system that `system_bytes` wrote; raises StorageError where the bytes are damaged."""
    try:
        check_data(data)
        with h5py.File(io.BytesIO(data), "r") as file:
            check_plain(file)
            archive = _archive(file)
        return from_archive(archive, room_classes(*ROOMS), None)[0]
    except (*DAMAGE, StrutError) as error:
        raise StorageError(f"the machine that is stored is damaged ({error})") from error


def _hdf5(archive: Archive, kind: str) -> bytes:
    """Return an archive as the bytes of an HDF5 file."""
    image, tape = io.BytesIO(), archive.tape
    document = {
        "root": archive.root,
        "records": archive.records,
        "symbols": archive.symbols,
        "words": tape.words,
    }
    with h5py.File(image, "w") as file:
        file.attrs.update({"format": FORMAT, "kind": kind, "strut": VERSION})
        text = json.dumps(document, allow_nan=False).encode()
        arrays = {
            "document": np.frombuffer(text, dtype=np.uint8),
            "tape/nodes": tape.nodes,
            "tape/constants": tape.constants,
            "tape/shapes": tape.shapes,
            "tape/places": tape.places,
            **{f"arrays/{k}": np.asarray(array) for k, array in enumerate(archive.arrays)},
        }
        for name, array in arrays.items():
            packing = {"compression": "gzip", "shuffle": True} if array.ndim and array.size > 64 else {}
            file.create_dataset(name, data=array, **packing)
        file["document"].attrs["about"] = "UTF-8 JSON: objects by class and field, which refer to arrays/N"
        file["tape"].attrs["about"] = "expressions: operations (numbers of words), arguments, constants"
    return image.getvalue()


def _archive(file: h5py.File) -> Archive:
    """Return what a file holds; raises ValueError or the like where it is damaged."""
    document = json.loads(bytes(file["document"][()]).decode())
    count = len(file["arrays"]) if "arrays" in file else 0
    nodes, shapes, places = (file[f"tape/{name}"][()] for name in ("nodes", "shapes", "places"))
    if any(table.ndim != 2 or table.shape[1] != 3 for table in (nodes, shapes, places)):
        raise ValueError("its expressions are no tables of three columns")
    return Archive(
        records=list(document["records"]),
        arrays=[file[f"arrays/{k}"][()] for k in range(count)],
        symbols=[(str(label), str(owner), int(k)) for label, owner, k in document["symbols"]],
        tape=ExpressionTape(
            words=tuple(map(str, document["words"])),
            nodes=nodes,
            constants=file["tape/constants"][()],
            shapes=shapes,
            places=places,
            inputs=len(document["symbols"]),
        ),
        root=document["root"],
    )


__all__ = ["load_result", "save_result"]
